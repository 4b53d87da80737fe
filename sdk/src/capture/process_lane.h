/*
 * process_lane.h - the lane of events of the process as a whole, MIRE_LANE_PROCESS. It has one event at a time: an event
 * of higher priority takes the lane, and the other one begins again while its condition holds.
 *
 * Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_PROCESS_LANE_H
#define MIRE_CAPTURE_PROCESS_LANE_H

#include "capture/busy.h"
#include "capture/record.h"

struct process_record {
    uint32_t begun_tid; /* the check thread that it began on; 0: none yet */
    struct record record;
    struct busy busy; /* of the event in the lane */
};

/* Does an event of this trigger have the lane? */
bool mire__process_has(const struct process_record *of, enum mire__trigger trigger);

/*
 * Open an event. The caller sets begin_ns, trigger and the facts of the trigger. Returns false if an event of the same
 * or a higher priority has the lane.
 */
bool mire__process_open(struct check *check, struct process_record *of, const struct event *event);

/* Discard the event; no effect if another one has the lane. */
void mire__process_forget(struct check *check, struct process_record *of, enum mire__trigger trigger);

/* Time between two rounds of samples: `times` the sampling period of hangs. */
uint64_t mire__process_period_ns(const struct check *check, const struct process_record *of, uint32_t times);

#endif
