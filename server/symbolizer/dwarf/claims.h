/*
 * claims.h - a table of the functions that were read, with the unit that claimed each. Internal to dwarf/.
 *
 * The linker keeps one of several equal functions, and every unit that had one still describes it. Reading such a
 * description again costs time and does no harm, since cache/merge.c prefers the lowest unit. The table may
 * therefore forget a claim: its size is fixed, and a function without room in the table is read again.
 *
 * Thread: any.
 */
#ifndef MIRE_DWARF_CLAIMS_H
#define MIRE_DWARF_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

struct claims;

/* Create a table for about info_bytes of .debug_info. NULL: out of memory. */
struct claims *claims_new(uint64_t info_bytes);
void claims_free(struct claims *claims);

/* Claim [low, high) for a unit. Returns false if a lower unit has claimed exactly this range. */
bool claims_take(struct claims *claims, uint32_t low, uint32_t high, uint32_t unit);

#endif
