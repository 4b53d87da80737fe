/*
 * lines.h - the line table of one unit. Inside dwarf/ only.
 */
#ifndef MIRE_DWARF_LINES_H
#define MIRE_DWARF_LINES_H

#include "dwarf/unit.h"

struct line_row { /* holds up to the next row's address */
    uint32_t at;
    uint32_t file; /* as in the table */
    uint32_t line;
};

struct line_sequence { /* code without a gap: [low, high) */
    uint32_t low;
    uint32_t high;
    size_t first; /* of its rows */
    size_t count;
};

struct line_file {
    const char *name;
    uint64_t directory;
};

struct lines { /* reused from unit to unit */
    uint16_t version;
    struct {
        struct line_row *rows;
        size_t count, room;
    } rows;
    struct {
        struct line_sequence *rows;
        size_t count, room;
    } sequences, sorted; /* as in the table; by address, none overlapping another */
    struct {
        const char **rows;
        size_t count, room;
    } directories;
    struct {
        struct line_file *rows;
        size_t count, room;
    } files;
    uint64_t *keys; /* for sorting */
    size_t key_room;
};

/* Read a unit's table. 0, 1: it is damaged, read as far as it goes; -1: out of memory. */
int lines_read(struct lines *lines, const struct unit *unit);

/*
 * The path of a file.
 *
 * Returns bytes written with the NUL; 0 if there is no such file, or no room.
 */
size_t lines_path(char *out, size_t room, const struct lines *lines, const struct unit *unit, uint64_t file);

/* How a file number counts in the list of files, from 0; SIZE_MAX: there is no such file. */
size_t lines_file_index(const struct lines *lines, uint64_t file);

void lines_fini(struct lines *lines);

#endif
