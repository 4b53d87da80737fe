/*
 * debug_map.c - finds the program's functions in an object file by name. If a function is missing or has another size,
 * the file was rebuilt after linking. Such a file is ignored as a whole, since a wrong line is worse than none.
 */
#include "cache/debug_map.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define PADDING 64 /* bytes of padding that a linker may count as part of a function */

struct moved { /* a function: [low, high) of the object file is at `to` of the program, as offsets from their bases */
    uint32_t low, high, to;
};

struct moving {
    struct moved *rows;
    size_t count;
    const struct symbol **by_name; /* symbols of the object file */
    uint64_t object_base;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(const struct symbol *const *)a)->name, (*(const struct symbol *const *)b)->name);
}

static int compare_moved(const void *a, const void *b)
{
    const struct moved *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

static int compare_runs(const void *a, const void *b)
{
    const struct dwarf_run *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

static const struct symbol *find_symbol(const struct moving *m, const struct object *object, const char *name)
{
    struct symbol wanted = {.name = name};
    const struct symbol *key = &wanted;
    const struct symbol **found =
        bsearch(&key, m->by_name, object->symbol_count, sizeof(struct symbol *), compare_names);
    return found ? *found : NULL;
}

/* Find the program's functions in the object file. Returns NULL, or the problem. */
static const char *find_functions(struct moving *m, const struct object *program, size_t index,
                                  const struct object *object, uint64_t base)
{
    const struct mapped_object *map = &program->mapped[index];
    m->rows = calloc(map->function_count + 1, sizeof *m->rows);
    m->by_name = calloc(object->symbol_count + 1, sizeof(struct symbol *));
    if (!m->rows || !m->by_name)
        return "needs more memory than there is";
    for (size_t i = 0; i < object->symbol_count; i++)
        m->by_name[i] = &object->symbols[i];
    qsort(m->by_name, object->symbol_count, sizeof(struct symbol *), compare_names);
    for (size_t i = 0; i < map->function_count; i++) {
        const struct mapped_function *function = &program->functions[map->first + i];
        const struct symbol *symbol = find_symbol(m, object, function->name);
        if (!symbol || function->size > symbol->high - symbol->low + PADDING)
            return "is not the object file that was linked";
        uint64_t low = symbol->low - m->object_base, to = function->address - base;
        if (symbol->low < m->object_base || function->address < base || low + function->size >= UINT32_MAX ||
            to + function->size >= UINT32_MAX - 1 || !function->size)
            continue;
        m->rows[m->count++] = (struct moved){(uint32_t)low, (uint32_t)(low + function->size), (uint32_t)to};
    }
    qsort(m->rows, m->count, sizeof *m->rows, compare_moved);
    return NULL;
}

static const struct moved *moved_at(const struct moving *m, uint32_t at)
{
    size_t low = 0, high = m->count; /* find the last one that begins at or before `at` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->rows[middle].low <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low && at < m->rows[low - 1].high ? &m->rows[low - 1] : NULL;
}

/* Copy the part of a run that lies in a function, with its segments. Returns false out of memory. */
static bool move_part(struct dwarf_harvest *to, const struct dwarf_harvest *from, const struct dwarf_run *run,
                      const struct moved *function)
{
    uint32_t low = run->low > function->low ? run->low : function->low;
    uint32_t high = run->high < function->high ? run->high : function->high;
    struct dwarf_run part = {function->to + (low - function->low), function->to + (high - function->low), run->unit, 0,
                             to->segments.count};
    for (size_t i = 0; i < run->count; i++) {
        struct dwarf_segment segment = from->segments.rows[run->first + i];
        uint32_t end = i + 1 < run->count ? from->segments.rows[run->first + i + 1].at : run->high;
        if (end <= low || segment.at >= high)
            continue;
        segment.at = function->to + ((segment.at > low ? segment.at : low) - function->low);
        if (!GROW(&to->segments))
            return false;
        to->segments.rows[to->segments.count++] = segment;
        part.count++;
    }
    if (!GROW(&to->runs))
        return false;
    to->runs.rows[to->runs.count++] = part;
    return true;
}

/* Copy all runs, function by function; both lists are sorted. Returns false out of memory. */
static bool move_runs(struct dwarf_harvest *to, const struct dwarf_harvest *from, const struct moving *m)
{
    size_t first = 0;
    bool good = true;
    for (size_t i = 0; i < m->count && good; i++) {
        while (first < from->runs.count && from->runs.rows[first].high <= m->rows[i].low)
            first++;
        for (size_t k = first; k < from->runs.count && from->runs.rows[k].low < m->rows[i].high && good; k++)
            if (from->runs.rows[k].high > m->rows[i].low)
                good = move_part(to, from, &from->runs.rows[k], &m->rows[i]);
    }
    return good;
}

static const char *move(struct dwarf_harvest *harvest, const struct moving *m)
{
    struct dwarf_harvest moved = {0};
    qsort(harvest->runs.rows, harvest->runs.count, sizeof *harvest->runs.rows, compare_runs);
    bool good = move_runs(&moved, harvest, m);
    free(harvest->runs.rows);
    free(harvest->segments.rows);
    memcpy(&harvest->runs, &moved.runs, sizeof moved.runs);
    memcpy(&harvest->segments, &moved.segments, sizeof moved.segments);
    harvest->bare_runs.count = 0;
    for (size_t i = 0; i < harvest->scopes.count; i++) {
        struct dwarf_scope *scope = &harvest->scopes.rows[i];
        const struct moved *function = moved_at(m, scope->entry);
        scope->entry = function ? function->to + (scope->entry - function->low) : 0;
    }
    return good ? NULL : "needs more memory than there is";
}

const char *debug_map_harvest(struct dwarf_harvest *out, struct dwarf **dwarf_out, const struct object *program,
                              size_t index, const struct object *object, uint64_t base)
{
    struct moving m = {0};
    if (!object->code_count || !object->facts.has_dwarf)
        return "has no DWARF";
    m.object_base = object->code[0].low;
    const char *wrong = find_functions(&m, program, index, object, base);
    if (!wrong)
        wrong = dwarf_open(dwarf_out, object, NULL, m.object_base, 1);
    for (size_t i = 0; !wrong && i < dwarf_unit_count(*dwarf_out); i++)
        wrong = dwarf_read(out, *dwarf_out, i) ? NULL : "needs more memory than there is";
    if (!wrong) {
        dwarf_harvest_rest(out);
        wrong = move(out, &m);
    }
    free(m.rows);
    free(m.by_name);
    return wrong;
}
