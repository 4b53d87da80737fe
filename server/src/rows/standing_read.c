/* standing_read.c - see standing_read.h. */
#include "rows/standing_read.h"

#include "base/fault.h"
#include "model/category.h"
#include "model/rows.h"
#include "rollup/standing.h"
#include "rows/view_sql.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH_BYTES (1024u << 20)
#define HOUR_US       3600000000ll
#define DAY_HOURS     24

/* Of which versions, by number. */
struct standing_versions {
    bool all;
    int64_t *ids; /* rising */
    size_t count;
};

struct standing_reading {
    struct pg_tx *tx;
    struct arena *arena;  /* of the result */
    struct arena scratch; /* of all else */
    const struct view *view;
    enum standing_kind kind;
    struct standing_versions versions;
    const struct counted_by *by;
    struct standing sums;
    int64_t of_id, at_us; /* of the row that is read */
};

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool has(const int64_t *ids, size_t count, int64_t id)
{
    return count && bsearch(&id, ids, count, sizeof id, by_number);
}

static int read_versions(struct standing_reading *r)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    const struct filter *f = &r->view->version;

    r->versions.all = f->with_count + f->without_count == 0;
    if (r->versions.all)
        return 0;
    int rc = pg_query(
        &rows, r->tx,
        "SELECT version_id FROM version WHERE app_id = $1 AND (cardinality($2::text[]) = 0 OR version = ANY ($2))"
        " AND version <> ALL ($3::text[]) ORDER BY 1",
        PG_INT4(r->view->app), FILTER_PARAMS(f));
    r->versions.count = rc ? 0 : pg_row_count(rows);
    r->versions.ids = arena_array(&r->scratch, r->versions.count + 1, sizeof *r->versions.ids);
    for (size_t i = 0; r->versions.ids && i < r->versions.count; i++)
        r->versions.ids[i] = pg_int(rows, i, 0);
    return rc ? rc : r->versions.ids ? 0 : MIRE_FAULT_MEMORY;
}

static bool is_wanted(const struct standing_reading *r, int64_t version)
{
    return r->versions.all || has(r->versions.ids, r->versions.count, version);
}

/* --- what is added up under which key --- */

static bool in_span(const struct standing_reading *r, int64_t hour_us)
{
    return hour_us >= r->view->span.from_s * 1000000 && hour_us < r->view->span.to_s * 1000000;
}

/* Bucket or part of the span in which an hour is. */
static int32_t place_of(const struct standing_reading *r, int64_t hour_us)
{
    int64_t hour_s = hour_us / 1000000, from_s = r->view->span.from_s, to_s = r->view->span.to_s;

    if (r->by && r->by->part_count)
        return (int32_t)floor((double)(hour_s - from_s) * r->by->part_count / (double)(to_s - from_s));
    return r->by && r->by->bucket_s ? (int32_t)(hour_s / r->by->bucket_s) : 0;
}

/* Add sums of an issue's hour. */
static int add_issue(struct standing_reading *r, int64_t issue, int64_t version, int32_t tree,
                     const struct standing_sums *sums)
{
    struct standing_key key = {
        .a = issue, .b = r->by->version ? version : 0, .c = tree, .d = place_of(r, sums->first_us)};
    struct standing_sums ranked = *sums;

    if (r->by->version_ids) {
        const int64_t *found = bsearch(&version, r->by->version_ids, r->by->rank_count, sizeof version, by_number);
        if (!found)
            return 0;
        ranked.low = ranked.high = r->by->ranks[found - r->by->version_ids];
    }
    return standing_add(&r->sums, &r->scratch, &key, &ranked);
}

/* A row of standing sums. */
static int take(void *context, const struct standing_key *key, const struct standing_sums *sums)
{
    struct standing_reading *r = context;
    struct standing_key to = {.a = key->a, .c = (int32_t)key->b};

    switch (r->kind) {
    case MIRE_STANDING_ISSUE: {
        struct standing_sums at_hour = *sums;
        at_hour.first_us = r->at_us + key->c * HOUR_US;
        return in_span(r, at_hour.first_us) && is_wanted(r, key->a)
                   ? add_issue(r, r->of_id, key->a, (int32_t)key->b, &at_hour)
                   : 0;
    }
    case MIRE_STANDING_VERSIONS:
    case MIRE_STANDING_TURNS:
        to.d = place_of(r, sums->first_us);
        if (r->kind == MIRE_STANDING_TURNS)
            to.a = 0;
        return is_wanted(r, key->a) ? standing_add(&r->sums, &r->scratch, &to, sums) : 0;
    default:
        return standing_add(&r->sums, &r->scratch, &to, sums);
    }
}

