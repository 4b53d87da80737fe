/*
 * rekey_end.c - the end of a job: the issues that it emptied.
 */
#include "base/fault.h"
#include "rows/alias.h"
#include "rows/counters.h"
#include "rows/memory.h"
#include "rows/rekey_counted.h"
#include "rows/rekey_due.h"
#include "rows/standing.h"
#include "rows/view_sql.h"

#define LEFT_AT_ONCE 64 /* issues in a transaction */

/* A job with nothing left to do, locked. 1, 0 there is none, below zero a fault. */
static int find_ended(int64_t *job_out, bool *preview_out, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT job_id, preview FROM rekey_job WHERE state = 'running' ORDER BY job_id"
                      " FOR UPDATE SKIP LOCKED");
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        MIRE_SCOPED(pg_rows_free) struct pg_rows *queued = NULL;
        *job_out = pg_int(rows, i, 0);
        *preview_out = pg_bool(rows, i, 1);
        rc =
            pg_query(&queued, tx, "SELECT 1 FROM rekey_queue WHERE slot = ANY ($1::smallint[]) AND job_id = $2 LIMIT 1",
                     SLOT_PARAM, PG_INT8(*job_out));
        if (!rc && !pg_row_count(queued))
            return 1;
    }
    return rc;
}

/* Has an issue reports that are kept whole? 1, 0, or a fault. */
static int has_kept(struct pg_tx *tx, int32_t app_id, int64_t issue)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT 1 FROM event WHERE app_id = $1 AND issue_id = $2 AND kept LIMIT 1",
                      PG_INT4(app_id), PG_INT8(issue));
    return rc ? rc : pg_row_count(rows) > 0;
}

/*
 * Set the state of most of an issue's reports: its own state for reports that were there before the job, the state of
 * an emptied issue for reports that came from there. The state is read first: issue is a copied table (README.md).
 */
static int settle_state(struct pg_tx *tx, int64_t job, int64_t issue)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *best = NULL;
    int rc =
        pg_query(&best, tx,
                 "SELECT state, (array_agg(issue_id ORDER BY n DESC, issue_id))[1] FROM (SELECT o.issue_id, o.state,"
                 "   sum(f.reports) AS n FROM rekey_flow f JOIN issue o ON o.issue_id = f.from_issue_id"
                 "   WHERE f.job_id = $1 AND f.to_issue_id = $2 AND f.from_issue_id <> $2 AND o.gone_to = $2"
                 "   GROUP BY o.issue_id, o.state"
                 "  UNION ALL SELECT t.issue_id, t.state, e.n - f.n FROM issue t, (SELECT count(*) AS n FROM event"
                 "   WHERE app_id = (SELECT app_id FROM issue WHERE issue_id = $2) AND issue_id = $2) e,"
                 "   (SELECT coalesce(sum(reports), 0) AS n FROM rekey_flow WHERE job_id = $1 AND to_issue_id = $2"
                 "   AND from_issue_id <> $2) f WHERE t.issue_id = $2) s"
                 " GROUP BY state ORDER BY sum(n) DESC, state LIMIT 1",
                 PG_INT8(job), PG_INT8(issue));
    if (rc || !pg_row_count(best))
        return rc;
    return pg_query(NULL, tx,
                    "UPDATE issue i SET (" ISSUE_STATE_COLUMNS ", assignee) = (SELECT " ISSUE_STATE_COLUMNS ", assignee"
                    " FROM issue s WHERE s.issue_id = $2) WHERE i.issue_id = $1 AND i.state <> $3",
                    PG_INT8(issue), PG_INT8(pg_int(best, 0, 1)), PG_TEXT(pg_text(best, 0, 0)));
}

/* Counters of dropped reports move too, in the order of derive.c. They are read, and added like counters of new reports:
 * the other issue may have another slot. */
static int move_counters(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = rows_issue_memory_move(tx, arena, app_id, from, to);
    if (!rc)
        rc = pg_query(&rows, tx,
                      "DELETE FROM issue_hour WHERE app_id = $1 AND issue_id = $2 RETURNING hour, version_id, tree,"
                      " reports, events, waited_ms, longest_ms, last_at, most_bytes, above_bytes",
                      PG_INT4(app_id), PG_INT8(from));
    size_t count = rc ? 0 : pg_row_count(rows);
    struct hour_row *hours = arena_array(arena, count + 1, sizeof *hours);
    if (rc || !hours)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        hours[i] = (struct hour_row){.app_id = app_id,
                                     .issue_id = to,
                                     .hour_us = pg_time(rows, i, 0),
                                     .version_id = pg_int(rows, i, 1),
                                     .tree = (int32_t)pg_int(rows, i, 2),
                                     .reports = pg_int(rows, i, 3),
                                     .events = pg_real(rows, i, 4),
                                     .waited_ms = pg_real(rows, i, 5),
                                     .longest_ms = pg_int(rows, i, 6),
                                     .last_us = pg_time(rows, i, 7),
                                     .most_bytes = pg_int(rows, i, 8),
                                     .above_bytes = pg_real(rows, i, 9)};
    rc = rows_issue_hours_add(tx, arena, hours, count);
    for (size_t i = 0; i < count; i++) {
        hours[i].issue_id = from;
        hours[i].reports = -hours[i].reports;
        hours[i].events = -hours[i].events;
        hours[i].waited_ms = -hours[i].waited_ms;
        hours[i].above_bytes = -hours[i].above_bytes;
    }
    return rc ? rc : rows_standing_change(tx, arena, hours, count, MIRE_OF_ISSUES);
}

