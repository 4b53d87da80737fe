/*
 * news.h - numbers of an app that change whenever its pages do.
 */
#ifndef MIRE_ROWS_NEWS_H
#define MIRE_ROWS_NEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pg_tx;

struct news {
    int64_t acts; /* of changes by people, and of issues that came back by themselves */
    int64_t data; /* of reports and sessions that were counted, of debug files, and of jobs that derive reports again */
    int64_t alerts; /* of alerts that began, fired, were acknowledged, or ended */
};

/* Read the numbers of each app. 0 or a fault. */
int rows_news_read(struct news *out, struct pg_tx *tx, const int32_t *apps, size_t count);

bool news_are_same(const struct news *a, const struct news *b);

#endif
