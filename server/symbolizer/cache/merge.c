/*
 * merge.c - merges two paintings of the code, which are read side by side.
 *
 *     on top     [ run of unit 3        ][ run of unit 7 ][ symbol ]      [ frame ]
 *     lines      [ bare run of unit 4 ]                    [ unit 9    ]
 *
 * A run has its own lines; a symbol gets those of the bare run below it.
 */
#include "cache/merge.h"

#include "base/paint.h"
#include "demangle/swift/swift.h"

#include <stdlib.h>
#include <string.h>

#define SWIFT_ROOM 4096

#define RANK_FRAME 1u
#define RANK_NAME  2u /* runs rank higher; the lower their unit, the higher: add_runs */

struct laying {
    struct pack *pack;
    const struct merge *merge;
    struct paint top;  /* what: runs of all harvests, then names, then frames */
    struct paint bare; /* what: bare runs of all harvests */
    uint32_t run_count;
    struct paint_range bare_piece; /* current piece; empty: none left */
    uint32_t reached;
};

static struct merge_input *input_of(const struct laying *l, uint32_t run, bool bare)
{
    struct merge_input *input = &l->merge->rows[l->merge->count - 1];
    while (input > l->merge->rows && (bare ? input->first_bare : input->first_run) > run)
        input--;
    return input;
}

static uint32_t file_of(struct laying *l, struct merge_input *input, uint32_t file)
{
    if (!file)
        return 0;
    if (input->files[file] == MIRE_MERGE_NEW)
        input->files[file] = pack_file(l->pack, input->harvest.files.rows[file]);
    return input->files[file];
}

static uint32_t text_of(struct laying *l, struct merge_input *input, uint32_t name)
{
    if (!name)
        return 0;
    struct merge_name *known = &input->names[name];
    if (known->place == MIRE_MERGE_NEW)
        known->place = pack_name(l->pack, input->harvest.names.rows[name], known->key);
    return known->place;
}

/* The position of a symbol's name, without the linker's version suffix (memcpy@GLIBC_2.2.5). */
static uint32_t symbol_text(struct laying *l, const char *name)
{
    const char *at = strchr(name, '@');
    bool versioned = at && at > name && ((at[1] >= 'A' && at[1] <= 'Z') || at[1] == '@');
    return pack_name(l->pack, name, versioned ? pack_key_of(name, (size_t)(at - name)) : pack_key(name));
}

/* Swift abbreviates repeated words of a mangled name, so the source name is searched for in the demangled one. */
static bool is_mangled_swift(const char *symbol, const char *name, size_t len)
{
    static const char *const begins[] = {"$s", "$S", "_$s", "_$S", "_T"};
    char text[SWIFT_ROOM];
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (strncmp(symbol, begins[i], strlen(begins[i])) != 0)
            continue;
        size_t written = swift_demangle(text, sizeof text, symbol, strlen(symbol), SWIFT_SHORT);
        return written && memmem(text, written, name, len);
    }
    return false;
}

/*
 * Returns true if a symbol's name is the mangled form of a source name. Mangled names of C++, Rust and D contain the
 * source name, except for operators. A symbol of another form may be another function at the same address.
 */
static bool is_mangled(const char *symbol, const char *name)
{
    name += *name == '~';
    size_t len = strcspn(name, "<(");
    if (symbol[0] == '_' && symbol[1] && strchr("ZRD", symbol[1]))
        return !strncmp(name, "operator", 8) || memmem(symbol, strlen(symbol), name, len);
    return len && is_mangled_swift(symbol, name, len);
}

/* Some compilers write the linker's name only to the symbol table; use it for a function without one. */
static uint32_t function_name(struct laying *l, struct merge_input *input, const struct dwarf_scope *scope)
{
    const struct symbol_name *name = scope->linked ? NULL : names_at(l->merge->names, scope->entry);
    bool better = name && (!scope->name || is_mangled(name->text, input->harvest.names.rows[scope->name]));
    return better ? symbol_text(l, name->text) : text_of(l, input, scope->name);
}

