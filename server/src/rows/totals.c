/* totals.c - sums over an app, from the standing sums. */
#include "rows/totals.h"
#include "model/rows.h"
#include "model/version.h"
#include "rows/rows.h"
#include "rows/sql.h"
#include "rows/standing_read.h"
#include "rows/view_sql.h"

#include <stdlib.h>
#include <string.h>

#define KIND_WANTED      IS_WANTED("category", "$2", "$3")
#define TOTALS_PARAMS(v) PG_INT4((v)->app), FILTER_PARAMS(&(v)->kind)

/* clang-format off */
#define SHARES(column, from) \
    "SELECT " column ", sum(reports)::bigint, sum(events)::float8 FROM " from \
    " WHERE " KIND_WANTED " GROUP BY 1 ORDER BY 2 DESC, " column " COLLATE \"C\" LIMIT $4"
static const char *const share_sql[] = {
    [ROWS_BY_VERSION] = SHARES("version", "{counted} JOIN version USING (version_id)"),
    [ROWS_BY_KIND] = SHARES("category", "{counted}"),
    [ROWS_BY_STATE] =
    "WITH h AS (SELECT issue_id, tree, sum(reports) AS reports, sum(events) AS events FROM {counted}"
    "  GROUP BY 1, 2)"
    " SELECT " STATE " AS shown_state, sum(reports)::bigint, sum(events)::float8 FROM h" SHOWN_JOIN("h")
    " JOIN issue i ON i.issue_id = " SHOWN_ID("h")
    " WHERE " KIND_WANTED " GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $4",
};
/* clang-format on */

int rows_facet_values_read(struct facet_value **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                           const struct view *view, enum rows_facet facet)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const char *sql = SQL_FILL(arena, share_sql[facet], {"counted", counted_sql(arena, 5)});
    struct counted counted;

    if (!sql)
        return MIRE_FAULT_MEMORY;
    int rc = facet == ROWS_BY_STATE ? rows_counted_issues(&counted, tx, arena, view)
                                    : rows_counted_versions(&counted, tx, arena, view, 0);
    if (!rc)
        rc = pg_query(&rows, tx, sql, TOTALS_PARAMS(view), PG_INT8(MIRE_FACET_MAX), COUNTED_PARAMS(&counted));
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count, sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        if (!*out || !((*out)[i].key = arena_strdup(arena, pg_text(rows, i, 0))))
            return MIRE_FAULT_MEMORY;
        (*out)[i].reports = pg_int(rows, i, 1);
        (*out)[i].events = pg_real(rows, i, 2);
    }

    return 0;
}

/* clang-format off */
static const char version_kinds_sql[] =
    "SELECT category, version, sum(events)::float8 FROM {counted} JOIN version USING (version_id)"
    " WHERE " KIND_WANTED " GROUP BY 1, 2 ORDER BY category, version COLLATE \"C\"";
static const char version_count_sql[] =
    "SELECT count(DISTINCT version) FROM version WHERE app_id = $1 AND version_id IN"
    " (SELECT version_id FROM session_day WHERE " SESSION_DAY_IN_VIEW ")";
/* clang-format on */

