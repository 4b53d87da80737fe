/*
 * ingest.c - the routes that take reports, the life of the writers, and metrics.
 */
#include "ingest/ingest.h"

#include "access/access.h"
#include "ingest/inside.h"

#include "base/fault.h"
#include "base/text.h"

#include <stdlib.h>
#include <time.h>

#define LOOK_NS       100000000 /* between looks whether ingest stops */
#define LOOKS_A_FLUSH 20        /* counts are handed over every two seconds */

const char *const ingest_encodings[] = {"zstd", "gzip", "deflate", "br", NULL};

/* The members of a route that takes reports, except its path. */
#define TAKES_REPORTS                                                                                       \
    .method = MIRE_HTTP_POST, .who = MIRE_MAY_INGEST, .body_cap = MIRE_REPORT_MAX_BYTES, .is_inline = true, \
    .lane = MIRE_LANE_REPORTS, .has_reserve = true, .encodings = ingest_encodings, .admit = admit_report

/* By the headers: a disk that is nearly full takes nothing more, and says so before the body comes. */
static int admit_report(void *context, struct request *request, struct reply *reply)
{
    struct ingest *ingest = context;
    const struct ingest_needs *needs = &ingest->options.needs;
    if (!needs->is_full || !needs->is_full(needs->full_context))
        return MIRE_HTTP_ADMITTED;
    atomic_fetch_add_explicit(&ingest->refused_disk, 1, memory_order_relaxed);
    tally_refused(&ingest->tally, request->grant.app_id, MIRE_INGEST_DISK, 0);
    return reply_retry(reply, request, 60, "disk", "The server's disk is full. Send it again later.");
}

/* A Sentry SDK ends the path with a slash; a proxy may take it off. */
const struct http_route ingest_routes[] = {
    {.pattern = "/api/v1/reports", .handler = ingest_post_report, TAKES_REPORTS},
    {.pattern = MIRE_SENTRY_PATH "envelope/", .handler = ingest_post_envelope, TAKES_REPORTS},
    {.pattern = MIRE_SENTRY_PATH "envelope", .handler = ingest_post_envelope, TAKES_REPORTS},
    {.pattern = MIRE_SENTRY_PATH "store/", .handler = ingest_post_event, TAKES_REPORTS},
    {.pattern = MIRE_SENTRY_PATH "store", .handler = ingest_post_event, TAKES_REPORTS},
};
const size_t ingest_route_count = sizeof ingest_routes / sizeof *ingest_routes;

static void *tally_main(void *context)
{
    struct ingest *ingest = context;

    for (unsigned waited = 1; !atomic_load_explicit(&ingest->stopping, memory_order_relaxed); waited++) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        if (waited % LOOKS_A_FLUSH == 0)
            tally_flush(&ingest->tally, &ingest->options.needs);
    }
    return NULL;
}

void ingest_too_often(void *context, int32_t app_id)
{
    struct ingest *ingest = context;
    tally_refused(&ingest->tally, app_id, MIRE_INGEST_OFTEN, 0);
}

int ingest_start(struct ingest **out, const struct ingest_options *options)
{
    struct ingest *ingest = calloc(1, sizeof *ingest);
    int most = (int)(sizeof ingest->threads / sizeof *ingest->threads);
    if (!ingest)
        return MIRE_FAULT_MEMORY;
    ingest->options = *options;
    ingest->batch_rows = (struct histogram){.first = 1, .unit = 1};
    ingest->store_seconds = (struct histogram){.first = 0.00025, .unit = 1e-9};
    ingest->queue.last = &ingest->queue.first;
    pthread_mutex_init(&ingest->queue.mutex, NULL);
    pthread_cond_init(&ingest->queue.more, NULL);
    tally_init(&ingest->tally);
    while (ingest->thread_count < options->writers && ingest->thread_count < most) {
        if (pthread_create(&ingest->threads[ingest->thread_count], NULL, ingest_write, ingest) != 0) {
            ingest_stop(ingest);
            return MIRE_FAULT_SYSTEM;
        }
        ingest->thread_count++;
    }
    if (options->needs.tally) {
        if (pthread_create(&ingest->tally_thread, NULL, tally_main, ingest) != 0) {
            ingest_stop(ingest);
            return MIRE_FAULT_SYSTEM;
        }
        ingest->has_tally_thread = true;
    }
    *out = ingest;
    return 0;
}

void ingest_stop(struct ingest *ingest)
{
    if (!ingest)
        return;
    pthread_mutex_lock(&ingest->queue.mutex);
    ingest->queue.stopping = true;
    pthread_cond_broadcast(&ingest->queue.more);
    pthread_mutex_unlock(&ingest->queue.mutex);
    for (int i = 0; i < ingest->thread_count; i++)
        pthread_join(ingest->threads[i], NULL);
    atomic_store_explicit(&ingest->stopping, true, memory_order_relaxed);
    if (ingest->has_tally_thread) {
        pthread_join(ingest->tally_thread, NULL);
        tally_flush(&ingest->tally, &ingest->options.needs);
    }
    tally_fini(&ingest->tally);
    pthread_cond_destroy(&ingest->queue.more);
    pthread_mutex_destroy(&ingest->queue.mutex);
    free(ingest);
}

void ingest_metrics(struct ingest *ingest, struct text *out)
{
    pthread_mutex_lock(&ingest->queue.mutex);
    size_t rows = ingest->queue.held_rows, bytes = ingest->queue.held_bytes;
    pthread_mutex_unlock(&ingest->queue.mutex);
    metric_head(out, "mire_ingest_queue_reports", "gauge", "Reports waiting to be stored or being stored.");
    metric_value(out, "mire_ingest_queue_reports", NULL, (double)rows);
    metric_head(out, "mire_ingest_queue_bytes", "gauge", "Bytes of those reports.");
    metric_value(out, "mire_ingest_queue_bytes", NULL, (double)bytes);
    metric_head(out, "mire_ingest_reports_total", "counter", "Reports received, by outcome.");
    metric_value(out, "mire_ingest_reports_total", "outcome=\"stored\"", (double)ingest->stored);
    metric_value(out, "mire_ingest_reports_total", "outcome=\"duplicate\"", (double)ingest->duplicates);
    metric_value(out, "mire_ingest_reports_total", "outcome=\"quota\"", (double)ingest->over_quota);
    metric_value(out, "mire_ingest_reports_total", "outcome=\"queue_full\"", (double)ingest->refused_full);
    metric_value(out, "mire_ingest_reports_total", "outcome=\"disk_full\"", (double)ingest->refused_disk);
    metric_value(out, "mire_ingest_reports_total", "outcome=\"store_failed\"", (double)ingest->refused_store);
    metric_value(out, "mire_ingest_reports_total", "outcome=\"body_refused\"", (double)ingest->refused_body);
    histogram_write(out, "mire_ingest_batch_reports", "Reports stored in one transaction.", &ingest->batch_rows);
    histogram_write(out, "mire_ingest_store_seconds", "Time one batch took until it was durable.",
                    &ingest->store_seconds);
}
