/*
 * issues.c - the issue list on two levels, and summaries of single issues, from the standing sums.
 *
 * The list is one statement: standing sums by issue -> matching issues -> groups -> one page of them. Sums that are sort
 * keys are rounded first, so that a cursor finds its position again, whatever the order of the additions was.
 */
#include "rows/issues.h"
#include "model/version.h"
#include "rows/faceted.h"
#include "rows/rows.h"
#include "rows/sql.h"
#include "rows/standing_read.h"
#include "rows/view_sql.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
/* Mean bytes above healthy processes. */
#define ABOVE_RANK "coalesce(round((g.above_bytes / nullif(g.events, 0))::numeric, 0), 0)"

/* By change; those that did not change, and have 0, by the time lost, of memory by bytes above healthy processes. */
#define CHANGE_RANK \
    "(g.change::numeric * 1000000000000000 + least(greatest(round(g.waited_ms::numeric, 0), " ABOVE_RANK "), 999999999999999))"

#define ABOVE_MOST 4e18 /* bytes that an answer has at most */

/* Sort keys of a group g with its devices d, and of an issue m, which has the same names. */
static const struct {
    const char *of_group, *of_issue, *type;
} sorts[] = {
    [ROWS_SORT_IMPACT] = {"round(g.waited_ms::numeric, 0)", "round(g.waited_ms::numeric, 0)", "numeric"},
    [ROWS_SORT_EVENTS] = {"round(g.events::numeric, 3)", "round(g.events::numeric, 3)", "numeric"},
    [ROWS_SORT_DEVICES] = {"coalesce(d.devices, 0)", "coalesce(d.devices, 0)", "bigint"},
    [ROWS_SORT_LONGEST] = {"g.longest_ms", "g.longest_ms", "bigint"},
    [ROWS_SORT_LAST] = {"(extract(epoch FROM g.last_at) * 1000000)::bigint", "(extract(epoch FROM g.last_at) * 1000000)::bigint", "bigint"},
    [ROWS_SORT_BYTES] = {"g.most_bytes", "g.most_bytes", "bigint"},
    [ROWS_SORT_ABOVE] = {ABOVE_RANK, ABOVE_RANK, "numeric"},
    [ROWS_SORT_TITLE] = {"lower(g.title) COLLATE \"C\"", "lower(m.caller1 || ' ' || m.caller2) COLLATE \"C\"", "text"},
    [ROWS_SORT_CHANGE] = {CHANGE_RANK, CHANGE_RANK, "numeric"},
    [ROWS_SORT_REPORTS] = {"g.reports", "m.reports", "bigint"},
};

static const char summaries_sql[] =
    "SELECT i.issue_id, i.caller1, i.caller1_image, i.caller1_location, i.caller2, i.caller2_image, i.category, i.reason,"
    "  " STATE ", i.subject, least(coalesce(w.first_seen, i.first_seen), now()), v.version, coalesce(w.members, 1), i.split_from,"
    "  i.state_version, i.assignee"
    " FROM unnest($2::bigint[]) WITH ORDINALITY u (issue_id, place) JOIN issue i USING (issue_id)" WHOLES
    " JOIN version v ON v.version_id = coalesce(w.first_version_id, i.first_version_id) WHERE i.app_id = $1 ORDER BY u.place";

/* $2 the issues. */
static const char trend_sql[] =
    "WITH h AS (SELECT issue_id, {tree} AS tree, part, sum(events) AS events FROM {counted} GROUP BY 1, 3{by_tree})"
    " SELECT h.part, sum(events) FROM h" SHOWN_JOIN("h") " WHERE " SHOWN_ID("h") " = ANY ($2::bigint[]) GROUP BY 1";
/* clang-format on */

static struct totals totals_at(const struct pg_rows *rows, size_t row, int column)
{
    return (struct totals){.reports = pg_int(rows, row, column),
                           .events = pg_real(rows, row, column + 1),
                           .waited_ms = pg_real(rows, row, column + 2),
                           .longest_ms = pg_int(rows, row, column + 3)};
}

static void trend_add(double *trend, int64_t part, double events)
{
    if (part >= 0 && part < MIRE_TREND_PARTS)
        trend[part] += events;
}

