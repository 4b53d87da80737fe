/*
 * claims.c - a hash table from a range to the lowest unit that claimed it. Relaxed order is enough: no other memory
 * depends on a claim.
 *
 * A row is claimed without a read before the write. A read of new memory would map the shared zero page, and the write
 * after it would then interrupt every thread to replace the page.
 */
#include "dwarf/claims.h"

#include <stdatomic.h>
#include <stdlib.h>

#define PROBES_MAX   16
#define BYTES_OF_ONE 512 /* average bytes of .debug_info for a function */
#define ROOM_MAX     (1u << 22)

struct claim {
    _Atomic uint64_t range; /* low << 32 | bytes; 0: free */
    _Atomic uint32_t unit;  /* unit plus one; 0: being claimed */
};

struct claims {
    uint64_t mask;
    struct claim rows[];
};

struct claims *claims_new(uint64_t info_bytes)
{
    uint64_t room = 1024;
    while (room < info_bytes / BYTES_OF_ONE && room < ROOM_MAX)
        room *= 2;
    struct claims *claims = calloc(1, sizeof *claims + room * sizeof claims->rows[0]);
    if (claims)
        claims->mask = room - 1;
    return claims;
}

void claims_free(struct claims *claims)
{
    free(claims);
}

bool claims_take(struct claims *claims, uint32_t low, uint32_t high, uint32_t unit)
{
    uint64_t range = (uint64_t)low << 32 | (high - low);
    uint64_t at = range * 0x9e3779b97f4a7c15ull >> 32;
    for (unsigned i = 0; i < PROBES_MAX; i++) {
        struct claim *claim = &claims->rows[(at + i) & claims->mask];
        uint64_t found = 0;
        if (!atomic_compare_exchange_strong_explicit(&claim->range, &found, range, memory_order_relaxed,
                                                     memory_order_relaxed) &&
            found != range)
            continue;
        uint32_t owner = atomic_load_explicit(&claim->unit, memory_order_relaxed);
        while (!owner || owner > unit + 1)
            if (atomic_compare_exchange_weak_explicit(&claim->unit, &owner, unit + 1, memory_order_relaxed,
                                                      memory_order_relaxed))
                return true;
        return owner == unit + 1;
    }
    return true;
}
