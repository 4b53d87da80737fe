/*
 * counters.c - see counters.h. Old amounts are taken away, new ones added; longest and largest are searched again.
 */
#include "rekey/counters.h"

#include "base/clock.h"
#include "base/fault.h"
#include "pipeline/kinds.h"
#include "rows/counters.h"
#include "rows/counters_settle.h"
#include "rows/memory.h"
#include "rows/rollup.h"

#include <stdlib.h>
#include <string.h>

struct shift { /* what one report adds to, or takes from, the counters of an hour */
    const struct move *move;
    struct hour_row hour;
};

static int16_t issue_slot(const struct shift *shift)
{
    return rows_slot(shift->hour.app_id, shift->hour.issue_id);
}

static int by_cell(const struct shift *x, const struct shift *y)
{
    int order = move_compare(x->hour.hour_us, y->hour.hour_us);
    return order ? order : move_compare(x->hour.app_id, y->hour.app_id);
}

static int by_version_hour(const void *a, const void *b)
{
    const struct shift *x = a, *y = b;
    int order =
        move_compare(rows_slot(x->hour.app_id, x->hour.version_id), rows_slot(y->hour.app_id, y->hour.version_id));
    order = order ? order : by_cell(x, y);
    order = order ? order : move_compare(x->hour.version_id, y->hour.version_id);
    return order ? order : strcmp(x->hour.category, y->hour.category);
}

static int by_issue_hour(const void *a, const void *b)
{
    const struct shift *x = a, *y = b;
    int order = move_compare(issue_slot(x), issue_slot(y));
    order = order ? order : by_cell(x, y);
    order = order ? order : move_compare(x->hour.issue_id, y->hour.issue_id);
    order = order ? order : move_compare(x->hour.version_id, y->hour.version_id);
    return order ? order : move_compare(x->hour.tree, y->hour.tree);
}

/* The row that takes the old amounts away. Longest and largest are searched again. */
static struct hour_row taken(const struct hour_row *hour)
{
    struct hour_row out = *hour;
    out.reports = -hour->reports;
    out.events = -hour->events;
    out.waited_ms = -hour->waited_ms;
    out.above_bytes = -hour->above_bytes;
    out.longest_ms = out.most_bytes = 0;
    return out;
}

/* Does the report count in another place, or for another amount, than before? */
static bool is_counted_anew(const struct move *move)
{
    const struct hour_row *before = &move->before.hour, *after = &move->after.hour;
    return move_is_stored(move) &&
           (before->issue_id != after->issue_id || before->tree != after->tree ||
            strcmp(before->category, after->category) != 0 || before->most_bytes != after->most_bytes ||
            before->above_bytes != after->above_bytes);
}

/* Add to the counters, one app after the other. */
static int add_hours(const struct shift *shifts, size_t count, struct pg_tx *tx, struct arena *arena, bool of_versions)
{
    struct hour_row *hours = arena_array(arena, count + 1, sizeof *hours);
    int64_t next = 0;
    int rc = hours ? 0 : MIRE_FAULT_MEMORY;

    for (int64_t app = 0; !rc && app < INT64_MAX; app = next) {
        size_t used = 0;
        next = INT64_MAX;
        for (size_t i = 0; i < count; i++) {
            if (shifts[i].hour.app_id == app)
                hours[used++] = shifts[i].hour;
            else if (shifts[i].hour.app_id > app && shifts[i].hour.app_id < next)
                next = shifts[i].hour.app_id;
        }
        rc =
            of_versions ? rows_version_hours_add(tx, arena, hours, used) : rows_issue_hours_add(tx, arena, hours, used);
    }
    return rc;
}

/* `shifts` are in the order of the counters. */
static int shift_hours(const struct shift *shifts, size_t count, struct pg_tx *tx, struct arena *arena,
                       bool of_versions)
{
    struct hour_row *left = arena_array(arena, count + 1, sizeof *left);
    size_t some = 0;
    int rc = left ? add_hours(shifts, count, tx, arena, of_versions) : MIRE_FAULT_MEMORY;

    for (size_t i = 0; !rc && i < count; i++)
        if (shifts[i].hour.reports < 0)
            left[some++] = shifts[i].move->before.hour;
    if (rc)
        return rc;
    return of_versions ? rows_version_hours_settle(tx, arena, left, some)
                       : rows_issue_hours_settle(tx, arena, left, some);
}