int rows_issue_leave(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to)
{
    int rc = has_kept(tx, app_id, from);
    if (rc)
        return rc < 0 ? rc : 0;
    rc = pg_query(NULL, tx, "UPDATE issue SET gone_to = $3 WHERE issue_id = $2 AND app_id = $1", PG_INT4(app_id),
                  PG_INT8(from), PG_INT8(to));
    if (rc)
        return rc;
    rc = pg_query(NULL, tx,
                  "UPDATE issue n SET first_seen = o.first_seen, first_version_id = o.first_version_id FROM issue o"
                  " WHERE n.issue_id = $2 AND o.issue_id = $1 AND o.first_seen < n.first_seen",
                  PG_INT8(from), PG_INT8(to));
    if (!rc)
        rc = rows_rekey_follow(tx, arena, app_id, from, to);
    if (!rc)
        rc = move_counters(tx, arena, app_id, from, to);
    if (!rc)
        rc = rows_shown_refresh(tx, app_id);
    return rc ? rc : 1;
}

/* Set the states of all issues that emptied issues lead to. */
static int settle_states(struct pg_tx *tx, int64_t job)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT DISTINCT f.to_issue_id FROM rekey_flow f JOIN issue o ON o.issue_id = f.from_issue_id"
                      " AND o.gone_to = f.to_issue_id WHERE f.job_id = $1 ORDER BY 1",
                      PG_INT8(job));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        rc = settle_state(tx, job, pg_int(rows, i, 0));
    return rc;
}

/* Trees that no report of an issue has any more make room. */
static int forget_trees_of(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t issue)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT DISTINCT tree FROM event WHERE app_id = $1 AND issue_id = $2", PG_INT4(app_id),
                      PG_INT8(issue));
    size_t count = rc ? 0 : pg_row_count(rows);
    int32_t *trees = arena_array(arena, count + 1, sizeof *trees);

    if (rc || !trees)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        trees[i] = (int32_t)pg_int(rows, i, 0);
    return pg_query(NULL, tx, "DELETE FROM issue_tree WHERE issue_id = $1 AND tree <> ALL ($2::integer[])",
                    PG_INT8(issue), PG_INT4S(trees, count));
}

static int forget_trees(struct pg_tx *tx, struct arena *arena, int64_t job)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT DISTINCT i.app_id, i.issue_id FROM rekey_flow f JOIN issue i ON i.issue_id ="
                      " f.from_issue_id WHERE f.job_id = $1 ORDER BY 2",
                      PG_INT8(job));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        rc = forget_trees_of(tx, arena, (int32_t)pg_int(rows, i, 0), pg_int(rows, i, 1));
    return rc;
}

/*
 * Let issues that the job emptied lead to those that got most of their reports, each time at most LEFT_AT_ONCE. 1, 0
 * there are none, below zero a fault.
 */
static int leave_some(struct pg_tx *tx, struct arena *arena, int64_t job)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int left = 0;
    int rc = pg_query(&rows, tx,
                      "SELECT DISTINCT ON (i.app_id, i.issue_id) i.app_id, i.issue_id, f.to_issue_id"
                      " FROM (SELECT from_issue_id, to_issue_id, sum(reports) AS n FROM rekey_flow WHERE job_id = $1"
                      "  AND to_issue_id <> from_issue_id AND reports > 0 GROUP BY 1, 2) f"
                      " JOIN issue i ON i.issue_id = f.from_issue_id WHERE i.gone_to IS NULL"
                      " ORDER BY i.app_id, i.issue_id, f.n DESC, f.to_issue_id",
                      PG_INT8(job));
    for (size_t i = 0; rc >= 0 && left < LEFT_AT_ONCE && i < pg_row_count(rows); i++) {
        int32_t app_id = (int32_t)pg_int(rows, i, 0);
        rc = has_kept(tx, app_id, pg_int(rows, i, 1));
        if (rc)
            continue;
        rc = rows_rekey_alone(tx, app_id);
        if (!rc)
            rc = rows_issue_leave(tx, arena, app_id, pg_int(rows, i, 1), pg_int(rows, i, 2));
        left += rc > 0;
    }
    return rc < 0 ? rc : left > 0;
}

int rows_rekey_end(struct pg_tx *tx, struct arena *arena)
{
    int64_t job = 0;
    bool preview = false;

    int found = find_ended(&job, &preview, tx);
    if (found <= 0)
        return found;
    int rc = preview ? 0 : leave_some(tx, arena, job);
    if (rc)
        return rc;
    if (!preview)
        rc = settle_states(tx, job);
    if (!rc && !preview)
        rc = forget_trees(tx, arena, job);
    if (!rc)
        rc =
            pg_query(NULL, tx, "UPDATE rekey_job SET state = 'done', ended_at = now() WHERE job_id = $1", PG_INT8(job));
    return rc ? rc : 1;
}
