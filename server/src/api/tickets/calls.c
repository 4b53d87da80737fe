/*
 * calls.c - POST .../tracker/calls: a tracker's webhook tells that a ticket was closed or reopened. The issue follows, as
 * the tracker's settings have it.
 */
#include "api/call.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "base/vault.h"
#include "rows/audit.h"
#include "rows/issue.h"
#include "rows/issues.h"
#include "rows/rows.h"
#include "rows/ticket.h"
#include "rows/triage.h"
#include "ticket/heard.h"

#include <string.h>

static const char *const no_names[] = {NULL};

/* Is the issue in the state already? An issue that regressed is open. */
static bool is_so(const struct issue_summary *summary, bool resolve)
{
    bool open = !strcmp(summary->state, "open") || !strcmp(summary->state, "regressed");

    return resolve ? !strcmp(summary->state, "resolved") : open;
}

/* Resolve or open the issue of the ticket. 0 or a fault. */
static int follow(struct call *call, const struct ticket_row *ticket, bool resolve)
{
    const char *version = "", *who = arena_printf(call->arena, "%s %s", ticket->kind, ticket->name);
    int64_t issue = ticket->issue, batch;
    struct issue_summary *summary;
    size_t count;
    bool many;
    int rc = who ? rows_issue_now_read(&issue, call->tx) : MIRE_FAULT_MEMORY;

    if (!rc)
        rc = rows_shown_read(&issue, &many, call->tx, call->view.app, issue);
    if (!rc)
        rc = rows_summaries_read(&summary, &count, call->tx, call->arena, &call->view, &issue, 1);
    if (rc || !count || is_so(summary, resolve))
        return rc;
    if (resolve)
        rc = rows_newest_version(&version, call->tx, call->arena, call->view.app);
    if (!rc)
        rc = rows_triage_set(&batch, call->tx,
                             &(struct triage_change){.app = call->view.app,
                                                     .who = who,
                                                     .why = ticket->url,
                                                     .state = resolve ? "resolved" : "open",
                                                     .version = version},
                             &issue, 1);
    call->request->grant.who = who;
    call->request->grant.via = "webhook";
    return rc < 0 ? rc
                  : call_audit(call, &(struct audit_row){.action = "issue.state",
                                                         .subject = part_issue_name(issue, summary->subject[0]).text,
                                                         .after = resolve ? "resolved" : "open",
                                                         .reason = ticket->url});
}

/* The ticket of the call, and its issue. 0 or a fault. */
static int hear(struct call *call, const struct tracker_row *tracker, const struct heard *heard)
{
    struct ticket_row ticket;
    int rc = rows_ticket_heard(&ticket, call->tx, call->arena, call->view.app, tracker->kind, heard->remote,
                               heard->closed, heard->at_us);

    if (rc == READ_NONE)
        return 0;
    bool wanted = heard->closed ? tracker->closed_resolves : tracker->reopened_opens;
    if (!rc && wanted)
        rc = follow(call, &ticket, heard->closed);
    return rc ? rc : pg_commit(&call->tx);
}

static int answer_call(struct call *call)
{
    const struct request *request = call->request;
    struct tracker_row tracker;
    struct heard heard;
    int rc = rows_app_read(&call->view.app, call->tx, request_param(request, 0));

    if (!rc)
        rc = rows_tracker_read(&tracker, call->tx, call->arena, call->view.app);
    if (rc && rc != READ_NONE)
        return rc;
    int opened = rc ? 0
                    : vault_unseal(&tracker.secret, call->api->vault, call->arena, MIRE_VAULT_TRACKER_SECRET,
                                   call->view.app, tracker.secret);
    if (opened)
        return opened < 0
                   ? opened
                   : call_problem(call, 503, "tracker.sealed", "The tracker cannot be heard: %s.", vault_why(opened));
    if (rc || !heard_is_signed(tracker.kind, tracker.secret, request_header(request, heard_header(tracker.kind)),
                               request->body, request->body_len))
        return call_problem(
            call, 401, "tracker.signature",
            "The request is not signed with the secret of the app's tracker, or the app has no tracker.");
    rc = heard_read(&heard, call->arena, tracker.kind, request->body, request->body_len);
    if (rc == HEARD_MALFORMED)
        return call_problem(call, 400, "tracker.malformed", "The request is not a JSON object.");
    if (rc == HEARD_STATE)
        rc = hear(call, &tracker, &heard);
    json_write_open(&call->json, NULL, '{');
    json_write_close(&call->json, '}');
    return rc;
}

int post_tracker_call(void *api, struct request *request, struct reply *reply)
{
    /* has_app is not set: an app that does not exist is refused like a call without a good signature. */
    static const struct call_kind kind = {.names = no_names, .writes = true, .answer = answer_call};
    return call_run(api, request, reply, &kind);
}
