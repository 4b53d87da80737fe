/*
 * rekey_due.c - claiming and moving.
 */
#include "rows/rekey_due.h"
#include "rows/derive.h"

#include "rows/keys.h"
#include "rows/view_sql.h"

#define OF_SLOT(table) "(SELECT * FROM " table " WHERE slot = $1)"
/* clang-format off */
/* $1 slot, $2 most reports, $3 bytes of their bodies, $4 a job, or 0: of any. Each table is read of the slot alone. */
static const char claim_sql[] =
    "WITH due AS MATERIALIZED (SELECT slot, job_id, day, report_id, attempts, stands FROM rekey_queue"
    "  WHERE slot = $1 AND ($4 = 0 OR job_id = $4) ORDER BY slot, job_id, day, report_id LIMIT $2 FOR UPDATE SKIP LOCKED),"
    " held AS MATERIALIZED (SELECT e.* FROM event e JOIN (SELECT DISTINCT slot, day, report_id FROM due) d"
    "  USING (slot, day, report_id) WHERE e.slot = $1 ORDER BY e.slot, e.day, e.report_id FOR UPDATE OF e)"
    " SELECT slot, day, report_id, j.job_id, j.preview, j.rules, d.attempts, e.app_id, e.received_at, e.issue_id,"
    " e.version_id, e.category, e.subject_bytes, r.format, r.encoding, r.body,"
    " CASE WHEN e.category IN ('memory', 'foom') THEN s.document END, i.unnamed, i.caller1,"
    " i.caller1_image, i.caller2, i.caller2_image, e.tree, e.occurred_at, d.stands, j.cause"
    " FROM (SELECT d.*, sum(octet_length(r.body)) OVER (ORDER BY slot, day, report_id, job_id) - octet_length(r.body) AS before"
    "  FROM due d LEFT JOIN " OF_SLOT("report") " r USING (slot, day, report_id)) d"
    " JOIN rekey_job j USING (job_id) LEFT JOIN held e USING (slot, day, report_id)"
    " LEFT JOIN issue i ON i.issue_id = e.issue_id"
    " LEFT JOIN " OF_SLOT("report") " r USING (slot, day, report_id)"
    " LEFT JOIN " OF_SLOT("event_stack") " s USING (slot, day, report_id)"
    " WHERE coalesce(d.before < $3, true) ORDER BY slot, day, report_id, job_id";
/* clang-format on */

int rows_rekey_claim(struct pg_rows **rows_out, struct pg_tx *tx, int16_t from_slot, int64_t most, int64_t max_bytes)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *next = NULL, *first = NULL;
    int rc = pg_query(&first, tx,
                      "SELECT job_id FROM rekey_job WHERE preview AND state = 'running' ORDER BY job_id LIMIT 1");
    int64_t job = rc || !pg_row_count(first) ? 0 : pg_int(first, 0, 0);
    if (!rc)
        rc = pg_query(&next, tx, "SELECT min(slot) FROM rekey_queue WHERE slot >= $1 AND ($2 = 0 OR job_id = $2)",
                      PG_INT2(from_slot), PG_INT8(job));
    if (rc)
        return rc;
    int16_t slot = pg_is_null(next, 0, 0) ? from_slot : (int16_t)pg_int(next, 0, 0);
    return pg_query(rows_out, tx, claim_sql, PG_INT2(slot), PG_INT8(most), PG_INT8(max_bytes), PG_INT8(job));
}

void rows_rekey_read_stored(struct rekey_stored *out, const struct pg_rows *rows, size_t row)
{
    struct uuid id = pg_uuid(rows, row, 2);
    *out = (struct rekey_stored){
        .key = {.slot = (int16_t)pg_int(rows, row, 0), .day = pg_day(rows, row, 1)},
        .job = pg_int(rows, row, 3),
        .preview = pg_bool(rows, row, 4),
        .rules = pg_is_null(rows, row, 5) ? NULL : pg_text(rows, row, 5),
        .attempts = (int)pg_int(rows, row, 6),
        .stands = pg_int(rows, row, 24),
        .misses = strcmp(pg_text(rows, row, 25), "rules") != 0,
        .gone = pg_is_null(rows, row, 7) || pg_is_null(rows, row, 13),
        .app_id = (int32_t)pg_int(rows, row, 7),
        .received_us = pg_time(rows, row, 8),
        .occurred_us = pg_time(rows, row, 23),
        .issue_id = pg_int(rows, row, 9),
        .version_id = pg_int(rows, row, 10),
        .category = pg_text(rows, row, 11),
        .tree = (int32_t)pg_int(rows, row, 22),
        .subject_bytes = pg_int(rows, row, 12),
        .format = pg_text(rows, row, 13),
        .encoding = pg_text(rows, row, 14),
        .body = pg_bytes(rows, row, 15),
        .document = pg_bytes(rows, row, 16),
        .issue = {pg_bool(rows, row, 17), pg_text(rows, row, 18), pg_text(rows, row, 19), pg_text(rows, row, 20),
                  pg_text(rows, row, 21)},
    };
    __builtin_memcpy(out->key.report_id, id.bytes, sizeof id.bytes);
}

