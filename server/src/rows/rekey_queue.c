/*
 * rekey_queue.c - queueing.
 */
#include "rows/rekey_due.h"
#include "rows/keys.h"

#define QUEUED_AT_ONCE 2000  /* reports of a job */
#define NEWEST         50000 /* reports of an app that a preview is of */
#define EXEMPLARS      2000  /* of them that are derived */
#define FILES_AT_ONCE  16

/* The app's job of debug files that is running, locked; it is made if there is none. */
static int symbols_job(int64_t *job_out, struct pg_tx *tx, int32_t app_id)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(NULL, tx,
                      "INSERT INTO rekey_job (app_id, cause, preview, state) VALUES ($1, 'symbols', false, 'running')"
                      " ON CONFLICT (app_id) WHERE cause = 'symbols' AND state = 'running' DO NOTHING",
                      PG_INT4(app_id));
    if (!rc)
        rc = pg_query(&rows, tx,
                      "SELECT job_id FROM rekey_job WHERE app_id = $1 AND cause = 'symbols' AND state = 'running'"
                      " FOR UPDATE",
                      PG_INT4(app_id));
    if (rc)
        return rc;
    if (!pg_row_count(rows))
        return MIRE_FAULT_RACED; /* it ended meanwhile */
    *job_out = pg_int(rows, 0, 0);
    return 0;
}

/*
 * Reports of an app that lack one file: reports that had nothing of it; reports that had names or lines, unless the file
 * has no more than these.
 */
static int queue_file(struct pg_tx *tx, int64_t job, int32_t app_id, struct pg_bytes build_id)
{
    return pg_query(NULL, tx,
                    "WITH queued AS (INSERT INTO rekey_queue (slot, job_id, day, report_id)"
                    "  SELECT slot, $1, day, report_id FROM missing_debug_file WHERE build_id = $2 AND app_id = $3"
                    "   AND (had = 'none'"
                    "   OR NOT EXISTS (SELECT FROM symbol_file WHERE build_id = $2 AND app_id IN ($3, 0))"
                    "   OR EXISTS (SELECT FROM symbol_file WHERE build_id = $2 AND app_id IN ($3, 0) AND kind = 'debug'"
                    "    AND NOT (had = 'lines' AND depth = 'lines')))"
                    "  ON CONFLICT DO NOTHING RETURNING 1)"
                    " UPDATE rekey_job SET queued = queued + (SELECT count(*) FROM queued), detail = left(detail"
                    "  || CASE WHEN detail = '' THEN '' ELSE ', ' END || coalesce((SELECT name FROM image"
                    "  WHERE build_id = $2), (SELECT name FROM symbol_file WHERE build_id = $2 AND app_id IN ($3, 0)"
                    "   ORDER BY kind LIMIT 1),"
                    "  encode($2, 'hex')), 200) WHERE job_id = $1",
                    PG_INT8(job), PG_BYTES(build_id.bytes, build_id.len), PG_INT4(app_id));
}

/* The reports of the files' apps that lack one of them. */
static int queue_missed(struct pg_tx *tx, const struct pg_bytes *ids, const int32_t *apps, size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT DISTINCT m.app_id, m.build_id FROM missing_debug_file m"
                      " JOIN unnest($1::bytea[], $2::integer[]) come (build_id, app_id) ON m.build_id = come.build_id"
                      " AND come.app_id IN (m.app_id, 0) ORDER BY 1, 2",
                      PG_BYTESS(ids, count), PG_INT4S(apps, count));

    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        int32_t app_id = (int32_t)pg_int(rows, i, 0);
        int64_t job = 0;
        rc = symbols_job(&job, tx, app_id);
        if (!rc)
            rc = queue_file(tx, job, app_id, pg_bytes(rows, i, 1));
    }
    return rc;
}

/*
 * Files whose time has come, out of symbol_arrival; of split files the programs that want them; of a Breakpad file that
 * knows the first 16 bytes of a build id only, the modules whose ids begin so, or are shorter, with zeros behind them.
 * 1, 0 there are none, below zero a fault.
 */