int rows_trend_read(double trend[MIRE_TREND_PARTS], struct pg_tx *tx, struct arena *arena, const struct view *view,
                    const int64_t *issues, size_t count)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const struct counted_by by = {.part_count = MIRE_TREND_PARTS};
    const char *sql = NULL;
    struct counted counted;
    struct issue_keys keys;
    bool split;

    int rc = rows_keys_read(&keys, tx, arena, issues, count);
    if (rc == 0)
        rc = rows_splits_read(&split, tx, view->app);
    if (rc == 0 && !(sql = SQL_FILL(arena, trend_sql, {"tree", TREE_IF(split)}, {"by_tree", BY_TREE_IF(split)},
                                    {"counted", counted_sql(arena, 3)})))
        rc = MIRE_FAULT_MEMORY;
    if (rc == 0)
        rc = rows_counted_of_issues(&counted, tx, arena, view, keys.issues, keys.count, &by);
    if (rc == 0)
        rc = pg_query(&rows, tx, sql, PG_INT4(view->app), PG_INT8S(issues, count), COUNTED_PARAMS(&counted));
    memset(trend, 0, MIRE_TREND_PARTS * sizeof *trend);
    for (size_t i = 0; rc == 0 && i < pg_row_count(rows); i++)
        trend_add(trend, pg_int(rows, i, 0), pg_real(rows, i, 1));
    return rc;
}

/* The app's versions in their natural order; the rank of a version is its position. */
struct ranks {
    size_t count;
    struct ranked_version {
        int64_t id;
        size_t place; /* among the ids */
        const char *version;
    } * by_rank;
    int64_t *ids; /* rising */
    int32_t *ranks;
};

static int by_version(const void *a, const void *b)
{
    return version_compare(((const struct ranked_version *)a)->version, ((const struct ranked_version *)b)->version);
}

static int read_ranks(struct ranks *out, struct pg_tx *tx, struct arena *arena, const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc =
        pg_query(&rows, tx, "SELECT version_id, version FROM version WHERE app_id = $1 ORDER BY 1", PG_INT4(view->app));
    if (rc != 0)
        return rc;
    out->count = pg_row_count(rows);
    out->by_rank = arena_array(arena, out->count + 1, sizeof *out->by_rank);
    out->ids = arena_array(arena, out->count + 1, sizeof *out->ids);
    out->ranks = arena_array(arena, out->count + 1, sizeof *out->ranks);
    if (!out->by_rank || !out->ids || !out->ranks)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < out->count; i++) {
        out->by_rank[i] = (struct ranked_version){pg_int(rows, i, 0), i, arena_strdup(arena, pg_text(rows, i, 1))};
        if (!out->by_rank[i].version)
            return MIRE_FAULT_MEMORY;
        out->ids[i] = out->by_rank[i].id;
    }

    qsort(out->by_rank, out->count, sizeof *out->by_rank, by_version);
    for (size_t i = 0; i < out->count; i++)
        out->ranks[out->by_rank[i].place] = (int32_t)i;

    return 0;
}

static int summary_fill(struct issue_summary *f, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    const char **texts[] = {&f->caller1, &f->caller1_image, &f->caller1_location,
                            &f->caller2, &f->caller2_image, &f->category,
                            &f->reason,  &f->state,         &f->subject};

    f->issue = pg_int(rows, row, 0);
    for (int i = 0; i < 9; i++)
        if (!(*texts[i] = arena_strdup(arena, pg_text(rows, row, i + 1))))
            return MIRE_FAULT_MEMORY;
    f->first_us = f->last_us = pg_time(rows, row, 10);
    f->first_version = f->last_version = arena_strdup(arena, pg_text(rows, row, 11));
    f->members = pg_int(rows, row, 12);
    f->split_from = pg_int(rows, row, 13);
    f->state_version = arena_strdup(arena, pg_text(rows, row, 14));
    f->assignee = arena_strdup(arena, pg_text(rows, row, 15));
    return f->first_version && f->state_version && f->assignee ? 0 : MIRE_FAULT_MEMORY;
}

/* Add one part of the span of one issue. */
static void summary_add(struct issue_summary *f, const struct ranks *ranks, const struct pg_rows *rows, size_t row)
{
    const char *oldest = ranks->by_rank[pg_int(rows, row, 8)].version;
    const char *newest = ranks->by_rank[pg_int(rows, row, 9)].version;
    int64_t most_bytes = pg_int(rows, row, 10), longest_ms = pg_int(rows, row, 5), last_us = pg_time(rows, row, 6),
            hour_us = pg_time(rows, row, 7);

    trend_add(f->trend, pg_int(rows, row, 1), pg_real(rows, row, 2));
    f->last_us = f->totals.reports == 0 || last_us > f->last_us ? last_us : f->last_us;
    f->first_hour_us = f->totals.reports == 0 || hour_us < f->first_hour_us ? hour_us : f->first_hour_us;
    f->totals.events += pg_real(rows, row, 2);
    f->totals.reports += pg_int(rows, row, 3);
    f->totals.waited_ms += pg_real(rows, row, 4);
    f->totals.longest_ms = longest_ms > f->totals.longest_ms ? longest_ms : f->totals.longest_ms;
    f->most_bytes = most_bytes > f->most_bytes ? most_bytes : f->most_bytes;
    f->above_bytes += pg_real(rows, row, 11);
    f->first_version = version_compare(oldest, f->first_version) < 0 ? oldest : f->first_version;
    f->last_version = version_compare(newest, f->last_version) > 0 ? newest : f->last_version;
}

