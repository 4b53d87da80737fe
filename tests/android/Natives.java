import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

/** Binds the native methods of the framework's classes to looper.c, before they are initialised. */
final class Natives {
    private static final String[] CLASSES = {"android.os.MessageQueue", "android.os.SystemClock", "android.util.Log",
        "android.os.SystemProperties", "android.os.Binder", "android.os.Trace", "android.os.Process", "libcore.io.Linux", "libcore.io.Posix",
        "android.os.Parcel", "android.os.StrictMode", "android.app.ActivityThread", "android.os.Debug",
        "android.os.MessageQueue$Message", "android.os.ThreadLocalWorkSource", "android.view.InputEventReceiver",
        "android.view.InputChannel", "android.view.InputEvent", "android.view.KeyEvent",
        "android.os.PerfettoTrace", "android.os.PerfettoTrace$Category", "android.os.PerfettoTrackEventExtra",
        "android.os.PerfettoTrackEventExtra$CounterInt64", "android.os.PerfettoTrackEventExtra$CounterTrack",
        "android.os.PerfettoTrackEventExtra$FieldInt64", "android.os.PerfettoTrackEventExtra$FieldString",
        "android.os.PerfettoTrackEventExtra$FieldNested", "android.os.PerfettoTrackEventExtra$NamedTrack",
        "android.os.PerfettoTrackEventExtra$Proto", "android.os.PerfettoTrackEventExtra$Flow",
        "android.os.PerfettoTrackEventExtra$ArgInt64", "android.os.PerfettoTrackEventExtra$ArgString",
        "android.os.PerfettoTrackEventExtra$ArgBool", "android.os.PerfettoTrackEventExtra$ArgDouble",
        "android.os.PerfettoTrackEventExtra$CounterDouble", "android.os.PerfettoTrackEventExtra$FieldDouble",
        "dalvik.system.VMRuntime"};

    private Natives() {
    }

    private static native void bind(Class<?> of, String path, String name, String signature);

    private static String descriptor(Class<?> type) {
        return type == void.class ? "V" : Array.newInstance(type, 0).getClass().getName().substring(1).replace('.', '/');
    }

    static void bindAll(String library) {
        System.load(library);
        for (String name : CLASSES) {
            try {
                bindClass(Class.forName(name, false, Natives.class.getClassLoader()));
            } catch (ClassNotFoundException | LinkageError e) {
                /* not in this version */
            }
        }
    }

    private static void bindClass(Class<?> of) {
        for (Method method : of.getDeclaredMethods()) {
            if (!Modifier.isNative(method.getModifiers()))
                continue;
            StringBuilder signature = new StringBuilder("(");
            for (Class<?> type : method.getParameterTypes())
                signature.append(descriptor(type));
            bind(of, of.getName().replace('.', '/'), method.getName(),
                    signature.append(')').append(descriptor(method.getReturnType())).toString());
        }
    }
}
