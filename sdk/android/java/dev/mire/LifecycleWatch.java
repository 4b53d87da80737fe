package dev.mire;

import android.app.Activity;
import android.app.Application;
import android.os.Bundle;

/** The app's state and scene, by its activities. Thread: main. */
final class LifecycleWatch implements Application.ActivityLifecycleCallbacks {
    private int started;
    private int resumed;
    private final Runnable activity;
    private final FrameWatch frames = new FrameWatch();

    /** activity: called at every change */
    LifecycleWatch(Runnable activity) {
        this.activity = activity;
    }

    private void report() {
        Native.setAppState(resumed > 0 ? Mire.FOREGROUND : started > 0 ? Mire.VISIBLE : Mire.BACKGROUND);
        activity.run();
    }

    @Override
    public void onActivityCreated(Activity of, Bundle state) {
        Native.breadcrumb("created " + of.getClass().getName());
    }

    @Override
    public void onActivityStarted(Activity of) {
        started++;
        report();
    }

    @Override
    public void onActivityResumed(Activity of) {
        resumed++;
        Native.setScene(of.getClass().getName());
        Native.breadcrumb("resumed " + of.getClass().getName());
        if (of.getWindow() != null)
            frames.add(of.getWindow().getDecorView());
        report();
    }

    @Override
    public void onActivityPaused(Activity of) {
        resumed = Math.max(0, resumed - 1);
        Native.breadcrumb("paused " + of.getClass().getName());
        report();
    }

    @Override
    public void onActivityStopped(Activity of) {
        started = Math.max(0, started - 1);
        report();
    }

    @Override
    public void onActivitySaveInstanceState(Activity of, Bundle state) {
    }

    @Override
    public void onActivityDestroyed(Activity of) {
        Native.breadcrumb("destroyed " + of.getClass().getName());
    }
}
