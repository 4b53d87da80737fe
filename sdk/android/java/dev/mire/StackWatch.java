package dev.mire;

/**
 * The thread that takes the main thread's Java stack whenever the library samples it. It sleeps while nothing hangs.
 */
final class StackWatch extends Thread {
    private final Thread watched;
    private final int number;
    private final MessageWatch messages;
    private final MonitorWatch monitors = new MonitorWatch();

    /** number: of the watched thread, by the kernel */
    StackWatch(Thread watched, int number, MessageWatch messages) {
        super("mire-java");
        this.watched = watched;
        this.number = number;
        this.messages = messages;
        setDaemon(true);
    }

    void open() {
        Native.openStacks(number);
        start();
    }

    void close() {
        Native.closeStacks();
        try {
            join(1000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Between messages an event that waits is what the thread handles: native code that Java's stack does not show. */
    private static String inputOr(String turn) {
        return Native.inputWaitsMs() > 0 ? "input" : turn;
    }

    /** After the stack is given: it may take longer than the library waits. */
    private void lookAtMonitor(StackTraceElement[] frames) {
        try {
            monitors.look(watched, frames, messages.lines());
        } catch (RuntimeException | Error e) {
            /* the monitor is not told */
        }
    }

    @Override
    public void run() {
        for (long stack; (stack = Native.awaitStack()) != 0;) {
            StackTraceElement[] frames = {};
            String turn = "";
            try {
                String before = messages.now(0);
                frames = watched.getStackTrace();
                turn = TurnName.ofStack(frames);
                if (turn.isEmpty())
                    turn = before.isEmpty() ? inputOr(before) : messages.now(TurnName.loopsOf(frames));
                for (StackTraceElement frame : frames)
                    Native.addFrame(stack, frame.getClassName() + "." + frame.getMethodName(),
                            frame.getFileName(), frame.getLineNumber());
            } catch (RuntimeException | Error e) {
                /* what has been added is given */
            }
            Native.giveStack(stack, frames.length > 0 && frames[0].isNativeMethod(), turn);
            messages.install();
            lookAtMonitor(frames);
        }
    }
}
