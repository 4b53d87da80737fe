/*
 * rollup_merge.c - deltas into cells, and cells from events. One transaction with one snapshot.
 *
 * Each event goes to four cells: hour and day, of its issue and of its app. A session record goes to one: its app's day.
 * Events are sorted by cell, so each cell is read and written once.
 */
#include "rows/rollup.h"

#include "base/fault.h"
#include "base/sort.h"
#include "pg/pg.h"
#include "rollup/pack.h"
#include "rows/rollup_events.h"
#include "rows/standing.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES    (2048ull << 20) /* never reached: the counts below bound it */
#define DELTAS_AT_ONCE 256             /* some 50,000 events */
#define CELLS_AT_ONCE  64
#define DAYS_AT_ONCE   512
#define HOUR_US        3600000000ll
#define DAY_US         (24 * HOUR_US)

struct rollup_key {
    int16_t slot;
    int32_t app_id;
    int16_t hours;
    int64_t at_us;
    int64_t issue_id;
    int32_t tree;
    const char *category; /* "" of an issue */
};

/* An event on its way into one cell. */
struct rollup_share {
    struct rollup_key key;
    const struct cell_event *event;
};

struct rollup_shares {
    struct rollup_share *rows;
    size_t count;
};

struct rollup_merge {
    struct pg_tx *tx;
    struct arena arena; /* of the deltas */
    struct arena part;  /* of some cells */
    int64_t first_hour_us;
    bool more;
};

/* --- cells --- */

static int compare_keys(const struct rollup_key *x, const struct rollup_key *y)
{
    int order = order_of(x->slot, y->slot);
    order = order ? order : order_of(x->app_id, y->app_id);
    order = order ? order : order_of(x->hours, y->hours);
    order = order ? order : order_of(x->at_us, y->at_us);
    order = order ? order : order_of(x->issue_id, y->issue_id);
    order = order ? order : order_of(x->tree, y->tree);
    return order ? order : strcmp(x->category, y->category);
}

static int by_cell(const void *a, const void *b)
{
    const struct rollup_share *x = a, *y = b;
    int order = compare_keys(&x->key, &y->key);
    return order ? order : (x->event > y->event) - (x->event < y->event);
}

/* The cells of some shares, column by column. */
struct rollup_columns {
    int16_t *slots, *hours;
    int32_t *apps, *trees;
    int64_t *at, *issues, *oldest, *newest;
    const char **categories;
    struct pg_bytes *devices, *bytes;
    struct cell *cells;
    size_t count;
};

static bool make_columns(struct rollup_columns *out, struct arena *arena, size_t count)
{
    *out = (struct rollup_columns){
        .slots = arena_array(arena, count, sizeof *out->slots),
        .hours = arena_array(arena, count, sizeof *out->hours),
        .apps = arena_array(arena, count, sizeof *out->apps),
        .trees = arena_array(arena, count, sizeof *out->trees),
        .at = arena_array(arena, count, sizeof *out->at),
        .issues = arena_array(arena, count, sizeof *out->issues),
        .oldest = arena_array(arena, count, sizeof *out->oldest),
        .newest = arena_array(arena, count, sizeof *out->newest),
        .categories = arena_array(arena, count, sizeof *out->categories),
        .devices = arena_array(arena, count, sizeof *out->devices),
        .bytes = arena_array(arena, count, sizeof *out->bytes),
        .cells = arena_array(arena, count, sizeof *out->cells),
    };
    return out->slots && out->hours && out->apps && out->trees && out->at && out->issues && out->oldest &&
           out->newest && out->categories && out->devices && out->bytes && out->cells;
}

static void put_key(struct rollup_columns *c, const struct rollup_key *key)
{
    c->slots[c->count] = key->slot;
    c->hours[c->count] = key->hours;
    c->apps[c->count] = key->app_id;
    c->trees[c->count] = key->tree;
    c->at[c->count] = key->at_us;
    c->issues[c->count] = key->issue_id;
    c->categories[c->count++] = key->category;
}

