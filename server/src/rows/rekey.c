/*
 * rekey.c - the statements behind rekey.h.
 */
#include "rows/rekey.h"

#define JOBS_MAX 256 /* in a list */

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

/* The flows of jobs $1 summed by job; of those that are previews ($2), the issues that they would empty: all reports of
 * the issue that the preview asked would leave. */
#define LEAVING "f.to_issue_id IS DISTINCT FROM f.from_issue_id"
static const char jobs_sql[] =
    "SELECT j.job_id, j.app_id, j.cause, j.detail, j.state, j.preview, j.created_at, j.ended_at,"
    " j.queued, coalesce(f.reports, 0) + coalesce(f.failed, 0), coalesce(f.moved, 0), coalesce(f.failed, 0),"
    " coalesce(f.issues_new, 0), coalesce(g.n, 0), j.exemplars FROM rekey_job j"
    " LEFT JOIN (SELECT job_id, sum(reports)::int8 AS reports, sum(failed)::int8 AS failed,"
    "  (sum(reports) FILTER (WHERE " LEAVING "))::int8 AS moved,"
    "  count(DISTINCT to_key) FILTER (WHERE to_issue_id IS NULL) AS issues_new FROM rekey_flow f"
    "  WHERE job_id = ANY ($1::bigint[]) GROUP BY job_id) f USING (job_id)"
    " LEFT JOIN (SELECT w.job_id, count(*) AS n FROM (SELECT f.job_id, f.from_issue_id, sum(f.reports + f.failed) AS n,"
    "    sum(f.reports) FILTER (WHERE " LEAVING ") AS moved"
    "   FROM rekey_flow f WHERE f.job_id = ANY ($2::bigint[]) GROUP BY 1, 2) w WHERE w.moved >= w.n"
    "  GROUP BY 1) g USING (job_id)"
    " WHERE j.job_id = ANY ($1) ORDER BY j.job_id DESC";

static int read_jobs(struct pg_rows **rows_out, struct pg_tx *tx, const struct pg_rows *found)
{
    int64_t jobs[JOBS_MAX], previews[JOBS_MAX];
    size_t count = pg_row_count(found), preview_count = 0;

    for (size_t i = 0; i < count; i++) {
        jobs[i] = pg_int(found, i, 0);
        if (pg_bool(found, i, 1))
            previews[preview_count++] = jobs[i];
    }
    return pg_query(rows_out, tx, jobs_sql, PG_INT8S(jobs, count), PG_INT8S(previews, preview_count));
}

int rows_rekey_jobs(struct pg_rows **rows_out, struct pg_tx *tx, int32_t app_id, int64_t most)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *found = NULL;
    int rc = pg_query(&found, tx,
                      "SELECT job_id, preview FROM rekey_job WHERE $1 = 0 OR app_id = $1 ORDER BY job_id DESC LIMIT $2",
                      PG_INT4(app_id), PG_INT8(most < JOBS_MAX ? most : JOBS_MAX));
    return rc ? rc : read_jobs(rows_out, tx, found);
}

int rows_rekey_job(struct pg_rows **rows_out, struct pg_tx *tx, int64_t job)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *found = NULL;
    int rc = pg_query(&found, tx, "SELECT job_id, preview FROM rekey_job WHERE job_id = $1", PG_INT8(job));
    return rc ? rc : read_jobs(rows_out, tx, found);
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
        .exemplars = pg_int(rows, row, 14),
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

int rows_symbol_arrived(struct pg_tx *tx, int32_t app_id, struct pg_bytes build_id)
{
    int rc = pg_query(NULL, tx,
                      "INSERT INTO symbol_arrival (build_id, app_id) VALUES ($1, $2) ON CONFLICT (build_id, app_id)"
                      " DO UPDATE SET arrived_at = EXCLUDED.arrived_at, horizon = NULL",
                      PG_BYTES(build_id.bytes, build_id.len), PG_INT4(app_id));
    return rc ? rc : pg_query(NULL, tx, "UPDATE symbol_clock SET arrivals = arrivals + 1");
}
