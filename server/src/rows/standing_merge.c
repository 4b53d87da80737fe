/*
 * standing_merge.c - deltas into standing sums, and days from counters. One transaction with one snapshot.
 *
 * A change goes to the span of each length that has its hour. Changes are sorted by row, so each row is read and written
 * once. After a day was made anew, the longer spans with it are made anew from shorter ones.
 */
#include "rows/standing.h"

#include "base/fault.h"
#include "base/sort.h"
#include "model/category.h"
#include "pg/pg.h"
#include "rollup/standing.h"
#include "rows/view_sql.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES    (2048ull << 20) /* never reached: the counts below bound it */
#define DELTAS_AT_ONCE 256             /* some 50,000 events */
#define ROWS_AT_ONCE   256
#define DAYS_AT_ONCE   4
#define HOUR_US        3600000000ll
#define DAY_HOURS      24
#define DAY_US         (DAY_HOURS * HOUR_US)

struct standing_merge {
    struct pg_tx *tx;
    struct arena arena; /* of the changes */
    struct arena part;  /* of some rows */
};

struct standing_row_key {
    int16_t slot;
    int32_t app_id;
    int16_t kind, hours;
    int64_t of_id, at_us;
};

/* A change on its way into one row. */
struct standing_share {
    struct standing_row_key key;
    const struct standing_change *change;
};

struct standing_shares {
    struct standing_share *rows;
    size_t count;
};

static int compare_keys(const struct standing_row_key *x, const struct standing_row_key *y)
{
    int order = order_of(x->slot, y->slot);
    order = order ? order : order_of(x->app_id, y->app_id);
    order = order ? order : order_of(x->kind, y->kind);
    order = order ? order : order_of(x->of_id, y->of_id);
    order = order ? order : order_of(x->hours, y->hours);
    return order ? order : order_of(x->at_us, y->at_us);
}

static int by_row(const void *a, const void *b)
{
    const struct standing_share *x = a, *y = b;
    int order = compare_keys(&x->key, &y->key);
    return order ? order : (x->change > y->change) - (x->change < y->change);
}

/* --- rows --- */

struct standing_columns {
    int16_t *slots, *kinds, *hours;
    int32_t *apps;
    int64_t *ids, *at;
    struct pg_bytes *bytes;
    struct standing *sums;
    size_t count;
};

static bool make_columns(struct standing_columns *out, struct arena *arena, size_t count)
{
    *out = (struct standing_columns){
        .slots = arena_array(arena, count, sizeof *out->slots),
        .kinds = arena_array(arena, count, sizeof *out->kinds),
        .hours = arena_array(arena, count, sizeof *out->hours),
        .apps = arena_array(arena, count, sizeof *out->apps),
        .ids = arena_array(arena, count, sizeof *out->ids),
        .at = arena_array(arena, count, sizeof *out->at),
        .bytes = arena_array(arena, count, sizeof *out->bytes),
        .sums = arena_array(arena, count, sizeof *out->sums),
    };
    return out->slots && out->kinds && out->hours && out->apps && out->ids && out->at && out->bytes && out->sums;
}

static void put_key(struct standing_columns *c, const struct standing_row_key *key)
{
    c->slots[c->count] = key->slot;
    c->kinds[c->count] = key->kind;
    c->hours[c->count] = key->hours;
    c->apps[c->count] = key->app_id;
    c->ids[c->count] = key->of_id;
    c->at[c->count++] = key->at_us;
}

#define KEY_PARAMS(c)                                                                                    \
    PG_INT2S((c)->slots, (c)->count), PG_INT4S((c)->apps, (c)->count), PG_INT2S((c)->kinds, (c)->count), \
        PG_INT8S((c)->ids, (c)->count), PG_INT2S((c)->hours, (c)->count), PG_TIMES((c)->at, (c)->count)
