/* issue.c - what the events of one issue have in common. */
#include "rows/issue.h"
#include "rows/rows.h"
#include "rows/sql.h"
#include "rows/view_sql.h"

#include <stdlib.h>
#include <string.h>

/* Bounds of the duration bins, milliseconds: six to a decade, so a doubling shows. */
static const int64_t edges_ms[] = {
    0,        1,        2,        3,        5,         7,         10,        15,        20,        30,       50,
    70,       100,      150,      200,      300,       500,       700,       1000,      1500,      2000,     3000,
    5000,     7000,     10000,    15000,    20000,     30000,     50000,     70000,     100000,    150000,   200000,
    300000,   500000,   700000,   1000000,  1500000,   2000000,   3000000,   5000000,   7000000,   10000000, 15000000,
    20000000, 30000000, 50000000, 70000000, 100000000, 150000000, 200000000, 300000000, 500000000, 700000000};
#define EDGE_COUNT (sizeof edges_ms / sizeof *edges_ms)

int rows_splits_read(bool *out, struct pg_tx *tx, int32_t app)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc =
        pg_query(&rows, tx, "SELECT EXISTS (SELECT FROM issue_shown WHERE app_id = $1 AND tree <> 0)", PG_INT4(app));
    *out = !rc && pg_bool(rows, 0, 0);
    return rc;
}

int rows_keys_read(struct issue_keys *out, struct pg_tx *tx, struct arena *arena, const int64_t *issues, size_t count)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx,
                      "SELECT issue_id FROM issue_shown WHERE shown_id = ANY ($1::bigint[]) UNION SELECT unnest($1)",
                      PG_INT8S(issues, count));
    if (rc != 0)
        return rc;
    out->count = pg_row_count(rows);
    out->issues = arena_array(arena, out->count + 1, sizeof *out->issues);
    for (size_t i = 0; out->issues && i < out->count; i++)
        out->issues[i] = pg_int(rows, i, 0);
    return out->issues ? 0 : MIRE_FAULT_MEMORY;
}

int rows_shown_read(int64_t *shown_out, bool *many_out, struct pg_tx *tx, int32_t app, int64_t issue)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx,
                      "SELECT shown_id, EXISTS (SELECT FROM issue_shown h WHERE h.shown_id = s.shown_id) FROM (SELECT "
                      "coalesce((SELECT shown_id"
                      " FROM issue_shown WHERE app_id = $1 AND issue_id = $2 AND tree = 0), $2) AS shown_id) s",
                      PG_INT4(app), PG_INT8(issue));
    if (rc != 0)
        return rc;
    *shown_out = pg_int(rows, 0, 0);
    *many_out = pg_bool(rows, 0, 1);
    return 0;
}

void rows_issue_facts(struct issue_facts *out, const struct event_totals *totals)
{
    const struct cell_sums *sums = &totals->sums;
    const uint64_t *counts = totals->cell.counts;

    *out = (struct issue_facts){.reports = (int64_t)sums->reports,
                                .killed = (int64_t)counts[MIRE_CELL_KILLED],
                                .p50_ms = (int64_t)sketch_quantile(&sums->lengths, sums->reports, 50),
                                .p95_ms = (int64_t)sketch_quantile(&sums->lengths, sums->reports, 95),
                                .frames = (int64_t)counts[MIRE_CELL_FRAMES],
                                .unresolved = (int64_t)counts[MIRE_CELL_UNRESOLVED],
                                .oldest_us = totals->oldest_us,
                                .newest_us = totals->newest_us,
                                .launch = (int64_t)counts[MIRE_CELL_LAUNCH],
                                .foreground = (int64_t)counts[MIRE_CELL_FOREGROUND],
                                .background = (int64_t)counts[MIRE_CELL_BACKGROUND],
                                .many_threads = (int64_t)counts[MIRE_CELL_MANY_THREADS],
                                .suppressed = (int64_t)counts[MIRE_CELL_SUPPRESSED]};
}

/* The bin of a length, from 0 to EDGE_COUNT - 2. */
static size_t bin_of(uint64_t length_ms)
{
    size_t bin = 0;
    while (bin + 2 < EDGE_COUNT && length_ms >= (uint64_t)edges_ms[bin + 1])
        bin++;
    return bin;
}

