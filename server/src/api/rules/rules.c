/*
 * rules.c - the rules of an app: GET .../rules, the rules in force with the history of changes and the built-in packs;
 * GET .../rules/jobs/{job}, the progress of a preview or a change and its moves.
 */
#include "api/call.h"
#include "api/document_versions.h"
#include "api/handlers.h"
#include "api/parts.h"

#include "feature/rules.h"
#include "rows/module.h"
#include "rows/rekey.h"

#include <stdlib.h>
#include <string.h>

#define JOBS_MAX  20  /* of an answer */
#define OWN_MAX   50  /* proposed modules */
#define FLOWS_MAX 200 /* of a job: the largest */

static int put_packs(struct json_writer *w)
{
    struct rules_fault fault;
    struct rules *rules;
    if (rules_builtin(&rules, &fault) != MIRE_RULES_OK)
        return MIRE_FAULT_MEMORY;
    json_write_open(w, "packs", '[');
    for (size_t i = 0; i < rules_pack_count(rules); i++) {
        struct rules_pack pack = rules_pack(rules, i);
        json_write_open(w, NULL, '{');
        json_write_text(w, "name", pack.name);
        json_write_i64(w, "version", pack.version);
        json_write_i64(w, "rules", (int64_t)pack.rule_count);
        json_write_text(w, "text", pack.text);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    rules_free(rules);
    return 0;
}

static void put_job(struct json_writer *w, const struct rekey_job *job)
{
    json_write_i64(w, "job", job->job);
    json_write_bool(w, "preview", job->preview);
    json_write_text(w, "state", job->state);
    json_write_text(w, "detail", job->detail);
    part_time(w, "asked_at", job->created_us);
    json_write_i64(w, "reports", job->queued);
    json_write_i64(w, "exemplars", job->exemplars);
    json_write_i64(w, "done", job->done);
    json_write_i64(w, "moved", job->moved);
    json_write_i64(w, "failed", job->failed);
    json_write_i64(w, "issues_new", job->issues_new);
    json_write_i64(w, "issues_gone", job->issues_gone);
}

static int put_jobs(struct call *call)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = rows_rekey_jobs(&rows, call->tx, call->view.app, JOBS_MAX);
    json_write_open(&call->json, "jobs", '[');
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct rekey_job job;
        rows_rekey_read(&job, rows, i);
        if (strcmp(job.cause, "rules") != 0 || job.preview)
            continue;
        json_write_open(&call->json, NULL, '{');
        put_job(&call->json, &job);
        json_write_close(&call->json, '}');
    }
    json_write_close(&call->json, ']');
    return rc;
}

/* One module, unless the app's rules already call it the app's own. */
static int put_module(struct call *call, const struct rules *rules, const struct pg_rows *rows, size_t row)
{
    struct rules_module module;
    int rc = rules_module(&module, call->arena, rules, pg_text(rows, row, 1));
    if (rc || module.own)
        return rc;
    json_write_open(&call->json, NULL, '{');
    json_write_text(&call->json, "module", pg_text(rows, row, 0));
    json_write_text(&call->json, "path", pg_text(rows, row, 1));
    part_time(&call->json, "first_seen_at", pg_time(rows, row, 2));
    json_write_close(&call->json, '}');
    return 0;
}

static int put_proposals(struct call *call, const char *text)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    const struct rules_source source = {"app", text, strlen(text), 1};
    struct rules_fault fault;
    struct rules *rules = NULL;
    int64_t compared;
    int rc = rows_modules_proposed(&rows, &compared, call->tx, call->view.app, OWN_MAX);
    if (!rc && rules_make(&rules, &fault, &source, 1) == MIRE_RULES_NO_MEMORY)
        rc = MIRE_FAULT_MEMORY;
    json_write_i64(&call->json, "apps_compared", rc ? 0 : compared);
    json_write_open(&call->json, "proposed", '[');
    for (size_t i = 0; !rc && rules && i < pg_row_count(rows); i++)
        rc = put_module(call, rules, rows, i);
    json_write_close(&call->json, ']');
    rules_free(rules);
    return rc;
}

static int answer_rules(struct call *call)
{
    struct json_writer *w = &call->json;
    struct document_versions versions = {0};
    int rc = document_versions_read(&versions, call, ROWS_DOCUMENT_RULES, "rules");

    if (rc != 0)
        return rc;
    json_write_open(w, NULL, '{');
    document_versions_put(w, &versions);
    json_write_text(w, "rules", versions.row.rules);
    document_versions_put_history(w, &versions);
    rc = put_jobs(call);
    if (rc == 0)
        rc = put_proposals(call, versions.row.rules);
    if (rc == 0)
        rc = put_packs(w);
    json_write_close(w, '}');
    return rc;
}

static int answer_job(struct call *call)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const char *text = request_param(call->request, 1);
    char *end;
    int64_t number = strtoll(text, &end, 10);
    struct rekey_job job = {0};
    int rc = *end || number < 1 ? 0 : rows_rekey_job(&rows, call->tx, number);

    if (rc)
        return rc;
    if (rows && pg_row_count(rows))
        rows_rekey_read(&job, rows, 0);
    if (!job.job || job.app_id != call->view.app || strcmp(job.cause, "rules") != 0)
        return call_missing(call, "App %s has no such change or preview of its rules.", call->slug);
    json_write_open(&call->json, NULL, '{');
    put_job(&call->json, &job);
    rc = document_versions_put_flows(&call->json, call->tx, number, FLOWS_MAX);
    json_write_close(&call->json, '}');
    return rc;
}

int get_rules(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"version", NULL};
    static const struct call_kind kind = {
        .table = "history jobs proposed packs", .names = names, .has_app = true, .answer = answer_rules};

    return call_run(api, request, reply, &kind);
}

int get_rules_job(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .answer = answer_job};

    return call_run(api, request, reply, &kind);
}
