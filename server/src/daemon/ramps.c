/* ramps.c - see ramps.h. */
#include "daemon/ramps.h"

#include "api/rollout/rollout_share.h"
#include "base/log.h"
#include "rows/ramp.h"
#include "rollout/ramp.h"

#include <stdio.h>
#include <string.h>

#define LOOK_US     60000000ll
#define ARENA_BYTES (16u << 20)
#define AUTHOR      "ramp"

/* A ramp while it is looked at. */
struct look {
    struct pg_tx *tx;
    struct arena arena;
    struct rows_ramp row;
    struct rollout_share share;
    int64_t version; /* of the rollout */
    char note[MIRE_RAMP_NOTE_BYTES];
};

static struct ramp_arm arm_of(const struct rows_arm *arm)
{
    return (struct ramp_arm){arm->records, arm->ends, arm->ends_sq, arm->bad, arm->time_ms, arm->sdk_cpu_us};
}

static int see(struct ramp_seen *out, struct look *look, int64_t now_us)
{
    struct rows_arm sampled, control;
    int rc = rollout_share_read(&out->ppm, &look->version, look->tx, &look->arena, &look->share);

    if (!rc)
        rc = rows_ramp_arms(&sampled, &control, look->tx, look->row.app, 1 << look->share.plugin,
                            look->row.step_since_us);
    if (!rc)
        rc = rows_ramp_load(&out->reports_last_hour, look->tx, look->row.app, now_us);
    out->now_s = now_us / 1000000;
    out->sampled = arm_of(&sampled);
    out->control = arm_of(&control);
    return rc;
}

static struct ramp ramp_of(const struct rows_ramp *row)
{
    struct ramp ramp = {.step_count = row->step_count,
                        .step = (size_t)row->step,
                        .hold_s = row->hold_s,
                        .step_since_s = row->step_since_us / 1000000,
                        .guards = {row->crash_points, row->cpu_percent, row->reports_per_hour},
                        .backs = row->backs};

    for (size_t i = 0; i < row->step_count; i++)
        ramp.steps[i] = (uint32_t)row->steps[i];
    return ramp;
}

/* Make the version that holds another share. Somebody was faster: next time the share is another one. */
static int change(struct look *look, uint32_t ppm, const char *reason)
{
    int rc = rollout_share_change(look->tx, &look->arena, &look->share, look->version, ppm, AUTHOR, reason);

    return rc == MIRE_DOCUMENT_MOVED || rc == MIRE_DOCUMENT_NONE ? MIRE_FAULT_RACED : rc;
}

/* `tripped`: a guard is why it pauses or goes back. */
static int act(struct look *look, enum ramp_move move, bool tripped, int64_t now_us)
{
    struct rows_ramp *row = &look->row;
    char reason[2 * MIRE_RAMP_NOTE_BYTES];

    row->looked_us = now_us;
    row->note = look->note;
    row->tripped_us = tripped ? now_us : 0;
    switch (move) {
    case MIRE_RAMP_STAYS:
        return 0;
    case MIRE_RAMP_ENDS:
        row->state = ramp_state_name(MIRE_RAMP_DONE);
        return 0;
    case MIRE_RAMP_PAUSE:
        row->state = ramp_state_name(MIRE_RAMP_PAUSED);
        return 0;
    case MIRE_RAMP_BACK:
        row->state = ramp_state_name(MIRE_RAMP_STOPPED);
        snprintf(reason, sizeof reason, "%s back to %g %%: %s", row->plugin, row->before_ppm / 1e4, look->note);
        return change(look, (uint32_t)row->before_ppm, reason);
    case MIRE_RAMP_NEXT:
        break;
    }
    row->step++;
    row->step_since_us = now_us;
    snprintf(reason, sizeof reason, "%s to %g %%: step %d of %zu", row->plugin, row->steps[row->step] / 1e4,
             row->step + 1, row->step_count);
    return change(look, (uint32_t)row->steps[row->step], reason);
}

/* 1: one was looked at, 0: none is due, below zero a fault. */
static int step_one(struct look *look, struct pg *pg, const struct log *log, int64_t now_us)
{
    int rc = pg_begin(&look->tx, pg, MIRE_PG_WRITE);
    int found = rc ? rc : rows_ramp_claim(&look->row, look->tx, &look->arena, now_us - LOOK_US);
    struct ramp_seen seen;

    if (found <= 0)
        return found;
    look->share = (struct rollout_share){look->row.app, rollout_share_plugin(look->row.plugin), look->row.rule};
    rc = look->share.plugin == MIRE_PLUGINS || !look->row.step_count ? MIRE_FAULT_BROKEN : see(&seen, look, now_us);
    if (rc)
        return rc;
    struct ramp ramp = ramp_of(&look->row);
    enum ramp_move move = ramp_decide(look->note, &ramp, &seen);
    bool tripped = (move == MIRE_RAMP_PAUSE || move == MIRE_RAMP_BACK) && seen.ppm == ramp.steps[ramp.step];
    rc = act(look, move, tripped, now_us);
    if (!rc)
        rc = rows_ramp_put(look->tx, &look->row);
    if (!rc)
        rc = pg_commit(&look->tx);
    if (!rc && move != MIRE_RAMP_STAYS)
        log_event(log, MIRE_LOG_WARN, "rollout.ramp", LOG_TEXT("plugin", look->row.plugin),
                  LOG_TEXT("state", look->row.state), LOG_TEXT("note", look->note));
    return rc ? rc : 1;
}

int ramps_step(struct pg *pg, const struct log *log, int64_t now_us)
{
    int rc;

    do {
        struct look look = {.tx = NULL};
        arena_init(&look.arena, ARENA_BYTES);
        rc = step_one(&look, pg, log, now_us);
        pg_end(&look.tx);
        arena_fini(&look.arena);
    } while (rc > 0);
    return rc;
}
