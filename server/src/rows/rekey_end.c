/*
 * rekey_end.c - the end of a job: the issues that it emptied.
 */
#include "rows/alias.h"
#include "rows/memory.h"
#include "rows/rekey_counted.h"
#include "rows/rekey_due.h"
#include "rows/view_sql.h"

/* A job with nothing left to do, locked. 1, 0 there is none, below zero a fault. */
static int find_ended(int64_t *job_out, bool *preview_out, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT job_id, preview FROM rekey_job j WHERE state = 'running' AND NOT EXISTS (SELECT"
                      " FROM generate_series(0, 63) s WHERE EXISTS (SELECT FROM rekey_queue q WHERE q.slot = s"
                      " AND q.job_id = j.job_id)) ORDER BY job_id LIMIT 1 FOR UPDATE SKIP LOCKED");
    if (rc || !pg_row_count(rows))
        return rc;
    *job_out = pg_int(rows, 0, 0);
    *preview_out = pg_bool(rows, 0, 1);
    return 1;
}

/*
 * Set the state of most of an issue's reports: its own state for reports that were there before the job, the state of
 * an emptied issue for reports that came from there.
 */
static int settle_state(struct pg_tx *tx, int64_t job, int64_t issue)
{
    return pg_query(NULL, tx,
                    "UPDATE issue i SET (" ISSUE_STATE_COLUMNS ", assignee) = (SELECT " ISSUE_STATE_COLUMNS ", assignee"
                    "  FROM issue s WHERE s.issue_id = best.issue_id) FROM (SELECT state,"
                    "  (array_agg(issue_id ORDER BY n DESC, issue_id))[1] AS issue_id FROM (SELECT o.issue_id, o.state,"
                    "   sum(f.reports) AS n FROM rekey_flow f JOIN issue o ON o.issue_id = f.from_issue_id"
                    "   WHERE f.job_id = $1 AND f.to_issue_id = $2 AND f.from_issue_id <> $2 AND o.gone_to = $2"
                    "   GROUP BY o.issue_id, o.state"
                    "  UNION ALL SELECT t.issue_id, t.state, (SELECT count(*) FROM event e WHERE e.app_id = t.app_id"
                    "   AND e.issue_id = $2) - coalesce((SELECT sum(f.reports) FROM rekey_flow f WHERE f.job_id = $1"
                    "   AND f.to_issue_id = $2 AND f.from_issue_id <> $2), 0) FROM issue t WHERE t.issue_id = $2) s"
                    "  GROUP BY state ORDER BY sum(n) DESC, state LIMIT 1) best"
                    " WHERE i.issue_id = $2 AND i.state <> best.state",
                    PG_INT8(job), PG_INT8(issue));
}

/* Counters of dropped reports move too, in the order of derive.c. */
static int move_counters(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to)
{
    int rc = rows_issue_memory_move(tx, arena, app_id, from, to);
    if (!rc)
        rc = pg_query(
            NULL, tx,
            "INSERT INTO issue_hour AS t (slot, hour, app_id, issue_id, version_id, reports, events, waited_ms,"
            " longest_ms, last_at, most_bytes, tree) SELECT $4, hour, app_id, $3, version_id, reports, events,"
            " waited_ms, longest_ms, last_at, most_bytes, tree FROM issue_hour WHERE app_id = $1"
            " AND issue_id = $2 ORDER BY hour, version_id, tree"
            " ON CONFLICT (slot, hour, app_id, issue_id, version_id, tree) DO UPDATE SET"
            " reports = t.reports + EXCLUDED.reports, events = t.events + EXCLUDED.events,"
            " waited_ms = t.waited_ms + EXCLUDED.waited_ms,"
            " longest_ms = greatest(t.longest_ms, EXCLUDED.longest_ms),"
            " most_bytes = greatest(t.most_bytes, EXCLUDED.most_bytes),"
            " last_at = greatest(t.last_at, EXCLUDED.last_at)",
            PG_INT4(app_id), PG_INT8(from), PG_INT8(to), PG_INT2(rows_slot(app_id, to)));
    if (!rc)
        rc = pg_query(NULL, tx, "DELETE FROM issue_hour WHERE app_id = $1 AND issue_id = $2", PG_INT4(app_id),
                      PG_INT8(from));
    return rc;
}

/* Let an issue without kept reports lead to another one. 1: done, 0: it has reports again, below zero a fault. */
static int leave(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "UPDATE issue o SET gone_to = $3 WHERE o.issue_id = $2 AND o.app_id = $1 AND NOT EXISTS (SELECT"
                      " FROM event e WHERE e.app_id = $1 AND e.issue_id = $2 AND e.kept)",
                      PG_INT4(app_id), PG_INT8(from), PG_INT8(to));
    if (rc || !pg_touched(rows))
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
static int forget_trees(struct pg_tx *tx, int64_t job)
{
    return pg_query(NULL, tx,
                    "DELETE FROM issue_tree t USING (SELECT DISTINCT from_issue_id FROM rekey_flow WHERE job_id = $1) f"
                    " WHERE t.issue_id = f.from_issue_id AND NOT EXISTS (SELECT FROM event e WHERE e.app_id = t.app_id"
                    " AND e.issue_id = t.issue_id AND e.tree = t.tree)",
                    PG_INT8(job));
}

/* Let the next issue that the job emptied lead to the issue that got most of its reports. 1, 0 there is none, below
 * zero a fault. */
static int leave_next(struct pg_tx *tx, struct arena *arena, int64_t job)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(
        &rows, tx,
        "SELECT i.app_id, i.issue_id, f.to_issue_id FROM (SELECT from_issue_id, to_issue_id, sum(reports)"
        "  AS n FROM rekey_flow WHERE job_id = $1 AND to_issue_id <> from_issue_id AND reports > 0"
        "  GROUP BY 1, 2) f JOIN issue i ON i.issue_id = f.from_issue_id WHERE i.gone_to IS NULL"
        " AND NOT EXISTS (SELECT FROM event e WHERE e.app_id = i.app_id AND e.issue_id = i.issue_id AND e.kept)"
        " ORDER BY i.issue_id, f.n DESC, f.to_issue_id LIMIT 1",
        PG_INT8(job));
    if (rc || !pg_row_count(rows))
        return rc;
    int32_t app_id = (int32_t)pg_int(rows, 0, 0);
    rc = rows_rekey_alone(tx, app_id);
    if (!rc)
        rc = leave(tx, arena, app_id, pg_int(rows, 0, 1), pg_int(rows, 0, 2));
    return rc ? rc : 1;
}

int rows_rekey_end(struct pg_tx *tx, struct arena *arena)
{
    int64_t job = 0;
    bool preview = false;

    int found = find_ended(&job, &preview, tx);
    if (found <= 0)
        return found;
    int rc = preview ? 0 : leave_next(tx, arena, job);
    if (rc)
        return rc;
    if (!preview)
        rc = settle_states(tx, job);
    if (!rc && !preview)
        rc = forget_trees(tx, job);
    if (!rc)
        rc =
            pg_query(NULL, tx, "UPDATE rekey_job SET state = 'done', ended_at = now() WHERE job_id = $1", PG_INT8(job));
    return rc ? rc : 1;
}
