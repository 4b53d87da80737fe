/*
 * hang.h - the record of one hang, or of one of the other things that a lane can report. Facts only; what kind of hang
 * it is, is derived from them.
 *
 *     NONE --busy for a share of the threshold--> OPEN --the turn ends--> ENDED --report sealed--> NONE
 *                                                  '-- ended before the threshold, or a launch without a loop --> NONE
 */
#ifndef MIRE_RING_HANG_H
#define MIRE_RING_HANG_H

#include "base/base.h"

enum mire__hang_state { MIRE_HANG_NONE = 0, MIRE_HANG_OPEN = 1, MIRE_HANG_ENDED = 2 };

enum mire__gate_kind { MIRE_GATE_NONE = 0, MIRE_GATE_POLL = 1, MIRE_GATE_MARK = 2, MIRE_GATE_PING = 3 };

/* What made the record. */
enum mire__trigger {
    MIRE_TRIGGER_BUSY = 0,       /* a turn over the threshold */
    MIRE_TRIGGER_UNANSWERED = 1, /* a ping not answered, though the loop turns or idles */
    MIRE_TRIGGER_CPU = 2,        /* the process over its limits: the four below */
    MIRE_TRIGGER_POWER = 3,
    MIRE_TRIGGER_DISK = 4,
    MIRE_TRIGGER_FRAMES = 5,
    MIRE_TRIGGER_CALL = 6, /* mire_capture */
    MIRE_TRIGGER_TEST = 7, /* mire_test */
    MIRE_TRIGGERS
};

enum mire__ground { MIRE_GROUND_BACK = 0, MIRE_GROUND_FORE = 1, MIRE_GROUND_UNKNOWN = 2 };

/* One thread's counters, differences over the hang. */
struct thread_use {
    uint64_t cpu_ns;
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
    uint64_t major_faults;
    uint64_t read_bytes;
    uint64_t write_bytes;
};

struct process_use {
    uint64_t cpu_user_ms; /* since the process started */
    uint64_t cpu_system_ms;
    uint64_t rss_bytes;
    uint32_t thread_count;
    uint32_t unused;
};

struct capture_cost {
    uint64_t samples;
    uint64_t stopped_max_ns; /* longest time a thread was interrupted */
    uint64_t stopped_sum_ns;
    uint64_t unwind_sum_ns;
    uint64_t watch_cpu_ns;  /* of the check thread, since start */
    uint64_t wakeups;       /* of the check thread, since start */
    uint64_t stored_bytes;  /* of sealed reports, since start */
    uint64_t period_raised; /* how often the governor lowered the rate, since start */
};

/* MIRE_TRIGGER_CPU, MIRE_TRIGGER_POWER. */
struct cpu_fact {
    uint32_t window_ms;
    uint32_t percent; /* of one processor */
    uint32_t limit_percent;
    uint32_t unused;
};

/* MIRE_TRIGGER_DISK. */
struct disk_fact {
    uint32_t window_ms;
    uint32_t unused;
    uint64_t read_bytes;
    uint64_t write_bytes;
    uint64_t limit_bytes;
};

/* MIRE_TRIGGER_FRAMES; the record's name is the scene's. */
struct frames_fact {
    uint32_t ticks;
    uint32_t dropped;
    uint32_t longest_ms;
    uint32_t window_ms;
};

/* Hangs of the same stack that were counted, not sent, since the last one sent. */
struct annealed_fact {
    uint64_t count;
    uint64_t duration_ms;
};

struct hang {
    uint32_t state;     /* enum mire__hang_state */
    uint32_t gate;      /* enum mire__gate_kind */
    uint32_t trigger;   /* enum mire__trigger */
    uint8_t launch;     /* 1: the loop had not waited once when it began */
    uint8_t exited;     /* 1: ended because the process did (mire_stop, exit, _exit, exec) */
    uint8_t foreground; /* enum mire__ground, when it began */
    uint8_t unused;
    uint8_t id[16]; /* UUIDv7, made when it began: the report's id, however often it is built */
    char thread_name[18];
    char name[64];         /* of a mire_capture or a scene; else empty */
    uint32_t tid;          /* 0: the whole process */
    uint32_t threshold_ms; /* the one it is measured against; 0: none */
    uint32_t period_ms;    /* between samples now; doubles when the ring thins */
    uint64_t begin_ns;     /* CLOCK_MONOTONIC */
    uint64_t last_seen_ns; /* the last instant at which it was known to be going on */
    uint64_t end_ns;       /* when ENDED */
    uint64_t late_ns;      /* by how much the check thread was late: a stopped or starved process, not a hang */
    uint64_t suspended_ns; /* the machine slept meanwhile; no part of end_ns - begin_ns */
    uint64_t slack_ns;     /* it may have begun so much earlier: all that a ping, or samples, can tell */
    uint64_t end_slack_ns; /* it may have ended so much later */
    uint64_t unsure_ns;    /* samples of so much of it show a thread asleep that may have waited for events */
    uint64_t lock_address; /* of the lock the thread waited for last, 0 if none is known */
    uint32_t lock_owner;   /* tid, 0 if not known */
    uint32_t unused_too;
    struct thread_use use;
    struct process_use process;
    struct cpu_fact cpu;
    struct disk_fact disk;
    struct frames_fact frames;
    struct annealed_fact annealed;
    struct capture_cost cost;
};

/*
 * Is it worth a report? By its own threshold, without the time in which the check thread was late. A launch without a
 * loop that ended with the process's own exit is not.
 */
bool mire__hang_counts(const struct hang *hang);

/* How long it took, or has taken so far. */
uint64_t mire__hang_duration_ns(const struct hang *hang);

/* What the device makes of the facts. */
enum mire__guess {
    MIRE_GUESS_FOREGROUND_BLOCK,
    MIRE_GUESS_BACKGROUND_BLOCK,
    MIRE_GUESS_LAUNCH_BLOCK,
    MIRE_GUESS_BLOCKED_MANY_THREADS, /* more than MIRE_MANY_THREADS */
    MIRE_GUESS_BLOCKED_AND_KILLED,   /* still open, and not in the background: read from a dead process's box */
    MIRE_GUESS_CPU_HIGH,
    MIRE_GUESS_POWER,
    MIRE_GUESS_DISK_IO,
    MIRE_GUESS_FRAMES,
    MIRE_GUESS_CUSTOM,
    MIRE_GUESS_TEST
};
enum mire__guess mire__hang_guess(const struct hang *hang);

#endif
