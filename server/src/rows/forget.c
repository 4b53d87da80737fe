/* forget.c - the statements behind forget.h. */
#include "rows/forget.h"

#include "base/fault.h"
#include "rows/keys.h"

#include <string.h>

#define BEGUN_MAX 64 /* jobs at once */

/* Reports of an app and a time: of an installation, by the rows derived of them; of a key, or one, by themselves. */
#define FOUND                                                                                                     \
    "SELECT f.slot, f.day, f.report_id FROM ("                                                                    \
    " SELECT slot, day, report_id, received_at FROM event WHERE app_id = $1 AND install = $2"                     \
    " UNION ALL SELECT slot, day, report_id, received_at FROM session WHERE app_id = $1 AND install = $2"         \
    " UNION ALL SELECT slot, day, report_id, received_at FROM memory_baseline WHERE app_id = $1 AND install = $2" \
    " UNION ALL SELECT slot, day, report_id, received_at FROM report WHERE app_id = $1 AND key_id = $3"           \
    " UNION ALL SELECT slot, day, report_id, received_at FROM report WHERE app_id = $1 AND report_id = $4"        \
    ") f WHERE f.received_at >= $5 AND f.received_at < $6"

#define ASKED(ask)                                                                                               \
    PG_INT4((ask)->app_id), (ask)->install.len ? PG_BYTES((ask)->install.bytes, (ask)->install.len) : PG_NULL(), \
        (ask)->key ? PG_INT8((ask)->key) : PG_NULL(), (ask)->report ? PG_UUID((ask)->report) : PG_NULL(),        \
        PG_TIME((ask)->since_us), PG_TIME((ask)->until_us)

/* Each table is summed up for itself: a report has a row in one of them. */
#define WAIT     " (SELECT count(*) AS n FROM inbox WHERE app_id = $1) i"
#define IN_TIME  " received_at >= $3 AND received_at < $4"
#define EVENTS   "coalesce(sum(e.weight * (1 + e.suppressed)), 0) AS events"
#define SESSIONS "coalesce(sum(s.weight), 0) AS sessions"
static const char count_of_install[] =
    "SELECT e.n + s.n + b.n, e.events, s.sessions, i.n FROM"
    " (SELECT count(*) AS n, " EVENTS " FROM event e WHERE app_id = $1 AND install = $2 AND" IN_TIME ") e,"
    " (SELECT count(*) AS n, " SESSIONS " FROM session s WHERE app_id = $1 AND install = $2 AND" IN_TIME ") s,"
    " (SELECT count(*) AS n FROM memory_baseline WHERE app_id = $1 AND install = $2 AND" IN_TIME ") b," WAIT;
#define COUNT_OF(which)                                                                       \
    "SELECT f.n, f.events, f.sessions, i.n FROM (SELECT count(*) AS n, " EVENTS ", " SESSIONS \
    " FROM report r LEFT JOIN event e USING (slot, day, report_id)"                           \
    " LEFT JOIN session s USING (slot, day, report_id) WHERE r.app_id = $1 AND " which        \
    " AND r.received_at >= $3 AND r.received_at < $4) f," WAIT

int rows_forget_count(struct forget_found *out, struct pg_tx *tx, const struct forget_ask *ask)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    const char *sql = ask->install.len ? count_of_install
                      : ask->key       ? COUNT_OF("r.key_id = $2")
                                       : COUNT_OF("r.report_id = $2");
    struct pg_param of = ask->install.len ? PG_BYTES(ask->install.bytes, ask->install.len)
                         : ask->key       ? PG_INT8(ask->key)
                                          : PG_UUID(ask->report);
    int rc = pg_query(&rows, tx, sql, PG_INT4(ask->app_id), of, PG_TIME(ask->since_us), PG_TIME(ask->until_us));
    if (!rc)
        *out = (struct forget_found){pg_int(rows, 0, 0), pg_real(rows, 0, 1), pg_real(rows, 0, 2), pg_int(rows, 0, 3)};
    return rc;
}

int rows_forget_ask(int64_t *job_out, struct pg_tx *tx, const struct forget_ask *ask)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "INSERT INTO forget_job (app_id, install, key_id, report_id, since, until, author, reason)"
                      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING job_id",
                      ASKED(ask), PG_TEXT(ask->author), PG_TEXT(ask->reason));
    if (!rc)
        *job_out = pg_int(rows, 0, 0);
    return rc;
}

int rows_forget_jobs(struct pg_rows **rows_out, struct pg_tx *tx, int32_t app_id, int64_t most)
{
    return pg_query(rows_out, tx,
                    "SELECT job_id, CASE WHEN install IS NOT NULL THEN 'install' WHEN key_id IS NOT NULL THEN 'key'"
                    " ELSE 'report' END, coalesce(encode(install, 'hex'), key_id::text, report_id::text), author,"
                    " reason, state, asked_at, ended_at, queued, done FROM forget_job WHERE app_id = $1"
                    " ORDER BY job_id DESC LIMIT $2",
                    PG_INT4(app_id), PG_INT8(most));
}

