/*
 * line_program.h - state of reading a line table. Internal to dwarf/.
 */
#ifndef MIRE_DWARF_LINE_PROGRAM_H
#define MIRE_DWARF_LINE_PROGRAM_H

#include "dwarf/lines.h"

struct line_program {
    struct lines *lines;
    struct unit shape; /* version and sizes for the forms in the table */
    const uint8_t *p;
    const uint8_t *end;
    uint8_t least; /* minimum bytes of an instruction */
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    const uint8_t *lengths; /* argument counts of the standard opcodes */
    uint64_t address;
    uint32_t file;
    uint32_t line;
    size_t first;    /* first row of this sequence */
    bool dropped;    /* this sequence is not code */
    uint64_t origin; /* start address of this sequence */
};

/* Read the text at the cursor and move past it. NULL: no end in the table. */
const char *line_program_text(struct line_program *program);

/* Returns false out of memory. */
bool line_file_add(struct lines *lines, const char *name, uint64_t directory);

/* Read the lists of directories and files. Returns 0, 1: damaged, -1: out of memory. */
int line_names_read(struct line_program *program);

#endif
