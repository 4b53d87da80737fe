/*
 * session.h - what a session counts, in the blackbox: from it the record of the session is made, however it ends.
 *
 * A session is a run of the process. One that goes on for more than a day is told in parts, of which the counts here
 * are the sum since the start; `told` is what parts before have told.
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

struct session_counts {
    uint64_t hangs[MIRE_SESSION_CLASSES];
    uint64_t hang_ms[MIRE_SESSION_CLASSES];
    uint64_t turns[MIRE_MICRO_BUCKETS];
    uint64_t foreground_ns;
    uint64_t cpu_ns; /* of the library's threads */
};

/* Counters are relaxed atomic words; each has one writer but where said. */
struct session {
    _Atomic uint32_t on;         /* a record is to be made; by core */
    _Atomic uint32_t plugins;    /* that have run since the start: bits by enum mire__plugin; by core */
    _Atomic uint32_t front;      /* enum mire__front; worker */
    _Atomic uint64_t front_ns;   /* CLOCK_MONOTONIC, since when it is in the foreground; worker */
    _Atomic uint64_t fronted_ns; /* how long it was before; worker */
    _Atomic uint64_t hangs[MIRE_SESSION_CLASSES]; /* ended ones; check thread */
    _Atomic uint64_t hang_ms[MIRE_SESSION_CLASSES];
    _Atomic uint64_t check_cpu_ns;  /* check thread */
    _Atomic uint64_t worker_cpu_ns; /* worker */
    _Atomic uint64_t seen_ns;       /* CLOCK_MONOTONIC, when the process was last known to run; check thread, worker */
    /* Of the part that goes on; worker, while nobody else makes a record. */
    uint8_t id[16]; /* UUIDv7: the record's */
    uint64_t begin_ns;
    uint64_t begin_wall_ms;
    uint32_t part; /* from 0 */
    struct session_counts told;
};

/* "foreground", "background", "launch", "unanswered". Static. */
const char *mire__session_class_name(enum mire__session_class class);

/* Is a hang one that sessions count? Not so what concerns the process as a whole. */
bool mire__session_class_of(enum mire__session_class *class_out, const struct hang *hang);

/* One more that has ended. Thread: check thread. */
void mire__session_count(struct session *session, const struct hang *hang);

#endif
