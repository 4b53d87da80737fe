/*
 * key.c - apps and the access keys that open them.
 */
#include "rows/key.h"
#include "base/fault.h"
#include "rows/apps.h"

#include <stdio.h>
#include <string.h>

int rows_key_find(int32_t *app_out, struct pg *pg, const uint8_t hash[MIRE_KEY_HASH], const char *scope)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_EACH);
    if (!rc)
        rc = pg_query(&rows, tx,
                      "SELECT app_id FROM access_key WHERE hash = $1 AND scope = $2 AND revoked_at IS NULL"
                      " AND (expires_at IS NULL OR expires_at > now())",
                      PG_BYTES(hash, MIRE_KEY_HASH), PG_TEXT(scope));
    if (rc)
        return rc;
    if (!pg_row_count(rows))
        return MIRE_KEY_UNKNOWN;
    *app_out = (int32_t)pg_int(rows, 0, 0);
    return MIRE_KEY_FOUND;
}

int rows_app_ensure(int32_t *app_out, struct pg_tx *tx, const char *slug)
{
    int rc = rows_app_add(tx, slug, slug);

    return rc < 0 ? rc : rows_app_read(app_out, tx, slug);
}

int rows_key_add(int64_t *key_out, char secret_out[MIRE_KEY_TEXT], struct pg_tx *tx, int32_t app, const char *scope,
                 const char *label, int days)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    char prefix[MIRE_KEY_PREFIX_LEN + 1];
    uint8_t hash[MIRE_KEY_HASH];
    key_make(secret_out);
    key_hash(hash, secret_out, strlen(secret_out));
    snprintf(prefix, sizeof prefix, "%s", secret_out);
    int rc = pg_query(&rows, tx,
                      "INSERT INTO access_key (app_id, scope, prefix, hash, label, expires_at)"
                      " VALUES ($1, $2, $3, $4, $5, now() + nullif($6, 0) * interval '1 day') RETURNING key_id",
                      PG_INT4(app), PG_TEXT(scope), PG_TEXT(prefix), PG_BYTES(hash, sizeof hash), PG_TEXT(label),
                      PG_INT4(days));
    *key_out = rc ? 0 : pg_int(rows, 0, 0);
    return rc;
}

int rows_key_create(char key_out[MIRE_KEY_TEXT], struct pg *pg, const char *slug, const char *scope, const char *label)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int64_t number;
    int32_t app;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_app_ensure(&app, tx, slug);
    if (!rc)
        rc = rows_key_add(&number, key_out, tx, app, scope, label, 0);
    return rc ? rc : pg_commit(&tx);
}

int rows_key_replace(int64_t *key_out, char secret_out[MIRE_KEY_TEXT], struct pg_tx *tx, int32_t app, int64_t key,
                     int64_t overlap_s)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "UPDATE access_key SET expires_at = least(expires_at, now() + $3 * interval '1 second')"
                      " WHERE app_id = $1 AND key_id = $2 AND revoked_at IS NULL"
                      " AND (expires_at IS NULL OR expires_at > now()) RETURNING scope, label",
                      PG_INT4(app), PG_INT8(key), PG_INT8(overlap_s));
    if (!rc && !pg_row_count(rows))
        return MIRE_KEY_UNKNOWN;
    return rc ? rc : rows_key_add(key_out, secret_out, tx, app, pg_text(rows, 0, 0), pg_text(rows, 0, 1), 0);
}

/* App of a slug. MIRE_KEY_FOUND, MIRE_KEY_UNKNOWN, or a fault. */
static int app_of(int32_t *out, struct pg_tx *tx, const char *slug)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT app_id FROM app WHERE slug = $1", PG_TEXT(slug));
    if (rc)
        return rc;
    *out = pg_row_count(rows) ? (int32_t)pg_int(rows, 0, 0) : 0;
    return pg_row_count(rows) ? MIRE_KEY_FOUND : MIRE_KEY_UNKNOWN;
}

