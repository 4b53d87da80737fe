/*
 * display_apple.c - see display.h. QuartzCore is loaded by every app with UIKit; without it there is nothing to watch.
 * A display link keeps its target: both are made once, and kept.
 */
#include "core/display.h"

#include "base/base.h"
#include "mire/mire.h"

#include <CoreFoundation/CoreFoundation.h>
#include <objc/message.h>
#include <objc/runtime.h>
#include <stdatomic.h>

#define TRACKING_MODE "UITrackingRunLoopMode"

static id display; /* the link; NULL: none was made yet */
static CFRunLoopObserverRef observer;
static uint32_t depth; /* runs of the loop in the mode, which nest */
static _Atomic bool watches;

/* The link's time is that of mach_absolute_time in seconds, as mire__now_ns. */
static void on_frame(id self, SEL selector, id sender)
{
    double at_s = ((double (*)(id, SEL))objc_msgSend)(sender, sel_registerName("timestamp"));

    (void)self;
    (void)selector;
    if (atomic_load(&watches))
        mire_frame_tick((uint64_t)(at_s * 1e9));
}

static void pause_link(bool pauses)
{
    ((void (*)(id, SEL, BOOL))objc_msgSend)(display, sel_registerName("setPaused:"), (BOOL)pauses);
}

static void on_mode(CFRunLoopObserverRef by, CFRunLoopActivity activity, void *info)
{
    (void)by;
    (void)info;
    if (activity == kCFRunLoopEntry)
        depth++;
    else if (depth > 0)
        depth--;
    pause_link(depth == 0 || !atomic_load(&watches));
    if (depth == 0)
        mire_frame_tick(0);
}

static id make_link(void)
{
    id class = (id)objc_getClass("CADisplayLink");
    Class made = class ? objc_allocateClassPair((Class)objc_getClass("NSObject"), "MireFrameTarget", 0) : NULL;
    id target;

    if (!made)
        return NULL;
    class_addMethod(made, sel_registerName("onFrame:"), (IMP)on_frame, "v@:@");
    objc_registerClassPair(made);
    target = ((id(*)(id, SEL))objc_msgSend)((id)made, sel_registerName("new"));
    display = ((id(*)(id, SEL, id, SEL))objc_msgSend)(class, sel_registerName("displayLinkWithTarget:selector:"),
                                                      target, sel_registerName("onFrame:"));
    return ((id(*)(id, SEL))objc_msgSend)(display, sel_registerName("retain"));
}

static void add_link(CFRunLoopRef loop, CFStringRef mode)
{
    id of_thread = ((id(*)(id, SEL))objc_msgSend)((id)objc_getClass("NSRunLoop"), sel_registerName("currentRunLoop"));

    pause_link(true);
    ((void (*)(id, SEL, id, CFStringRef))objc_msgSend)(display, sel_registerName("addToRunLoop:forMode:"), of_thread,
                                                       mode);
    CFRunLoopAddObserver(loop, observer, mode);
}

void mire__display_watch(void)
{
    CFStringRef mode;

    atomic_store(&watches, true);
    if (display || !make_link())
        return;
    mode = CFStringCreateWithCString(NULL, TRACKING_MODE, kCFStringEncodingUTF8);
    observer = CFRunLoopObserverCreate(NULL, kCFRunLoopEntry | kCFRunLoopExit, true, 0, on_mode, NULL);
    if (mode && observer)
        add_link(CFRunLoopGetCurrent(), mode);
    if (mode)
        CFRelease(mode);
}

void mire__display_forget(void)
{
    atomic_store(&watches, false);
}
