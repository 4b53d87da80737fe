/*
 * line_program.h - a line table while it is read. Inside dwarf/ only.
 */
#ifndef MIRE_DWARF_LINE_PROGRAM_H
#define MIRE_DWARF_LINE_PROGRAM_H

#include "dwarf/lines.h"

struct line_program {
    struct lines *lines;
    struct unit shape; /* of the forms in the table */
    const uint8_t *p;
    const uint8_t *end;
    uint8_t least; /* bytes of an instruction */
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    const uint8_t *lengths; /* arguments of the standard opcodes */
    uint64_t address;
    uint32_t file;
    uint32_t line;
    size_t first;    /* row of this sequence */
    bool dropped;    /* this sequence is not code */
    uint64_t origin; /* of this sequence */
};

/* The text at the program's place, which moves behind it; NULL: it has no end. */
const char *line_program_text(struct line_program *program);

/* False: out of memory. */
bool line_file_add(struct lines *lines, const char *name, uint64_t directory);

/* The lists of directories and files. 0, 1: damaged, -1: out of memory. */
int line_names_read(struct line_program *program);

#endif
