/*
 * flood.h - apps that sent more reports today than are let in, and the key that sent the most.
 */
#ifndef MIRE_ROWS_FLOOD_H
#define MIRE_ROWS_FLOOD_H

#include "base/arena.h"
#include "pg/pg.h"

#define MIRE_FLOODS_MAX 5

struct flood {
    const char *app;
    int64_t stored;    /* reports of today */
    int64_t too_often; /* refused for coming too often */
    int64_t beyond;    /* the budget of the day: counted only */
    const char *key;   /* label, or first characters, of the key with the most stored reports of today; "": none */
    double key_share;  /* of the stored reports, by a sample of some ten thousand */
};

/* Apps with reports that were refused or only counted today, most such reports first; at most MIRE_FLOODS_MAX. 0 or a
 * fault. */
int rows_floods_read(struct flood **out, size_t *count, struct pg_tx *tx, struct arena *arena);

#endif
