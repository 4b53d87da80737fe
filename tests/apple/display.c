/*
 * display.c - see machine.h: a display whose frames a CADisplayLink tells, and a run loop that a scroll holds in UIKit's mode.
 */
#include "apple/display.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRACKING_MODE "UITrackingRunLoopMode"
#define FRAME_NS      16666667ull
#define NS_PER_S      1000000000ull
#define ENTRY         1u
#define EXIT          128u
#define AFTER         10 /* frames after a scroll */

typedef void observe_fn(void *observer, unsigned long activity, void *info);

static struct {
    observe_fn *observe; /* of the mode */
    void *observer;
    display_call_fn *call;
    void *target;
    const char *selector;
    bool is_added, is_paused;
    double at_s;
} display;

void *display_make_observer(void *allocator, unsigned long activities, int repeats, long order, void *callback)
{
    void **made = calloc(2, sizeof(*made));

    (void)allocator;
    (void)activities;
    (void)repeats;
    (void)order;
    made[0] = callback;
    return made;
}

void display_add_observer(void *loop, void *observer, const char *mode)
{
    (void)loop;
    if (strcmp(mode, TRACKING_MODE) != 0)
        return;
    display.observer = observer;
    display.observe = *(observe_fn **)observer;
}

void display_make_link(void *target, const char *selector, display_call_fn *call)
{
    display.target = target;
    display.selector = selector;
    display.call = call;
}

void display_add_link(const char *mode)
{
    display.is_added = strcmp(mode, TRACKING_MODE) == 0;
}

void display_pause(int pauses)
{
    display.is_paused = pauses != 0;
}

double display_time(void)
{
    return display.at_s;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The display's next frame, and the link's turn if it is not paused. */
static void await_frame(void)
{
    uint64_t at_ns = (now_ns() / FRAME_NS + 1) * FRAME_NS;
    const struct timespec at = {(time_t)(at_ns / NS_PER_S), (long)(at_ns % NS_PER_S)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    display.at_s = (double)at_ns / 1e9;
    if (display.is_added && !display.is_paused && display.call)
        display.call(display.target, display.selector);
}

unsigned display_scroll(unsigned ms, void (*draw)(unsigned frame))
{
    uint64_t end_ns = now_ns() + ms * 1000000ull;
    unsigned woken = 0;

    if (!display.observe)
        return UINT32_MAX;
    display.observe(display.observer, ENTRY, NULL);
    for (unsigned i = 1; now_ns() < end_ns; i++) {
        draw(i);
        await_frame();
    }
    display.observe(display.observer, EXIT, NULL);
    for (int i = 0; i < AFTER; i++) {
        await_frame();
        woken += !display.is_paused;
    }
    return woken;
}
