/*
 * key.c - apps and the access keys that open them.
 */
#include "pg/key.h"

#include <stdio.h>
#include <string.h>

int pg_key_find(int32_t *app_out, struct pg *pg, const uint8_t hash[MIRE_KEY_HASH], const char *scope)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_EACH);
    if (!rc)
        rc = pg_query(&rows, tx, "SELECT app_id FROM access_key WHERE hash = $1 AND scope = $2 AND revoked_at IS NULL",
                      PG_BYTES(hash, MIRE_KEY_HASH), PG_TEXT(scope));
    if (rc)
        return rc;
    if (!pg_row_count(rows))
        return MIRE_KEY_UNKNOWN;
    *app_out = (int32_t)pg_int(rows, 0, 0);
    return MIRE_KEY_FOUND;
}

/* Number of the app, given out under a lock of the table: apps are few and made by hand. */
static int app_ensure(int32_t *app_out, struct pg_tx *tx, const char *slug)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(NULL, tx, "LOCK TABLE app IN SHARE ROW EXCLUSIVE MODE");
    if (!rc)
        rc = pg_query(NULL, tx,
                      "INSERT INTO app (app_id, slug, name) SELECT coalesce(max(app_id), 0) + 1, $1, $1 FROM app"
                      " ON CONFLICT (slug) DO NOTHING",
                      PG_TEXT(slug));
    if (!rc)
        rc = pg_query(&rows, tx, "SELECT app_id FROM app WHERE slug = $1", PG_TEXT(slug));
    if (!rc)
        *app_out = (int32_t)pg_int(rows, 0, 0);
    return rc;
}

int pg_key_create(char key_out[MIRE_KEY_TEXT], struct pg *pg, const char *slug, const char *scope, const char *label)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    char prefix[MIRE_KEY_PREFIX_LEN + 1];
    uint8_t hash[MIRE_KEY_HASH];
    int32_t app;
    key_make(key_out);
    key_hash(hash, key_out, strlen(key_out));
    snprintf(prefix, sizeof prefix, "%s", key_out);
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = app_ensure(&app, tx, slug);
    if (!rc)
        rc = pg_query(NULL, tx, "INSERT INTO access_key (app_id, scope, prefix, hash, label) VALUES ($1,$2,$3,$4,$5)",
                      PG_INT4(app), PG_TEXT(scope), PG_TEXT(prefix), PG_BYTES(hash, sizeof hash), PG_TEXT(label));
    return rc ? rc : pg_commit(&tx);
}