#define KEY_PARAMS(c)                                                                                       \
    PG_INT2S((c)->slots, (c)->count), PG_INT4S((c)->apps, (c)->count), PG_INT2S((c)->hours, (c)->count),    \
        PG_TIMES((c)->at, (c)->count), PG_INT8S((c)->issues, (c)->count), PG_INT4S((c)->trees, (c)->count), \
        PG_TEXTS((c)->categories, (c)->count)

/* Read what is stored of the cells. */
static int read_cells(struct rollup_merge *m, struct rollup_columns *c)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, m->tx,
                      "SELECT k.n, r.cell FROM unnest($1::smallint[], $2::integer[], $3::smallint[], $4::timestamptz[],"
                      " $5::bigint[], $6::integer[], $7::text[]) WITH ORDINALITY"
                      " k (slot, app_id, hours, at, issue_id, tree, category, n) JOIN rollup r ON r.slot = k.slot"
                      " AND r.app_id = k.app_id AND r.hours = k.hours AND r.at = k.at AND r.issue_id = k.issue_id"
                      " AND r.tree = k.tree AND r.category = k.category",
                      KEY_PARAMS(c));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct pg_bytes bytes = pg_bytes(rows, i, 1);
        rc = cell_decode(&c->cells[pg_int(rows, i, 0) - 1], &m->part, bytes.bytes, bytes.len);
    }
    return rc;
}

static int encode_cells(struct rollup_merge *m, struct rollup_columns *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct pack_out devices = {.arena = &m->part};
        unsigned char *bytes;
        size_t len;
        distinct_pack(&devices, &c->cells[i].all.devices);
        if (devices.failed || cell_encode(&bytes, &len, &m->part, &c->cells[i]))
            return MIRE_FAULT_MEMORY;
        c->devices[i] = (struct pg_bytes){devices.bytes, devices.len};
        c->bytes[i] = (struct pg_bytes){bytes, len};
        c->oldest[i] = c->cells[i].oldest_us;
        c->newest[i] = c->cells[i].newest_us;
    }
    return 0;
}

static int store_cells(struct rollup_merge *m, struct rollup_columns *c)
{
    int rc = encode_cells(m, c);
    return rc ? rc
              : pg_query(NULL, m->tx,
                         "INSERT INTO rollup (slot, app_id, hours, at, issue_id, tree, category, oldest_at, newest_at,"
                         " devices, cell) SELECT * FROM unnest($1::smallint[], $2::integer[], $3::smallint[],"
                         " $4::timestamptz[], $5::bigint[], $6::integer[], $7::text[], $8::timestamptz[],"
                         " $9::timestamptz[], $10::bytea[], $11::bytea[])"
                         " ON CONFLICT (slot, app_id, hours, at, issue_id, tree, category) DO UPDATE SET"
                         " oldest_at = EXCLUDED.oldest_at, newest_at = EXCLUDED.newest_at,"
                         " devices = EXCLUDED.devices, cell = EXCLUDED.cell",
                         KEY_PARAMS(c), PG_TIMES(c->oldest, c->count), PG_TIMES(c->newest, c->count),
                         PG_BYTESS(c->devices, c->count), PG_BYTESS(c->bytes, c->count));
}

/* Add the shares, sorted by cell, of at most CELLS_AT_ONCE cells. Returns how many there were, or a fault. */
static int64_t add_some(struct rollup_merge *m, const struct rollup_share *shares, size_t count)
{
    struct rollup_columns c;
    size_t used = 0, cell = 0;

    arena_reset(&m->part);
    if (!make_columns(&c, &m->part, CELLS_AT_ONCE))
        return MIRE_FAULT_MEMORY;
    for (; used < count; used++) {
        bool is_new = !used || compare_keys(&shares[used].key, &shares[used - 1].key) != 0;
        if (is_new && c.count == CELLS_AT_ONCE)
            break;
        if (is_new)
            put_key(&c, &shares[used].key);
    }
    int rc = read_cells(m, &c);
    for (size_t i = 0; !rc && i < used; i++) {
        cell += i && compare_keys(&shares[i].key, &shares[i - 1].key) != 0;
        rc = cell_add(&c.cells[cell], &m->part, shares[i].event);
    }
    if (!rc)
        rc = store_cells(m, &c);
    return rc ? rc : (int64_t)used;
}

