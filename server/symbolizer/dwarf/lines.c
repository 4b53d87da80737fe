/*
 * lines.c - runs the line number program of a unit.
 *
 * An opcode never takes more bytes than the pad, so its position is checked once. The last of several rows at one
 * address wins. A row with the file and line of the row before it is dropped.
 */
#include "dwarf/line_program.h"

#include "base/grow.h"
#include "base/sort.h"

#include <stdlib.h>

enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS, DEFINE_FILE };

static bool add_row(struct line_program *program)
{
    struct lines *lines = program->lines;
    if (lines->rows.count == program->first) { /* the first row of a sequence */
        uint32_t ignored;
        program->origin = program->address;
        program->dropped =
            !dwarf_offsets(&ignored, &ignored, program->shape.dwarf, program->address, program->address + 1);
    }
    if (program->dropped)
        return true;
    uint64_t offset = program->address - program->shape.dwarf->base;
    struct line_row row = {(uint32_t)offset, program->file, program->line};
    if (lines->rows.count > program->first) {
        struct line_row *last = &lines->rows.rows[lines->rows.count - 1];
        if (offset < last->at || offset > program->shape.dwarf->limit)
            return true; /* backwards, or beyond the limit */
        if (last->at == row.at) {
            *last = row;
            return true;
        }
        if (last->file == row.file && last->line == row.line)
            return true;
    }
    if (!GROW(&lines->rows))
        return false;
    lines->rows.rows[lines->rows.count++] = row;
    return true;
}

static bool end_sequence(struct line_program *program)
{
    struct lines *lines = program->lines;
    uint64_t low = program->origin;
    uint64_t high = program->address;
    struct line_sequence sequence = {.first = program->first, .count = lines->rows.count - program->first};
    program->address = 0;
    program->file = 1;
    program->line = 1;
    if (sequence.count && !program->dropped && high > low &&
        dwarf_offsets(&sequence.low, &sequence.high, program->shape.dwarf, low, high)) {
        if (!GROW(&lines->sequences))
            return false;
        lines->sequences.rows[lines->sequences.count++] = sequence;
        program->first = lines->rows.count;
    }
    lines->rows.count = program->first;
    program->dropped = false;
    return true;
}

/* Returns 0, 1: damaged, -1: out of memory. */
static int run_extended(struct line_program *program)
{
    uint64_t len = load_uleb(&program->p);
    if (program->p >= program->end || !len || len > (uint64_t)(program->end - program->p))
        return 1;
    const uint8_t *after = program->p + len;
    switch (*program->p++) {
    case END_SEQUENCE:
        if (!end_sequence(program))
            return -1;
        break;
    case SET_ADDRESS:
        program->address = load_wide(program->p, (unsigned)(len - 1 > 8 ? 0 : len - 1));
        break;
    case DEFINE_FILE: {
        const char *name = line_program_text(program);
        if (name && !line_file_add(program->lines, name, load_uleb(&program->p)))
            return -1;
        break;
    }
    default:
        break;
    }
    program->p = after;
    return 0;
}

static int run_standard(struct line_program *program, uint8_t opcode)
{
    switch (opcode) {
    case 0:
        return run_extended(program);
    case COPY:
        return add_row(program) ? 0 : -1;
    case ADVANCE_PC:
        program->address += load_uleb(&program->p) * program->least;
        return 0;
    case ADVANCE_LINE:
        program->line += (uint32_t)load_sleb(&program->p);
        return 0;
    case SET_FILE:
        program->file = (uint32_t)load_uleb(&program->p);
        return 0;
    case CONST_ADD_PC:
        program->address += (uint64_t)((255 - program->opcode_base) / program->line_range) * program->least;
        return 0;
    case FIXED_ADVANCE_PC:
        program->address += load_16(program->p);
        program->p += 2;
        return 0;
    default:
        for (unsigned i = 0; i < program->lengths[opcode - 1]; i++)
            skip_leb(&program->p);
        return 0;
    }
}

static int run(struct line_program *program)
{
    while (program->p < program->end) {
        uint8_t opcode = *program->p++;
        if (opcode >= program->opcode_base) {
            unsigned step = opcode - program->opcode_base;
            program->address += step / program->line_range * program->least;
            program->line += (uint32_t)(program->line_base + (int)(step % program->line_range));
            if (!add_row(program))
                return -1;
        } else {
            int rc = run_standard(program, opcode);
            if (rc)
                return rc;
        }
    }
    return 0;
}

