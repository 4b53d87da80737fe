/*
 * package.h - finds the sections of each unit in a package of split files (.dwp). Internal to dwarf/.
 */
#ifndef MIRE_DWARF_PACKAGE_H
#define MIRE_DWARF_PACKAGE_H

#include "object/object.h"

struct package_piece { /* offsets of one unit in the sections of these names */
    uint64_t info;
    uint64_t info_len;
    uint64_t abbrev;
    uint64_t str_offsets;
    uint64_t rnglists;
};

struct package {
    struct package_piece *rows; /* sorted by info */
    size_t count;
};

/* Read .debug_cu_index. A damaged index gives no pieces. Returns false out of memory. */
bool package_read(struct package *out, const struct section *index);

/* The piece that contains an offset in .debug_info; NULL: none. */
const struct package_piece *package_at(const struct package *package, uint64_t info);

void package_fini(struct package *package);

#endif
