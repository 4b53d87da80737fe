/* reports.c - the reports of an issue, newest first, page by page. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"
#include "rows/issue.h"
#include "rows/issues.h"
#include "rows/reports.h"

#include <inttypes.h>

static int read_after(int64_t *after_us, struct uuid *after, struct call *call)
{
    const char *text = request_query(call->request, "cursor");
    struct page_cursor cursor;

    if (!text)
        return 0;
    if (cursor_parse(&cursor, call->arena, text, call_query_hash(call)) == 0 && text_is_uuid(cursor.key) &&
        uuid_parse(after, cursor.key, MIRE_UUID_TEXT - 1) &&
        integer_parse(after_us, cursor.rank, 1, INT64_C(999999999999999999)) == 0) {
        call->view.span = cursor.span;
        return 0;
    }

    return call_refuse(call, "cursor", "the next of an answer to the same query");
}

static int put_next(struct call *call, const struct report_row *last)
{
    char id[MIRE_UUID_TEXT];
    const char *rank = arena_printf(call->arena, "%" PRId64, last->occurred_us);
    struct page_cursor cursor = {.query = call_query_hash(call), .span = call->view.span, .rank = rank, .key = id};

    uuid_format(id, &last->id);
    const char *text = rank ? cursor_format(call->arena, &cursor) : NULL;
    if (!text)
        return MIRE_FAULT_MEMORY;
    json_write_text(&call->json, "next", text);
    return 0;
}

static int answer_reports(struct call *call)
{
    struct json_writer *w = &call->json;
    struct rollup_told told;
    struct report_row *rows;
    struct issue_summary *summary;
    struct uuid after;
    int64_t limit, kept, after_us = 0;
    size_t count;
    int rc;

    if ((rc = call_integer(&limit, call, "limit", 1, 200, 50)) || (rc = read_after(&after_us, &after, call)) ||
        (rc = rows_summaries_read(&summary, &count, call->tx, call->arena, &call->view, &call->issue, 1)))
        return rc;
    if (count == 0)
        return call_missing(call, "App %s has no issue %.40s.", call->slug, request_param(call->request, 1));
    if ((rc = rows_told_read(&told, call->tx, call->arena, &call->view, call->issue)) ||
        (rc = rows_reports_kept_read(&kept, call->tx, &call->view, call->issue)) ||
        (rc = rows_reports_read(&rows, &count, call->tx, call->arena, &call->view, call->issue, after_us,
                                after_us ? &after : NULL, (int)limit + 1)))
        return rc;
    bool more = count > (size_t)limit;
    count -= more;
    json_write_open(w, NULL, '{');
    part_range(w, &call->view.span, told.newest_us);
    json_write_i64(w, "total", (int64_t)told.sums.reports);
    json_write_i64(w, "kept", kept);
    json_write_open(w, "reports", '[');
    for (size_t i = 0; i < count; i++)
        part_report_row(w, NULL, &rows[i]);
    json_write_close(w, ']');
    if (more)
        rc = put_next(call, &rows[count - 1]);
    else
        json_write_null(w, "next");
    json_write_close(w, '}');
    return rc;
}

int get_reports(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", "cursor", "limit", NULL};
    static const struct call_kind kind = {
        .table = "reports", .names = names, .has_app = true, .has_issue = true, .answer = answer_reports};
    return call_run(api, request, reply, &kind);
}
