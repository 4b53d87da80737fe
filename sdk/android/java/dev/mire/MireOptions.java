package dev.mire;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Options of {@link Mire#start}. Every setter returns the object, and takes effect at the start alone.
 * Thread: any, one at a time.
 */
public final class MireOptions {
    final String server;
    final String key;
    String app;
    String version;
    String build;
    String channel;
    String store;
    int thresholdMs;
    int memoryMode;
    final Map<String, Integer> numbers = new LinkedHashMap<>();
    long barrierMs = 3000;
    boolean removesBarriers;
    boolean needsConsent;
    boolean systemProfiles;

    /**
     * @param server "https://mire.example.com"; null: reports stay on the device
     * @param key    the app's ingest key; null without a server
     */
    public MireOptions(String server, String key) {
        this.server = server;
        this.key = key;
    }

    /** Name and version. Default: the package's name and versionName. */
    public MireOptions app(String name, String version) {
        this.app = name;
        this.version = version;
        return this;
    }

    /** What tells two builds of one version apart. Default: the package's version code. */
    public MireOptions build(String build) {
        this.build = build;
        return this;
    }

    /** "public" (default), "gray" or "internal". */
    public MireOptions channel(String channel) {
        this.channel = channel;
        return this;
    }

    /** The directory for unsent reports. Default: "mire" below the app's files. */
    public MireOptions store(String path) {
        this.store = path;
        return this;
    }

    /** From which time on a busy main thread hangs: 250 to 60000 ms, default 2000. */
    public MireOptions thresholdMs(int ms) {
        this.thresholdMs = ms;
        return this;
    }

    /** One parameter of mire_options_set_number, within its bounds. */
    public MireOptions number(String name, int value) {
        numbers.put(name, value);
        return this;
    }

    /** Record who holds native memory: 0 off (default), 1 sampled, 2 exact. */
    public MireOptions memory(int mode) {
        this.memoryMode = mode;
        return this;
    }

    /**
     * For how long a sync barrier must hold up all ordinary messages to count as leaked: 1000 ms or more, default 3000;
     * 0: barriers are not looked for.
     */
    public MireOptions barrierMs(long ms) {
        this.barrierMs = ms == 0 ? 0 : Math.max(ms, 1000);
        return this;
    }

    /** Remove a leaked barrier, by reflection. Default: no, it is reported only. */
    public MireOptions removeLeakedBarriers(boolean remove) {
        this.removesBarriers = remove;
        return this;
    }

    /**
     * Ask the system for a trace before an ANR (Android 16 and later), and for a heap dump when Java's memory is exhausted or the process
     * uses too much memory (Android 17). The files stay on the device; a breadcrumb has the path of each. Default: no, because they take
     * storage.
     */
    public MireOptions systemProfiles(boolean ask) {
        this.systemProfiles = ask;
        return this;
    }

    /** Nothing is sent before Mire.setConsent(true). Default: reports are sent unless the user has refused. */
    public MireOptions consentRequired() {
        this.needsConsent = true;
        return this;
    }
}