#define KEYS "unnest($1::smallint[], $2::integer[], $3::smallint[], $4::bigint[], $5::smallint[], $6::timestamptz[]"
#define IS_KEY                                                                                                     \
    "s.slot = k.slot AND s.app_id = k.app_id AND s.kind = k.kind AND s.of_id = k.of_id AND s.hours = k.hours AND " \
    "s.at = k.at"

struct adding {
    struct standing *to;
    struct arena *arena;
};

static int add(void *context, const struct standing_key *key, const struct standing_sums *sums)
{
    struct adding *adding = context;
    return standing_add(adding->to, adding->arena, key, sums);
}

/* Read what is stored of the rows. */
static int read_rows(struct standing_merge *m, struct standing_columns *c)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, m->tx,
                      "SELECT k.n, s.at, s.bytes FROM " KEYS
                      ") WITH ORDINALITY k (slot, app_id, kind, of_id, hours, at, n) JOIN standing s ON " IS_KEY,
                      KEY_PARAMS(c));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct adding adding = {&c->sums[pg_int(rows, i, 0) - 1], &m->part};
        struct pg_bytes bytes = pg_bytes(rows, i, 2);
        rc = standing_each(bytes.bytes, bytes.len, pg_time(rows, i, 1), add, &adding);
    }
    return rc;
}

/* A row without counters is deleted: its bytes are null. */
static int write_rows(struct standing_merge *m, struct standing_columns *c)
{
    bool emptied = false;
    int rc = 0;

    for (size_t i = 0; !rc && i < c->count; i++) {
        unsigned char *bytes;
        size_t len;
        standing_sort(&c->sums[i]);
        emptied |= !c->sums[i].count;
        if (!c->sums[i].count)
            continue;
        rc = standing_encode(&bytes, &len, &m->part, &c->sums[i], c->at[i]);
        if (!rc)
            c->bytes[i] = (struct pg_bytes){bytes, len};
    }
    if (!rc)
        rc = pg_query(NULL, m->tx,
                      "INSERT INTO standing (slot, app_id, kind, of_id, hours, at, bytes) SELECT * FROM " KEYS
                      ", $7::bytea[]) k (slot, app_id, kind, of_id, hours, at, bytes) WHERE bytes IS NOT NULL"
                      " ON CONFLICT (slot, app_id, kind, of_id, hours, at) DO UPDATE SET bytes = EXCLUDED.bytes",
                      KEY_PARAMS(c), PG_BYTESS(c->bytes, c->count));
    if (!rc && emptied)
        rc =
            pg_query(NULL, m->tx,
                     "DELETE FROM standing s USING " KEYS
                     ", $7::bytea[]) k (slot, app_id, kind, of_id, hours, at, bytes) WHERE k.bytes IS NULL AND " IS_KEY,
                     KEY_PARAMS(c), PG_BYTESS(c->bytes, c->count));
    return rc;
}

static struct standing_key key_in_row(const struct standing_share *share)
{
    const struct standing_change *change = share->change;

    if (share->key.kind == MIRE_STANDING_ISSUE)
        return (struct standing_key){.a = change->version,
                                     .b = change->part,
                                     .c = (int32_t)((change->sums.first_us - share->key.at_us) / HOUR_US)};
    bool by_issue = change->kind == MIRE_STANDING_ISSUES;
    return (struct standing_key){.a = by_issue ? change->issue : change->version, .b = change->part};
}

static int add_to_rows(struct standing_merge *m, const struct standing_share *shares, size_t share_count,
                       size_t row_count)
{
    struct standing_columns c;
    int rc = 0;

    arena_reset(&m->part);
    if (!make_columns(&c, &m->part, row_count))
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < share_count; i++)
        if (!i || compare_keys(&shares[i].key, &shares[i - 1].key))
            put_key(&c, &shares[i].key);
    rc = read_rows(m, &c);
    for (size_t i = 0, row = 0; !rc && i < share_count; i++) {
        row += i && compare_keys(&shares[i].key, &shares[i - 1].key);
        struct standing_key key = key_in_row(&shares[i]);
        rc = standing_add(&c.sums[row], &m->part, &key, &shares[i].change->sums);
    }
    return rc ? rc : write_rows(m, &c);
}