void rows_forget_read(struct forget_job *out, const struct pg_rows *rows, size_t row)
{
    *out = (struct forget_job){
        .job = pg_int(rows, row, 0),
        .what = pg_text(rows, row, 1),
        .of = pg_text(rows, row, 2),
        .author = pg_text(rows, row, 3),
        .reason = pg_text(rows, row, 4),
        .state = pg_text(rows, row, 5),
        .asked_us = pg_time(rows, row, 6),
        .ended_us = pg_time(rows, row, 7),
        .queued = pg_int(rows, row, 8),
        .done = pg_int(rows, row, 9),
    };
}

/* --- queueing --- */

/* Put what is found, and is not queued yet, into the queue. */
static int queue_found(int64_t *count_out, struct pg_tx *tx, int64_t job, const struct forget_ask *ask)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "INSERT INTO forget_queue (slot, job_id, day, report_id) SELECT slot, $7, day, report_id"
                      " FROM (" FOUND ") f ON CONFLICT DO NOTHING",
                      ASKED(ask), PG_INT8(job));
    *count_out = rc ? 0 : pg_touched(rows);
    return rc;
}

/* The installation of a report is known once it was worked on. */
static int waits_for_inbox(bool *out, struct pg_tx *tx, int64_t job)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT EXISTS (SELECT 1 FROM inbox i JOIN forget_job j USING (app_id) WHERE j.job_id = $1"
                      " AND j.install IS NOT NULL AND i.queued_at <= j.asked_at)",
                      PG_INT8(job));
    *out = !rc && pg_bool(rows, 0, 0);
    return rc;
}

/* Jobs that have reports in the queue. */
static int jobs_begun(int64_t *out, size_t *count, size_t cap, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT DISTINCT job_id FROM forget_queue ORDER BY job_id LIMIT $1", PG_INT8(cap));

    *count = rc ? 0 : pg_row_count(rows);
    for (size_t i = 0; i < *count; i++)
        out[i] = pg_int(rows, i, 0);
    return rc;
}

int rows_forget_queue(struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int64_t count, begun[BEGUN_MAX];
    size_t begun_count;
    bool waits;
    int rc = jobs_begun(begun, &begun_count, BEGUN_MAX, tx);
    if (rc || begun_count == BEGUN_MAX)
        return rc;
    rc = pg_query(&rows, tx,
                  "SELECT job_id, app_id, install, coalesce(key_id, 0), report_id, since,"
                  " least(until, asked_at + interval '1 us') FROM forget_job j"
                  " WHERE state <> 'done' AND job_id <> ALL ($1::bigint[])"
                  " ORDER BY job_id LIMIT 1 FOR UPDATE SKIP LOCKED",
                  PG_INT8S(begun, begun_count));
    if (rc || !pg_row_count(rows))
        return rc;
    int64_t job = pg_int(rows, 0, 0);
    struct uuid report = pg_uuid(rows, 0, 4);
    const struct forget_ask ask = {.app_id = (int32_t)pg_int(rows, 0, 1),
                                   .install = pg_bytes(rows, 0, 2),
                                   .key = pg_int(rows, 0, 3),
                                   .report = pg_is_null(rows, 0, 4) ? NULL : &report,
                                   .since_us = pg_time(rows, 0, 5),
                                   .until_us = pg_time(rows, 0, 6)};
    rc = waits_for_inbox(&waits, tx, job);
    if (!rc)
        rc = queue_found(&count, tx, job, &ask);
    if (rc || (!count && waits))
        return rc;
    if (count)
        rc =
            pg_query(NULL, tx,
                     "UPDATE forget_job SET queued = queued + $2, state = 'running', ended_at = NULL WHERE job_id = $1",
                     PG_INT8(job), PG_INT8(count));
    else
        rc = pg_query(NULL, tx, "UPDATE forget_job SET state = 'done', ended_at = now() WHERE job_id = $1",
                      PG_INT8(job));
    return rc ? rc : 1;
}

/* --- claiming --- */

/* Keys of claimed reports, column by column. */
struct forget_keys {
    int16_t slots[MIRE_FORGET_BATCH];
    int32_t days[MIRE_FORGET_BATCH];
    struct uuid ids[MIRE_FORGET_BATCH];
    size_t count;
};

#define KEYS(keys) KEY_PARAMS(*(keys), (keys)->count)

