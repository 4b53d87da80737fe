/*
 * rekey_due.c - claiming and moving.
 */
#include "rows/rekey_due.h"
#include "rows/derive.h"

#include "rows/keys.h"
#include "rows/view_sql.h"

#include <stdlib.h>

#define OF_SLOT(table) "(SELECT * FROM " table " WHERE slot = $1)"
/* $1 slot, $2 most reports, $3 a job, or 0: of any. Each table is read of the slot alone. */
static const char due_sql[] =
    "SELECT q.job_id, q.day, q.report_id, q.attempts, q.stands, octet_length(r.body) FROM rekey_queue q"
    " LEFT JOIN " OF_SLOT("report") " r ON r.day = q.day AND r.report_id = q.report_id"
                                    " WHERE q.slot = $1 AND ($3 = 0 OR q.job_id = $3) ORDER BY q.slot, q.job_id, "
                                    "q.day, q.report_id LIMIT $2"
                                    " FOR UPDATE OF q SKIP LOCKED";

/* $1 slot, $2 to $4 days, reports and jobs. */
static const char stored_sql[] =
    "SELECT d.n, j.preview, j.rules, e.app_id, e.received_at, e.issue_id, e.version_id, e.category, e.subject_bytes,"
    " r.format, r.encoding, r.body, s.document, i.unnamed, i.caller1, i.caller1_image, i.caller2, i.caller2_image, "
    "e.tree,"
    " e.occurred_at, j.cause, e.above_bytes FROM unnest($2::date[], $3::uuid[], $4::bigint[]) WITH ORDINALITY d (day, "
    "report_id, "
    "job_id, n)"
    " JOIN rekey_job j ON j.job_id = d.job_id"
    " JOIN event e ON e.slot = $1 AND e.day = d.day AND e.report_id = d.report_id"
    " JOIN report r ON r.slot = $1 AND r.day = e.day AND r.report_id = e.report_id"
    " LEFT JOIN event_stack s ON s.slot = $1 AND s.day = e.day AND s.report_id = "
    "e.report_id"
    "  AND e.category IN ('memory', 'foom')"
    " LEFT JOIN issue i ON i.issue_id = e.issue_id ORDER BY d.n FOR UPDATE OF e";

/* Reports of the slot that are due, of a job or of any (0), into `claim`; nothing is known of them but that. */
static int claim_due(struct rekey_claim *claim, struct pg_tx *tx, struct arena *arena, const struct rekey_wish *wish,
                     int16_t slot, int64_t job)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int64_t bytes = 0;
    int rc = pg_query(&rows, tx, due_sql, PG_INT2(slot), PG_INT8(wish->most), PG_INT8(job));
    size_t count = rc ? 0 : pg_row_count(rows);

    claim->stored = arena_array(arena, count + 1, sizeof *claim->stored);
    if (rc || !claim->stored)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        struct uuid id = pg_uuid(rows, i, 2);
        int64_t own = pg_is_null(rows, i, 5) ? 0 : pg_int(rows, i, 5);
        if (i && bytes + own > wish->max_bytes)
            break;
        bytes += own;
        struct rekey_stored *out = &claim->stored[claim->count++];
        *out = (struct rekey_stored){.key = {.slot = slot, .day = pg_day(rows, i, 1)},
                                     .job = pg_int(rows, i, 0),
                                     .attempts = (int)pg_int(rows, i, 3),
                                     .stands = pg_int(rows, i, 4),
                                     .gone = true};
        memcpy(out->key.report_id, id.bytes, sizeof id.bytes);
    }
    return 0;
}

static void read_stored(struct rekey_stored *out, const struct pg_rows *rows, size_t row)
{
    out->gone = false;
    out->preview = pg_bool(rows, row, 1);
    out->rules = pg_is_null(rows, row, 2) ? NULL : pg_text(rows, row, 2);
    out->app_id = (int32_t)pg_int(rows, row, 3);
    out->received_us = pg_time(rows, row, 4);
    out->issue_id = pg_int(rows, row, 5);
    out->version_id = pg_int(rows, row, 6);
    out->category = pg_text(rows, row, 7);
    out->subject_bytes = pg_int(rows, row, 8);
    out->format = pg_text(rows, row, 9);
    out->encoding = pg_text(rows, row, 10);
    out->body = pg_bytes(rows, row, 11);
    out->document = pg_bytes(rows, row, 12);
    out->issue.unnamed = pg_bool(rows, row, 13);
    out->issue.caller1 = pg_text(rows, row, 14);
    out->issue.caller1_image = pg_text(rows, row, 15);
    out->issue.caller2 = pg_text(rows, row, 16);
    out->issue.caller2_image = pg_text(rows, row, 17);
    out->tree = (int32_t)pg_int(rows, row, 18);
    out->occurred_us = pg_time(rows, row, 19);
    out->misses = strcmp(pg_text(rows, row, 20), "rules") != 0;
    out->above_bytes = pg_int(rows, row, 21);
}

