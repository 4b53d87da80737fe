/*
 * grow.h - arrays that grow by doubling.
 */
#ifndef MIRE_BASE_GROW_H
#define MIRE_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Make room for `more` rows behind the first `count`.
 *
 *   rows  the array's pointer; NULL while room is 0
 *   room  rows there is room for
 *   size  bytes of a row
 *
 * Returns the rows, which may have moved, or NULL without memory: the old ones then stay as they are.
 */
static inline void *grow(void *rows, size_t *room, size_t count, size_t more, size_t size)
{
    size_t least = *room ? *room * 2 : 64;
    if (*room - count >= more)
        return rows;
    if (more > SIZE_MAX / 4 - count)
        return NULL;
    while (least < count + more)
        least *= 2;
    void *moved = reallocarray(rows, least, size);
    if (moved)
        *room = least;
    return moved;
}

/* One more row at the end of `list`, a struct with rows, count and room; false without memory. */
#define GROW(list)                                                                                   \
    ({                                                                                               \
        bool has_room_ = (list)->count < (list)->room;                                               \
        if (!has_room_) {                                                                            \
            void *rows_ = grow((list)->rows, &(list)->room, (list)->count, 1, sizeof *(list)->rows); \
            has_room_ = rows_ != NULL;                                                               \
            if (has_room_)                                                                           \
                (list)->rows = rows_;                                                                \
        }                                                                                            \
        has_room_;                                                                                   \
    })

#endif
