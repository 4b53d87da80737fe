/*
 * inbox.c - the statements behind the queue. One statement stores a report and queues it only if it was new.
 */
#include "inbox/inbox.h"

#include "base/clock.h"

#include <string.h>

static const char store_sql[] =
    "WITH stored AS (INSERT INTO report (slot, day, report_id, app_id, format, encoding, body, clock_behind_ms,"
    " received_at, key_id, country)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, now()), $10, $11) ON CONFLICT DO NOTHING RETURNING slot, "
    "day, "
    "report_id, app_id)"
    " INSERT INTO inbox (slot, day, report_id, app_id) SELECT slot, day, report_id, app_id FROM stored"
    " ON CONFLICT DO NOTHING";

static int add_row(struct pg_tx *tx, const struct inbox_row *row)
{
    const struct pg_param params[] = {
        PG_INT2(uuid_slot(&row->report_id)),
        PG_DAY(clock_day(uuid_wall_us(&row->report_id))),
        PG_UUID(&row->report_id),
        PG_INT4(row->app_id),
        PG_TEXT(row->format),
        PG_TEXT(row->encoding),
        PG_BYTES(row->body, row->body_len),
        row->clock_known ? PG_INT8(row->clock_behind_ms) : PG_NULL(),
        row->received_us ? PG_TIME(row->received_us) : PG_NULL(),
        PG_INT8(row->key_id),
        PG_TEXT(row->country ? row->country : ""),
    };
    return pg_batch_add(tx, store_sql, params, sizeof params / sizeof *params);
}

int inbox_store_batch(struct pg *pg, const struct inbox_row *rows, size_t count)
{
    return inbox_store_counted(pg, rows, count, NULL);
}

int inbox_store_counted(struct pg *pg, const struct inbox_row *rows, size_t count, int64_t *stored_out)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_EACH);
    if (!rc)
        rc = pg_batch_begin(tx);
    for (size_t i = 0; i < count && !rc; i++)
        rc = add_row(tx, &rows[i]);
    return rc ? rc : pg_batch_end(tx, stored_out, stored_out ? count : 0);
}

/* Keys of claimed rows, column by column. */
struct inbox_keys {
    size_t count;
    int16_t slots[MIRE_INBOX_CLAIM_MAX], attempts[MIRE_INBOX_CLAIM_MAX];
    int32_t days[MIRE_INBOX_CLAIM_MAX];
    struct uuid ids[MIRE_INBOX_CLAIM_MAX];
};

/*
 * Statements come in two forms: for all slots, where $1 is unused, and for the one in $1, which Citus sends to that
 * slot's machine alone.
 */
#define IN_ALL "$1::smallint IS NOT NULL"
#define IN_ONE "slot = $1"

static bool is_one_slot(const int16_t *slots, size_t count)
{
    size_t same = 1;
    while (same < count && slots[same] == slots[0])
        same++;
    return same >= count;
}

#define REMOVE(where)                                                                                   \
    "DELETE FROM inbox i USING unnest($2::smallint[], $3::date[], $4::uuid[]) l (slot, day, report_id)" \
    " WHERE " where " AND i.slot = l.slot AND i.day = l.day AND i.report_id = l.report_id"

static int remove_keys(struct pg_tx *tx, const struct inbox_keys *keys)
{
    bool is_one = is_one_slot(keys->slots, keys->count);

    if (!keys->count)
        return 0;
    return pg_query(NULL, tx, is_one ? REMOVE("i." IN_ONE) : REMOVE(IN_ALL), PG_INT2(keys->slots[0]),
                    PG_INT2S(keys->slots, keys->count), PG_DAYS(keys->days, keys->count),
                    PG_UUIDS(keys->ids, keys->count));
}

#define KEYS(where)                                                                                            \
    "SELECT slot, day, report_id, attempts FROM inbox WHERE " where " AND app_id = $3 AND not_before <= now()" \
    " ORDER BY not_before LIMIT $2 FOR UPDATE SKIP LOCKED"

static int claim_keys(struct inbox_keys *out, size_t cap, struct pg_tx *tx, const struct inbox_turn *turn,
                      int32_t app_id)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, turn->by_slot ? KEYS(IN_ONE) : KEYS(IN_ALL), PG_INT2(turn->slot),
                      PG_INT8((int64_t)cap), PG_INT4(app_id));

    out->count = rc ? 0 : pg_row_count(rows);
    for (size_t i = 0; i < out->count; i++) {
        out->slots[i] = (int16_t)pg_int(rows, i, 0);
        out->days[i] = pg_day(rows, i, 1);
        out->ids[i] = pg_uuid(rows, i, 2);
        out->attempts[i] = (int16_t)pg_int(rows, i, 3);
    }
    return rc;
}

