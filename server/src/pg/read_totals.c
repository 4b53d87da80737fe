/* read_totals.c - sums over an app: from the hourly counters, except devices, which only hangs can tell apart. */
#include "pg/read.h"

#include "pg/read_sql.h"

#include <string.h>

#define KIND_WANTED      IS_WANTED("category", "$7", "$8")
#define TOTALS_PARAMS(v) VIEW_PARAMS(v), SLOT_PARAM, FILTER_PARAMS(&(v)->kind)

int read_totals(struct totals *out, int64_t *newest_us_out, struct pg_tx *tx, const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx,
                      "WITH d AS (SELECT install, max(received_at) AS newest FROM hang"
                      "  WHERE " HANG_IN_VIEW " AND " KIND_WANTED " GROUP BY install)"
                      " SELECT coalesce(sum(reports), 0)::bigint, coalesce(sum(hangs), 0)::float8,"
                      "  coalesce(sum(hang_ms), 0)::float8, coalesce(max(longest_ms), 0)::bigint,"
                      "  (SELECT count(*) FROM d), (SELECT max(newest) FROM d)"
                      " FROM version_hour WHERE " HOUR_IN_VIEW " AND " KIND_WANTED,
                      TOTALS_PARAMS(view));
    if (rc != 0)
        return rc;
    *out = (struct totals){.reports = pg_int(rows, 0, 0),
                           .hangs = pg_real(rows, 0, 1),
                           .hang_ms = pg_real(rows, 0, 2),
                           .longest_ms = pg_int(rows, 0, 3),
                           .devices = pg_int(rows, 0, 4)};
    *newest_us_out = pg_time(rows, 0, 5);
    return 0;
}

/* clang-format off */
#define SHARES(column, from) \
    "SELECT " column ", sum(reports)::bigint, sum(hangs)::float8 FROM " from \
    " WHERE " HOUR_IN_VIEW " AND " KIND_WANTED " GROUP BY 1 ORDER BY 2 DESC, " column " COLLATE \"C\" LIMIT $9"
static const char *const share_sql[] = {
    [READ_BY_VERSION] = SHARES("version", "version_hour JOIN version USING (version_id, app_id)"),
    [READ_BY_KIND] = SHARES("category", "version_hour"),
    [READ_BY_STATE] = SHARES("state", "issue_hour JOIN issue USING (issue_id, app_id)"),
};
/* clang-format on */

int read_shares(struct share **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                enum read_facet facet)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx, share_sql[facet], TOTALS_PARAMS(view), PG_INT8(MIRE_SHARES_MAX));
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count, sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        if (!*out || !((*out)[i].key = arena_strdup(arena, pg_text(rows, i, 0))))
            return MIRE_FAULT_MEMORY;
        (*out)[i].reports = pg_int(rows, i, 1);
        (*out)[i].hangs = pg_real(rows, i, 2);
    }
    return 0;
}

int read_versions(struct version_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                  const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx,
                      "WITH c AS (SELECT version, sum(reports)::bigint AS reports, sum(hangs)::float8 AS hangs,"
                      "   sum(hang_ms)::float8 AS hang_ms, max(longest_ms) AS longest_ms"
                      "  FROM version_hour JOIN version USING (version_id, app_id)"
                      "  WHERE " HOUR_IN_VIEW " AND " KIND_WANTED " GROUP BY version)"
                      " SELECT c.version, f.first_seen, c.reports, c.hangs, c.hang_ms, c.longest_ms FROM c JOIN"
                      "  (SELECT version, min(first_seen) AS first_seen FROM version WHERE app_id = $1 GROUP BY 1) f"
                      "  USING (version) ORDER BY f.first_seen DESC, c.version COLLATE \"C\" LIMIT $9",
                      TOTALS_PARAMS(view), PG_INT8(MIRE_VERSIONS_MAX));
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count, sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        if (!*out || !((*out)[i].version = arena_strdup(arena, pg_text(rows, i, 0))))
            return MIRE_FAULT_MEMORY;
        (*out)[i].first_us = pg_time(rows, i, 1);
        (*out)[i].totals = (struct totals){.reports = pg_int(rows, i, 2),
                                           .hangs = pg_real(rows, i, 3),
                                           .hang_ms = pg_real(rows, i, 4),
                                           .longest_ms = pg_int(rows, i, 5)};
    }
    return 0;
}

/* clang-format off */
#define SERIES(from, also) \
    "SELECT version, at, hangs, hang_ms FROM (SELECT version," \
    "  (floor(extract(epoch FROM hour) / $7::integer) * $7::integer)::bigint AS at," \
    "  sum(hangs)::float8 AS hangs, sum(hang_ms)::float8 AS hang_ms," \
    "  round(sum(sum(hangs)) OVER (PARTITION BY version)::numeric, 3) AS whole" \
    "  FROM " from " JOIN version USING (version_id, app_id) WHERE " HOUR_IN_VIEW " AND " also \
    "  GROUP BY 1, 2) s ORDER BY whole DESC, version COLLATE \"C\", at"
/* clang-format on */

int read_series(struct point **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                int64_t issue, int bucket_s)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = issue ? pg_query(&rows, tx, SERIES("issue_hour", "issue_id = $8"), VIEW_PARAMS(view), SLOT_PARAM,
                              PG_INT4(bucket_s), PG_INT8(issue))
                   : pg_query(&rows, tx, SERIES("version_hour", IS_WANTED("category", "$8", "$9")), VIEW_PARAMS(view),
                              SLOT_PARAM, PG_INT4(bucket_s), FILTER_PARAMS(&view->kind));
    int versions = 0;
    if (rc != 0)
        return rc;
    *count = 0;
    *out = arena_array(arena, pg_row_count(rows), sizeof **out);
    for (size_t i = 0; i < pg_row_count(rows); i++) {
        struct point *p = *out ? &(*out)[i] : NULL;
        bool same = i > 0 && p && strcmp(p[-1].version, pg_text(rows, i, 0)) == 0;
        if (!same && ++versions > MIRE_SERIES_MAX)
            break;
        if (!p || !(p->version = same ? p[-1].version : arena_strdup(arena, pg_text(rows, i, 0))))
            return MIRE_FAULT_MEMORY;
        p->at_s = pg_int(rows, i, 1);
        p->hangs = pg_real(rows, i, 2);
        p->hang_ms = pg_real(rows, i, 3);
        ++*count;
    }
    return 0;
}
