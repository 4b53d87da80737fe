/*
 * golang.h - functions, files and lines from the table that every Go program contains for its own stack traces
 * (.gopclntab), also if built with -ldflags="-s -w" or stripped. Internal to cache/.
 *
 *     Go 1.2 to 1.15     functions, files, lines; the line of an inlined call counts as the outer function's
 *     Go 1.16 and later  with the inline chain
 */
#ifndef MIRE_CACHE_GOLANG_H
#define MIRE_CACHE_GOLANG_H

#include "dwarf/dwarf.h"

/*
 * Add the functions to a harvest. They rank below all units of DWARF. Invalid data ends its function and counts as a
 * damaged unit. Returns false out of memory.
 */
bool golang_harvest(struct dwarf_harvest *out, const struct object *object, uint64_t base);

#endif
