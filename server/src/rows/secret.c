/* secret.c - the statements behind secret.h. */
#include "rows/secret.h"

/* A new place of secrets has its lines in both tables. */
static const char list_sql[] =
    "SELECT s.purpose, s.id, s.app_id, s.secret FROM ("
    " SELECT $1::int AS purpose, app_id::bigint AS id, app_id, token AS secret FROM tracker"
    " UNION ALL SELECT $2, app_id, app_id, secret FROM tracker"
    " UNION ALL SELECT $3, channel_id, app_id, target FROM alert_channel WHERE removed_at IS NULL"
    " UNION ALL SELECT $4, channel_id, app_id, secret FROM alert_channel WHERE removed_at IS NULL) s"
    " WHERE s.secret <> '' ORDER BY s.purpose, s.id";
static const char *const replace_sql[MIRE_VAULT_PURPOSES] = {
    [MIRE_VAULT_TRACKER_TOKEN] = "UPDATE tracker SET token = $3 WHERE app_id = $1 AND token = $2",
    [MIRE_VAULT_TRACKER_SECRET] = "UPDATE tracker SET secret = $3 WHERE app_id = $1 AND secret = $2",
    [MIRE_VAULT_CHANNEL_TARGET] = "UPDATE alert_channel SET target = $3 WHERE channel_id = $1 AND target = $2",
    [MIRE_VAULT_CHANNEL_SECRET] = "UPDATE alert_channel SET secret = $3 WHERE channel_id = $1 AND secret = $2",
};

int rows_secret_list(struct secret_row **out, size_t *count, struct pg_tx *tx, struct arena *arena)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, list_sql, PG_INT4(MIRE_VAULT_TRACKER_TOKEN), PG_INT4(MIRE_VAULT_TRACKER_SECRET),
                      PG_INT4(MIRE_VAULT_CHANNEL_TARGET), PG_INT4(MIRE_VAULT_CHANNEL_SECRET));

    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct secret_row){.purpose = (enum vault_purpose)pg_int(rows, i, 0),
                                        .row = pg_int(rows, i, 1),
                                        .app = (int32_t)pg_int(rows, i, 2),
                                        .text = arena_strdup(arena, pg_text(rows, i, 3))};
        if (!(*out)[i].text)
            return MIRE_FAULT_MEMORY;
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_secret_replace(struct pg_tx *tx, const struct secret_row *secret, const char *after)
{
    return pg_query(NULL, tx, replace_sql[secret->purpose], PG_INT8(secret->row), PG_TEXT(secret->text),
                    PG_TEXT(after));
}
