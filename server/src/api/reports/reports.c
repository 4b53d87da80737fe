/*
 * reports.c - the reports of an issue or of an app, newest first, page by page: all, or those of a user, a scene or a
 * tag.
 */
#include "api/call.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"
#include "model/context.h"
#include "rows/issue.h"
#include "rows/issues.h"
#include "rows/reports.h"

#include <inttypes.h>
#include <string.h>

static const char *const page_names[] = {"t", "v", "user", "scene", "tag", "cursor", "limit", NULL};

static int read_place(struct report_place *out, struct call *call)
{
    const char *text = request_query(call->request, "cursor");
    struct page_cursor cursor;

    *out = (struct report_place){0};
    if (!text)
        return 0;
    if (cursor_parse(&cursor, call->arena, text, call_query_hash(call)) == 0 && text_is_uuid(cursor.key) &&
        uuid_parse(&out->after, cursor.key, MIRE_UUID_TEXT - 1) &&
        integer_parse(&out->after_us, cursor.rank, 1, INT64_C(999999999999999999)) == 0) {
        call->view.span = cursor.span;
        return 0;
    }

    return call_refuse(call, "cursor", "the next of an answer to the same query");
}

static int put_next(struct call *call, const struct report_place *end)
{
    char id[MIRE_UUID_TEXT];
    const char *rank = arena_printf(call->arena, "%" PRId64, end->after_us);
    struct page_cursor cursor = {.query = call_query_hash(call), .span = call->view.span, .rank = rank, .key = id};

    if (!end->after_us) {
        json_write_null(&call->json, "next");
        return 0;
    }
    uuid_format(id, &end->after);
    const char *text = rank ? cursor_format(call->arena, &cursor) : NULL;
    if (!text)
        return MIRE_FAULT_MEMORY;
    json_write_text(&call->json, "next", text);
    return 0;
}

/* 0, a fault, or CALL_REPLIED. *any_out: is anything but a place in the list asked for? */
static int read_wanted(struct report_wanted *out, bool *any_out, struct call *call)
{
    const char *user = request_query(call->request, "user"), *scene = request_query(call->request, "scene");
    const char *tag = request_query(call->request, "tag"), *value = tag ? strchr(tag, '=') : NULL;

    *out = (struct report_wanted){.has_user = user && *user, .scene = scene ? scene : "", .tag = ""};
    if (tag && (!value || value == tag || !value[1]))
        return call_refuse(call, "tag", "NAME=VALUE, such as plan=trial");
    if (tag)
        out->tag = context_tag(call->arena, arena_copy(call->arena, tag, (size_t)(value - tag)), value + 1);
    *any_out = out->has_user || *out->scene || tag;
    if (!out->tag)
        return MIRE_FAULT_MEMORY;
    return out->has_user ? context_user(out->user_hash, call->arena, user) : 0;
}

/* Members reports and next. 0, a fault, or CALL_REPLIED. */
static int put_reports(struct call *call, const struct report_place *from, const struct report_wanted *wanted,
                       int limit)
{
    struct json_writer *w = &call->json;
    struct report_place end = {0};
    struct report_row *rows;
    size_t count;
    int rc = wanted
                 ? rows_reports_find(&rows, &count, &end, call->tx, call->arena, &call->view, call->issue, wanted, from,
                                     limit + 1)
                 : rows_reports_read(&rows, &count, call->tx, call->arena, &call->view, call->issue, from, limit + 1);

    if (rc)
        return rc;
    if (count > (size_t)limit) {
        count--;
        end = (struct report_place){rows[count - 1].occurred_us, rows[count - 1].id};
    }
    json_write_open(w, "reports", '[');
    for (size_t i = 0; i < count; i++)
        part_report_row(w, NULL, &rows[i]);
    json_write_close(w, ']');
    return put_next(call, &end);
}

static int answer_reports(struct call *call)
{
    struct json_writer *w = &call->json;
    struct event_totals totals;
    struct report_wanted wanted;
    struct report_place from;
    struct issue_summary *summary;
    int64_t limit, kept;
    bool any;
    int rc;

    if ((rc = call_integer(&limit, call, "limit", 1, 200, 50)) || (rc = read_wanted(&wanted, &any, call)) ||
        (rc = read_place(&from, call)) || (rc = call_summary(&summary, call)))
        return rc;
    if ((rc = rows_event_totals_read(&totals, call->tx, call->arena, &call->view, call->issue)) ||
        (rc = rows_reports_kept_read(&kept, call->tx, &call->view, call->issue)))
        return rc;
    json_write_open(w, NULL, '{');
    part_range(w, &call->view.span, totals.newest_us);
    json_write_i64(w, "total", (int64_t)totals.sums.reports);
    json_write_i64(w, "kept", kept);
    rc = put_reports(call, &from, any ? &wanted : NULL, (int)limit);
    json_write_close(w, '}');
    return rc;
}

int get_reports(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {
        .table = "reports", .names = page_names, .has_app = true, .has_issue = true, .answer = answer_reports};
    return call_run(api, request, reply, &kind);
}

static int answer_app_reports(struct call *call)
{
    struct event_totals totals;
    struct report_wanted wanted;
    struct report_place from;
    int64_t limit;
    bool any;
    int rc;

    if ((rc = call_integer(&limit, call, "limit", 1, 200, 50)) || (rc = read_wanted(&wanted, &any, call)) ||
        (rc = read_place(&from, call)) || (rc = rows_event_totals_read(&totals, call->tx, call->arena, &call->view, 0)))
        return rc;
    json_write_open(&call->json, NULL, '{');
    part_range(&call->json, &call->view.span, totals.newest_us);
    rc = put_reports(call, &from, &wanted, (int)limit);
    json_write_close(&call->json, '}');
    return rc;
}

int get_app_reports(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {
        .table = "reports", .names = page_names, .has_app = true, .answer = answer_app_reports};
    return call_run(api, request, reply, &kind);
}
