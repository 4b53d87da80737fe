package dev.mire;

import android.app.Application;
import android.content.Context;
import android.content.pm.PackageInfo;
import android.os.Build;
import android.os.Looper;
import android.os.Process;
import java.io.File;
import java.util.Map;

/**
 * Finds what makes the app's main thread hang.
 *
 * <pre>
 *     Mire.start(this, new MireOptions("https://mire.example.com", KEY).channel("gray"));   in Application.onCreate
 * </pre>
 *
 * Nothing here throws. If the start fails, or was not made, every other call does nothing.
 * Thread: any, but for start.
 */
public final class Mire {
    /** States of {@link #setAppState}, which activities set by themselves. */
    public static final int FOREGROUND = 1;
    public static final int VISIBLE = 2;
    public static final int PERCEPTIBLE = 3;
    public static final int BACKGROUND = 4;

    private static final int STARTED = -3;
    private static final int NO_LIBRARY = -6;
    private static final int USER_IDS = 100000; /* of one of the device's users */
    private static final int ISOLATED_FIRST = 99000;
    private static boolean loaded;
    private static boolean started;
    private static MessageWatch messages;
    private static StackWatch stacks;
    private static BarrierWatch barriers;
    private static Sender sender;
    private static volatile boolean running;

    private Mire() {
    }

    /**
     * Start watching the main thread. Call it there, in Application.onCreate. An isolated process is not watched.
     *
     * @param context the application, or a part of it
     * @return 0, or an error code of mire.h; {@link #errorText} explains it
     */
    public static synchronized int start(Context context, MireOptions options) {
        if (Process.myUid() % USER_IDS >= ISOLATED_FIRST) /* it may neither keep files nor send */
            return NO_LIBRARY;
        PackageInfo info = packageOf(context);
        String store = options.store != null ? options.store : new File(context.getFilesDir(), "mire").getPath();
        int error = start(Looper.getMainLooper(), store, named(options, context, info), context);
        if (error != 0)
            return error;
        if (options.memoryMode > 0 && context.getApplicationContext() != null)
            context.getApplicationContext().registerComponentCallbacks(new MemoryWatch());
        if (context.getApplicationContext() instanceof Application)
            ((Application) context.getApplicationContext())
                    .registerActivityLifecycleCallbacks(new LifecycleWatch(new Runnable() {
                        @Override
                        public void run() {
                            onActivity();
                        }
                    }));
        return error;
    }

    /** The calling thread's looper is watched. Without a context (null), for tests, the system's records are not asked. */
    static synchronized int start(Looper looper, String store, MireOptions options, Context context) {
        if (started)
            return STARTED;
        if (!load())
            return NO_LIBRARY;
        int error = startNative(store, options, context);
        if (error != 0)
            return error;
        messages = new MessageWatch(looper);
        messages.install();
        stacks = new StackWatch(looper.getThread(), Native.ownThread(), messages);
        stacks.open();
        Native.openInput();
        if (options.server != null || options.memoryMode > 0 || ExitWatch.hasTraces()) {
            sender = new Sender();
            sender.start();
        }
        if (options.barrierMs > 0)
            watchBarriers(looper, options);
        started = running = true;
        if (context != null) {
            ExitWatch.leaveName(context);
            if (options.systemProfiles)
                ProfileWatch.open(context);
            NetworkWatch.open(context);
        }
        return 0;
    }

    private static void watchBarriers(Looper looper, MireOptions options) {
        barriers = new BarrierWatch(looper, messages, options.barrierMs, options.removesBarriers,
                new BarrierWatch.Report() {
                    @Override
                    public void leaked(long ageMs, boolean removed) {
                        Native.breadcrumb("a sync barrier held up messages for " + ageMs + " ms; it is "
                                + (removed ? "removed" : "still there"));
                        Native.capture("sync barrier leaked");
                    }
                });
        barriers.start();
    }

    private static boolean load() {
        try {
            if (!loaded)
                System.loadLibrary("mire");
            loaded = true;
        } catch (UnsatisfiedLinkError e) {
            return false;
        }
        return loaded;
    }

    private static int startNative(String store, MireOptions options, Context context) {
        long native_ = Native.newOptions();
        int error = Native.setOption(native_, "app", options.app, options.version);
        if (error == 0)
            error = Native.setOption(native_, "store", store, null);
        if (error == 0 && options.build != null)
            error = Native.setOption(native_, "build", options.build, null);
        if (error == 0 && options.channel != null)
            error = Native.setOption(native_, "channel", options.channel, null);
        if (error == 0 && options.server != null)
            error = Native.setOption(native_, "server", options.server, options.key);
        if (error == 0 && options.server != null)
            error = Native.setTransport(native_);
        if (error == 0 && options.needsConsent)
            error = Native.requireConsent(native_);
        if (error == 0 && options.thresholdMs > 0)
            error = setThresholds(native_, options.thresholdMs);
        for (Map.Entry<String, Integer> number : options.numbers.entrySet())
            error = error != 0 ? error : Native.setNumber(native_, number.getKey(), number.getValue());
        if (error == 0 && options.memoryMode > 0)
            error = Native.setMemory(native_, options.memoryMode);
        if (Build.MODEL != null && !Build.MODEL.isEmpty())
            Native.setOption(native_, "device", Build.MODEL, null);
        if (Build.VERSION.RELEASE != null && !Build.VERSION.RELEASE.isEmpty())
            Native.setOption(native_, "os", "android", Build.VERSION.RELEASE);
        if (context != null)
            ExitWatch.report(context, native_);
        if (error == 0 && options.memoryMode > 0)
            error = Native.setGauges(native_);
        if (error == 0 && ExitWatch.hasTraces())
            error = Native.setTraces(native_);
        if (error == 0)
            error = Native.start(native_);
        Native.freeOptions(native_);
        return error;
    }

