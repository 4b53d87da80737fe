/*
 * debug_map.h - functions and lines of a Mach-O program without a dSYM. The program's symbol table names the object
 * files it was linked from, and these contain the DWARF. Internal to cache/.
 *
 *     program   N_OSO /build/cart.o        object file, as it was linked
 *               N_FUN _add  address, size  a function of that file, and its address in the program
 *     cart.o    DWARF of add at its own address --> moved to the program's
 */
#ifndef MIRE_CACHE_DEBUG_MAP_H
#define MIRE_CACHE_DEBUG_MAP_H

#include "dwarf/dwarf.h"

/*
 * Read all units of an object file, and move their functions to the program's addresses. Functions that the program
 * lacks are dropped.
 *
 *   out        empty at first; its texts point into `dwarf_out` and the object
 *   program    Mach-O program with a debug map
 *   index      number of the object file in the map
 *   object     the object file
 *   base       start address of the program's offsets
 *
 * Returns NULL, or the problem (static); the results are unusable then. The caller releases `out` and *dwarf_out in
 * either case.
 */
const char *debug_map_harvest(struct dwarf_harvest *out, struct dwarf **dwarf_out, const struct object *program,
                              size_t index, const struct object *object, uint64_t base);

#endif
