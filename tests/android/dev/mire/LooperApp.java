package dev.mire;

import android.app.RecordedEnds;
import android.content.Context;
import android.content.ContextWrapper;
import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.util.Printer;
import android.view.InputChannel;
import android.view.InputEvent;
import android.view.InputEventReceiver;
import android.view.KeyEvent;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * An app of Android's Looper that hangs in known ways, one after the other, and says when: "NAME MS".
 *
 *     LooperApp URL STORE SCENARIO...
 */
public final class LooperApp {
    private static Handler handler;
    private static Looper looper;
    private static volatile long sink;
    private static final AtomicInteger passed = new AtomicInteger(); /* lines of another watcher's printer */
    private static int loopTask; /* the thread's number */

    private LooperApp() {
    }

    /** Computes: nothing of it is a wait. */
    static void compute(long ms) {
        long end = System.nanoTime() + ms * 1000000;
        while (System.nanoTime() < end)
            sink++;
    }

    static void sleepFor(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void say(String name, long begin) {
        System.out.println(name + " " + (System.nanoTime() - begin) / 1000000);
    }

    /** A hang in a message with a callback. */
    static final class CartLoader implements Runnable {
        @Override
        public void run() {
            long begin = System.nanoTime();
            parseCart(1200);
            say("message", begin);
        }

        static void parseCart(long ms) {
            compute(ms);
        }
    }

    /** A hang in a handler's message, asleep. */
    static final class SearchHandler extends Handler {
        SearchHandler(Looper looper) {
            super(looper);
        }

        @Override
        public void handleMessage(Message message) {
            long begin = System.nanoTime();
            if (message.what == 7)
                openIndex();
            say("handler", begin);
        }

        static void openIndex() {
            try {
                Thread.sleep(1200);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** A hang in a monitor that another thread holds. */
    static final class Ledger implements Runnable {
        @Override
        public void run() {
            long begin = System.nanoTime();
            sum();
            say("monitor", begin);
        }

        static synchronized void sum() {
            sink++;
        }

        static synchronized void rewrite(CountDownLatch held) {
            held.countDown();
            writePages();
        }

        static void writePages() {
            sleepFor(1600);
        }
    }

    /** A hang in an idle handler, which Looper's printer does not see. */
    static final class Preload implements MessageQueue.IdleHandler {
        @Override
        public boolean queueIdle() {
            long begin = System.nanoTime();
            warmCaches(1200);
            say("idler", begin);
            return false;
        }

        static void warmCaches(long ms) {
            compute(ms);
        }
    }

    /** Leaves the innermost loop. */
    private static final class Leave extends RuntimeException {
    }

    /** A loop within a message, as dialogs of old have: its messages hang, then the message around it does. */
    static final class Dialog implements Runnable {
        @Override
        public void run() {
            handler.post(new CartLoader());
            handler.postDelayed(() -> {
                throw new Leave();
            }, 2500); /* the loop waits meanwhile */
            try {
                Looper.loop();
            } catch (Leave e) {
                /* the dialog is closed */
            }
            long begin = System.nanoTime();
            closeDialog(1200);
            say("dialog", begin);
        }

        static void closeDialog(long ms) {
            compute(ms);
        }
    }

    /** A short message, for which the app's own printer takes long. */
    static final class Tick implements Runnable {
        @Override
        public void run() {
            sink++;
        }
    }

    /** The view's half of input: its handler takes long. */
    static final class Touch extends InputEventReceiver {
        Touch() {
            super(new InputChannel(), looper);
        }

        @Override
        public void onInputEvent(InputEvent event) {
            long begin = System.nanoTime();
            zoomMap(1200);
            say("touch", begin);
            finishInputEvent(event, true);
        }

        static void zoomMap(long ms) {
            compute(ms);
        }
    }

    /** looper.c: events of that receiver come through a socket of libinput.so from now on. Returns the other end. */
    private static native int listen(InputEventReceiver receiver, InputEvent event, String library);

    /** An event arrives. */
    private static native void send(int socket);

    /** Voluntary switches of the threads that an idle app must not wake: Mire's, and the looper's. */
    private static String switches() {
        StringBuilder out = new StringBuilder();
        for (File task : new File("/proc/self/task").listFiles()) {
            try {
                String status = new String(Files.readAllBytes(new File(task, "status").toPath()));
                String name = status.substring(status.indexOf('\t') + 1, status.indexOf('\n'));
                String count = status.replaceFirst("(?s).*\nvoluntary_ctxt_switches:\\s*(\\d+).*", "$1");
                if (name.startsWith("mire-") || task.getName().equals(String.valueOf(loopTask)))
                    out.append(' ').append(name).append('=').append(count);
            } catch (IOException e) {
                continue; /* a thread of the virtual machine has ended */
            }
        }
        return out.toString();
    }

    /** The system's own ProfilingManager, on a service that says which triggers it gets, and has made one profile. */
    private static void profile() throws ReflectiveOperationException {
        Class<?> service = Class.forName("android.os.IProfilingService");
        Class<?> of = Class.forName("android.os.ProfilingManager");
        Object manager = of.getConstructor(Context.class).newInstance(new ContextWrapper(null) {
            @Override
            public String getPackageName() {
                return "com.example";
            }

            @Override
            public String getSystemServiceName(Class<?> of) {
                return of.getName();
            }

            @Override
            public Object getSystemService(String name) {
                return new RecordedEnds();
            }

            @Override
            public File getFilesDir() {
                return new File(System.getProperty("java.io.tmpdir"), "mire-no-profiles");
            }
        });
        of.getField("mProfilingService").set(manager, Proxy.newProxyInstance(service.getClassLoader(), new Class<?>[] {service}, (self, method, words) -> {
            if (method.getName().equals("addProfilingTriggers"))
                for (Object trigger : (List<?>) words[0])
                    System.out.println("trigger" + trigger.getClass().getField("triggerType").getInt(trigger) + " yes");
            return method.getReturnType() == boolean.class ? false : null;
        }));
        ProfileWatch.open(manager);
        Object result = Class.forName("android.os.ProfilingResult").getConstructor(int.class, String.class, String.class, String.class, int.class)
                .newInstance(0, "/data/profile.perfetto-trace", "tag", null, 2);
        for (Object wrapper : (List<?>) of.getField("mCallbacks").get(manager)) {
            Field listener = wrapper.getClass().getDeclaredField("mListener");
            listener.setAccessible(true);
            ((Consumer<Object>) listener.get(wrapper)).accept(result);
        }
    }

    private static int leakBarrier() {
        try {
            Method post = MessageQueue.class.getDeclaredMethod("postSyncBarrier");
            post.setAccessible(true);
            return (Integer) post.invoke(looper.getQueue());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An animation that stutters for longer than a window of 10 s: every eighth frame takes 130 ms. */
    private static void drawFrames() {
        final FrameWatch frames = new FrameWatch() { /* a display of messages */
            @Override
            void awaitFrame() {
                handler.postDelayed(() -> doFrame(System.nanoTime()), 16);
            }
        };
        final long end = System.nanoTime() + 12000000000L;
        final Runnable[] draw = new Runnable[1];
        final int[] count = {0};
        draw[0] = () -> {
            frames.onPreDraw();
            if (++count[0] % 8 == 0)
                layOut(130);
            if (System.nanoTime() < end)
                handler.postDelayed(draw[0], 10);
        };
        draw[0].run();
    }

    static void layOut(long ms) {
        compute(ms);
    }

    /** An ordinary message that nothing holds up runs within this time. */
    private static boolean answers(long ms) {
        final boolean[] ran = {false};
        handler.post(() -> {
            synchronized (ran) {
                ran[0] = true;
                ran.notify();
            }
        });
        synchronized (ran) {
            long end = System.nanoTime() + ms * 1000000;
            try {
                while (!ran[0] && System.nanoTime() < end)
                    ran.wait(50);
            } catch (InterruptedException e) {
                return false;
            }
            return ran[0];
        }
    }

    /** A looper on a thread of its own. */
    private static Looper startLooper() {
        ArrayBlockingQueue<Looper> started = new ArrayBlockingQueue<>(1);
        new Thread(() -> {
            Looper.prepare();
            started.add(Looper.myLooper());
            Looper.loop();
        }).start();
        try {
            return started.take();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isAsleep() {
        try {
            String stat = new String(Files.readAllBytes(new File("/proc/self/task/" + loopTask + "/stat").toPath()));
            return stat.charAt(stat.lastIndexOf(')') + 2) == 'S';
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Until the loop has done what was posted, and waits. On a busy machine that takes its time: a message that came before
     * the loop's first wait would be a part of the launch.
     */
    private static void awaitRest() {
        answers(60000);
        for (int seen = 0; seen < 5; seen = isAsleep() ? seen + 1 : 0)
            sleepFor(20);
    }

    private static void wrapPrinter() {
        try {
            Field field = Looper.class.getDeclaredField("mLogging");
            field.setAccessible(true);
            Printer inner = (Printer) field.get(looper);
            looper.setMessageLogging(line -> {
                passed.incrementAndGet();
                inner.println(line);
            });
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** On a thread of its own, beside the looper. */
    private static void play(String scenario) {
        switch (scenario) {
        case "message":
            handler.post(new CartLoader());
            break;
        case "handler":
            new SearchHandler(looper).sendEmptyMessage(7);
            break;
        case "idler":
            handler.post(() -> looper.getQueue().addIdleHandler(new Preload()));
            break;
        case "printer":
            looper.setMessageLogging(line -> {
                if (line.startsWith(">>>>>") && line.contains("CartLoader"))
                    compute(300);
                if (line.startsWith(">>>>>"))
                    sink++;
            });
            Mire.onActivity(); /* finds the app's printer */
            handler.post(new CartLoader());
            break;
        case "barrier":
            handler.post(() -> leakBarrier());
            sleepFor(200);
            Mire.onActivity();
            sleepFor(6000);
            System.out.println("answers " + answers(500));
            break;
        case "frames":
            handler.post(() -> drawFrames());
            sleepFor(11000);
            break;
        case "ever":
            handler.post(() -> {
                System.out.println("stuck 0");
                System.out.flush();
                compute(600000);
            });
            sleepFor(600000);
            break;
        case "over": /* the slow message is over when the process is killed */
            handler.post(() -> {
                compute(1200);
                System.out.println("stuck 0");
                System.out.flush();
            });
            sleepFor(600000);
            break;
        case "memory":
            System.out.println("asked " + Mire.reportMemory("asked"));
            Mire.flush(20000);
            break;
        case "none":
            System.out.println("previous " + Mire.previousEnd(120000));
            StringBuilder ends = new StringBuilder("reasons");
            for (int reason = 0; reason < 18; reason++)
                ends.append(' ').append(ExitWatch.endOf(reason, 9, null));
            ends.append(' ').append(ExitWatch.endOf(13, 0, "MemoryLimiter:AnonSwap"));
            System.out.println(ends.append(' ').append(ExitWatch.endOf(2, 0, null)).append(' ').append(ExitWatch.endOf(5, 0, null)));
            break;
        case "profile":
            try {
                profile();
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            handler.post(new CartLoader());
            break;
        case "nested":
            handler.post(new Dialog());
            sleepFor(5000);
            break;
        case "second": /* another looper hangs: nobody waits for it */
            Looper second = startLooper();
            new Handler(second).post(() -> compute(1500));
            sleepFor(1000);
            second.quit();
            break;
        case "both": /* both hang: the watched one is told */
            Looper busy = startLooper();
            new Handler(busy).post(() -> compute(1500));
            handler.post(new CartLoader());
            sleepFor(500);
            busy.quit();
            break;
        case "tick":
            looper.setMessageLogging(line -> {
                if (line.startsWith(">>>>>") && line.contains("Tick"))
                    compute(1200);
            });
            Mire.onActivity();
            handler.post(new Tick());
            break;
        case "monitor":
            CountDownLatch held = new CountDownLatch(1);
            new Thread(() -> Ledger.rewrite(held), "ledger-writer").start();
            try {
                held.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            handler.post(new Ledger());
            break;
        case "wrapped": /* another watcher puts its printer around ours, which then comes before it again */
            handler.post(() -> {
                wrapPrinter();
                Mire.onActivity();
            });
            answers(60000);
            handler.post(new CartLoader());
            answers(60000);
            System.out.println("wrapped " + (passed.getAndSet(0) > 0));
            break;
        case "touch":
            int socket = listen(new Touch(), new KeyEvent(0, 0), System.getProperty("mire.input"));
            send(socket);
            break;
        case "idle":
            sleepFor(4000);
            String before = switches();
            sleepFor(Integer.getInteger("mire.idle", 20) * 1000L);
            System.out.println("before" + before);
            System.out.println("after" + switches());
            break;
        default:
            throw new IllegalArgumentException(scenario);
        }
        sleepFor(2500);
        if (!scenario.equals("barrier"))
            awaitRest();
    }

    public static void main(String[] words) throws Exception {
        Looper.prepare();
        looper = Looper.myLooper();
        loopTask = Integer.parseInt(new File("/proc/thread-self").getCanonicalFile().getName());
        handler = new Handler(looper);
        ContextWrapper system = Boolean.getBoolean("mire.records") ? RecordedEnds.context(System.getProperty("mire.end")) : null;
        MireOptions options = new MireOptions(words[0], "mk_test").app("looper-app", "1").channel("internal")
                .thresholdMs(700).number("suppress_ms", 0).barrierMs(1500).memory(Integer.getInteger("mire.memory", 0)).removeLeakedBarriers(Boolean.getBoolean("mire.removes"));
        if (Mire.start(looper, words[1], options, system) != 0)
            throw new IllegalStateException("start");
        if (system != null)
            System.out.println("run " + new String(((RecordedEnds) system.getSystemService("activity")).summary));
        Mire.setScene("CartActivity");
        Mire.breadcrumb("gr\u00f6\u00dfer \ud83d\ude00");
        Thread player = new Thread(() -> {
            sleepFor(500);
            awaitRest();
            for (int i = 2; i < words.length; i++)
                play(words[i]);
            System.out.println("flushed " + Mire.flush(20000));
            looper.quit();
        });
        player.setUncaughtExceptionHandler((thread, thrown) -> {
            thrown.printStackTrace();
            Runtime.getRuntime().halt(3);
        });
        player.start();
        Looper.loop();
        player.join();
        Mire.stop();
    }
}
