/*
 * debug_map.h - the functions and lines of a Mach-O program that no dSYM was made of: its symbol table names the object
 * files that it was linked from, which have them. Inside cache/ only.
 *
 *     program   N_OSO /build/cart.o        object file, as it was linked
 *               N_FUN _add  address, size  a function of it, and where the linker put it
 *     cart.o    DWARF of add at its own address --> moved to the program's
 */
#ifndef MIRE_CACHE_DEBUG_MAP_H
#define MIRE_CACHE_DEBUG_MAP_H

#include "dwarf/dwarf.h"

/*
 * Read all units of an object file, and move what they tell to where the program has it; what the program lacks is left
 * out.
 *
 *   out       empty; its texts are those of `dwarf_out` and of the object
 *   program   whose map has that object file as number `index`
 *   object    the object file itself
 *   base      of the program's offsets
 *
 * Returns NULL, or what is wrong (static): then nothing of it is used. Both are released by the caller in any case.
 */
const char *debug_map_harvest(struct dwarf_harvest *out, struct dwarf **dwarf_out, const struct object *program,
                              size_t index, const struct object *object, uint64_t base);

#endif
