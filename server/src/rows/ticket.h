/*
 * ticket.h - the tracker of an app, and the tickets of its issues: waiting, made, given up.
 */
#ifndef MIRE_ROWS_TICKET_H
#define MIRE_ROWS_TICKET_H

#include "base/arena.h"
#include "base/id.h"
#include "pg/pg.h"

struct tracker_row {
    const char *kind; /* github, gitlab, jira, linear */
    const char *address, *project, *made_by;
    const char *token, *secret; /* sealed, as they are stored (base/vault.h) */
    bool closed_resolves, reopened_opens;
};

/* 0, READ_NONE (the app has no tracker) or a fault. */
int rows_tracker_read(struct tracker_row *out, struct pg_tx *tx, struct arena *arena, int32_t app);

/* Set the tracker of an app. Tickets that wait for one of another kind are given up; others whose last attempt failed
 * are due. 0 or a fault. */
int rows_tracker_write(struct pg_tx *tx, int32_t app, const struct tracker_row *tracker);

/* Remove it; tickets that wait are given up. 0, READ_NONE or a fault. */
int rows_tracker_remove(struct pg_tx *tx, int32_t app);

struct ticket_row {
    struct uuid id, attempt;
    int32_t app;
    int64_t issue;
    const char *kind, *title, *body, *made_by;
    int64_t made_us;
    int32_t tries;     /* attempts begun, with this one */
    const char *state; /* waiting, failed, open, closed */
    const char *remote, *name, *url, *fault;
};

enum ticket_added { TICKET_ADDED = 0, TICKET_THERE = 1 };

/* Write a ticket to be made. TICKET_ADDED, TICKET_THERE (the issue has one that was not given up), or a fault. */
int rows_ticket_add(struct pg_tx *tx, const struct ticket_row *ticket);

/* The newest ticket of an issue, or of one shown as it. 0, READ_NONE or a fault. */
int rows_ticket_read(struct ticket_row *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t issue);

/*
 * Begin an attempt at the ticket that has been due for longest: no other begins within lease_s, unless this one is
 * marked. The caller commits before the tracker is called. 1 with the ticket and its tracker, 0: none is due, below
 * zero a fault.
 */
int rows_ticket_begin(struct ticket_row *out, struct tracker_row *tracker, struct pg_tx *tx, struct arena *arena,
                      int lease_s);

/* The attempt made or found the ticket: remote, name and url. Nothing happens if another attempt has begun. 0 or a
 * fault. */
int rows_ticket_made(struct pg_tx *tx, const struct ticket_row *ticket);

/* The attempt failed, because of ticket->fault; the next one is in wait_s seconds, or never if that is 0. The same. */
int rows_ticket_failed(struct pg_tx *tx, const struct ticket_row *ticket, int64_t wait_s);

/*
 * The tracker reports that a ticket was closed or is open, by an event of at_us. READ_NONE: it is no ticket of the app,
 * is in that state, or a newer event came before. 0 with the ticket, or a fault.
 */
int rows_ticket_heard(struct ticket_row *out, struct pg_tx *tx, struct arena *arena, int32_t app, const char *kind,
                      const char *remote, bool closed, int64_t at_us);

#endif
