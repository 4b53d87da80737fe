/*
 * layers.h - what threads found, symbols and unwind table, laid over each other. Inside symbols/ only.
 */
#ifndef MIRE_SYMBOLS_LAYERS_H
#define MIRE_SYMBOLS_LAYERS_H

#include "dwarf/dwarf.h"
#include "symbols/names.h"
#include "symbols/pack.h"

struct layers {
    const struct dwarf_harvest *harvests;
    size_t harvest_count;
    const struct names *names;
    const struct names *frames;
};

/*
 * Add everything to a pack, in order of address.
 *
 *   high_out  behind the last segment
 *
 * Returns false out of memory.
 */
bool layers_pack(uint32_t *high_out, struct pack *pack, const struct layers *layers);

#endif