/* A change that waits. */
static int take_change(struct standing_reading *r, const struct standing_change *change, const int64_t *issues,
                       size_t count)
{
    bool of_issues = r->kind != MIRE_STANDING_VERSIONS && r->kind != MIRE_STANDING_TURNS;
    struct standing_key key = {.a = of_issues ? change->issue : change->version, .b = change->part};

    if (change->kind != (of_issues ? MIRE_STANDING_ISSUES : r->kind) || !in_span(r, change->sums.first_us) ||
        !is_wanted(r, change->version))
        return 0;
    if (r->kind != MIRE_STANDING_ISSUE)
        return take(r, &key, &change->sums);
    return has(issues, count, change->issue) ? add_issue(r, change->issue, change->version, change->part, &change->sums)
                                             : 0;
}

/* --- rows --- */

struct standing_keys {
    int16_t *slots, *hours;
    int64_t *ids, *at;
    size_t count;
};

static bool make_keys(struct standing_keys *out, struct arena *arena, size_t count)
{
    *out = (struct standing_keys){.slots = arena_array(arena, count + 1, sizeof *out->slots),
                                  .hours = arena_array(arena, count + 1, sizeof *out->hours),
                                  .ids = arena_array(arena, count + 1, sizeof *out->ids),
                                  .at = arena_array(arena, count + 1, sizeof *out->at)};
    return out->slots && out->hours && out->ids && out->at;
}

static void put_keys(struct standing_keys *keys, int16_t slot, int64_t id, const struct standing_block *blocks,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        keys->slots[keys->count] = slot;
        keys->hours[keys->count] = blocks[i].hours;
        keys->ids[keys->count] = id;
        keys->at[keys->count++] = blocks[i].at_us;
    }
}

/* Of kinds that are of an issue or version: of these. Rows of others are on all slots. */
static int list_rows(struct standing_keys *out, struct standing_reading *r, const int64_t *ids, size_t count)
{
    bool of_ids = r->kind == MIRE_STANDING_VERSION || r->kind == MIRE_STANDING_ISSUE;
    size_t block_count;
    bool by_hour = r->by && r->by->bucket_s && r->by->bucket_s < DAY_HOURS * 3600;
    struct standing_block *blocks = standing_blocks(&block_count, &r->scratch, r->kind, by_hour ? 1 : INT16_MAX,
                                                    r->view->span.from_s * 1000000, r->view->span.to_s * 1000000);

    if (!blocks || !make_keys(out, &r->scratch, (of_ids ? count : MIRE_SLOT_COUNT) * block_count))
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; of_ids && i < count; i++)
        put_keys(out, rows_slot(r->view->app, ids[i]), ids[i], blocks, block_count);
    for (int16_t slot = 0; !of_ids && slot < MIRE_SLOT_COUNT; slot++)
        put_keys(out, slot, 0, blocks, block_count);
    return 0;
}

static int read_rows(struct standing_reading *r, const struct standing_keys *keys)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, r->tx,
                 "SELECT s.of_id, s.at, s.bytes FROM unnest($3::smallint[], $4::bigint[], $5::smallint[],"
                 " $6::timestamptz[]) k (slot, of_id, hours, at) JOIN standing s ON s.slot = k.slot AND s.app_id = $1"
                 " AND s.kind = $2 AND s.of_id = k.of_id AND s.hours = k.hours AND s.at = k.at",
                 PG_INT4(r->view->app), PG_INT2(r->kind), PG_INT2S(keys->slots, keys->count),
                 PG_INT8S(keys->ids, keys->count), PG_INT2S(keys->hours, keys->count), PG_TIMES(keys->at, keys->count));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct pg_bytes bytes = pg_bytes(rows, i, 2);
        r->of_id = pg_int(rows, i, 0);
        r->at_us = pg_time(rows, i, 1);
        rc = standing_each(bytes.bytes, bytes.len, r->at_us, take, r);
    }
    return rc;
}

