/*
 * hanger.h - a program that hangs by a plan, and records its turns.
 *
 *     hanger LOOP CHURN PLAN TRUTH DATA
 *
 *     LOOP   epoll, glib or uv; on a thread of its own, watched by its name (epoll@name) or by a call (epoll@call)
 *     CHURN  work of other threads meanwhile, joined by '+': malloc, dlopen, fork, exit; or none
 *     PLAN   steps joined by ',': cause/place/number/length_ms/phase
 *              cause   cpu, file, sleep, mutex, condvar, pagein; mixed (each kind of CHURN, one after the other);
 *                      stop (the process is stopped for length_ms);
 *                      kill (it computes until it is killed after length_ms; the last step)
 *              place   middle (planted_middle_NUMBER is constant, its callees vary), leaf (planted_leaf_NUMBER);
 *                      of a stop: idle, busy (it computes for less than the threshold),
 *                      hang (it computes for length_ms and is stopped as long)
 *              phase   launch (before the loop has waited), running, background
 *
 * A handler of the loop, its scene, takes a step: planted_scene_N mod 8 for step N, or planted_timer_N mod 8 with
 * libuv, whose handlers have another type. main takes a step before the loop has waited.
 *
 *     TRUTH  output file, written at the end
 *     DATA   file of 16 MiB or more to read from
 *
 * A line of TRUTH is a turn of the loop that was planned, or was long without a plan:
 *
 *     turn STEP BEGIN_NS END_NS WAITED_NS OWNER_TID CUT
 *
 *     STEP       number of the plan's step; -1: not planned
 *     BEGIN_NS, END_NS   CLOCK_MONOTONIC right after the poll call before it and right before the one that ended it
 *     WAITED_NS  time of the main thread and of Mire's check thread in the scheduler's queue meanwhile
 *     OWNER_TID  thread that held the mutex; 0: none
 *     CUT        number of sleeps that ended early
 *
 * The turn of a kill has no END_NS; the line "killed END_NS" follows.
 *
 * Built with WITH_MIRE it starts libmire itself, from MIRE_STORE, MIRE_THRESHOLD_MS and MIRE_PERIOD_MS.
 */
#ifndef MIRE_CORPUS_HANGER_H
#define MIRE_CORPUS_HANGER_H

#include <stdbool.h>
#include <stdint.h>

#define STAY         __attribute__((noinline))
#define KEEP_FRAME() __asm__ volatile("" ::: "memory") /* prevents a tail call */

#define STEPS_MAX     64
#define THREAD_NAME   "corpus-ui"
#define PLANTED_COUNT 8
#define DATA_BYTES    (16u << 20)

#define EACH_PLANTED(MAKE) MAKE(0) MAKE(1) MAKE(2) MAKE(3) MAKE(4) MAKE(5) MAKE(6) MAKE(7)

enum cause {
    CAUSE_CPU,
    CAUSE_FILE,
    CAUSE_SLEEP,
    CAUSE_MUTEX,
    CAUSE_CONDVAR,
    CAUSE_PAGEIN,
    CAUSE_MIXED,
    CAUSE_STOP,
    CAUSE_KILL,
    CAUSE_COUNT
};
enum place { PLACE_MIDDLE, PLACE_LEAF, PLACE_IDLE, PLACE_BUSY, PLACE_HANG, PLACE_COUNT };
enum phase { PHASE_LAUNCH, PHASE_RUNNING, PHASE_BACKGROUND, PHASE_COUNT };

struct step {
    enum cause cause;
    enum place place;
    enum phase phase;
    unsigned number; /* number of the planted function */
    unsigned length_ms;
};

uint64_t now_ns(void);
void sleep_until_ns(uint64_t deadline_ns);

/* ---- truth.c: the record of turns. Main thread. ---- */

void truth_begin(void);            /* call it right after a poll call */
void truth_end(void);              /* call it right before the next one */
void truth_step(int step);         /* the current turn is this step of the plan */
void truth_owner(uint32_t tid);    /* this thread holds the mutex of the current turn */
void truth_cut(void);              /* a sleep of this turn ended early */
bool truth_write(void);            /* false: write error */
bool truth_write_open(void);       /* the same, with the current turn */
void truth_killed(void);           /* another process kills this one next */
void truth_file(const char *path); /* path of the record; borrowed */

/* ---- causes.c: the hangs ---- */

bool causes_open(const char *data_path); /* false: the data cannot be read, or the helpers cannot be started */
void causes_close(void);
void hang(const struct step *step);

/* ---- churn.c: the other threads ---- */

bool churn_start(const char *kinds); /* false: unknown kind, or no thread */
void churn_stop(void);
void churn_once(void); /* each kind once, on the caller's thread */

/* ---- sdk.c ---- */

bool sdk_start(void);
bool sdk_watch(void); /* watch the calling thread; only if libmire is linked */
void sdk_set_foreground(bool foreground);

/* ---- hanger.c: the scenes ---- */

typedef int scene_fn(void *unused); /* returns 0: it is called once */

extern scene_fn *const scenes[PLANTED_COUNT];

void take_turn(void); /* the body of every scene: take the next step, or nothing; then loop_again */

/* ---- loops.c ---- */

/*
 * Wait in the loop for 20 ms or more, let the loop call scene next(), and repeat until next() returns a number below 0.
 * Returns false if this build has no such loop.
 */
bool loop_run(const char *name, int (*next)(void));

/* A scene has ended. */
void loop_again(void);

#endif
