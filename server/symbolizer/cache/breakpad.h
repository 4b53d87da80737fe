/*
 * breakpad.h - converts lines and inlined calls of a Breakpad file to a harvest, as if from DWARF. Internal to cache/.
 */
#ifndef MIRE_CACHE_BREAKPAD_H
#define MIRE_CACHE_BREAKPAD_H

#include "dwarf/dwarf.h"

/*
 * Read the functions.
 *
 *   out     its names and paths point into the object
 *   object  of format MIRE_FORMAT_BREAKPAD
 *   base    start address of the offsets
 *
 * Invalid lines are skipped. Returns false out of memory.
 */
bool breakpad_harvest(struct dwarf_harvest *out, const struct object *object, uint64_t base);

#endif
