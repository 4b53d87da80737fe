/*
 * slow.h - questions that took long lately: by route, app and length of the range.
 *
 * A question that took long goes into the lane of expensive queries the next time, and the page of the server's health
 * lists it. Threads: any.
 */
#ifndef MIRE_API_SLOW_H
#define MIRE_API_SLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_SLOW_MAX    64        /* questions remembered; a new one takes the place of the oldest */
#define MIRE_SLOW_US     1000000   /* a question that took longer is slow */
#define MIRE_SLOW_FOR_S  (15 * 60) /* so long after it was slow last, a question is taken for slow */
#define MIRE_SLOW_KEEP_S (24 * 3600)

struct slow_question {
    char pattern[96];            /* of the route */
    char app[64];                /* "": none */
    int days;                    /* of its range, rounded up */
    int64_t times;               /* that it was slow */
    int64_t longest_us, last_us; /* last: wall clock */
};

struct slow;

/* NULL: no memory. */
struct slow *slow_new(void);
void slow_free(struct slow *slow);

/* Was this question slow within the last MIRE_SLOW_FOR_S? False if `slow` is NULL. */
bool slow_is_known(struct slow *slow, const struct slow_question *question, int64_t now_us);

/* Remember that the question took this long; nothing if `slow` is NULL or it was not long. */
void slow_note(struct slow *slow, const struct slow_question *question, int64_t took_us, int64_t now_us);

/* The slow questions of the last day, the longest first. Returns their number, `max` at most. */
size_t slow_list(struct slow_question *out, size_t max, struct slow *slow, int64_t now_us);

#endif
