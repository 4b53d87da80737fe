/*
 * own.c - POST /api/v1/reports: one report of Mire's own, or, by the media type, reports of another format.
 */
#include "ingest/inside.h"

#include "base/clock.h"
#include "base/fault.h"
#include "wire/clock.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int ingest_refuse(struct ingest *ingest, const struct request *request, struct reply *reply, int check,
                  const struct problem *problem)
{
    int status = check == MIRE_CHECK_INVALID ? 422 : 413;
    if (check == MIRE_CHECK_MALFORMED)
        status = 400;
    atomic_fetch_add_explicit(&ingest->refused_body, 1, memory_order_relaxed);
    tally_refused(&ingest->tally, request->grant.app_id, MIRE_INGEST_BODY, request->body_len);
    return reply_problem(reply, request, status, problem);
}

const char *ingest_encoding(const struct request *request)
{
    const char *sent = request_header(request, "Content-Encoding");
    for (const char *const *name = ingest_encodings; sent && *name; name++)
        if (!strcasecmp(sent, *name))
            return *name;
    return "identity";
}

void ingest_grant(struct inbox_row *row, const struct request *request)
{
    row->app_id = request->grant.app_id;
    row->key_id = request->grant.key_id;
    row->country = request->grant.country;
    uuid_of_app(&row->report_id, row->app_id);
}

struct delivery *ingest_delivery(struct request *request, size_t count,
                                 void (*stored)(const struct delivery *delivery, struct reply *reply))
{
    struct delivery *delivery = arena_alloc(request->arena, sizeof *delivery);
    struct queued *rows = arena_array(request->arena, count, sizeof *rows);
    if (!delivery || !rows)
        return NULL;
    *delivery =
        (struct delivery){.request = request, .rows = rows, .count = count, .own = "", .stored = stored, .left = count};
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct queued){.delivery = delivery, .next = i + 1 < count ? &rows[i + 1] : NULL};
    return delivery;
}

static void answer_one(const struct delivery *delivery, struct reply *reply)
{
    char id[MIRE_UUID_TEXT];
    uuid_format(id, &delivery->rows[0].row.report_id);
    text_printf(&reply->text, "{\"report_id\":\"%s\"%s}", id, delivery->counted_only ? ",\"kept\":false" : "");
    (void)reply_json(reply, 202);
}

/* How far the device's clock is behind ours, if it tells a number. */
static void read_clock(struct inbox_row *row, const struct request *request)
{
    const char *sent = request_header(request, MIRE_CLOCK_HEADER);
    size_t digits = sent ? strspn(sent, "0123456789") : 0;

    row->clock_known = digits && digits <= MIRE_CLOCK_DIGITS && !sent[digits];
    row->clock_behind_ms = row->clock_known ? clock_wall_us() / 1000 - strtoll(sent, NULL, 10) : 0;
}

static int enqueue(struct ingest *ingest, struct request *request, struct reply *reply,
                   const struct ingest_verdict *seen, const char *encoding)
{
    struct delivery *delivery = ingest_delivery(request, 1, answer_one);
    if (!delivery)
        return MIRE_FAULT_MEMORY;
    delivery->bytes = request->body_len;
    delivery->rows[0].row = (struct inbox_row){.report_id = seen->report_id,
                                               .format = seen->format,
                                               .encoding = encoding,
                                               .body = request->body,
                                               .body_len = request->body_len};
    ingest_grant(&delivery->rows[0].row, request);
    read_clock(&delivery->rows[0].row, request);
    enum ingest_queued queued = ingest_queue(ingest, delivery, reply);
    if (queued != MIRE_INGEST_FULL)
        return queued == MIRE_INGEST_QUEUED ? MIRE_HTTP_LATER : MIRE_HTTP_DONE;
    return reply_retry(reply, request, 2, "busy", "Too many reports are waiting to be stored. Send it again soon.");
}

/* Name of the foreign format that the media type tells; NULL: Mire's own, which is what no media type means. */
static const char *foreign_format(const struct ingest_needs *needs, const struct request *request)
{
    const char *type = request_header(request, "Content-Type");
    size_t len = type ? strcspn(type, "; \t") : 0;
    return len && needs->foreign_format ? needs->foreign_format(type, len) : NULL;
}

int ingest_post_report(void *context, struct request *request, struct reply *reply)
{
    struct ingest *ingest = context;
    const struct ingest_needs *needs = &ingest->options.needs;
    struct problem problem = MIRE_PROBLEM_INIT;
    struct ingest_verdict seen;
    const char *encoding = ingest_encoding(request), *format = foreign_format(needs, request);
    if (format)
        return ingest_post_foreign(ingest, request, reply, format);
    if (!strcmp(encoding, "br") || !strcmp(encoding, "deflate"))
        return reply_error(reply, request, 415, "encoding",
                           "A report of Mire is sent plain, or compressed by zstd or gzip.");
    if (!request->may_block && needs->is_small && !needs->is_small(encoding, request->body, request->body_len))
        return MIRE_HTTP_BLOCKS;
    int rc = needs->check(needs->check_context, &seen, &problem, request->body, request->body_len, encoding);
    if (rc < 0)
        return rc;
    if (rc != MIRE_CHECK_GOOD)
        return ingest_refuse(ingest, request, reply, rc, &problem);
    return enqueue(ingest, request, reply, &seen, encoding);
}
