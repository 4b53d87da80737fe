/* credential.c - see credential.h. */
#include "rows/credential.h"

#include <stdio.h>
#include <string.h>

int rows_credential_add(char secret_out[MIRE_KEY_TEXT], struct pg_tx *tx, const struct credential_new *made)
{
    char prefix[MIRE_KEY_PREFIX_LEN + 1];
    uint8_t hash[MIRE_KEY_HASH];
    bool is_token = !strcmp(made->kind, "token");
    key_make(secret_out);
    key_hash(hash, secret_out, strlen(secret_out));
    snprintf(prefix, sizeof prefix, "%s", is_token ? secret_out : "");
    return pg_query(NULL, tx,
                    "INSERT INTO credential (account_id, kind, scope, prefix, hash, label, address, expires_at) VALUES"
                    " (nullif($1, 0), $2, $3, $4, $5, $6, $7, now() + nullif($8, 0) * interval '1 second')",
                    PG_INT8(made->account), PG_TEXT(made->kind), PG_TEXT(made->scope ? made->scope : ""),
                    PG_TEXT(prefix), PG_BYTES(hash, sizeof hash), PG_TEXT(made->label ? made->label : ""),
                    PG_TEXT(made->address ? made->address : ""), PG_INT8(made->lasts_s));
}

/* clang-format off */
#define IS_GOOD "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())" \
                " AND (kind <> 'sign-in' OR coalesce(used_at, created_at) > now() - interval '7 days')"
/* clang-format on */

int rows_credential_list(struct credential_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                         int64_t account, const char *kind)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "SELECT credential_id, scope, prefix, label, address, created_at, expires_at, used_at"
                 " FROM credential WHERE account_id = $1 AND kind = $2 AND " IS_GOOD " ORDER BY credential_id DESC",
                 PG_INT8(account), PG_TEXT(kind));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        struct credential_row *one = &(*out)[i];
        *one = (struct credential_row){.credential = pg_int(rows, i, 0),
                                       .scope = arena_strdup(arena, pg_text(rows, i, 1)),
                                       .prefix = arena_strdup(arena, pg_text(rows, i, 2)),
                                       .label = arena_strdup(arena, pg_text(rows, i, 3)),
                                       .address = arena_strdup(arena, pg_text(rows, i, 4)),
                                       .created_us = pg_time(rows, i, 5),
                                       .expires_us = pg_time(rows, i, 6),
                                       .used_us = pg_time(rows, i, 7)};
        if (!one->scope || !one->prefix || !one->label || !one->address)
            return MIRE_FAULT_MEMORY;
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_credential_revoke(struct pg_tx *tx, int64_t account, const char *kind, int64_t credential)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "UPDATE credential SET revoked_at = now() WHERE credential_id = $1 AND account_id = $2"
                      " AND kind = $3 AND revoked_at IS NULL",
                      PG_INT8(credential), PG_INT8(account), PG_TEXT(kind));
    if (rc)
        return rc;
    return pg_touched(rows) ? CREDENTIAL_DONE : CREDENTIAL_NONE;
}

int rows_credential_revoke_all(int64_t *count_out, struct pg_tx *tx, int64_t account, const char *kind, int64_t but)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "UPDATE credential SET revoked_at = now() WHERE account_id = $1 AND kind = $2"
                      " AND credential_id <> $3 AND revoked_at IS NULL",
                      PG_INT8(account), PG_TEXT(kind), PG_INT8(but));
    *count_out = rc ? 0 : pg_touched(rows);
    return rc;
}

static int link_of(int64_t *account_out, const char **name_out, struct pg_tx *tx, struct arena *arena,
                   const char *secret, const char *sql)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    uint8_t hash[MIRE_KEY_HASH];
    if (!key_is_wellformed(secret, strlen(secret)))
        return CREDENTIAL_NONE;
    key_hash(hash, secret, strlen(secret));
    int rc = pg_query(&rows, tx, sql, PG_BYTES(hash, sizeof hash));
    if (rc)
        return rc;
    if (!pg_row_count(rows))
        return CREDENTIAL_NONE;
    *account_out = pg_int(rows, 0, 0);
    *name_out = arena_strdup(arena, pg_text(rows, 0, 1));
    return *name_out ? CREDENTIAL_DONE : MIRE_FAULT_MEMORY;
}

/* Links of disabled accounts are invalid, and so is the first admin's once there is an account. */
/* clang-format off */
#define LINK_LEADS " AND kind = 'link' AND " IS_GOOD \
    " AND CASE WHEN credential.account_id IS NULL THEN NOT EXISTS (SELECT 1 FROM account)" \
    "  ELSE EXISTS (SELECT 1 FROM account a WHERE a.account_id = credential.account_id AND disabled_at IS NULL) END"
#define LINK_NAME "(SELECT name FROM account a WHERE a.account_id = credential.account_id)"
/* clang-format on */

int rows_credential_use_link(int64_t *account_out, const char **name_out, struct pg_tx *tx, struct arena *arena,
                             const char *secret)
{
    return link_of(account_out, name_out, tx, arena, secret,
                   "UPDATE credential SET revoked_at = now(), used_at = now() WHERE hash = $1" LINK_LEADS
                   " RETURNING coalesce(account_id, 0), coalesce(" LINK_NAME ", '')");
}

int rows_credential_read_link(int64_t *account_out, const char **name_out, struct pg_tx *tx, struct arena *arena,
                              const char *secret)
{
    return link_of(account_out, name_out, tx, arena, secret,
                   "SELECT coalesce(account_id, 0), coalesce(" LINK_NAME ", '') FROM credential"
                   " WHERE hash = $1" LINK_LEADS);
}

int rows_credential_use_code(int64_t *account_out, const char **name_out, struct pg_tx *tx, struct arena *arena,
                             const char *secret)
{
    return link_of(account_out, name_out, tx, arena, secret,
                   "UPDATE credential SET revoked_at = now(), used_at = now() WHERE hash = $1 AND kind = 'code'"
                   " AND " IS_GOOD " AND EXISTS (SELECT 1 FROM account a WHERE a.account_id = credential.account_id"
                   " AND disabled_at IS NULL) RETURNING account_id, " LINK_NAME);
}

int rows_credential_end_links(struct pg_tx *tx, int64_t account)
{
    return pg_query(NULL, tx,
                    "UPDATE credential SET revoked_at = now() WHERE kind = 'link' AND revoked_at IS NULL"
                    " AND account_id IS NOT DISTINCT FROM nullif($1, 0)",
                    PG_INT8(account));
}

int rows_credential_used(struct pg *pg, const int64_t *credentials, size_t count)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_EACH);
    return rc ? rc
              : pg_query(NULL, tx,
                         "WITH used AS (UPDATE credential SET used_at = now() WHERE credential_id = ANY($1)"
                         " AND (used_at IS NULL OR used_at < now() - interval '1 minute') RETURNING account_id)"
                         " UPDATE account SET seen_at = now() WHERE account_id IN (SELECT account_id FROM used)",
                         PG_INT8S(credentials, count));
}
