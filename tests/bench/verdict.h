/*
 * verdict.h - the lines of a benchmark's figures with their limits, and its end after a fault of the database.
 */
#ifndef MIRE_BENCH_VERDICT_H
#define MIRE_BENCH_VERDICT_H

#include "support/pgtest.h"

#include "base/fault.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int missed; /* figures beyond their limit; the benchmark's exit status */

/* End the benchmark and its PostgreSQL if `rc` is a fault. */
static inline void must(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, fault_name(rc));
    pgtest_stop(NULL);
    exit(2);
}

/* Print a figure with its verdict. */
static inline void say(const char *what, double value, const char *unit, double limit)
{
    bool good = value <= limit;
    printf("%-44s %12.2f %-10s | at most %-8g | %s\n", what, value, unit, limit, good ? "ok" : "short");
    missed += !good;
}

#endif
