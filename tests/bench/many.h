/*
 * many.h - an app with many reports: 20,000 issues, 200 versions and 300,000 devices in 30 days. Rows, counters and deltas are
 * those that the worker writes, and the merger makes the rollups. Of more than a million events the older ones have no rows of
 * their own: no page reads those.
 */
#ifndef MIRE_BENCH_MANY_H
#define MIRE_BENCH_MANY_H

#include "pg/pg.h"

#include <stdbool.h>

#define MANY_ISSUES   20000
#define MANY_VERSIONS 200
#define MANY_DEVICES  300000
#define MANY_DAYS     30

/* Fill an empty database with `events` events of the app "redis" up to now, and a tenth as many sessions. Each day is merged
 * by the other pool while the next one is stored. An error ends the program. */
void many_fill(struct pg *pg, struct pg *merger, long events);

/* Store events at a rate, and merge their deltas once a minute, until *stop. Thread: its own. */
struct many_arrival {
    struct pg *pg;
    int per_second;
    _Atomic bool stop;
    long stored;
    int merges;
    int64_t merge_us; /* all of them */
};
void *many_arrive(void *arrival);

#endif
