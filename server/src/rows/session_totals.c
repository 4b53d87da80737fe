/* session_totals.c - the cells of each day merged, its user days counted, and the days added up. */
#include "rows/session_totals.h"

#include "base/fault.h"
#include "rows/rollup.h"
#include "rows/rollup_read.h"
#include "rows/rollup_span.h"
#include "rows/view_sql.h"

#include <string.h>

#define DAY_S         86400
#define SCRATCH_BYTES (256u << 20)

/* clang-format off */
/* $7 $8 the span; $9 $10 what waits. */
static const char cells_sql[] =
    "SELECT (at AT TIME ZONE 'UTC')::date, cell FROM ("
    ROLLUP_OF("at, cell", " AND issue_id = 0 AND category = '" MIRE_ROLLUP_SESSION "'", "24", "7", "8")
    " UNION ALL SELECT at, cell FROM unnest($9::timestamptz[], $10::bytea[]) u (at, cell)) r ORDER BY 1";
/* clang-format on */

/* One day's installations are user days. Each weighs as much as the sessions of the day do on average. */
static void count_user_days(struct cell_sums *sums)
{
    double weight = sums->weight / (double)sums->reports;

    sums->sessions->user_days = distinct_count(&sums->devices) * weight;
    for (int i = 0; i < MIRE_SESSION_GROUPS; i++)
        sums->sessions->group_days[i] = distinct_count(&sums->sessions->devices[i]) * weight;
}

/* Leave the wanted versions, and nothing else. */
static int keep_versions(struct cell *day, struct arena *arena, const struct filter *versions)
{
    size_t kept = 0;
    int rc = 0;

    day->all = (struct cell_sums){0};
    for (size_t i = 0; !rc && i < day->value_count; i++) {
        if (day->values[i].facet != MIRE_FACET_VERSION || !filter_wants(versions, day->values[i].text))
            continue;
        day->values[kept++] = day->values[i];
        rc = cell_sums_merge(&day->all, arena, &day->values[kept - 1].sums);
    }
    day->value_count = kept;
    return rc;
}

/* Rows from..to are of one day. */
static int add_day(struct cell *out, struct arena *arena, struct arena *scratch, const struct view *view,
                   const struct pg_rows *rows, size_t from, size_t to)
{
    struct cell day, more;
    int rc = 0;

    memset(&day, 0, sizeof day);
    for (size_t i = from; !rc && i < to; i++) {
        struct pg_bytes bytes = pg_bytes(rows, i, 1);
        rc = cell_decode(&more, scratch, bytes.bytes, bytes.len);
        if (!rc)
            rc = cell_merge(&day, scratch, &more);
    }
    if (!rc && filter_is_set(&view->version))
        rc = keep_versions(&day, scratch, &view->version);
    if (rc || !day.all.sessions)
        return rc;
    count_user_days(&day.all);
    for (size_t i = 0; i < day.value_count; i++)
        count_user_days(&day.values[i].sums);
    return cell_merge(out, arena, &day);
}

int rows_session_totals_read(struct cell *out, struct pg_tx *tx, struct arena *arena, const struct view *view)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int64_t from_us = view->span.from_s / DAY_S * DAY_S * 1000000;
    int64_t to_us = (view->span.to_s + DAY_S - 1) / DAY_S * DAY_S * 1000000;
    struct rollup_span span = {from_us, from_us, to_us, to_us};
    struct rollup_waiting waiting;
    struct arena scratch;

    memset(out, 0, sizeof *out);
    int rc = rollup_waiting_read(&waiting, tx, arena, view, &span, MIRE_ROLLUPS_OF_SESSIONS);
    if (!rc)
        rc = pg_query(&rows, tx, cells_sql, VIEW_PARAMS(view), SLOT_PARAM, PG_TIME(from_us), PG_TIME(to_us),
                      PG_TIMES(waiting.oldest, waiting.count), PG_BYTESS(waiting.cells, waiting.count));
    arena_init(&scratch, SCRATCH_BYTES);
    for (size_t at = 0, to; !rc && at < pg_row_count(rows); at = to) {
        for (to = at + 1; to < pg_row_count(rows) && pg_day(rows, to, 0) == pg_day(rows, at, 0);)
            to++;
        arena_reset(&scratch);
        rc = add_day(out, arena, &scratch, view, rows, at, to);
    }
    arena_fini(&scratch);
    return rc;
}

int rows_session_facet(const char *name)
{
    static const char *const names[MIRE_FACET_COUNT] = {
        [MIRE_FACET_VERSION] = "version", [MIRE_FACET_OS] = "os",           [MIRE_FACET_OS_VERSION] = "os_version",
        [MIRE_FACET_ARCH] = "arch",       [MIRE_FACET_MODEL] = "model",     [MIRE_FACET_PROCESS] = "process",
        [MIRE_FACET_CLASS] = "class",     [MIRE_FACET_CHANNEL] = "channel", [MIRE_FACET_COUNTRY] = "country"};

    for (int i = 0; i < MIRE_FACET_COUNT; i++)
        if (names[i] && !strcmp(names[i], name))
            return i;
    return -1;
}