int rows_rekey_finish(struct pg_tx *tx, struct arena *arena, const struct rekey_done *done, size_t count)
{
    struct key_columns keys;
    int64_t *jobs = arena_array(arena, count + 1, sizeof *jobs);

    if (!count)
        return 0;
    if (!keys_make(&keys, arena, count) || !jobs)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        keys_put(&keys, i, &done[i].key);
        jobs[i] = done[i].job;
    }
    return pg_query(NULL, tx,
                    "DELETE FROM rekey_queue q USING unnest($1::smallint[], $2::date[], $3::uuid[], $4::bigint[])"
                    " k (slot, day, report_id, job_id) WHERE " IS_KEY("q") " AND q.job_id = k.job_id",
                    KEY_PARAMS(keys, count), PG_INT8S(jobs, count));
}

int rows_rekey_fail(struct pg_tx *tx, const struct rekey_stored *stored)
{
    return rows_rekey_count_attempt(tx, &stored->key);
}

int rows_rekey_count_attempt(struct pg_tx *tx, const struct report_key *key)
{
    struct uuid id = id_of(key);
    return pg_query(NULL, tx,
                    "UPDATE rekey_queue SET attempts = attempts + 1 WHERE slot = $1 AND day = $2 AND report_id = $3",
                    PG_INT2(key->slot), PG_DAY(key->day), PG_UUID(&id));
}

int rows_rekey_alone(struct pg_tx *tx, int32_t app_id)
{
    return pg_query(NULL, tx, "SELECT FROM app WHERE app_id = $1 FOR NO KEY UPDATE", PG_INT4(app_id));
}

int rows_issue_rename(struct pg_tx *tx, int64_t issue_id, const struct issue_row *issue)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "UPDATE issue SET feature_key = $3, caller1 = $4, caller1_image = $5, caller1_location = $6,"
                 " caller2 = $7, caller2_image = $8, category = $9, reason = $10, subject = $11,"
                 " rules_version = $12, unnamed = $13, blame_key = $14 WHERE app_id = $1 AND issue_id = $2 AND unnamed"
                 " AND NOT EXISTS (SELECT FROM issue WHERE app_id = $1 AND feature_key = $3)",
                 PG_INT4(issue->app_id), PG_INT8(issue_id), PG_BYTES(issue->feature_key, MIRE_FEATURE_KEY_LEN),
                 PG_TEXT(issue->caller1), PG_TEXT(issue->caller1_image), PG_TEXT(issue->caller1_location),
                 PG_TEXT(issue->caller2), PG_TEXT(issue->caller2_image), PG_TEXT(issue->category),
                 PG_TEXT(issue->reason), PG_TEXT(issue->subject), PG_INT4(issue->rules_version),
                 PG_BOOL(issue->unnamed), issue->joins ? PG_BYTES(issue->blame_key, MIRE_FEATURE_KEY_LEN) : PG_NULL());
    return rc ? rc : pg_touched(rows) > 0;
}

int rows_issue_inherit(struct pg_tx *tx, int64_t issue_id, int64_t from)
{
    return pg_query(NULL, tx,
                    "UPDATE issue n SET (" ISSUE_STATE_COLUMNS ", assignee) = (SELECT " ISSUE_STATE_COLUMNS
                    ", assignee FROM issue s WHERE s.issue_id = $2),"
                    " first_seen = CASE WHEN o.unnamed THEN least(n.first_seen, o.first_seen) ELSE n.first_seen END,"
                    " first_version_id = CASE WHEN o.unnamed AND o.first_seen < n.first_seen THEN o.first_version_id"
                    "  ELSE n.first_version_id END FROM issue o WHERE n.issue_id = $1 AND o.issue_id = $2",
                    PG_INT8(issue_id), PG_INT8(from));
}

