/*
 * activity.c - what was done with an issue, and comments on it: GET .../activity, POST .../comments and
 * DELETE .../comments/{comment}. A comment is Markdown; it is stored as it was written, and pages make no HTML of it.
 */
#include "access/access.h"
#include "api/call.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"
#include "base/fault.h"
#include "base/text.h"
#include "rows/activity.h"
#include "rows/audit.h"
#include "rows/triage.h"

#include <string.h>

#define COMMENT_MAX 10000 /* characters */

static void put_raw(struct json_writer *w, const char *key, const char *json)
{
    if (*json == '{')
        json_write_raw(w, key, json);
    else
        json_write_null(w, key);
}

static void put_act(struct json_writer *w, const struct act_row *a)
{
    bool regrouped = !strcmp(a->kind, "merged") || !strcmp(a->kind, "split");

    json_write_open(w, NULL, '{');
    json_write_i64(w, "id", a->act);
    json_write_i64(w, "batch", a->batch);
    part_time(w, "at", a->at_us);
    json_write_text(w, "who", a->who);
    json_write_text(w, "kind", a->kind);
    put_raw(w, "before", a->before);
    put_raw(w, "after", a->after);
    json_write_text(w, "issues", regrouped ? a->before : "");
    json_write_text(w, "body", a->body);
    part_time_or_null(w, "undone_at", a->undone_us);
    json_write_text(w, "undone_by", a->undone_by);
    json_write_close(w, '}');
}

static int answer_activity(struct call *call)
{
    struct json_writer *w = &call->json;
    struct act_row *acts;
    size_t count;
    int rc = rows_activity_read(&acts, &count, call->tx, call->arena, call->view.app, call->issue);

    json_write_open(w, NULL, '{');
    json_write_open(w, "acts", '[');
    for (size_t i = 0; !rc && i < count; i++)
        put_act(w, &acts[i]);
    json_write_close(w, ']');
    json_write_close(w, '}');
    return rc;
}

struct comment {
    const char *text;
};

static const struct bind_field fields[] = {
    {"text", MIRE_BIND_TEXT, offsetof(struct comment, text), .required = true, .max = COMMENT_MAX}};

static int answer_comment(struct call *call)
{
    struct comment comment = {.text = ""};
    int64_t act = 0;
    int rc = call_body(&comment, call, fields, 1, "comment");

    if (!rc && !comment.text[strspn(comment.text, " \t\r\n")])
        return call_problem(call, 422, "comment.empty", "Write something first.");
    if (!rc)
        rc = rows_comment_add(&act, call->tx, call->view.app, call->issue, call->request->grant.who, comment.text);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "issue.comment",
                                                  .subject = request_param(call->request, 1),
                                                  .after = comment.text});
    if (!rc)
        rc = pg_commit(&call->tx);
    json_write_open(&call->json, NULL, '{');
    json_write_i64(&call->json, "id", act);
    json_write_close(&call->json, '}');
    return rc;
}

/* People remove their own comments, admins of the app any. */
static int answer_remove(struct call *call)
{
    const struct http_grant *grant = &call->request->grant;
    const char *whose = grant->role >= MIRE_ACCESS_ADMIN ? NULL : grant->who;
    int64_t act;

    if (integer_parse(&act, request_param(call->request, 2), 1, INT64_MAX) != 0)
        return call_missing(call, "\"%.*s\" is no number of a comment.", TEXT_CUT(request_param(call->request, 2), 40));
    int rc = rows_comment_remove(call->tx, call->view.app, call->issue, act, whose, grant->who);
    if (rc == TRIAGE_NONE)
        return call_missing(call, "This issue has no such comment of yours.");
    if (!rc)
        rc = call_audit(
            call, &(struct audit_row){.action = "issue.comment_removed", .subject = request_param(call->request, 1)});
    if (!rc)
        rc = pg_commit(&call->tx);
    json_write_open(&call->json, NULL, '{');
    json_write_i64(&call->json, "id", act);
    json_write_close(&call->json, '}');
    return rc;
}

int get_activity(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {
        .table = "acts", .has_app = true, .has_issue = true, .answer = answer_activity};
    return call_run(api, request, reply, &kind);
}

int post_comment(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .has_issue = true, .writes = true, .answer = answer_comment};
    return call_run(api, request, reply, &kind);
}

int delete_comment(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .has_issue = true, .writes = true, .answer = answer_remove};
    return call_run(api, request, reply, &kind);
}
