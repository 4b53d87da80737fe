/* forget.c - GET and POST .../forget: reports that are, or were, taken out again, and asking for it. */
#include "api/body.h"
#include "api/call.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"

#include "base/clock.h"
#include "rows/audit.h"
#include "rows/forget.h"

#include <inttypes.h>
#include <string.h>

#define JOBS_MAX   100
#define REASON_MAX 2000

static void put_job(struct json_writer *w, const struct forget_job *job)
{
    json_write_open(w, NULL, '{');
    json_write_i64(w, "job", job->job);
    json_write_text(w, "what", job->what);
    json_write_text(w, "of", job->of);
    json_write_text(w, "author", job->author);
    json_write_text(w, "reason", job->reason);
    json_write_text(w, "state", job->state);
    part_time(w, "asked_at", job->asked_us);
    part_time_or_null(w, "ended_at", job->ended_us);
    json_write_i64(w, "queued", job->queued);
    json_write_i64(w, "done", job->done);
    json_write_close(w, '}');
}

static int answer_forget(struct call *call)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = rows_forget_jobs(&rows, call->tx, call->view.app, JOBS_MAX);

    json_write_open(&call->json, NULL, '{');
    json_write_open(&call->json, "jobs", '[');
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct forget_job job;
        rows_forget_read(&job, rows, i);
        put_job(&call->json, &job);
    }
    json_write_close(&call->json, ']');
    json_write_close(&call->json, '}');
    return rc;
}

int get_forget(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.table = "jobs", .has_app = true, .answer = answer_forget};
    return call_run(api, request, reply, &kind);
}

struct forget_body {
    const char *install, *report, *t, *reason;
    uint64_t key;
    bool preview;
    uint8_t install_id[16];
    struct uuid report_id;
};

static const struct bind_field fields[] = {
    {"install", MIRE_BIND_TEXT, offsetof(struct forget_body, install), .max = 32},
    {"key", MIRE_BIND_U64, offsetof(struct forget_body, key), .max = INT64_MAX},
    {"report", MIRE_BIND_TEXT, offsetof(struct forget_body, report), .max = 36},
    {"t", MIRE_BIND_TEXT, offsetof(struct forget_body, t), .max = 64},
    {"preview", MIRE_BIND_BOOL, offsetof(struct forget_body, preview), .required = true},
    {"reason", MIRE_BIND_TEXT, offsetof(struct forget_body, reason), .required = true, .max = REASON_MAX},
};

/* The question of a body; returns NULL, or what is wrong. */
static const char *read_ask(struct forget_ask *out, struct forget_body *body)
{
    struct span span;

    *out = (struct forget_ask){
        .key = (int64_t)body->key, .since_us = INT64_MIN, .until_us = INT64_MAX, .reason = body->reason};
    if (!body->reason[strspn(body->reason, " ")])
        return "Give a reason, for the audit log.";
    if (!!*body->install + !!body->key + !!*body->report != 1)
        return "Give one of install, key and report.";
    if (*body->install) {
        if (strlen(body->install) != 32 || !hex_parse(body->install_id, body->install, 16))
            return "install has 32 hex digits.";
        out->install = (struct pg_bytes){body->install_id, sizeof body->install_id};
    }
    if (*body->report) {
        if (!uuid_parse(&body->report_id, body->report, strlen(body->report)))
            return "report is the id of a report.";
        out->report = &body->report_id;
    }
    if (!*body->t)
        return NULL;
    if (span_parse(&span, body->t, clock_wall_us() / 1000000))
        return "t is a range such as 24h, 14d, or 2026-11-01T00Z..2026-11-08T00Z.";
    out->since_us = span.from_s * 1000000;
    out->until_us = span.to_s * 1000000;
    return NULL;
}

static int audit_ask(struct call *call, const struct forget_body *body, int64_t job, const struct forget_found *found)
{
    const char *subject = NULL;

    if (*body->install)
        subject = arena_printf(call->arena, "installation %s", body->install);
    else if (*body->report)
        subject = arena_printf(call->arena, "report %s", body->report);
    else
        subject = arena_printf(call->arena, "key %" PRIu64, body->key);
    const char *before =
        arena_printf(call->arena, "%" PRId64 " reports%s%s", found->reports, *body->t ? " received in " : "", body->t);
    const char *after = arena_printf(call->arena, "forgotten by job %" PRId64, job);
    if (!subject || !before || !after)
        return MIRE_FAULT_MEMORY;
    return call_audit(call, &(struct audit_row){.action = "reports.forgotten",
                                                .subject = subject,
                                                .before = before,
                                                .after = after,
                                                .reason = body->reason});
}

static void put_asked(struct json_writer *w, int64_t job, const struct forget_found *found)
{
    json_write_open(w, NULL, '{');
    if (job)
        json_write_i64(w, "job", job);
    else
        json_write_null(w, "job");
    json_write_i64(w, "reports", found->reports);
    json_write_i64(w, "events", (int64_t)found->events);
    json_write_i64(w, "sessions", (int64_t)found->sessions);
    json_write_i64(w, "waiting", found->inbox);
    json_write_close(w, '}');
}

static int answer_ask(struct call *call)
{
    struct forget_body body = {.install = "", .report = "", .t = "", .reason = ""};
    struct forget_found found;
    struct forget_ask ask;
    int64_t job = 0;
    int rc = call_body(&body, call, fields, sizeof fields / sizeof *fields, "forget");

    if (rc)
        return rc;
    const char *wrong = read_ask(&ask, &body);
    if (wrong)
        return call_problem(call, 422, "forget.wrong", "%s", wrong);
    ask.app_id = call->view.app;
    ask.author = call->request->grant.who ? call->request->grant.who : "nobody";
    rc = rows_forget_count(&found, call->tx, &ask);
    if (!rc && !body.preview)
        rc = rows_forget_ask(&job, call->tx, &ask);
    if (!rc && !body.preview)
        rc = audit_ask(call, &body, job, &found);
    if (!rc && !body.preview)
        rc = pg_commit(&call->tx);
    if (!rc)
        put_asked(&call->json, job, &found);
    return rc;
}

int post_forget(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_ask};
    return call_run(api, request, reply, &kind);
}
