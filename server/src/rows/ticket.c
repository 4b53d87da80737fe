/* ticket.c - the statements behind ticket.h. */
#include "rows/ticket.h"
#include "base/clock.h"
#include "rows/rows.h"

/* clang-format off */
#define TRACKER "r.kind, r.address, r.project, r.token, r.secret, r.made_by, r.closed_resolves, r.reopened_opens"
#define TICKET  "t.ticket_id, t.attempt, t.app_id, t.issue_id, t.kind, t.title, t.body, t.made_by, t.made_at, t.tries," \
                " t.state, t.remote_id, t.name, t.url, t.fault"
#define TICKET_COLUMNS 15

static const char write_sql[] =
    "INSERT INTO tracker (app_id, kind, address, project, token, secret, closed_resolves, reopened_opens, made_by)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (app_id) DO UPDATE SET kind = excluded.kind,"
    " address = excluded.address, project = excluded.project, token = excluded.token, secret = excluded.secret,"
    " closed_resolves = excluded.closed_resolves, reopened_opens = excluded.reopened_opens, made_by = excluded.made_by,"
    " made_at = excluded.made_at";
static const char give_up_sql[] =
    "UPDATE ticket SET state = 'failed', fault = 'the tracker was removed' WHERE app_id = $1 AND state = 'waiting' AND kind <> $2";
static const char due_sql[] =
    "UPDATE ticket SET due_at = now() WHERE app_id = $1 AND state = 'waiting' AND fault <> '' AND due_at > now() + interval '1 minute'";
static const char add_sql[] =
    "INSERT INTO ticket (ticket_id, app_id, issue_id, kind, title, body, made_by) VALUES ($1, $2, $3, $4, $5, $6, $7)"
    " ON CONFLICT (app_id, issue_id) WHERE state <> 'failed' DO NOTHING";
static const char of_issue_sql[] =
    "SELECT " TICKET " FROM ticket t WHERE t.app_id = $1 AND (t.issue_id = $2 OR t.issue_id IN"
    " (SELECT issue_id FROM issue_shown WHERE shown_id = $2)) ORDER BY t.state <> 'failed' DESC, t.ticket_id DESC LIMIT 1";
static const char next_sql[] =
    "SELECT " TICKET ", " TRACKER " FROM ticket t JOIN tracker r USING (app_id) WHERE t.state = 'waiting' AND t.due_at <= now()"
    " ORDER BY t.due_at, t.ticket_id LIMIT 1 FOR UPDATE OF t SKIP LOCKED";
static const char begin_sql[] =
    "UPDATE ticket SET attempt = $2, tries = tries + 1, due_at = now() + make_interval(secs => $3) WHERE ticket_id = $1"
    " AND state = 'waiting' AND due_at <= now()";
static const char made_sql[] =
    "UPDATE ticket SET state = 'open', remote_id = $3, name = $4, url = $5, fault = '' WHERE ticket_id = $1 AND attempt = $2"
    " AND state = 'waiting'";
static const char failed_sql[] =
    "UPDATE ticket SET fault = $3, due_at = now() + make_interval(secs => $4), state = CASE WHEN $4 > 0 THEN state ELSE 'failed' END"
    " WHERE ticket_id = $1 AND attempt = $2 AND state = 'waiting'";
static const char heard_sql[] =
    "UPDATE ticket t SET state = $3, changed_at = $4 WHERE app_id = $1 AND remote_id = $2 AND kind = $5 AND changed_at <= $4"
    " AND state <> $3 AND state IN ('open', 'closed') RETURNING " TICKET;
/* clang-format on */

static const char *keep(bool *failed, struct arena *arena, const struct pg_rows *rows, int column)
{
    const char *text = arena_strdup(arena, pg_text(rows, 0, column));

    *failed |= !text;
    return text;
}

static int take_tracker(struct tracker_row *out, struct arena *arena, const struct pg_rows *rows, int at)
{
    bool failed = false;

    *out = (struct tracker_row){.kind = keep(&failed, arena, rows, at),
                                .address = keep(&failed, arena, rows, at + 1),
                                .project = keep(&failed, arena, rows, at + 2),
                                .token = keep(&failed, arena, rows, at + 3),
                                .secret = keep(&failed, arena, rows, at + 4),
                                .made_by = keep(&failed, arena, rows, at + 5),
                                .closed_resolves = pg_bool(rows, 0, at + 6),
                                .reopened_opens = pg_bool(rows, 0, at + 7)};
    return failed ? MIRE_FAULT_MEMORY : 0;
}