static void fill_keys(struct forget_keys *out, const struct forget_stored *stored, size_t count)
{
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        out->slots[i] = stored[i].key.slot;
        out->days[i] = stored[i].key.day;
        out->ids[i] = id_of(&stored[i].key);
    }
}

/* Of one slot, so that all of them are on one machine where there are several. */
static int claim_keys(struct forget_keys *out, int64_t *job_out, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *next = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&next, tx, "SELECT job_id, slot FROM forget_queue ORDER BY job_id, slot LIMIT 1");

    out->count = 0;
    if (rc || !pg_row_count(next))
        return rc;
    rc = pg_query(&rows, tx,
                  "SELECT slot, day, report_id, job_id FROM forget_queue WHERE slot = $1 AND job_id = $2"
                  " ORDER BY slot, day, report_id LIMIT $3 FOR UPDATE SKIP LOCKED",
                  PG_INT2((int16_t)pg_int(next, 0, 1)), PG_INT8(pg_int(next, 0, 0)), PG_INT8(MIRE_FORGET_BATCH));
    out->count = rc ? 0 : pg_row_count(rows);
    for (size_t i = 0; i < out->count; i++) {
        out->slots[i] = (int16_t)pg_int(rows, i, 0);
        out->days[i] = pg_day(rows, i, 1);
        out->ids[i] = pg_uuid(rows, i, 2);
        *job_out = pg_int(rows, i, 3);
    }
    return rc;
}

/* Workers that have one of them are done then, and none begins. Rows are locked by rising key. */
static int hold(struct pg_tx *tx, const struct forget_keys *keys)
{
#define HOLD(table)                         \
    "SELECT FROM " table " t JOIN " OF_KEYS \
    " USING (slot, day, report_id) WHERE t.slot = $4 ORDER BY slot, day, report_id FOR UPDATE OF t"
    static const char *const sql[] = {HOLD("inbox"), HOLD("event"), HOLD("session"), HOLD("memory_baseline")};
#undef HOLD
    int rc = 0;

    for (size_t i = 0; !rc && i < sizeof sql / sizeof *sql; i++)
        rc = pg_query(NULL, tx, sql[i], KEYS(keys), PG_INT2(keys->slots[0]));
    return rc;
}

static void read_stored(struct forget_stored *out, const struct pg_rows *rows, size_t row)
{
    *out = (struct forget_stored){
        .is_there = !pg_is_null(rows, row, 2),
        .app_id = (int32_t)pg_int(rows, row, 0),
        .received_us = pg_time(rows, row, 1),
        .format = pg_text(rows, row, 2),
        .encoding = pg_text(rows, row, 3),
        .body = pg_bytes(rows, row, 4),
        .is_counted = !pg_is_null(rows, row, 5),
        .version_id = pg_int(rows, row, 5),
        .weight = pg_real(rows, row, 6),
        .issue_id = pg_int(rows, row, 7),
        .tree = (int32_t)pg_int(rows, row, 8),
        .category = pg_text(rows, row, 9),
        .subject_bytes = pg_int(rows, row, 10),
        .document = pg_bytes(rows, row, 11),
        .clock_known = !pg_is_null(rows, row, 12),
        .clock_behind_ms = pg_int(rows, row, 12),
        .occurred_us = pg_time(rows, row, 13),
        .channel = pg_text(rows, row, 14),
        .device_class = pg_text(rows, row, 15),
        .above_bytes = pg_int(rows, row, 16),
    };
}

#define JOINED(table, t) " LEFT JOIN " table " " t " ON " t ".slot = $4 AND " IS_KEY(t)

int rows_forget_claim(struct forget_stored **out, size_t *count, struct pg_rows **rows_out, struct pg_tx *tx,
                      struct arena *arena)
{
    struct forget_keys keys;
    int64_t job = 0;
    int rc = claim_keys(&keys, &job, tx);

    *count = 0;
    if (rc || !keys.count)
        return rc;
    *out = arena_array(arena, keys.count, sizeof **out);
    if (!*out)
        return MIRE_FAULT_MEMORY;
    rc = hold(tx, &keys);
    if (!rc)
        rc = pg_query(
            rows_out, tx,
            "SELECT r.app_id, r.received_at, r.format, r.encoding, r.body,"
            " coalesce(e.version_id, s.version_id, b.version_id), coalesce(e.weight, s.weight, b.weight),"
            " e.issue_id, e.tree, coalesce(e.category, ''), e.subject_bytes, d.document, r.clock_behind_ms,"
            " coalesce(e.occurred_at, s.occurred_at, r.received_at), coalesce(s.channel, ''), "
            "coalesce(b.device_class, ''), e.above_bytes"
            " FROM unnest($1::smallint[], $2::date[], $3::uuid[]) WITH ORDINALITY k (slot, day, report_id, n)" JOINED(
                "report", "r") JOINED("event", "e") JOINED("session", "s") JOINED("memory_baseline", "b")
                JOINED("event_stack", "d") " ORDER BY k.n",
            KEYS(&keys), PG_INT2(keys.slots[0]));
    for (size_t i = 0; !rc && i < pg_row_count(*rows_out); i++) {
        struct forget_stored *stored = &(*out)[(*count)++];
        read_stored(stored, *rows_out, i);
        stored->job = job;
        stored->key = (struct report_key){.slot = keys.slots[i], .day = keys.days[i]};
        memcpy(stored->key.report_id, keys.ids[i].bytes, sizeof stored->key.report_id);
    }

