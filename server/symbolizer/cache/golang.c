/*
 * golang.c - reads one function after the other. Three tables of (bytes of code, value) are read side by side.
 *
 *     header   magic, quantum of code, bytes of a pointer; then numbers and positions of tables, by version
 *     functab  [ entry, position of the function's record ]... end of the code
 *     record   entry, name, ..., file and line as tables, further tables, ..., position of its inlined calls
 *     table    [ value's change, code's length ]... as varints; a value applies to the code up to there
 *
 *     lines        [ 12 ][ 5   ][ 13 ]
 *     inlined      [ -1 ][ 0   ][ -1 ]      row 0: name, and an address in the caller whose line is that of the call
 *
 * Each step of a table advances in the code, and functions do not overlap. Functions may share a table, and a file may
 * claim any amount of code, so the file's size limits the total number of steps.
 */
#include "cache/golang.h"

#include "base/bytes.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC_12  0xfffffffbu
#define MAGIC_116 0xfffffffau
#define MAGIC_118 0xfffffff0u
#define MAGIC_120 0xfffffff1u

#define UNIT            (UINT32_MAX - 3) /* ranks below DWARF and above symbols */
#define INLINED_DATA    3                /* index of the inlined calls among a function's data, and among its tables */
#define INLINED_TABLE   2
#define DEPTH_MAX       64
#define STEPS_A_BYTE    4 /* limit of steps per byte of the table; honest tables have half a step */
#define NONE            (-1)
#define MODULE_TEXT     22 /* words of runtime.moduledata: start of the code, start of functions' data */
#define MODULE_DATA     38
#define MODULE_DATA_120 40

struct table_row { /* decoded row of a table */
    uint32_t end;  /* offset from base */
    int32_t value;
};

struct table_rows {
    struct table_row *rows;
    size_t count, room;
};

struct go_reader {
    struct dwarf_harvest *out;
    const struct object *object;
    const uint8_t *bytes;
    uint64_t len;
    uint64_t base;
    uint32_t magic;
    unsigned quantum, wide; /* bytes: minimum of an instruction; a pointer */
    unsigned entry_wide;    /* bytes of an entry in functab */
    uint64_t count;
    uint64_t names, units, files, tables, functions; /* positions */
    uint64_t text;                                   /* address that entries count from */
    uint64_t data;                                   /* address that functions' data count from; 0: unknown */

    struct { /* the current function */
        uint64_t at;
        uint32_t low, high; /* offsets from base */
        uint32_t scope;
        uint64_t tree; /* address of its inlined calls; 0: none known */
        struct table_rows file, line, inlined;
        uint32_t *scopes; /* scopes of its inlined calls, by number; 0: not made yet */
        size_t scope_count, scope_room;
    } f;
    struct known_file { /* positions of paths, and their numbers in the harvest; 0: free */
        uint64_t at;
        uint32_t number;
    } * known;
    size_t known_room; /* a power of two */
    size_t known_count;
    uint64_t steps_left;
    bool failed; /* out of memory */
};

static uint64_t number_at(const struct go_reader *r, uint64_t at, unsigned wide)
{
    return at <= r->len && wide <= r->len - at ? load_wide(r->bytes + at, wide) : UINT64_MAX;
}

static uint64_t word(const struct go_reader *r, unsigned index)
{
    return number_at(r, 8 + (uint64_t)index * r->wide, r->wide);
}

/* ---- data elsewhere in the program ---- */

static const uint8_t *memory_at(const struct object *object, uint64_t address, uint64_t len)
{
    for (size_t i = 0; i < object->loaded_count; i++) {
        const struct loaded *part = &object->loaded[i];
        if (address >= part->address && address - part->address <= part->len &&
            len <= part->len - (address - part->address))
            return part->bytes + (address - part->address);
    }
    return NULL;
}

/* Accept runtime.moduledata: its first word points to the table, and it has the start of the code. */
static bool take_module(struct go_reader *r, const uint8_t *at, size_t len)
{
    unsigned index = r->magic == MAGIC_120 ? MODULE_DATA_120 : MODULE_DATA;
    if (len < (size_t)(index + 1) * r->wide || load_wide(at, r->wide) != r->object->go_address)
        return false;
    uint64_t text = load_wide(at + MODULE_TEXT * r->wide, r->wide);
    uint64_t data = load_wide(at + index * r->wide, r->wide);
    if (!object_is_code(r->object, text, text + 1))
        return false;
    r->text = text;
    r->data = memory_at(r->object, data, 1) ? data : 0;
    return true;
}

