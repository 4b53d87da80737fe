/*
 * others.h - functions and lines of a program without DWARF: from Go's own table, or from the object files of its debug
 * map. Internal to cache/.
 */
#ifndef MIRE_CACHE_OTHERS_H
#define MIRE_CACHE_OTHERS_H

#include "cache/convert.h"
#include "cache/merge.h"

/* The first file with a Go table or a debug map; NULL: none. */
const struct object *others_first(const struct convert_source *source);

/* Write the object files to request as rows of struct convert_want. Returns false if a system call fails. */
bool others_wanted(size_t *count_out, int fd, const struct object *program);

/*
 * Read the files into inputs of a merge.
 *
 *   merge   rows for each split file of the source, and at least one; its count is set
 *   dwarfs  as many; the caller closes them after the last use of the inputs
 *
 * Returns NULL, or the problem (static).
 */
const char *others_read(struct convert_facts *facts, struct merge *merge, struct dwarf **dwarfs,
                        const struct convert_source *source, const struct object *program, uint64_t base);

#endif
