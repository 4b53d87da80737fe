/*
 * counters.c - see counters.h. What was added is taken away again, and added elsewhere; the longest and the most are found anew.
 */
#include "rekey/counters.h"

#include "base/fault.h"
#include "pipeline/kinds.h"
#include "rows/derive.h"
#include "rows/memory.h"

#include <stdlib.h>
#include <string.h>

struct shift { /* what one report adds to, or takes from, the counters of an hour */
    const struct move *move;
    struct hour_row hour;
    int64_t reports; /* 1 or -1 */
};

static int by_cell(const struct shift *x, const struct shift *y)
{
    int order = move_compare(x->hour.slot, y->hour.slot);
    order = order ? order : move_compare(x->hour.hour_us, y->hour.hour_us);
    return order ? order : move_compare(x->hour.app_id, y->hour.app_id);
}

static int by_version_hour(const void *a, const void *b)
{
    const struct shift *x = a, *y = b;
    int order = by_cell(x, y);
    order = order ? order : move_compare(x->hour.version_id, y->hour.version_id);
    return order ? order : strcmp(x->hour.category, y->hour.category);
}

static int by_issue_hour(const void *a, const void *b)
{
    const struct shift *x = a, *y = b;
    int order = by_cell(x, y);
    order = order ? order : move_compare(x->hour.issue_id, y->hour.issue_id);
    order = order ? order : move_compare(x->hour.version_id, y->hour.version_id);
    return order ? order : move_compare(x->hour.tree, y->hour.tree);
}

/* What takes away what was added. The longest and the most are found anew. */
static struct hour_row taken(const struct hour_row *hour)
{
    struct hour_row out = *hour;
    out.events = -hour->events;
    out.waited_ms = -hour->waited_ms;
    out.longest_ms = out.most_bytes = 0;
    return out;
}

/* Does it count elsewhere, or for another amount, than before? */
static bool is_counted_anew(const struct move *move)
{
    const struct hour_row *before = &move->before.hour, *after = &move->after.hour;
    return move_is_stored(move) &&
           (before->issue_id != after->issue_id || before->tree != after->tree ||
            strcmp(before->category, after->category) != 0 || before->most_bytes != after->most_bytes);
}

static int shift_hours(const struct shift *shifts, size_t count, struct pg_tx *tx, bool of_versions)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < count; i++)
        rc = of_versions ? rows_version_hour_add(tx, &shifts[i].hour, shifts[i].reports)
                         : rows_issue_hour_add(tx, &shifts[i].hour, shifts[i].reports);
    for (size_t i = 0; !rc && i < count; i++)
        if (shifts[i].reports < 0)
            rc = of_versions ? rows_version_hour_settle(tx, &shifts[i].hour)
                             : rows_issue_hour_settle(tx, &shifts[i].hour);
    return rc;
}

/* Sums of memory by issue; days rise with hours. */
static int shift_memory(const struct move_batch *batch, const struct shift *shifts, size_t count, struct pg_tx *tx)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++) {
        const struct move *move = shifts[i].move;
        if (!kind_of(&move->item)->has_memory || !move->had)
            continue;
        rc = shifts[i].reports < 0
                 ? rows_issue_memory_take(tx, batch->arena, &move->before.event, move->had)
                 : rows_issue_memory_add(tx, batch->arena, &move->after.event, &move->item.resolved.memory);
    }

    return rc;
}

static int by_sum(const void *a, const void *b)
{
    const struct shift *x = a, *y = b;
    int order = move_compare(x->hour.slot, y->hour.slot);
    order = order ? order : move_compare(x->hour.hour_us / 86400000000ll, y->hour.hour_us / 86400000000ll);
    order = order ? order : move_compare(x->hour.app_id, y->hour.app_id);
    order = order ? order : move_compare(x->hour.issue_id, y->hour.issue_id);
    order = order ? order : move_compare(x->hour.version_id, y->hour.version_id);
    return order ? order : move_compare(x->hour.tree, y->hour.tree);
}

int counters_shift(const struct move_batch *batch, struct pg_tx *tx)
{
    struct shift *shifts = arena_array(batch->arena, 2 * batch->count, sizeof *shifts);
    size_t count = 0, kinds = 0;

    if (!shifts)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++) { /* first those that change the kind */
        const struct move *move = &batch->moves[i];
        if (!is_counted_anew(move) || !strcmp(move->before.hour.category, move->after.hour.category))
            continue;
        shifts[count++] = (struct shift){move, taken(&move->before.hour), -1};
        shifts[count++] = (struct shift){move, move->after.hour, 1};
    }

    kinds = count;
    if (kinds)
        qsort(shifts, kinds, sizeof *shifts, by_version_hour);
    int rc = shift_hours(shifts, kinds, tx, true);
    for (size_t i = 0; i < batch->count; i++) {
        const struct move *move = &batch->moves[i];
        if (!is_counted_anew(move) || strcmp(move->before.hour.category, move->after.hour.category) != 0)
            continue;
        shifts[count++] = (struct shift){move, taken(&move->before.hour), -1};
        shifts[count++] = (struct shift){move, move->after.hour, 1};
    }

    if (count)
        qsort(shifts, count, sizeof *shifts, by_issue_hour);
    if (!rc)
        rc = shift_hours(shifts, count, tx, false);
    if (count)
        qsort(shifts, count, sizeof *shifts, by_sum);
    return rc ? rc : shift_memory(batch, shifts, count, tx);
}
