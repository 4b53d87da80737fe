/*
 * due.h - when a process's memory is to be reported, or remembered for the report after. Pure. Private to core/.
 *
 *     looked at ----> pressure?   the system stalls for want of memory, or the limit is near
 *               ----> footprint?  beyond the app's own threshold; again when a quarter more
 *               ----> baseline?   well and alive for so long, twice as long, four times as long ...
 *               ----> snapshot?   the last one is so old; what grows is counted from it
 *
 * Nothing here wakes anybody: it is asked when the process was looked at, which is while it uses the processor.
 */
#ifndef MIRE_CORE_DUE_H
#define MIRE_CORE_DUE_H

#include "capture/settings.h"
#include "exit/evidence.h"

enum memory_due { MIRE_DUE_NOTHING, MIRE_DUE_SNAPSHOT, MIRE_DUE_BASELINE, MIRE_DUE_FOOTPRINT, MIRE_DUE_PRESSURE };

#define MIRE_DUE_REST_NS (600 * MIRE_NS_PER_S) /* between two reports of one kind of trouble */
#define MIRE_DUE_RUN_MAX 8u                    /* reports of trouble in one run */

struct due {
    uint64_t start_ns;    /* CLOCK_MONOTONIC, as all times here; set by its owner, the rest zeroed */
    uint64_t snapshot_ns; /* the last one, of a report too */
    uint64_t baseline_ns;
    uint64_t wait_ns; /* from that to the next */
    uint64_t trouble_ns[2];
    uint64_t footprint_bytes; /* at the last report of it */
    uint32_t trouble_count;
};

/*
 * What is due now? It is taken as done.
 *   row  the newest
 */
enum memory_due mire__due(struct due *due, const struct trail_row *row, uint64_t now_ns,
                          const struct capture_settings *settings);

/* A report was made on demand: a snapshot was taken with it. */
void mire__due_reported(struct due *due, uint64_t now_ns);

/* The report's trigger; static. NULL for what is not reported. */
const char *mire__due_trigger(enum memory_due what);

#endif