    return rc;
}

/* --- deleting --- */

#define DELETE_FROM(table) "DELETE FROM " table " t USING " OF_KEYS " WHERE t.slot = $4 AND " IS_KEY("t")

static int delete_all(struct pg_tx *tx, struct arena *arena, const struct forget_stored *stored, size_t count,
                      const char *const *sql, size_t tables)
{
    struct forget_keys *keys = arena_alloc(arena, sizeof *keys);
    int rc = 0;

    if (!keys)
        return MIRE_FAULT_MEMORY;
    fill_keys(keys, stored, count);
    for (size_t i = 0; !rc && i < tables; i++)
        rc = pg_query(NULL, tx, sql[i], KEYS(keys), PG_INT2(keys->slots[0]));
    return rc;
}

int rows_forget_derived(struct pg_tx *tx, struct arena *arena, const struct forget_stored *stored, size_t count)
{
    static const char *const sql[] = {DELETE_FROM("event"), DELETE_FROM("event_stack"), DELETE_FROM("report_missing"),
                                      DELETE_FROM("session"), DELETE_FROM("memory_baseline")};
    return delete_all(tx, arena, stored, count, sql, sizeof sql / sizeof *sql);
}

/*
 * An issue that began with a report that goes begins with the oldest one that is left. An issue without any begins with
 * the next report: infinity is later than that. The rows are read first: issue is a copied table (README.md).
 */
static int settle_first_seen_of(struct pg_tx *tx, const struct forget_stored *gone)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *began = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *oldest = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *counted = NULL;
    int rc = pg_query(&began, tx, "SELECT 1 FROM issue WHERE issue_id = $1 AND first_seen = $2 FOR UPDATE",
                      PG_INT8(gone->issue_id), PG_TIME(gone->occurred_us));

    if (rc || !pg_row_count(began))
        return rc;
    rc = pg_query(&oldest, tx,
                  "SELECT occurred_at, version_id FROM event WHERE app_id = $1 AND issue_id = $2"
                  " ORDER BY occurred_at LIMIT 1",
                  PG_INT4(gone->app_id), PG_INT8(gone->issue_id));
    if (rc)
        return rc;
    if (pg_row_count(oldest))
        return pg_query(NULL, tx, "UPDATE issue SET first_seen = $2, first_version_id = $3 WHERE issue_id = $1",
                        PG_INT8(gone->issue_id), PG_TIME(pg_time(oldest, 0, 0)), PG_INT8(pg_int(oldest, 0, 1)));
    rc = pg_query(&counted, tx, "SELECT 1 FROM issue_hour WHERE app_id = $1 AND issue_id = $2 LIMIT 1",
                  PG_INT4(gone->app_id), PG_INT8(gone->issue_id));
    if (rc || pg_row_count(counted))
        return rc;
    return pg_query(NULL, tx, "UPDATE issue SET first_seen = 'infinity' WHERE issue_id = $1", PG_INT8(gone->issue_id));
}

static int settle_first_seen(struct pg_tx *tx, const struct forget_stored *stored, size_t count)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++)
        if (stored[i].issue_id)
            rc = settle_first_seen_of(tx, &stored[i]);
    return rc;
}

int rows_forget_delete(struct pg_tx *tx, struct arena *arena, const struct forget_stored *stored, size_t count)
{
    static const char *const sql[] = {DELETE_FROM("inbox"), DELETE_FROM("dead_letter"), DELETE_FROM("report")};
    struct forget_keys keys;
    int rc = settle_first_seen(tx, stored, count);

    if (!rc)
        rc = delete_all(tx, arena, stored, count, sql, sizeof sql / sizeof *sql);
    fill_keys(&keys, stored, count);
    if (!rc)
        rc = pg_query(NULL, tx, DELETE_FROM("forget_queue") " AND t.job_id = $5", KEYS(&keys), PG_INT2(keys.slots[0]),
                      PG_INT8(stored->job));
    if (!rc)
        rc = pg_query(NULL, tx, "UPDATE forget_job SET done = done + $2 WHERE job_id = $1", PG_INT8(stored->job),
                      PG_INT8((int64_t)count));
    return rc;
}
