/*
 * breakpad.h - lines and inlined calls of a Breakpad file, as if they had been in DWARF. Inside cache/ only.
 */
#ifndef MIRE_CACHE_BREAKPAD_H
#define MIRE_CACHE_BREAKPAD_H

#include "dwarf/dwarf.h"

/*
 * Read the functions.
 *
 *   out     names and paths in it lie in the object
 *   object  of format MIRE_FORMAT_BREAKPAD
 *   base    what offsets count from
 *
 * Lines that make no sense are passed over. Returns false out of memory.
 */
bool breakpad_harvest(struct dwarf_harvest *out, const struct object *object, uint64_t base);

#endif
