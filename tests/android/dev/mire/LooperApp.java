package dev.mire;

import android.app.RecordedEnds;
import android.content.ContextWrapper;
import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import java.lang.reflect.Method;

/**
 * An app of Android's Looper that hangs in known ways, one after the other, and says when: "NAME MS".
 *
 *     LooperApp URL STORE SCENARIO...
 */
public final class LooperApp {
    private static Handler handler;
    private static Looper looper;
    private static volatile long sink;

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
        case "memory":
            System.out.println("asked " + Mire.reportMemory("asked"));
            Mire.flush(20000);
            break;
        case "none":
            StringBuilder ends = new StringBuilder("reasons");
            for (int reason = 0; reason < 18; reason++)
                ends.append(' ').append(ExitWatch.endOf(reason, 9, null));
            ends.append(' ').append(ExitWatch.endOf(13, 0, "MemoryLimiter:AnonSwap"));
            System.out.println(ends.append(' ').append(ExitWatch.endOf(2, 0, null)).append(' ').append(ExitWatch.endOf(5, 0, null)));
            break;
        case "idle":
            sleepFor(5000);
            break;
        default:
            throw new IllegalArgumentException(scenario);
        }
        sleepFor(2500);
    }

    public static void main(String[] words) throws Exception {
        Looper.prepare();
        looper = Looper.myLooper();
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
            for (int i = 2; i < words.length; i++)
                play(words[i]);
            System.out.println("flushed " + Mire.flush(20000));
            looper.quit();
        });
        player.start();
        Looper.loop();
        player.join();
        Mire.stop();
    }
}