/* One row of reports into the arena, so that it outlives the result. */
static bool read_claim(struct inbox_claim *out, const struct inbox_keys *keys, size_t at, const struct pg_rows *rows,
                       size_t row, struct arena *arena)
{
    struct pg_bytes body = pg_bytes(rows, row, 5);

    *out = (struct inbox_claim){
        .slot = keys->slots[at],
        .day = keys->days[at],
        .report_id = keys->ids[at],
        .attempts = keys->attempts[at],
        .app_id = (int32_t)pg_int(rows, row, 1),
        .received_us = pg_time(rows, row, 2),
        .format = arena_strdup(arena, pg_text(rows, row, 3)),
        .encoding = arena_strdup(arena, pg_text(rows, row, 4)),
        .body = (const uint8_t *)arena_copy(arena, body.bytes, body.len),
        .body_len = body.len,
        .clock_known = !pg_is_null(rows, row, 6),
        .clock_behind_ms = pg_int(rows, row, 6),
        .country = arena_strdup(arena, pg_text(rows, row, 7)),
    };
    return out->format && out->encoding && out->body && out->country;
}

#define BODIES(where)                                                                                                 \
    "SELECT n, app_id, received_at, format, encoding, CASE WHEN before < $5 THEN body END, clock_behind_ms, country " \
    "FROM ("                                                                                                          \
    "SELECT l.n, r.app_id, r.received_at, r.format, r.encoding, r.body, r.clock_behind_ms, r.country, "               \
    "sum(octet_length(r.body))"                                                                                       \
    " OVER (ORDER BY l.n) - octet_length(r.body) AS before FROM unnest($2::smallint[], $3::date[], $4::uuid[])"       \
    " WITH ORDINALITY l (slot, day, report_id, n) JOIN report r ON r.slot = l.slot AND r.day = l.day"                 \
    " AND r.report_id = l.report_id WHERE " where ") sized ORDER BY n"

static void add_key(struct inbox_keys *out, const struct inbox_keys *keys, size_t at)
{
    out->slots[out->count] = keys->slots[at];
    out->days[out->count] = keys->days[at];
    out->ids[out->count++] = keys->ids[at];
}

/* The reports of claimed rows, as many as fit. The length of a body is known without reading it. */
static int read_claims(struct inbox_claim *out, size_t *got_out, size_t max_bytes, struct pg_tx *tx,
                       const struct inbox_turn *turn, const struct inbox_keys *keys, struct arena *arena)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct inbox_keys gone = {0};
    size_t next = 0;
    int rc = pg_query(&rows, tx, turn->by_slot ? BODIES("r." IN_ONE) : BODIES(IN_ALL), PG_INT2(turn->slot),
                      PG_INT2S(keys->slots, keys->count), PG_DAYS(keys->days, keys->count),
                      PG_UUIDS(keys->ids, keys->count), PG_INT8((int64_t)max_bytes));

    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        size_t at = (size_t)pg_int(rows, i, 0) - 1;
        while (next < at)
            add_key(&gone, keys, next++);
        next++;
        if (pg_is_null(rows, i, 5))
            continue;
        if (!read_claim(&out[(*got_out)++], keys, at, rows, i, arena))
            return MIRE_FAULT_MEMORY;
    }
    while (!rc && next < keys->count)
        add_key(&gone, keys, next++);
    return rc ? rc : remove_keys(tx, &gone);
}

#define NEXT(where)                                                                                    \
    "SELECT app_id FROM inbox WHERE " where " AND app_id > $2 AND not_before <= now() ORDER BY app_id" \
    " LIMIT 1"

/* The next app behind `from` that has something due; 1 with *app_out, 0 there is none, or a fault. */
static int next_app(int32_t *app_out, struct pg_tx *tx, const struct inbox_turn *turn, int32_t from)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, turn->by_slot ? NEXT(IN_ONE) : NEXT(IN_ALL), PG_INT2(turn->slot), PG_INT4(from));

    if (rc || !pg_row_count(rows))
        return rc;
    *app_out = (int32_t)pg_int(rows, 0, 0);
    return 1;
}

static int claim_of(struct inbox_claim *out, size_t cap, size_t max_bytes, size_t *got_out, struct pg_tx *tx,
                    struct arena *arena, const struct inbox_turn *turn, int32_t app_id)
{
    struct inbox_keys keys;
    int rc = claim_keys(&keys, cap < MIRE_INBOX_CLAIM_MAX ? cap : MIRE_INBOX_CLAIM_MAX, tx, turn, app_id);

    return rc || !keys.count ? rc : read_claims(out, got_out, max_bytes, tx, turn, &keys, arena);
}