static int add_shares(struct standing_merge *m, struct standing_shares *list)
{
    int rc = 0;

    if (list->count)
        qsort(list->rows, list->count, sizeof *list->rows, by_row);
    for (size_t at = 0, end, rows; !rc && at < list->count; at = end) {
        for (end = at, rows = 0; end < list->count; end++) {
            bool is_next = end == at || compare_keys(&list->rows[end].key, &list->rows[end - 1].key);
            if (is_next && rows == ROWS_AT_ONCE)
                break;
            rows += is_next;
        }
        rc = add_to_rows(m, &list->rows[at], end - at, rows);
    }
    return rc;
}

static int64_t floor_to(int64_t value, int64_t step)
{
    int64_t rest = value % step;
    return value - (rest < 0 ? rest + step : rest);
}

/* Shares of a change in rows of a kind, of spans up to `most` hours. */
static void share_kind(struct standing_shares *list, int32_t app, const struct standing_change *change,
                       enum standing_kind kind, int16_t most)
{
    bool by_issue = kind == MIRE_STANDING_ISSUES || kind == MIRE_STANDING_ISSUE;
    int64_t of = kind == MIRE_STANDING_VERSION ? change->version : kind == MIRE_STANDING_ISSUE ? change->issue : 0;
    struct standing_row_key key = {.slot = rows_slot(app, by_issue ? change->issue : change->version),
                                   .app_id = app,
                                   .kind = (int16_t)kind,
                                   .of_id = of};

    for (const int16_t *hours = standing_lengths[kind]; *hours && *hours <= most; hours++) {
        key.hours = *hours;
        key.at_us = floor_to(change->sums.first_us, *hours * HOUR_US);
        list->rows[list->count++] = (struct standing_share){key, change};
    }
}

#define SHARES_MOST 8 /* of a change */

static void share(struct standing_shares *list, int32_t app, const struct standing_change *change, int16_t most)
{
    share_kind(list, app, change, change->kind, most);
    if (change->kind != MIRE_STANDING_ISSUES)
        return;
    share_kind(list, app, change, MIRE_STANDING_VERSION, most);
    share_kind(list, app, change, MIRE_STANDING_ISSUE, most);
}

/* --- deltas --- */

static int add_deltas(bool *more_out, struct standing_merge *m)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct standing_shares list = {0};
    size_t all = 0;
    int rc = pg_query(&rows, m->tx,
                      "DELETE FROM standing_delta d USING (SELECT slot, delta_id FROM standing_delta ORDER BY delta_id"
                      " LIMIT $1) t WHERE d.slot = t.slot AND d.delta_id = t.delta_id RETURNING app_id, bytes",
                      PG_INT8(DELTAS_AT_ONCE));
    size_t count = rc ? 0 : pg_row_count(rows);
    struct standing_change **changes = arena_array(&m->arena, count + 1, sizeof *changes);
    size_t *counts = arena_array(&m->arena, count + 1, sizeof *counts);

    if (!rc && (!changes || !counts))
        rc = MIRE_FAULT_MEMORY;
    for (size_t i = 0; !rc && i < count; i++) {
        struct pg_bytes bytes = pg_bytes(rows, i, 1);
        rc = standing_changes_decode(&changes[i], &counts[i], &m->arena, bytes.bytes, bytes.len);
        all += counts[i];
    }
    list.rows = rc ? NULL : arena_array(&m->arena, all * SHARES_MOST + 1, sizeof *list.rows);
    if (!list.rows)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < counts[i]; k++)
            share(&list, (int32_t)pg_int(rows, i, 0), &changes[i][k], INT16_MAX);
    *more_out = count == DELTAS_AT_ONCE;
    return add_shares(m, &list);
}