static int add_shares(struct rollup_merge *m, struct rollup_shares *list)
{
    if (list->count)
        qsort(list->rows, list->count, sizeof *list->rows, by_cell);
    for (size_t at = 0; at < list->count;) {
        int64_t used = add_some(m, &list->rows[at], list->count - at);
        if (used < 0)
            return (int)used;
        at += (size_t)used;
    }
    return 0;
}

static int64_t floor_to(int64_t us, int64_t unit)
{
    return us - ((us % unit) + unit) % unit;
}

static void share(struct rollup_shares *list, const struct rollup_merge *m, int32_t app,
                  const struct delta_entry *entry, bool of_app)
{
    int64_t issue = of_app ? 0 : entry->issue_id;
    if (!of_app && entry->event.session)
        return;
    struct rollup_key key = {.slot = rows_slot(app, issue),
                             .app_id = app,
                             .issue_id = issue,
                             .tree = of_app ? 0 : entry->tree,
                             .category = of_app ? entry->category : ""};

    key.hours = 24;
    key.at_us = floor_to(entry->event.occurred_us, DAY_US);
    list->rows[list->count++] = (struct rollup_share){key, &entry->event};
    if (entry->event.occurred_us < m->first_hour_us || entry->event.session)
        return;
    key.hours = 1;
    key.at_us = floor_to(entry->event.occurred_us, HOUR_US);
    list->rows[list->count++] = (struct rollup_share){key, &entry->event};
}

/* --- deltas --- */

static int add_deltas(struct rollup_merge *m)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct rollup_shares list = {0};
    int rc = pg_query(&rows, m->tx,
                      "DELETE FROM rollup_delta d USING (SELECT slot, delta_id FROM rollup_delta ORDER BY delta_id"
                      " LIMIT $1) t WHERE d.slot = t.slot AND d.delta_id = t.delta_id RETURNING app_id, bytes",
                      PG_INT8(DELTAS_AT_ONCE));
    size_t count = rc ? 0 : pg_row_count(rows), all = 0;
    struct delta_entry **entries = arena_array(&m->arena, count + 1, sizeof *entries);
    size_t *counts = arena_array(&m->arena, count + 1, sizeof *counts);

    if (!rc && (!entries || !counts))
        rc = MIRE_FAULT_MEMORY;
    for (size_t i = 0; !rc && i < count; i++) {
        struct pg_bytes bytes = pg_bytes(rows, i, 1);
        rc = delta_decode(&entries[i], &counts[i], &m->arena, bytes.bytes, bytes.len);
        all += counts[i];
    }
    list.rows = rc ? NULL : arena_array(&m->arena, all * 4 + 1, sizeof *list.rows);
    if (!list.rows)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < counts[i]; k++) {
            share(&list, m, (int32_t)pg_int(rows, i, 0), &entries[i][k], false);
            share(&list, m, (int32_t)pg_int(rows, i, 0), &entries[i][k], true);
        }
    m->more = count == DELTAS_AT_ONCE;
    return add_shares(m, &list);
}

/* --- days that are made anew --- */

typedef int (*entries_read)(struct pg_rows **rows_out, struct delta_entry **out, size_t *count_out, struct pg_tx *tx,
                            struct arena *arena, const struct rollup_day *day, int64_t from_us, int64_t to_us);

/* Add the entries of a span to cells that are empty, or hold earlier spans of the same day. */
static int add_span(struct rollup_merge *m, const struct rollup_day *day, int64_t from_us, int64_t to_us,
                    entries_read read)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct rollup_shares list = {0};
    struct delta_entry *entries;
    size_t count;

    arena_reset(&m->arena);
    int rc = read(&rows, &entries, &count, m->tx, &m->arena, day, from_us, to_us);
    list.rows = rc ? NULL : arena_array(&m->arena, count * 2 + 1, sizeof *list.rows);
    if (!list.rows)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        share(&list, m, day->app_id, &entries[i], !day->issue_id);
    return add_shares(m, &list);
}