int rows_rekey_find(struct rekey_issue *out, struct pg_tx *tx, int32_t app_id, const uint8_t key[MIRE_FEATURE_KEY_LEN])
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(
        &rows, tx, "SELECT issue_id, first_seen, gone_to IS NOT NULL FROM issue WHERE app_id = $1 AND feature_key = $2",
        PG_INT4(app_id), PG_BYTES(key, MIRE_FEATURE_KEY_LEN));
    if (rc || !pg_row_count(rows))
        return rc;
    *out = (struct rekey_issue){pg_int(rows, 0, 0), pg_time(rows, 0, 1), pg_bool(rows, 0, 2)};
    return 1;
}

/* What changes of events, column by column. */
struct moved_columns {
    struct key_columns keys;
    int64_t *issues, *subjects, *waited, *opens;
    int32_t *frames, *unresolved, *rules, *trees;
    const char **categories, **reasons, **holders;
};

static bool make_moved(struct moved_columns *out, struct arena *arena, const struct event_row *const *events,
                       size_t count)
{
#define COLUMN(member) .member = arena_array(arena, count + 1, sizeof *out->member)
    *out = (struct moved_columns){COLUMN(issues),     COLUMN(subjects),   COLUMN(waited), COLUMN(opens),
                                  COLUMN(frames),     COLUMN(unresolved), COLUMN(rules),  COLUMN(trees),
                                  COLUMN(categories), COLUMN(reasons),    COLUMN(holders)};
#undef COLUMN
    if (!keys_make(&out->keys, arena, count) || !out->issues || !out->subjects || !out->waited || !out->opens ||
        !out->frames || !out->unresolved || !out->rules || !out->trees || !out->categories || !out->reasons ||
        !out->holders)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct event_row *event = events[i];
        keys_put(&out->keys, i, &event->key);
        out->issues[i] = event->issue_id;
        out->subjects[i] = event->subject_bytes;
        out->waited[i] = event->waited_ms;
        out->opens[i] = event->open;
        out->frames[i] = event->frame_count;
        out->unresolved[i] = event->unresolved_count;
        out->rules[i] = event->rules_version;
        out->trees[i] = event->tree;
        out->categories[i] = event->category;
        out->reasons[i] = event->reason;
        out->holders[i] = event->holder;
    }
    return true;
}

int rows_events_move(bool *changed_out, struct pg_tx *tx, struct arena *arena, const struct event_row *const *events,
                     const struct pg_bytes *documents, size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct moved_columns c;

    if (!count)
        return 0;
    if (!make_moved(&c, arena, events, count))
        return MIRE_FAULT_MEMORY;
    int rc = pg_query(
        &rows, tx,
        "UPDATE event e SET issue_id = k.issue_id, category = k.category, reason = k.reason, holder = k.holder,"
        " subject_bytes = nullif(k.subject, -1), frame_count = k.frames, unresolved_count = k.unresolved,"
        " rules_version = k.rules, waited_ms = k.waited, open = k.open <> 0, tree = k.tree"
        " FROM unnest($1::smallint[], $2::date[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[],"
        " $8::bigint[], $9::integer[], $10::integer[], $11::integer[], $12::bigint[], $13::bigint[], $14::integer[])"
        " WITH ORDINALITY k (slot, day, report_id, issue_id, category, reason, holder, subject, frames, unresolved, "
        "rules,"
        " waited, open, tree, n) WHERE " IS_KEY(
            "e") " AND (e.issue_id, e.category, e.reason, e.holder, coalesce(e.subject_bytes, -1), e.frame_count,"
                 " e.unresolved_count, e.waited_ms, e.open, e.tree) IS DISTINCT FROM (k.issue_id, k.category, k.reason,"
                 " k.holder, k.subject, k.frames, k.unresolved, k.waited, k.open <> 0, k.tree) RETURNING k.n",
        KEY_PARAMS(c.keys, count), PG_INT8S(c.issues, count), PG_TEXTS(c.categories, count), PG_TEXTS(c.reasons, count),
        PG_TEXTS(c.holders, count), PG_INT8S(c.subjects, count), PG_INT4S(c.frames, count),
        PG_INT4S(c.unresolved, count), PG_INT4S(c.rules, count), PG_INT8S(c.waited, count), PG_INT8S(c.opens, count),
        PG_INT4S(c.trees, count));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        changed_out[pg_int(rows, i, 0) - 1] = true;
    if (rc)
        return rc;
    return pg_query(NULL, tx,
                    "INSERT INTO event_stack (slot, day, report_id, document) SELECT * FROM unnest($1::smallint[],"
                    " $2::date[], $3::uuid[], $4::bytea[]) k (slot, day, report_id, document)"
                    " ON CONFLICT (slot, day, report_id) DO UPDATE SET document = EXCLUDED.document"
                    " WHERE event_stack.document IS DISTINCT FROM EXCLUDED.document",
                    KEY_PARAMS(c.keys, count), PG_BYTESS(documents, count));
}

