/*
 * lane.h - the check thread's view of one watched thread.
 *
 *     EMPTY --a thread enters--> IDLE --a turn begins--> BUSY --MIRE_MICRO_NS--> LONG --its share--> OPEN
 *                                  ^                       |                       |                   |
 *                                  '------ the turn ends --'-- counted, if long ---'---- and closed ---'
 *
 *     OPEN --a launch, and no wait for MIRE_LAUNCH_NS--> NO_LOOP --it waits after all--> IDLE
 *
 *     OPEN --a sample shows that the loop waits, in a call without a hook--> RESTING --it works again--> BUSY
 *
 * A lane that stays in IDLE for a while is parked: its next turn wakes the check thread. In LONG and later the gate
 * wakes the check thread at the end of the turn, and stores the exact time. Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_LANE_H
#define MIRE_CAPTURE_LANE_H

#include "capture/asking.h"
#include "capture/loop.h"
#include "capture/record.h"
#include "gate/gate.h"

enum lane_state { LANE_EMPTY, LANE_IDLE, LANE_RESTING, LANE_BUSY, LANE_LONG, LANE_OPEN, LANE_NO_LOOP };

/*
 * The state for a loop that sleeps in calls without a hook. The gate sees one endless turn; samples distinguish work from
 * waiting. Between two samples only the sum of the thread's time is known. So if such a loop may have slept in between,
 * the samples count as one turn only if they cannot all have met it at work by chance.
 */
struct rest {
    bool rests;              /* the loop was seen to wait in this way */
    bool suspect;            /* it may have waited so in this turn */
    bool broken;             /* it slept between two samples at which it ran; where is unknown */
    uint64_t slept_ppm;      /* the shares of these intervals that it slept, summed up */
    uint64_t seen_ns;        /* of the last sample, or look; 0: none in this turn */
    uint64_t awake_ns;       /* how long the thread had been awake then, in all */
    uint64_t cpu_ns;         /* and its CPU time */
    uint64_t ran_ns;         /* samples have met it running since then, each; 0: the last one did not */
    uint64_t ran_awake_ns;   /* how long it had been awake then */
    uint64_t slept_ns;       /* since then, as the last sample has it: time in a processor's queue may still be in it */
    uint64_t sure_ns;        /* of it, what two samples say */
    uint64_t switches;       /* how often the thread had left the processor by itself, at the last reading */
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
    bool unanswered; /* the open event is of a ping without an answer; the state is then not OPEN */
    bool launch;     /* this turn began before the thread's first wait */
    uint32_t tid;
    struct asking asking;
    struct loop loop;
    struct rest rest;
    uint64_t slack_ns;     /* the turn may have begun up to this before since_ns */
    uint64_t turn;         /* the gate's turn at the last step */
    uint64_t since_ns;     /* begin of the turn, if busy */
    uint64_t late_ns;      /* time of the turn in which the process was stopped or starved */
    uint64_t suspended_ns; /* time beside it in which the machine slept */
    uint64_t stepped_ns;   /* the begin of the last step, and the thread's CPU time then */
    uint64_t cpu_ns;
    uint64_t waited_ns;          /* late.h: how long the thread had waited for a processor at the last reading */
    uint64_t owed_ns;            /* late.h: lateness in which the thread may have waited for one, and waits still */
    uint64_t park_ns;            /* in IDLE: time from which a lane without turns is parked */
    uint64_t due_ns;             /* time of the next sample */
    uint64_t sampled_ns;         /* time of the last sample; 0 before the first */
    uint64_t excused_ns;         /* lateness since then */
    _Atomic uint64_t *open_turn; /* the turn whose event is open or not yet handed over; 0: none. Read by others */
};

/*
 * Step the lane. Returns the time of the next step: CLOCK_MONOTONIC; UINT64_MAX if the lane wakes the check thread by
 * itself, as a parked one does.
 */
uint64_t mire__lane_step(struct check *check, struct lane_watch *lane);

/* Inside lane.c: sample the open event if it is due, and store it. Returns the time of the next step. */
uint64_t mire__lane_follow(struct check *check, struct lane_watch *lane, const struct gate_view *view);

/* Inside lane.c: the open turn has ended at end_ns. Closes its event if it is a hang, otherwise discards it. */
void mire__lane_finish(struct check *check, struct lane_watch *lane, uint64_t end_ns);
uint64_t mire__lane_threshold_ms(const struct check *check, const struct lane_watch *lane);

/*
 * rest.c. begin: a turn begins. work: a sample of the turn does not show the loop waiting. period_ns: the time to the
 * next sample. is_one_turn: the samples so far are one turn.
 */
void mire__rest_begin(struct lane_watch *lane);
void mire__rest_work(struct lane_watch *lane, const struct sample *sample, enum loop_sleep sleep);
uint64_t mire__rest_period_ns(const struct lane_watch *lane, uint64_t period_ns);
bool mire__rest_is_one_turn(const struct lane_watch *lane);

/*
 * rest.c: the last sample shows that the loop waits: the work has ended, and the lane is RESTING.
 *   before  the undecided samples before it were of the wait as well
 */
void mire__rest_enter(struct check *check, struct lane_watch *lane, bool before);

/* rest.c: step a lane in RESTING, which may then be BUSY. Returns the time of the next step. */
uint64_t mire__rest_step(struct check *check, struct lane_watch *lane, const struct gate_view *view);

/*
 * Ping the lane's loop, and keep the event of a loop without an answer. Returns the time of the next step.
 *   late_ns  the thread was kept from running for that long since the last step
 */
uint64_t mire__lane_ask(struct check *check, struct lane_watch *lane, const struct gate_view *view, uint64_t late_ns);

/* Watching ends: close the open event. */
void mire__lane_stop(struct check *check, struct lane_watch *lane);

#endif