int rows_key_rotate(char key_out[MIRE_KEY_TEXT], struct pg *pg, const char *slug, int64_t key, int64_t overlap_s)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int64_t number;
    int32_t app;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = app_of(&app, tx, slug);
    if (!rc)
        rc = rows_key_replace(&number, key_out, tx, app, key, overlap_s);
    return rc ? rc : pg_commit(&tx);
}

int rows_key_each(struct pg *pg, int (*take)(void *context, const struct rows_key_good *key), void *context)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_EACH);
    if (!rc)
        rc = pg_query(&rows, tx,
                      "SELECT hash, key_id, expires_at, app_id, slug, scope FROM access_key JOIN app USING (app_id)"
                      " WHERE revoked_at IS NULL");
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        rc = take(context, &(struct rows_key_good){.hash = pg_bytes(rows, i, 0),
                                                   .key = pg_int(rows, i, 1),
                                                   .expires_us = pg_time(rows, i, 2),
                                                   .app = (int32_t)pg_int(rows, i, 3),
                                                   .slug = pg_text(rows, i, 4),
                                                   .scope = pg_text(rows, i, 5)});
    return rc;
}

int rows_key_used(struct pg *pg, const int64_t *keys, size_t count)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_EACH);
    return rc ? rc
              : pg_query(NULL, tx,
                         "UPDATE access_key SET used_at = now() WHERE key_id = ANY($1)"
                         " AND (used_at IS NULL OR used_at < now() - interval '1 minute')",
                         PG_INT8S(keys, count));
}

int rows_key_list_of(struct pg_tx *tx, int32_t app, int (*take)(void *context, const struct rows_key_row *row),
                     void *context)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT key_id, prefix, scope, label, created_at, revoked_at, expires_at, used_at"
                      " FROM access_key WHERE app_id = $1 ORDER BY key_id",
                      PG_INT4(app));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        rc = take(context, &(struct rows_key_row){.key = pg_int(rows, i, 0),
                                                  .prefix = pg_text(rows, i, 1),
                                                  .scope = pg_text(rows, i, 2),
                                                  .label = pg_text(rows, i, 3),
                                                  .created_us = pg_time(rows, i, 4),
                                                  .revoked_us = pg_time(rows, i, 5),
                                                  .expires_us = pg_time(rows, i, 6),
                                                  .used_us = pg_time(rows, i, 7)});
    return rc;
}

int rows_key_list(struct pg *pg, const char *slug, int (*take)(void *context, const struct rows_key_row *row),
                  void *context)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int32_t app;
    int rc = pg_begin(&tx, pg, MIRE_PG_READ);
    if (!rc)
        rc = app_of(&app, tx, slug);
    if (rc)
        return rc == MIRE_KEY_UNKNOWN ? 0 : rc;
    return rows_key_list_of(tx, app, take, context);
}

int rows_key_tell(const char **out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t key)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT scope, label FROM access_key WHERE app_id = $1 AND key_id = $2", PG_INT4(app),
                      PG_INT8(key));
    if (rc)
        return rc;
    *out = pg_row_count(rows) ? arena_printf(arena, "%s: %s", pg_text(rows, 0, 0), pg_text(rows, 0, 1)) : "";
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_key_end(struct pg_tx *tx, int32_t app, int64_t key)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "UPDATE access_key SET revoked_at = now() WHERE app_id = $1 AND key_id = $2"
                      " AND revoked_at IS NULL",
                      PG_INT4(app), PG_INT8(key));
    if (rc)
        return rc;
    return pg_touched(rows) ? MIRE_KEY_FOUND : MIRE_KEY_UNKNOWN;
}

int rows_key_revoke(struct pg *pg, const char *slug, int64_t key)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int32_t app;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = app_of(&app, tx, slug);
    if (!rc)
        rc = rows_key_end(tx, app, key);
    return rc ? rc : pg_commit(&tx);
}