/* Claim of the first app in turn that has rows which no other worker has. */
static int claim_next(struct inbox_claim *out, size_t cap, size_t max_bytes, size_t *got_out, struct pg_tx *tx,
                      struct arena *arena, struct inbox_turn *turn)
{
    int32_t from = turn->app_id, app_id = 0;
    bool is_second = false;

    for (;;) {
        int found = next_app(&app_id, tx, turn, from);
        if (found < 0 || (!found && (is_second || !turn->app_id)))
            return found;
        if (!found || (is_second && app_id > turn->app_id)) {
            if (is_second)
                return 0;
            is_second = true; /* once more from the first app on, up to where we began */
            from = 0;
            continue;
        }
        int rc = claim_of(out, cap, max_bytes, got_out, tx, arena, turn, app_id);
        if (rc)
            return rc;
        if (*got_out) {
            turn->app_id = app_id;
            return 0;
        }
        from = app_id; /* other workers have all its due rows */
    }
}

int inbox_claim(struct inbox_claim *out, size_t cap, size_t max_bytes, size_t *got_out, struct pg_tx *tx,
                struct arena *arena, struct inbox_turn *turn)
{
    int slots = turn->by_slot ? MIRE_SLOT_COUNT : 1, rc = 0;

    *got_out = 0;
    for (int i = 0; i < slots && !rc && !*got_out; i++) {
        turn->slot = (int16_t)((turn->slot + turn->by_slot) % MIRE_SLOT_COUNT);
        rc = claim_next(out, cap, max_bytes, got_out, tx, arena, turn);
    }
    return rc;
}

int inbox_find(struct inbox_claim *claim, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT r.app_id, i.attempts FROM inbox i JOIN report r USING (slot, day, report_id)"
                      " WHERE i.slot = $1 AND i.day = $2 AND i.report_id = $3 FOR UPDATE OF i",
                      PG_INT2(claim->slot), PG_DAY(claim->day), PG_UUID(&claim->report_id));
    if (rc || !pg_row_count(rows))
        return rc;
    claim->app_id = (int32_t)pg_int(rows, 0, 0);
    claim->attempts = (int)pg_int(rows, 0, 1);
    return 1;
}

int inbox_finish(struct pg_tx *tx, const struct inbox_claim *const *claims, size_t count)
{
    struct inbox_keys keys = {0};

    for (size_t i = 0; i < count && i < MIRE_INBOX_CLAIM_MAX; i++) {
        keys.slots[keys.count] = claims[i]->slot;
        keys.days[keys.count] = claims[i]->day;
        keys.ids[keys.count++] = claims[i]->report_id;
    }
    return remove_keys(tx, &keys);
}

static int give_up(struct pg_tx *tx, const struct inbox_claim *claim, const char *stage, const char *reason)
{
    int rc = pg_query(
        NULL, tx,
        "INSERT INTO dead_letter (slot, day, report_id, app_id, stage, reason) VALUES ($1, $2, $3, $4, $5, $6)"
        " ON CONFLICT (slot, day, report_id) DO UPDATE SET failed_at = EXCLUDED.failed_at, stage = EXCLUDED.stage,"
        " reason = EXCLUDED.reason",
        PG_INT2(claim->slot), PG_DAY(claim->day), PG_UUID(&claim->report_id), PG_INT4(claim->app_id), PG_TEXT(stage),
        PG_TEXT(reason));
    return rc ? rc : inbox_finish(tx, &claim, 1);
}

int inbox_fail(struct pg_tx *tx, const struct inbox_claim *claim, const char *stage, const char *reason, bool is_final)
{
    if (is_final || claim->attempts + 1 >= MIRE_INBOX_ATTEMPTS_MAX)
        return give_up(tx, claim, stage, reason);
    return pg_query(NULL, tx,
                    "UPDATE inbox SET attempts = attempts + 1, not_before = now() + $4 * interval '2 s'"
                    " WHERE slot = $1 AND day = $2 AND report_id = $3",
                    PG_INT2(claim->slot), PG_DAY(claim->day), PG_UUID(&claim->report_id),
                    PG_INT4(1 << claim->attempts));
}

int inbox_depth(struct inbox_depth *out, struct pg *pg)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_READ);
    if (!rc)
        rc = pg_query(&rows, tx,
                      "SELECT queued, waits_us, given_up FROM (SELECT count(*) AS queued, coalesce(extract(epoch"
                      " FROM now() - min(queued_at)) * 1000000, 0)::int8 AS waits_us FROM inbox) i,"
                      " (SELECT count(*) AS given_up FROM dead_letter) d");
    if (!rc)
        *out = (struct inbox_depth){pg_int(rows, 0, 0), pg_int(rows, 0, 1), pg_int(rows, 0, 2)};
    return rc;
}
