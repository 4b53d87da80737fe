/*
 * devices.c - which devices an app's issues were seen on: the sketches of its cells, merged by issue, group and in all.
 *
 * PostgreSQL returns an issue's sketches in one text. Where versions are wanted, those are whole cells, each after its
 * length: a version is a facet of them.
 */
#include "rows/devices.h"

#include "base/fault.h"
#include "rollup/pack.h"
#include "rows/faceted.h"
#include "rows/rollup_read.h"
#include "rows/rollup_span.h"
#include "rows/sql.h"
#include "rows/view_sql.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH_BYTES (64u << 20)

#define SKETCHES "devices"
#define CELLS    "int4send(octet_length(cell)) || cell"

/* The sketches of one issue. */
struct device_row {
    int64_t issue, devices;
    const char *group;
    struct pg_bytes bytes;
};

struct device_merge {
    const struct view *view;
    bool of_versions;
    struct kept *kept;
    struct arena arena;   /* of group and total */
    struct arena scratch; /* of one issue */
    struct distinct group, total;
};

static void widen(struct kept *kept, int64_t oldest_us, int64_t newest_us)
{
    kept->oldest_us = !kept->oldest_us || oldest_us < kept->oldest_us ? oldest_us : kept->oldest_us;
    kept->newest_us = newest_us > kept->newest_us ? newest_us : kept->newest_us;
}

/* Add the wanted versions of a cell. */
static int add_cell(struct distinct *to, struct device_merge *m, const unsigned char *bytes, size_t len)
{
    struct cell cell;
    int rc = cell_decode(&cell, &m->scratch, bytes, len);
    for (size_t i = 0; !rc && i < cell.value_count; i++) {
        const struct cell_value *value = &cell.values[i];
        if (value->facet != MIRE_FACET_VERSION || !filter_wants(&m->view->version, value->text))
            continue;
        widen(m->kept, value->oldest_us, value->newest_us);
        rc = distinct_merge(to, &m->scratch, &value->sums.devices);
    }
    return rc;
}

static int add_all(struct distinct *to, struct device_merge *m, struct pg_bytes bytes)
{
    struct pack_in in = {
        .arena = &m->scratch, .at = bytes.bytes, .end = (const unsigned char *)bytes.bytes + bytes.len};
    int rc = 0;

    while (!rc && in.at < in.end) {
        struct distinct more;
        if (m->of_versions) {
            const unsigned char *at = pack_get_bytes(&in, 4);
            size_t len = at ? (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3] : 0;
            const unsigned char *cell = pack_get_bytes(&in, len);
            rc = cell ? add_cell(to, m, cell, len) : MIRE_FAULT_BROKEN;
            continue;
        }
        distinct_unpack(&more, &in);
        rc = in.bad ? MIRE_FAULT_BROKEN : distinct_merge(to, &m->scratch, &more);
    }
    return rc;
}

static int count_issue(struct device_row *row, struct device_merge *m)
{
    struct distinct own = {0};

    arena_reset(&m->scratch);
    int rc = add_all(&own, m, row->bytes);
    row->devices = (int64_t)llround(distinct_count(&own));
    return rc ? rc : distinct_merge(&m->group, &m->arena, &own);
}

static int by_group(const void *a, const void *b)
{
    const struct device_row *x = a, *y = b;
    int order = strcmp(x->group, y->group);
    return order ? order : (x->issue > y->issue) - (x->issue < y->issue);
}

static int by_issue(const void *a, const void *b)
{
    const struct device_row *x = a, *y = b;
    return (x->issue > y->issue) - (x->issue < y->issue);
}

static int count_groups(struct devices *out, struct device_merge *m, struct device_row *rows, size_t count)
{
    int rc = 0;

    for (size_t at = 0, to; !rc && at < count; at = to) {
        m->group = (struct distinct){0};
        for (to = at; !rc && to < count && !strcmp(rows[to].group, rows[at].group); to++)
            rc = count_issue(&rows[to], m);
        out->groups[out->group_count] = rows[at].group;
        out->of_group[out->group_count++] = (int64_t)llround(distinct_count(&m->group));
        if (!rc)
            rc = distinct_merge(&m->total, &m->arena, &m->group);
    }
    out->total = (int64_t)llround(distinct_count(&m->total));
    return rc;
}

