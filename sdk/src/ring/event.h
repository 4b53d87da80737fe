/*
 * event.h - one event of a lane: a hang, or a load, a loss of frames, a capture. An event holds facts only; the kind
 * on the dashboard is derived from them.
 *
 *     NONE --busy for a share of the threshold--> OPEN --the turn ends--> ENDED --report sealed--> NONE
 *                                                  '-- ended before the threshold, or a launch without a loop --> NONE
 */
#ifndef MIRE_RING_EVENT_H
#define MIRE_RING_EVENT_H

#include "base/base.h"

enum mire__event_state { MIRE_EVENT_NONE = 0, MIRE_EVENT_OPEN = 1, MIRE_EVENT_ENDED = 2 };

enum mire__gate_kind { MIRE_GATE_NONE = 0, MIRE_GATE_POLL = 1, MIRE_GATE_MARK = 2, MIRE_GATE_PING = 3 };

/* Why the event was opened. */
enum mire__trigger {
    MIRE_TRIGGER_BUSY = 0,       /* a turn over the threshold */
    MIRE_TRIGGER_UNANSWERED = 1, /* a ping not answered, though the loop turns or idles */
    MIRE_TRIGGER_CPU = 2,        /* this and the next three: the process exceeds a limit */
    MIRE_TRIGGER_POWER = 3,
    MIRE_TRIGGER_DISK = 4,
    MIRE_TRIGGER_FRAMES = 5,
    MIRE_TRIGGER_CALL = 6,  /* mire_capture */
    MIRE_TRIGGER_TEST = 7,  /* mire_test */
    MIRE_TRIGGER_CRASH = 8, /* a signal that ends the process; the event stays open, and its name is the signal's */
    MIRE_TRIGGERS
};

enum mire__ground { MIRE_GROUND_BACK = 0, MIRE_GROUND_FORE = 1, MIRE_GROUND_UNKNOWN = 2 };

/* One thread's counters: differences over the event. */
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

/* MIRE_TRIGGER_FRAMES; the event's name is the scene's. */
struct frames_fact {
    uint32_t ticks;
    uint32_t dropped;
    uint32_t longest_ms;
    uint32_t window_ms;
};

/* Events of the same stack that were suppressed since the last report of it. */
struct suppressed_fact {
    uint64_t count;
    uint64_t duration_ms;
};

struct event {
    uint32_t state;     /* enum mire__event_state */
    uint32_t gate;      /* enum mire__gate_kind */
    uint32_t trigger;   /* enum mire__trigger */
    uint8_t launch;     /* 1: the loop had not waited once when it began */
    uint8_t exited;     /* 1: the process ended, and the event with it (mire_stop, exit, _exit, exec) */
    uint8_t foreground; /* enum mire__ground, when it began */
    uint8_t unused;
    uint8_t id[16]; /* UUIDv7, made at the begin: the id of every report that is built of the event */
    char thread_name[18];
    char name[64];         /* of a mire_capture, a scene or a crash; otherwise empty */
    char message[128];     /* what the loop was handling, by its own words; empty: unknown */
    uint32_t tid;          /* 0: the whole process */
    uint32_t threshold_ms; /* the event's own threshold; 0: none */
    uint32_t period_ms;    /* time between two samples now; doubles when the ring thins */
    uint64_t begin_ns;     /* CLOCK_MONOTONIC, as all times here */
    uint64_t last_seen_ns; /* the last time at which the event was known to continue */
    uint64_t end_ns;       /* when ENDED */
    uint64_t late_ns;      /* the check thread was late by this: the process was stopped or starved, which is no hang */
    uint64_t suspended_ns; /* the machine slept for this; not part of end_ns - begin_ns */
    uint64_t slack_ns;     /* the begin may be earlier by up to this: the precision of pings and of samples */
    uint64_t end_slack_ns; /* the end may be later by up to this */
    uint64_t unsure_ns;    /* in samples for this time the thread slept, and may have waited for events */
    uint64_t lock_address; /* of the lock that the thread waited for last; 0: none is known */
    uint32_t lock_owner;   /* tid; 0: not known */
    uint32_t unused_too;
    struct thread_use use;
    struct process_use process;
    struct cpu_fact cpu;
    struct disk_fact disk;
    struct frames_fact frames;
    struct suppressed_fact suppressed;
    struct capture_cost cost;
};

/*
 * Is the event worth a report? True from its threshold on, without late_ns. A launch without a loop is not, if the
 * process ended it by its own exit.
 */
bool mire__event_counts(const struct event *event);

/* Was the thread perhaps idle for half of it or more? Such an event has a report, but is not counted as a hang. */
bool mire__event_may_be_idle(const struct event *event);

/* Duration, of an open event until last_seen_ns. */
uint64_t mire__event_duration_ns(const struct event *event);

/* The kind of trouble as the device sees it: a guess that the server may correct. */
enum mire__guess {
    MIRE_GUESS_FOREGROUND_BLOCK,
    MIRE_GUESS_BACKGROUND_BLOCK,
    MIRE_GUESS_LAUNCH_BLOCK,
    MIRE_GUESS_BLOCKED_MANY_THREADS, /* more than MIRE_MANY_THREADS */
    MIRE_GUESS_BLOCKED_AND_KILLED,   /* open in a dead process's blackbox, and not in the background */
    MIRE_GUESS_CPU_HIGH,
    MIRE_GUESS_POWER,
    MIRE_GUESS_DISK_IO,
    MIRE_GUESS_FRAMES,
    MIRE_GUESS_CUSTOM,
    MIRE_GUESS_TEST,
    MIRE_GUESS_CRASH
};
enum mire__guess mire__event_guess(const struct event *event);

#endif
