/*
 * fresh.h - new issues of apps that merge them by themselves.
 */
#ifndef MIRE_ROWS_FRESH_H
#define MIRE_ROWS_FRESH_H

#include "base/arena.h"
#include "pg/pg.h"

struct fresh_issue {
    int32_t app;
    int64_t issue;
    double above; /* similarity from which the app merges */
};

/*
 * Open issues with a number above `since` that nobody merged, split or took out, oldest first, at most
 * MIRE_FRESH_MAX of the newest; *newest_out is the number of the newest issue of all. 0 or a fault.
 */
#define MIRE_FRESH_MAX 500
int rows_fresh_list(struct fresh_issue **out, size_t *count, int64_t *newest_out, struct pg_tx *tx, struct arena *arena,
                    int64_t since);

/* Did nobody merge, split or take out `issue`, nor take it out of `into`? After rows_alias_begin. 0 or a fault. */
int rows_fresh_is_free(bool *out, struct pg_tx *tx, int32_t app, int64_t issue, int64_t into);

#endif
