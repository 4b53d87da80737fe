/* hits.c - hits of issues from the reports that are kept; sessions by version. */
#include "rows/hits.h"

#include "base/fault.h"
#include "model/version.h"
#include "rows/sql.h"
#include "rows/view_sql.h"

#include <stdlib.h>

/* clang-format off */
static const char sessions_sql[] =
    "SELECT version, sum(sessions)::float8 FROM session_day JOIN version USING (version_id, app_id) WHERE " SESSION_DAY_IN_VIEW
    " GROUP BY version HAVING sum(sessions) > 0";
/* clang-format on */

int rows_hits_read(struct issue_hits **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                   const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    bool split;

    int rc = rows_splits_read(&split, tx, view->app);
    if (rc)
        return rc;
    const char *sql =
        SQL_FILL(arena, sql_issue_hits, {"event_in_view", EVENT_IN_VIEW}, {"tree", TREE_IF(split)},
                 {"by_tree", BY_TREE_IF(split)}, {"shown_id", SHOWN_ID("found")}, {"shown_join", SHOWN_JOIN("found")},
                 {"kind_wanted", IS_WANTED("i.category", "$6", "$7")});
    if (!sql)
        return MIRE_FAULT_MEMORY;
    rc = pg_query(&rows, tx, sql, VIEW_PARAMS(view), FILTER_PARAMS(&view->kind));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (struct issue_hits){.issue = pg_int(rows, i, 0),
                                        .reports = pg_int(rows, i, 1),
                                        .devices = pg_int(rows, i, 2),
                                        .hits = pg_real(rows, i, 3),
                                        .hits_sq = pg_real(rows, i, 4),
                                        .events = pg_real(rows, i, 5),
                                        .waited_ms = pg_real(rows, i, 6)};
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

static int newest_first(const void *a, const void *b)
{
    const struct version_sessions *x = a, *y = b;
    return version_compare(y->version, x->version);
}

int rows_version_sessions_read(struct version_sessions **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                               const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx, sessions_sql, VIEW_PARAMS(view), SLOT_PARAM);
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct version_sessions){arena_strdup(arena, pg_text(rows, i, 0)), pg_real(rows, i, 1)};
        if (!(*out)[i].version)
            return MIRE_FAULT_MEMORY;
    }
    if (*out)
        qsort(*out, *count, sizeof **out, newest_first);
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_session_count_read(double *out, struct pg_tx *tx, const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc =
        pg_query(&rows, tx, "SELECT coalesce(sum(sessions), 0)::float8 FROM session_day WHERE " SESSION_DAY_IN_VIEW,
                 VIEW_PARAMS(view), SLOT_PARAM);
    *out = rc ? 0 : pg_real(rows, 0, 0);
    return rc;
}