/* The pack's number of a harvest's scope (plus one). */
static uint32_t scope_of(struct laying *l, struct merge_input *input, uint32_t scope)
{
    if (!scope)
        return 0;
    uint32_t *known = &input->scopes[scope - 1];
    if (*known != MIRE_MERGE_NEW)
        return *known;
    const struct dwarf_scope *from = &input->harvest.scopes.rows[scope - 1];
    struct pack_scope to = {.parent = scope_of(l, input, from->parent)};
    if (to.parent) {
        to.file = file_of(l, input, from->file);
        to.line = from->line;
    } else {
        to.entry = from->entry;
    }
    to.name = to.parent ? text_of(l, input, from->name) : function_name(l, input, from);
    return *known = pack_scope(l->pack, &to);
}

/* Add the part of a run inside [low, high). */
static void lay_run(struct laying *l, uint32_t low, uint32_t high, uint32_t number)
{
    struct merge_input *input = input_of(l, number, false);
    const struct dwarf_run *run = &input->harvest.runs.rows[number - input->first_run];
    const struct dwarf_segment *segments = input->harvest.segments.rows + run->first;
    size_t i = 0;
    if (low > run->low) { /* find the segment that contains `low` */
        size_t to = run->count;
        while (to - i > 1) {
            size_t middle = i + (to - i) / 2;
            if (segments[middle].at <= low)
                i = middle;
            else
                to = middle;
        }
    }
    for (; i < run->count && segments[i].at < high; i++) {
        uint32_t scope = scope_of(l, input, segments[i].scope);
        writer_queue_segment(&l->pack->queue,
                             (struct pack_segment){segments[i].at > low ? segments[i].at : low, scope,
                                                   file_of(l, input, segments[i].file), segments[i].line});
    }
}

/* Add the segments of a symbol in [low, high), with the lines of the bare run there. */
static void lay_lines(struct laying *l, uint32_t low, uint32_t high, uint32_t scope)
{
    struct merge_input *input = input_of(l, l->bare_piece.what, true);
    const struct dwarf_run *run = &input->harvest.bare_runs.rows[l->bare_piece.what - input->first_bare];
    const struct dwarf_segment *segments = input->harvest.segments.rows + run->first;
    for (size_t i = 0; i < run->count && segments[i].at < high; i++) {
        if (i + 1 < run->count && segments[i + 1].at <= low)
            continue;
        writer_queue_segment(&l->pack->queue,
                             (struct pack_segment){segments[i].at > low ? segments[i].at : low, scope,
                                                   file_of(l, input, segments[i].file), segments[i].line});
    }
}

static void lay_symbol(struct laying *l, uint32_t low, uint32_t high, uint32_t scope)
{
    while (low < high) {
        struct paint_range *bare = &l->bare_piece;
        while (bare->high && bare->high <= low)
            if (!paint_next(bare, &l->bare))
                *bare = (struct paint_range){0};
        uint32_t end = high;
        if (bare->high && bare->low <= low) {
            end = bare->high < end ? bare->high : end;
            lay_lines(l, low, end, scope);
        } else {
            end = bare->high && bare->low < end ? bare->low : end;
            writer_queue_segment(&l->pack->queue, (struct pack_segment){low, scope, 0, 0});
        }
        low = end;
    }
}

static void lay(struct laying *l, const struct paint_range *piece)
{
    if (piece->low > l->reached)
        writer_queue_segment(&l->pack->queue, (struct pack_segment){.at = l->reached});
    l->reached = piece->high;
    if (piece->what < l->run_count) {
        lay_run(l, piece->low, piece->high, piece->what);
        return;
    }
    uint32_t number = piece->what - l->run_count;
    const struct symbol_names *names = l->merge->names;
    const struct symbol_name *name =
        number < names->count ? &names->rows[number] : &l->merge->frames->rows[number - names->count];
    struct pack_scope scope = {.name = symbol_text(l, name->text), .entry = name->low};
    lay_symbol(l, piece->low, piece->high, pack_scope(l->pack, &scope));
}