static void find_module(struct go_reader *r)
{
    for (size_t i = 0; i < r->object->loaded_count; i++) {
        const struct loaded *part = &r->object->loaded[i];
        if (part->writable)
            for (size_t at = 0; at + r->wide <= part->len; at += r->wide)
                if (take_module(r, part->bytes + at, part->len - at))
                    return;
    }
}

/* ---- header ---- */

static bool read_header(struct go_reader *r)
{
    if (r->len < 16)
        return false;
    r->magic = load_32(r->bytes);
    r->quantum = r->bytes[6];
    r->wide = r->bytes[7];
    if (load_16(r->bytes + 4) || (r->quantum != 1 && r->quantum != 2 && r->quantum != 4) ||
        (r->wide != 4 && r->wide != 8))
        return false;
    bool late = r->magic == MAGIC_118 || r->magic == MAGIC_120;
    if (!late && r->magic != MAGIC_116 && r->magic != MAGIC_12)
        return false;
    r->count = word(r, 0);
    r->entry_wide = late ? 4 : r->wide;
    if (r->magic == MAGIC_12) { /* one table: names and tables count from its beginning */
        r->functions = 8 + r->wide;
        r->files = number_at(r, r->functions + (2 * r->count + 1) * r->wide, 4);
    } else {
        unsigned i = late ? 3 : 2;
        r->names = word(r, i);
        r->units = word(r, i + 1);
        r->files = word(r, i + 2);
        r->tables = word(r, i + 3);
        r->functions = word(r, i + 4);
    }
    if (late) { /* the header lacks it since Go 1.26 */
        uint64_t given = word(r, 2);
        r->text = object_is_code(r->object, given, given + 1) ? given : r->object->go_text;
        find_module(r);
    }
    return r->functions <= r->len && r->count <= (r->len - r->functions) / (2 * (uint64_t)r->entry_wide) &&
           r->names < r->len && r->files < r->len && r->tables < r->len && r->units < r->len;
}

/* ---- texts ---- */

static uint32_t add_text(struct go_reader *r, bool file, uint64_t at)
{
    if (at >= r->len)
        return 0;
    const char *text = (const char *)r->bytes + at;
    if (!*text)
        return 0;
    return dwarf_texts_add(file ? &r->out->files : &r->out->names, &r->failed, text);
}

static struct known_file *find_known(const struct go_reader *r, uint64_t at)
{
    size_t i = (size_t)(at * 0x9e3779b97f4a7c15u >> 32) & (r->known_room - 1);
    while (r->known[i].number && r->known[i].at != at)
        i = (i + 1) & (r->known_room - 1);
    return &r->known[i];
}

static bool grow_known(struct go_reader *r)
{
    struct go_reader was = *r;
    r->known_room = was.known_room ? was.known_room * 2 : 1024;
    r->known = calloc(r->known_room, sizeof *r->known);
    if (!r->known) {
        r->known = was.known;
        r->known_room = was.known_room;
        r->failed = true;
        return false;
    }
    for (size_t i = 0; i < was.known_room; i++)
        if (was.known[i].number)
            *find_known(r, was.known[i].at) = was.known[i];
    free(was.known);
    return true;
}

/* The harvest's number of the path at a position; one number per path. */
static uint32_t file_at(struct go_reader *r, uint64_t at)
{
    if (2 * (r->known_count + 1) > r->known_room && !grow_known(r))
        return 0;
    struct known_file *known = find_known(r, at);
    if (!known->number) {
        uint32_t number = add_text(r, true, at);
        if (!number)
            return 0;
        *known = (struct known_file){at, number};
        r->known_count++;
    }
    return known->number;
}

/* The path of a number in the function's table of files: by its unit, or in one list for all. */
static uint32_t file_of(struct go_reader *r, int32_t number)
{
    if (number < 0)
        return 0;
    if (r->magic == MAGIC_12) {
        uint64_t at = number_at(r, r->files + 4 * (uint64_t)number, 4);
        return number && number < (int64_t)number_at(r, r->files, 4) ? file_at(r, at) : 0;
    }
    uint64_t unit = number_at(r, r->f.at + r->entry_wide + 4 * 7, 4);
    uint64_t at = number_at(r, r->units + 4 * (unit + (uint64_t)number), 4);
    return at < UINT32_MAX ? file_at(r, r->files + at) : 0;
}

/* ---- tables ---- */

