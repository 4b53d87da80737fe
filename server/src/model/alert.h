/*
 * alert.h - decides whether a condition holds, and when a message about it is sent.
 *
 * A condition holds a measure against a bound. It holds while the 95 % interval of the measure is clear of the bound,
 * and ends when the interval is clear on the other side; between the two nothing changes. Both edges are so decided by
 * what is known, and noise about the bound opens and ends nothing: a value alone crosses a bound by chance, the more
 * often the fewer sessions it is of. Intervals: of shares Wilson (1927), of counts Garwood (1936), of devices that a
 * sample represents Horvitz and Thompson (1952), of ratios of counts Clopper and Pearson (1934). Pure. Thread: any.
 */
#ifndef MIRE_MODEL_ALERT_H
#define MIRE_MODEL_ALERT_H

#include "model/rate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_ALERT_NAME_MAX     200 /* characters of a name */
#define MIRE_ALERT_CHANNELS_MAX 20  /* of a rule */
#define MIRE_ALERT_LEAST        100 /* session records of a version and day below which nothing is judged */
#define MIRE_ALERT_LEAST_GROWTH 10  /* the same: reports of an issue in the window */
#define MIRE_ALERT_LEAST_SHARE  0.5 /* of a day that has usually come by now, below which nothing is judged */

enum alert_kind {
    ALERT_RATE,      /* sessions that hang, and so on, by version and day */
    ALERT_NEW,       /* an issue that began lately and reached many devices */
    ALERT_GROWTH,    /* an issue that comes more often than at this time of the seven days before */
    ALERT_MISSING,   /* reports that blame an address, because a debug file is missing */
    ALERT_SILENCE,   /* no reports come, or far fewer than at this time of the seven days before */
    ALERT_GUARD,     /* the guard of a ramp tripped */
    ALERT_REGRESSED, /* an issue that was resolved came back in a later version */
    ALERT_QUOTA,     /* how much of the day's budget of reports and bytes is used */
    ALERT_KINDS,
};

enum alert_measure {
    ALERT_LAG,       /* percent of sessions with a hang */
    ALERT_HANG_TIME, /* seconds of hangs an hour */
    ALERT_FOOM,      /* percent of runs ended by lack of memory */
    ALERT_KILLED,    /* percent of runs killed while hung */
    ALERT_CRASH,     /* percent of runs ended by a crash */
    ALERT_MEASURES,
};

/* A row of alert_rule (schema/sql/0015_alerts.sql); texts are borrowed. */
struct alert_rule {
    int64_t rule;
    int32_t app;
    const char *name;
    enum alert_kind kind;
    enum alert_measure measure;
    const char *scope;                      /* newest, each or all */
    const char *versions, *kinds, *channel; /* the view */
    bool against_week;                      /* the bound is a multiple of the rate in the seven days before */
    double bound;
    int32_t window_s, hold_s, repeat_s, escalate_s;
    int32_t quiet_from, quiet_to; /* minutes of the day; -1: none */
    const char *quiet_zone;
    int64_t notifies[MIRE_ALERT_CHANNELS_MAX], escalates[MIRE_ALERT_CHANNELS_MAX];
    uint32_t notify_count, escalate_count;
    bool is_default;
    int64_t snoozed_us; /* until when; 0: not */
    int64_t looked_us;
    const char *made_by, *fault;
};

/* Is it a fact, which is there or not, without a bound and a window? */
bool alert_is_fact(enum alert_kind kind);

/* Names: "rate" and so on, "lag" and so on. The parsers return ALERT_KINDS and ALERT_MEASURES for others. */
const char *alert_kind_name(enum alert_kind kind);
enum alert_kind alert_kind_parse(const char *name);
const char *alert_measure_name(enum alert_measure measure);
enum alert_measure alert_measure_parse(const char *name);

/* The limits and defaults of a kind. */
struct alert_limits {
    double bound_min, bound_max;
    int32_t window_min_s, window_max_s, window_s; /* 0: it has none */
};
const struct alert_limits *alert_limits(enum alert_kind kind);

/* One value of a subject: a version, the number of an issue, a plugin, or "" for the app. */
struct alert_point {
    const char *subject;
    const char *title; /* of the subject, for people; NULL: the subject itself */
    int64_t at_s;      /* begin of the time it is of */
    struct rate rate;
    double bound; /* what it is held against; not above zero: nothing is known to hold it against */
    double usual; /* the usual value, where the bound is a part or a multiple of it; otherwise 0 */
};

enum alert_verdict {
    ALERT_UNKNOWN, /* the interval holds the bound, or nothing is known */
    ALERT_CLEAR,
    ALERT_HOLDS,
};
enum alert_verdict alert_judge(enum alert_kind kind, const struct alert_point *point);

/* State of an alert. */
struct alert_state {
    int64_t began_us, fired_us, notified_us, escalated_us, acked_us, over_us; /* 0: not */
};

enum {
    ALERT_NOTIFY_FIRED = 1,
    ALERT_NOTIFY_AGAIN = 2,
    ALERT_NOTIFY_ESCALATED = 4,
    ALERT_NOTIFY_OVER = 8,
};

/*
 * Take a verdict. The state moves on; a verdict of ALERT_UNKNOWN leaves the condition as it is, but time goes on.
 *   is_mute  quiet hours, or a snooze: no message is sent; an alert that ends meanwhile is never sent
 * Returns which messages are due.
 */
unsigned alert_step(struct alert_state *state, const struct alert_rule *rule, enum alert_verdict verdict, bool is_mute,
                    int64_t now_us);

/* Is minute `minute` of a day within quiet hours? They may go over midnight. */
bool alert_is_quiet(const struct alert_rule *rule, int minute);

/*
 * Run the condition over points of one subject in the order of time, as if it had been judged at each.
 *   fired  set true at the points where an alert would have begun; `count` of them
 * Returns how many.
 */
size_t alert_replay(bool *fired, enum alert_kind kind, const struct alert_point *points, size_t count);

/* The interval of a count (Garwood 1936). */
struct rate alert_count(double count);

/* The number of devices that a sample stands for: sum of weights w, of w (w - 1), and how many were seen. */
struct rate alert_devices(double sum, double variance, double seen);

/* How often something comes, `now` of it, through how often it came, `before` of it in a time `times` as long. */
struct rate alert_growth(double now, double before, double times);

#define MIRE_SPARK_PARTS 14
#define MIRE_SPARK_BYTES (3 * MIRE_SPARK_PARTS + 1)

/* Values as blocks from U+2581 to U+2588, the highest one whole; a space for a value below zero, which is not known. */
void alert_spark(char out[MIRE_SPARK_BYTES], const double *values, size_t count);

#endif
