/*
 * golang.h - the functions, files and lines that every Go program keeps for its own stack traces (.gopclntab), also one
 * built with -ldflags="-s -w" or stripped. Inside cache/ only.
 *
 *     Go 1.2 to 1.15     functions, files, lines; an inlined call's line stands under the function it is inlined into
 *     Go 1.16 and later  with the chain of inlined calls
 */
#ifndef MIRE_CACHE_GOLANG_H
#define MIRE_CACHE_GOLANG_H

#include "dwarf/dwarf.h"

/*
 * Add them to a harvest, in which they rank below all units of DWARF. What makes no sense ends the function it is of,
 * and counts as a damaged unit. False: out of memory.
 */
bool golang_harvest(struct dwarf_harvest *out, const struct object *object, uint64_t base);

#endif
