package dev.mire;

import java.util.Map;

/**
 * Tells who may hold the monitor that the main thread waits for, once a message. Java does not tell a monitor's holder: it is
 * a thread that is not blocked itself and is in code of the class in which the main thread waits. Breadcrumbs have its stack.
 *
 * Cost: the stacks of all threads, once in a hang. Thread: mire-java.
 */
final class MonitorWatch {
    private static final int FRAMES = 8; /* breadcrumbs for one stack */

    private int told = -1; /* the looper's lines when a monitor was told last */

    /** The watched thread had this stack, innermost first, when the looper had printed so many lines. */
    void look(Thread watched, StackTraceElement[] frames, int lines) {
        if (frames.length == 0 || lines == told || watched.getState() != Thread.State.BLOCKED)
            return;
        told = lines;
        Native.breadcrumb("waits for a monitor in " + nameOf(frames[0]));
        Map<Thread, StackTraceElement[]> all = Thread.getAllStackTraces();
        if (!find(all, watched, frames[0].getClassName()))
            find(all, watched, outerOf(frames[0].getClassName()));
    }

    private static boolean find(Map<Thread, StackTraceElement[]> all, Thread watched, String class_) {
        for (Map.Entry<Thread, StackTraceElement[]> other : all.entrySet()) {
            int depth = depthOf(other.getValue(), class_);
            if (depth < 0 || other.getKey() == watched || other.getKey().getState() == Thread.State.BLOCKED)
                continue;
            report(other.getKey(), other.getValue(), depth);
            return true;
        }
        return false;
    }

    private static void report(Thread holder, StackTraceElement[] frames, int depth) {
        Native.breadcrumb("the thread " + holder.getName() + " may hold it:");
        for (int i = Math.max(0, depth + 1 - FRAMES); i <= depth; i++)
            Native.breadcrumb("  " + nameOf(frames[i]));
    }

    private static String nameOf(StackTraceElement frame) {
        return frame.getClassName() + "." + frame.getMethodName();
    }

    /** The class without what lies in it: lambdas and inner classes often use the monitor of the class around them. */
    private static String outerOf(String name) {
        int inner = name.indexOf('$');
        return inner > 0 ? name.substring(0, inner) : name;
    }

    /** The innermost frame of the class, or of one that lies in it; -1: there is none. */
    private static int depthOf(StackTraceElement[] frames, String class_) {
        for (int i = 0; i < frames.length; i++) {
            String name = frames[i].getClassName();
            if (name.startsWith(class_) && (name.length() == class_.length() || name.charAt(class_.length()) == '$'))
                return i;
        }
        return -1;
    }
}
