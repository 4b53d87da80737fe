/*
 * audits.c - the audit log: GET /api/v1/audit and GET .../apps/{app}/audit, as JSON or as CSV.
 */
#include "api/csv.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "api/people/people.h"
#include "base/clock.h"
#include "rows/audit.h"

#include <inttypes.h>
#include <string.h>

#define LIMIT_MAX 10000
#define LIMIT     100

static void put_row(struct json_writer *w, const struct audit_row *row)
{
    json_write_open(w, NULL, '{');
    json_write_i64(w, "id", row->audit);
    part_time(w, "at", row->at_us);
    json_write_text(w, "who", row->who);
    json_write_text(w, "via", row->via);
    json_write_text(w, "address", row->address);
    json_write_text(w, "app", row->slug);
    json_write_text(w, "action", row->action);
    json_write_text(w, "subject", row->subject);
    json_write_text(w, "before", row->before);
    json_write_text(w, "after", row->after);
    json_write_text(w, "reason", row->reason);
    json_write_close(w, '}');
}

static int answer_csv(struct call *call, const struct audit_row *rows, size_t count)
{
    struct text *out = &call->reply->text;
    char at[32];

    text_fini(out);
    text_add(out, "id,at,who,via,address,app,action,subject,before,after,reason\r\n");
    for (size_t i = 0; i < count; i++) {
        const struct audit_row *row = &rows[i];
        const char *cells[] = {row->who,     row->via,    row->address, row->slug,  row->action,
                               row->subject, row->before, row->after,   row->reason};
        size_t cell_count = sizeof cells / sizeof *cells;
        clock_format(at, row->at_us);
        text_printf(out, "%" PRId64 ",%s,", row->audit, at);
        for (size_t c = 0; c < cell_count; c++)
            csv_cell(out, cells[c], c + 1 == cell_count ? "\r\n" : ",");
    }
    if (text_failed(out))
        return MIRE_FAULT_MEMORY;
    call->reply->status = 200;
    call->reply->type = "text/csv; charset=utf-8";
    reply_header(call->reply, "Content-Disposition", "attachment; filename=\"audit.csv\"");
    reply_header(call->reply, "Cache-Control", "private, no-store");
    return CALL_REPLIED;
}

static int answer(struct call *call, bool is_of_app)
{
    const char *action = request_query(call->request, "action"), *who = request_query(call->request, "who");
    const char *format = request_query(call->request, "format");
    bool is_csv = format && !strcmp(format, "csv");
    struct audit_filter filter = {
        .is_of_app = is_of_app, .app = call->view.app, .action = action ? action : "", .who = who ? who : ""};
    struct audit_row *rows = NULL;
    size_t count = 0;
    int64_t limit = 0;
    int rc = call_integer(&filter.before, call, "before", 1, INT64_MAX, 0);

    if (format && !is_csv && strcmp(format, "json") != 0)
        return call_refuse(call, "format", "json, csv");
    if (!rc)
        rc = call_integer(&limit, call, "limit", 1, LIMIT_MAX, is_csv ? LIMIT_MAX : LIMIT);
    filter.limit = (int)limit;
    if (!rc)
        rc = rows_audit_list(&rows, &count, call->tx, call->arena, &filter);
    if (rc)
        return rc;
    if (is_csv)
        return answer_csv(call, rows, count);
    json_write_open(&call->json, NULL, '{');
    json_write_open(&call->json, "rows", '[');
    for (size_t i = 0; i < count; i++)
        put_row(&call->json, &rows[i]);
    json_write_close(&call->json, ']');
    json_write_bool(&call->json, "has_more", count == (size_t)filter.limit);
    json_write_close(&call->json, '}');
    return 0;
}

static const char *const names[] = {"action", "who", "before", "limit", "format", NULL};

static int answer_all(struct call *call)
{
    return answer(call, false);
}

static int answer_app(struct call *call)
{
    return answer(call, true);
}

int get_audit(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.names = names, .answer = answer_all};
    return call_run(api, request, reply, &kind);
}

int get_app_audit(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.names = names, .has_app = true, .answer = answer_app};
    return call_run(api, request, reply, &kind);
}
