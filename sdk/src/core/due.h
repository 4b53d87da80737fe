/*
 * due.h - decides when to report the process's memory, or to take a snapshot for a later report. Pure. Private to
 * core/.
 *
 *     each look ----> pressure?   the system stalls for memory, or the limit is near
 *               ----> footprint?  above the app's threshold; again after growth by a quarter
 *               ----> baseline?   healthy for a time, for twice, four times that time ...
 *               ----> snapshot?   the last snapshot, from which growth is computed, is old
 *
 * It causes no wake-ups: it is called at looks at the process, which happen while the process uses the CPU.
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
    uint64_t wait_ns; /* from the last baseline to the next */
    uint64_t trouble_ns[2];
    uint64_t footprint_bytes; /* at the last report of it */
    uint32_t trouble_count;
};

/*
 * Decide what is due now; it counts as done.
 *   row  the newest look
 */
enum memory_due mire__due(struct due *due, const struct trail_row *row, uint64_t now_ns,
                          const struct capture_settings *settings);

/* A report was made on demand, and a snapshot with it. */
void mire__due_reported(struct due *due, uint64_t now_ns);

/* The report's trigger, static; NULL if there is no report. */
const char *mire__due_trigger(enum memory_due what);

#endif
