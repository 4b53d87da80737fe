/* trail.c - see trail.h. Signal-safe: arithmetic on the caller's memory only. */
#include "exit/trail.h"

#include <string.h>

/* Indices of the rows in use, oldest first. */
static uint32_t sort(uint32_t order[MIRE_TRAIL_ROWS], const struct evidence *evidence)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < MIRE_TRAIL_ROWS; i++) {
        uint64_t boot_ns = atomic_load(&evidence->trail[i].boot_ns);
        uint32_t at = count;

        if (boot_ns == 0)
            continue;
        for (; at > 0 && evidence->trail[order[at - 1]].boot_ns > boot_ns; at--)
            order[at] = order[at - 1];
        order[at] = i;
        count++;
    }
    return count;
}

/* The row of a full trail that is replaced: the one with the shortest time between its neighbours, relative to its age.
 * The first row is the start, and stays. */
static uint32_t least_missed(const uint32_t order[MIRE_TRAIL_ROWS], const struct evidence *evidence, uint64_t now_ns)
{
    uint32_t least = 1;
    double least_share = 0;

    for (uint32_t i = 1; i + MIRE_TRAIL_KEEP < MIRE_TRAIL_ROWS; i++) {
        uint64_t at_ns = evidence->trail[order[i]].boot_ns;
        uint64_t gap_ns = evidence->trail[order[i + 1]].boot_ns - evidence->trail[order[i - 1]].boot_ns;
        double share = (double)gap_ns / ((double)(now_ns - at_ns) + 1);

        if (i == 1 || share < least_share) {
            least = i;
            least_share = share;
        }
    }
    return order[least];
}

static uint32_t free_row(const struct evidence *evidence)
{
    for (uint32_t i = 0; i < MIRE_TRAIL_ROWS; i++)
        if (atomic_load(&evidence->trail[i].boot_ns) == 0)
            return i;
    return MIRE_TRAIL_ROWS;
}

void mire__trail_add(struct evidence *evidence, const struct trail_row *row)
{
    uint32_t order[MIRE_TRAIL_ROWS], at = free_row(evidence);
    struct trail_row *to;

    if (at == MIRE_TRAIL_ROWS) {
        sort(order, evidence);
        at = least_missed(order, evidence, row->boot_ns);
    }
    to = &evidence->trail[at];
    atomic_store(&to->boot_ns, 0);
    memcpy((char *)to + sizeof(to->boot_ns), (const char *)row + sizeof(row->boot_ns),
           sizeof(*row) - sizeof(row->boot_ns));
    atomic_store(&to->boot_ns, row->boot_ns);
    if (row->footprint_bytes > atomic_load(&evidence->footprint_peak_bytes))
        atomic_store(&evidence->footprint_peak_bytes, row->footprint_bytes);
}

uint32_t mire__trail_copy(struct trail_row out[MIRE_TRAIL_ROWS], const struct evidence *evidence)
{
    uint32_t order[MIRE_TRAIL_ROWS], count = sort(order, evidence), copied = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct trail_row *from = &evidence->trail[order[i]];
        uint64_t boot_ns = atomic_load(&from->boot_ns);

        memcpy(&out[copied], from, sizeof(*from));
        atomic_thread_fence(memory_order_acquire);
        if (boot_ns == 0 || atomic_load(&from->boot_ns) != boot_ns)
            continue;
        atomic_store(&out[copied].boot_ns, boot_ns);
        copied++;
    }
    return copied;
}
