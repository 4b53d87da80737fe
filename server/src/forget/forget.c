/* forget.c - see forget.h. */
#include "forget/forget.h"
#include "forget/counters.h"

#include "base/fault.h"
#include "base/log.h"
#include "document/document.h"
#include "pipeline/worker.h"

#include <string.h>

/* The time that the report was counted at, and whether it was the report's own. */
static struct aggregate_instant counted_at(const struct forget_stored *stored, const struct aggregate_instant *now)
{
    bool is_own = stored->occurred_us != stored->received_us || (now->is_known && now->at_us == stored->received_us);
    return (struct aggregate_instant){stored->occurred_us, is_own};
}

static void read_document(struct forget_one *one, struct arena *arena)
{
    const struct pg_bytes *bytes = &one->stored->document;
    struct resolved *had = bytes->len ? arena_alloc(arena, sizeof *had) : NULL;

    if (had && !resolved_decode(had, arena, bytes->bytes, bytes->len))
        one->had = had;
}

/* 1: decoded, 0: it cannot be read any more, and stays in the counters, or a fault. */
static int decode(struct forget_one *one, const struct forget_stored *stored, struct worker *worker, struct pg_tx *tx)
{
    struct item *item = &one->item;

    *one = (struct forget_one){.stored = stored, .item = worker_item(worker, tx)};
    item->version_id = stored->version_id;
    item->claim = (struct inbox_claim){.slot = stored->key.slot,
                                       .day = stored->key.day,
                                       .app_id = stored->app_id,
                                       .received_us = stored->received_us,
                                       .format = stored->format,
                                       .encoding = stored->encoding,
                                       .body = stored->body.bytes,
                                       .body_len = stored->body.len,
                                       .clock_known = stored->clock_known,
                                       .clock_behind_ms = stored->clock_behind_ms};
    memcpy(item->claim.report_id.bytes, stored->key.report_id, sizeof stored->key.report_id);
    int rc = stages_decode(item);
    if (rc == MIRE_STAGE_UNUSABLE) {
        log_event(worker->work->options.log, MIRE_LOG_WARN, "forget.counted", LOG_TEXT("reason", item->reason),
                  LOG_NUMBER("job", (long long)stored->job));
        return 0;
    }
    if (rc)
        return rc;
    item->occurred = counted_at(stored, &item->occurred);
    /* The report may name a channel and a class that were put aside (pipeline/known.h). */
    item->report.app.channel = stored->channel;
    item->report.device.class_name = stored->device_class;
    read_document(one, &worker->arena);
    return 1;
}

static int take_out(const struct forget_stored *stored, size_t count, struct worker *worker, struct pg_tx *tx)
{
    struct arena *arena = &worker->arena;
    struct forget_one *ones = arena_array(arena, count, sizeof *ones);
    size_t found = 0;

    if (!ones)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        int rc = stored[i].is_there && stored[i].is_counted ? decode(&ones[found], &stored[i], worker, tx) : 0;
        if (rc < 0)
            return rc;
        found += (size_t)rc;
    }
    int rc = rows_forget_derived(tx, arena, stored, count);
    if (!rc)
        rc = forget_uncount(ones, found, tx, arena);
    return rc ? rc : rows_forget_delete(tx, arena, stored, count);
}

static int batch_step(struct worker *worker)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct forget_stored *stored;
    size_t count;

    arena_reset(&worker->arena);
    int rc = pg_begin(&tx, worker->work->options.pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_forget_claim(&stored, &count, &rows, tx, &worker->arena);
    if (rc || !count)
        return rc;
    rc = take_out(stored, count, worker, tx);
    if (!rc)
        rc = pg_commit(&tx);
    return rc ? rc : 1;
}

static int queue_step(struct worker *worker)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, worker->work->options.pg, MIRE_PG_WRITE);
    int done = rc ? rc : rows_forget_queue(tx);
    if (done <= 0)
        return done;
    rc = pg_commit(&tx);
    return rc ? rc : 1;
}

int forget_step(struct worker *worker)
{
    int rc = batch_step(worker);
    return rc ? rc : queue_step(worker);
}
