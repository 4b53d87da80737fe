/*
 * ingest.c - the handler of POST /api/v1/reports, and the life of the writers.
 */
#include "ingest/ingest.h"

#include "access/access.h"
#include "ingest/inside.h"

#include "base/fault.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int refuse_body(struct ingest *ingest, const struct request *request, struct reply *reply, int check,
                       const struct problem *problem)
{
    int status = check == MIRE_CHECK_INVALID ? 422 : 413;
    if (check == MIRE_CHECK_MALFORMED)
        status = 400;
    atomic_fetch_add_explicit(&ingest->refused_body, 1, memory_order_relaxed);
    return reply_problem(reply, request, status, problem);
}

static int enqueue(struct ingest *ingest, struct request *request, struct reply *reply,
                   const struct ingest_verdict *seen, int32_t app_id, const char *encoding)
{
    struct queued *report = arena_alloc(request->arena, sizeof *report);
    if (!report)
        return MIRE_FAULT_MEMORY;
    report->request = request;
    report->row = (struct inbox_row){.report_id = seen->report_id,
                                     .app_id = app_id,
                                     .format = seen->format,
                                     .encoding = encoding,
                                     .body = request->body,
                                     .body_len = request->body_len};
    if (queue_push(&ingest->queue, report, &ingest->options))
        return MIRE_HTTP_LATER;
    atomic_fetch_add_explicit(&ingest->refused_full, 1, memory_order_relaxed);
    return reply_retry(reply, request, 2, "busy", "Too many reports are waiting to be stored. Send it again soon.");
}

static const char *const encodings[] = {"zstd", "gzip", NULL};

/* The name the store knows; http has refused all others. */
static const char *encoding_of(const struct request *request)
{
    const char *sent = request_header(request, "Content-Encoding");
    for (const char *const *name = encodings; sent && *name; name++)
        if (!strcasecmp(sent, *name))
            return *name;
    return "identity";
}

static int post_report(void *context, struct request *request, struct reply *reply)
{
    struct ingest *ingest = context;
    const struct ingest_needs *needs = &ingest->options.needs;
    struct problem problem = MIRE_PROBLEM_INIT;
    struct ingest_verdict seen;
    const char *encoding = encoding_of(request);
    int rc = needs->check(needs->check_context, &seen, &problem, request->body, request->body_len, encoding);
    if (rc < 0)
        return rc;
    if (rc != MIRE_CHECK_GOOD)
        return refuse_body(ingest, request, reply, rc, &problem);
    return enqueue(ingest, request, reply, &seen, request->grant.app_id, encoding);
}

const struct http_route ingest_routes[] = {
    {.method = MIRE_HTTP_POST,
     .pattern = "/api/v1/reports",
     .handler = post_report,
     .who = MIRE_MAY_INGEST,
     .body_cap = MIRE_REPORT_MAX_BYTES,
     .is_inline = true,
     .has_reserve = true,
     .encodings = encodings},
};
const size_t ingest_route_count = sizeof ingest_routes / sizeof *ingest_routes;

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
    while (ingest->thread_count < options->writers && ingest->thread_count < most) {
        if (pthread_create(&ingest->threads[ingest->thread_count], NULL, ingest_write, ingest) != 0) {
            ingest_stop(ingest);
            return MIRE_FAULT_SYSTEM;
        }
        ingest->thread_count++;
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
    metric_head(out, "mire_ingest_reports_total", "counter", "Reports, by what became of them at the door.");
    metric_value(out, "mire_ingest_reports_total", "outcome=\"stored\"", (double)ingest->stored);
    metric_value(out, "mire_ingest_reports_total", "outcome=\"duplicate\"", (double)ingest->duplicates);
    metric_value(out, "mire_ingest_reports_total", "outcome=\"queue_full\"", (double)ingest->refused_full);
    metric_value(out, "mire_ingest_reports_total", "outcome=\"store_failed\"", (double)ingest->refused_store);
    metric_value(out, "mire_ingest_reports_total", "outcome=\"body_refused\"", (double)ingest->refused_body);
    histogram_write(out, "mire_ingest_batch_reports", "Reports stored in one transaction.", &ingest->batch_rows);
    histogram_write(out, "mire_ingest_store_seconds", "Time one batch took until it was durable.",
                    &ingest->store_seconds);
}
