/*
 * paint.h - ranges laid over each other: which one is on top where.
 *
 *     rank 1   [---------------------------)
 *     rank 2        [----------)     [--)
 *     rank 3            [-)
 *     pieces   [111][22][3][222][1111][22][1]
 */
#ifndef MIRE_BASE_PAINT_H
#define MIRE_BASE_PAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct paint_range {
    uint32_t low;
    uint32_t high; /* not in it */
    uint32_t rank; /* the highest is on top; of equal ones the one added last */
    uint32_t what; /* the caller's */
};

struct paint {
    struct paint_range *rows;
    size_t count;
    size_t room;
    uint64_t *keys; /* low << 32 | row; then a second half of the same size for sorting */
    uint32_t *heap; /* rows that have begun, the one on top first */
    size_t heap_count;
    size_t side_room; /* of keys (twice) and heap */
    size_t next;
    uint32_t at;
};

/* Add a range; an empty one is dropped. False: out of memory. */
bool paint_add(struct paint *paint, struct paint_range range);

/* All are added: begin handing out pieces. False: out of memory. */
bool paint_begin(struct paint *paint);

/* The next piece in order of address; pieces do not overlap, and two of one range may touch. False: no more. */
bool paint_next(struct paint_range *out, struct paint *paint);

/* Forget the ranges, keep the memory; give the memory back. */
void paint_reset(struct paint *paint);
void paint_fini(struct paint *paint);

#endif
