/*
 * variant_library.c - libmire: see variant.h.
 */
#include "core/variant.h"

#include "allochook/allochook.h"
#include "gate/gate.h"
#include "patch/patch.h"

#include <dlfcn.h>

const struct variant mire__variant = {.recovers_launched = true, .moves = true, .rehooks = true, .takes_numbers = true};

void mire__variant_begin(void)
{
}

enum mire_err mire__variant_hook(void)
{
    return mire__gate_patch();
}

void mire__variant_rehook(void)
{
    mire__patch_refresh();
}

bool mire__variant_marks_quit(const mire_options *options)
{
    (void)options;
    return true;
}

void mire__variant_unhook(void)
{
    mire__gate_unpatch();
}

enum mire_err mire__variant_hook_heap(const struct memory_options *options)
{
    enum mire_err err;

    (void)options;
    mire__heap_bind(RTLD_DEFAULT);
    err = mire__patch_add(mire__heap_hooks, MIRE_HEAP_HOOK_COUNT);
    if (err == MIRE_OK && mire__heap_bind_new(RTLD_DEFAULT))
        err = mire__patch_add(mire__new_hooks, mire__new_hooks_count);
    if (err == MIRE_OK)
        mire__objects_hook(NULL);
    return err;
}

void mire__variant_rehook_heap(const struct heap *heap)
{
    mire__objects_hook(heap); /* libgobject may have been loaded since */
}

void mire__variant_unhook_heap(bool exits)
{
    (void)exits;
    mire__objects_unhook();
    mire__patch_remove(mire__new_hooks);
    mire__patch_remove(mire__heap_hooks);
}

void mire__variant_subscribe(const mire_options *options)
{
    (void)options;
}

void mire__variant_unsubscribe(void)
{
}

enum mire_err mire__variant_watch_thread(void)
{
    return MIRE_OK;
}

void mire__variant_unwatch_thread(void)
{
}
