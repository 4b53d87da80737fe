/*
 * display.h - frames of the display, from the system: CADisplayLink, by the ObjC runtime. For Apple's systems; private to core/.
 *
 *     the user scrolls:  loop enters UITrackingRunLoopMode | tick tick tick ... | loop leaves it
 *     link               paused                            | runs               | paused
 *
 * UIKit runs the loop in that mode while a finger moves a scroll view and until the view has come to rest. An app that does
 * not scroll is not woken.
 */
#ifndef MIRE_CORE_DISPLAY_H
#define MIRE_CORE_DISPLAY_H

/*
 * Tell mire_frame_tick of each frame while the user scrolls; no effect where there is no CADisplayLink. End it.
 * Thread: the main one; the end from any, after which a frame that is under way may still be reported.
 */
void mire__display_watch(void);
void mire__display_forget(void);

#endif