static int read_waiting(struct standing_reading *r, const int64_t *issues, size_t issue_count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, r->tx, "SELECT bytes FROM standing_delta WHERE app_id = $1 ORDER BY delta_id",
                      PG_INT4(r->view->app));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct pg_bytes bytes = pg_bytes(rows, i, 0);
        struct standing_change *changes;
        size_t count;
        rc = standing_changes_decode(&changes, &count, &r->scratch, bytes.bytes, bytes.len);
        for (size_t k = 0; !rc && k < count; k++)
            rc = take_change(r, &changes[k], issues, issue_count);
    }
    return rc;
}

/* --- columns --- */

static bool make_columns(struct counted *out, struct arena *arena, size_t count)
{
    *out = (struct counted){.count = count,
                            .hours = arena_array(arena, count + 1, sizeof *out->hours),
                            .reports = arena_array(arena, count + 1, sizeof *out->reports),
                            .events = arena_array(arena, count + 1, sizeof *out->events),
                            .waited = arena_array(arena, count + 1, sizeof *out->waited),
                            .longest = arena_array(arena, count + 1, sizeof *out->longest),
                            .last = arena_array(arena, count + 1, sizeof *out->last),
                            .most = arena_array(arena, count + 1, sizeof *out->most),
                            .above = arena_array(arena, count + 1, sizeof *out->above)};
    return out->hours && out->reports && out->events && out->waited && out->longest && out->last && out->most &&
           out->above;
}

static int put_sums(struct counted *out, struct standing_reading *r)
{
    standing_sort(&r->sums);
    if (!make_columns(out, r->arena, r->sums.count))
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < out->count; i++) {
        const struct standing_sums *sums = &r->sums.rows[i].sums;
        out->hours[i] = sums->first_us;
        out->reports[i] = sums->reports;
        out->events[i] = sums->events;
        out->waited[i] = sums->waited_ms;
        out->longest[i] = sums->longest_ms;
        out->last[i] = sums->last_us;
        out->most[i] = sums->most_bytes;
        out->above[i] = sums->above_bytes;
    }
    return 0;
}

static int put_issues(struct counted *out, struct standing_reading *r)
{
    int rc = put_sums(out, r);

    out->issues = arena_array(r->arena, out->count + 1, sizeof *out->issues);
    out->trees = arena_array(r->arena, out->count + 1, sizeof *out->trees);
    if (rc || !out->issues || !out->trees)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < out->count; i++) {
        out->issues[i] = r->sums.rows[i].key.a;
        out->trees[i] = r->sums.rows[i].key.c;
    }
    return 0;
}

static int put_of_issues(struct counted *out, struct standing_reading *r)
{
    int rc = put_issues(out, r);

    out->versions = arena_array(r->arena, out->count + 1, sizeof *out->versions);
    out->parts = arena_array(r->arena, out->count + 1, sizeof *out->parts);
    out->low = arena_array(r->arena, out->count + 1, sizeof *out->low);
    out->high = arena_array(r->arena, out->count + 1, sizeof *out->high);
    if (rc || !out->versions || !out->parts || !out->low || !out->high)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < out->count; i++) {
        out->versions[i] = r->sums.rows[i].key.b;
        out->parts[i] = r->sums.rows[i].key.d;
        out->low[i] = r->sums.rows[i].sums.low;
        out->high[i] = r->sums.rows[i].sums.high;
    }
    return 0;
}

static int put_versions(struct counted *out, struct standing_reading *r)
{
    int rc = put_sums(out, r);

    out->versions = arena_array(r->arena, out->count + 1, sizeof *out->versions);
    out->parts = arena_array(r->arena, out->count + 1, sizeof *out->parts);
    out->categories = arena_array(r->arena, out->count + 1, sizeof *out->categories);
    if (rc || !out->versions || !out->parts || !out->categories)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < out->count; i++) {
        int32_t part = r->sums.rows[i].key.c;
        out->versions[i] = r->sums.rows[i].key.a;
        out->parts[i] = part;
        out->categories[i] = part;
    }
    return 0;
}

