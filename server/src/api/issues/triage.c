/*
 * triage.c - POST .../triage sets the state or the assignee of up to fifty issues at once; POST .../triage/undo takes it
 * back. GET .../assignees names the people they may be assigned to.
 */
#include "api/body.h"
#include "api/call.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"
#include "base/fault.h"
#include "base/text.h"
#include "rows/audit.h"
#include "rows/issue.h"
#include "rows/issues.h"
#include "rows/triage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ISSUES_MAX  50
#define VERSION_MAX 200
#define WHY_MAX     2000
#define DEVICES_MAX INT32_MAX
#define TIME_MAX_S  (10ll * 366 * 86400)

struct triage_asked {
    const char *state, *in, *until_version, *assignee, *reason;
    uint64_t for_s, until_devices, batch;
    double until_per_1000;
    int64_t issues[ISSUES_MAX];
    size_t issue_count;
};

static enum bind_outcome take_issues(struct bind *bind, void *out, uint32_t at)
{
    struct triage_asked *asked = out;

    return body_issues(asked->issues, &asked->issue_count, bind, at, ISSUES_MAX);
}

static enum bind_outcome take_rate(struct bind *bind, void *out, uint32_t at)
{
    struct triage_asked *asked = out;
    enum json_kind kind = json_kind(bind->json, at);
    double value = kind == MIRE_JSON_UINT || kind == MIRE_JSON_DOUBLE ? json_double(bind->json, at) : -1;

    if (!(value > 0 && value <= 1e9))
        return bind_wrong(bind, "must be a number above 0: hits per 1,000 sessions");
    asked->until_per_1000 = value;
    return MIRE_BIND_OK;
}

/* clang-format off */
static const struct bind_field triage_fields[] = {
    {"issues", MIRE_BIND_OTHER, 0, .required = true, .read = take_issues},
    {"state", MIRE_BIND_TEXT, offsetof(struct triage_asked, state), .max = 16},
    {"in", MIRE_BIND_TEXT, offsetof(struct triage_asked, in), .max = VERSION_MAX},
    {"until_version", MIRE_BIND_TEXT, offsetof(struct triage_asked, until_version), .max = VERSION_MAX},
    {"for_s", MIRE_BIND_U64, offsetof(struct triage_asked, for_s), .min = 1, .max = TIME_MAX_S},
    {"until_devices", MIRE_BIND_U64, offsetof(struct triage_asked, until_devices), .min = 1, .max = DEVICES_MAX},
    {"until_per_1000", MIRE_BIND_OTHER, 0, .read = take_rate},
    {"assignee", MIRE_BIND_TEXT, offsetof(struct triage_asked, assignee), .max = 128},
    {"reason", MIRE_BIND_TEXT, offsetof(struct triage_asked, reason), .max = WHY_MAX}};
static const struct bind_field undo_fields[] = {
    {"batch", MIRE_BIND_U64, offsetof(struct triage_asked, batch), .required = true, .min = 1, .max = INT64_MAX}};
/* clang-format on */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The issues as they are shown, each once, in order. 0 or a fault. */
static int find_shown(struct triage_asked *asked, struct call *call)
{
    size_t kept = 0;
    bool many;

    for (size_t i = 0; i < asked->issue_count; i++) {
        int rc = rows_issue_now_read(&asked->issues[i], call->tx);
        if (!rc)
            rc = rows_shown_read(&asked->issues[i], &many, call->tx, call->view.app, asked->issues[i]);
        if (rc)
            return rc;
    }
    qsort(asked->issues, asked->issue_count, sizeof *asked->issues, by_number);
    for (size_t i = 0; i < asked->issue_count; i++)
        if (!kept || asked->issues[kept - 1] != asked->issues[i])
            asked->issues[kept++] = asked->issues[i];
    asked->issue_count = kept;
    return 0;
}

static bool is_state(const char *text)
{
    return !strcmp(text, "open") || !strcmp(text, "resolved") || !strcmp(text, "ignored");
}

/* The part that does not fit, in words; NULL: it fits. */
static const char *wrong_with(const struct triage_asked *asked)
{
    bool waits = *asked->until_version || asked->for_s || asked->until_devices || asked->until_per_1000 > 0;

    if (!asked->issue_count)
        return "Name the issues to change.";
    if (!asked->state && !asked->assignee)
        return "Give the state, or the assignee.";
    if (asked->state && !is_state(asked->state))
        return "The state is open, resolved or ignored.";
    if (*asked->in && (!asked->state || strcmp(asked->state, "resolved") != 0))
        return "Only resolved issues have a version with the fix (in).";
    if (waits && (!asked->state || strcmp(asked->state, "ignored") != 0))
        return "Only ignored issues wait for a version, a time, devices or a rate.";
    return NULL;
}

/* May they be assigned to that person? 0, CALL_REPLIED or a fault. */
static int check_assignee(struct call *call, const char *name)
{
    const char **people;
    size_t count;
    int rc = rows_assignees_read(&people, &count, call->tx, call->arena, call->view.app);

    if (rc || !*name || !strcmp(name, call->request->grant.who))
        return rc;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(people[i], name))
            return 0;
    return call_problem(call, 422, "triage.assignee",
                        "\"%.*s\" may not see this app: give the account a role in it first.", TEXT_CUT(name, 100));
}

/* Resolved without a version: in the newest there is. */
static int choose_version(struct triage_asked *asked, struct call *call)
{
    if (!asked->state || strcmp(asked->state, "resolved") != 0 || *asked->in)
        return 0;
    return rows_newest_version(&asked->in, call->tx, call->arena, call->view.app);
}