    private static int setThresholds(long native_, int ms) {
        int error = 0;
        for (String name : new String[] {"foreground_ms", "background_ms", "launch_ms", "unanswered_ms"})
            error = error != 0 ? error : Native.setNumber(native_, name, ms);
        return error;
    }

    private static PackageInfo packageOf(Context context) {
        try {
            return context.getPackageManager().getPackageInfo(context.getPackageName(), 0);
        } catch (Exception e) {
            return null;
        }
    }

    private static MireOptions named(MireOptions options, Context context, PackageInfo info) {
        if (options.app == null)
            options.app(context.getPackageName(), info != null && info.versionName != null ? info.versionName : "0");
        if (options.build == null && info != null)
            options.build(Integer.toString(info.versionCode));
        return options;
    }

    /** Stop watching and store all pending data. Reports that are not sent stay for the next start. */
    public static synchronized void stop() {
        if (!started)
            return;
        started = running = false;
        if (barriers != null)
            barriers.end();
        barriers = null;
        stacks.close();
        messages.remove();
        Native.closeInput();
        Native.stop();
        if (sender != null)
            sender.close();
        sender = null;
    }

    /** Something happened that may have left a sync barrier: activities tell it; call it for views of your own. */
    public static void onActivity() {
        BarrierWatch watch = barriers;
        MessageWatch printer = messages;
        if (running && printer != null)
            printer.install();
        if (watch != null)
            watch.onActivity();
    }

    /** How visible the app is; activities set it by themselves, services that play music do not. */
    public static void setAppState(int state) {
        if (running)
            Native.setAppState(state);
    }

    /** The current screen; activities set it by themselves, fragments do not. null: none. */
    public static void setScene(String name) {
        if (running)
            Native.setScene(name);
    }

    /** At most 40 tags, flags and conditions; the value null removes one. */
    public static void setTag(String name, String value) {
        if (running)
            Native.setTag(name, value);
    }

    /** A feature flag: "on", "off" or a variant's name; null removes it. */
    public static void setFlag(String name, String value) {
        if (running)
            Native.setFlag(name, value);
    }

    /** The battery, 0..100 percent; another number: not known. */
    public static void setBattery(int percent, boolean charging) {
        if (running)
            Native.setBattery(percent, charging);
    }

    /** A status of PowerManager.getCurrentThermalStatus; a negative one: not known. */
    public static void setThermalStatus(int status) {
        int thermal = status < 0 ? 0 : status == 0 ? 1 : status <= 2 ? 2 : status == 3 ? 3 : 4;
        if (running)
            Native.setThermal(thermal);
    }

    /** An orientation of android.content.res.Configuration. */
    public static void setOrientation(int orientation) {
        if (running)
            Native.setOrientation(orientation == 1 || orientation == 2 ? orientation : 0);
    }

    /** The user, hashed on the device. null: none. */
    public static void setUser(String id) {
        if (running)
            Native.setUser(id, false);
    }

    /** The user, as it is. */
    public static void setPlainUser(String id) {
        if (running)
            Native.setUser(id, true);
    }

    /** A step of the user or of the app; the last 64 are in every report. */
    public static void breadcrumb(String text) {
        if (running)
            Native.breadcrumb(text);
    }

    /**
     * The user's decision about reports, which is kept for later starts. After a refusal all waiting reports are deleted,
     * and nothing is sent any more.
     */
    public static void setConsent(boolean given) {
        if (running)
            Native.setConsent(given ? 1 : 2);
    }

    /**
     * Make a report of the memory that is held now, under this name (null: none). With {@link MireOptions#memory} only.
     *
     * @return false: memory is not recorded, or a report is being made
     */
    public static boolean reportMemory(String name) {
        return running && Native.memoryReport(name) == 0;
    }

    /**
     * An amount of memory that the app measures: a cache, bitmaps. Memory reports have its last value; at most 16 names, of which
     * Mire uses ten.
     */
    public static void memoryGauge(String name, long bytes, long count) {
        if (running && name != null)
            Native.memoryGauge(name, bytes, count);
    }

    /** A frame was drawn at that time of System.nanoTime. */
    public static void frameTick(long whenNs) {
        if (running)
            Native.frameTick(whenNs);
    }

    /** Wait until all reports made so far are sent. Not on the main thread. */
    public static boolean flush(int timeoutMs) {
        return running && Native.flush(timeoutMs) == 0;
    }

    /**
     * Why the previous run of this process ended, for an app that starts with less after a crash or a kill: "crash",
     * "watchdog_kill", "foom", "user_quit" and others (docs/exits.md); "" if no run ended before.
     *
     * @param timeoutMs to wait for the judgement, which comes some milliseconds after the start; 0: not at all
     * @return null: not judged yet
     */
    public static String previousEnd(int timeoutMs) {
        return running ? Native.previousEnd(timeoutMs) : null;
    }

    /** A sentence about an error code. */
    public static String errorText(int error) {
        return loaded ? Native.errorText(error) : "libmire.so cannot be loaded";
    }
}
