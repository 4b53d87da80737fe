/*
 * metrickit_metrics.h - the metrics of a period, of MXMetricPayload or of iOS 27's MetricReport. Inside decode/ only.
 */
#ifndef MIRE_DECODE_METRICKIT_METRICS_H
#define MIRE_DECODE_METRICKIT_METRICS_H

#include "decode/build.h"
#include "decode/foreign.h"

/* Has the document metrics of a period? */
bool metrickit_has_metrics(const struct json *json);

/*
 * Runs of the period that ended so; 0 if none is told.
 *
 *   back  in the background
 *   old   between "cumulative" and "ExitCount"
 *   now   before "TerminationCount", of MetricReport; NULL: it has none
 */
uint64_t metrickit_exit_count(struct build *b, const struct json *json, bool back, const char *old, const char *now);

/*
 * Fill the report's session with the period's time of use, hangs, launch, CPU time, peak of the memory and late frames.
 * False: the document has none of them.
 */
bool metrickit_usage(struct build *b, const struct json *json);

/* The period's runs, of a document that has metrics: a session record with their ends and usage (metrickit_exits.c). */
enum decode_outcome metrickit_period_of_runs(struct foreign *foreign, const struct json *json);

#endif
