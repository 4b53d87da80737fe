/*
 * fast.h - the baseline of bench_clusters.c: FaST (Rodrigues et al., MSR 2022) with its weights fixed, on the longest
 * stack of each report. A frame weighs idf * exp(-0.1 position), and less by exp(-0.2 d) where it has moved by d;
 * document frequencies are of all reports, which is a help.
 */
#ifndef MIRE_BENCH_FAST_H
#define MIRE_BENCH_FAST_H

#include "cluster/similar.h"
#include "eclipse.h"

#define FAST_WINDOW (730 * 86400) /* seconds; a link to something older asks too much */

struct fast;

/* The reports are borrowed, in order of time. They stay, as everything here does, until the process ends. */
struct fast *fast_new(const struct eclipse_report *reports, size_t count);

/* The issues, by their links, of the reports before `at` that are most like it, best first; returns how many.
 * *nearest_out is the report that is most like it, or `at` itself. */
size_t fast_find(struct similar_hit *hits, size_t cap, size_t *nearest_out, struct fast *fast, size_t at);

#endif
