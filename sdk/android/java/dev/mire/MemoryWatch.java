package dev.mire;

import android.content.ComponentCallbacks2;
import android.content.res.Configuration;
import android.os.Debug;
import java.io.File;

/**
 * Tells the library the amounts that the system measures: Java's heap, graphics, code, threads. They are read when the library
 * makes a memory report, and when the system says that memory is low, on a thread that may wait.
 */
final class MemoryWatch implements ComponentCallbacks2 {
    private static final long REST_NS = 10000000000L; /* between two readings because memory is low */
    private static final String[][] STATS = {{"summary.java-heap", "Java heap"}, {"summary.native-heap", "Native heap"},
        {"summary.graphics", "Graphics"}, {"summary.code", "Code"}, {"summary.stack", "Stacks"},
        {"summary.private-other", "Other private"}, {"summary.system", "System"}, {"summary.total-swap", "Swap"}};
    private long readNs = System.nanoTime() - REST_NS;

    /** Takes some tens of milliseconds. Thread: any but the main one. */
    static void read() {
        Debug.MemoryInfo info = new Debug.MemoryInfo();
        Debug.getMemoryInfo(info);
        report(info);
        tellCount("Threads", "/proc/self/task");
        tellCount("Descriptors", "/proc/self/fd");
    }

    static void report(Debug.MemoryInfo info) {
        for (String[] stat : STATS) {
            String kib = info.getMemoryStat(stat[0]);
            if (kib != null)
                Native.memoryGauge(stat[1], Long.parseLong(kib) * 1024, 0);
        }
    }

    private static void tellCount(String name, String folder) {
        String[] all = new File(folder).list();
        if (all != null)
            Native.memoryGauge(name, 0, all.length);
    }

    @Override
    public void onTrimMemory(int level) {
        long now = System.nanoTime();
        if (level < TRIM_MEMORY_RUNNING_LOW || level == TRIM_MEMORY_UI_HIDDEN || now - readNs < REST_NS)
            return;
        readNs = now;
        Native.breadcrumb("memory is low: level " + level);
        Thread reader = new Thread("mire-memory") {
            @Override
            public void run() {
                try {
                    read();
                } catch (RuntimeException | LinkageError e) {
                    /* the values before stay */
                }
            }
        };
        reader.setDaemon(true);
        reader.start();
    }

    @Override
    public void onLowMemory() {
        onTrimMemory(TRIM_MEMORY_COMPLETE);
    }

    @Override
    public void onConfigurationChanged(Configuration to) {
    }
}
