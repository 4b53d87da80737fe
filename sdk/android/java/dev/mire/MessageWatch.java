package dev.mire;

import android.os.Looper;
import android.util.Printer;
import java.lang.reflect.Field;

/**
 * Knows which message the looper is handling, by the lines that Looper prints. A looper has room for one printer: the
 * app's own goes on to get every line.
 *
 * Cost: Looper makes two short strings for each message.
 * Thread: println the looper's; the others any.
 */
final class MessageWatch implements Printer {
    private static final int DEEPEST = 16; /* loops within loops; further ones are not named afterwards */
    private final Looper looper;
    private volatile Printer app;
    /** The lines before the messages that are being handled, of loops within loops; the looper's thread writes. */
    private final String[] begun = new String[DEEPEST];
    private volatile int depth;
    /** The app's printer has a line from us now; the looper's thread alone. */
    private boolean passing;
    /** The lines that the looper has printed, a sign of life that wakes nobody. */
    private volatile int lines;

    MessageWatch(Looper looper) {
        this.looper = looper;
    }

    /** Listen, unless we do already: the app may have set a printer since. False: its printer cannot be found. */
    boolean install() {
        try {
            Field field = Looper.class.getDeclaredField("mLogging");
            field.setAccessible(true);
            Printer now = (Printer) field.get(looper);
            if (now == this)
                return true;
            app = now;
            looper.setMessageLogging(this);
            return true;
        } catch (Exception | LinkageError e) {
            return false; /* then the app's printer, if it has one, stays */
        }
    }

    void remove() {
        try {
            Field field = Looper.class.getDeclaredField("mLogging");
            field.setAccessible(true);
            if (field.get(looper) == this)
                looper.setMessageLogging(app);
        } catch (Exception | LinkageError e) {
            /* it was never installed */
        }
    }

    /** Another watcher's printer, which was put around ours, passes the line that it has from us back to us. */
    @Override
    public void println(String text) {
        if (!passing)
            take(text);
    }

    private void take(String text) {
        boolean begins = !text.isEmpty() && text.charAt(0) == '>';
        if (begins)
            begin(text);
        lines++;
        pass(text); /* within the message, so that a slow printer is a part of it */
        if (!begins)
            end(text);
    }

    private void pass(String text) {
        Printer other = app;
        if (other == null)
            return;
        passing = true;
        try {
            other.println(text);
        } finally {
            passing = false;
        }
    }

    private void begin(String text) {
        int at = depth;
        if (at == DEEPEST)
            return;
        begun[at] = text;
        depth = at + 1;
    }

    /** A loop within a message may end by an exception: its last message has no line of its own. */
    private void end(String text) {
        int at = depth;
        while (at > 1 && !isOf(begun[at - 1], text))
            at--;
        depth = Math.max(at - 1, 0);
    }

    /** ">>>>> Dispatching to TARGET: WHAT" and "<<<<< Finished to TARGET" */
    private static boolean isOf(String begun, String ended) {
        int target = ended.indexOf(" to ");
        int from = begun.indexOf(" to ");
        return target < 0 || from < 0 || begun.startsWith(ended.substring(target), from);
    }

    /**
     * The message that is being handled; "" between messages.
     *
     * @param loops loops that the stack shows: an exception may have ended inner ones. 0: unknown
     */
    String now(int loops) {
        int at = depth;
        if (loops > 0 && loops < at)
            at = loops;
        return at == 0 ? "" : TurnName.ofPrinted(begun[at - 1]);
    }

    int lines() {
        return lines;
    }
}