/* Read the header up to the lists of names. Returns 1 if it is damaged. */
static int read_head(struct line_program *program, const struct section *section, uint64_t at)
{
    const uint8_t *p = section->bytes + at;
    uint64_t len = load_32(p);
    p += 4;
    program->shape.offset_size = 4;
    if (len == 0xffffffffu) {
        len = load_64(p);
        p += 8;
        program->shape.offset_size = 8;
    }
    uint64_t begin = (uint64_t)(p - section->bytes);
    if (begin > section->len || len > section->len - begin)
        return 1;
    program->end = p + len;
    program->lines->version = load_16(p);
    program->shape.version = (uint8_t)program->lines->version;
    p += 2;
    if (program->lines->version < 2 || program->lines->version > 5)
        return 1;
    if (program->lines->version == 5) {
        program->shape.address_size = p[0];
        p += 2;
    }
    p += program->shape.offset_size; /* length of the rest of the header */
    program->least = *p++;
    p += program->lines->version >= 4; /* operations per instruction; 1 except on VLIW machines */
    p++;                               /* default of "row is a statement" */
    program->line_base = (int8_t)*p++;
    program->line_range = *p++;
    program->opcode_base = *p++;
    program->lengths = p;
    program->p = p + (program->opcode_base ? program->opcode_base - 1 : 0);
    return program->p > program->end || !program->line_range || !program->opcode_base ||
           (program->shape.address_size != 4 && program->shape.address_size != 8);
}

/* Sort the sequences by address. An overlap is cut off the higher one. */
static bool settle(struct lines *lines)
{
    size_t count = lines->sequences.count;
    if (!count)
        return true;
    uint64_t *keys = grow(lines->keys, &lines->key_room, 0, 2 * count, sizeof *keys);
    lines->keys = keys ? keys : lines->keys;
    struct line_sequence *sorted = grow(lines->sorted.rows, &lines->sorted.room, 0, count, sizeof *sorted);
    lines->sorted.rows = sorted ? sorted : lines->sorted.rows;
    if (!keys || !sorted)
        return false;
    for (size_t i = 0; i < count; i++)
        keys[i] = (uint64_t)lines->sequences.rows[i].low << 32 | i;
    sort_keys(keys, keys + count, count);
    uint32_t reached = 0;
    lines->sorted.count = 0;
    for (size_t i = 0; i < count; i++) {
        struct line_sequence sequence = lines->sequences.rows[(uint32_t)keys[i]];
        if (sequence.high <= reached)
            continue;
        sequence.low = sequence.low > reached ? sequence.low : reached;
        reached = sequence.high;
        sorted[lines->sorted.count++] = sequence;
    }
    return true;
}

int lines_read(struct lines *lines, const struct unit *unit)
{
    const struct section *section = &unit->dwarf->object->sections[MIRE_SECTION_LINE];
    struct line_program program = {.lines = lines, .shape = *unit, .file = 1, .line = 1};
    lines->rows.count = lines->sequences.count = lines->sorted.count = 0;
    lines->directories.count = lines->files.count = 0;
    lines->version = 0;
    if (!unit->has_lines || !section->len)
        return 0;
    if (unit->lines >= section->len || read_head(&program, section, unit->lines))
        return 1;
    const uint8_t *header =
        section->bytes + unit->lines + (program.shape.offset_size == 8 ? 12 : 4) + 2 + (lines->version == 5 ? 2 : 0);
    uint64_t header_len = load_wide(header, program.shape.offset_size);
    header += program.shape.offset_size;
    int rc = line_names_read(&program);
    if (!rc && header_len > (uint64_t)(program.end - header))
        rc = 1;
    if (!rc) {
        program.p = header + header_len;
        rc = run(&program);
    }
    lines->rows.count = program.first;
    return rc >= 0 && settle(lines) ? rc : -1;
}

void lines_fini(struct lines *lines)
{
    free(lines->rows.rows);
    free(lines->sequences.rows);
    free(lines->sorted.rows);
    free(lines->directories.rows);
    free(lines->files.rows);
    free(lines->keys);
    *lines = (struct lines){0};
}