static int make_anew(struct rollup_merge *m, const struct rollup_day *day)
{
    int64_t from_us = day->day * DAY_US;
    int rc = pg_query(NULL, m->tx,
                      "DELETE FROM rollup WHERE slot = $1 AND app_id = $2 AND issue_id = $3 AND hours IN (1, 24)"
                      " AND at >= $4 AND at < $5",
                      PG_INT2(rows_slot(day->app_id, day->issue_id)), PG_INT4(day->app_id), PG_INT8(day->issue_id),
                      PG_TIME(from_us), PG_TIME(from_us + DAY_US));
    int64_t step_us = day->issue_id ? DAY_US : HOUR_US; /* an app's day may be large */
    for (int64_t at_us = from_us; !rc && at_us < from_us + DAY_US; at_us += step_us)
        rc = add_span(m, day, at_us, at_us + step_us, rows_rollup_events_read);
    for (int64_t at_us = from_us; !rc && !day->issue_id && at_us < from_us + DAY_US; at_us += step_us)
        rc = add_span(m, day, at_us, at_us + step_us, rows_rollup_sessions_read);
    return rc;
}

/* Days that are due, each once; a day's rows go together. Only after all deltas that the snapshot has were added. */
static int make_days_anew(struct rollup_merge *m)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct rollup_day day;
    int rc = pg_query(&rows, m->tx,
                      "WITH t AS (SELECT slot, app_id, issue_id, day FROM rollup_due GROUP BY 1, 2, 3, 4"
                      "  ORDER BY min(due_id) LIMIT $1),"
                      " gone AS (DELETE FROM rollup_due d USING t WHERE d.slot = t.slot AND d.app_id = t.app_id"
                      "  AND d.issue_id = t.issue_id AND d.day = t.day)"
                      " SELECT app_id, issue_id, day FROM t",
                      PG_INT8(DAYS_AT_ONCE));
    size_t count = rc ? 0 : pg_row_count(rows);
    for (size_t i = 0; !rc && i < count; i++) {
        day = (struct rollup_day){(int32_t)pg_int(rows, i, 0), pg_int(rows, i, 1), pg_day(rows, i, 2)};
        rc = make_anew(m, &day);
    }
    m->more = count == DAYS_AT_ONCE;
    return rc;
}

/* Cells and sums are found by key, also with plans of a time when the tables were small or their size was not known. */
static const char begin_sql[] = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET LOCAL enable_seqscan = off;"
                                " SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off";

static int merge(struct rollup_merge *m, struct pg *pg)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = pg_script(tx, begin_sql);
    if (!rc)
        rc = pg_query(&rows, tx, "SELECT pg_try_advisory_xact_lock(7117, 3)");
    if (rc || !pg_bool(rows, 0, 0))
        return rc;
    m->tx = tx;
    bool more = false;
    rc = add_deltas(m);
    if (!rc && !m->more)
        rc = make_days_anew(m);
    if (!rc)
        rc = rows_standing_merge(&more, tx);
    m->more |= more;
    return rc ? rc : pg_commit(&tx);
}

int rows_rollups_merge(bool *more_out, struct pg *pg, int64_t now_us)
{
    struct rollup_merge m = {.first_hour_us = floor_to(now_us, DAY_US) - MIRE_ROLLUP_HOUR_DAYS * DAY_US};

    arena_init(&m.arena, ARENA_BYTES);
    arena_init(&m.part, ARENA_BYTES);
    int rc = merge(&m, pg);
    arena_fini(&m.arena);
    arena_fini(&m.part);
    *more_out = !rc && m.more;
    return rc;
}

int rows_rollups_waiting(struct rollups_waiting *out, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(made_at)), 0)::int8 FROM"
                      " (SELECT made_at FROM rollup_delta UNION ALL SELECT made_at FROM standing_delta) d");
    if (rc)
        return rc;
    *out = (struct rollups_waiting){.deltas = pg_int(rows, 0, 0), .oldest_s = pg_int(rows, 0, 1)};
    return 0;
}