int rows_version_kinds_read(struct kind_row **out, size_t *count, int64_t *versions, struct pg_tx *tx,
                            struct arena *arena, const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL, *counted MIRE_SCOPED(pg_rows_free) = NULL;
    const char *sql = SQL_FILL(arena, version_kinds_sql, {"counted", counted_sql(arena, 4)});
    struct counted kinds;

    if (!sql)
        return MIRE_FAULT_MEMORY;
    int rc = rows_counted_versions(&kinds, tx, arena, view, 0);
    if (!rc)
        rc = pg_query(&rows, tx, sql, TOTALS_PARAMS(view), COUNTED_PARAMS(&kinds));
    if (!rc)
        rc = pg_query(&counted, tx, version_count_sql, VIEW_PARAMS(view), SLOT_PARAM);
    if (rc)
        return rc;
    *versions = pg_int(counted, 0, 0);
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        const char *kind = arena_strdup(arena, pg_text(rows, i, 0)),
                   *version = arena_strdup(arena, pg_text(rows, i, 1));
        if (!kind || !version)
            return MIRE_FAULT_MEMORY;
        (*out)[i] = (struct kind_row){kind, version, pg_real(rows, i, 2)};
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

/* clang-format off */
#define BUCKET(width) "(floor(date_part('epoch', hour) / " width "::integer) * " width "::integer)::bigint"

/* The kind of a row by the bits of grouping(category, version, at). */
enum { ALL = 7, OF_KIND = 3, OF_VERSION = 5, OF_POINT = 4 };
#define SERIES(which) \
    "SELECT version, " BUCKET("$2") ", sum(events), sum(waited_ms) FROM {counted} JOIN version USING (version_id)" \
    " WHERE true" which("3") " GROUP BY 1, 2 ORDER BY version COLLATE \"C\", 2"
/* clang-format on */

int rows_turns_read(struct turn **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view)
{
    struct counted counted;

    int rc = rows_counted_turns(&counted, tx, arena, view);
    if (rc != 0)
        return rc;
    *count = counted.count;
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (struct turn){(int64_t)MIRE_TURN_LEAST << counted.parts[i], counted.events[i]};
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

static int by_reports(const void *a, const void *b)
{
    const struct facet_value *x = a, *y = b;
    if (x->reports != y->reports)
        return x->reports > y->reports ? -1 : 1;
    return strcmp(x->key, y->key);
}

static int by_age(const void *a, const void *b)
{
    const struct version_row *x = a, *y = b;
    if (x->first_us != y->first_us)
        return x->first_us > y->first_us ? -1 : 1;
    return version_compare(y->version, x->version);
}

/* A version's points. */
struct version_line {
    const struct point *points;
    size_t count;
    double events;
};

/* Sums of other orders of addition are equal to the thousandth. */
static int by_events(const void *a, const void *b)
{
    const struct version_line *x = a, *y = b;
    double difference = y->events - x->events;
    if (difference > 0.0005 || difference < -0.0005)
        return difference > 0 ? 1 : -1;
    return strcmp(x->points->version, y->points->version);
}

/* Sort points, which come version by version, by the events of their versions; at most MIRE_SERIES_MAX versions
 * stay. */
static int points_arrange(struct point **points, size_t *count, struct arena *arena)
{
    struct version_line *lines = arena_array(arena, *count + 1, sizeof *lines);
    struct point *arranged = arena_array(arena, *count + 1, sizeof *arranged);
    size_t line_count = 0, at = 0;

    if (!lines || !arranged)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < *count; i++) {
        const struct point *p = &(*points)[i];
        if (i == 0 || strcmp(p[-1].version, p->version) != 0)
            lines[line_count++].points = p;
        lines[line_count - 1].count++;
        lines[line_count - 1].events += p->events;
    }

    if (line_count)
        qsort(lines, line_count, sizeof *lines, by_events);
    for (size_t i = 0; i < line_count && i < MIRE_SERIES_MAX; at += lines[i++].count)
        memcpy(&arranged[at], lines[i].points, lines[i].count * sizeof *arranged);
    *points = arranged;
    *count = at;
    return 0;
}

static int sums_add(struct sums *out, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    struct totals totals = {.reports = pg_int(rows, row, 4),
                            .events = pg_real(rows, row, 5),
                            .waited_ms = pg_real(rows, row, 6),
                            .longest_ms = pg_int(rows, row, 7)};
    int64_t what = pg_int(rows, row, 0);
    const char *text = arena_strdup(arena, pg_text(rows, row, what == OF_KIND ? 1 : 2));

    if (!text)
        return MIRE_FAULT_MEMORY;
    if (what == ALL) {
        out->totals = totals;
        out->first_hour_us = pg_time(rows, row, 8);
    } else if (what == OF_KIND) {
        out->kinds[out->kind_count++] = (struct facet_value){text, totals.reports, totals.events};
    } else if (what == OF_VERSION) {
        out->versions[out->version_count++] = (struct version_row){text, pg_time(rows, row, 9), totals};
    } else {
        out->points[out->point_count++] = (struct point){text, pg_int(rows, row, 3), totals.events, totals.waited_ms};
    }

    return 0;
}

int rows_sums_read(struct sums *out, struct pg_tx *tx, struct arena *arena, const struct view *view, int bucket_s)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    const char *sql = SQL_FILL(arena, sql_app_sums, {"counted", counted_sql(arena, 5)}, {"kind_wanted", KIND_WANTED},
                               {"bucket", BUCKET("$4")});
    struct counted counted;

    if (!sql)
        return MIRE_FAULT_MEMORY;
    int rc = rows_counted_versions(&counted, tx, arena, view, bucket_s);
    if (!rc)
        rc = pg_query(&rows, tx, sql, TOTALS_PARAMS(view), PG_INT4(bucket_s), COUNTED_PARAMS(&counted));
    if (rc != 0)
        return rc;
    size_t count = pg_row_count(rows);
    *out = (struct sums){.kinds = arena_array(arena, count, sizeof *out->kinds),
                         .versions = arena_array(arena, count, sizeof *out->versions),
                         .points = arena_array(arena, count, sizeof *out->points)};
    if (!out->kinds || !out->versions || !out->points)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (sums_add(out, arena, rows, i) != 0)
            return MIRE_FAULT_MEMORY;
    qsort(out->kinds, out->kind_count, sizeof *out->kinds, by_reports);
    qsort(out->versions, out->version_count, sizeof *out->versions, by_age);
    if (out->version_count > MIRE_VERSIONS_MAX)
        out->version_count = MIRE_VERSIONS_MAX;
    return points_arrange(&out->points, &out->point_count, arena);
}

int rows_series_read(struct point **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                     int64_t issue, int bucket_s)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    const char *sql = SQL_FILL(arena, OF_ISSUE(view, SERIES), {"counted", counted_sql(arena, 4)});
    const struct counted_by by = {.version = true, .bucket_s = bucket_s};
    struct counted counted;

    if (!sql)
        return MIRE_FAULT_MEMORY;
    int rc = rows_counted_of_issue(&counted, tx, arena, view, issue, &by);
    if (!rc)
        rc = pg_query(&rows, tx, sql, PG_INT4(view->app), PG_INT4(bucket_s), PG_INT8(issue), COUNTED_PARAMS(&counted));
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        const char *version = arena_strdup(arena, pg_text(rows, i, 0));
        if (!*out || !version)
            return MIRE_FAULT_MEMORY;
        (*out)[i] = (struct point){version, pg_int(rows, i, 1), pg_real(rows, i, 2), pg_real(rows, i, 3)};
    }

    return points_arrange(out, count, arena);
}
