/*
 * look.c - see look.h.
 */
#include "exit/look.h"

#include "exit/marker.h"
#include "exit/trail.h"
#include "platform/platform.h"
#include "ring/event.h"

#include <string.h>

#define GROWING_NS (250 * MIRE_NS_PER_MS) /* to the next look, while the footprint grows */
#define GROWTH     16                     /* by one part of so many */
#define FD_LOOKS   8                      /* one look in this number counts descriptors, which costs 1 us each */
#define SETTLED_NS (MIRE_NS_PER_S + 20 * MIRE_NS_PER_MS) /* to show that a new foreground lasts */

void mire__look_start(struct evidence_start *out)
{
    mire__cgroup_find(&out->cgroup);
    mire__oom_counts(&out->oom, &out->cgroup);
}

static void fill(struct trail_row *row, struct look *look, struct evidence *evidence)
{
    struct footprint footprint;
    struct memory_room room;

    memset(row, 0, sizeof(*row));
    mire__footprint(&footprint);
    mire__memory_room(&room, &evidence->start.cgroup);
    row->oom = evidence->start.oom; /* at the start it was read just now */
    if (look->count > 0 || mire__boot_now_ns() - evidence->start.boot_ns >= MIRE_LOOK_LEAST_NS)
        mire__oom_counts(&row->oom, &evidence->start.cgroup);
    if (look->count++ % FD_LOOKS == 0)
        look->fd_count = mire__fd_count();
    row->footprint_bytes = footprint.bytes;
    atomic_store(&evidence->file_bytes, footprint.file_bytes);
    row->thread_count = footprint.thread_count;
    row->debugger = footprint.traced;
    row->fd_count = look->fd_count;
    row->limit = (uint8_t)room.limit;
    row->limit_bytes = room.limit_bytes;
    row->used_bytes = room.used_bytes;
    row->available_bytes = room.available_bytes;
    row->pressure_ppm = mire__memory_pressure_ppm(&evidence->start.cgroup);
    row->foreign = (uint16_t)mire__marker_foreign();
    atomic_store(&row->boot_ns, mire__boot_now_ns());
}

/* Time until a foreground that was just entered counts; 0: it counts, or the app is not in the foreground. */
static uint64_t settles_in_ns(const struct evidence *evidence, uint64_t boot_ns)
{
    uint64_t ground = atomic_load(&evidence->ground), since_ns = (ground >> 2) * 1000;

    if ((ground & 3) != MIRE_GROUND_FORE || boot_ns >= since_ns + SETTLED_NS)
        return 0;
    return since_ns + SETTLED_NS - boot_ns;
}

uint64_t mire__look(struct look *look, struct evidence *evidence)
{
    uint64_t now_ns = mire__now_ns(), before, settles_ns;
    struct trail_row row;

    if (look->looked_ns != 0 && now_ns - look->looked_ns < MIRE_LOOK_LEAST_NS)
        return look->looked_ns + MIRE_LOOK_LEAST_NS;
    before = look->footprint_bytes;
    fill(&row, look, evidence);
    mire__trail_add(evidence, &row);
    look->looked_ns = now_ns;
    look->footprint_bytes = row.footprint_bytes;
    settles_ns = settles_in_ns(evidence, row.boot_ns);
    if (before > 0 && row.footprint_bytes > before + before / GROWTH)
        return now_ns + GROWING_NS;
    return settles_ns > 0 ? now_ns + settles_ns : UINT64_MAX;
}
