/*
 * others.h - functions and lines of a program without DWARF: by Go's own table, or by the object files that its debug
 * map names. Inside cache/ only.
 */
#ifndef MIRE_CACHE_OTHERS_H
#define MIRE_CACHE_OTHERS_H

#include "cache/convert.h"
#include "cache/merge.h"

/* The first file that has either; NULL: none does. */
const struct object *others_first(const struct convert_source *source);

/* Write down which object files are wanted, as rows of struct convert_want. False: the system refuses. */
bool others_wanted(size_t *count_out, int fd, const struct object *program);

/*
 * Read the files into inputs of a merge.
 *
 *   merge   rows for each split file of the source, and for one at least; its count is set
 *   dwarfs  likewise: closed by the caller, once the inputs are not needed any more
 *
 * Returns NULL, or what is wrong (static).
 */
const char *others_read(struct convert_facts *facts, struct merge *merge, struct dwarf **dwarfs,
                        const struct convert_source *source, const struct object *program, uint64_t base);

#endif
