/*
 * completeness.h - how much of a recent day has usually arrived by now, from how late the records of earlier days came.
 *
 * Phones are offline, and the next start reports a kill: a part of what happened yesterday comes tomorrow. The share
 * that has come is estimated by the chain ladder (reporting delays: Lawless 1994): of the days that are old enough to
 * tell, the share of all that came within 2^(n+1) hours which came within 2^n; the product of these from n on is the
 * share that comes within 2^n hours. Pure.
 */
#ifndef MIRE_MODEL_COMPLETENESS_H
#define MIRE_MODEL_COMPLETENESS_H

#include "model/rows.h"

#define MIRE_COMPLETENESS_DAYS  60 /* looked at */
#define MIRE_COMPLETENESS_LEAST 50 /* events of days that are over for five days: fewer prove nothing */
#define MIRE_COMPLETENESS_WHOLE 0.995

struct arrivals { /* of one day */
    int32_t day;
    double events[MIRE_DELAY_BUCKETS]; /* by delay, as in arrival_day */
};

struct completeness {
    bool known;
    double within[MIRE_DELAY_BUCKETS - 1]; /* share of all that comes within 2^n hours */
};

/* From the days of an app, in any order. */
struct completeness completeness_of(const struct arrivals *days, size_t count, int64_t now_us);

/* The share of what happened in a day until now that has usually come by now: 1 if nothing is known, or it all has. */
double completeness_share(const struct completeness *completeness, int32_t day, int64_t now_us);

#endif