/* Of a sum over events. */
static double mean(double sum, double events)
{
    double value = events > 0 && sum > 0 ? sum / events : 0;
    return value < ABOVE_MOST ? value : ABOVE_MOST;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = (*(struct issue_summary *const *)a)->issue, y = (*(struct issue_summary *const *)b)->issue;
    return (x > y) - (x < y);
}

/* Counters are sorted by issue. */
static int summaries_count(struct issue_summary *summaries, size_t count, struct arena *arena,
                           const struct ranks *ranks, const struct pg_rows *rows)
{
    struct issue_summary **sorted = arena_array(arena, count + 1, sizeof *sorted);
    size_t at = 0;

    if (!sorted)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &summaries[i];
    qsort(sorted, count, sizeof *sorted, by_number);
    for (size_t i = 0; i < pg_row_count(rows); i++) {
        int64_t issue = pg_int(rows, i, 0);
        while (at < count && sorted[at]->issue < issue)
            at++;
        if (at < count && sorted[at]->issue == issue)
            summary_add(sorted[at], ranks, rows, i);
    }
    for (size_t i = 0; i < count; i++)
        summaries[i].above_bytes = mean(summaries[i].above_bytes, summaries[i].totals.events);

    return 0;
}

static const char *counters_statement(struct arena *arena, bool split)
{
    return SQL_FILL(arena, sql_issue_counters, {"counted", counted_sql(arena, 3)}, {"shown_id", SHOWN_ID("counted")},
                    {"shown_join", SHOWN_JOIN("counted")}, {"tree", TREE_IF(split)}, {"by_tree", BY_TREE_IF(split)});
}

static int count_issues(struct counted *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                        const struct issue_keys *keys, const struct ranks *ranks)
{
    const struct counted_by by = {
        .part_count = MIRE_TREND_PARTS, .version_ids = ranks->ids, .ranks = ranks->ranks, .rank_count = ranks->count};
    return rows_counted_of_issues(out, tx, arena, view, keys->issues, keys->count, &by);
}

int rows_summaries_read(struct issue_summary **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                        const struct view *view, const int64_t *issues, size_t issue_count)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    struct pg_rows *counters MIRE_SCOPED(pg_rows_free) = NULL;
    struct counted counted;
    const char *sql = NULL;
    struct ranks ranks;
    struct issue_keys keys;
    bool split;

    int rc = read_ranks(&ranks, tx, arena, view);
    if (rc == 0)
        rc = rows_keys_read(&keys, tx, arena, issues, issue_count);
    if (rc == 0)
        rc = pg_query(&rows, tx, summaries_sql, PG_INT4(view->app), PG_INT8S(issues, issue_count));
    if (rc == 0)
        rc = rows_splits_read(&split, tx, view->app);
    if (rc == 0 && !(sql = counters_statement(arena, split)))
        rc = MIRE_FAULT_MEMORY;
    if (rc == 0)
        rc = count_issues(&counted, tx, arena, view, &keys, &ranks);
    if (rc == 0)
        rc = pg_query(&counters, tx, sql, PG_INT4(view->app), PG_INT8S(issues, issue_count), COUNTED_PARAMS(&counted));
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; i < *count; i++)
        if (!*out || summary_fill(&(*out)[i], arena, rows, i) != 0)
            return MIRE_FAULT_MEMORY;
    return summaries_count(*out, *count, arena, &ranks, counters);
}

void rows_summaries_of_facets(struct issue_summary *summaries, size_t count, const struct faceted *faceted)
{
    for (size_t i = 0; i < count; i++) {
        const struct faceted_issue *found = faceted_find(faceted, summaries[i].issue);
        summaries[i].totals = found ? found->totals : (struct totals){0};
        for (int part = 0; part < MIRE_TREND_PARTS; part++)
            summaries[i].trend[part] = found ? found->trend[part] : 0;
    }
}

