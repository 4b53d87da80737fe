/* rekey_counted.c - see rekey_counted.h. */
#include "rows/rekey_counted.h"

#include "base/clock.h"
#include "base/fault.h"
#include "model/category.h"
#include "rows/counters.h"
#include "rows/counters_settle.h"
#include "rows/rollup.h"
#include "rows/rollup_events.h"

#include <string.h>

#define WAITED(category) \
    "sum(weight * (waited_ms + CASE WHEN " category " = ANY ($4::text[]) THEN 0 ELSE suppressed_ms END))"

/* clang-format off */
/* Of one slot: sums by hour, version, kind before and kind now. */
static const char follow[] =
    "WITH held AS MATERIALIZED (SELECT slot, day, report_id, category FROM event WHERE slot = $5 AND app_id = $1"
    "  AND issue_id = $2 ORDER BY slot, day, report_id FOR UPDATE),"
    " moved AS (UPDATE event e SET issue_id = $3, category = t.category, reason = t.reason FROM held h, issue t"
    "  WHERE e.slot = $5 AND t.issue_id = $3 AND e.slot = h.slot AND e.day = h.day AND e.report_id = h.report_id"
    "  RETURNING e.occurred_at, e.version_id, h.category AS was, e.category, e.weight, e.suppressed, e.waited_ms,"
    "  e.suppressed_ms)"
    " SELECT date_trunc('hour', occurred_at, 'UTC') AS hour, version_id, was, category, count(*),"
    " sum(weight * (1 + suppressed)), " WAITED("was") ", " WAITED("category") ", max(waited_ms) FROM moved"
    " GROUP BY 1, 2, 3, 4";
/* clang-format on */

/* The sums of a row as they counted before, or count now. */
static struct hour_row hour_of(const struct pg_rows *rows, size_t row, int32_t app_id, bool is_now)
{
    int sign = is_now ? 1 : -1;
    return (struct hour_row){.reports = sign * pg_int(rows, row, 4),
                             .hour_us = pg_time(rows, row, 0),
                             .app_id = app_id,
                             .version_id = pg_int(rows, row, 1),
                             .category = pg_text(rows, row, is_now ? 3 : 2),
                             .events = sign * pg_real(rows, row, 5),
                             .waited_ms = sign * pg_real(rows, row, is_now ? 7 : 6),
                             .longest_ms = pg_int(rows, row, 8)};
}

/* Take the sums from the kinds before, and add them to those now. */
static int shift_kinds(struct pg_tx *tx, struct arena *arena, int32_t app_id, const struct pg_rows *rows)
{
    struct hour_row *hours = arena_array(arena, 2 * pg_row_count(rows) + 1, sizeof *hours);
    size_t count = 0;

    if (!hours)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < pg_row_count(rows); i++) {
        if (!strcmp(pg_text(rows, i, 2), pg_text(rows, i, 3)))
            continue;
        hours[count++] = hour_of(rows, i, app_id, false);
        hours[count++] = hour_of(rows, i, app_id, true);
    }
    int rc = count ? rows_version_hours_add(tx, arena, hours, count) : 0;
    return rc ? rc : rows_version_hours_settle(tx, arena, hours, count);
}

/* The events of every slot, before any counter: locks are taken in the order of derive.h. */
static int move_events(struct pg_rows **out, size_t *count, struct pg_tx *tx, int32_t app_id, int64_t from, int64_t to)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *slots = NULL;
    const char *of_process[MIRE_CATEGORY_COUNT];
    size_t kinds = rows_rollup_of_process(of_process);
    int rc = pg_query(&slots, tx, "SELECT DISTINCT slot FROM event WHERE app_id = $1 AND issue_id = $2 ORDER BY slot",
                      PG_INT4(app_id), PG_INT8(from));

    *count = 0;
    for (size_t i = 0; !rc && i < pg_row_count(slots); i++)
        rc = pg_query(&out[(*count)++], tx, follow, PG_INT4(app_id), PG_INT8(from), PG_INT8(to),
                      PG_TEXTS(of_process, kinds), PG_INT2((int16_t)pg_int(slots, i, 0)));
    return rc;
}

/* Count the events that moved on one slot anew. */
static int count_anew(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to,
                      const struct pg_rows *rows)
{
    struct rollup_day *days = arena_array(arena, 3 * pg_row_count(rows) + 1, sizeof *days);
    size_t count = 0;

    if (!days)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < pg_row_count(rows); i++) {
        int32_t day = clock_day(pg_time(rows, i, 0));
        days[count++] = (struct rollup_day){app_id, from, day};
        days[count++] = (struct rollup_day){app_id, to, day};
        if (strcmp(pg_text(rows, i, 2), pg_text(rows, i, 3)) != 0)
            days[count++] = (struct rollup_day){app_id, 0, day};
    }
    int rc = rows_rollups_due(tx, arena, days, count);
    return rc ? rc : shift_kinds(tx, arena, app_id, rows);
}

int rows_rekey_follow(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to)
{
    struct pg_rows *moved[MIRE_SLOT_COUNT] = {0};
    size_t count;
    int rc = move_events(moved, &count, tx, app_id, from, to);

    for (size_t i = 0; i < count; i++) {
        if (!rc)
            rc = count_anew(tx, arena, app_id, from, to, moved[i]);
        pg_rows_free(&moved[i]);
    }
    return rc;
}
