/*
 * sessions.h - session records summed up: the sums that rates are made of, and the installations that had trouble.
 *
 * The sums are those of session_day and session_end_day (schema/sql/0006_sessions.sql). Pure; one thread at a time.
 */
#ifndef MIRE_ROLLUP_SESSIONS_H
#define MIRE_ROLLUP_SESSIONS_H

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

struct session_one {
    double sums[MIRE_SESSION_SUMS];
    bool groups[MIRE_SESSION_GROUPS];
};

struct session_all {
    double sums[MIRE_SESSION_SUMS];
    struct distinct devices[MIRE_SESSION_GROUPS];
    double user_days, group_days[MIRE_SESSION_GROUPS]; /* of a reader, who knows the days; bytes do not have them */
};

/* Add the session of an installation. 0, or MIRE_FAULT_MEMORY. */
int session_all_add(struct session_all *all, struct arena *arena, const struct session_one *one, uint32_t device);

/* Add all of `more`. 0, or MIRE_FAULT_MEMORY. */
int session_all_merge(struct session_all *all, struct arena *arena, const struct session_all *more);

/* As bytes, and back; bytes that are none make in->bad. */
void session_all_pack(struct pack_out *out, const struct session_all *all);
void session_all_unpack(struct session_all *out, struct pack_in *in);
void session_one_pack(struct pack_out *out, const struct session_one *one);
void session_one_unpack(struct session_one *out, struct pack_in *in);

#endif