static bool add_runs(struct paint *paint, uint32_t *count, const struct dwarf_run *runs, size_t run_count)
{
    for (size_t i = 0; i < run_count; i++)
        if (!paint_add(paint, (struct paint_range){runs[i].low, runs[i].high, UINT32_MAX - runs[i].unit,
                                                   *count + (uint32_t)i}))
            return false;
    *count += (uint32_t)run_count;
    return true;
}

static bool add_names(struct paint *paint, uint32_t first, const struct symbol_names *names, uint32_t rank)
{
    for (size_t i = 0; i < names->count; i++)
        if (!paint_add(paint, (struct paint_range){names->rows[i].low, names->rows[i].high, rank, first + (uint32_t)i}))
            return false;
    return true;
}

static uint32_t *new_numbers(size_t count)
{
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
    return numbers ? memset(numbers, 0xff, (count + 1) * sizeof *numbers) : NULL;
}

bool merge_input_prepare(struct merge_input *input)
{
    const struct dwarf_harvest *harvest = &input->harvest;
    input->scopes = new_numbers(harvest->scopes.count);
    input->files = new_numbers(harvest->files.count);
    input->names = calloc(harvest->names.count + 1, sizeof *input->names);
    if (!input->scopes || !input->files || !input->names)
        return false;
    for (size_t i = 1; i < harvest->names.count; i++) {
        input->names[i] = (struct merge_name){MIRE_MERGE_NEW, pack_key(harvest->names.rows[i])};
        input->name_bytes += input->names[i].key.len + 1;
    }
    return true;
}

void merge_input_fini(struct merge_input *input)
{
    dwarf_harvest_fini(&input->harvest);
    free(input->scopes);
    free(input->files);
    free(input->names);
    *input = (struct merge_input){0};
}

static bool begin(struct laying *l)
{
    const struct merge *merge = l->merge;
    uint32_t bare_count = 0;
    for (size_t i = 0; i < merge->count; i++) {
        struct merge_input *input = &merge->rows[i];
        const struct dwarf_harvest *harvest = &input->harvest;
        input->first_run = l->run_count;
        input->first_bare = bare_count;
        if (!add_runs(&l->top, &l->run_count, harvest->runs.rows, harvest->runs.count) ||
            !add_runs(&l->bare, &bare_count, harvest->bare_runs.rows, harvest->bare_runs.count))
            return false;
    }
    return add_names(&l->top, l->run_count, merge->names, RANK_NAME) &&
           add_names(&l->top, l->run_count + (uint32_t)merge->names->count, merge->frames, RANK_FRAME) &&
           paint_begin(&l->top) && paint_begin(&l->bare);
}

static void begin_queue(struct writer_queue *queue, const struct merge *merge, bool beside)
{
    size_t segments = 0, scopes = 0, name_bytes = 0;
    for (size_t i = 0; i < merge->count; i++) {
        segments += merge->rows[i].harvest.segments.count;
        scopes += merge->rows[i].harvest.scopes.count;
        name_bytes += merge->rows[i].name_bytes;
    }
    writer_queue_reserve(queue, segments, scopes, name_bytes);
    if (beside)
        writer_queue_begin_thread(queue);
}

bool merge_pack(uint32_t *high_out, struct pack *pack, const struct merge *merge, bool beside)
{
    struct laying l = {.pack = pack, .merge = merge};
    struct paint_range piece;
    begin_queue(&pack->queue, merge, beside);
    bool good = begin(&l);
    if (good && !paint_next(&l.bare_piece, &l.bare))
        l.bare_piece = (struct paint_range){0};
    while (good && !pack->failed && paint_next(&piece, &l.top))
        lay(&l, &piece);
    if (good)
        writer_queue_segment(&pack->queue, (struct pack_segment){.at = l.reached});
    *high_out = l.reached;
    paint_fini(&l.top);
    paint_fini(&l.bare);
    pack_flush(pack);
    return good && !pack->failed;
}
