/* rekey.c - GET and POST .../rekey: stored reports that are derived again, and the request for it. */
#include "api/api.h"
#include "api/body.h"
#include "api/call.h"
#include "api/document_versions.h"
#include "api/handlers.h"
#include "api/symbols/import.h"
#include "api/parts.h"

#include "base/fault.h"
#include "base/text.h"
#include "rows/apps.h"
#include "rows/audit.h"
#include "rows/demo.h"
#include "rows/rows.h"
#include "rows/rekey.h"

#define JOBS_MAX   20
#define FLOWS_MAX  50
#define DETAIL_MAX 200

static int put_job(struct json_writer *w, struct pg_tx *tx, const struct rekey_job *job)
{
    json_write_open(w, NULL, '{');
    json_write_i64(w, "job", job->job);
    json_write_text(w, "cause", job->cause);
    json_write_text(w, "detail", job->detail);
    json_write_text(w, "state", job->state);
    json_write_bool(w, "preview", job->preview);
    part_time(w, "asked_at", job->created_us);
    part_time_or_null(w, "ended_at", job->ended_us);
    json_write_i64(w, "queued", job->queued);
    json_write_i64(w, "exemplars", job->exemplars);
    json_write_i64(w, "done", job->done);
    json_write_i64(w, "moved", job->moved);
    json_write_i64(w, "failed", job->failed);
    json_write_i64(w, "issues_new", job->issues_new);
    json_write_i64(w, "issues_gone", job->issues_gone);
    int rc = document_versions_put_flows(w, tx, job->job, FLOWS_MAX);
    json_write_close(w, '}');
    return rc;
}

static int answer_rekey(struct call *call)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = rows_rekey_jobs(&rows, call->tx, call->view.app, JOBS_MAX);
    json_write_open(&call->json, NULL, '{');
    json_write_open(&call->json, "jobs", '[');
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct rekey_job job;
        rows_rekey_read(&job, rows, i);
        rc = put_job(&call->json, call->tx, &job);
    }
    json_write_close(&call->json, ']');
    json_write_close(&call->json, '}');
    return rc;
}

int get_rekey(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.table = "jobs", .has_app = true, .answer = answer_rekey};
    return call_run(api, request, reply, &kind);
}

struct rekey_asked {
    bool preview;
    const char *detail;
};

static const struct bind_field fields[] = {
    {"preview", MIRE_BIND_BOOL, offsetof(struct rekey_asked, preview), .required = true},
    {"detail", MIRE_BIND_TEXT, offsetof(struct rekey_asked, detail), .max = DETAIL_MAX},
};

int post_rekey(void *context, struct request *request, struct reply *reply)
{
    const struct api *api = context;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct rekey_asked asked = {.detail = ""};
    struct rekey_ask ask = {.cause = "key"};
    int64_t job = 0;
    bool is_demo = false;
    int rc = body_read(&asked, request, reply, fields, sizeof fields / sizeof *fields, "rekey");
    if (rc)
        return rc < 0 ? rc : MIRE_HTTP_DONE;
    ask.preview = asked.preview;
    ask.detail = asked.detail;
    rc = pg_begin(&tx, api->pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_app_read(&ask.app_id, tx, request_param(request, 0));
    if (rc == READ_NONE)
        return reply_error(reply, request, 404, NULL, "There is no app \"%.*s\".",
                           TEXT_CUT(request_param(request, 0), 63));
    if (!rc)
        rc = rows_demo_is(&is_demo, tx, ask.app_id);
    if (!rc && is_demo)
        return reply_error(reply, request, 403, "demo.read_only", "Nothing in the demo app can be changed.");
    if (!rc)
        rc = rows_rekey_ask(&job, tx, &ask);
    if (!rc && !ask.preview)
        rc = audit_request(tx, request,
                           &(struct audit_row){.app = ask.app_id,
                                               .action = "reports.rekey",
                                               .subject = arena_printf(request->arena, "job %lld", (long long)job),
                                               .reason = ask.detail});
    if (!rc)
        rc = pg_commit(&tx);
    if (rc)
        return rc;
    text_printf(&reply->text, "{\"job\":%lld}", (long long)job);
    return reply_json(reply, 202);
}
