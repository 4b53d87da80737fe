/*
 * audit.h - the audit log: every change, sign-in and deletion. Rows are added and read, never changed.
 */
#ifndef MIRE_ROWS_AUDIT_H
#define MIRE_ROWS_AUDIT_H

#include "base/arena.h"
#include "pg/pg.h"

#define MIRE_AUDIT_TEXT_MAX 16384 /* bytes kept of each value: the one before the change and the one after it */

struct audit_row {
    int64_t audit; /* number; 0 when a row is added */
    int64_t at_us;
    const char *who, *via, *address;
    int32_t app;      /* 0: none */
    const char *slug; /* of the app, read only */
    const char *action, *subject;
    const char *before, *after, *reason; /* NULL is "" */
};

/* Add a row in the transaction of the change itself. 0 or a fault. */
int rows_audit_add(struct pg_tx *tx, const struct audit_row *row);

/* Selects rows; 0 and "" select all. */
struct audit_filter {
    bool is_of_app; /* those of `app` alone */
    int32_t app;
    const char *action; /* a prefix of the action */
    const char *who;
    int64_t before; /* rows of a lower number; 0: from the newest on */
    int limit;
};

/* Newest first. 0 or a fault. */
int rows_audit_list(struct audit_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                    const struct audit_filter *filter);

#endif
