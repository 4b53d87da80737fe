/*
 * breakpad.c - reads one function after the other: its inlined calls by depth, then its lines.
 *
 *     FILE 3 /src/a.c                        INLINE_ORIGIN 7 name
 *     FUNC 1580 3c 0 name
 *     INLINE 0 12 3 7 1590 8 15a0 4          depth, line and file of the call, origin, ranges
 *     INLINE 0 12 7 1590 8 15a0 4            the older form has no file: a call at depth 0 is in the function's own
 *     1580 10 11 3                           address, size, line, file
 *
 * The call that a deeper one is inlined into may differ from address to address: it is the call of the next lower depth
 * at that address. The order of the records does not matter.
 *
 *     depth 0   [----- mid -----)      [---- outer -----)
 *     depth 1       [- inner -)        [- inner -)            one record with two ranges
 *     chains    [m ][ inner<m ][m)     [ inner<o ][o    )
 *
 * The numbers of files and origins may have gaps, so they are in lists sorted by number.
 */
#include "cache/breakpad.h"

#include "base/grow.h"
#include "base/paint.h"
#include "object/text.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX    64
#define FILE_UNKNOWN UINT32_MAX

struct numbered { /* FILE or INLINE_ORIGIN */
    uint64_t number;
    uint32_t index; /* number in the harvest */
};

struct numbered_list {
    struct numbered *rows;
    size_t count, room;
};

struct breakpad_line {
    uint32_t low;
    uint32_t high;
    uint32_t line;
    uint32_t file;
};

struct inlined { /* an INLINE record */
    uint32_t name, file, line;
    uint32_t scope, parent; /* scope made last, and its parent; 0: none yet */
};

struct depth { /* inlined calls of one depth, painted with the record's index */
    struct paint paint;
    struct paint_range piece; /* current piece, if has_piece */
    bool has_piece;
};

struct breakpad_reader {
    struct dwarf_harvest *out;
    uint64_t base;
    struct numbered_list files;
    struct numbered_list origins;
    struct {
        struct breakpad_line *rows;
        size_t count, room;
    } lines; /* of the current function, as the next two */
    struct {
        struct inlined *rows;
        size_t count, room;
    } inlined;
    struct depth depths[DEPTH_MAX];
    uint32_t depth_count;
    uint32_t low, high; /* current function; high 0: none */
    uint32_t scope;     /* scope of the current function */
    uint32_t function_count;
    bool failed; /* out of memory */
};

static uint32_t add_text(struct breakpad_reader *r, bool file, const char *text)
{
    return dwarf_texts_add(file ? &r->out->files : &r->out->names, &r->failed, text);
}

static void add_numbered(struct breakpad_reader *r, struct numbered_list *list, const char *at)
{
    struct text_numbers numbers = {.at = at};
    uint64_t number = text_decimal(&numbers);
    if (numbers.failed || !*numbers.at)
        return;
    if (!GROW(list)) {
        r->failed = true;
        return;
    }
    list->rows[list->count] = (struct numbered){number, add_text(r, list == &r->files, numbers.at)};
    list->count++;
}

static int by_number(const void *a, const void *b)
{
    const struct numbered *x = a;
    const struct numbered *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static uint32_t find(const struct numbered_list *list, uint64_t number)
{
    struct numbered wanted = {.number = number};
    const struct numbered *found =
        list->count ? bsearch(&wanted, list->rows, list->count, sizeof *list->rows, by_number) : NULL;
    return found ? found->index : 0;
}

static uint32_t add_scope(struct breakpad_reader *r, struct dwarf_scope scope)
{
    if (!GROW(&r->out->scopes)) {
        r->failed = true;
        return 0;
    }
    r->out->scopes.rows[r->out->scopes.count++] = scope;
    return (uint32_t)r->out->scopes.count;
}

/* Convert [address, address + size) to offsets. Returns false if it is empty, or out of reach. */
static bool offsets(uint32_t *low, uint32_t *high, const struct breakpad_reader *r, uint64_t address, uint64_t size)
{
    if (address < r->base || address - r->base >= UINT32_MAX - 1 || !size ||
        size > UINT32_MAX - 1 - (address - r->base))
        return false;
    *low = (uint32_t)(address - r->base);
    *high = *low + (uint32_t)size;
    return true;
}

static void begin_function(struct breakpad_reader *r, const char *at)
{
    struct text_numbers numbers = {.at = at + (!strncmp(at, "m ", 2) ? 2 : 0)};
    uint64_t address = text_hex(&numbers);
    uint64_t size = text_hex(&numbers);
    (void)text_hex(&numbers);
    r->high = 0;
    r->lines.count = 0;
    r->inlined.count = 0;
    for (uint32_t i = 0; i < r->depth_count; i++)
        paint_reset(&r->depths[i].paint);
    r->depth_count = 0;
    r->out->damaged_units += numbers.failed;
    if (numbers.failed || !*numbers.at || !offsets(&r->low, &r->high, r, address, size)) {
        r->high = 0;
        return;
    }
    uint32_t name = add_text(r, false, numbers.at);
    r->scope = add_scope(r, (struct dwarf_scope){.name = name, .entry = r->low, .linked = true});
}

/* The older form has no file of the call, and therefore an odd number of words. */
static bool has_file(const char *at)
{
    size_t words = 0;
    for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
        words++;
        at += strcspn(at, " ");
    }
    return words % 2 == 0;
}

