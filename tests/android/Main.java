/** Natives first, then the app or the measurement: Main LOOPER_LIBRARY [--bench] WORD... */
public final class Main {
    private Main() {
    }

    public static void main(String[] words) throws Exception {
        Natives.bindAll(words[0]);
        if (words[1].equals("--bench"))
            dev.mire.LooperBench.main(java.util.Arrays.copyOfRange(words, 2, words.length));
        else
            dev.mire.LooperApp.main(java.util.Arrays.copyOfRange(words, 1, words.length));
    }
}
