/* ticket.c - POST .../issues/{issue}/ticket: a ticket to be made in the app's tracker. */
#include "api/tickets/tickets.h"

#include "api/call.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "rows/audit.h"
#include "rows/issues.h"
#include "rows/rows.h"

#include <string.h>

#define TITLE_MAX 200
#define BODY_MAX  30000 /* Jira takes 32,767 characters */

static const char *const no_names[] = {NULL};

struct ticket_asked {
    const char *title, *body;
};
static const struct bind_field fields[] = {
    {"title", MIRE_BIND_TEXT, offsetof(struct ticket_asked, title), .required = true, .max = TITLE_MAX},
    {"body", MIRE_BIND_TEXT, offsetof(struct ticket_asked, body), .required = true, .max = BODY_MAX},
};

void tickets_put(struct json_writer *w, const char *key, const struct ticket_row *ticket)
{
    if (!ticket) {
        json_write_null(w, key);
        return;
    }
    json_write_open(w, key, '{');
    json_write_text(w, "kind", ticket->kind);
    json_write_text(w, "state", ticket->state);
    json_write_text(w, "name", ticket->name);
    json_write_text(w, "url", ticket->url);
    json_write_text(w, "fault", ticket->fault);
    json_write_text(w, "made_by", ticket->made_by);
    part_time(w, "made_at", ticket->made_us);
    json_write_close(w, '}');
}

static int audit(struct call *call, const struct ticket_row *ticket, bool memory)
{
    return call_audit(call, &(struct audit_row){.action = "ticket.asked",
                                                .subject = part_issue_name(call->issue, memory).text,
                                                .after = ticket->title});
}

/* Write the ticket, and tell the one that the issue has now: it may be another. */
static int add(struct call *call, const struct ticket_asked *asked, const char *kind, bool memory)
{
    struct ticket_row ticket = {.app = call->view.app,
                                .issue = call->issue,
                                .kind = kind,
                                .title = asked->title,
                                .body = asked->body,
                                .made_by = call->request->grant.who ? call->request->grant.who : ""};
    struct ticket_row now;
    int rc = rows_ticket_read(&now, call->tx, call->arena, call->view.app, call->issue);

    if (rc == READ_NONE || (!rc && !strcmp(now.state, "failed"))) {
        uuid_make(&ticket.id, call->api->now_us());
        rc = rows_ticket_add(call->tx, &ticket);
        if (rc == TICKET_ADDED)
            rc = audit(call, &ticket, memory);
        if (rc >= 0)
            rc = rows_ticket_read(&now, call->tx, call->arena, call->view.app, call->issue);
    }
    if (!rc)
        rc = pg_commit(&call->tx);
    if (!rc)
        tickets_put(&call->json, NULL, &now);
    return rc == READ_NONE ? MIRE_FAULT_RACED : rc;
}

static int answer_post(struct call *call)
{
    struct ticket_asked asked = {0};
    struct tracker_row tracker;
    struct issue_summary *summary;
    int rc = call_body(&asked, call, fields, sizeof fields / sizeof *fields, "ticket");

    if (!rc && !asked.title[strspn(asked.title, " ")])
        return call_problem(call, 422, "ticket.wrong", "A ticket has a title.");
    if (!rc)
        rc = call_summary(&summary, call);
    if (!rc)
        rc = rows_tracker_read(&tracker, call->tx, call->arena, call->view.app);
    if (rc == READ_NONE)
        return call_problem(call, 409, "ticket.tracker",
                            "App %.63s has no tracker: an admin of the app names it in the settings.", call->slug);
    return rc ? rc : add(call, &asked, tracker.kind, summary->subject[0] != '\0');
}

int post_ticket(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {
        .names = no_names, .has_app = true, .has_issue = true, .writes = true, .answer = answer_post};
    return call_run(api, request, reply, &kind);
}