static int read_counted(struct counted *out, struct standing_reading *r, const int64_t *ids, size_t count,
                        int (*put)(struct counted *, struct standing_reading *))
{
    struct standing_keys keys;

    arena_init(&r->scratch, SCRATCH_BYTES);
    int rc = read_versions(r);
    if (!rc && r->kind == MIRE_STANDING_ISSUES && !r->versions.all) {
        r->kind = MIRE_STANDING_VERSION;
        ids = r->versions.ids;
        count = r->versions.count;
    }
    if (!rc)
        rc = list_rows(&keys, r, ids, count);
    if (!rc)
        rc = read_rows(r, &keys);
    if (!rc)
        rc = read_waiting(r, ids, count);
    if (!rc)
        rc = put(out, r);
    arena_fini(&r->scratch);
    return rc;
}

int rows_counted_issues(struct counted *out, struct pg_tx *tx, struct arena *arena, const struct view *view)
{
    struct standing_reading r = {.tx = tx, .arena = arena, .view = view, .kind = MIRE_STANDING_ISSUES};
    return read_counted(out, &r, NULL, 0, put_issues);
}

int rows_counted_versions(struct counted *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                          int bucket_s)
{
    const struct counted_by by = {.bucket_s = bucket_s};
    struct standing_reading r = {.tx = tx, .arena = arena, .view = view, .kind = MIRE_STANDING_VERSIONS, .by = &by};
    return read_counted(out, &r, NULL, 0, put_versions);
}

int rows_counted_turns(struct counted *out, struct pg_tx *tx, struct arena *arena, const struct view *view)
{
    struct standing_reading r = {.tx = tx, .arena = arena, .view = view, .kind = MIRE_STANDING_TURNS};
    return read_counted(out, &r, NULL, 0, put_versions);
}

int rows_counted_of_issues(struct counted *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                           const int64_t *issues, size_t count, const struct counted_by *by)
{
    struct standing_reading r = {.tx = tx, .arena = arena, .view = view, .kind = MIRE_STANDING_ISSUE, .by = by};
    int64_t *sorted = arena_array(arena, count + 1, sizeof *sorted);

    if (!sorted)
        return MIRE_FAULT_MEMORY;
    if (count) {
        memcpy(sorted, issues, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_number);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!i || sorted[i] != sorted[i - 1])
            sorted[kept++] = sorted[i];
    return read_counted(out, &r, sorted, kept, put_of_issues);
}

int rows_counted_of_issue(struct counted *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                          int64_t issue, const struct counted_by *by)
{
    struct issue_keys keys;
    int rc = rows_keys_read(&keys, tx, arena, &issue, 1);
    return rc ? rc : rows_counted_of_issues(out, tx, arena, view, keys.issues, keys.count, by);
}

/* The name of the kind of trouble in an array. */
static const char *category_sql(struct arena *arena, int column)
{
    const char *sql = "(ARRAY[";

    for (int i = 0; sql && i < MIRE_CATEGORY_COUNT; i++)
        sql = arena_printf(arena, "%s'%s', ", sql, category_name((enum event_category)i));
    return sql ? arena_printf(arena, "%s''])[($%d::integer[])[i] + 1]", sql, column) : NULL;
}

/* Elements of arrays by their place: unnest of as many arrays takes four times as long. */
const char *counted_sql(struct arena *arena, int first)
{
    static const struct {
        const char *name, *type;
    } columns[COUNTED_COLUMNS] = {{"issue_id", "bigint"},    {"version_id", "bigint"},   {"tree", "integer"},
                                  {"category", "integer"},   {"hour", "timestamptz"},    {"part", "integer"},
                                  {"reports", "bigint"},     {"events", "float8"},       {"waited_ms", "float8"},
                                  {"longest_ms", "bigint"},  {"last_at", "timestamptz"}, {"most_bytes", "bigint"},
                                  {"above_bytes", "float8"}, {"low", "integer"},         {"high", "integer"}};
    enum { CATEGORY = 3, REPORTS = 6 };
    const char *sql = "(SELECT ";

    for (int i = 0; sql && i < COUNTED_COLUMNS; i++) {
        const char *element = arena_printf(arena, "($%d::%s[])[i]", first + i, columns[i].type);
        if (i == CATEGORY)
            element = category_sql(arena, first + i);
        sql = element ? arena_printf(arena, "%s%s%s AS %s", sql, i ? ", " : "", element, columns[i].name) : NULL;
    }
    return sql ? arena_printf(arena, "%s FROM generate_series(1, cardinality($%d::bigint[])) i) t", sql,
                              first + REPORTS)
               : NULL;
}