int rows_durations(struct bin **out, size_t *count, struct arena *arena, const struct event_totals *totals)
{
    const struct sketch *lengths = &totals->sums.lengths;

    *count = 0;
    *out = NULL;
    if (!lengths->count)
        return 0;
    size_t first = bin_of(sketch_bin_value(lengths->bins[0].bin));
    size_t last = bin_of(sketch_bin_value(lengths->bins[lengths->count - 1].bin));
    *count = last - first + 1;
    if (!(*out = arena_array(arena, *count, sizeof **out)))
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < *count; i++)
        (*out)[i] = (struct bin){.from_ms = edges_ms[first + i], .to_ms = edges_ms[first + i + 1]};
    for (size_t i = 0; i < lengths->count; i++)
        (*out)[bin_of(sketch_bin_value(lengths->bins[i].bin)) - first].reports += (int64_t)lengths->bins[i].weight;
    return 0;
}

static int most_first(const void *a, const void *b)
{
    const struct value_row *x = a, *y = b;
    if (x->here != y->here)
        return x->here > y->here ? -1 : 1;
    return strcmp(x->key, y->key);
}

/*
 * Reports of the app that a facet's values are compared with. A model, a version of a system and an architecture are of
 * one operating system: an issue of one system is compared with the app's reports of that system.
 */
static int64_t total_of(enum cell_facet facet, const struct event_totals *totals, const struct event_totals *of_app)
{
    bool is_of_system = facet == MIRE_FACET_MODEL || facet == MIRE_FACET_OS_VERSION || facet == MIRE_FACET_ARCH;
    const struct cell_value *system = NULL;

    for (size_t i = 0; i < totals->cell.value_count; i++) {
        if (totals->cell.values[i].facet != MIRE_FACET_OS)
            continue;
        if (system)
            return (int64_t)of_app->cell.all.reports;
        system = &totals->cell.values[i];
    }
    const struct cell_sums *all = is_of_system && system ? cell_find(&of_app->cell, MIRE_FACET_OS, system->text) : NULL;
    return (int64_t)(all ? all->reports : of_app->cell.all.reports);
}

/* Append the values of a facet. */
static void put_values(struct value_row *out, size_t *count, enum cell_facet facet, const char *name,
                       const struct event_totals *totals, const struct event_totals *of_app)
{
    bool compared = facet != MIRE_FACET_HOLDER;
    int64_t all_total = compared ? total_of(facet, totals, of_app) : 0;
    size_t first = *count;
    int64_t total = 0;

    for (size_t i = 0; i < totals->cell.value_count; i++) {
        const struct cell_value *value = &totals->cell.values[i];
        if (value->facet != facet)
            continue;
        const struct cell_sums *all = compared ? cell_find(&of_app->cell, facet, value->text) : NULL;
        total += (int64_t)value->sums.reports;
        out[(*count)++] = (struct value_row){.name = name,
                                             .key = value->text,
                                             .here = (int64_t)value->sums.reports,
                                             .all = all ? (int64_t)all->reports : 0,
                                             .all_total = all_total};
    }
    if (*count > first)
        qsort(&out[first], *count - first, sizeof *out, most_first);
    if (*count > first + MIRE_VALUES_MAX)
        *count = first + MIRE_VALUES_MAX;
    for (size_t i = first; i < *count; i++)
        out[i].here_total = total;
}

const struct issue_facet rows_issue_facets[MIRE_ISSUE_FACETS] = {
    {MIRE_FACET_VERSION, "version"}, {MIRE_FACET_OS_VERSION, "os_version"}, {MIRE_FACET_ARCH, "arch"},
    {MIRE_FACET_MODEL, "model"},     {MIRE_FACET_PROCESS, "process"},       {MIRE_FACET_HOLDER, "holder"},
    {MIRE_FACET_CLASS, "class"},     {MIRE_FACET_CHANNEL, "channel"},       {MIRE_FACET_STATE, "state"},
    {MIRE_FACET_SCENE, "scene"},     {MIRE_FACET_COUNTRY, "country"}};

int rows_values(struct value_row **out, size_t *count, struct arena *arena, const struct event_totals *totals,
                const struct event_totals *of_app)
{
    *count = 0;
    if (!(*out = arena_array(arena, totals->cell.value_count + 1, sizeof **out)))
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < MIRE_ISSUE_FACETS; i++)
        put_values(*out, count, rows_issue_facets[i].facet, rows_issue_facets[i].name, totals, of_app);
    return 0;
}