static void add_ranges(struct breakpad_reader *r, struct depth *depth, struct text_numbers *numbers, uint32_t record)
{
    while (*numbers->at && !r->failed) {
        uint32_t low, high;
        uint64_t address = text_hex(numbers);
        uint64_t size = text_hex(numbers);
        if (numbers->failed || !offsets(&low, &high, r, address, size))
            return;
        low = low < r->low ? r->low : low;
        high = high > r->high ? r->high : high;
        r->failed |= low < high && !paint_add(&depth->paint, (struct paint_range){low, high, record, record});
    }
}

static void add_inline(struct breakpad_reader *r, const char *at)
{
    struct text_numbers numbers = {.at = at};
    bool file_known = has_file(at);
    uint64_t depth = text_decimal(&numbers);
    uint64_t line = text_decimal(&numbers);
    uint64_t file = file_known ? text_decimal(&numbers) : 0;
    uint64_t origin = text_decimal(&numbers);
    if (!r->high || numbers.failed || depth >= DEPTH_MAX || line > UINT32_MAX)
        return;
    if (!GROW(&r->inlined) || r->inlined.count >= UINT32_MAX) {
        r->failed = true;
        return;
    }
    r->inlined.rows[r->inlined.count] = (struct inlined){.name = find(&r->origins, origin),
                                                         .file = file_known ? find(&r->files, file) : FILE_UNKNOWN,
                                                         .line = (uint32_t)line};
    r->depth_count = depth >= r->depth_count ? (uint32_t)depth + 1 : r->depth_count;
    add_ranges(r, &r->depths[depth], &numbers, (uint32_t)r->inlined.count++);
}

static void add_line(struct breakpad_reader *r, const char *at)
{
    struct text_numbers numbers = {.at = at};
    struct breakpad_line line;
    uint64_t address = text_hex(&numbers);
    uint64_t size = text_hex(&numbers);
    uint64_t number = text_decimal(&numbers);
    uint64_t file = text_decimal(&numbers);
    r->out->damaged_units += numbers.failed;
    if (!r->high || numbers.failed || number > UINT32_MAX || !offsets(&line.low, &line.high, r, address, size))
        return;
    line.line = (uint32_t)number;
    line.file = find(&r->files, file);
    if (!GROW(&r->lines))
        r->failed = true;
    else
        r->lines.rows[r->lines.count++] = line;
}

static int by_low(const void *a, const void *b)
{
    const struct breakpad_line *x = a;
    const struct breakpad_line *y = b;
    return x->low != y->low ? (x->low < y->low ? -1 : 1) : (x->high > y->high) - (x->high < y->high);
}

static void add_segment(struct breakpad_reader *r, struct dwarf_run *run, struct dwarf_segment segment)
{
    if (!GROW(&r->out->segments)) {
        r->failed = true;
        return;
    }
    r->out->segments.rows[r->out->segments.count++] = segment;
    run->count++;
}

/* Add one painted piece, cut by the lines; *next is the first line that may reach into it. */
static void add_piece(struct breakpad_reader *r, struct dwarf_run *run, const struct paint_range *piece, size_t *next)
{
    const struct breakpad_line *lines = r->lines.rows;
    for (uint32_t low = piece->low; low < piece->high && !r->failed;) {
        while (*next < r->lines.count && lines[*next].high <= low)
            ++*next;
        const struct breakpad_line *line = *next < r->lines.count ? &lines[*next] : NULL;
        struct dwarf_segment segment = {.at = low, .scope = piece->what};
        uint32_t end = piece->high;
        if (line && line->low <= low) {
            segment.file = line->file;
            segment.line = line->line;
            end = line->high < end ? line->high : end;
        } else if (line && line->low < end) {
            end = line->low;
        }
        add_segment(r, run, segment);
        low = end;
    }
}

