/*
 * run_loop_apple.c - see run_loop.h. The fields of a row belong to its thread, but for `state`.
 */
#include "gate/run_loop.h"

#include "gate/gate.h"

#include <CoreFoundation/CoreFoundation.h>
#include <limits.h>
#include <pthread.h>

#define LAUNCH_MODE "UIInitializationRunLoopMode"

enum { ROW_FREE, ROW_TAKEN, ROW_OBSERVES };

static struct observed {
    _Atomic uint32_t state;
    pthread_t thread;
    CFRunLoopObserverRef first, last;
    uint32_t depth; /* runs of the loop that have not returned */
    bool fresh;     /* it has waited, or was entered, since it last looked at its timers */
} rows[MIRE_WATCHED_MAX];

static void on_first(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info)
{
    struct observed *row = info;
    bool begins = activity != kCFRunLoopBeforeTimers;

    (void)observer;
    row->depth += activity == kCFRunLoopEntry;
    if (begins || !row->fresh)
        mire__gate_as_turn_begin();
    row->fresh = begins;
}

static void on_last(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info)
{
    struct observed *row = info;

    (void)observer;
    if (activity == kCFRunLoopExit && row->depth > 0)
        row->depth--;
    if (activity == kCFRunLoopExit && row->depth > 0)
        mire__gate_as_turn_begin();
    else
        mire__gate_as_turn_end();
}

static struct observed *find_row(void)
{
    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++)
        if (atomic_load(&rows[i].state) == ROW_OBSERVES && pthread_equal(rows[i].thread, pthread_self()))
            return &rows[i];
    return NULL;
}

static struct observed *take_row(void)
{
    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++) {
        uint32_t state = ROW_FREE;

        if (atomic_compare_exchange_strong(&rows[i].state, &state, ROW_TAKEN))
            return &rows[i];
    }
    return NULL;
}

static void release(struct observed *row)
{
    CFRunLoopObserverRef observers[] = {row->first, row->last};

    for (size_t i = 0; i < MIRE_COUNT(observers); i++) {
        if (!observers[i])
            continue;
        CFRunLoopObserverInvalidate(observers[i]);
        CFRelease(observers[i]);
    }
    row->first = row->last = NULL;
    atomic_store(&row->state, ROW_FREE);
}

/* Runs the loop already? Then its entry was not seen. */
static bool runs(CFRunLoopRef loop)
{
    CFStringRef mode = CFRunLoopCopyCurrentMode(loop);

    if (mode)
        CFRelease(mode);
    return mode != NULL;
}

static bool observe(struct observed *row, CFStringRef launch_mode)
{
    CFRunLoopObserverContext context = {.info = row};
    CFRunLoopRef loop = CFRunLoopGetCurrent();

    row->thread = pthread_self();
    row->depth = runs(loop);
    row->fresh = true;
    row->first = CFRunLoopObserverCreate(NULL, kCFRunLoopEntry | kCFRunLoopBeforeTimers | kCFRunLoopAfterWaiting, true,
                                         LONG_MIN, on_first, &context);
    row->last =
        CFRunLoopObserverCreate(NULL, kCFRunLoopBeforeWaiting | kCFRunLoopExit, true, LONG_MAX, on_last, &context);
    if (!row->first || !row->last)
        return false;
    CFRunLoopAddObserver(loop, row->first, kCFRunLoopCommonModes);
    CFRunLoopAddObserver(loop, row->last, kCFRunLoopCommonModes);
    CFRunLoopAddObserver(loop, row->first, launch_mode);
    CFRunLoopAddObserver(loop, row->last, launch_mode);
    return true;
}

enum mire_err mire__run_loop_observe(void)
{
    struct observed *row = find_row() ? NULL : take_row();
    CFStringRef launch_mode;
    bool observes;

    if (!row)
        return find_row() ? MIRE_OK : MIRE_E_FULL;
    launch_mode = CFStringCreateWithCString(NULL, LAUNCH_MODE, kCFStringEncodingUTF8);
    observes = launch_mode && observe(row, launch_mode);
    if (launch_mode)
        CFRelease(launch_mode);
    if (observes)
        atomic_store(&row->state, ROW_OBSERVES);
    else
        release(row);
    return observes ? MIRE_OK : MIRE_E_MEMORY;
}

void mire__run_loop_forget(void)
{
    struct observed *row = find_row();

    if (row)
        release(row);
}

void mire__run_loop_forget_all(void)
{
    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++)
        if (atomic_load(&rows[i].state) == ROW_OBSERVES)
            release(&rows[i]);
}
