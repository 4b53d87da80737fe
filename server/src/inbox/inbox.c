/*
 * inbox.c - the statements behind the queue. One statement stores a report and queues it only if it was new.
 */
#include "inbox/inbox.h"

#include "base/clock.h"

#include <string.h>

static const char store_sql[] =
    "WITH stored AS (INSERT INTO report (slot, day, report_id, app_id, format, encoding, body, clock_behind_ms,"
    " received_at, key_id)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, now()), $10) ON CONFLICT DO NOTHING RETURNING slot, day, "
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
        row->clock_told ? PG_INT8(row->clock_behind_ms) : PG_NULL(),
        row->received_us ? PG_TIME(row->received_us) : PG_NULL(),
        PG_INT8(row->key_id),
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

static int remove_keys(struct pg_tx *tx, const struct inbox_keys *keys)
{
    if (!keys->count)
        return 0;
    return pg_query(NULL, tx,
                    "DELETE FROM inbox i USING unnest($1::smallint[], $2::date[], $3::uuid[]) l (slot, day, report_id)"
                    " WHERE i.slot = l.slot AND i.day = l.day AND i.report_id = l.report_id",
                    PG_INT2S(keys->slots, keys->count), PG_DAYS(keys->days, keys->count),
                    PG_UUIDS(keys->ids, keys->count));
}

static int claim_keys(struct inbox_keys *out, size_t cap, struct pg_tx *tx, int32_t app_id)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT slot, day, report_id, attempts FROM inbox WHERE app_id = $2 AND not_before <= now()"
                      " ORDER BY not_before LIMIT $1 FOR UPDATE SKIP LOCKED",
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
        .clock_told = !pg_is_null(rows, row, 6),
        .clock_behind_ms = pg_int(rows, row, 6),
    };
    return out->format && out->encoding && out->body;
}

/* The reports of claimed rows, as many as fit. The length of a body is known without reading it. */
static int read_claims(struct inbox_claim *out, size_t *got_out, size_t max_bytes, struct pg_tx *tx,
                       const struct inbox_keys *keys, struct arena *arena)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct inbox_keys gone = {0};
    int rc = pg_query(
        &rows, tx,
        "SELECT n, app_id, received_at, format, encoding, body, clock_behind_ms FROM (SELECT l.n, r.app_id,"
        " r.received_at, r.format, r.encoding, r.body, r.clock_behind_ms, sum(octet_length(r.body)) OVER (ORDER BY l.n)"
        " - octet_length(r.body) AS before FROM unnest($1::smallint[], $2::date[], $3::uuid[]) WITH ORDINALITY"
        " l (slot, day, report_id, n) LEFT JOIN report r ON r.slot = l.slot AND r.day = l.day"
        " AND r.report_id = l.report_id) sized WHERE coalesce(before < $4, true) ORDER BY n",
        PG_INT2S(keys->slots, keys->count), PG_DAYS(keys->days, keys->count), PG_UUIDS(keys->ids, keys->count),
        PG_INT8((int64_t)max_bytes));

    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        size_t at = (size_t)pg_int(rows, i, 0) - 1;
        if (pg_is_null(rows, i, 1)) {
            gone.slots[gone.count] = keys->slots[at];
            gone.days[gone.count] = keys->days[at];
            gone.ids[gone.count++] = keys->ids[at];
        } else if (!read_claim(&out[(*got_out)++], keys, at, rows, i, arena)) {
            return MIRE_FAULT_MEMORY;
        }
    }
    return rc ? rc : remove_keys(tx, &gone);
}

/* The next app behind `turn` that has something due; 1 with *app_out, 0 there is none, or a fault. */
static int next_app(int32_t *app_out, struct pg_tx *tx, int32_t turn)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT app_id FROM inbox WHERE app_id > $1 AND not_before <= now() ORDER BY app_id LIMIT 1",
                      PG_INT4(turn));

    if (rc || !pg_row_count(rows))
        return rc;
    *app_out = (int32_t)pg_int(rows, 0, 0);
    return 1;
}

static int claim_of(struct inbox_claim *out, size_t cap, size_t max_bytes, size_t *got_out, struct pg_tx *tx,
                    struct arena *arena, int32_t app_id)
{
    struct inbox_keys keys;
    int rc = claim_keys(&keys, cap < MIRE_INBOX_CLAIM_MAX ? cap : MIRE_INBOX_CLAIM_MAX, tx, app_id);

    return rc || !keys.count ? rc : read_claims(out, got_out, max_bytes, tx, &keys, arena);
}

int inbox_claim(struct inbox_claim *out, size_t cap, size_t max_bytes, size_t *got_out, struct pg_tx *tx,
                struct arena *arena, int32_t *turn)
{
    int32_t from = *turn, app_id = 0;
    bool is_second = false;

    *got_out = 0;
    for (;;) {
        int found = next_app(&app_id, tx, from);
        if (found < 0 || (!found && (is_second || !*turn)))
            return found;
        if (!found || (is_second && app_id > *turn)) {
            if (is_second)
                return 0;
            is_second = true; /* once more from the first app on, up to where we began */
            from = 0;
            continue;
        }
        int rc = claim_of(out, cap, max_bytes, got_out, tx, arena, app_id);
        if (rc)
            return rc;
        if (*got_out) {
            *turn = app_id;
            return 0;
        }
        from = app_id; /* other workers have all its due rows */
    }
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
    int rc =
        pg_query(NULL, tx,
                 "INSERT INTO dead_letter (slot, day, report_id, app_id, stage, reason) VALUES ($1, $2, $3, $4, $5, $6)"
                 " ON CONFLICT (slot, day, report_id) DO UPDATE SET failed_at = now(), stage = EXCLUDED.stage,"
                 " reason = EXCLUDED.reason",
                 PG_INT2(claim->slot), PG_DAY(claim->day), PG_UUID(&claim->report_id), PG_INT4(claim->app_id),
                 PG_TEXT(stage), PG_TEXT(reason));
    return rc ? rc : inbox_finish(tx, &claim, 1);
}

int inbox_fail(struct pg_tx *tx, const struct inbox_claim *claim, const char *stage, const char *reason, bool is_final)
{
    if (is_final || claim->attempts + 1 >= MIRE_INBOX_ATTEMPTS_MAX)
        return give_up(tx, claim, stage, reason);
    return pg_query(NULL, tx,
                    "UPDATE inbox SET attempts = attempts + 1, not_before = now() + interval '2 s' * (1 << attempts)"
                    " WHERE slot = $1 AND day = $2 AND report_id = $3",
                    PG_INT2(claim->slot), PG_DAY(claim->day), PG_UUID(&claim->report_id));
}

int inbox_depth(struct inbox_depth *out, struct pg *pg)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_READ);
    if (!rc)
        rc = pg_query(&rows, tx,
                      "SELECT count(*), coalesce(extract(epoch FROM now() - min(queued_at)) * 1000000, 0)::int8,"
                      " (SELECT count(*) FROM dead_letter) FROM inbox");
    if (!rc)
        *out = (struct inbox_depth){pg_int(rows, 0, 0), pg_int(rows, 0, 1), pg_int(rows, 0, 2)};
    return rc;
}
