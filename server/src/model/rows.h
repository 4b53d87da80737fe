/*
 * rows.h - what is derived of one hang, as rows: computed by cluster and aggregate, stored by pg/derive.c. Texts are
 * borrowed. Instants are microseconds since 1970 UTC, days count from 1970-01-01.
 */
#ifndef MIRE_MODEL_ROWS_H
#define MIRE_MODEL_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_FEATURE_KEY_LEN 16

struct report_key { /* leads the key of every high-volume row */
    int16_t slot;
    int32_t day;
    uint8_t report_id[16];
};

struct issue_row {
    int32_t app_id;
    uint8_t feature_key[MIRE_FEATURE_KEY_LEN];
    const char *caller1;
    const char *caller1_image;
    const char *caller1_place;
    const char *caller2;
    const char *caller2_image;
    const char *category;
    const char *reason;
    int32_t rules_version;
    int64_t first_seen_us;
    int64_t first_version_id;
};

struct hang_row {
    struct report_key key;
    int32_t app_id;
    int64_t version_id;
    int64_t issue_id;
    int64_t received_us;
    int64_t begun_us;
    int64_t duration_ms;
    const char *category;
    const char *reason;
    bool open;
    bool launch;
    bool foreground;
    bool foreground_known;
    double weight;
    int64_t thread_count; /* -1: the device does not tell */
    int64_t annealed;     /* events like this one that it stands for besides */
    int64_t annealed_ms;
    const char *holder; /* of the lock waited for; "" */
    uint8_t install[16];
    const char *os;
    const char *os_version;
    const char *arch;
    const char *model;
    const char *process_name;
    int32_t sample_count;
    int32_t frame_count;
    int32_t unresolved_count;
    int32_t rules_version;
};

#define MIRE_TURN_BUCKETS 7
#define MIRE_TURN_LEAST \
    250 /* ms; the first bucket begins here, each is as long as all before it, the last has no end */

/* What one report adds to version_hour, issue_hour and turn_hour. */
struct hour_row {
    int16_t slot;
    int64_t hour_us;
    int32_t app_id;
    int64_t version_id;
    int64_t issue_id;
    const char *category;
    double hangs;
    double hang_ms;
    int64_t longest_ms;
    int64_t last_us;
    double turns[MIRE_TURN_BUCKETS]; /* of watched loops, by length */
};

#endif
