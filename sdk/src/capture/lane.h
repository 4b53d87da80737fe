/*
 * lane.h - what the check thread knows of one watched thread.
 *
 *     EMPTY --a thread enters--> IDLE --a turn begins--> BUSY --MIRE_MICRO_NS--> LONG --its share--> OPEN
 *                                  ^                       |                       |                   |
 *                                  '------ the turn ends --'-- counted, if long ---'---- and closed ---'
 *
 *     OPEN --a launch, and no wait for MIRE_LAUNCH_NS--> NO_LOOP --it waits after all--> IDLE
 *
 * In LONG and later the gate wakes the check thread at the turn's end, to the nanosecond. Private to capture/. Thread:
 * check thread.
 */
#ifndef MIRE_CAPTURE_LANE_H
#define MIRE_CAPTURE_LANE_H

#include "capture/record.h"

enum lane_state { LANE_EMPTY, LANE_IDLE, LANE_BUSY, LANE_LONG, LANE_OPEN, LANE_NO_LOOP };

struct lane_watch {
    struct record record; /* record.lane is this lane's number */
    enum lane_state state;
    bool parked; /* in IDLE: the next turn will wake the check thread */
    bool launch; /* this turn began before the thread had waited once */
    uint32_t tid;
    uint64_t turn;               /* the gate's, when last looked at */
    uint64_t since_ns;           /* when it began, if busy */
    uint64_t late_ns;            /* of it: the process was stopped, or starved */
    uint64_t suspended_ns;       /* beside it: the machine slept */
    uint64_t cpu_ns;             /* of the thread, when last looked at */
    uint64_t due_ns;             /* of the next sample */
    uint64_t sampled_ns;         /* of the last one, 0 before the first */
    uint64_t excused_ns;         /* lateness since then */
    _Atomic uint64_t *open_turn; /* the turn whose record is open, or still to be handed over; 0 if none. For others */
};

/*
 * Look at the lane. Returns when to look again: CLOCK_MONOTONIC, UINT64_MAX when it wakes by itself, which one in IDLE
 * does once it is parked.
 */
uint64_t mire__lane_step(struct check *check, struct lane_watch *lane);

/* The watch ends, and what is open with it. */
void mire__lane_stop(struct check *check, struct lane_watch *lane);

#endif
