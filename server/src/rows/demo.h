/*
 * demo.h - the demo app: an app of invented reports in which nothing can be changed; a database has one at most. Removing
 * it, and deleting the rows of removed apps.
 */
#ifndef MIRE_ROWS_DEMO_H
#define MIRE_ROWS_DEMO_H

#include "base/arena.h"
#include "pg/pg.h"

#include <stdbool.h>

/* Is the app a demo? 0 or a fault. */
int rows_demo_is(bool *out, struct pg_tx *tx, int32_t app);

/* The demo app. 0, READ_NONE or a fault. */
int rows_demo_find(int32_t *app_out, const char **slug_out, struct pg_tx *tx, struct arena *arena);

/* Make it, by the name demo or, if that is taken, demo-2 and so on. The caller found none. 0, READ_NONE (all these names
 * are taken) or a fault. */
int rows_demo_add(int32_t *app_out, const char **slug_out, struct pg_tx *tx, struct arena *arena);

/* Keep the app from being removed until the transaction ends. 0, READ_NONE (it was removed) or a fault. */
int rows_demo_hold(struct pg_tx *tx, int32_t app);

/* Remove it. The number is not given out again; rows_removed_empty deletes its rows. 0, READ_NONE or a fault. */
int rows_demo_remove(struct pg_tx *tx);

/* Delete the rows of removed apps, but those of the audit log. 0 or a fault; a call that finds none is cheap. */
int rows_removed_empty(struct pg_tx *tx, struct arena *arena);

#endif