/* Lock and read the events and reports of a claim. */
static int claim_stored(struct rekey_claim *claim, struct pg_tx *tx, struct arena *arena, int16_t slot)
{
    struct key_columns keys;
    int64_t *jobs = arena_array(arena, claim->count + 1, sizeof *jobs);
    size_t count = claim->count;

    if (!keys_make(&keys, arena, count) || !jobs)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        keys_put(&keys, i, &claim->stored[i].key);
        jobs[i] = claim->stored[i].job;
    }
    int rc = pg_query(&claim->rows, tx, stored_sql, PG_INT2(slot), PG_DAYS(keys.days, count), PG_UUIDS(keys.ids, count),
                      PG_INT8S(jobs, count));
    for (size_t i = 0; !rc && i < pg_row_count(claim->rows); i++)
        read_stored(&claim->stored[pg_int(claim->rows, i, 0) - 1], claim->rows, i);
    return rc;
}

/* By rising key, then job. */
static int by_key(const void *a, const void *b)
{
    const struct rekey_stored *x = a, *y = b;
    int order = (x->key.day > y->key.day) - (x->key.day < y->key.day);
    order = order ? order : memcmp(x->key.report_id, y->key.report_id, sizeof x->key.report_id);
    return order ? order : (x->job > y->job) - (x->job < y->job);
}

int rows_rekey_claim(struct rekey_claim *out, struct pg_tx *tx, struct arena *arena, const struct rekey_wish *wish)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *next = NULL, *first = NULL;
    int rc = pg_query(&first, tx,
                      "SELECT job_id FROM rekey_job WHERE preview AND state = 'running' ORDER BY job_id LIMIT 1");
    int64_t job = rc || !pg_row_count(first) ? 0 : pg_int(first, 0, 0);
    *out = (struct rekey_claim){0};
    if (!rc)
        rc = pg_query(&next, tx, "SELECT min(slot) FROM rekey_queue WHERE slot >= $1 AND ($2 = 0 OR job_id = $2)",
                      PG_INT2(wish->from_slot), PG_INT8(job));
    if (rc || pg_is_null(next, 0, 0))
        return rc;
    int16_t slot = (int16_t)pg_int(next, 0, 0);
    rc = claim_due(out, tx, arena, wish, slot, job);
    if (!rc && out->count) {
        qsort(out->stored, out->count, sizeof *out->stored, by_key);
        rc = claim_stored(out, tx, arena, slot);
    }
    return rc;
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
                 " rules_version = $12, unnamed = $13, blame_key = $14, owner_sought = false WHERE app_id = $1 AND "
                 "issue_id = $2 AND unnamed"
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
    int64_t *issues, *subjects, *above, *waited, *opens;
    int32_t *frames, *unresolved, *rules, *trees;
    const char **categories, **reasons, **holders;
};

