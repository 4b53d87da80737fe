/*
 * layers.h - what threads found, symbols and unwind table, laid over each other. Inside cache/ only.
 */
#ifndef MIRE_CACHE_LAYERS_H
#define MIRE_CACHE_LAYERS_H

#include "dwarf/dwarf.h"
#include "cache/names.h"
#include "cache/pack.h"

#define MIRE_LAYER_NEW UINT32_MAX

struct layer_name {
    uint32_t place; /* MIRE_LAYER_NEW: not added yet */
    struct pack_key key;
};

struct layer { /* what one thread found, and its numbers in the pack */
    struct dwarf_harvest harvest;
    uint32_t *scopes; /* MIRE_LAYER_NEW: not added yet */
    uint32_t *files;  /* likewise */
    struct layer_name *names;
    size_t name_bytes;  /* of all names, with their NULs */
    uint32_t first_run; /* of all layers' */
    uint32_t first_bare;
};

/* The harvest is filled: make room for its numbers, and look at its names. Any thread. False: out of memory. */
bool layer_prepare(struct layer *layer);
void layer_fini(struct layer *layer);

struct layers {
    struct layer *rows;
    size_t count;
    const struct names *names;
    const struct names *frames;
};

/*
 * Add everything to a pack, in order of address.
 *
 *   high_out  behind the last segment
 *   beside    write it down in a thread of its own
 *
 * Returns false out of memory.
 */
bool layers_pack(uint32_t *high_out, struct pack *pack, const struct layers *layers, bool beside);

#endif
