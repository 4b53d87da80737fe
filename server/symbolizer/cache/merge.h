/*
 * merge.h - merges the harvests of the DWARF threads, the symbols and the unwind table. Internal to cache/.
 */
#ifndef MIRE_CACHE_MERGE_H
#define MIRE_CACHE_MERGE_H

#include "dwarf/dwarf.h"
#include "cache/names.h"
#include "cache/pack.h"

#define MIRE_MERGE_NEW UINT32_MAX

struct merge_name {
    uint32_t place; /* position in the texts; MIRE_MERGE_NEW: not added yet */
    struct pack_key key;
};

struct merge_input { /* results of one thread, and their numbers in the pack */
    struct dwarf_harvest harvest;
    uint32_t *scopes; /* MIRE_MERGE_NEW: not added yet */
    uint32_t *files;  /* MIRE_MERGE_NEW: not added yet */
    struct merge_name *names;
    size_t name_bytes;  /* bytes of all names, with their NULs */
    uint32_t first_run; /* number of its first run among those of all inputs */
    uint32_t first_bare;
};

/* Prepare a filled harvest: allocate room for its numbers, and hash its names. Returns false out of memory. Thread:
 * any. */
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
 *   high_out  end of the last segment, exclusive
 *   beside    true: write in a thread of its own
 *
 * Returns false out of memory.
 */
bool merge_pack(uint32_t *high_out, struct pack *pack, const struct merge *merge, bool beside);

#endif