static bool make_moved(struct moved_columns *out, struct arena *arena, const struct event_row *const *events,
                       size_t count)
{
#define COLUMN(member) .member = arena_array(arena, count + 1, sizeof *out->member)
    *out = (struct moved_columns){COLUMN(issues), COLUMN(subjects),   COLUMN(above),      COLUMN(waited),
                                  COLUMN(opens),  COLUMN(frames),     COLUMN(unresolved), COLUMN(rules),
                                  COLUMN(trees),  COLUMN(categories), COLUMN(reasons),    COLUMN(holders)};
#undef COLUMN
    if (!keys_make(&out->keys, arena, count) || !out->issues || !out->subjects || !out->above || !out->waited ||
        !out->opens || !out->frames || !out->unresolved || !out->rules || !out->trees || !out->categories ||
        !out->reasons || !out->holders)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct event_row *event = events[i];
        keys_put(&out->keys, i, &event->key);
        out->issues[i] = event->issue_id;
        out->subjects[i] = event->subject_bytes;
        out->above[i] = event->above_bytes;
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
        " subject_bytes = nullif(k.subject, -1), above_bytes = nullif(k.above, -1), frame_count = k.frames, "
        "unresolved_count = k.unresolved,"
        " rules_version = k.rules, waited_ms = k.waited, open = k.open <> 0, tree = k.tree"
        " FROM unnest($1::smallint[], $2::date[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[],"
        " $8::bigint[], $9::integer[], $10::integer[], $11::integer[], $12::bigint[], $13::bigint[], $14::integer[], "
        "$15::bigint[])"
        " WITH ORDINALITY k (slot, day, report_id, issue_id, category, reason, holder, subject, frames, unresolved, "
        "rules,"
        " waited, open, tree, above, n) WHERE " IS_KEY(
            "e") " AND (e.issue_id, e.category, e.reason, e.holder, coalesce(e.subject_bytes, -1), e.frame_count,"
                 " e.unresolved_count, e.waited_ms, e.open, e.tree, coalesce(e.above_bytes, -1)) IS DISTINCT FROM "
                 "(k.issue_id, k.category, k.reason,"
                 " k.holder, k.subject, k.frames, k.unresolved, k.waited, k.open <> 0, k.tree, k.above) RETURNING k.n",
        KEY_PARAMS(c.keys, count), PG_INT8S(c.issues, count), PG_TEXTS(c.categories, count), PG_TEXTS(c.reasons, count),
        PG_TEXTS(c.holders, count), PG_INT8S(c.subjects, count), PG_INT4S(c.frames, count),
        PG_INT4S(c.unresolved, count), PG_INT4S(c.rules, count), PG_INT8S(c.waited, count), PG_INT8S(c.opens, count),
        PG_INT4S(c.trees, count), PG_INT8S(c.above, count));
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

/* Flows, column by column. */
struct flow_columns {
    int16_t *slots;
    int64_t *jobs, *from, *to, *reports, *failed;
    struct pg_bytes *keys;
    const char **callers1, **callers2, **categories, **reasons;
};

static bool make_flows(struct flow_columns *out, struct arena *arena, const struct rekey_step *steps, size_t count)
{
#define COLUMN(member) .member = arena_array(arena, count + 1, sizeof *out->member)
    *out = (struct flow_columns){COLUMN(slots),    COLUMN(jobs),       COLUMN(from),   COLUMN(to),
                                 COLUMN(reports),  COLUMN(failed),     COLUMN(keys),   COLUMN(callers1),
                                 COLUMN(callers2), COLUMN(categories), COLUMN(reasons)};
#undef COLUMN
    if (!out->slots || !out->jobs || !out->from || !out->to || !out->reports || !out->failed || !out->keys ||
        !out->callers1 || !out->callers2 || !out->categories || !out->reasons)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct rekey_step *step = &steps[i];
        out->slots[i] = step->slot;
        out->jobs[i] = step->job;
        out->from[i] = step->from_issue;
        out->to[i] = step->to_issue;
        out->reports[i] = step->reports;
        out->failed[i] = step->failed;
        out->keys[i] = (struct pg_bytes){step->to->feature_key, MIRE_FEATURE_KEY_LEN};
        out->callers1[i] = step->to->caller1;
        out->callers2[i] = step->to->caller2;
        out->categories[i] = step->to->category;
        out->reasons[i] = step->to->reason;
    }
    return true;
}

int rows_rekey_count(struct pg_tx *tx, struct arena *arena, const struct rekey_step *steps, size_t count)
{
    struct flow_columns c;

    if (!count)
        return 0;
    if (!make_flows(&c, arena, steps, count))
        return MIRE_FAULT_MEMORY;
    return pg_query(
        NULL, tx,
        "INSERT INTO rekey_flow AS f (slot, job_id, from_issue_id, to_key, to_issue_id, caller1, caller2,"
        " category, reason, reports, failed) SELECT slot, job_id, from_id, to_key, nullif(to_id, 0), caller1, caller2,"
        " category, reason, reports, failed FROM unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bytea[],"
        " $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::bigint[])"
        " l (slot, job_id, from_id, to_key, to_id, caller1, caller2, category, reason, reports, failed)"
        " ON CONFLICT (slot, job_id, from_issue_id, to_key) DO UPDATE SET"
        " reports = f.reports + EXCLUDED.reports, failed = f.failed + EXCLUDED.failed",
        PG_INT2S(c.slots, count), PG_INT8S(c.jobs, count), PG_INT8S(c.from, count), PG_BYTESS(c.keys, count),
        PG_INT8S(c.to, count), PG_TEXTS(c.callers1, count), PG_TEXTS(c.callers2, count), PG_TEXTS(c.categories, count),
        PG_TEXTS(c.reasons, count), PG_INT8S(c.reports, count), PG_INT8S(c.failed, count));
}
