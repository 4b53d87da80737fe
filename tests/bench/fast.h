/*
 * fast.h - the baseline of bench_clusters.c: FaST (Rodrigues et al., MSR 2022) with fixed weights, on the longest stack
 * of each report. The weight of a frame is idf * exp(-0.1 position), times exp(-0.2 d) if its position differs by d.
 * Document frequencies are taken from all reports, which favours the baseline.
 */
#ifndef MIRE_BENCH_FAST_H
#define MIRE_BENCH_FAST_H

#include "cluster/similar.h"
#include "eclipse.h"

#define FAST_WINDOW (730 * 86400) /* seconds; links to older reports are not asked for */

struct fast;

/* The reports are borrowed, in order of time. Nothing is ever freed. */
struct fast *fast_new(const struct eclipse_report *reports, size_t count);

/* Find the reports before `at` that are most like it, and return their issues (by the links), best first. Returns their
 * number. *nearest_out is the most similar report, or `at` itself. */
size_t fast_find(struct similar_hit *hits, size_t cap, size_t *nearest_out, struct fast *fast, size_t at);

#endif
