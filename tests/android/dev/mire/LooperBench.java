package dev.mire;

import android.os.Handler;
import android.os.Looper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;

/**
 * Prints what Mire costs a Looper: "NAME VALUE UNIT" a line.
 *
 *     LooperBench bare|mire STORE
 */
public final class LooperBench {
    private static final int TURNS = 200000;
    private static final int ROUNDS = 7;
    private static final long HANG_MS = 4000;
    private static final int STARTS = 40;
    private static Handler handler;
    private static volatile long sink;

    private LooperBench() {
    }

    /** Nanoseconds of CPU time by now, of the threads whose name begins so. */
    private static long cpuOf(String name) throws IOException {
        long sum = 0;
        for (File task : new File("/proc/self/task").listFiles()) {
            String text = new String(Files.readAllBytes(new File(task, "comm").toPath()));
            if (text.startsWith(name))
                sum += Long.parseLong(new String(Files.readAllBytes(new File(task, "schedstat").toPath())).split(" ")[0]);
        }
        return sum;
    }

    /** Nanoseconds that one start takes on this thread. */
    private static long start(String store) {
        long begin = System.nanoTime();
        if (Mire.start(Looper.myLooper(), store, new MireOptions(null, null).app("bench", "1").channel("internal"), null) != 0)
            throw new IllegalStateException("start");
        return System.nanoTime() - begin;
    }

    /** Nanoseconds of CPU time by now, of this thread: other programs do not count. */
    private static long ownCpu() throws IOException {
        return Long.parseLong(new String(Files.readAllBytes(new File("/proc/thread-self/schedstat").toPath())).split(" ")[0]);
    }

    /** Starts with the library and its classes loaded, as the process of an app that has them in its image. */
    private static void startAgain(String store) throws IOException {
        long[] took = new long[STARTS];
        long[] cpu = new long[STARTS];
        for (int i = 0; i < STARTS; i++) {
            Mire.stop();
            long before = ownCpu();
            took[i] = start(store);
            cpu[i] = ownCpu() - before;
        }
        Arrays.sort(took);
        Arrays.sort(cpu);
        System.out.println("start-again " + took[STARTS / 2] / 1000 + " us");
        System.out.println("start-cpu " + cpu[STARTS / 2] / 1000 + " us");
    }

    public static void main(String[] words) throws Exception {
        boolean watched = words[0].equals("mire");
        final long[] found = new long[ROUNDS];
        Looper.prepare();
        handler = new Handler(Looper.myLooper());
        if (watched) {
            System.out.println("start " + start(words[1]) / 1000 + " us");
            startAgain(words[1]);
        }
        handler.post(new Round(found, 0));
        Looper.loop();
        if (watched)
            Mire.stop();
    }

    /** Rounds of turns, then a hang, then rest; each asks for the next. */
    private static final class Round implements Runnable {
        private final long[] found;
        private final int number;
        private int left = TURNS;
        private long begin;

        Round(long[] found, int number) {
            this.found = found;
            this.number = number;
        }

        @Override
        public void run() {
            if (left == TURNS)
                begin = System.nanoTime();
            if (left-- > 0) {
                handler.post(this);
                return;
            }
            found[number] = (System.nanoTime() - begin) / TURNS;
            if (number + 1 < ROUNDS) {
                handler.post(new Round(found, number + 1));
                return;
            }
            Arrays.sort(found);
            System.out.println("turn " + found[ROUNDS / 2] + " ns");
            handler.post(LooperBench::hang);
        }
    }

    private static void hang() {
        try {
            long java = cpuOf("mire-java");
            long check = cpuOf("mire-check");
            long end = System.nanoTime() + HANG_MS * 1000000;
            while (System.nanoTime() < end)
                sink++;
            System.out.println("hang-java " + (cpuOf("mire-java") - java) / HANG_MS + " ns/ms");
            System.out.println("hang-check " + (cpuOf("mire-check") - check) / HANG_MS + " ns/ms");
            handler.postDelayed(LooperBench::rest, 3000);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The loop was idle for the last seconds, up to this message. */
    private static void rest() {
        try {
            final long before = cpuOf("mire-");
            handler.postDelayed(() -> {
                try {
                    System.out.println("idle " + (cpuOf("mire-") - before) / 1000 + " us/10s");
                    Looper.myLooper().quit();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }, 10000);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
