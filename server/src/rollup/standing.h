/*
 * standing.h - counters of many issues or versions over a span of hours, packed into one row.
 *
 *     hour hour hour ...  ->  6 hours, a day, 4 days, 16 days      any span: a few of the largest that fit into it
 *
 * All are sums and extremes, so rows of several spans add up. Reports can be taken away again: reports, events and time
 * are exact at once, the extremes once the row is made anew. Pure; one thread at a time.
 */
#ifndef MIRE_ROLLUP_STANDING_H
#define MIRE_ROLLUP_STANDING_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which keys a row has, and what its number is of. */
enum standing_kind {
    MIRE_STANDING_ISSUES,   /* issue and tree, of the whole app; 0 */
    MIRE_STANDING_VERSIONS, /* version and kind of trouble; 0 */
    MIRE_STANDING_TURNS,    /* version and bucket; 0 */
    MIRE_STANDING_VERSION,  /* issue and tree; a version */
    MIRE_STANDING_ISSUE,    /* version, tree and hour of the day; an issue. Days only */
    MIRE_STANDING_KINDS
};

/* Hours of a kind's spans, shortest first, each a multiple of the one before; 0 ends. */
#define MIRE_STANDING_LENGTHS 5
extern const int16_t standing_lengths[MIRE_STANDING_KINDS][MIRE_STANDING_LENGTHS + 1];

struct standing_block {
    int16_t hours;
    int64_t at_us;
};

/* The spans of a kind, each of at most so many hours, that make up whole hours from..to, in order, in the arena; of
 * MIRE_STANDING_ISSUE the days that touch it. NULL: no memory. */
struct standing_block *standing_blocks(size_t *count, struct arena *arena, enum standing_kind kind, int16_t most,
                                       int64_t from_us, int64_t to_us);

struct standing_sums {
    int64_t reports;
    double events, waited_ms, above_bytes;
    int64_t longest_ms, most_bytes;
    int64_t first_us, last_us; /* the first hour with reports; the newest event */
    int32_t low, high;         /* least and greatest mark that a reader gave; not stored */
};

struct standing_key {
    int64_t a, b; /* as the kind says; of four numbers for readers, who put their own */
    int32_t c, d;
};

/* Sums by key, in the order of their coming; zeroed: empty. */
struct standing {
    struct standing_row {
        struct standing_key key;
        struct standing_sums sums;
    } * rows;
    size_t count, room;
    uint32_t *table; /* number of a row + 1, by hash; 0: free */
    size_t mask;
};

/* Add sums to those of a key. 0, or MIRE_FAULT_MEMORY. */
int standing_add(struct standing *standing, struct arena *arena, const struct standing_key *key,
                 const struct standing_sums *sums);

/* Sort rows by key, and remove those without reports and events. The table is gone: nothing may be added. */
void standing_sort(struct standing *standing);

/* A sorted one as bytes in the arena; it begins at at_us. 0, or MIRE_FAULT_MEMORY. */
int standing_encode(unsigned char **bytes_out, size_t *len_out, struct arena *arena, const struct standing *standing,
                    int64_t at_us);

/* Each row of these bytes. 0, the first result that is not 0, or MIRE_FAULT_BROKEN. */
typedef int (*standing_take)(void *context, const struct standing_key *key, const struct standing_sums *sums);
int standing_each(const void *bytes, size_t len, int64_t at_us, standing_take take, void *context);

/* --- the changes of one transaction --- */

/* What an hour of one issue, version or length of turns gained, or lost. */
struct standing_change {
    enum standing_kind kind; /* ISSUES, VERSIONS or TURNS */
    int64_t issue, version;
    int32_t part; /* tree, kind of trouble or bucket */
    struct standing_sums sums;
};

int standing_changes_encode(unsigned char **bytes_out, size_t *len_out, struct arena *arena,
                            const struct standing_change *changes, size_t count);

/* In the arena. 0, or MIRE_FAULT_BROKEN. */
int standing_changes_decode(struct standing_change **out, size_t *count, struct arena *arena, const void *bytes,
                            size_t len);

#endif
