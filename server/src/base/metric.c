/*
 * metric.c - Prometheus' text format 0.0.4.
 */
#include "base/metric.h"

#include "base/text.h"

#include <stdio.h>

void metric_head(struct text *out, const char *name, const char *type, const char *help)
{
    text_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metric_value(struct text *out, const char *name, const char *labels, double value)
{
    if (labels)
        text_printf(out, "%s{%s} %.15g\n", name, labels, value);
    else
        text_printf(out, "%s %.15g\n", name, value);
}

void histogram_count(struct histogram *histogram, uint64_t steps)
{
    double value = (double)steps * histogram->unit;
    double bound = histogram->first;
    unsigned at = 0;
    while (at < MIRE_HISTOGRAM_BUCKETS && value > bound) {
        bound *= 2;
        at++;
    }
    atomic_fetch_add_explicit(&histogram->buckets[at], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->sum, steps, memory_order_relaxed);
}

void histogram_write(struct text *out, const char *name, const char *help, struct histogram *histogram)
{
    double bound = histogram->first;
    uint64_t total = 0;
    metric_head(out, name, "histogram", help);
    for (unsigned i = 0; i < MIRE_HISTOGRAM_BUCKETS; i++, bound *= 2) {
        total += atomic_load_explicit(&histogram->buckets[i], memory_order_relaxed);
        text_printf(out, "%s_bucket{le=\"%.15g\"} %llu\n", name, bound, (unsigned long long)total);
    }
    total += atomic_load_explicit(&histogram->buckets[MIRE_HISTOGRAM_BUCKETS], memory_order_relaxed);
    double sum = (double)atomic_load_explicit(&histogram->sum, memory_order_relaxed) * histogram->unit;
    text_printf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.15g\n%s_count %llu\n", name, (unsigned long long)total,
                name, sum, name, (unsigned long long)total);
}
