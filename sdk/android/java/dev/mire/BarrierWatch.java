package dev.mire;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.SystemClock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/**
 * Finds sync barriers that nobody removes. Such a barrier holds up every ordinary message, while asynchronous ones (input,
 * frames) go on, so that the app looks half alive and no turn of the loop is long.
 *
 *     activity ... quiet for a second -> one ordinary probe
 *        it runs                      -> all is well; nothing more until there is activity again
 *        it does not within barrierMs -> one asynchronous probe: if that runs, and the ordinary one still has not, the
 *                                        barrier is leaked
 *
 * An idle app is not woken: a probe follows activity, and never its own probe. Public API alone, for the queue's fields
 * are not what they were from Android 17 on; removal is by reflection and an option.
 */
final class BarrierWatch extends Thread {
    private static final long QUIET_MS = 1000;
    private static final int OLD_TOKENS = 1000;

    interface Report {
        void leaked(long ageMs, boolean removed);
    }

    private final Handler handler;
    private final MessageWatch messages;
    private final long leakMs;
    private final boolean removes;
    private final Report report;
    private volatile boolean ended;
    private volatile long ranAt;
    private volatile int probe;
    private volatile boolean asyncRan;
    private final Object wake = new Object();
    private boolean active;

    BarrierWatch(Looper looper, MessageWatch messages, long leakMs, boolean removes, Report report) {
        super("mire-barrier");
        this.handler = new Handler(looper);
        this.messages = messages;
        this.leakMs = leakMs;
        this.removes = removes;
        this.report = report;
        setDaemon(true);
    }

    /** Something happened that may have left a barrier: a screen came or went, an input, a frame. Thread: any. */
    void onActivity() {
        synchronized (wake) {
            active = true;
            wake.notify();
        }
    }

    void end() {
        ended = true;
        onActivity();
    }

    private void awaitActivity() throws InterruptedException {
        synchronized (wake) {
            while (!active && !ended)
                wake.wait();
            active = false;
        }
    }

    @Override
    public void run() {
        try {
            while (!ended) {
                awaitActivity();
                sleep(QUIET_MS);
                if (!ended)
                    look();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** One ordinary probe; what follows only if it does not run. */
    private void look() throws InterruptedException {
        final int number = ++probe;
        long begin = SystemClock.uptimeMillis();
        ranAt = 0;
        handler.sendMessage(Message.obtain(handler, new Runnable() {
            @Override
            public void run() {
                if (number == probe)
                    ranAt = SystemClock.uptimeMillis();
            }
        }));
        while (ranAt == 0 && !ended && SystemClock.uptimeMillis() - begin < leakMs)
            sleep(50);
        if (ranAt == 0 && !ended && passes())
            found(begin);
    }

    /** Does an asynchronous message run, and the ordinary one before it not? A loop that hangs runs neither. */
    private boolean passes() throws InterruptedException {
        Message message = Message.obtain(handler, new Runnable() {
            @Override
            public void run() {
                asyncRan = true;
            }
        });
        asyncRan = false;
        message.setAsynchronous(true);
        handler.sendMessage(message);
        while (!asyncRan && ranAt == 0 && !ended)
            sleep(20);
        return asyncRan && ranAt == 0;
    }

    private void found(long begin) throws InterruptedException {
        boolean removed = removes && remove();
        if (!removed)
            report.leaked(SystemClock.uptimeMillis() - begin, false);
        while (ranAt == 0 && !ended) /* until it is gone there is nothing else to find */
            sleep(200);
        if (removed)
            report.leaked((ranAt != 0 ? ranAt : SystemClock.uptimeMillis()) - begin, true);
    }

    /**
     * Barriers are numbered in the order in which they are posted, and one of our own tells the numbers of those before.
     * The oldest is the leaked one. Removing one that is not there throws, and changes nothing.
     */
    private boolean remove() {
        boolean removed = false;
        try {
            MessageQueue queue = handler.getLooper().getQueue();
            Method post = MessageQueue.class.getDeclaredMethod("postSyncBarrier");
            Method take = MessageQueue.class.getDeclaredMethod("removeSyncBarrier", int.class);
            post.setAccessible(true);
            take.setAccessible(true);
            int last = (Integer) post.invoke(queue);
            take.invoke(queue, last);
            for (int token = Math.max(0, last - OLD_TOKENS); token < last && !removed; token++)
                removed = takes(take, queue, token);
        } catch (Exception | LinkageError e) {
            return false; /* the device does not let us */
        }
        return removed;
    }

    private static boolean takes(Method take, MessageQueue queue, int token) throws IllegalAccessException {
        try {
            take.invoke(queue, token);
            return true;
        } catch (InvocationTargetException e) {
            return false;
        }
    }
}
