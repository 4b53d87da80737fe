/*
 * replica.h - the newest change that a transaction sees, by which a replica is compared with the database it copies.
 */
#ifndef MIRE_ROWS_REPLICA_H
#define MIRE_ROWS_REPLICA_H

#include "pg/pg.h"

#define MIRE_REPLICA_BEHIND_MAX (16 << 20) /* bytes of the log that a replica may lack */

struct rows_seen {
    int64_t audit;     /* newest row of the audit log */
    int64_t log_bytes; /* of PostgreSQL's write-ahead log, since its beginning */
};

/* 0 or a fault. */
int rows_seen_read(struct rows_seen *out, struct pg_tx *tx);

/* Has the replica every change of people and keys, and nearly all reports? */
bool rows_seen_is_close(const struct rows_seen *replica, const struct rows_seen *origin);

#endif
