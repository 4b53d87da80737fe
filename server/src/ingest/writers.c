/*
 * writers.c - the queue and the threads that make its reports durable, a batch a transaction.
 *
 * Always true: a request is answered as stored only after the store said that all of its rows are durable; every request
 * that was queued is answered once, by the writer that settles its last row.
 */
#include "ingest/inside.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"

#include <unistd.h>

#define RETRY_US 100000 /* between two tries of a batch: time for a killed backend's pool slot to be renewed */

bool queue_push(struct queue *queue, struct delivery *delivery, const struct ingest_options *options)
{
    size_t bytes = delivery->bytes, rows = delivery->count;
    pthread_mutex_lock(&queue->mutex);
    bool fits = rows <= options->queue_rows_max && queue->held_rows <= options->queue_rows_max - rows &&
                bytes <= options->queue_bytes_max && queue->held_bytes <= options->queue_bytes_max - bytes;
    if (fits) {
        *queue->last = delivery->rows;
        queue->last = &delivery->rows[rows - 1].next;
        queue->rows += rows;
        queue->held_rows += rows;
        queue->bytes += bytes;
        queue->held_bytes += bytes;
        pthread_cond_broadcast(&queue->more);
    }
    pthread_mutex_unlock(&queue->mutex);
    return fits;
}

enum ingest_queued ingest_queue(struct ingest *ingest, struct delivery *delivery, struct reply *reply)
{
    int32_t app_id = delivery->request->grant.app_id;

    if (!tally_take(&ingest->tally, app_id, delivery->count, delivery->bytes)) {
        atomic_fetch_add_explicit(&ingest->over_quota, delivery->count, memory_order_relaxed);
        delivery->counted_only = true;
        delivery->stored(delivery, reply);
        return MIRE_INGEST_COUNTED;
    }
    if (queue_push(&ingest->queue, delivery, &ingest->options))
        return MIRE_INGEST_QUEUED;
    atomic_fetch_add_explicit(&ingest->refused_full, 1, memory_order_relaxed);
    for (size_t i = 0; i < delivery->count; i++)
        tally_stored(&ingest->tally, app_id, MIRE_INGEST_BUSY, delivery->rows[i].row.body_len);
    return MIRE_INGEST_FULL;
}

struct queued *queue_take(struct queue *queue, const struct ingest_options *options)
{
    size_t rows = 0, bytes = 0;
    pthread_mutex_lock(&queue->mutex);
    while (!queue->first && !queue->stopping)
        pthread_cond_wait(&queue->more, &queue->mutex);
    struct queued *batch = queue->first;
    struct queued **end = &queue->first;
    while (*end && rows < options->batch_rows_max && bytes < options->batch_bytes_max) {
        rows++;
        bytes += (*end)->row.body_len;
        end = &(*end)->next;
    }
    struct queued *rest = *end;
    *end = NULL;
    queue->first = rest;
    if (!rest)
        queue->last = &queue->first;
    queue->rows -= rows;
    queue->bytes -= bytes;
    pthread_mutex_unlock(&queue->mutex);
    return rows ? batch : NULL;
}

static void release(struct queue *queue, const struct queued *report)
{
    pthread_mutex_lock(&queue->mutex);
    queue->held_rows--;
    queue->held_bytes -= report->row.body_len;
    pthread_mutex_unlock(&queue->mutex);
}

/* Every row of the delivery is stored or given up. The delivery is gone when this returns. */
static void answer(struct ingest *ingest, struct delivery *delivery)
{
    struct request *request = delivery->request;
    struct reply *reply = request->reply;
    int rc = atomic_load(&delivery->fault);
    if (!rc) {
        delivery->stored(delivery, reply);
    } else if (rc == MIRE_FAULT_SQL) {
        atomic_fetch_add_explicit(&ingest->refused_store, 1, memory_order_relaxed);
        reply_error(reply, request, 500, "internal", "The report could not be stored. The log has the request's id.");
    } else {
        atomic_fetch_add_explicit(&ingest->refused_store, 1, memory_order_relaxed);
        reply_retry(reply, request, 5, "unavailable", "The report could not be stored now. Send it again soon.");
    }
    request->finish(request);
}

/* The row is stored, or given up for `rc`. The row is gone when this returns. */
static void settle(struct ingest *ingest, struct queued *report, int rc, bool is_new)
{
    struct delivery *delivery = report->delivery;
    enum ingest_outcome outcome = is_new ? MIRE_INGEST_STORED : MIRE_INGEST_DUPLICATE;
    int none = 0;
    tally_stored(&ingest->tally, report->row.app_id, rc ? MIRE_INGEST_FAILED : outcome, report->row.body_len);
    release(&ingest->queue, report);
    if (!rc)
        atomic_fetch_add_explicit(is_new ? &ingest->stored : &ingest->duplicates, 1, memory_order_relaxed);
    else if (rc == MIRE_FAULT_SQL)
        atomic_store(&delivery->fault, rc);
    else
        atomic_compare_exchange_strong(&delivery->fault, &none, rc);
    if (atomic_fetch_sub(&delivery->left, 1) == 1)
        answer(ingest, delivery);
}

static int store(struct ingest *ingest, const struct inbox_row *rows, size_t count, int64_t *stored_out)
{
    const struct ingest_needs *needs = &ingest->options.needs;
    uint64_t begun = clock_mono_ns();
    int rc = needs->store_batch(needs->store_context, rows, count, stored_out);
    if (rc == MIRE_FAULT_AWAY || rc == MIRE_FAULT_RACED) {
        /* A batch that was committed although nobody said so is found stored and left as it is. */
        usleep(RETRY_US);
        rc = needs->store_batch(needs->store_context, rows, count, stored_out);
    }
    histogram_count(&ingest->store_seconds, clock_mono_ns() - begun);
    histogram_count(&ingest->batch_rows, count);
    return rc;
}

static void write_batch(struct ingest *ingest, struct queued *batch)
{
    struct inbox_row rows[MIRE_BATCH_ROWS_MAX];
    int64_t stored[MIRE_BATCH_ROWS_MAX] = {0}, *next_stored = stored;
    size_t count = 0;
    const struct queued *next = batch;
    do {
        rows[count++] = next->row;
        next = next->next;
    } while (next);
    int rc = store(ingest, rows, count, stored);
    bool one_by_one = rc == MIRE_FAULT_SQL && count > 1; /* one bad row must not take the others with it */
    if (!rc)
        inbox_wake(ingest->options.needs.wakeup);
    while (batch) {
        struct queued *report = batch;
        batch = report->next;
        int rc_of_one = one_by_one ? store(ingest, &report->row, 1, next_stored) : rc;
        settle(ingest, report, rc_of_one, *next_stored++ != 0);
    }
    if (one_by_one)
        inbox_wake(ingest->options.needs.wakeup);
}

void *ingest_write(void *context)
{
    struct ingest *ingest = context;
    struct queued *batch;
    while ((batch = queue_take(&ingest->queue, &ingest->options)))
        write_batch(ingest, batch);
    return NULL;
}
