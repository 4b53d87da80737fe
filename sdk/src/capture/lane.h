/*
 * lane.h - what the check thread knows of one watched thread.
 *
 *     EMPTY --a thread enters--> IDLE --a turn begins--> BUSY --MIRE_MICRO_NS--> LONG --its share--> OPEN
 *                                  ^                       |                       |                   |
 *                                  '------ the turn ends --'-- counted, if long ---'---- and closed ---'
 *
 *     OPEN --a launch, and no wait for MIRE_LAUNCH_NS--> NO_LOOP --it waits after all--> IDLE
 *
 * A lane in IDLE is parked, to be woken by its next turn, once it has not turned for a while. In LONG and later the
 * gate wakes the check thread at the turn's end, to the nanosecond. Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_LANE_H
#define MIRE_CAPTURE_LANE_H

#include "capture/asking.h"
#include "capture/record.h"
#include "gate/gate.h"

enum lane_state { LANE_EMPTY, LANE_IDLE, LANE_BUSY, LANE_LONG, LANE_OPEN, LANE_NO_LOOP };

struct lane_watch {
    struct record record; /* record.lane is this lane's number */
    enum lane_state state;
    bool parked;     /* in IDLE: the next turn will wake the check thread */
    bool unanswered; /* the record that is open is of a ping without answer; the state is not OPEN then */
    bool launch;     /* this turn began before the thread had waited once */
    uint32_t tid;
    struct asking asking;
    uint64_t turn;               /* the gate's, when last looked at */
    uint64_t since_ns;           /* when it began, if busy */
    uint64_t late_ns;            /* of it: the process was stopped, or starved */
    uint64_t suspended_ns;       /* beside it: the machine slept */
    uint64_t cpu_ns;             /* of the thread, when last looked at */
    uint64_t park_ns;            /* in IDLE: from then on it may be parked, if it has not turned */
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

/* Inside of lane.c: take a sample of the open record if it is time for one, and keep it. Returns when to come again. */
uint64_t mire__lane_follow(struct check *check, struct lane_watch *lane);

/* Ask the lane's loop, and see to the record of one that does not answer. Returns when to look again. */
uint64_t mire__lane_ask(struct check *check, struct lane_watch *lane, const struct gate_view *view);

/* The watch ends, and what is open with it. */
void mire__lane_stop(struct check *check, struct lane_watch *lane);

#endif
