/*
 * merge.h - lays the findings of the DWARF threads, the symbols and the unwind table over each other. Inside cache/
 * only.
 */
#ifndef MIRE_CACHE_MERGE_H
#define MIRE_CACHE_MERGE_H

#include "dwarf/dwarf.h"
#include "cache/names.h"
#include "cache/pack.h"

#define MIRE_MERGE_NEW UINT32_MAX

struct merge_name {
    uint32_t place; /* MIRE_MERGE_NEW: not added yet */
    struct pack_key key;
};

struct merge_input { /* what one thread found, and its numbers in the pack */
    struct dwarf_harvest harvest;
    uint32_t *scopes; /* MIRE_MERGE_NEW: not added yet */
    uint32_t *files;  /* likewise */
    struct merge_name *names;
    size_t name_bytes;  /* of all names, with their NULs */
    uint32_t first_run; /* of all inputs' */
    uint32_t first_bare;
};

/* The harvest is filled: make room for its numbers, and look at its names. Any thread. False: out of memory. */
bool merge_input_prepare(struct merge_input *input);
void merge_input_fini(struct merge_input *input);

struct merge {
    struct merge_input *rows;
    size_t count;
    const struct symbol_names *names;
    const struct symbol_names *frames;
};

/*
 * Add everything to a pack, in order of address.
 *
 *   high_out  behind the last segment
 *   beside    write it down in a thread of its own
 *
 * Returns false out of memory.
 */
bool merge_pack(uint32_t *high_out, struct pack *pack, const struct merge *merge, bool beside);

#endif
