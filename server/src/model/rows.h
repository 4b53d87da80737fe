/*
 * rows.h - the rows that are derived from one report: computed by cluster and aggregate, stored by rows/derive.c. Texts
 * are borrowed. Instants are microseconds since 1970 UTC, days count from 1970-01-01.
 */
#ifndef MIRE_MODEL_ROWS_H
#define MIRE_MODEL_ROWS_H

#include "model/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_FEATURE_KEY_LEN 16

struct report_key { /* leads the key of every high-volume row */
    int16_t slot;
    int32_t day;
    uint8_t report_id[16];
};

/* The slot of a counter: a hash of its app and of its version or issue. */
static inline int16_t rows_slot(int32_t app_id, int64_t id)
{
    uint64_t x = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)app_id; /* splitmix64's finish */
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int16_t)((x ^ x >> 31) & 63);
}

struct issue_row {
    int32_t app_id;
    uint8_t feature_key[MIRE_FEATURE_KEY_LEN];
    uint8_t blame_key[MIRE_FEATURE_KEY_LEN]; /* the same without the scene */
    bool joins;                              /* the issue may join other scenes of the same cause */
    const char *caller1;
    const char *caller1_image;
    const char *caller1_location;
    const char *caller2;
    const char *caller2_image;
    const char *category;
    const char *reason;
    const char *subject; /* of memory: the category to blame; otherwise "" */
    bool unnamed;        /* a caller has no name: the key is made of build id and offset */
    int32_t rules_version;
    int64_t first_seen_us;
    int64_t first_version_id;
};

/* One stack that stands for a tree of an issue. */
struct tree_row {
    int32_t app_id;
    int64_t issue_id;
    int32_t tree;
    int64_t first_seen_us;
    const char *frames; /* model/frames.h */
    int32_t caller1;    /* frame; -1: not in the stack */
};

struct event_row {
    struct report_key key;
    int32_t app_id;
    int64_t version_id;
    int64_t issue_id;
    int32_t tree; /* level 3; 0: none, or beyond the kept number */
    int64_t received_us;
    int64_t occurred_us; /* when the event happened, by the server's clock */
    int64_t duration_ms;
    int64_t waited_ms; /* for the longest wait */
    const char *category;
    const char *reason;
    bool open;
    bool launch;
    bool foreground;
    bool foreground_known;
    double weight;
    int64_t thread_count; /* -1: unknown */
    int64_t suppressed;   /* further similar events, which the device only counted */
    int64_t suppressed_ms;
    const char *holder;      /* of the lock that the thread waited for; "" */
    int64_t footprint_bytes; /* of memory; -1: unknown, or no memory report */
    int64_t subject_bytes;   /* of memory: bytes of the category to blame; -1 of others */
    int64_t above_bytes;     /* of these, above healthy processes; -1 of others */
    const char *exit;        /* verdict on the end of the process; "": the process lived, or the end is unknown */
    int32_t exit_ppm;        /* confidence in the verdict */
    uint8_t install[16];
    const char *os;
    const char *os_version;
    const char *arch;
    const char *model;
    const char *process_name;
    const char *device_class;
    const char *channel;
    const char *scene;   /* set by the app; "" */
    const char *country; /* it was sent from; "" */
    bool has_user;
    uint8_t user_hash[MIRE_USER_HASH];
    size_t tag_count; /* tags that the app keeps */
    const char *tags[MIRE_TAGS_KEPT];
    int32_t sample_count;
    int32_t frame_count;
    int32_t unresolved_count;
    int32_t rules_version;
    bool is_counted; /* the report is counted only, and has no stacks */
};

/* A module in which a report has frames, without a debug file. */
struct missing_debug_row {
    const uint8_t *build_id;
    size_t build_id_len;
    const char *name;
    const char *arch;
    const char *had;     /* "none", "names" or "lines" */
    const char *version; /* with `build`: of a mapping that is known by the app's version; otherwise "" */
    const char *build;
    bool sought;                /* in directories and at debuginfod servers */
    const char *defect;         /* the defect of the stored files; "": none, or the files have only names */
    const uint8_t (*splits)[8]; /* split files with further data */
    size_t split_count;
};

/* The memory of a healthy process. */
struct baseline_row {
    struct report_key key;
    int32_t app_id;
    int64_t version_id;
    const char *os;
    const char *device_class;
    int64_t received_us;
    uint8_t install[16];
    double weight;
    int64_t footprint_bytes; /* -1: unknown */
    int64_t held_bytes;
};

#define MIRE_TURN_BUCKETS 7
#define MIRE_TURN_LEAST \
    250 /* ms; the first bucket begins here, each is as long as all before it, the last has no end */

#define MIRE_DELAY_BUCKETS 13 /* of arrival_day: below 1, 2, 4 ... 2048 hours, and longer */

/* The amounts that one report adds to version_hour, issue_hour, turn_hour and arrival_day. */
struct hour_row {
    int64_t reports; /* 1, or -1 to subtract */
    int64_t hour_us;
    int32_t app_id;
    int64_t version_id;
    int64_t issue_id;
    int32_t tree;
    const char *category;
    double events;
    double waited_ms;
    int64_t longest_ms;
    int64_t most_bytes; /* of memory: bytes of the category to blame */
    double above_bytes; /* of these, above healthy processes; weighted as events */
    int64_t last_us;
    int delay;                       /* bucket of the time from the event to the receipt of the report; -1: unknown */
    double turns[MIRE_TURN_BUCKETS]; /* of watched loops, by length */
};

#define MIRE_LOSS_REASONS 13 /* the reasons that devices count, and "other" */

/* The losses that a report adds to loss_day; each reason once. */
struct loss_row {
    int32_t day; /* received */
    int32_t app_id;
    int64_t version_id;
    size_t count;
    const char *reasons[MIRE_LOSS_REASONS];
    int64_t lost[MIRE_LOSS_REASONS];
};

/* A session record, and the amounts that it adds to session_day. */
struct session_row {
    struct report_key key;
    int32_t app_id;
    int64_t version_id;
    int64_t received_us;
    int64_t occurred_us; /* when the session began, by the server's clock */
    int32_t occurred_day;
    int delay; /* as in struct hour_row */
    uint8_t install[16];
    const char *channel;
    int16_t plugins;
    int64_t part;
    bool over;
    bool loop;
    int64_t duration_ms, foreground_ms; /* foreground -1: unknown */
    int64_t hangs, hang_ms;             /* outside the background */
    int64_t sdk_cpu_us;
    int64_t cpu_ms, footprint_peak_bytes, launch_ms, frames_drawn, frames_dropped; /* -1: unknown */
    double weight;         /* sessions that the record stands for */
    double watched_weight; /* the same, if a loop of the session was watched for hangs; otherwise 0 */
    double time_ms;        /* denominator of rates: time in the foreground, if known */
    const char *os, *os_version, *arch, *model, *process_name, *device_class;
    const char *country;                     /* it was sent from; "" */
    int32_t ends, fooms, watchdogs, crashes; /* runs with a known end, and runs with that end; crashes: with aborts */
};

#endif
