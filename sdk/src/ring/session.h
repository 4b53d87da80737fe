/*
 * session.h - the counts of a session, in the blackbox, so that its record can be made however the process ends.
 *
 * Each process counts for itself. Under mire-run a process is part of a session with a file of its own
 * (store/sessions.h), and adds its counts there; any other process is a session by itself. The counts here are sums
 * since the start; `recorded` is the part that is already added, or in a record.
 */
#ifndef MIRE_RING_SESSION_H
#define MIRE_RING_SESSION_H

#include "ring/event.h"

/* Classes of hangs; mire__session_class_name has their names. */
enum mire__session_class {
    MIRE_SESSION_FOREGROUND, /* or unknown: the app has not called mire_set_foreground */
    MIRE_SESSION_BACKGROUND,
    MIRE_SESSION_LAUNCH,
    MIRE_SESSION_UNANSWERED,
    MIRE_SESSION_CLASSES
};

/* Foreground or background, by the last mire_set_foreground. */
enum mire__front { MIRE_FRONT_UNKNOWN, MIRE_FRONT_BACK, MIRE_FRONT_FORE };

/* Is a record of the session wanted? MAYBE: no rollout document has arrived yet. TOLD: the record is made already, and
 * the blackbox remains for other data. */
enum mire__session_on { MIRE_SESSION_NO, MIRE_SESSION_YES, MIRE_SESSION_MAYBE, MIRE_SESSION_RECORDED };

#define MIRE_SESSION_NAME_BYTES 33 /* 32 hex digits and a NUL */

struct session_counts {
    uint64_t hangs[MIRE_SESSION_CLASSES];
    uint64_t hang_ms[MIRE_SESSION_CLASSES];
    uint64_t turns[MIRE_MICRO_BUCKETS];
    uint64_t foreground_ns;
    uint64_t cpu_ns; /* of the library's threads */
    uint64_t process_cpu_ns;
    uint64_t frames_drawn, frames_dropped;
};

/* Counters are relaxed atomic words; each has one writer but where said. */
struct session {
    char of[MIRE_SESSION_NAME_BYTES]; /* the session of mire-run; "": the process is one by itself; core, at start */
    uint32_t apart;                   /* the session's file is in a store that the process cannot write; as `of` */
    _Atomic uint32_t on;              /* enum mire__session_on; by core */
    _Atomic uint32_t loop;            /* 1: a watched thread has waited for events; check thread */
    _Atomic uint32_t plugins;         /* that have run since the start: bits by enum mire__plugin; by core */
    _Atomic uint32_t front;           /* enum mire__front; worker */
    _Atomic uint64_t front_ns;        /* CLOCK_MONOTONIC, since when it is in the foreground; worker */
    _Atomic uint64_t fronted_ns;      /* how long it was before; worker */
    _Atomic uint64_t hangs[MIRE_SESSION_CLASSES]; /* ended ones; check thread */
    _Atomic uint64_t hang_ms[MIRE_SESSION_CLASSES];
    _Atomic uint64_t counted[MIRE_LANES];          /* begin_ns of each lane's last counted hang; check thread */
    _Atomic uint64_t check_cpu_ns;                 /* check thread */
    _Atomic uint64_t worker_cpu_ns;                /* worker */
    _Atomic uint64_t process_cpu_ns;               /* since the watch began; check thread, worker */
    _Atomic uint64_t frames_drawn, frames_dropped; /* the same */
    _Atomic uint64_t footprint_peak_bytes;         /* the most of all looks in this part; the same. 0: unknown */
    _Atomic uint64_t launch_ns; /* from the begin of the launch to the first wait; 0: unknown; check thread */
    _Atomic uint64_t seen_ns;   /* CLOCK_MONOTONIC, when the process was last known to run; check thread, worker */
    /* The current part; written by the worker, while no other thread makes a record. */
    uint8_t id[16]; /* UUIDv7: the record's */
    uint64_t begin_ns;
    uint64_t begin_wall_ms;
    uint32_t part; /* from 0 */
    struct session_counts recorded;
    struct session_counts carried; /* by the programs that the process ran before it executed this one */
};

/* "foreground", "background", "launch", "unanswered". Static. */
const char *mire__session_class_name(enum mire__session_class class);

/* The class of an event; false: sessions do not count it, such as an event of the whole process, or perhaps idleness. */
bool mire__session_class_of(enum mire__session_class *class_out, const struct event *event);

/* Raise the peak to a footprint. Thread: any. */
void mire__session_peak(struct session *session, uint64_t footprint_bytes);

/* Count a lane's hang that has ended. Thread: check thread. */
void mire__session_count(struct session *session, uint32_t lane, const struct event *event);

#endif
