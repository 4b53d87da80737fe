package dev.mire;

import android.annotation.TargetApi;
import android.content.Context;
import android.os.Build;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Asks the system for a trace before an ANR, and, where it can (Android 17), for a heap dump when Java's memory is exhausted or the
 * process uses too much memory (ProfilingManager's triggers, from Android 16 on). The system keeps the files with the app; a breadcrumb names each, which pulls it from the device.
 * The classes are not in the API level that this is compiled against.
 */
@TargetApi(36)
final class ProfileWatch implements Consumer<Object>, Executor {
    private static final String SERVICE = "profiling"; /* Context.PROFILING_SERVICE */
    private static final String[] TYPES = {"TRIGGER_TYPE_ANR", "TRIGGER_TYPE_OOM", "TRIGGER_TYPE_ANOMALY"};

    private ProfileWatch() {
    }

    static void open(Context context) {
        if (Build.VERSION.SDK_INT < 36)
            return;
        try {
            open(context.getSystemService(SERVICE));
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            /* the system has it in another form: there are no traces, then */
        }
    }

    /** manager: android.os.ProfilingManager */
    static void open(Object manager) throws ReflectiveOperationException {
        if (manager == null)
            return;
        ProfileWatch watch = new ProfileWatch();
        Class<?> of = manager.getClass();
        of.getMethod("registerForAllProfilingResults", Executor.class, Consumer.class).invoke(manager, watch, watch);
        of.getMethod("addProfilingTriggers", List.class).invoke(manager, triggers());
    }

    /** Of the types that this system knows. */
    private static List<Object> triggers() throws ReflectiveOperationException {
        Class<?> trigger = Class.forName("android.os.ProfilingTrigger");
        Class<?> builder = Class.forName("android.os.ProfilingTrigger$Builder");
        Method build = builder.getMethod("build");
        List<Object> found = new ArrayList<>();
        for (String type : TYPES) {
            try {
                int number = trigger.getField(type).getInt(null);
                found.add(build.invoke(builder.getConstructor(int.class).newInstance(number)));
            } catch (NoSuchFieldException e) {
                /* of a later system */
            }
        }
        return found;
    }

    @Override
    public void execute(Runnable task) {
        Thread thread = new Thread(task, "mire-profile"); /* the system deletes old files there */
        thread.setDaemon(true);
        thread.start();
    }

    /** result: android.os.ProfilingResult */
    @Override
    public void accept(Object result) {
        try {
            Class<?> of = result.getClass();
            Object path = of.getMethod("getResultFilePath").invoke(result);
            Object error = of.getMethod("getErrorCode").invoke(result);
            if (path != null && Integer.valueOf(0).equals(error))
                Mire.breadcrumb("the system made a profile: " + path);
        } catch (ReflectiveOperationException | RuntimeException e) {
            /* it names no file */
        }
    }
}
