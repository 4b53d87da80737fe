/*
 * foreign.c - bodies of foreign formats: each report in one becomes a report of Mire's own and a row of the delivery.
 * All of them are stored, or the sender is told the place of the fault: a second try stores nothing twice, because ids
 * are derived from content and app.
 */
#include "ingest/inside.h"

#include "base/fault.h"

#include <string.h>

int ingest_convert(struct delivery **out, struct ingest *ingest, struct request *request, struct reply *reply,
                   const char *format, void (*stored)(const struct delivery *delivery, struct reply *reply))
{
    const struct ingest_needs *needs = &ingest->options.needs;
    struct problem problem = MIRE_PROBLEM_INIT;
    struct ingest_converted found = {.own = ""};
    const struct ingest_foreign body = {format, ingest_encoding(request), request->body, request->body_len};
    *out = NULL;
    if (!request->may_block)
        return MIRE_HTTP_BLOCKS;
    int rc = needs->convert(needs->check_context, &found, &problem, request->arena, &body);
    if (rc < 0)
        return rc;
    if (rc != MIRE_CHECK_GOOD)
        return ingest_refuse(ingest, request, reply, rc, &problem);
    struct delivery *delivery = found.count ? ingest_delivery(request, found.count, stored) : NULL;
    if (found.count && !delivery)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < found.count; i++) {
        delivery->rows[i].row = found.rows[i];
        ingest_grant(&delivery->rows[i].row, request);
        delivery->bytes += found.rows[i].body_len;
        delivery->own = found.own;
    }
    *out = delivery;
    return MIRE_HTTP_LATER;
}

static void answer_all(const struct delivery *delivery, struct reply *reply)
{
    char id[MIRE_UUID_TEXT];
    text_printf(&reply->text, "{\"report_ids\":[");
    for (size_t i = 0; i < delivery->count; i++) {
        uuid_format(id, &delivery->rows[i].row.report_id);
        text_printf(&reply->text, "%s\"%s\"", i ? "," : "", id);
    }
    text_printf(&reply->text, "]%s}", delivery->counted_only ? ",\"kept\":false" : "");
    (void)reply_json(reply, 202);
}

int ingest_post_foreign(struct ingest *ingest, struct request *request, struct reply *reply, const char *format)
{
    struct delivery *delivery;
    int rc = ingest_convert(&delivery, ingest, request, reply, format, answer_all);
    if (rc != MIRE_HTTP_LATER)
        return rc;
    if (!delivery && strcmp(format, "metrickit") == 0) { /* its exits are of runs that libmire has counted */
        text_printf(&reply->text, "{\"report_ids\":[]}");
        return reply_json(reply, 202);
    }
    if (!delivery)
        return reply_error(reply, request, 422, "report.none", "There is no report in the body.");
    enum ingest_queued queued = ingest_queue(ingest, delivery, reply);
    if (queued != MIRE_INGEST_FULL)
        return queued == MIRE_INGEST_QUEUED ? MIRE_HTTP_LATER : MIRE_HTTP_DONE;
    return reply_retry(reply, request, 2, "busy", "Too many reports are waiting to be stored. Send them again soon.");
}
