/*
 * read_issues.c - the issue list on two levels, and single features.
 *
 * The list is one statement: counters by issue -> issues that match -> devices -> groups -> one page of them. Sums that
 * are sorted by are rounded first, so that a cursor finds its place again whatever order they were added up in.
 */
#include "pg/read.h"

#include "pg/read_sql.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
#define ISSUE_TEXT \
    "lower(concat_ws(' ', 'H-' || i.issue_id, i.caller1, i.caller2, i.caller1_image, i.caller2_image, i.reason, i.category))"

/* $7 $8 kind, $9 $10 state, $11 words, $12 rank and $13 key of the last row seen, $14 limit */
static const char groups_sql[] =
    "WITH c AS (SELECT issue_id, sum(reports)::bigint AS reports, sum(hangs) AS hangs, sum(hang_ms) AS hang_ms,"
    "   max(longest_ms) AS longest_ms, max(last_at) AS last_at FROM issue_hour WHERE " HOUR_IN_VIEW " GROUP BY issue_id),"
    " n AS (SELECT c.*, i.caller1, i.caller2, %1$s AS title, %2$s AS image FROM c JOIN issue i USING (issue_id)"
    "  WHERE i.app_id = $1 AND " IS_WANTED("i.category", "$7", "$8") " AND " IS_WANTED("i.state", "$9", "$10")
    "  AND NOT EXISTS (SELECT FROM unnest($11::text[]) word WHERE strpos(" ISSUE_TEXT ", lower(word)) = 0)),"
    " m AS MATERIALIZED (SELECT n.*, left(md5(title || chr(31) || image), 12) AS key FROM n),"
    " h AS MATERIALIZED (SELECT DISTINCT issue_id, install FROM hang WHERE " HANG_IN_VIEW "),"
    " p AS MATERIALIZED (SELECT m.key, issue_id, install FROM h JOIN m USING (issue_id)),"
    " fd AS MATERIALIZED (SELECT issue_id, count(*) AS devices FROM p GROUP BY issue_id),"
    " gd AS MATERIALIZED (SELECT key, count(*) AS devices FROM (SELECT DISTINCT key, install FROM p) x GROUP BY key),"
    " g AS (SELECT key, min(title) AS title, min(image) AS image, sum(reports)::bigint AS reports, sum(hangs) AS hangs,"
    "   sum(hang_ms) AS hang_ms, max(longest_ms) AS longest_ms, max(last_at) AS last_at FROM m GROUP BY key),"
    " r AS (SELECT g.*, coalesce(gd.devices, 0) AS devices, %3$s AS rank FROM g LEFT JOIN gd USING (key)),"
    " page AS (SELECT * FROM r WHERE $12::text IS NULL OR rank %5$s $12::text::%6$s OR (rank = $12::text::%6$s AND key > $13)"
    "  ORDER BY rank %7$s, key LIMIT $14),"
    " f AS (SELECT m.key AS of_group, m.issue_id, %4$s AS feature_rank FROM m"
    "  LEFT JOIN fd g2 USING (issue_id) CROSS JOIN LATERAL (SELECT m.title, m.hangs, m.hang_ms, m.longest_ms, m.last_at) g"
    "  CROSS JOIN LATERAL (SELECT coalesce(g2.devices, 0) AS devices) gd),"
    " t AS (SELECT (SELECT count(*) FROM g) AS groups, count(*) AS features, coalesce(sum(reports), 0)::bigint AS reports,"
    "   coalesce(sum(hangs), 0)::float8 AS hangs, (SELECT count(*) FROM (SELECT DISTINCT install FROM p) x) AS devices,"
    "   coalesce(sum(hang_ms), 0)::float8 AS hang_ms, coalesce(max(longest_ms), 0)::bigint AS longest_ms,"
    "   max(last_at) AS last_at FROM m)"
    " SELECT t.groups, t.features, t.reports, t.hangs, t.devices, t.hang_ms, t.longest_ms, t.last_at,"
    "  page.key, page.title, page.image, page.reports, page.hangs::float8, page.devices, page.hang_ms::float8,"
    "  page.longest_ms, page.last_at, page.rank::text, f.issue_id"
    " FROM t LEFT JOIN (page JOIN f ON f.of_group = page.key) ON true"
    " ORDER BY page.rank %7$s, page.key, f.feature_rank %7$s, f.issue_id";

