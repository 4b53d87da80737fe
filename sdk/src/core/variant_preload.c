/*
 * variant_preload.c - libmire-preload: see variant.h.
 */
#include "core/variant.h"

#include "allochook/allochook.h"
#include "base/alloc.h"
#include "platform/apart.h"
#include "platform/own.h"
#include "platform/platform.h"
#include "report/report.h"

#include <dlfcn.h>

const struct variant mire__variant = {.keeps_tables = true};

#define ZSTD   "libzstd.so.1"
#define LOOK_S 60u /* one wake-up a minute, so that a kill switch reaches a program that runs for days */

static void *own_allocate(void *context, size_t size)
{
    (void)context;
    return mire__own.malloc(size);
}

static void *own_reallocate(void *context, void *block, size_t size)
{
    (void)context;
    return mire__own.realloc(block, size);
}

static void own_release(void *context, void *block)
{
    (void)context;
    mire__own.free(block);
}

mire__pack_fn *mire__report_pack;

/* zstd is the only library of the SDK that allocates. It comes with the second C library, or is loaded here. */
static void load_zstd(void *context)
{
    void *pack = mire__own_find("ZSTD_compress"), *library = pack ? NULL : dlopen(ZSTD, RTLD_NOW | RTLD_LOCAL);

    (void)context;
    mire__report_pack = (mire__pack_fn *)(library ? dlsym(library, "ZSTD_compress") : pack);
}

void mire__variant_begin(void)
{
    static const mire_allocator own = {.allocate = own_allocate, .reallocate = own_reallocate, .release = own_release};
    struct collect_thread *before = mire__collect_own_begin();

    mire__apart_open();
    mire__own_open(ZSTD);
    mire__apart_run(load_zstd, NULL);
    mire__alloc_use(&own);
    mire__collect_own_end(before);
}

enum mire_err mire__variant_hook(void)
{
    return MIRE_OK;
}

void mire__variant_rehook(void)
{
}

bool mire__variant_marks_quit(const mire_options *options)
{
    return options->launch == MIRE_LAUNCH_NONE;
}

void mire__variant_unhook(void)
{
}

/* The linker finds these hooks first, except operator new: a library loaded later may have its own. */
enum mire_err mire__variant_hook_heap(const struct memory_options *options)
{
    (void)options;
    if (mire__heap_bind_new(RTLD_DEFAULT) && mire__patch_add(mire__new_hooks, mire__new_hooks_count) != MIRE_OK)
        return MIRE_E_FULL;
    mire__objects_hook(NULL);
    return MIRE_OK;
}

void mire__variant_rehook_heap(const struct heap *heap)
{
    mire__objects_hook(heap); /* libgobject may have been loaded since */
}

/* The library is never unloaded, and a hook without tables calls the real function. */
void mire__variant_unhook_heap(bool exits)
{
    if (exits)
        return;
    mire__objects_unhook();
    mire__patch_remove(mire__new_hooks);
}

void mire__variant_subscribe(const mire_options *options)
{
    (void)options;
}

void mire__variant_unsubscribe(void)
{
}

enum mire_err mire__variant_send_open(struct upload **sender_out, struct remote *remote, struct store *store,
                                      const mire_options *options, const struct blackbox_facts *facts)
{
    (void)remote;
    (void)store;
    (void)options;
    (void)facts;
    *sender_out = NULL;
    return MIRE_OK;
}

uint64_t mire__variant_send_round(struct upload *sender, char *problem, size_t problem_bytes,
                                  const struct upload_now *now)
{
    (void)sender;
    (void)now;
    if (problem_bytes > 0)
        problem[0] = '\0';
    return UINT64_MAX;
}

void mire__variant_send_cancel(struct upload *sender)
{
    (void)sender;
}

void mire__variant_send_close(struct upload *sender)
{
    (void)sender;
}

uint64_t mire__variant_ask(struct remote *remote, struct upload *sender, struct store *store,
                           const struct upload_now *now)
{
    (void)now;
    (void)remote;
    (void)sender;
    (void)store;
    return mire__now_ns() + LOOK_S * MIRE_NS_PER_S;
}

enum mire_err mire__variant_watch_thread(void)
{
    return MIRE_OK;
}

void mire__variant_unwatch_thread(void)
{
}
