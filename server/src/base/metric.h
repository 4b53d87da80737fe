/*
 * metric.h - writing Prometheus' text format, and a histogram to count into.
 *
 * Each module keeps its own atomic counters and writes them itself when asked; nothing is registered anywhere.
 */
#ifndef MIRE_BASE_METRIC_H
#define MIRE_BASE_METRIC_H

#include <stdatomic.h>
#include <stdint.h>

struct text;

#define MIRE_HISTOGRAM_BUCKETS 16

/* Counts into buckets whose upper bounds double: first, 2 first, 4 first, ... and the rest. Any thread. */
struct histogram {
    double first;                                         /* upper bound of the first bucket */
    double unit;                                          /* one counted step is this much of the metric's unit */
    _Atomic uint64_t buckets[MIRE_HISTOGRAM_BUCKETS + 1]; /* written by any thread, relaxed */
    _Atomic uint64_t sum;                                 /* in steps */
};

/* `# HELP` and `# TYPE`; `type` is counter, gauge or histogram. */
void metric_head(struct text *out, const char *name, const char *type, const char *help);

/* One sample. `labels` is NULL or what stands in the braces, e.g. route="/healthz",status="200". */
void metric_value(struct text *out, const char *name, const char *labels, double value);

/* Count a value of `steps` units: nanoseconds with unit 1e-9 for seconds, rows with unit 1. */
void histogram_count(struct histogram *histogram, uint64_t steps);

/* Head and all samples of a histogram. */
void histogram_write(struct text *out, const char *name, const char *help, struct histogram *histogram);

#endif