static bool take_varint(uint64_t *out, const struct go_reader *r, uint64_t *at)
{
    *out = 0;
    for (unsigned shift = 0; shift < 35 && *at < r->len; shift += 7) {
        uint8_t byte = r->bytes[(*at)++];
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* Decode a table up to the end of the function's code. Returns false if it is damaged. */
static bool read_table(struct go_reader *r, struct table_rows *out, uint64_t place)
{
    uint64_t at = r->tables + place, change, step;
    uint32_t end = r->f.low;
    int32_t value = -1;
    out->count = 0;
    if (!place || place == UINT64_MAX) /* no table */
        return true;
    while (end < r->f.high && take_varint(&change, r, &at) && (change || !out->count)) {
        value += (int32_t)(change & 1 ? ~(uint32_t)(change >> 1) : (uint32_t)(change >> 1));
        if (!take_varint(&step, r, &at) || !step || step * r->quantum > r->f.high - end || !r->steps_left)
            return false;
        r->steps_left--;
        end += (uint32_t)step * r->quantum;
        if (!GROW(out)) {
            r->failed = true;
            return false;
        }
        out->rows[out->count++] = (struct table_row){end, value};
    }
    return true;
}

static int32_t value_at(const struct table_rows *rows, uint32_t at)
{
    size_t low = 0, high = rows->count; /* find the first row that ends after `at` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows->rows[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rows->count ? rows->rows[low].value : NONE;
}

/* ---- inlined calls ---- */

static uint32_t add_scope(struct go_reader *r, struct dwarf_scope scope)
{
    if (!GROW(&r->out->scopes)) {
        r->failed = true;
        return 0;
    }
    r->out->scopes.rows[r->out->scopes.count++] = scope;
    return (uint32_t)r->out->scopes.count;
}

/* Allocate the scopes of so many inlined calls. */
static bool reserve_scopes(struct go_reader *r, size_t count)
{
    uint32_t *rows = grow(r->f.scopes, &r->f.scope_room, r->f.scope_count, count - r->f.scope_count, sizeof *rows);
    if (!rows) {
        r->failed = true;
        return false;
    }
    r->f.scopes = rows;
    memset(rows + r->f.scope_count, 0, (count - r->f.scope_count) * sizeof *rows);
    r->f.scope_count = count;
    return true;
}

/* The scope of an inlined call by its number; outer scopes are made first. */
static uint32_t scope_of(struct go_reader *r, int32_t number, unsigned depth)
{
    bool late = r->magic == MAGIC_120;
    size_t each = late ? 16 : 20;
    if (number < 0 || number > (int32_t)(r->f.high - r->f.low) || !r->f.tree || depth > DEPTH_MAX || r->failed)
        return r->f.scope;
    const uint8_t *row = memory_at(r->object, r->f.tree + (uint64_t)number * each, each);
    if (!row || ((size_t)number >= r->f.scope_count && !reserve_scopes(r, (size_t)number + 1)))
        return r->f.scope;
    if (r->f.scopes[number])
        return r->f.scopes[number];
    uint64_t caller = r->f.low + (uint64_t)load_32(row + (late ? 8 : 16));
    if (caller >= r->f.high)
        return r->f.scope;
    int32_t outer = value_at(&r->f.inlined, (uint32_t)caller);
    struct dwarf_scope scope = {.linked = true, .entry = r->f.low};
    scope.parent = outer == number ? r->f.scope : scope_of(r, outer, depth + 1);
    scope.name = add_text(r, false, r->names + load_32(row + (late ? 4 : 12)));
    scope.file = file_of(r, value_at(&r->f.file, (uint32_t)caller));
    int32_t line = value_at(&r->f.line, (uint32_t)caller);
    scope.line = line > 0 ? (uint32_t)line : 0;
    uint32_t made = add_scope(r, scope);
    r->f.scopes[number] = made;
    return made;
}

/* The address of the function's inlined calls; 0 if there are none, or unknown. */
static uint64_t tree_of(const struct go_reader *r)
{
    bool late = r->magic == MAGIC_118 || r->magic == MAGIC_120;
    uint64_t head = r->f.at + r->entry_wide + 4 * (r->magic == MAGIC_120 ? 9 : 8); /* flags in its last four bytes */
    uint64_t tables = number_at(r, r->f.at + r->entry_wide + 4 * 6, 4);
    uint64_t count = number_at(r, head + 3, 1);
    uint64_t at = head + 4 + 4 * tables;
    if (r->magic == MAGIC_12 || tables > 64 || tables <= INLINED_TABLE || count > 64 || count <= INLINED_DATA)
        return 0;
    if (late) {
        uint64_t place = number_at(r, at + 4 * INLINED_DATA, 4);
        return r->data && place < UINT32_MAX ? r->data + place : 0;
    }
    at = (at + r->wide - 1) & ~(uint64_t)(r->wide - 1);
    uint64_t address = number_at(r, at + INLINED_DATA * r->wide, r->wide);
    return address != UINT64_MAX ? address : 0;
}

/* ---- functions ---- */

static void add_segment(struct go_reader *r, struct dwarf_run *run, struct dwarf_segment segment)
{
    if (!GROW(&r->out->segments)) {
        r->failed = true;
        return;
    }
    r->out->segments.rows[r->out->segments.count++] = segment;
    run->count++;
}

/* Read the tables side by side; a segment ends at the next change of any table. */
static void lay_function(struct go_reader *r)
{
    const struct table_rows *const tables[] = {&r->f.file, &r->f.line, &r->f.inlined};
    struct dwarf_run run = {r->f.low, r->f.high, UNIT, 0, r->out->segments.count};
    size_t at[3] = {0};
    for (uint32_t low = r->f.low; low < r->f.high && !r->failed;) {
        uint32_t end = r->f.high;
        int32_t values[3] = {NONE, 0, NONE};
        for (int i = 0; i < 3; i++) {
            while (at[i] < tables[i]->count && tables[i]->rows[at[i]].end <= low)
                at[i]++;
            if (at[i] == tables[i]->count)
                continue;
            const struct table_row *row = &tables[i]->rows[at[i]];
            values[i] = row->value;
            end = row->end < end ? row->end : end;
        }
        add_segment(r, &run,
                    (struct dwarf_segment){low, scope_of(r, values[2], 0), file_of(r, values[0]),
                                           values[1] > 0 ? (uint32_t)values[1] : 0});
        low = end;
    }
    if (!GROW(&r->out->runs))
        r->failed = true;
    else
        r->out->runs.rows[r->out->runs.count++] = run;
}

/* The address of a function's entry in functab; the last entry is the end of the code. */
static uint64_t entry_of(const struct go_reader *r, uint64_t index)
{
    uint64_t entry = number_at(r, r->functions + 2 * index * r->entry_wide, r->entry_wide);
    bool counted = r->magic == MAGIC_118 || r->magic == MAGIC_120;
    return entry == UINT64_MAX ? entry : entry + (counted ? r->text : 0);
}

static void read_function(struct go_reader *r, uint64_t index)
{
    uint64_t low = entry_of(r, index), high = entry_of(r, index + 1);
    uint64_t place = number_at(r, r->functions + (2 * index + 1) * r->entry_wide, r->entry_wide);
    uint64_t last = r->f.high;
    if (low < r->base || high <= low || high - r->base >= UINT32_MAX - 1 || low - r->base < last ||
        !object_is_code(r->object, low, low + 1) || place == UINT64_MAX)
        return;
    r->f.at = (r->magic == MAGIC_12 ? 0 : r->functions) + place;
    r->f.low = (uint32_t)(low - r->base);
    r->f.high = (uint32_t)(high - r->base);
    r->f.scope_count = 0;
    uint64_t fields = r->f.at + r->entry_wide; /* after the entry */
    uint64_t name = number_at(r, fields, 4);
    uint64_t inlined = number_at(r, fields + 4 * (r->magic == MAGIC_120 ? 10 : 9) + 4 * INLINED_TABLE, 4);
    r->f.tree = tree_of(r);
    bool good = name < UINT32_MAX && read_table(r, &r->f.file, number_at(r, fields + 16, 4)) &&
                read_table(r, &r->f.line, number_at(r, fields + 20, 4));
    if (good && r->f.line.count) /* padding follows up to the next function */
        r->f.high = r->f.line.rows[r->f.line.count - 1].end;
    good = read_table(r, &r->f.inlined, good && r->f.tree ? inlined : 0) && good;
    r->out->damaged_units += !good;
    r->f.scope = add_scope(
        r, (struct dwarf_scope){.name = add_text(r, false, r->names + name), .entry = r->f.low, .linked = true});
    lay_function(r);
}

bool golang_harvest(struct dwarf_harvest *out, const struct object *object, uint64_t base)
{
    struct go_reader r = {.out = out, .object = object, .bytes = object->go.bytes, .len = object->go.len, .base = base};
    r.steps_left = STEPS_A_BYTE * r.len;
    if (!GROW(&out->files) || !GROW(&out->names))
        return false;
    out->files.rows[out->files.count++] = ""; /* 0 means unknown */
    out->names.rows[out->names.count++] = "";
    if (!read_header(&r))
        out->damaged_units++;
    else
        for (uint64_t i = 0; i < r.count && !r.failed; i++)
            read_function(&r, i);
    free(r.f.file.rows);
    free(r.f.line.rows);
    free(r.f.inlined.rows);
    free(r.f.scopes);
    free(r.known);
    return !r.failed;
}