/* "resolved in 8.0.40", "ignored", "assigned to kim". */
static const char *words_of(struct call *call, const struct triage_asked *asked)
{
    const char *state = asked->state ? asked->state : "";
    const char *in = *asked->in ? asked->in : asked->until_version;
    const char *joins = *asked->in ? " in " : *in ? " until " : "";
    const char *assignee = asked->assignee ? asked->assignee : "";

    return arena_printf(call->arena, "%s%s%s%s%s", state, joins, in,
                        asked->assignee ? (*state ? ", assigned to " : "assigned to ") : "",
                        asked->assignee && !*assignee ? "nobody" : assignee);
}

static const char *names_of(struct call *call, const struct issue_summary *all, size_t count)
{
    const char *names = "";

    for (size_t i = 0; names && i < count; i++)
        names = arena_printf(call->arena, "%s%s%s", names, i ? ", " : "",
                             part_issue_name(all[i].issue, all[i].subject[0]).text);
    return names;
}

/* Audit, commit, and answer with the issues as they are now. */
static int finish(struct call *call, int64_t batch, const int64_t *issues, size_t count, struct audit_row *row)
{
    struct json_writer *w = &call->json;
    struct issue_summary *now;
    size_t there;
    int rc = rows_summaries_read(&now, &there, call->tx, call->arena, &call->view, issues, count);

    row->subject = rc ? "" : names_of(call, now, there);
    if (!rc && (!row->subject || !row->after))
        rc = MIRE_FAULT_MEMORY;
    if (!rc)
        rc = call_audit(call, row);
    if (!rc)
        rc = pg_commit(&call->tx);
    json_write_open(w, NULL, '{');
    json_write_i64(w, "batch", batch);
    json_write_open(w, "issues", '[');
    for (size_t i = 0; !rc && i < there; i++)
        part_summary(w, NULL, &now[i]);
    json_write_close(w, ']');
    json_write_close(w, '}');
    return rc;
}

static int answer_triage(struct call *call)
{
    struct triage_asked asked = {.in = "", .until_version = "", .reason = ""};
    int rc = call_body(&asked, call, triage_fields, sizeof triage_fields / sizeof *triage_fields, "triage");
    const char *wrong = rc ? NULL : wrong_with(&asked);
    int64_t batch = 0;

    if (wrong)
        return call_problem(call, 422, "triage.wrong", "%s", wrong);
    if (!rc && asked.assignee)
        rc = check_assignee(call, asked.assignee);
    if (!rc)
        rc = find_shown(&asked, call);
    if (!rc)
        rc = choose_version(&asked, call);
    if (rc)
        return rc;
    rc = rows_triage_set(&batch, call->tx,
                         &(struct triage_change){.app = call->view.app,
                                                 .who = call->request->grant.who,
                                                 .why = asked.reason,
                                                 .state = asked.state,
                                                 .version = *asked.in ? asked.in : asked.until_version,
                                                 .for_s = (int64_t)asked.for_s,
                                                 .devices = (int64_t)asked.until_devices,
                                                 .per_1000 = asked.until_per_1000,
                                                 .assignee = asked.assignee},
                         asked.issues, asked.issue_count);
    if (rc == TRIAGE_NONE)
        return call_missing(call, "App %s does not have all of these issues; none was changed.", call->slug);
    return rc ? rc
              : finish(call, batch, asked.issues, asked.issue_count,
                       &(struct audit_row){.action = asked.state ? "issue.state" : "issue.assigned",
                                           .after = words_of(call, &asked),
                                           .reason = asked.reason});
}

static int answer_undo(struct call *call)
{
    struct triage_asked asked = {.batch = 0};
    int64_t *issues = NULL;
    size_t count = 0;
    int rc = call_body(&asked, call, undo_fields, sizeof undo_fields / sizeof *undo_fields, "triage");

    if (!rc && !asked.batch)
        return call_problem(call, 422, "triage.wrong", "Say which batch to undo.");
    if (!rc)
        rc = rows_triage_undo(&issues, &count, call->tx, call->arena, call->view.app, (int64_t)asked.batch,
                              call->request->grant.who);
    if (rc == TRIAGE_NONE)
        return call_problem(call, 409, "triage.none", "There is nothing to undo: that was undone before.");
    if (rc == TRIAGE_MOVED)
        return call_problem(call, 409, "triage.moved",
                            "An issue was changed since: look at its activity, then set its state.");
    return rc ? rc
              : finish(call, (int64_t)asked.batch, issues, count,
                       &(struct audit_row){.action = "issue.undone", .after = "as before"});
}

static int answer_assignees(struct call *call)
{
    struct json_writer *w = &call->json;
    const char **people;
    size_t count;
    int rc = rows_assignees_read(&people, &count, call->tx, call->arena, call->view.app);
    bool is_alone = !rc && !count && call->request->grant.role > 0;

    json_write_open(w, NULL, '{');
    json_write_open(w, "people", '[');
    for (size_t i = 0; !rc && i < count; i++)
        json_write_text(w, NULL, people[i]);
    if (is_alone)
        json_write_text(w, NULL, call->request->grant.who);
    json_write_close(w, ']');
    json_write_text(w, "you", call->request->grant.who);
    json_write_close(w, '}');
    return rc;
}

static const char *const view_names[] = {"t", "v", NULL};

int post_triage(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {
        .names = view_names, .has_app = true, .writes = true, .answer = answer_triage};
    return call_run(api, request, reply, &kind);
}

int post_triage_undo(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.names = view_names, .has_app = true, .writes = true, .answer = answer_undo};
    return call_run(api, request, reply, &kind);
}

int get_assignees(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.names = view_names + 2, .has_app = true, .answer = answer_assignees};
    return call_run(api, request, reply, &kind);
}
