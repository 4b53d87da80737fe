/*
 * variant_apple.c - libmire on Apple's systems: see variant.h. Nothing is patched: run loops are observed.
 */
#include "core/variant.h"

#include "allochook/allochook.h"
#include "core/display.h"
#include "core/ground.h"
#include "core/metrickit.h"
#include "core/uncaught.h"
#include "gate/run_loop.h"
#include "mire/exit.h"

const struct variant mire__variant = {.recovers_launched = true, .moves = true, .takes_numbers = true};

void mire__variant_begin(void)
{
}

/* Called on the thread that starts, whose loop is watched. */
enum mire_err mire__variant_hook(void)
{
    mire__ground_hear();
    return mire__run_loop_observe();
}

void mire__variant_rehook(void)
{
}

void mire__variant_unhook(void)
{
    mire__run_loop_forget_all();
}

enum mire_err mire__variant_watch_thread(void)
{
    return mire__run_loop_observe();
}

void mire__variant_unwatch_thread(void)
{
    mire__run_loop_forget();
}

static bool by_logger; /* how allocating calls are seen */

enum mire_err mire__variant_hook_heap(const struct memory_options *options)
{
    by_logger = options->source == MIRE_MEMORY_LOGGER;
    return by_logger ? mire__logger_hook() : mire__zones_hook();
}

/* The app may have made zones since. */
void mire__variant_rehook_heap(const struct heap *heap)
{
    (void)heap;
    if (!by_logger)
        mire__zones_hook();
}

void mire__variant_unhook_heap(bool exits)
{
    (void)exits;
    if (by_logger)
        mire__logger_unhook();
    else
        mire__zones_unhook();
}

bool mire__variant_marks_quit(const mire_options *options)
{
    (void)options;
    return true;
}

void mire__variant_subscribe(const mire_options *options)
{
    if (options->metrickit)
        mire__metrickit_subscribe();
    if (options->display)
        mire__display_watch();
    if (options->signals & MIRE_SIGNALS_CRASH)
        mire__uncaught_objc_hear();
}

void mire__variant_unsubscribe(void)
{
    mire__metrickit_unsubscribe();
    mire__display_forget();
    mire__uncaught_objc_forget();
}
