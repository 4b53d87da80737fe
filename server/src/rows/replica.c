/* replica.c - see replica.h. */
#include "rows/replica.h"

int rows_seen_read(struct rows_seen *out, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT coalesce(max(audit_id), 0), (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
                      " ELSE pg_current_wal_lsn() END - '0/0')::bigint FROM audit");
    if (!rc)
        *out = (struct rows_seen){pg_int(rows, 0, 0), pg_int(rows, 0, 1)};
    return rc;
}

bool rows_seen_is_close(const struct rows_seen *replica, const struct rows_seen *origin)
{
    return replica->audit >= origin->audit && replica->log_bytes + MIRE_REPLICA_BEHIND_MAX >= origin->log_bytes;
}
