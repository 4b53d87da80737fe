/*
 * claims.h - which unit has a function already. Inside dwarf/ only.
 *
 * The linker keeps one of many equal functions, and each unit that had one goes on telling of it. Reading them again is
 * a waste, no more: whoever is asked last sees to it that the lowest unit is right. So this table may forget.
 *
 * Any thread. The table never grows; what finds no room in it is simply read again.
 */
#ifndef MIRE_DWARF_CLAIMS_H
#define MIRE_DWARF_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

struct claims;

/* For about so many bytes of .debug_info. NULL: out of memory. */
struct claims *claims_new(uint64_t info_bytes);
void claims_free(struct claims *claims);

/* Claim [low, high) for a unit. False: a lower one has exactly that. */
bool claims_take(struct claims *claims, uint32_t low, uint32_t high, uint32_t unit);

#endif