static int queue_files(struct pg_tx *tx, struct arena *arena)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(
        &rows, tx,
        "WITH come AS (DELETE FROM symbol_arrival WHERE (build_id, app_id) IN (SELECT build_id, app_id"
        "  FROM symbol_arrival WHERE horizon <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
        "  ORDER BY build_id, app_id LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING build_id, app_id)"
        " SELECT m.build_id, m.app_id FROM (SELECT build_id, app_id FROM come UNION SELECT w.build_id, come.app_id"
        "  FROM come JOIN split_wanted w ON w.split_id = come.build_id"
        "  UNION SELECT i.build_id, come.app_id FROM come JOIN image i"
        "  ON octet_length(come.build_id) = 16 AND i.build_id > come.build_id"
        "  AND i.build_id < come.build_id || decode(repeat('ff', 49), 'hex')"
        "  UNION SELECT i.build_id, come.app_id FROM come CROSS JOIN generate_series(1, 15) n JOIN image i"
        "  ON i.build_id = substr(come.build_id, 1, n) WHERE octet_length(come.build_id) = 16"
        "  AND substr(come.build_id, n + 1) = decode(repeat('00', 16 - n), 'hex')) m",
        PG_INT8(FILES_AT_ONCE));
    size_t count = rc ? 0 : pg_row_count(rows);
    struct pg_bytes *ids = count ? arena_array(arena, count, sizeof *ids) : NULL;
    int32_t *apps = count ? arena_array(arena, count, sizeof *apps) : NULL;
    if (rc || !count)
        return rc;
    if (!ids || !apps)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        ids[i] = pg_bytes(rows, i, 0);
        apps[i] = (int32_t)pg_int(rows, i, 1);
    }
    rc = queue_missed(tx, ids, apps, count);
    return rc ? rc : 1;
}

/*
 * Mark new files and jobs with this moment: a transaction that began earlier may not have seen the file, or
 * may have used the older rules.
 */
#define NOTE(table, key, which)                                                                       \
    "UPDATE " table " SET horizon = pg_snapshot_xmax(pg_current_snapshot())::text::bigint WHERE " key \
    " IN (SELECT " key " FROM " table " WHERE " which "horizon IS NULL ORDER BY " key " FOR UPDATE SKIP LOCKED)"

static int note(struct pg_tx *tx)
{
    static const char *const sql[] = {NOTE("symbol_arrival", "build_id", ""),
                                      NOTE("rekey_job", "job_id", "state = 'queueing' AND ")};
    bool any = false;
    for (size_t i = 0; i < sizeof sql / sizeof *sql && !any; i++) {
        MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
        int rc = pg_query(&rows, tx, sql[i]);
        if (rc)
            return rc;
        any = pg_touched(rows) > 0;
    }
    return any;
}

/*
 * Some of the newest reports, drawn by hash: one of each issue first, those with most reports before others, then a second
 * one, and so on. Those of an issue share the reports that it has among the newest.
 */
static int find_exemplars(struct pg_rows **rows_out, struct pg_tx *tx, int32_t app_id)
{
    return pg_query(
        rows_out, tx,
        "WITH newest AS MATERIALIZED (SELECT slot, day, report_id, issue_id FROM event WHERE app_id = $1"
        "  AND kept ORDER BY occurred_at DESC LIMIT $2),"
        " ranked AS (SELECT *, row_number() OVER (PARTITION BY issue_id ORDER BY"
        "   uuid_hash_extended(report_id, 0)) AS rank, count(*) OVER (PARTITION BY issue_id) AS n FROM newest),"
        " taken AS (SELECT * FROM ranked ORDER BY rank, n DESC, issue_id LIMIT $3)"
        " SELECT slot, day, report_id, (n / c + (rank <= n % c)::integer)::integer FROM"
        "  (SELECT *, count(*) OVER (PARTITION BY issue_id) AS c FROM taken) t ORDER BY 1, 2, 3",
        PG_INT4(app_id), PG_INT8(NEWEST), PG_INT8(EXEMPLARS));
}