/* The scope of a record inside another scope. A record inside several scopes has one for each. */
static uint32_t scope_in(struct breakpad_reader *r, struct inlined *record, uint32_t parent)
{
    bool own_file = record->file == FILE_UNKNOWN;
    uint32_t first_file = r->lines.count ? r->lines.rows[0].file : 0;
    if (record->scope && record->parent == parent)
        return record->scope;
    record->parent = parent;
    record->scope = add_scope(r, (struct dwarf_scope){.name = record->name,
                                                      .parent = parent,
                                                      .file = !own_file            ? record->file
                                                              : parent == r->scope ? first_file
                                                                                   : 0,
                                                      .line = record->line,
                                                      .linked = true});
    return record->scope;
}

static void next_piece(struct depth *depth)
{
    depth->has_piece = paint_next(&depth->piece, &depth->paint);
}

/* The innermost scope at an address; *end is lowered to the start of the next one. */
static uint32_t scope_at(struct breakpad_reader *r, uint32_t at, uint32_t *end)
{
    uint32_t scope = r->scope;
    for (uint32_t i = 0; i < r->depth_count && !r->failed; i++) {
        struct depth *depth = &r->depths[i];
        while (depth->has_piece && depth->piece.high <= at)
            next_piece(depth);
        if (!depth->has_piece)
            continue;
        uint32_t edge = depth->piece.low <= at ? depth->piece.high : depth->piece.low;
        *end = edge < *end ? edge : *end;
        if (depth->piece.low <= at)
            scope = scope_in(r, &r->inlined.rows[depth->piece.what], scope);
    }
    return scope;
}

static void end_function(struct breakpad_reader *r)
{
    size_t next = 0;
    if (!r->high || r->failed)
        return;
    if (r->lines.count)
        qsort(r->lines.rows, r->lines.count, sizeof *r->lines.rows, by_low);
    struct dwarf_run run = {
        .low = r->low, .high = r->high, .unit = r->function_count++, .first = r->out->segments.count};
    r->failed |= !GROW(&r->out->runs);
    for (uint32_t i = 0; i < r->depth_count && !r->failed; i++) {
        r->failed |= !paint_begin(&r->depths[i].paint);
        if (!r->failed)
            next_piece(&r->depths[i]);
    }
    for (uint32_t at = r->low, end; at < r->high && !r->failed; at = end) {
        end = r->high;
        struct paint_range piece = {.low = at, .what = scope_at(r, at, &end)};
        piece.high = end;
        add_piece(r, &run, &piece, &next);
    }
    if (!r->failed)
        r->out->runs.rows[r->out->runs.count++] = run;
    r->high = 0;
}

/* Files and origins may come after the functions that use them, so they are read first. */
static void read_numbered(struct breakpad_reader *r, const char *text, const char *end)
{
    for (const char *line = text; line < end && !r->failed; line += strlen(line) + 1) {
        if (!strncmp(line, "FILE ", 5))
            add_numbered(r, &r->files, line + 5);
        else if (!strncmp(line, "INLINE_ORIGIN ", 14))
            add_numbered(r, &r->origins, line + 14);
    }
    if (r->files.count)
        qsort(r->files.rows, r->files.count, sizeof *r->files.rows, by_number);
    if (r->origins.count)
        qsort(r->origins.rows, r->origins.count, sizeof *r->origins.rows, by_number);
}

static void read_functions(struct breakpad_reader *r, const char *text, const char *end)
{
    for (const char *line = text; line < end && !r->failed; line += strlen(line) + 1) {
        if (!strncmp(line, "FUNC ", 5)) {
            end_function(r);
            begin_function(r, line + 5);
        } else if (!strncmp(line, "INLINE ", 7)) {
            add_inline(r, line + 7);
        } else if (strchr("0123456789abcdef", *line) && *line) {
            add_line(r, line);
        } else if (!strncmp(line, "PUBLIC ", 7) || !strncmp(line, "STACK ", 6)) {
            end_function(r);
        }
    }
    end_function(r);
}

bool breakpad_harvest(struct dwarf_harvest *out, const struct object *object, uint64_t base)
{
    struct breakpad_reader *r = calloc(1, sizeof *r);
    if (!r)
        return false;
    const char *text = (const char *)object->text.bytes;
    r->out = out;
    r->base = base;
    (void)add_text(r, true, ""); /* 0 means unknown */
    (void)add_text(r, false, "");
    read_numbered(r, text, text + object->text.len);
    read_functions(r, text, text + object->text.len);
    bool good = !r->failed;
    free(r->files.rows);
    free(r->origins.rows);
    free(r->lines.rows);
    free(r->inlined.rows);
    for (uint32_t i = 0; i < DEPTH_MAX; i++)
        paint_fini(&r->depths[i].paint);
    free(r);
    return good;
}
