/*
 * lag.h - reports of lag of 5 to 7 KB: of 300 issues by Zipf's law, 5 versions and 10 modules without a debug file. Frames
 * of /opt/a/lib0.so, lib1.so and lib2.so are the app's; the others lie in any of ten.
 */
#ifndef MIRE_TESTS_BENCH_LAG_H
#define MIRE_TESTS_BENCH_LAG_H

#include "base/id.h"
#include "base/text.h"

#include <stdint.h>

enum lag_kind {
    LAG_EVENT,
    LAG_SESSION, /* a session record */
    LAG_MEMORY,  /* a memory report with the same stacks: what 200 categories hold, by 300 stacks */
};

/* When an event happened whose report is received now: half are of the last hour, four in ten of the last day, and one in ten of
 * the last six days. */
int64_t lag_time(int64_t now_us, uint64_t *random);

/* Append one of that kind and time. */
void lag_report(struct text *out, const struct uuid *id, int64_t at_us, enum lag_kind kind, uint64_t *random);

#endif
