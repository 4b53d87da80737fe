/*
 * process.h - records of the process as a whole, in lane MIRE_LANE_PROCESS: what it uses too much of (usage.h), frames
 * that were dropped (scene.h), and what the app asks for (demand.h). One at a time: who matters more takes the lane,
 * and whoever had it begins anew when its condition still holds.
 *
 * Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_PROCESS_H
#define MIRE_CAPTURE_PROCESS_H

#include "capture/busy.h"
#include "capture/record.h"

struct process_record {
    uint32_t begun_tid; /* the check thread that it has begun on; 0: on none yet */
    struct record record;
    struct busy busy; /* of whoever has the lane */
};

/* The row in watch.c's table. */
extern const struct check_step mire__process_monitor;

/* Has this one the lane? */
bool mire__process_has(const struct process_record *of, enum mire__trigger trigger);

/*
 * Open a record: begin_ns, trigger and the facts of its kind are told, the rest is filled in. Returns false if one that
 * matters as much or more has the lane.
 */
bool mire__process_open(struct check *check, struct process_record *of, const struct hang *hang);

/* It was nothing; no effect where another has the lane. */
void mire__process_forget(struct check *check, struct process_record *of, enum mire__trigger trigger);

/* How long between two rounds of samples that are `times` as far apart as a hang's. */
uint64_t mire__process_period_ns(const struct check *check, const struct process_record *of, uint32_t times);

#endif
