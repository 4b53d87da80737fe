/*
 * aggregate.h - report + issue -> rows: the event, and its addition to the counters of its hour.
 */
#ifndef MIRE_AGGREGATE_AGGREGATE_H
#define MIRE_AGGREGATE_AGGREGATE_H

#include "model/category.h"
#include "model/rows.h"

#define MIRE_AGGREGATE_TEXT_MAX 255 /* bytes of an indexed text; longer ones are cut */
#define MIRE_AGGREGATE_WEIGHT_MAX \
    1000000 /* events that one report may stand for; the lowest sampling share is one in a million */

/* Bounds of one report's additions. A device sends at least once a day, so a report covers a day at most. */
#define MIRE_AGGREGATE_SUPPRESSED_MAX    100000    /* suppressed events in one report: one a second, for a day */
#define MIRE_AGGREGATE_SUPPRESSED_MS_MAX 86400000  /* their lengths together: a day */
#define MIRE_AGGREGATE_EVENT_MS_LEAST    10        /* least length of an event: no threshold is lower */
#define MIRE_AGGREGATE_TURNS_MS_MAX      691200000 /* length of all turns of a bucket: a day of eight threads */
#define MIRE_AGGREGATE_SESSION_THREADS   64        /* of all processes of a session, each hung all the time */

/* Facts about the clock of the device that sent a report. */
struct aggregate_clock {
    bool known;        /* the device sent the time of its clock with the report */
    int64_t behind_ms; /* lag of that clock behind the server's; negative: it is ahead */
    int keep_days;     /* days for which reports are kept; 0: for ever */
};

struct aggregate_instant {
    int64_t at_us;
    bool is_known; /* false: the report's own time is missing or impossible, and at_us is the receipt */
};

/*
 * When a report's event happened, or its session began, by the server's clock: the report's own time, corrected by the
 * error of the device's clock. A time up to some minutes after the receipt becomes the receipt; a later time, or one
 * before the retention time, is impossible.
 */
struct aggregate_instant aggregate_occurred(const struct report *report, int64_t received_us,
                                            const struct aggregate_clock *clock);

/* The bucket of a report's delay in arrival_day: 0 below an hour, n below 2^n hours; -1: unknown. */
int aggregate_delay(const struct aggregate_instant *occurred, int64_t received_us);

/* Facts about a report besides its content. */
struct aggregate_facts {
    struct report_key key;
    int32_t app_id;
    int64_t received_us;
    struct aggregate_instant occurred;
    int64_t version_id;
    int64_t issue_id;
    int32_t tree;
    enum event_category category;
    const char *reason;
    const char *holder;
    uint64_t subject_bytes; /* of memory: bytes of the category to blame */
    uint64_t above_bytes;   /* of these, above healthy processes */
    int32_t rules_version;
    double weight; /* of a stored event; 0: by the report */
    size_t frame_count;
    size_t unresolved_count;
};

struct aggregate_rows {
    struct event_row event;
    struct hour_row hour;
};

/* The rows. Texts are borrowed from report and facts. */
void aggregate_rows(struct aggregate_rows *out, const struct report *report, const struct aggregate_facts *facts);

/* The row of a baseline, which belongs to no issue. */
void aggregate_baseline(struct baseline_row *out, const struct report *report, const struct aggregate_facts *facts);

/* The row of a session record. `channel` is borrowed from the report, and may be longer than an index takes. */
void aggregate_session(struct session_row *out, const struct report *report, const struct aggregate_facts *facts);

#define MIRE_AGGREGATE_LOST_MAX 100000 /* records of one reason that one report may count */

/* The losses in a report of any kind. Reasons are static. */
void aggregate_losses(struct loss_row *out, const struct report *report, const struct aggregate_facts *facts);

/*
 * Length of a text cut to MIRE_AGGREGATE_TEXT_MAX bytes, between two characters.
 */
size_t aggregate_text_length(const char *text);

#endif
