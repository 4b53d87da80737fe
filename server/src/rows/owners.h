/*
 * owners.h - issues whose owners were not sought yet, in apps with rules of owners (model/owners.h).
 */
#ifndef MIRE_ROWS_OWNERS_H
#define MIRE_ROWS_OWNERS_H

#include "base/arena.h"
#include "pg/pg.h"

#include <stdbool.h>

struct owners_due {
    int32_t app;
    int64_t issue;
    const char *caller1, *caller1_image, *caller1_location, *caller2, *caller2_image;
    bool memory;
    bool is_free; /* the issue is open, and nobody's */
};

/* Issues whose owners are due, locked, by app and number; those that others have locked are left out. 0 or a fault. */
int rows_owners_due(struct owners_due **out, size_t *count, struct pg_tx *tx, struct arena *arena, int most);

/* An app's rules, and the folder of its build. 0 or a fault. */
int rows_owners_read(const char **rules, const char **root, struct pg_tx *tx, struct arena *arena, int32_t app);

/* The owners of these issues were sought. 0 or a fault. */
int rows_owners_sought(struct pg_tx *tx, const int64_t *issues, size_t count);

/* Seek the owners of an app's open issues that are nobody's again: its rules changed. 0 or a fault. */
int rows_owners_again(struct pg_tx *tx, int32_t app);

#endif
