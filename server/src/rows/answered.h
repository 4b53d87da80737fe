/*
 * answered.h - the plugins that ran on devices, by the session records that devices sent.
 */
#ifndef MIRE_ROWS_ANSWERED_H
#define MIRE_ROWS_ANSWERED_H

#include "base/arena.h"
#include <stddef.h>
#include <stdint.h>

struct pg_tx;

#define ROWS_PLUGINS 4 /* hang, memory, exit, session: the bits of session_day.plugins */

/* Sessions of a channel in a UTC day. */
struct answered_day {
    const char *channel;
    int32_t day; /* days since 1970 */
    int64_t records;
    double sessions;         /* weighted */
    double on[ROWS_PLUGINS]; /* of them, those in which a plugin ran from begin to end; in the order of wire/plugin.h */
};

/* From the day of `since_us` on, oldest day first. 0 or a fault. */
int rows_answered_read(struct answered_day **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                       int64_t since_us);

#endif