static int take_ticket(struct ticket_row *out, struct arena *arena, const struct pg_rows *rows)
{
    bool failed = false;

    *out = (struct ticket_row){.id = pg_uuid(rows, 0, 0),
                               .app = (int32_t)pg_int(rows, 0, 2),
                               .issue = pg_int(rows, 0, 3),
                               .kind = keep(&failed, arena, rows, 4),
                               .title = keep(&failed, arena, rows, 5),
                               .body = keep(&failed, arena, rows, 6),
                               .made_by = keep(&failed, arena, rows, 7),
                               .made_us = pg_time(rows, 0, 8),
                               .tries = (int32_t)pg_int(rows, 0, 9),
                               .state = keep(&failed, arena, rows, 10),
                               .remote = keep(&failed, arena, rows, 11),
                               .name = keep(&failed, arena, rows, 12),
                               .url = keep(&failed, arena, rows, 13),
                               .fault = keep(&failed, arena, rows, 14)};
    if (!pg_is_null(rows, 0, 1))
        out->attempt = pg_uuid(rows, 0, 1);
    return failed ? MIRE_FAULT_MEMORY : 0;
}

int rows_tracker_read(struct tracker_row *out, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT " TRACKER " FROM tracker r WHERE app_id = $1", PG_INT4(app));

    if (rc)
        return rc;
    return pg_row_count(rows) ? take_tracker(out, arena, rows, 0) : READ_NONE;
}

int rows_tracker_write(struct pg_tx *tx, int32_t app, const struct tracker_row *tracker)
{
    int rc = pg_query(NULL, tx, give_up_sql, PG_INT4(app), PG_TEXT(tracker->kind));

    if (!rc)
        rc = pg_query(NULL, tx, due_sql, PG_INT4(app));
    return rc ? rc
              : pg_query(NULL, tx, write_sql, PG_INT4(app), PG_TEXT(tracker->kind), PG_TEXT(tracker->address),
                         PG_TEXT(tracker->project), PG_TEXT(tracker->token), PG_TEXT(tracker->secret),
                         PG_BOOL(tracker->closed_resolves), PG_BOOL(tracker->reopened_opens),
                         PG_TEXT(tracker->made_by));
}

int rows_tracker_remove(struct pg_tx *tx, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "DELETE FROM tracker WHERE app_id = $1", PG_INT4(app));

    if (rc || !pg_touched(rows))
        return rc ? rc : READ_NONE;
    return pg_query(NULL, tx, give_up_sql, PG_INT4(app), PG_TEXT(""));
}

int rows_ticket_add(struct pg_tx *tx, const struct ticket_row *ticket)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, add_sql, PG_UUID(&ticket->id), PG_INT4(ticket->app), PG_INT8(ticket->issue),
                      PG_TEXT(ticket->kind), PG_TEXT(ticket->title), PG_TEXT(ticket->body), PG_TEXT(ticket->made_by));

    if (rc)
        return rc;
    return pg_touched(rows) ? TICKET_ADDED : TICKET_THERE;
}

int rows_ticket_read(struct ticket_row *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t issue)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, of_issue_sql, PG_INT4(app), PG_INT8(issue));

    if (rc)
        return rc;
    return pg_row_count(rows) ? take_ticket(out, arena, rows) : READ_NONE;
}

int rows_ticket_begin(struct ticket_row *out, struct tracker_row *tracker, struct pg_tx *tx, struct arena *arena,
                      int lease_s)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *begun = NULL;
    struct uuid attempt;
    int rc = pg_query(&rows, tx, next_sql);

    if (rc || !pg_row_count(rows))
        return rc;
    uuid_make(&attempt, clock_wall_us());
    rc = take_ticket(out, arena, rows);
    if (!rc)
        rc = take_tracker(tracker, arena, rows, TICKET_COLUMNS);
    if (!rc)
        rc = pg_query(&begun, tx, begin_sql, PG_UUID(&out->id), PG_UUID(&attempt), PG_REAL(lease_s));
    if (rc)
        return rc;
    out->attempt = attempt;
    out->tries++;
    return pg_touched(begun) ? 1 : MIRE_FAULT_RACED;
}

int rows_ticket_made(struct pg_tx *tx, const struct ticket_row *ticket)
{
    return pg_query(NULL, tx, made_sql, PG_UUID(&ticket->id), PG_UUID(&ticket->attempt), PG_TEXT(ticket->remote),
                    PG_TEXT(ticket->name), PG_TEXT(ticket->url));
}

int rows_ticket_failed(struct pg_tx *tx, const struct ticket_row *ticket, int64_t wait_s)
{
    return pg_query(NULL, tx, failed_sql, PG_UUID(&ticket->id), PG_UUID(&ticket->attempt), PG_TEXT(ticket->fault),
                    PG_REAL((double)wait_s));
}

int rows_ticket_heard(struct ticket_row *out, struct pg_tx *tx, struct arena *arena, int32_t app, const char *kind,
                      const char *remote, bool closed, int64_t at_us)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, heard_sql, PG_INT4(app), PG_TEXT(remote), PG_TEXT(closed ? "closed" : "open"),
                      PG_TIME(at_us), PG_TEXT(kind));

    if (rc)
        return rc;
    return pg_row_count(rows) ? take_ticket(out, arena, rows) : READ_NONE;
}
