/*
 * sessions.h - session records summed up: the sums that rates are made of, and the installations that had trouble.
 *
 * Memory, launch, CPU time and frames are spreads: sketches of one value a record, by the weight of the record.
 *
 * The sums are those of session_day and session_end_day (schema/sql/0006_sessions.sql). Pure; one thread at a time.
 */
#ifndef MIRE_ROLLUP_SESSIONS_H
#define MIRE_ROLLUP_SESSIONS_H

#include "model/sketch.h"
#include "rollup/distinct.h"

#include <stdbool.h>

struct pack_in;
struct pack_out;

enum session_sum {
    MIRE_SESSION_SESSIONS_SQ,
    MIRE_SESSION_TIME_MS,
    MIRE_SESSION_SDK_CPU_US,
    MIRE_SESSION_WATCHED, /* sessions that were watched for hangs */
    MIRE_SESSION_WATCHED_SQ,
    MIRE_SESSION_WATCHED_MS,
    MIRE_SESSION_LAGGING,
    MIRE_SESSION_HANGS,
    MIRE_SESSION_HANG_MS,
    MIRE_SESSION_HANG_HANG_SQ,
    MIRE_SESSION_HANG_TIME_SQ,
    MIRE_SESSION_TIME_TIME_SQ,
    MIRE_SESSION_ENDS, /* runs whose end is known; further below, runs with that end */
    MIRE_SESSION_ENDS_SQ,
    MIRE_SESSION_FOOM,
    MIRE_SESSION_WATCHDOG,
    MIRE_SESSION_CRASH,
    MIRE_SESSION_SUMS
};

enum session_group { /* installations of which at least one session of the day is so */
                     MIRE_GROUP_WATCHED,
                     MIRE_GROUP_LAGGING,
                     MIRE_GROUP_ENDED,
                     MIRE_GROUP_FOOM,
                     MIRE_GROUP_WATCHDOG,
                     MIRE_GROUP_CRASH,
                     MIRE_SESSION_GROUPS
};

enum session_spread {                        /* quantities of a session, and their units */
                      MIRE_SPREAD_FOOTPRINT, /* largest, bytes */
                      MIRE_SPREAD_LAUNCH,    /* to the first wait for events, ms */
                      MIRE_SPREAD_CPU,       /* CPU time in its duration, in 10,000ths of one processor */
                      MIRE_SPREAD_DROPPED,   /* dropped frames of all frames, in 10,000ths */
                      MIRE_SESSION_SPREADS
};

struct session_one {
    double sums[MIRE_SESSION_SUMS];
    bool has[MIRE_SESSION_SPREADS];
    uint64_t values[MIRE_SESSION_SPREADS];
    bool groups[MIRE_SESSION_GROUPS];
};

struct session_all {
    double sums[MIRE_SESSION_SUMS];
    struct sketch spreads[MIRE_SESSION_SPREADS];
    struct distinct devices[MIRE_SESSION_GROUPS];
    double user_days, group_days[MIRE_SESSION_GROUPS]; /* of a reader, who knows the days; bytes do not have them */
};

/* Add the session of an installation, which stands for `weight` sessions. 0, or MIRE_FAULT_MEMORY. */
int session_all_add(struct session_all *all, struct arena *arena, const struct session_one *one, uint32_t device,
                    double weight);

/* Add all of `more`. 0, or MIRE_FAULT_MEMORY. */
int session_all_merge(struct session_all *all, struct arena *arena, const struct session_all *more);

/* As bytes, and back; bytes that are none make in->bad. */
void session_all_pack(struct pack_out *out, const struct session_all *all);
void session_all_unpack(struct session_all *out, struct pack_in *in);
void session_one_pack(struct pack_out *out, const struct session_one *one);
void session_one_unpack(struct session_one *out, struct pack_in *in);

#endif
