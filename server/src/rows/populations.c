/* populations.c - the memory of healthy processes and of an issue's: the merged sums of all slots. */
#include "rows/populations.h"
#include "model/version.h"
#include "rows/rows.h"
#include "rows/view_sql.h"

#include <stdlib.h>
#include <string.h>

#define MERGED_MAX 2048 /* sums in one answer, newest first */

/* clang-format off */
#define DAY_IN_VIEW \
    "app_id = $1 AND day >= ($2 AT TIME ZONE 'UTC')::date AND day < ($3 + interval '1 day' - interval '1 us') AT TIME ZONE 'UTC'" \
    " AND " IN_VERSIONS
#define ISSUE(which) \
    "SELECT population FROM issue_memory WHERE " DAY_IN_VIEW which("6") " ORDER BY day DESC, slot LIMIT $7"
#define ISSUE_HEALTHY(which) \
    "SELECT population FROM healthy WHERE app_id = $1 AND slot = ANY ($8::smallint[]) AND version_id IN" \
    "  (SELECT version_id FROM issue_memory WHERE " DAY_IN_VIEW which("6") ")" \
    " AND os = ANY ($9::text[])" \
    " ORDER BY last_at DESC, slot LIMIT $7"
static const char healthy_sql[] =
    "SELECT population FROM healthy WHERE app_id = $1 AND slot = ANY ($2::smallint[]) AND ($3::text IS NULL OR"
    " device_class = $3) AND ($7::text IS NULL OR os = $7) AND " IN_VERSIONS " ORDER BY last_at DESC, slot LIMIT $6";
static const char versions_sql[] =
    "SELECT version, os, device_class, max(last_at) FROM healthy JOIN version USING (app_id, version_id)"
    " WHERE app_id = $1 AND slot = ANY ($2::smallint[]) GROUP BY 1, 2, 3 ORDER BY 4 DESC, version COLLATE \"C\","
    " os COLLATE \"C\", device_class COLLATE \"C\" LIMIT $3";
/* clang-format on */

static int merged(struct population *out, struct arena *arena, const struct pg_rows *rows, int rc)
{
    return rc ? rc : population_of_rows(out, arena, rows, 0);
}

int rows_issue_memory_read(struct population *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                           int64_t issue)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx, OF_ISSUE(view, ISSUE), VIEW_PARAMS(view), PG_INT8(issue), PG_INT8(MERGED_MAX));
    return merged(out, arena, rows, rc);
}

int rows_issue_healthy_read(struct population *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                            int64_t issue, const char **systems, size_t system_count)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx, OF_ISSUE(view, ISSUE_HEALTHY), VIEW_PARAMS(view), PG_INT8(issue), PG_INT8(MERGED_MAX),
                      SLOT_PARAM, PG_TEXTS(systems, system_count));
    return merged(out, arena, rows, rc);
}

int rows_healthy_read(struct population *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                      const char *os, const char *device_class)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx, healthy_sql, PG_INT4(view->app), SLOT_PARAM, PG_TEXT(device_class),
                      FILTER_PARAMS(&view->version), PG_INT8(MERGED_MAX), PG_TEXT(os));
    return merged(out, arena, rows, rc);
}

int rows_healthy_versions_read(struct healthy_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                               const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx, versions_sql, PG_INT4(view->app), SLOT_PARAM, PG_INT8(MIRE_FACET_MAX));
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct healthy_row){.version = arena_strdup(arena, pg_text(rows, i, 0)),
                                         .os = arena_strdup(arena, pg_text(rows, i, 1)),
                                         .device_class = arena_strdup(arena, pg_text(rows, i, 2)),
                                         .last_us = pg_time(rows, i, 3)};
        if (!(*out)[i].version || !(*out)[i].os || !(*out)[i].device_class)
            return MIRE_FAULT_MEMORY;
    }

    return *out ? 0 : MIRE_FAULT_MEMORY;
}
