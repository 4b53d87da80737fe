/*
 * tower.c - a stack of a given height, to be unwound. Built twice: as TOWER=tower_fp with frame pointers only, and as
 * TOWER=tower_cfi with call frame information and without frame pointers.
 */
#include "tower.h"

#include <string.h>

#define STAY __attribute__((noinline, noclone))

/* Exported, so that dladdr finds their names. */
#define PASTE(a, b) a##b
#define NAME(a, b)  PASTE(a, b)
#define SMALL       NAME(TOWER, _small)
#define LARGE       NAME(TOWER, _large)

long SMALL(int left, long (*top)(long), long number);
long LARGE(int left, long (*top)(long), long number);

static long go_on(int left, long (*top)(long), long number)
{
    if (left <= 0)
        return top(number);
    return left % 3 == 0 ? LARGE(left - 1, top, number) : SMALL(left - 1, top, number);
}

/* A few registers live across the call, as in real functions. */
STAY long SMALL(int left, long (*top)(long), long number)
{
    long twice = number * 2, square = number * number;
    long result = go_on(left, top, number + 1);

    return result + twice + square + left;
}

STAY long LARGE(int left, long (*top)(long), long number)
{
    volatile char room[700];

    memset((void *)(unsigned long)room, (int)number, sizeof(room));
    return go_on(left, top, number + 1) + room[left & 63];
}

long TOWER(int height, long (*top)(long))
{
    return go_on(height - 2, top, height); /* without this frame and the top's */
}
