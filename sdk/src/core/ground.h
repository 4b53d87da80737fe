/*
 * ground.h - the app's way to the foreground and back, as Apple's systems announce it to the app itself. Private to core/.
 */
#ifndef MIRE_CORE_GROUND_H
#define MIRE_CORE_GROUND_H

/*
 * Hear UIKit's notices from now on: they call mire_set_app_state, and mire_set_quit before the app is terminated. Without
 * UIKit (a tool, or AppKit) there are none, and the app calls these itself. A second call has no effect.
 * Thread: the one that starts.
 */
void mire__ground_hear(void);

#endif
