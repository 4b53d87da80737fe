/* versions.c - see versions.h. */
#include "rows/versions.h"

#include "base/fault.h"
#include "model/version.h"
#include "rows/sql.h"
#include "rows/standing_read.h"
#include "rows/view_sql.h"

#include <stdlib.h>

/* clang-format off */
static const char channels_sql[] =
    "SELECT version, channel, sum(sessions)::float8 FROM session_day JOIN version USING (version_id, app_id) WHERE "
    SESSION_DAY_IN_VIEW " GROUP BY 1, 2 HAVING sum(sessions) > 0 ORDER BY 3 DESC, channel COLLATE \"C\"";
/* clang-format on */

static int newest_first(const void *a, const void *b)
{
    const struct version_facts *x = a, *y = b;
    return version_compare(y->version, x->version);
}

int rows_version_facts_read(struct version_facts **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                            const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    const char *sql = SQL_FILL(arena, sql_version_facts, {"counted", counted_sql(arena, 9)},
                               {"session_day_in_view", SESSION_DAY_IN_VIEW},
                               {"category_wanted", IS_WANTED("category", "$7", "$8")}, {"in_versions", IN_VERSIONS});
    struct counted counted;

    if (!sql)
        return MIRE_FAULT_MEMORY;
    int rc = rows_counted_versions(&counted, tx, arena, view, 0);
    if (!rc)
        rc = pg_query(&rows, tx, sql, VIEW_PARAMS(view), SLOT_PARAM, FILTER_PARAMS(&view->kind),
                      COUNTED_PARAMS(&counted));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct version_facts){.version = arena_strdup(arena, pg_text(rows, i, 0)),
                                           .first_seen_us = pg_time(rows, i, 1),
                                           .reports = pg_int(rows, i, 2),
                                           .events = pg_real(rows, i, 3),
                                           .opened = pg_int(rows, i, 4),
                                           .resolved = pg_int(rows, i, 5),
                                           .regressed = pg_int(rows, i, 6)};
        if (!(*out)[i].version)
            return MIRE_FAULT_MEMORY;
    }
    if (*out)
        qsort(*out, *count, sizeof **out, newest_first);
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_version_channels_read(struct version_channel **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                               const struct view *view)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx, channels_sql, VIEW_PARAMS(view), SLOT_PARAM);
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct version_channel){arena_strdup(arena, pg_text(rows, i, 0)),
                                             arena_strdup(arena, pg_text(rows, i, 1)), pg_real(rows, i, 2)};
        if (!(*out)[i].version || !(*out)[i].channel)
            return MIRE_FAULT_MEMORY;
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}