/* --- days that are made anew --- */

/* The counters of a day as changes: three statements with the same columns. */
/* clang-format off */
static const char counters_sql[] =
    "SELECT 0, hour, issue_id, version_id, tree, '', reports, events, waited_ms, longest_ms, most_bytes, last_at, above_bytes FROM issue_hour"
    " WHERE slot = ANY ($1::smallint[]) AND app_id = $2 AND hour >= $3 AND hour < $4"
    " UNION ALL SELECT 1, hour, 0, version_id, 0, category, reports, events, waited_ms, longest_ms, 0, hour, 0 FROM version_hour"
    " WHERE slot = ANY ($1::smallint[]) AND app_id = $2 AND hour >= $3 AND hour < $4"
    " UNION ALL SELECT 2, hour, 0, version_id, from_ms::integer, '', 0, turns, 0, 0, 0, hour, 0 FROM turn_hour"
    " WHERE slot = ANY ($1::smallint[]) AND app_id = $2 AND hour >= $3 AND hour < $4";
/* clang-format on */

/* The bucket of turns of at least so many milliseconds. */
static int32_t bucket_of(int32_t from_ms)
{
    int32_t bucket = 0;
    while (MIRE_TURN_LEAST << (bucket + 1) <= from_ms && bucket + 1 < MIRE_TURN_BUCKETS)
        bucket++;
    return bucket;
}

static struct standing_change change_at(const struct pg_rows *rows, size_t row)
{
    struct standing_change change = {.kind = (enum standing_kind)pg_int(rows, row, 0),
                                     .issue = pg_int(rows, row, 2),
                                     .version = pg_int(rows, row, 3),
                                     .part = (int32_t)pg_int(rows, row, 4),
                                     .sums = {.reports = pg_int(rows, row, 6),
                                              .events = pg_real(rows, row, 7),
                                              .waited_ms = pg_real(rows, row, 8),
                                              .above_bytes = pg_real(rows, row, 12),
                                              .longest_ms = pg_int(rows, row, 9),
                                              .most_bytes = pg_int(rows, row, 10),
                                              .first_us = pg_time(rows, row, 1),
                                              .last_us = pg_time(rows, row, 11)}};
    enum event_category category = MIRE_CATEGORY_COUNT;

    if (change.kind == MIRE_STANDING_VERSIONS) {
        (void)category_named(&category, pg_text(rows, row, 5));
        change.part = (int32_t)category;
    }
    if (change.kind == MIRE_STANDING_TURNS)
        change.part = bucket_of(change.part);
    return change;
}

/* Make the span of some hours of all slots anew, from the spans of `from` hours. */
static int make_span(struct standing_merge *m, int32_t app, int16_t hours, int16_t from, int64_t at_us)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct standing_columns c;
    struct standing_row_key key = {
        .app_id = app, .kind = MIRE_STANDING_ISSUES, .hours = hours, .at_us = floor_to(at_us, hours * HOUR_US)};

    arena_reset(&m->part);
    if (!make_columns(&c, &m->part, MIRE_SLOT_COUNT))
        return MIRE_FAULT_MEMORY;
    for (key.slot = 0; key.slot < MIRE_SLOT_COUNT; key.slot++)
        put_key(&c, &key);
    int rc =
        pg_query(&rows, m->tx,
                 "SELECT slot, at, bytes FROM standing WHERE slot = ANY ($1::smallint[]) AND app_id = $2 AND kind = $3"
                 " AND of_id = 0 AND hours = $4 AND at >= $5 AND at < $6",
                 SLOT_PARAM, PG_INT4(app), PG_INT2(MIRE_STANDING_ISSUES), PG_INT2(from), PG_TIME(key.at_us),
                 PG_TIME(key.at_us + hours * HOUR_US));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct adding adding = {&c.sums[pg_int(rows, i, 0)], &m->part};
        struct pg_bytes bytes = pg_bytes(rows, i, 2);
        rc = standing_each(bytes.bytes, bytes.len, pg_time(rows, i, 1), add, &adding);
    }
    return rc ? rc : write_rows(m, &c);
}

