/*
 * lane.h - what the check thread knows of one watched thread.
 *
 *     EMPTY --a thread enters--> IDLE --a turn begins--> BUSY --MIRE_MICRO_NS--> LONG --its share--> OPEN
 *                                  ^                       |                       |                   |
 *                                  '------ the turn ends --'-- counted, if long ---'---- and closed ---'
 *
 *     OPEN --a launch, and no wait for MIRE_LAUNCH_NS--> NO_LOOP --it waits after all--> IDLE
 *
 *     OPEN --a sample shows that the loop waits, in a call without a hook--> RESTING --it works again--> BUSY
 *
 * A lane in IDLE is parked, to be woken by its next turn, once it has not turned for a while. In LONG and later the
 * gate wakes the check thread at the turn's end, to the nanosecond. Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_LANE_H
#define MIRE_CAPTURE_LANE_H

#include "capture/asking.h"
#include "capture/loop.h"
#include "capture/record.h"
#include "gate/gate.h"

enum lane_state { LANE_EMPTY, LANE_IDLE, LANE_RESTING, LANE_BUSY, LANE_LONG, LANE_OPEN, LANE_NO_LOOP };

/*
 * Of a loop that sleeps in calls without a hook: the gate sees one turn, in which samples tell work from waiting.
 * Of the thread's time between two samples only the sum is known. So where such a loop may have slept in between, a
 * turn is one only if so many samples in a row cannot all have met it at work by chance.
 */
struct rest {
    bool rests;              /* the loop was seen to wait so */
    bool suspect;            /* or perhaps, in this turn */
    bool broken;             /* between two samples at which it ran it slept, no one knows where */
    uint64_t slept_ppm;      /* the shares of these intervals in which it slept, summed up */
    uint64_t seen_ns;        /* of the last sample, or look; 0: none in this turn */
    uint64_t awake_ns;       /* how long the thread had been awake then, in all */
    uint64_t cpu_ns;         /* and its CPU time */
    uint64_t ran_ns;         /* samples have met it running since then, each; 0: the last one did not */
    uint64_t ran_awake_ns;   /* how long it had been awake then */
    uint64_t slept_ns;       /* since then, as the last sample has it: time in a processor's queue may still be in it */
    uint64_t sure_ns;        /* of it, what two samples say */
    uint64_t piece_ns;       /* no sample since then leaves room for the loop's wait; 0: the last one does */
    uint64_t longest_ns;     /* of these pieces */
    uint64_t maybe_ns;       /* the work may have ended then, if the sleep that followed turns out to be the loop's */
    uint64_t maybe_awake_ns; /* and how long the thread had been awake at the sample that says so */
    uint64_t look_ns;        /* in RESTING: the next look */
    uint64_t pause_ns;       /* in RESTING: from the last one to it */
};

struct lane_watch {
    struct record record; /* record.lane is this lane's number */
    enum lane_state state;
    bool parked;     /* in IDLE: the next turn will wake the check thread */
    bool unanswered; /* the record that is open is of a ping without answer; the state is not OPEN then */
    bool launch;     /* this turn began before the thread had waited once */
    uint32_t tid;
    struct asking asking;
    struct loop loop;
    struct rest rest;
    uint64_t slack_ns;           /* the turn may have begun so much before since_ns: a look found it */
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
uint64_t mire__lane_follow(struct check *check, struct lane_watch *lane, const struct gate_view *view);

/* Inside of lane.c: the open turn has ended at end_ns. Its record is closed if it is a hang, else forgotten. */
void mire__lane_finish(struct check *check, struct lane_watch *lane, uint64_t end_ns);
uint64_t mire__lane_threshold_ms(const struct check *check, const struct lane_watch *lane);

/*
 * rest.c: a turn begins; a sample of it was taken, and does not show the loop waiting; the next one is taken so much
 * later; what was seen of it makes up one turn.
 */
void mire__rest_begin(struct lane_watch *lane);
void mire__rest_work(struct lane_watch *lane, const struct sample *sample, enum loop_sleep sleep);
uint64_t mire__rest_period_ns(const struct lane_watch *lane, uint64_t period_ns);
bool mire__rest_is_one_turn(const struct lane_watch *lane);

/*
 * rest.c: the last sample shows that the loop waits: the work has ended, and the lane rests.
 *   before  the samples that left it open were of the wait as well
 */
void mire__rest_enter(struct check *check, struct lane_watch *lane, bool before);

/* rest.c: look at a lane that rests. It may be BUSY afterwards. Returns when to come again. */
uint64_t mire__rest_step(struct check *check, struct lane_watch *lane, const struct gate_view *view);

/* Ask the lane's loop, and see to the record of one that does not answer. Returns when to look again. */
uint64_t mire__lane_ask(struct check *check, struct lane_watch *lane, const struct gate_view *view);

/* The watch ends, and what is open with it. */
void mire__lane_stop(struct check *check, struct lane_watch *lane);

#endif