static int count_all(struct kept *kept, struct arena *arena, bool cells, const struct view *view,
                     struct device_row *rows, size_t count)
{
    struct devices *out = &kept->devices;
    struct device_merge m = {.view = view, .of_versions = cells, .kept = kept};

    *out = (struct devices){.issue_count = count,
                            .issues = arena_array(arena, count + 1, sizeof *out->issues),
                            .of_issue = arena_array(arena, count + 1, sizeof *out->of_issue),
                            .groups = arena_array(arena, count + 1, sizeof *out->groups),
                            .of_group = arena_array(arena, count + 1, sizeof *out->of_group)};
    if (!out->issues || !out->of_issue || !out->groups || !out->of_group)
        return MIRE_FAULT_MEMORY;
    arena_init(&m.arena, SCRATCH_BYTES);
    arena_init(&m.scratch, SCRATCH_BYTES);
    if (count)
        qsort(rows, count, sizeof *rows, by_group);
    int rc = count_groups(out, &m, rows, count);
    arena_fini(&m.arena);
    arena_fini(&m.scratch);
    if (count)
        qsort(rows, count, sizeof *rows, by_issue);
    for (size_t i = 0; i < count; i++) {
        out->issues[i] = rows[i].issue;
        out->of_issue[i] = rows[i].devices;
    }
    return rc;
}

static int rows_fill(struct device_row *out, struct kept *kept, struct arena *arena, const struct pg_rows *rows,
                     bool of_versions)
{
    for (size_t i = 0; i < pg_row_count(rows); i++) {
        int64_t oldest_us = pg_time(rows, i, 2), newest_us = pg_time(rows, i, 3);
        out[i] = (struct device_row){.issue = pg_int(rows, i, 0),
                                     .bytes = pg_bytes(rows, i, 1),
                                     .group = arena_strdup(arena, pg_text(rows, i, 4))};
        if (!out[i].group)
            return MIRE_FAULT_MEMORY;
        if (!of_versions)
            widen(kept, oldest_us, newest_us);
    }
    return 0;
}

#define OF_KEYS " AND issue_id = ANY ($13::bigint[])"
#define ROLLUPS_OF(sketch, keys)                                                                                       \
    ROLLUPS("issue_id, tree, " sketch " AS sketch, oldest_at, newest_at", " AND issue_id <> 0" keys, "14", "15", "16", \
            "17")                                                                                                      \
    " UNION ALL"

/* The cells that are asked for: of some issues or of all, whole or their sketches. */
static const char *rollups_of(bool cells, bool some)
{
    if (cells)
        return some ? ROLLUPS_OF(CELLS, OF_KEYS) : ROLLUPS_OF(CELLS, "");
    return some ? ROLLUPS_OF(SKETCHES, OF_KEYS) : ROLLUPS_OF(SKETCHES, "");
}

/* What is read: sketches, or cells that have them by version. */
struct sketches {
    const char *rollups; /* statement of those that are stored, with UNION ALL behind it; "": none */
    bool cells;
    const int64_t *issues; /* only these; count 0: all */
    size_t issue_count;
    struct issue_keys keys; /* of them */
    struct rollup_span span;
    struct rollup_waiting waiting; /* besides those that are stored */
};

static const char *statement(struct arena *arena, const struct sketches *s, enum rows_group by, bool split)
{
    bool some = s->issue_count > 0;
    const struct sql_hole holes[] = {
        {"rollups", s->rollups},
        {"sketch", s->cells ? CELLS : SKETCHES},
        {"sketch_column", s->cells ? "cell" : "devices"},
        {"of_keys", some ? OF_KEYS : ""},
        {"of_issues", some ? " AND c.issue_id = ANY ($12::bigint[])" : ""},
        {"shown_id", SHOWN_ID("h")},
        {"shown_join", SHOWN_JOIN("h")},
        {"tree", TREE_IF(split)},
        {"by_tree", BY_TREE_IF(split)},
        {"key", GROUP_KEY(by)},
        {"wholes", WHOLES},
        {"kind_wanted", IS_WANTED("i.category", "$7", "$8")},
        {"state_wanted", IS_WANTED(STATE, "$9", "$10")},
        {"has_words", HAS_WORDS("$11")},
    };
    return sql_fill(arena, sql_devices, holes, sizeof holes / sizeof *holes);
}

