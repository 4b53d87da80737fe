/*
 * variant_send.c - an app's libmire sends by its worker: see variant.h.
 */
#include "core/variant.h"

#include "core/remote.h"
#include "platform/platform.h"
#include "upload/upload.h"

#include <stdio.h>

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
