/*
 * display.h - the display of the machine (machine.h). Private to tests/apple.
 */
#ifndef MIRE_TEST_DISPLAY_H
#define MIRE_TEST_DISPLAY_H

#include <stdint.h>

/* Sends the selector to the target, with the link. */
typedef void display_call_fn(void *target, const char *selector);

/* Observers of run loops; the one of UIKit's scrolling mode is called by display_scroll. */
void *display_make_observer(void *allocator, unsigned long activities, int repeats, long order, void *callback);
void display_add_observer(void *loop, void *observer, const char *mode);

/* The link: its target, its mode, whether it rests, and the time of its frame in seconds. */
void display_make_link(void *target, const char *selector, display_call_fn *call);
void display_add_link(const char *mode);
void display_pause(int pauses);
double display_time(void);

/* The user scrolls. Returns the frames afterwards in which the link was not paused; UINT32_MAX: nobody observes scrolling. */
unsigned display_scroll(unsigned ms, void (*draw)(unsigned frame));

#endif
