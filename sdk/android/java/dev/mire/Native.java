package dev.mire;

/** The C API (mire.h, context.h); jni.c has the other half. Results are its error codes: 0 is success. */
final class Native {
    private Native() {
    }

    static native long newOptions();

    static native void freeOptions(long options);

    /** name: app, build, channel, device, os, server or store, as mire_options_set_NAME. */
    static native int setOption(long options, String name, String one, String two);

    static native int setNumber(long options, String name, int value);

    static native int setMemory(long options, int mode);

    static native int start(long options);

    static native int stop();

    static native int flush(int timeoutMs);

    static native String errorText(int error);

    static native String previousEnd(int timeoutMs);

    static native void setAppState(int state);

    static native int setScene(String name);

    static native int setTag(String name, String value);

    static native int setFlag(String name, String value);

    static native int setBattery(int percent, boolean charging);

    static native int setThermal(int thermal);

    static native int setOrientation(int orientation);

    static native int setUser(String id, boolean plain);

    static native void breadcrumb(String text);

    static native void frameTick(long whenNs);

    static native int capture(String name);

    /** The calling thread's input events are watched (android/input.h). */
    static native int openInput();

    static native void closeInput();

    /** For so long the oldest input event has been waiting for its answer; 0: none waits. */
    static native int inputWaitsMs();

    /** The number that the kernel gives the calling thread. */
    static native int ownThread();

    /** Serve the stacks of the thread with that number; see script/vm_stack.h. */
    static native void openStacks(int thread);

    static native void closeStacks();

    /** Sleeps until a stack is wanted. 0: the watch has ended. */
    static native long awaitStack();

    static native void addFrame(long stack, String name, String file, int line);

    static native void giveStack(long stack, boolean inNative, String turn);

    /** Requests go to awaitRequest from now on. */
    static native int setTransport(long options);

    /** The request TRACE, whose URL is the name of a run, comes to awaitRequest from now on: mire_options_set_trace. */
    static native int setTraces(long options);

    /** The request GAUGES comes to awaitRequest before each memory report from now on: mire_options_set_gauges. */
    static native int setGauges(long options);

    static native int memoryReport(String name);

    static native int memoryGauge(String name, long bytes, long count);

    static native int requireConsent(long options);

    static native int setConsent(int consent);

    static native void setNetwork(int network);

    /** Sleeps until there is one: method, URL, body (byte[]) or null, headers up to null. null: there will be none. */
    static native Object[] awaitRequest();

    /** status 0: no answer. headers: Retry-After, Date, ETag, each may be null. whole: the body's size as it was sent. */
    static native void answerRequest(int status, String[] headers, byte[] body, int whole);

    static native void closeRequests();

    /** The name of this run; see mire/exit.h. */
    static native String run();

    /** The system's record of an earlier run: mire_options_add_end. */
    static native int addEnd(long options, String run, int end, int status);
}
