/* hits.c - hits of issues from their days; sessions by version. */
#include "rows/hits.h"

#include "base/fault.h"
#include "model/version.h"
#include "rows/issue_days.h"
#include "rows/sql.h"
#include "rows/standing_read.h"
#include "rows/view_sql.h"

#include <math.h>
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
    struct counted counted;
    bool split;

    int rc = rows_splits_read(&split, tx, view->app);
    if (rc)
        return rc;
    const char *sql =
        SQL_FILL(arena, sql_issue_hits, {"counted", counted_sql(arena, 4)}, {"tree", TREE_IF(split)},
                 {"by_tree", BY_TREE_IF(split)}, {"shown_id", SHOWN_ID("counted")},
                 {"shown_join", SHOWN_JOIN("counted")}, {"kind_wanted", IS_WANTED("i.category", "$2", "$3")});
    if (!sql)
        return MIRE_FAULT_MEMORY;
    rc = rows_counted_issues(&counted, tx, arena, view);
    if (!rc)
        rc = pg_query(&rows, tx, sql, PG_INT4(view->app), FILTER_PARAMS(&view->kind), COUNTED_PARAMS(&counted));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (struct issue_hits){.issue = pg_int(rows, i, 0), .reports = pg_int(rows, i, 1)};
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

struct hits_list {
    struct issue_hits *rows;
    size_t count;
};

/* Devices on two days of an issue count twice for each such pair. */
static int add_pairs(struct issue_hits *to, struct arena *scratch, const struct issue_day *days, size_t count)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++)
        for (size_t k = 0; !rc && k < i; k++) {
            double shared;
            rc = distinct_shared(&shared, scratch, &days[i].devices, &days[k].devices);
            to->hits_sq += 2 * shared * issue_day_weight(&days[i]) * issue_day_weight(&days[k]);
        }
    return rc;
}

static int take_days(void *context, struct arena *scratch, int64_t issue, const struct issue_day *days, size_t count)
{
    struct hits_list *list = context;
    struct distinct all = {0};
    size_t low = 0, high = list->count;
    int rc = 0;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list->rows[middle].issue < issue)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == list->count || list->rows[low].issue != issue)
        return 0; /* its counters are gone */
    struct issue_hits *to = &list->rows[low];
    for (size_t i = 0; !rc && i < count; i++) {
        double hits = distinct_count(&days[i].devices) * issue_day_weight(&days[i]);
        to->reports += (int64_t)days[i].reports;
        to->events += days[i].events;
        to->hits += hits;
        to->hits_sq += hits * issue_day_weight(&days[i]);
        rc = distinct_merge(&all, scratch, &days[i].devices);
    }
    double devices = distinct_count(&all);
    to->devices = (int64_t)llround(devices);
    if (!rc)
        rc = add_pairs(to, scratch, days, count);
    if (to->hits_sq < to->hits * to->hits / devices) /* the least that so many devices can have */
        to->hits_sq = to->hits * to->hits / devices;
    return rc;
}

int rows_hits_count(struct issue_hits *hits, size_t count, struct pg_tx *tx, const struct view *view,
                    const int64_t *issues, size_t issue_count)
{
    struct hits_list list = {hits, count};

    for (size_t i = 0, at = 0; i < issue_count; i++) {
        while (at < count && hits[at].issue < issues[i])
            at++;
        if (at < count && hits[at].issue == issues[i])
            hits[at] = (struct issue_hits){.issue = issues[i]};
    }
    return rows_issue_days_read(tx, view, issues, issue_count, take_days, &list);
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
