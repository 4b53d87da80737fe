/*
 * ramp.h - a rollout share that is raised step by step while no guard trips.
 *
 *     RUNNING --held long enough, nothing wrong--> next step ... last step --> DONE
 *        |  '-- a guard trips --> PAUSED, or STOPPED: the share is what it was before
 *        '-- somebody pauses, or changes the share by hand --> PAUSED --resume--> RUNNING
 *
 * The sample: sessions with the plugin on. The control: sessions of the same channels with the plugin off. Both are
 * drawn at random, so they differ in nothing else. Pure: all observations are arguments. Thread: any.
 */
#ifndef MIRE_ROLLOUT_RAMP_H
#define MIRE_ROLLOUT_RAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_RAMP_STEPS_MAX  16
#define MIRE_RAMP_HOLD_MIN_S 60
#define MIRE_RAMP_HOLD_MAX_S (30 * 86400)
#define MIRE_RAMP_LEAST_RECORDS \
    100 /* session records with the plugin on, and as many without, before a step says anything */
#define MIRE_RAMP_NOTE_BYTES 200

/* Guards; a limit of 0 is not checked. */
struct ramp_guards {
    double crash_points;     /* runs that end badly: at most so many percentage points more than the control's */
    double cpu_percent;      /* CPU of the library where the plugin is on, of one processor */
    double reports_per_hour; /* of the app */
};

enum ramp_state { MIRE_RAMP_RUNNING, MIRE_RAMP_PAUSED, MIRE_RAMP_DONE, MIRE_RAMP_STOPPED, MIRE_RAMP_STATES };

/* "running", "paused", "done", "stopped". Static. */
const char *ramp_state_name(enum ramp_state state);

struct ramp {
    uint32_t steps[MIRE_RAMP_STEPS_MAX]; /* millionths, rising */
    size_t step_count;
    size_t step; /* the step in force, from 0 */
    int64_t hold_s;
    int64_t step_since_s; /* its begin */
    struct ramp_guards guards;
    bool backs; /* a guard that trips restores the share before the ramp; otherwise the ramp pauses */
};

/* One arm since the begin of the step: sums of weights, and of squared weights. */
struct ramp_arm {
    int64_t records;
    double ends, ends_sq, bad; /* bad: crash, abort, foom, killed while stuck */
    double time_ms, sdk_cpu_us;
};

struct ramp_seen {
    int64_t now_s;
    uint32_t ppm; /* the share in the rule now; above a million: the rule or its plugin is gone */
    struct ramp_arm sampled, control;
    double reports_last_hour;
};

enum ramp_move {
    MIRE_RAMP_STAYS,
    MIRE_RAMP_NEXT,  /* the next step */
    MIRE_RAMP_ENDS,  /* the last step has held: done */
    MIRE_RAMP_PAUSE, /* see note */
    MIRE_RAMP_BACK,  /* see note */
};

/*
 * The next step of a running ramp.
 *   note  why, or what it waits for; for people
 */
enum ramp_move ramp_decide(char note[MIRE_RAMP_NOTE_BYTES], const struct ramp *ramp, const struct ramp_seen *seen);

/*
 * By how many percentage points more runs of the sampled end badly than of the control, at least: with 97.5 %
 * confidence it is not less. Negative if nothing is known.
 */
double ramp_excess(const struct ramp_arm *sampled, const struct ramp_arm *control);

#endif
