/*
 * params.h - strict readers of the values in a query string.
 *
 * Every reader returns 0 and sets its output, or -1 and leaves the output unchanged; then the caller names the
 * parameter and its allowed values in the answer. Pure; texts lie in the arena. Thread: any.
 */
#ifndef MIRE_API_PARAMS_H
#define MIRE_API_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/view.h"

#define MIRE_SPAN_DAYS_MAX 3660

/* "30m", "24h", "14d" back from now_s, or "FROM..TO" as 2026-11-01, ...T14Z, ...T14:30Z, ...T14:30:05Z; widened to
 * hours. */
int span_parse(struct span *out, const char *text, int64_t now_s);

/* 2026-11-01, ...T14Z, ...T14:30Z or ...T14:30:05Z, as microseconds since 1970. */
int time_parse(int64_t *out_us, const char *text);

/* A decimal integer in [low, high], and no other character. */
int integer_parse(int64_t *out, const char *text, int64_t low, int64_t high);

/* 16 lower-case hex digits. */
int hash_parse(uint64_t *out, const char *text);

/* "I-1042" -> 1042; "M-77" -> 77: the letter is for people; the number alone identifies the issue. */
int issue_parse(int64_t *out, const char *text);

/* A UUID in its usual form, any version, lower case. */
bool text_is_uuid(const char *text);

/*
 * The end of a page: its query, its range, and the last row's rank and key. As text it is opaque and fits a URL. The
 * cursor has the range so that a relative one does not move between two pages.
 */
struct page_cursor {
    uint64_t query;
    struct span span;
    const char *rank;
    const char *key;
};

/* NULL if memory runs out. */
char *cursor_format(struct arena *arena, const struct page_cursor *cursor);

/* -1 also for a cursor of another query. */
int cursor_parse(struct page_cursor *out, struct arena *arena, const char *text, uint64_t query);

#endif
