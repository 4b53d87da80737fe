/** Natives first, then the app: Main LOOPER_LIBRARY URL STORE SCENARIO... */
public final class Main {
    private Main() {
    }

    public static void main(String[] words) throws Exception {
        Natives.bindAll(words[0]);
        dev.mire.LooperApp.main(java.util.Arrays.copyOfRange(words, 1, words.length));
    }
}