static int count_sketches(struct kept *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                          enum rows_group by, const struct sketches *s)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const struct rollup_waiting *waiting = &s->waiting;
    bool split;
    int rc = rows_splits_read(&split, tx, view->app);
    const char *sql = rc ? NULL : statement(arena, s, by, split);

    if (!sql)
        return rc ? rc : MIRE_FAULT_MEMORY;
    rc =
        pg_query(&rows, tx, sql, VIEW_PARAMS(view), SLOT_PARAM, FILTER_PARAMS(&view->kind), FILTER_PARAMS(&view->state),
                 PG_TEXTS(view->words, view->word_count), PG_INT8S(s->issues, s->issue_count),
                 PG_INT8S(s->keys.issues, s->keys.count), ROLLUP_SPAN_PARAMS(&s->span),
                 PG_INT8S(waiting->issues, waiting->count), PG_INT4S(waiting->trees, waiting->count),
                 PG_BYTESS(s->cells ? waiting->cells : waiting->devices, waiting->count),
                 PG_TIMES(waiting->oldest, waiting->count), PG_TIMES(waiting->newest, waiting->count));
    if (rc)
        return rc;
    struct device_row *list = arena_array(arena, pg_row_count(rows) + 1, sizeof *list);
    rc = list ? rows_fill(list, out, arena, rows, s->cells) : MIRE_FAULT_MEMORY;
    return rc ? rc : count_all(out, arena, s->cells, view, list, pg_row_count(rows));
}

int rows_devices_read(struct kept *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                      enum rows_group by, const int64_t *issues, size_t issue_count)
{
    bool cells = filter_is_set(&view->version);
    struct sketches s = {
        .rollups = rollups_of(cells, issue_count > 0), .cells = cells, .issues = issues, .issue_count = issue_count};
    int rc = issue_count ? rows_keys_read(&s.keys, tx, arena, issues, issue_count) : 0;

    *out = (struct kept){0};
    rollup_span_of(&s.span, view);
    if (!rc)
        rc = rollup_waiting_read(&s.waiting, tx, arena, view, &s.span,
                                 cells ? MIRE_ROLLUPS_OF_ISSUES : MIRE_ROLLUPS_OF_DEVICES);
    return rc ? rc : count_sketches(out, tx, arena, view, by, &s);
}

/* The sketches that were made already wait, and none is stored. */
int rows_faceted_devices(struct kept *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                         enum rows_group by, const struct faceted *faceted)
{
    size_t count = faceted->count;
    struct rollup_waiting waiting = {.issues = arena_array(arena, count + 1, sizeof *waiting.issues),
                                     .trees = arena_array(arena, count + 1, sizeof *waiting.trees),
                                     .devices = arena_array(arena, count + 1, sizeof *waiting.devices),
                                     .oldest = arena_array(arena, count + 1, sizeof *waiting.oldest),
                                     .newest = arena_array(arena, count + 1, sizeof *waiting.newest),
                                     .count = count};

    *out = (struct kept){0};
    if (!waiting.issues || !waiting.trees || !waiting.devices || !waiting.oldest || !waiting.newest)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        waiting.issues[i] = faceted->list[i].issue;
        waiting.trees[i] = 0;
        waiting.devices[i] = faceted->list[i].sketch;
        waiting.oldest[i] = faceted->list[i].oldest_us;
        waiting.newest[i] = faceted->list[i].newest_us;
    }
    const struct sketches s = {.rollups = "", .waiting = waiting};
    return count_sketches(out, tx, arena, view, by, &s);
}
