/*
 * variant_library.c - libmire: see variant.h.
 */
#include "core/variant.h"

#include "allochook/allochook.h"
#include "core/remote.h"
#include "gate/gate.h"
#include "patch/patch.h"
#include "platform/platform.h"
#include "upload/upload.h"

#include <dlfcn.h>
#include <stdio.h>

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

enum mire_err mire__variant_hook_heap(void)
{
    enum mire_err err;

    mire__heap_bind(RTLD_DEFAULT);
    err = mire__patch_add(mire__heap_hooks, MIRE_HEAP_HOOK_COUNT);
    if (err == MIRE_OK && mire__heap_bind_new(RTLD_DEFAULT))
        err = mire__patch_add(mire__new_hooks, mire__new_hooks_count);
    if (err == MIRE_OK)
        mire__objects_hook(NULL);
    return err;
}

void mire__variant_unhook_heap(bool exits)
{
    (void)exits;
    mire__objects_unhook();
    mire__patch_remove(mire__new_hooks);
    mire__patch_remove(mire__heap_hooks);
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
    return true;
}

enum mire_err mire__variant_send_open(struct upload **sender_out, struct remote *remote, struct store *store,
                                      const mire_options *options, const struct blackbox_facts *facts)
{
    const struct upload_options delivery = mire__options_delivery(options);

    *sender_out = NULL;
    mire__remote_init(remote, facts, store);
    return delivery.url ? mire__upload_open(sender_out, store, &delivery, NULL) : MIRE_OK;
}

uint64_t mire__variant_send_round(struct upload *sender, char *problem, size_t problem_bytes,
                                  const struct upload_now *now)
{
    struct upload_tally tally;
    uint64_t wait_ms = mire__upload_round(sender, &tally, now);

    problem[0] = '\0';
    if (tally.refused > 0)
        snprintf(problem, problem_bytes, "the server refused %u reports: status %d", tally.refused, tally.last.status);
    else if (tally.last.problem[0])
        snprintf(problem, problem_bytes, "cannot send: %s", tally.last.problem);
    return wait_ms;
}

void mire__variant_send_cancel(struct upload *sender)
{
    if (sender)
        mire__upload_cancel(sender, true);
}

void mire__variant_send_close(struct upload *sender)
{
    mire__upload_close(sender);
}

uint64_t mire__variant_ask(struct remote *remote, struct upload *sender, struct store *store,
                           const struct upload_now *now)
{
    return mire__remote_step(remote, sender, store, mire__now_ns(), now);
}

bool mire__variant_takes_numbers(void)
{
    return true;
}

bool mire__variant_keeps_tables(void)
{
    return false;
}
