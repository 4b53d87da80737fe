/*
 * lines.h - the line table of one unit. Internal to dwarf/.
 */
#ifndef MIRE_DWARF_LINES_H
#define MIRE_DWARF_LINES_H

#include "dwarf/unit.h"

struct line_row { /* applies up to the next row's address */
    uint32_t at;
    uint32_t file; /* number in the table */
    uint32_t line;
};

struct line_sequence { /* range [low, high) without a gap */
    uint32_t low;
    uint32_t high;
    size_t first; /* first of its rows */
    size_t count;
};

struct line_file {
    const char *name;
    uint64_t directory;
};

struct lines { /* memory reused from unit to unit */
    uint16_t version;
    struct {
        struct line_row *rows;
        size_t count, room;
    } rows;
    struct {
        struct line_sequence *rows;
        size_t count, room;
    } sequences, sorted; /* in table order; by address, disjoint */
    struct {
        const char **rows;
        size_t count, room;
    } directories;
    struct {
        struct line_file *rows;
        size_t count, room;
    } files;
    uint64_t *keys; /* scratch for sorting */
    size_t key_room;
};

/* Read a unit's table. Returns 0, 1: damaged and partly read, -1: out of memory. */
int lines_read(struct lines *lines, const struct unit *unit);

/*
 * Write the path of a file.
 *
 * Returns bytes written with the NUL; 0 if there is no such file, or no room.
 */
size_t lines_path(char *out, size_t room, const struct lines *lines, const struct unit *unit, uint64_t file);

/* Convert a file number of the table to an index in the list of files. SIZE_MAX: no such file. */
size_t lines_file_index(const struct lines *lines, uint64_t file);

void lines_fini(struct lines *lines);

#endif
