/*
 * package.h - where the pieces of each unit lie in a package of split files (.dwp). Inside dwarf/ only.
 */
#ifndef MIRE_DWARF_PACKAGE_H
#define MIRE_DWARF_PACKAGE_H

#include "object/object.h"

struct package_piece { /* of one unit; offsets into the sections of these names */
    uint64_t info;
    uint64_t info_len;
    uint64_t abbrev;
    uint64_t str_offsets;
    uint64_t rnglists;
};

struct package {
    struct package_piece *rows; /* by info */
    size_t count;
};

/* Read .debug_cu_index; a damaged one has no pieces. False: out of memory. */
bool package_read(struct package *out, const struct section *index);

/* The piece that holds a place in .debug_info; NULL: none does. */
const struct package_piece *package_at(const struct package *package, uint64_t info);

void package_fini(struct package *package);

#endif
