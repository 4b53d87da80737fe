/*
 * variant_library.c - libmire: see variant.h.
 */
#include "core/variant.h"

#include "gate/gate.h"
#include "upload/upload.h"

#include <stdio.h>

enum mire_err mire__variant_hook(void)
{
    return mire__gate_patch();
}

void mire__variant_rehook(void)
{
    mire__gate_refresh();
}

void mire__variant_unhook(void)
{
    mire__gate_unpatch();
}

bool mire__variant_rehooks(void)
{
    return true;
}

enum mire_err mire__variant_send_open(struct upload **sender_out, struct store *store, const mire_options *options)
{
    *sender_out = NULL;
    if (!options->server_url[0])
        return MIRE_OK;
    return mire__upload_open(sender_out, store, options->server_url, options->server_key, NULL);
}

uint64_t mire__variant_send_round(struct upload *sender, char *problem, size_t problem_bytes, uint64_t now_ms)
{
    struct upload_tally tally;
    uint64_t wait_ms = mire__upload_round(sender, &tally, now_ms);

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
