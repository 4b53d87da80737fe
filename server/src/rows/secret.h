/*
 * secret.h - the sealed secrets of the database (base/vault.h), wherever they lie: to seal them anew, and to count them.
 */
#ifndef MIRE_ROWS_SECRET_H
#define MIRE_ROWS_SECRET_H

#include "base/arena.h"
#include "base/vault.h"
#include "pg/pg.h"

struct secret_row {
    enum vault_purpose purpose;
    int64_t row; /* number of the channel, or of the app whose tracker it is */
    int32_t app;
    const char *text; /* as it is stored */
};

/* All that are not empty. 0 or a fault. */
int rows_secret_list(struct secret_row **out, size_t *count, struct pg_tx *tx, struct arena *arena);

/* Store `after` in its place, unless that was changed meanwhile. 0 or a fault. */
int rows_secret_replace(struct pg_tx *tx, const struct secret_row *secret, const char *after);

#endif