/* Delete the spans in a day, of all kinds. */
static int delete_day(struct standing_merge *m, int32_t app, int64_t from_us)
{
    const int16_t *hours = standing_lengths[MIRE_STANDING_ISSUES]; /* has those of all kinds */
    int16_t kinds[MIRE_STANDING_KINDS];
    size_t hours_count = 0;

    for (int16_t kind = 0; kind < MIRE_STANDING_KINDS; kind++)
        kinds[kind] = kind;
    while (hours[hours_count] && hours[hours_count] <= DAY_HOURS)
        hours_count++;
    return pg_query(NULL, m->tx,
                    "DELETE FROM standing WHERE slot = ANY ($1::smallint[]) AND app_id = $2"
                    " AND kind = ANY ($3::smallint[]) AND hours = ANY ($4::smallint[]) AND at >= $5 AND at < $6",
                    SLOT_PARAM, PG_INT4(app), PG_INT2S(kinds, MIRE_STANDING_KINDS), PG_INT2S(hours, hours_count),
                    PG_TIME(from_us), PG_TIME(from_us + DAY_US));
}

static int make_anew(struct standing_merge *m, int32_t app, int64_t from_us)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct standing_shares list = {0};
    int rc = delete_day(m, app, from_us);
    if (!rc)
        rc =
            pg_query(&rows, m->tx, counters_sql, SLOT_PARAM, PG_INT4(app), PG_TIME(from_us), PG_TIME(from_us + DAY_US));
    arena_reset(&m->arena);
    size_t count = rc ? 0 : pg_row_count(rows);
    struct standing_change *changes = arena_array(&m->arena, count + 1, sizeof *changes);
    list.rows = arena_array(&m->arena, count * SHARES_MOST + 1, sizeof *list.rows);
    if (rc || !changes || !list.rows)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        changes[i] = change_at(rows, i);
        share(&list, app, &changes[i], DAY_HOURS);
    }
    rc = add_shares(m, &list);
    const int16_t *lengths = standing_lengths[MIRE_STANDING_ISSUES];
    for (int i = 1; !rc && lengths[i]; i++)
        if (lengths[i] > DAY_HOURS)
            rc = make_span(m, app, lengths[i], lengths[i - 1], from_us);
    return rc;
}

/* Days that are due, each once. Only after all deltas that the snapshot has were added. */
static int make_days_anew(bool *more_out, struct standing_merge *m)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, m->tx, "SELECT app_id, day FROM standing_due GROUP BY 1, 2 ORDER BY min(due_id) LIMIT $1",
                      PG_INT8(DAYS_AT_ONCE));
    size_t count = rc ? 0 : pg_row_count(rows);
    for (size_t i = 0; !rc && i < count; i++) {
        rc = pg_query(NULL, m->tx,
                      "DELETE FROM standing_due WHERE slot = ANY ($1::smallint[]) AND app_id = $2 AND day = $3",
                      SLOT_PARAM, PG_INT4(pg_int(rows, i, 0)), PG_DAY(pg_day(rows, i, 1)));
        if (!rc)
            rc = make_anew(m, (int32_t)pg_int(rows, i, 0), pg_day(rows, i, 1) * DAY_US);
    }
    *more_out = count == DAYS_AT_ONCE;
    return rc;
}

int rows_standing_merge(bool *more_out, struct pg_tx *tx)
{
    struct standing_merge m = {.tx = tx};

    arena_init(&m.arena, ARENA_BYTES);
    arena_init(&m.part, ARENA_BYTES);
    int rc = add_deltas(more_out, &m);
    if (!rc && !*more_out)
        rc = make_days_anew(more_out, &m);
    arena_fini(&m.arena);
    arena_fini(&m.part);
    return rc;
}
