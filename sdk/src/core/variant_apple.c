/*
 * variant_apple.c - libmire on Apple's systems: see variant.h. Nothing is patched: run loops are observed.
 */
#include "core/variant.h"

#include "core/ground.h"
#include "gate/run_loop.h"

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

/* Allocating calls have no hooks here. */
enum mire_err mire__variant_hook_heap(void)
{
    return MIRE_E_SYSTEM;
}

void mire__variant_unhook_heap(bool exits)
{
    (void)exits;
}

bool mire__variant_marks_quit(const mire_options *options)
{
    (void)options;
    return true;
}

bool mire__variant_recovers(const mire_options *options)
{
    (void)options;
    return true;
}

bool mire__variant_moves(void)
{
    return true;
}

bool mire__variant_rehooks(void)
{
    return false;
}

bool mire__variant_takes_numbers(void)
{
    return true;
}

bool mire__variant_keeps_tables(void)
{
    return false;
}
