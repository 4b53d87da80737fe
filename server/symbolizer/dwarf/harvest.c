/*
 * harvest.c - reads one unit: its entries, then its lines, then combines both.
 */
#include "dwarf/worker.h"

#include "base/grow.h"

#include <stdlib.h>

#define PATHS_BYTES_MAX (1ull << 30)

/* Paint the unit's own ranges, or without them those of its line table. Lines outside functions are used only there. */
static bool paint_unit(struct unit_reading *reading)
{
    struct dwarf_worker *worker = reading->worker;
    struct range_walk ranges;
    struct die die;
    uint64_t low, high;
    bool any = false;
    if (die_at(&die, reading->outer, reading->outer->first)) {
        ranges_begin(&ranges, reading->outer, &die);
        while (ranges_next(&low, &high, &ranges)) {
            struct paint_range range = {0};
            if (!dwarf_offsets(&range.low, &range.high, reading->dwarf, low, high))
                continue;
            any = true;
            if (!paint_add(&worker->paint, range))
                return false;
        }
    }
    for (size_t i = 0; i < worker->lines.sorted.count && !any; i++) {
        const struct line_sequence *sequence = &worker->lines.sorted.rows[i];
        if (!paint_add(&worker->paint, (struct paint_range){sequence->low, sequence->high, 0, 0}))
            return false;
    }
    return true;
}

bool dwarf_read(struct dwarf_harvest *harvest, struct dwarf *dwarf, size_t number)
{
    struct unit_reading reading = {.harvest = harvest, .dwarf = dwarf, .number = (uint32_t)number};
    reading.outer = &dwarf->units.rows[number];
    reading.unit = reading.outer->split ? reading.outer->split : reading.outer;
    if (!reading.outer->is_code && !harvest->everything)
        return true;
    if (!harvest->worker) {
        harvest->worker = calloc(1, sizeof *harvest->worker);
        if (!harvest->worker)
            return false;
        arena_init(&harvest->worker->paths, PATHS_BYTES_MAX);
    }
    reading.worker = harvest->worker;
    reading.worker->locals.count = 0;
    paint_reset(&reading.worker->paint);
    int rc = walk_unit(&reading);
    if (!reading.outer->is_code) {
        harvest->damaged_units += rc > 0;
        return rc >= 0;
    }
    int lines_rc = rc < 0 ? rc : lines_read(&reading.worker->lines, reading.outer);
    if (lines_rc < 0)
        return false;
    dwarf->units.rows[number].damaged = rc > 0;
    harvest->damaged_units += rc > 0 || lines_rc > 0;
    return paint_unit(&reading) && emit_unit(&reading);
}

void dwarf_harvest_rest(struct dwarf_harvest *harvest)
{
    struct dwarf_worker *worker = harvest->worker;
    if (!worker)
        return;
    free(worker->locals.rows);
    worker->locals.rows = NULL;
    worker->locals.room = worker->locals.count = 0;
    paint_fini(&worker->paint);
    lines_fini(&worker->lines);
    free(worker->file_ids);
    worker->file_ids = NULL;
    worker->file_id_room = 0;
    free(worker->path_hash);
    worker->path_hash = NULL;
    worker->path_room = 0;
    free(worker->name_hash);
    worker->name_hash = NULL;
    worker->name_room = 0;
}

void dwarf_harvest_fini(struct dwarf_harvest *harvest)
{
    dwarf_harvest_rest(harvest);
    if (harvest->worker)
        arena_fini(&harvest->worker->paths);
    free(harvest->worker);
    free(harvest->scopes.rows);
    free(harvest->segments.rows);
    free(harvest->runs.rows);
    free(harvest->bare_runs.rows);
    free(harvest->files.rows);
    free(harvest->names.rows);
    *harvest = (struct dwarf_harvest){0};
}
