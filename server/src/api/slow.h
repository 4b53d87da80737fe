/*
 * slow.h - recent slow queries, by route, app and length of the range.
 *
 * A slow query is expensive the next time (glossary), and the page of the server's health lists it. Threads: any.
 */
#ifndef MIRE_API_SLOW_H
#define MIRE_API_SLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_SLOW_MAX    64        /* remembered queries; a new one replaces the oldest */
#define MIRE_SLOW_US     1000000   /* a query that took longer is slow */
#define MIRE_SLOW_FOR_S  (15 * 60) /* a query counts as slow for this time after it was slow */
#define MIRE_SLOW_KEEP_S (24 * 3600)

struct slow_question {
    char pattern[96];            /* of the route */
    char app[64];                /* "": none */
    int days;                    /* of its range, rounded up */
    int64_t times;               /* number of slow queries */
    int64_t longest_us, last_us; /* last: wall clock */
};

struct slow;

/* NULL: no memory. */
struct slow *slow_new(void);
void slow_free(struct slow *slow);

/* Was this query slow within the last MIRE_SLOW_FOR_S? False if `slow` is NULL. */
bool slow_is_known(struct slow *slow, const struct slow_question *question, int64_t now_us);

/* Remember the time of a query; no effect if `slow` is NULL or the query was not slow. */
void slow_note(struct slow *slow, const struct slow_question *question, int64_t took_us, int64_t now_us);

/* The slow queries of the last day, the longest first. Returns their number, `max` at most. */
size_t slow_list(struct slow_question *out, size_t max, struct slow *slow, int64_t now_us);

#endif