#define HOUR_KEY(hour, id)                                                                             \
    PG_INT2(rows_slot((hour)->app_id, (hour)->id)), PG_TIME((hour)->hour_us), PG_INT4((hour)->app_id), \
        PG_INT8((hour)->version_id)

int rows_version_hour_settle(struct pg_tx *tx, const struct hour_row *hour)
{
    int rc = pg_query(NULL, tx,
                      "DELETE FROM version_hour WHERE slot = $1 AND hour = $2 AND app_id = $3 AND version_id = $4"
                      " AND category = $5 AND reports <= 0",
                      HOUR_KEY(hour, version_id), PG_TEXT(hour->category));
    if (rc)
        return rc;
    return pg_query(NULL, tx,
                    "UPDATE version_hour v SET longest_ms = coalesce((SELECT max(e.waited_ms)"
                    "  FROM event e WHERE e.app_id = $3 AND e.occurred_at >= $2 AND e.occurred_at < $2 + interval '1 h'"
                    "  AND e.version_id = $4 AND e.category = $5), v.longest_ms)"
                    " WHERE slot = $1 AND hour = $2 AND app_id = $3 AND version_id = $4 AND category = $5",
                    HOUR_KEY(hour, version_id), PG_TEXT(hour->category));
}

int rows_issue_hour_settle(struct pg_tx *tx, const struct hour_row *hour)
{
    int rc = pg_query(NULL, tx,
                      "DELETE FROM issue_hour WHERE slot = $1 AND hour = $2 AND app_id = $3 AND version_id = $4"
                      " AND issue_id = $5 AND tree = $6 AND reports <= 0",
                      HOUR_KEY(hour, issue_id), PG_INT8(hour->issue_id), PG_INT4(hour->tree));
    if (rc)
        return rc;
    return pg_query(
        NULL, tx,
        "UPDATE issue_hour i SET longest_ms = coalesce(m.longest_ms, i.longest_ms),"
        " last_at = coalesce(m.last_at, i.last_at), most_bytes = coalesce(m.most_bytes, i.most_bytes)"
        " FROM (SELECT max(e.waited_ms) AS longest_ms, max(e.occurred_at) AS"
        "  last_at, max(coalesce(e.subject_bytes, 0)) AS most_bytes FROM event e WHERE e.app_id = $3"
        "  AND e.issue_id = $5 AND e.occurred_at >= $2 AND e.occurred_at < $2 + interval '1 h'"
        "  AND e.version_id = $4 AND e.tree = $6) m"
        " WHERE slot = $1 AND hour = $2 AND app_id = $3 AND version_id = $4 AND issue_id = $5 AND tree = $6",
        HOUR_KEY(hour, issue_id), PG_INT8(hour->issue_id), PG_INT4(hour->tree));
}

int rows_rekey_count(struct pg_tx *tx, const struct rekey_step *step)
{
    const struct issue_row *to = step->to;
    return pg_query(
        NULL, tx,
        "INSERT INTO rekey_flow AS f (slot, job_id, from_issue_id, to_key, to_issue_id, caller1, caller2,"
        " category, reason, reports, failed) VALUES ($1, $2, $3, $4, nullif($5, 0), $6, $7, $8, $9, $10, $11)"
        " ON CONFLICT (slot, job_id, from_issue_id, to_key) DO UPDATE SET"
        " reports = f.reports + EXCLUDED.reports, failed = f.failed + EXCLUDED.failed",
        PG_INT2(step->slot), PG_INT8(step->job), PG_INT8(step->from_issue),
        PG_BYTES(to->feature_key, MIRE_FEATURE_KEY_LEN), PG_INT8(step->to_issue), PG_TEXT(to->caller1),
        PG_TEXT(to->caller2), PG_TEXT(to->category), PG_TEXT(to->reason), PG_INT8(step->reports),
        PG_INT8(step->failed));
}
