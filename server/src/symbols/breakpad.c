/*
 * breakpad.c - one function after the other: its inlined calls are painted over it, then its lines are laid under both.
 *
 *     FILE 3 /src/a.c                        INLINE_ORIGIN 7 name
 *     FUNC 1580 3c 0 name
 *     INLINE 0 12 3 7 1590 8 15a0 4          depth, line and file of the call, origin, ranges
 *     1580 10 11 3                           address, size, line, file
 *
 * Numbers of files and origins are the file's own; whatever they are, they are kept in lists sorted by number.
 */
#include "symbols/breakpad.h"

#include "base/grow.h"
#include "base/paint.h"
#include "object/text.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

struct numbered { /* FILE or INLINE_ORIGIN */
    uint64_t number;
    uint32_t index; /* in the harvest */
};

struct numbered_list {
    struct numbered *rows;
    size_t count, room;
};

struct line {
    uint32_t low;
    uint32_t high;
    uint32_t line;
    uint32_t file;
};

struct reader {
    struct dwarf_harvest *out;
    uint64_t base;
    struct numbered_list files;
    struct numbered_list origins;
    struct {
        struct line *rows;
        size_t count, room;
    } lines; /* of the function at hand */
    struct paint paint;
    uint32_t low, high;           /* of it; high 0: there is none */
    uint32_t open[DEPTH_MAX + 1]; /* scope plus one at each depth; [0]: the function */
    uint32_t function_count;
    uint32_t rank;
    bool failed; /* out of memory */
};

static uint32_t add_text(struct reader *r, bool file, const char *text)
{
    if (file ? !GROW(&r->out->files) : !GROW(&r->out->names)) {
        r->failed = true;
        return 0;
    }
    if (file) {
        r->out->files.rows[r->out->files.count] = text;
        return (uint32_t)r->out->files.count++;
    }
    r->out->names.rows[r->out->names.count] = text;
    return (uint32_t)r->out->names.count++;
}

static void add_numbered(struct reader *r, struct numbered_list *list, const char *at)
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

static uint32_t add_scope(struct reader *r, struct dwarf_scope scope)
{
    if (!GROW(&r->out->scopes)) {
        r->failed = true;
        return 0;
    }
    r->out->scopes.rows[r->out->scopes.count++] = scope;
    return (uint32_t)r->out->scopes.count;
}

/* [address, address + size) as offsets; false: empty, or out of reach. */
static bool offsets(uint32_t *low, uint32_t *high, const struct reader *r, uint64_t address, uint64_t size)
{
    if (address < r->base || address - r->base >= UINT32_MAX - 1 || !size ||
        size > UINT32_MAX - 1 - (address - r->base))
        return false;
    *low = (uint32_t)(address - r->base);
    *high = *low + (uint32_t)size;
    return true;
}

static void begin_function(struct reader *r, const char *at)
{
    struct text_numbers numbers = {.at = at + (!strncmp(at, "m ", 2) ? 2 : 0)};
    uint64_t address = text_hex(&numbers);
    uint64_t size = text_hex(&numbers);
    (void)text_hex(&numbers);
    r->high = 0;
    r->lines.count = 0;
    paint_reset(&r->paint);
    r->out->damaged_units += numbers.failed;
    if (numbers.failed || !*numbers.at || !offsets(&r->low, &r->high, r, address, size)) {
        r->high = 0;
        return;
    }
    uint32_t name = add_text(r, false, numbers.at);
    memset(r->open, 0, sizeof r->open);
    r->open[0] = add_scope(r, (struct dwarf_scope){.name = name, .entry = r->low, .linked = true});
    r->rank = 0;
    r->failed |= !paint_add(&r->paint, (struct paint_range){r->low, r->high, 0, r->open[0]});
}

static void add_inline(struct reader *r, const char *at)
{
    struct text_numbers numbers = {.at = at};
    uint64_t depth = text_decimal(&numbers);
    uint64_t line = text_decimal(&numbers);
    uint64_t file = text_decimal(&numbers);
    uint64_t origin = text_decimal(&numbers);
    if (!r->high || numbers.failed || depth >= DEPTH_MAX || !r->open[depth] || line > UINT32_MAX)
        return;
    uint32_t scope = add_scope(r, (struct dwarf_scope){.name = find(&r->origins, origin),
                                                       .parent = r->open[depth],
                                                       .file = find(&r->files, file),
                                                       .line = (uint32_t)line,
                                                       .linked = true});
    r->open[depth + 1] = scope;
    memset(r->open + depth + 2, 0, (DEPTH_MAX - 1 - depth) * sizeof r->open[0]);
    r->rank++;
    while (*numbers.at && !r->failed) {
        uint32_t low, high;
        uint64_t address = text_hex(&numbers);
        uint64_t size = text_hex(&numbers);
        if (numbers.failed || !offsets(&low, &high, r, address, size))
            return;
        low = low < r->low ? r->low : low;
        high = high > r->high ? r->high : high;
        r->failed |= low < high && !paint_add(&r->paint, (struct paint_range){low, high, r->rank, scope});
    }
}

static void add_line(struct reader *r, const char *at)
{
    struct text_numbers numbers = {.at = at};
    struct line line;
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
    const struct line *x = a;
    const struct line *y = b;
    return x->low != y->low ? (x->low < y->low ? -1 : 1) : (x->high > y->high) - (x->high < y->high);
}

static void add_segment(struct reader *r, struct dwarf_run *run, struct dwarf_segment segment)
{
    if (!GROW(&r->out->segments)) {
        r->failed = true;
        return;
    }
    r->out->segments.rows[r->out->segments.count++] = segment;
    run->count++;
}

/* One painted piece, cut by the lines; *next is the first line that may reach into it. */
static void add_piece(struct reader *r, struct dwarf_run *run, const struct paint_range *piece, size_t *next)
{
    const struct line *lines = r->lines.rows;
    for (uint32_t low = piece->low; low < piece->high && !r->failed;) {
        while (*next < r->lines.count && lines[*next].high <= low)
            ++*next;
        const struct line *line = *next < r->lines.count ? &lines[*next] : NULL;
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

static void end_function(struct reader *r)
{
    struct paint_range piece;
    size_t next = 0;
    if (!r->high || r->failed)
        return;
    if (r->lines.count)
        qsort(r->lines.rows, r->lines.count, sizeof *r->lines.rows, by_low);
    struct dwarf_run run = {
        .low = r->low, .high = r->high, .unit = r->function_count++, .first = r->out->segments.count};
    r->failed |= !paint_begin(&r->paint) || !GROW(&r->out->runs);
    while (!r->failed && paint_next(&piece, &r->paint))
        add_piece(r, &run, &piece, &next);
    if (!r->failed)
        r->out->runs.rows[r->out->runs.count++] = run;
    r->high = 0;
}

/* Files and origins may be told behind the functions that use them, so they are read first. */
static void read_numbered(struct reader *r, const char *text, const char *end)
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

static void read_functions(struct reader *r, const char *text, const char *end)
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
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return false;
    const char *text = (const char *)object->text.bytes;
    r->out = out;
    r->base = base;
    (void)add_text(r, true, ""); /* 0 stands for unknown */
    (void)add_text(r, false, "");
    read_numbered(r, text, text + object->text.len);
    read_functions(r, text, text + object->text.len);
    bool good = !r->failed;
    free(r->files.rows);
    free(r->origins.rows);
    free(r->lines.rows);
    paint_fini(&r->paint);
    free(r);
    return good;
}
