package dev.mire;

import android.annotation.TargetApi;
import android.app.ActivityManager;
import android.app.ApplicationExitInfo;
import android.content.Context;
import android.os.Build;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Why earlier processes ended, by the system's record of them (ApplicationExitInfo, from Android 11 on). The state that a
 * process leaves with the system is the name of its run, by which the library recognises the record.
 */
@TargetApi(30)
final class ExitWatch {
    /* enum mire_end */
    private static final int EXIT = 1;
    private static final int SIGNAL = 2;
    private static final int CRASH = 3;
    private static final int HANG = 4;
    private static final int LOW_MEMORY = 5;
    private static final int MEMORY_LIMIT = 6;
    private static final int USER = 7;
    private static final int UPGRADE = 8;
    private static final int SYSTEM = 9;
    private static final int RECORDS = 16;
    private static final int LONGEST = 64; /* bytes of a state */

    /** Records that may have a trace, by the names of their runs. */
    private static final Map<String, ApplicationExitInfo> traced = new ConcurrentHashMap<>();

    private ExitWatch() {
    }

    static boolean hasTraces() {
        return !traced.isEmpty();
    }

    /** The system's trace of a run, at most so many bytes: the text of an ANR, or a tombstone. null: there is none. */
    static byte[] traceOf(String run, int most) throws IOException {
        ApplicationExitInfo record = traced.remove(run);
        InputStream in = record == null ? null : record.getTraceInputStream();
        if (in == null)
            return null;
        try {
            byte[] bytes = new byte[1 << 16];
            int size = 0;
            for (int got; size < most && (got = in.read(bytes, size, bytes.length - size)) > 0;) {
                size += got;
                if (size == bytes.length)
                    bytes = Arrays.copyOf(bytes, 2 * size);
            }
            return Arrays.copyOf(bytes, Math.min(size, most));
        } finally {
            in.close();
        }
    }

    /** Tells the options what the system knows, newest first. Thread: any. */
    static void report(Context context, long options) {
        try {
            if (Build.VERSION.SDK_INT < 30)
                return;
            ActivityManager manager = (ActivityManager) context.getSystemService(Context.ACTIVITY_SERVICE);
            List<ApplicationExitInfo> records = manager.getHistoricalProcessExitReasons(null, 0, RECORDS);
            for (ApplicationExitInfo record : records)
                report(options, record);
        } catch (RuntimeException | LinkageError e) {
            /* the library judges by what it has seen itself */
        }
    }

    /** Leaves the run's name with the system. After mire_start. */
    static void leaveName(Context context) {
        try {
            if (Build.VERSION.SDK_INT >= 30)
                ((ActivityManager) context.getSystemService(Context.ACTIVITY_SERVICE))
                        .setProcessStateSummary(bytesOf(Native.run()));
        } catch (RuntimeException | LinkageError e) {
            /* as above */
        }
    }

    static void report(long options, ApplicationExitInfo record) {
        byte[] state = record.getProcessStateSummary();
        if (state == null || state.length == 0 || state.length > LONGEST)
            return;
        int end = endOf(record.getReason(), record.getStatus(), record.getDescription());
        if (end == 0)
            return;
        int error = Native.addEnd(options, textOf(state), end, end == SIGNAL ? record.getStatus() : 0);
        if (error == 0 && (end == HANG || end == SIGNAL || end == CRASH))
            traced.put(textOf(state), record);
    }

    /** A reason of ApplicationExitInfo, those that this class was not compiled against included; 0: nothing is known. */
    static int endOf(int reason, int status, String description) {
        switch (reason) {
        case ApplicationExitInfo.REASON_EXIT_SELF:
            return EXIT;
        case ApplicationExitInfo.REASON_SIGNALED:
        case ApplicationExitInfo.REASON_CRASH_NATIVE:
            return status > 0 && status <= 64 ? SIGNAL : reason == ApplicationExitInfo.REASON_SIGNALED ? 0 : CRASH;
        case ApplicationExitInfo.REASON_LOW_MEMORY:
            return LOW_MEMORY;
        case ApplicationExitInfo.REASON_CRASH:
        case ApplicationExitInfo.REASON_INITIALIZATION_FAILURE:
            return CRASH;
        case ApplicationExitInfo.REASON_ANR:
            return HANG;
        case ApplicationExitInfo.REASON_USER_REQUESTED:
        case ApplicationExitInfo.REASON_USER_STOPPED:
            return USER;
        case ApplicationExitInfo.REASON_PERMISSION_CHANGE:
        case 15: /* REASON_PACKAGE_STATE_CHANGE, API 34 */
        case 16: /* REASON_PACKAGE_UPDATED, API 34 */
            return UPGRADE;
        case ApplicationExitInfo.REASON_UNKNOWN:
            return 0;
        default: /* a dependency that died, the freezer, too much of something, and reasons to come */
            return description != null && description.contains("MemoryLimiter") ? MEMORY_LIMIT : SYSTEM;
        }
    }

    private static byte[] bytesOf(String ascii) {
        byte[] out = new byte[ascii.length()];
        for (int i = 0; i < out.length; i++)
            out[i] = (byte) ascii.charAt(i);
        return out;
    }

    private static String textOf(byte[] ascii) {
        StringBuilder out = new StringBuilder();
        for (byte unit : ascii)
            out.append((char) (unit & 0x7f));
        return out.toString();
    }
}
