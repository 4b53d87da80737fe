/*
 * session.h - what a session counts, in the blackbox: from it the record of the session is made, however it ends.
 *
 * Each process counts for itself. A process that mire-run watches is a part of a session that has a file of its own
 * (store/sessions.h) and adds its counts there; any other is a session by itself. The counts here are sums since the
 * start; `told` is the share that is added, or told in a record, already.
 */
#ifndef MIRE_RING_SESSION_H
#define MIRE_RING_SESSION_H

#include "ring/hang.h"

/* Hangs by what they kept from whom. The names are mire__session_class_name's. */
enum mire__session_class {
    MIRE_SESSION_FOREGROUND, /* or the app does not tell where it is */
    MIRE_SESSION_BACKGROUND,
    MIRE_SESSION_LAUNCH,
    MIRE_SESSION_UNANSWERED,
    MIRE_SESSION_CLASSES
};

/* Where the app is, as far as it has told. */
enum mire__front { MIRE_FRONT_UNTOLD, MIRE_FRONT_BACK, MIRE_FRONT_FORE };

/* Is a record wanted? MAYBE: no rollout document has come yet that says so. TOLD: it is, and the box waits for others.
 */
enum mire__session_on { MIRE_SESSION_NO, MIRE_SESSION_YES, MIRE_SESSION_MAYBE, MIRE_SESSION_TOLD };

#define MIRE_SESSION_NAME_BYTES 33 /* 32 hex digits and a NUL */

struct session_counts {
    uint64_t hangs[MIRE_SESSION_CLASSES];
    uint64_t hang_ms[MIRE_SESSION_CLASSES];
    uint64_t turns[MIRE_MICRO_BUCKETS];
    uint64_t foreground_ns;
    uint64_t cpu_ns; /* of the library's threads */
};

/* Counters are relaxed atomic words; each has one writer but where said. */
struct session {
    char of[MIRE_SESSION_NAME_BYTES]; /* the session that the process is a part of; "": it is one; by core, at first */
    uint32_t apart;                   /* that session's file is in a store the process cannot write; as `of` */
    _Atomic uint32_t on;              /* enum mire__session_on; by core */
    _Atomic uint32_t loop;            /* 1: a watched thread has waited for events; check thread */
    _Atomic uint32_t plugins;         /* that have run since the start: bits by enum mire__plugin; by core */
    _Atomic uint32_t front;           /* enum mire__front; worker */
    _Atomic uint64_t front_ns;        /* CLOCK_MONOTONIC, since when it is in the foreground; worker */
    _Atomic uint64_t fronted_ns;      /* how long it was before; worker */
    _Atomic uint64_t hangs[MIRE_SESSION_CLASSES]; /* ended ones; check thread */
    _Atomic uint64_t hang_ms[MIRE_SESSION_CLASSES];
    _Atomic uint64_t counted[MIRE_LANES]; /* begin_ns of each lane's hang that is counted above; check thread */
    _Atomic uint64_t check_cpu_ns;        /* check thread */
    _Atomic uint64_t worker_cpu_ns;       /* worker */
    _Atomic uint64_t seen_ns; /* CLOCK_MONOTONIC, when the process was last known to run; check thread, worker */
    /* Of the part that goes on; worker, while nobody else makes a record. */
    uint8_t id[16]; /* UUIDv7: the record's */
    uint64_t begin_ns;
    uint64_t begin_wall_ms;
    uint32_t part; /* from 0 */
    struct session_counts told;
    struct session_counts carried; /* by the programs that the process ran before it executed this one */
};

/* "foreground", "background", "launch", "unanswered". Static. */
const char *mire__session_class_name(enum mire__session_class class);

/* Is a hang one that sessions count? Not so what concerns the process as a whole. */
bool mire__session_class_of(enum mire__session_class *class_out, const struct hang *hang);

/* Count a lane's hang that has ended. Thread: check thread. */
void mire__session_count(struct session *session, uint32_t lane, const struct hang *hang);

#endif
