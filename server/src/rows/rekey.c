/*
 * rekey.c - the statements behind rekey.h.
 */
#include "rows/rekey.h"

int rows_rekey_ask(int64_t *job_out, struct pg_tx *tx, const struct rekey_ask *ask)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "INSERT INTO rekey_job (app_id, cause, preview, detail, rules) VALUES ($1, $2, $3, $4, $5)"
                      " RETURNING job_id",
                      PG_INT4(ask->app_id), PG_TEXT(ask->cause), PG_BOOL(ask->preview),
                      PG_TEXT(ask->detail ? ask->detail : ""), PG_TEXT(ask->rules));
    if (!rc)
        *job_out = pg_int(rows, 0, 0);
    return rc;
}

/* Issues that a preview would empty: as many reports would leave as they have. */
#define JOBS                                                                                                  \
    "SELECT j.job_id, j.app_id, j.cause, j.detail, j.state, j.preview, j.created_at, j.ended_at,"             \
    " j.queued, coalesce(f.reports, 0) + coalesce(f.failed, 0), coalesce(f.moved, 0), coalesce(f.failed, 0)," \
    " coalesce(f.issues_new, 0), CASE WHEN j.preview THEN (SELECT count(*) FROM (SELECT from_issue_id,"       \
    "  sum(reports) AS moved FROM rekey_flow w WHERE w.job_id = j.job_id"                                     \
    "  AND w.to_issue_id IS DISTINCT FROM w.from_issue_id GROUP BY 1) w"                                      \
    "  WHERE w.moved >= (SELECT count(*) FROM event e JOIN issue i ON i.app_id = e.app_id"                    \
    "   AND i.issue_id = e.issue_id WHERE i.issue_id = w.from_issue_id AND e.kept)) ELSE 0 END"               \
    " FROM rekey_job j LEFT JOIN LATERAL (SELECT sum(reports)::int8 AS reports, sum(failed)::int8 AS failed," \
    "  sum(reports) FILTER (WHERE to_issue_id IS DISTINCT FROM from_issue_id)::int8 AS moved,"                \
    "  count(DISTINCT to_key) FILTER (WHERE to_issue_id IS NULL) AS issues_new FROM rekey_flow f"             \
    "  WHERE f.job_id = j.job_id) f ON true"

int rows_rekey_jobs(struct pg_rows **rows_out, struct pg_tx *tx, int32_t app_id, int64_t most)
{
    return pg_query(rows_out, tx, JOBS " WHERE $1 = 0 OR j.app_id = $1 ORDER BY j.job_id DESC LIMIT $2",
                    PG_INT4(app_id), PG_INT8(most));
}

int rows_rekey_job(struct pg_rows **rows_out, struct pg_tx *tx, int64_t job)
{
    return pg_query(rows_out, tx, JOBS " WHERE j.job_id = $1", PG_INT8(job));
}

void rows_rekey_read(struct rekey_job *out, const struct pg_rows *rows, size_t row)
{
    *out = (struct rekey_job){
        .job = pg_int(rows, row, 0),
        .app_id = (int32_t)pg_int(rows, row, 1),
        .cause = pg_text(rows, row, 2),
        .detail = pg_text(rows, row, 3),
        .state = pg_text(rows, row, 4),
        .preview = pg_bool(rows, row, 5),
        .created_us = pg_time(rows, row, 6),
        .ended_us = pg_time(rows, row, 7),
        .queued = pg_int(rows, row, 8),
        .done = pg_int(rows, row, 9),
        .moved = pg_int(rows, row, 10),
        .failed = pg_int(rows, row, 11),
        .issues_new = pg_int(rows, row, 12),
        .issues_gone = pg_int(rows, row, 13),
    };
}

int rows_rekey_flows(struct pg_rows **rows_out, struct pg_tx *tx, int64_t job, int64_t most)
{
    return pg_query(rows_out, tx,
                    "SELECT f.from_issue_id, coalesce(f.to_issue_id, 0), i.caller1, min(f.caller1), min(f.caller2),"
                    " min(f.category), min(f.reason), sum(f.reports)::int8 AS n FROM rekey_flow f"
                    " JOIN issue i ON i.issue_id = f.from_issue_id"
                    " WHERE f.job_id = $1 AND f.to_issue_id IS DISTINCT FROM f.from_issue_id AND f.reports > 0"
                    " GROUP BY f.from_issue_id, f.to_issue_id, i.caller1, f.to_key"
                    " ORDER BY n DESC, 1, f.to_key LIMIT $2",
                    PG_INT8(job), PG_INT8(most));
}

void rows_rekey_read_flow(struct rekey_flow *out, const struct pg_rows *rows, size_t row)
{
    *out = (struct rekey_flow){
        .from_issue = pg_int(rows, row, 0),
        .to_issue = pg_int(rows, row, 1),
        .from_caller1 = pg_text(rows, row, 2),
        .caller1 = pg_text(rows, row, 3),
        .caller2 = pg_text(rows, row, 4),
        .category = pg_text(rows, row, 5),
        .reason = pg_text(rows, row, 6),
        .reports = pg_int(rows, row, 7),
    };
}

int rows_symbol_arrived(struct pg_tx *tx, struct pg_bytes build_id)
{
    int rc = pg_query(NULL, tx,
                      "INSERT INTO symbol_arrival (build_id) VALUES ($1) ON CONFLICT (build_id)"
                      " DO UPDATE SET arrived_at = EXCLUDED.arrived_at, horizon = NULL",
                      PG_BYTES(build_id.bytes, build_id.len));
    return rc ? rc : pg_query(NULL, tx, "UPDATE symbol_clock SET arrivals = arrivals + 1");
}
