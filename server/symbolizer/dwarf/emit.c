/*
 * emit.c - combines painted scopes and line rows into segments.
 *
 *     painted   [ f      ][ g in f ][ f        ]
 *     rows      [ 3 ][ 4       ][ 9 ][ 5       ]
 *     segments  [f:3][f:4][g:4 ][g:9][f:5      ]     a segment equal to the one before it extends that segment
 *
 * Both inputs are sorted by address, so the rows are read once.
 */
#include "dwarf/worker.h"

#include "base/grow.h"

#include <stdlib.h>

#define PATH_ROOM 8192 /* limit of a path, bytes; the file of a longer path is unknown */

struct emitter {
    struct unit_reading *reading;
    size_t sequence;
    size_t row;            /* row in the sequence */
    struct dwarf_run *run; /* run that may be extended; NULL: none */
    bool bare;             /* the run has no functions */
    bool failed;
};

static uint32_t file_of(struct emitter *e, uint32_t file)
{
    struct dwarf_worker *worker = e->reading->worker;
    char path[PATH_ROOM];
    size_t index = lines_file_index(&worker->lines, file);
    if (index == SIZE_MAX)
        return 0;
    if (worker->file_ids[index] == UINT32_MAX) {
        size_t len = lines_path(path, sizeof path, &worker->lines, e->reading->outer, file);
        worker->file_ids[index] = len ? intern_path(e->reading->harvest, path, len, &e->failed) : 0;
    }
    return worker->file_ids[index];
}

/* The scope of a local in the harvest, plus one. Its parents are added before it. */
static uint32_t scope_of(struct emitter *e, uint32_t local_number)
{
    struct dwarf_worker *worker = e->reading->worker;
    struct dwarf_harvest *harvest = e->reading->harvest;
    struct local *local = &worker->locals.rows[local_number - 1];
    if (local->scope)
        return local->scope;
    uint32_t parent = local->parent ? scope_of(e, local->parent) : 0;
    struct die die;
    if (local->die && die_at(&die, e->reading->unit, local->die))
        local->name = name_of(&local->linked, worker, e->reading->unit, &die);
    struct dwarf_scope scope = {.name = intern_name(harvest, local->name, &e->failed),
                                .parent = parent,
                                .file = parent ? file_of(e, local->call_file) : 0,
                                .line = local->call_line,
                                .entry = local->entry,
                                .linked = local->linked};
    if (harvest->scopes.count >= UINT32_MAX - 1 || !GROW(&harvest->scopes)) {
        e->failed = true;
        return 0;
    }
    harvest->scopes.rows[harvest->scopes.count++] = scope;
    return local->scope = (uint32_t)harvest->scopes.count;
}

static void begin_run(struct emitter *e, uint32_t low, bool bare)
{
    struct dwarf_harvest *harvest = e->reading->harvest;
    struct dwarf_run run = {.low = low, .unit = e->reading->number, .first = harvest->segments.count};
    e->run = NULL;
    if (bare ? !GROW(&harvest->bare_runs) : !GROW(&harvest->runs)) {
        e->failed = true;
        return;
    }
    e->bare = bare;
    e->run = bare ? &harvest->bare_runs.rows[harvest->bare_runs.count++] : &harvest->runs.rows[harvest->runs.count++];
    *e->run = run;
}

static void add_segment(struct emitter *e, uint32_t high, struct dwarf_segment segment)
{
    struct dwarf_harvest *harvest = e->reading->harvest;
    bool bare = !segment.scope;
    if (!e->run || e->run->high != segment.at || e->bare != bare)
        begin_run(e, segment.at, bare);
    if (!e->run)
        return;
    e->run->high = high;
    if (e->run->count) {
        const struct dwarf_segment *last = &harvest->segments.rows[harvest->segments.count - 1];
        if (last->scope == segment.scope && last->file == segment.file && last->line == segment.line)
            return;
    }
    if (!GROW(&harvest->segments)) {
        e->failed = true;
        return;
    }
    harvest->segments.rows[harvest->segments.count++] = segment;
    e->run->count++;
}

/* Add the segments of [low, high), which lies in one sequence, from row e->row on. */
static void add_rows(struct emitter *e, const struct line_sequence *sequence, uint32_t low, uint32_t high,
                     uint32_t scope)
{
    const struct line_row *rows = e->reading->worker->lines.rows.rows + sequence->first;
    while (e->row + 1 < sequence->count && rows[e->row + 1].at <= low)
        e->row++;
    while (low < high) {
        const struct line_row *row = &rows[e->row];
        uint32_t end = e->row + 1 < sequence->count ? row[1].at : high;
        end = end < high ? end : high;
        add_segment(e, end, (struct dwarf_segment){low, scope, file_of(e, row->file), row->line});
        low = end;
        if (low < high)
            e->row++;
    }
}

/* Add the segments of one painted piece; without a scope only where there are rows. */
static void add_piece(struct emitter *e, uint32_t low, uint32_t high, uint32_t scope)
{
    const struct lines *lines = &e->reading->worker->lines;
    while (low < high) {
        while (e->sequence < lines->sorted.count && lines->sorted.rows[e->sequence].high <= low) {
            e->sequence++;
            e->row = 0;
        }
        const struct line_sequence *sequence =
            e->sequence < lines->sorted.count ? &lines->sorted.rows[e->sequence] : NULL;
        uint32_t end = high;
        if (!sequence || sequence->low > low) { /* no rows here */
            if (sequence && sequence->low < end)
                end = sequence->low;
            if (scope)
                add_segment(e, end, (struct dwarf_segment){low, scope, 0, 0});
        } else {
            end = sequence->high < end ? sequence->high : end;
            add_rows(e, sequence, low, end, scope);
        }
        low = end;
    }
}

bool emit_unit(struct unit_reading *reading)
{
    struct dwarf_worker *worker = reading->worker;
    struct emitter e = {.reading = reading};
    struct paint_range piece;
    uint32_t *ids = grow(worker->file_ids, &worker->file_id_room, 0, worker->lines.files.count, sizeof *ids);
    if (!ids && worker->lines.files.count)
        return false;
    worker->file_ids = ids;
    if (ids)
        memset(ids, 0xff, worker->lines.files.count * sizeof *ids);
    if (!paint_begin(&worker->paint))
        return false;
    while (!e.failed && paint_next(&piece, &worker->paint))
        if (piece.what != PAINT_OTHERS)
            add_piece(&e, piece.low, piece.high, piece.what ? scope_of(&e, piece.what) : 0);
    return !e.failed;
}