/* What a group (g, gd) and a feature (there under the same names) are sorted by. */
static const struct {
    const char *of_group, *of_feature, *type;
} sorts[] = {
    [READ_SORT_IMPACT] = {"round(g.hang_ms::numeric, 0)", "round(g.hang_ms::numeric, 0)", "numeric"},
    [READ_SORT_HANGS] = {"round(g.hangs::numeric, 3)", "round(g.hangs::numeric, 3)", "numeric"},
    [READ_SORT_DEVICES] = {"coalesce(gd.devices, 0)", "gd.devices", "bigint"},
    [READ_SORT_LONGEST] = {"g.longest_ms", "g.longest_ms", "bigint"},
    [READ_SORT_LAST] = {"(extract(epoch FROM g.last_at) * 1000000)::bigint", "(extract(epoch FROM g.last_at) * 1000000)::bigint", "bigint"},
    [READ_SORT_TITLE] = {"lower(g.title) COLLATE \"C\"", "lower(m.caller1 || ' ' || m.caller2) COLLATE \"C\"", "text"},
};

static const char features_sql[] =
    "WITH c AS (SELECT issue_id, sum(reports)::bigint AS reports, sum(hangs)::float8 AS hangs, sum(hang_ms)::float8 AS hang_ms,"
    "   max(longest_ms) AS longest_ms, max(last_at) AS last_at FROM issue_hour"
    "  WHERE " HOUR_IN_VIEW " AND issue_id = ANY ($7::bigint[]) GROUP BY issue_id),"
    " d AS (SELECT issue_id, count(*) AS devices FROM (SELECT DISTINCT issue_id, install FROM hang"
    "   WHERE " HANG_IN_VIEW " AND issue_id = ANY ($7::bigint[])) x GROUP BY issue_id),"
    " w AS (SELECT DISTINCT ON (issue_id) issue_id, version FROM (SELECT DISTINCT issue_id, version_id FROM issue_hour"
    "   WHERE " HOUR_IN_VIEW " AND issue_id = ANY ($7::bigint[])) y JOIN version USING (version_id)"
    "  ORDER BY issue_id, first_seen DESC, version_id DESC)"
    " SELECT i.issue_id, i.caller1, i.caller1_image, i.caller1_place, i.caller2, i.caller2_image, i.category, i.reason,"
    "  i.state, c.reports, c.hangs, d.devices, c.hang_ms, c.longest_ms, i.first_seen, coalesce(c.last_at, i.first_seen),"
    "  v.version, coalesce(w.version, v.version)"
    " FROM issue i JOIN version v ON v.version_id = i.first_version_id LEFT JOIN c USING (issue_id)"
    " LEFT JOIN d USING (issue_id) LEFT JOIN w USING (issue_id)"
    " WHERE i.app_id = $1 AND i.issue_id = ANY ($7::bigint[]) ORDER BY array_position($7::bigint[], i.issue_id)";

/* A hang counts in the part of the range its hour begins in. */
static const char trend_sql[] =
    "SELECT issue_id, floor(extract(epoch FROM hour - $2) * $8 / extract(epoch FROM $3::timestamptz - $2))::integer,"
    " sum(hangs)::float8 FROM issue_hour WHERE " HOUR_IN_VIEW " AND issue_id = ANY ($7::bigint[]) GROUP BY 1, 2 ORDER BY 1, 2";
/* clang-format on */

static struct totals totals_at(const struct pg_rows *rows, size_t row, int column)
{
    return (struct totals){.reports = pg_int(rows, row, column),
                           .hangs = pg_real(rows, row, column + 1),
                           .devices = pg_int(rows, row, column + 2),
                           .hang_ms = pg_real(rows, row, column + 3),
                           .longest_ms = pg_int(rows, row, column + 4)};
}

static int read_trend(struct pg_rows **rows, struct pg_tx *tx, const struct view *view, const int64_t *issues,
                      size_t count)
{
    return pg_query(rows, tx, trend_sql, VIEW_PARAMS(view), SLOT_PARAM, PG_INT8S(issues, count),
                    PG_INT4(MIRE_TREND_PARTS));
}

static void trend_add(double *trend, const struct pg_rows *rows, size_t row)
{
    int64_t part = pg_int(rows, row, 1);
    if (part >= 0 && part < MIRE_TREND_PARTS)
        trend[part] += pg_real(rows, row, 2);
}

static int feature_fill(struct feature *f, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    const char **texts[] = {&f->caller1,       &f->caller1_image, &f->caller1_place, &f->caller2,
                            &f->caller2_image, &f->category,      &f->reason,        &f->state};
    f->issue = pg_int(rows, row, 0);
    for (int i = 0; i < 8; i++)
        if (!(*texts[i] = arena_strdup(arena, pg_text(rows, row, i + 1))))
            return MIRE_FAULT_MEMORY;
    f->totals = totals_at(rows, row, 9);
    f->first_us = pg_time(rows, row, 14);
    f->last_us = pg_time(rows, row, 15);
    f->first_version = arena_strdup(arena, pg_text(rows, row, 16));
    f->last_version = arena_strdup(arena, pg_text(rows, row, 17));
    return f->first_version && f->last_version ? 0 : MIRE_FAULT_MEMORY;
}