/* The exemplars of a preview, all at once. 1 or a fault. */
static int queue_exemplars(struct pg_tx *tx, struct arena *arena, int64_t job, int32_t app_id)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = find_exemplars(&rows, tx, app_id);
    size_t count = rc ? 0 : pg_row_count(rows);
    struct key_columns keys;
    int32_t *stands = arena_array(arena, count + 1, sizeof *stands);
    int64_t sum = 0;

    if (rc || !keys_make(&keys, arena, count) || !stands)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        keys.slots[i] = (int16_t)pg_int(rows, i, 0);
        keys.days[i] = pg_day(rows, i, 1);
        keys.ids[i] = pg_uuid(rows, i, 2);
        stands[i] = (int32_t)pg_int(rows, i, 3);
        sum += stands[i];
    }
    rc =
        pg_query(NULL, tx,
                 "INSERT INTO rekey_queue (slot, job_id, day, report_id, stands) SELECT k.slot, $5, k.day, k.report_id,"
                 " k.stands FROM unnest($1::smallint[], $2::date[], $3::uuid[], $4::integer[])"
                 " k (slot, day, report_id, stands) ON CONFLICT DO NOTHING",
                 KEY_PARAMS(keys, count), PG_INT4S(stands, count), PG_INT8(job));
    if (!rc)
        rc = pg_query(NULL, tx, "UPDATE rekey_job SET state = 'running', queued = $2, exemplars = $3 WHERE job_id = $1",
                      PG_INT8(job), PG_INT8(sum), PG_INT8((int64_t)count));
    return rc ? rc : 1;
}

/* More reports of a job, newest first. 1, 0 no job wants any, below zero a fault. A preview changes nothing, so it waits
 * for no older transaction, and for no other job. */
static int queue_job(struct pg_tx *tx, struct arena *arena)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *last = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT job_id, app_id, preview FROM rekey_job WHERE state = 'queueing'"
                      " AND (preview OR horizon <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint)"
                      " ORDER BY preview DESC, job_id LIMIT 1 FOR UPDATE SKIP LOCKED");
    if (rc || !pg_row_count(rows))
        return rc;
    int64_t job = pg_int(rows, 0, 0);
    if (pg_bool(rows, 0, 2))
        return queue_exemplars(tx, arena, job, (int32_t)pg_int(rows, 0, 1));
    rc = pg_query(
        &last, tx,
        "WITH more AS (SELECT e.slot, e.day, e.report_id, e.occurred_at FROM event e, rekey_job j"
        "  WHERE j.job_id = $1 AND e.app_id = $2 AND e.kept AND e.occurred_at <= coalesce(j.next_at, 'infinity')"
        "  AND (e.occurred_at, e.report_id) < (coalesce(j.next_at, 'infinity'), coalesce(j.next_id,"
        "   'ffffffff-ffff-ffff-ffff-ffffffffffff')) ORDER BY e.occurred_at DESC, e.report_id DESC LIMIT $3),"
        " queued AS (INSERT INTO rekey_queue (slot, job_id, day, report_id)"
        "  SELECT slot, $1, day, report_id FROM more ON CONFLICT DO NOTHING RETURNING 1)"
        " SELECT occurred_at, report_id, (SELECT count(*) FROM queued) FROM more"
        " ORDER BY occurred_at, report_id LIMIT 1",
        PG_INT8(job), PG_INT4((int32_t)pg_int(rows, 0, 1)), PG_INT8(QUEUED_AT_ONCE));
    if (rc)
        return rc;
    if (!pg_row_count(last))
        rc = pg_query(NULL, tx, "UPDATE rekey_job SET state = 'running' WHERE job_id = $1", PG_INT8(job));
    else {
        struct uuid id = pg_uuid(last, 0, 1);
        rc = pg_query(NULL, tx,
                      "UPDATE rekey_job SET next_at = $2, next_id = $3, queued = queued + $4 WHERE job_id = $1",
                      PG_INT8(job), PG_TIME(pg_time(last, 0, 0)), PG_UUID(&id), PG_INT8(pg_int(last, 0, 2)));
    }
    return rc ? rc : 1;
}

int rows_rekey_queue(struct pg_tx *tx, struct arena *arena)
{
    int rc = note(tx);
    if (!rc)
        rc = queue_files(tx, arena);
    return rc ? rc : queue_job(tx, arena);
}