/* Sums of memory by issue; days rise with hours. */
static int shift_memory(const struct move_batch *batch, const struct shift *shifts, size_t count, struct pg_tx *tx)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++) {
        const struct move *move = shifts[i].move;
        if (!kind_of(&move->item)->has_memory || !move->had)
            continue;
        rc = shifts[i].hour.reports < 0
                 ? rows_issue_memory_take(tx, batch->arena, &move->before.event, move->had)
                 : rows_issue_memory_add(tx, batch->arena,
                                         &(struct rows_held){&move->after.event, &move->item.resolved.memory}, 1);
    }

    return rc;
}

static int by_sum(const void *a, const void *b)
{
    const struct shift *x = a, *y = b;
    int order = move_compare(issue_slot(x), issue_slot(y));
    order = order ? order : move_compare(x->hour.hour_us / 86400000000ll, y->hour.hour_us / 86400000000ll);
    order = order ? order : move_compare(x->hour.app_id, y->hour.app_id);
    order = order ? order : move_compare(x->hour.issue_id, y->hour.issue_id);
    order = order ? order : move_compare(x->hour.version_id, y->hour.version_id);
    return order ? order : move_compare(x->hour.tree, y->hour.tree);
}

/* Only of a move that is counted anew: others have no kind. */
static bool changes_kind(const struct move *move)
{
    return strcmp(move->before.hour.category, move->after.hour.category) != 0;
}

/* Append the shifts of the moves that change the kind, or of those that keep it. Returns their number. */
static size_t collect(struct shift *out, const struct move_batch *batch, bool of_kinds)
{
    size_t count = 0;

    for (size_t i = 0; i < batch->count; i++) {
        const struct move *move = &batch->moves[i];
        if (!is_counted_anew(move) || of_kinds != changes_kind(move))
            continue;
        out[count++] = (struct shift){move, taken(&move->before.hour)};
        out[count++] = (struct shift){move, move->after.hour};
    }

    return count;
}

/* Cells cannot give a report back: those that it was in, and is in, are made anew. */
static int shift_rollups(const struct move_batch *batch, struct pg_tx *tx)
{
    struct rollup_day *days = arena_array(batch->arena, 3 * batch->count + 1, sizeof *days);
    size_t count = 0;

    if (!days)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++) {
        const struct move *move = &batch->moves[i];
        const struct hour_row *before = &move->before.hour, *after = &move->after.hour;
        int32_t day = clock_day(after->hour_us);
        if (!move_is_stored(move) || !move->changed)
            continue;
        days[count++] = (struct rollup_day){before->app_id, before->issue_id, day};
        days[count++] = (struct rollup_day){after->app_id, after->issue_id, day};
        if (strcmp(before->category, after->category) != 0)
            days[count++] = (struct rollup_day){after->app_id, 0, day};
    }
    return rows_rollups_due(tx, batch->arena, days, count);
}

int counters_shift(const struct move_batch *batch, struct pg_tx *tx)
{
    struct shift *shifts = arena_array(batch->arena, 2 * batch->count, sizeof *shifts);
    int rc = shifts ? shift_rollups(batch, tx) : MIRE_FAULT_MEMORY;
    if (rc)
        return rc;
    size_t kinds = collect(shifts, batch, true);
    size_t count = kinds + collect(shifts + kinds, batch, false);

    if (!count)
        return 0;
    qsort(shifts, count, sizeof *shifts, by_sum);
    rc = shift_memory(batch, shifts, count, tx);
    kinds = collect(shifts, batch, true);
    (void)collect(shifts + kinds, batch, false);
    if (kinds)
        qsort(shifts, kinds, sizeof *shifts, by_version_hour);
    if (!rc)
        rc = shift_hours(shifts, kinds, tx, batch->arena, true);
    qsort(shifts, count, sizeof *shifts, by_issue_hour);
    return rc ? rc : shift_hours(shifts, count, tx, batch->arena, false);
}