int read_features(struct feature **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                  const int64_t *issues, size_t issue_count)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    struct pg_rows *trend MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx, features_sql, VIEW_PARAMS(view), SLOT_PARAM, PG_INT8S(issues, issue_count));
    if (rc == 0)
        rc = read_trend(&trend, tx, view, issues, issue_count);
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count, sizeof **out);
    for (size_t i = 0; i < *count; i++)
        if (!*out || feature_fill(&(*out)[i], arena, rows, i) != 0)
            return MIRE_FAULT_MEMORY;
    for (size_t i = 0, f = 0; i < pg_row_count(trend); i++) {
        int64_t issue = pg_int(trend, i, 0); /* rows come issue by issue */
        if (i == 0 || issue != pg_int(trend, i - 1, 0))
            for (f = 0; f < *count && (*out)[f].issue != issue;)
                f++;
        if (f < *count)
            trend_add((*out)[f].trend, trend, i);
    }
    return 0;
}

int read_top(int64_t **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT issue_id FROM issue_hour JOIN issue USING (issue_id, app_id)"
                      " WHERE " HOUR_IN_VIEW " AND " IS_WANTED(
                          "category", "$7", "$8") " GROUP BY issue_id"
                                                  " ORDER BY round(sum(hang_ms)::numeric, 0) DESC, issue_id LIMIT $9",
                      VIEW_PARAMS(view), SLOT_PARAM, FILTER_PARAMS(&view->kind), PG_INT8(MIRE_TOP_MAX));
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count, sizeof **out);
    if (*count && !*out)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < *count; i++)
        (*out)[i] = pg_int(rows, i, 0);
    return 0;
}

static int group_begin(struct group *g, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    g->key = arena_strdup(arena, pg_text(rows, row, 8));
    g->title = arena_strdup(arena, pg_text(rows, row, 9));
    g->image = arena_strdup(arena, pg_text(rows, row, 10));
    g->totals = totals_at(rows, row, 11);
    g->last_us = pg_time(rows, row, 16);
    g->rank = arena_strdup(arena, pg_text(rows, row, 17));
    return g->key && g->title && g->image && g->rank ? 0 : MIRE_FAULT_MEMORY;
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
        issues[i] = pg_int(rows, i, 18);
        g->issue_count++;
    }
    return 0;
}

static int groups_trend(struct group_page *page, struct pg_tx *tx, const struct view *view, const int64_t *issues,
                        size_t count)
{
    struct pg_rows *trend MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = read_trend(&trend, tx, view, issues, count);
    struct group *at = NULL;
    int64_t last = -1;

    for (size_t i = 0; rc == 0 && i < pg_row_count(trend); i++) {
        int64_t issue = pg_int(trend, i, 0);
        for (size_t k = 0; issue != last && k < count; k++)
            if (issues[k] == issue)
                for (size_t g = 0; g < page->count; g++)
                    if (&issues[k] >= page->groups[g].issues &&
                        &issues[k] < page->groups[g].issues + page->groups[g].issue_count)
                        at = &page->groups[g];
        last = issue;
        if (at)
            trend_add(at->trend, trend, i);
    }
    return rc;
}

static char *groups_statement(struct arena *arena, const struct group_order *order)
{
    const char *direction = order->falling ? "DESC" : "ASC";
    return arena_printf(arena, groups_sql, order->by_category ? "i.category" : "i.caller1",
                        order->by_category ? "''" : "i.caller1_image", sorts[order->sort].of_group,
                        sorts[order->sort].of_feature, order->falling ? "<" : ">", sorts[order->sort].type, direction);
}

int read_groups(struct group_page *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                const struct group_order *order)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const char *sql = groups_statement(arena, order);
    memset(out, 0, sizeof *out);
    if (!sql)
        return MIRE_FAULT_MEMORY;
    int rc = pg_query(&rows, tx, sql, VIEW_PARAMS(view), SLOT_PARAM, FILTER_PARAMS(&view->kind),
                      FILTER_PARAMS(&view->state), PG_TEXTS(view->words, view->word_count), PG_TEXT(order->after_rank),
                      PG_TEXT(order->after_key), PG_INT8(order->limit));
    if (rc != 0)
        return rc;
    out->groups_total = pg_int(rows, 0, 0);
    out->features_total = pg_int(rows, 0, 1);
    out->totals = totals_at(rows, 0, 2);
    out->newest_us = pg_time(rows, 0, 7);
    if (pg_is_null(rows, 0, 8))
        return 0;
    size_t count = pg_row_count(rows);
    int64_t *issues = arena_array(arena, count, sizeof *issues);
    out->groups = arena_array(arena, (size_t)order->limit, sizeof *out->groups);
    if (!issues || !out->groups)
        return MIRE_FAULT_MEMORY;
    rc = groups_fill(out, issues, arena, rows);
    return rc ? rc : groups_trend(out, tx, view, issues, count);
}