/* clang-format off */
static const char top_sql[] =
    "WITH h AS (SELECT issue_id, {tree} AS tree, sum(waited_ms) AS waited_ms, sum(events) AS events FROM {counted}"
    "  GROUP BY 1{by_tree}),"
    " c AS (SELECT " SHOWN_ID("h") " AS issue_id, sum(waited_ms) AS waited_ms, sum(events) AS events FROM h" SHOWN_JOIN("h")
    "  GROUP BY 1),"
    " r AS (SELECT issue_id, subject <> '' AS of_memory, row_number() OVER (PARTITION BY subject <> '' ORDER BY"
    "   round((CASE WHEN subject = '' THEN waited_ms ELSE events END)::numeric, 0) DESC, issue_id) AS place"
    "  FROM c JOIN issue USING (issue_id) WHERE " IS_WANTED("category", "$2", "$3") ")"
    " SELECT issue_id, of_memory FROM r WHERE place <= $4 ORDER BY of_memory, place";
/* clang-format on */

int rows_top(struct top *out, struct pg_tx *tx, struct arena *arena, const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    bool split;
    struct counted counted;
    int rc = rows_splits_read(&split, tx, view->app);
    const char *sql = rc ? NULL
                         : SQL_FILL(arena, top_sql, {"tree", TREE_IF(split)}, {"by_tree", BY_TREE_IF(split)},
                                    {"counted", counted_sql(arena, 5)});

    *out = (struct top){.waited_count = 0};
    if (!sql)
        return rc ? rc : MIRE_FAULT_MEMORY;
    rc = rows_counted_issues(&counted, tx, arena, view);
    if (!rc)
        rc = pg_query(&rows, tx, sql, PG_INT4(view->app), FILTER_PARAMS(&view->kind), PG_INT8(MIRE_TOP_MAX),
                      COUNTED_PARAMS(&counted));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        if (pg_bool(rows, i, 1))
            out->memory[out->memory_count++] = pg_int(rows, i, 0);
        else
            out->waited[out->waited_count++] = pg_int(rows, i, 0);
    }
    return rc;
}

static int group_begin(struct group *g, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    g->key = arena_strdup(arena, pg_text(rows, row, 8));
    g->title = arena_strdup(arena, pg_text(rows, row, 9));
    g->image = arena_strdup(arena, pg_text(rows, row, 10));
    g->totals = totals_at(rows, row, 11);
    g->last_us = pg_time(rows, row, 15);
    g->most_bytes = pg_int(rows, row, 18);
    g->above_bytes = mean(pg_real(rows, row, 20), g->totals.events);
    g->scene = arena_strdup(arena, pg_text(rows, row, 19));
    g->rank = arena_strdup(arena, pg_text(rows, row, 16));
    return g->key && g->title && g->image && g->scene && g->rank ? 0 : MIRE_FAULT_MEMORY;
}

/* Rows come group by group. `issues` and the groups' lists are one array. */
static int groups_fill(struct group_page *page, int64_t *issues, struct arena *arena, const struct pg_rows *rows)
{
    for (size_t i = 0; i < pg_row_count(rows); i++) {
        struct group *g = page->count ? &page->groups[page->count - 1] : NULL;
        if (!g || strcmp(g->key, pg_text(rows, i, 8)) != 0) {
            g = &page->groups[page->count++];
            if (group_begin(g, arena, rows, i) != 0)
                return MIRE_FAULT_MEMORY;
            g->issues = &issues[i];
        }
        issues[i] = pg_int(rows, i, 17);
        g->issue_count++;
    }
    return 0;
}

/* clang-format off */
#define FACETED_ROWS \
    "SELECT issue_id, f.reports, f.events, f.waited_ms, f.longest_ms, shown.last_at, shown.first_hour, shown.most_bytes," \
    " f.events * shown.above_bytes / nullif(shown.events, 0) AS above_bytes" \
    " FROM shown JOIN unnest($21::bigint[], $22::bigint[], $23::float8[], $24::float8[], $25::bigint[])" \
    " f (issue_id, reports, events, waited_ms, longest_ms) USING (issue_id)"
/* clang-format on */

/* The columns of FACETED_ROWS. */
struct faceted_columns {
    int64_t *issues, *reports, *longest_ms;
    double *events, *waited_ms;
    size_t count;
};

