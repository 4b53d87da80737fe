package dev.mire;

import android.view.Choreographer;
import android.view.View;
import android.view.ViewTreeObserver;

/**
 * Tells the library of each frame while something is drawn.
 *
 *     a window draws -> a callback for every frame of the display, until nothing was drawn for IDLE_FRAMES of them
 *
 * So a gap between two frames of an animation is seen, and a screen that stands still wakes nobody.
 * Thread: main.
 */
class FrameWatch implements ViewTreeObserver.OnPreDrawListener, Choreographer.FrameCallback {
    private static final int IDLE_FRAMES = 3;

    private boolean counts;
    private int still; /* frames since something was drawn */

    /** A window came. A view that is not in a window yet is watched all the same: listeners before a draw move along. */
    void add(View root) {
        ViewTreeObserver observer = root.getViewTreeObserver();
        observer.removeOnPreDrawListener(this);
        observer.addOnPreDrawListener(this);
    }

    /** doFrame is called at the display's next frame. */
    void awaitFrame() {
        Choreographer.getInstance().postFrameCallback(this);
    }

    @Override
    public boolean onPreDraw() {
        still = 0;
        if (!counts)
            awaitFrame();
        counts = true;
        return true;
    }

    @Override
    public void doFrame(long whenNs) {
        if (still++ < IDLE_FRAMES) {
            Native.frameTick(whenNs);
            awaitFrame();
            return;
        }
        counts = false;
        Native.frameTick(0);
    }
}