static bool faceted_fill(struct faceted_columns *out, struct arena *arena, const struct faceted *faceted)
{
    size_t count = faceted ? faceted->count : 0;

    *out = (struct faceted_columns){.issues = arena_array(arena, count + 1, sizeof *out->issues),
                                    .reports = arena_array(arena, count + 1, sizeof *out->reports),
                                    .longest_ms = arena_array(arena, count + 1, sizeof *out->longest_ms),
                                    .events = arena_array(arena, count + 1, sizeof *out->events),
                                    .waited_ms = arena_array(arena, count + 1, sizeof *out->waited_ms),
                                    .count = count};
    if (!out->issues || !out->reports || !out->longest_ms || !out->events || !out->waited_ms)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct totals *totals = &faceted->list[i].totals;
        out->issues[i] = faceted->list[i].issue;
        out->reports[i] = totals->reports;
        out->longest_ms[i] = totals->longest_ms;
        out->events[i] = totals->events;
        out->waited_ms[i] = totals->waited_ms;
    }
    return true;
}

#define GROUP_PARAMS 25 /* of issue_groups.sql before the counters */

static const char *groups_statement(struct arena *arena, const struct group_order *order, bool split)
{
    const struct sql_hole holes[] = {
        {"counted", counted_sql(arena, GROUP_PARAMS + 1)},
        {"shown_id", SHOWN_ID("counted")},
        {"shown_join", SHOWN_JOIN("counted")},
        {"tree", TREE_IF(split)},
        {"by_tree", BY_TREE_IF(split)},
        {"wanted", order->faceted ? FACETED_ROWS : "SELECT * FROM shown"},
        {"title", GROUP_TITLE(order->by)},
        {"image", GROUP_IMAGE(order->by)},
        {"scene", GROUP_SCENE(order->by)},
        {"key", GROUP_KEY(order->by)},
        {"state", STATE},
        {"wholes", WHOLES},
        {"kind_wanted", IS_WANTED("i.category", "$7", "$8")},
        {"state_wanted", IS_WANTED("state", "$9", "$10")},
        {"has_words", HAS_WORDS("$11")},
        {"group_rank", sorts[order->sort].of_group},
        {"issue_rank", sorts[order->sort].of_issue},
        {"rank_type", sorts[order->sort].type},
        {"beyond", order->falling ? "<" : ">"},
        {"direction", order->falling ? "DESC" : "ASC"},
    };
    return sql_fill(arena, sql_issue_groups, holes, sizeof holes / sizeof *holes);
}

int rows_groups_read(struct group_page *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                     const struct group_order *order)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    static const struct devices unknown;
    const struct devices *d = order->devices ? order->devices : &unknown;
    bool split;
    int rc = rows_splits_read(&split, tx, view->app);
    const char *sql = groups_statement(arena, order, split);
    struct counted counted;

    struct faceted_columns f;

    memset(out, 0, sizeof *out);
    if (!rc)
        rc = rows_counted_issues(&counted, tx, arena, view);
    if (rc || !sql || !faceted_fill(&f, arena, order->faceted))
        return rc ? rc : MIRE_FAULT_MEMORY;
    rc =
        pg_query(&rows, tx, sql, VIEW_PARAMS(view), SLOT_PARAM, FILTER_PARAMS(&view->kind), FILTER_PARAMS(&view->state),
                 PG_TEXTS(view->words, view->word_count), PG_TEXT(order->after_rank), PG_TEXT(order->after_key),
                 PG_INT8(order->limit), PG_INT8S(d->issues, d->issue_count), PG_INT8S(d->of_issue, d->issue_count),
                 PG_TEXTS(d->groups, d->group_count), PG_INT8S(d->of_group, d->group_count),
                 PG_INT8S(order->changed, order->changed_count), PG_INT8S(order->change_ranks, order->changed_count),
                 PG_INT8S(f.issues, f.count), PG_INT8S(f.reports, f.count), PG_REALS(f.events, f.count),
                 PG_REALS(f.waited_ms, f.count), PG_INT8S(f.longest_ms, f.count), COUNTED_PARAMS(&counted));
    if (rc != 0)
        return rc;
    out->open = pg_int(rows, 0, 21);
    out->regressed = pg_int(rows, 0, 22);
    out->resolved = pg_int(rows, 0, 23);
    out->ignored = pg_int(rows, 0, 24);
    out->groups_total = pg_int(rows, 0, 0);
    out->issues_total = pg_int(rows, 0, 1);
    out->totals = totals_at(rows, 0, 2);
    out->newest_us = pg_time(rows, 0, 6);
    out->first_hour_us = pg_time(rows, 0, 7);
    if (pg_is_null(rows, 0, 8))
        return 0;
    size_t count = pg_row_count(rows);
    int64_t *issues = arena_array(arena, count, sizeof *issues);
    out->groups = arena_array(arena, (size_t)order->limit, sizeof *out->groups);
    if (!issues || !out->groups)
        return MIRE_FAULT_MEMORY;
    return groups_fill(out, issues, arena, rows);
}
