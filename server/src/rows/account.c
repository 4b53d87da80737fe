/* account.c - see account.h. */
#include "rows/account.h"

#include <string.h>

bool rows_account_is_name(const char *name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyz0123456789._@+-";
    size_t len = strlen(name);
    return len && len <= 127 && strchr(first, name[0]) && strspn(name, rest) == len;
}

/* clang-format off */
#define COLUMNS "account_id, name, source, password, is_server_admin, created_at, seen_at, disabled_at"
/* clang-format on */

static int take_account(struct account_row *out, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    *out = (struct account_row){.account = pg_int(rows, row, 0),
                                .name = arena_strdup(arena, pg_text(rows, row, 1)),
                                .source = arena_strdup(arena, pg_text(rows, row, 2)),
                                .is_server_admin = pg_bool(rows, row, 4),
                                .created_us = pg_time(rows, row, 5),
                                .seen_us = pg_time(rows, row, 6),
                                .disabled_us = pg_time(rows, row, 7)};
    bool has_password = !pg_is_null(rows, row, 3);
    if (has_password)
        out->password = arena_strdup(arena, pg_text(rows, row, 3));
    return out->name && out->source && (out->password || !has_password) ? 0 : MIRE_FAULT_MEMORY;
}

int rows_account_find(struct account_row *out, struct pg_tx *tx, struct arena *arena, const char *name)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT " COLUMNS " FROM account WHERE name = $1", PG_TEXT(name));
    if (rc)
        return rc;
    return pg_row_count(rows) ? take_account(out, arena, rows, 0) : ACCOUNT_NONE;
}

int rows_account_of_subject(struct account_row *out, struct pg_tx *tx, struct arena *arena, const char *subject)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx, "SELECT " COLUMNS " FROM account WHERE subject = $1 AND subject <> ''", PG_TEXT(subject));
    if (rc)
        return rc;
    return pg_row_count(rows) ? take_account(out, arena, rows, 0) : ACCOUNT_NONE;
}

int rows_account_list(struct account_row **out, size_t *count, struct pg_tx *tx, struct arena *arena)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT " COLUMNS " FROM account ORDER BY name");
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && !rc && i < *count; i++)
        rc = take_account(&(*out)[i], arena, rows, i);
    return *out ? rc : MIRE_FAULT_MEMORY;
}

int rows_account_count(int64_t *out, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT count(*) FROM account");
    *out = rc ? 0 : pg_int(rows, 0, 0);
    return rc;
}

int rows_account_add(int64_t *account_out, struct pg_tx *tx, const char *name, const char *source, const char *subject,
                     bool is_server_admin)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "INSERT INTO account (name, source, subject, is_server_admin) VALUES ($1, $2, $3, $4)"
                      " ON CONFLICT (name) DO NOTHING RETURNING account_id",
                      PG_TEXT(name), PG_TEXT(source), PG_TEXT(subject), PG_BOOL(is_server_admin));
    if (rc)
        return rc;
    if (!pg_row_count(rows))
        return ACCOUNT_THERE;
    *account_out = pg_int(rows, 0, 0);
    return ACCOUNT_DONE;
}

int rows_account_set_password(struct pg_tx *tx, int64_t account, const char *stored)
{
    return pg_query(NULL, tx, "UPDATE account SET password = $2 WHERE account_id = $1", PG_INT8(account),
                    PG_TEXT(stored));
}

int rows_account_set_admin(struct pg_tx *tx, int64_t account, bool is_server_admin)
{
    return pg_query(NULL, tx, "UPDATE account SET is_server_admin = $2 WHERE account_id = $1", PG_INT8(account),
                    PG_BOOL(is_server_admin));
}

int rows_account_set_disabled(struct pg_tx *tx, int64_t account, bool is_disabled)
{
    return pg_query(NULL, tx,
                    is_disabled ? "UPDATE account SET disabled_at = now() WHERE account_id = $1 AND disabled_at IS NULL"
                                : "UPDATE account SET disabled_at = NULL WHERE account_id = $1",
                    PG_INT8(account));
}

/* --- roles ------------------------------------------------------------------------------------------------------- */

int rows_member_list(struct member_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int64_t account,
                     int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT m.account_id, m.app_id, a.name, coalesce(app.slug, ''), m.role FROM member m"
                      " JOIN account a USING (account_id) LEFT JOIN app USING (app_id)"
                      " WHERE ($1 = 0 OR m.account_id = $1) AND ($2 = -1 OR m.app_id = $2 OR m.app_id = 0)"
                      " ORDER BY a.name, 4",
                      PG_INT8(account), PG_INT4(app));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        struct member_row *one = &(*out)[i];
        *one = (struct member_row){.account = pg_int(rows, i, 0),
                                   .app = (int32_t)pg_int(rows, i, 1),
                                   .name = arena_strdup(arena, pg_text(rows, i, 2)),
                                   .slug = arena_strdup(arena, pg_text(rows, i, 3)),
                                   .role = arena_strdup(arena, pg_text(rows, i, 4))};
        if (!one->name || !one->slug || !one->role)
            return MIRE_FAULT_MEMORY;
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_member_set(const char **before_out, struct pg_tx *tx, struct arena *arena, int64_t account, int32_t app,
                    const char *role)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT role FROM member WHERE account_id = $1 AND app_id = $2 FOR UPDATE",
                      PG_INT8(account), PG_INT4(app));
    if (rc)
        return rc;
    *before_out = pg_row_count(rows) ? arena_strdup(arena, pg_text(rows, 0, 0)) : "";
    if (!*before_out)
        return MIRE_FAULT_MEMORY;
    if (!*role)
        return pg_query(NULL, tx, "DELETE FROM member WHERE account_id = $1 AND app_id = $2", PG_INT8(account),
                        PG_INT4(app));
    return pg_query(
        NULL, tx,
        "INSERT INTO member (account_id, app_id, role) VALUES ($1, $2, $3)"
        " ON CONFLICT (account_id, app_id) DO UPDATE SET role = excluded.role, created_at = excluded.created_at",
        PG_INT8(account), PG_INT4(app), PG_TEXT(role));
}

/* --- for access -------------------------------------------------------------------------------------------------- */

static int each_account(struct pg_tx *tx, const struct people_take *take)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT account_id, name, is_server_admin FROM account WHERE disabled_at IS NULL");
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        rc = take->account(take->context, &(struct account_row){.account = pg_int(rows, i, 0),
                                                                .name = pg_text(rows, i, 1),
                                                                .is_server_admin = pg_bool(rows, i, 2)});
    return rc;
}

static int each_member(struct pg_tx *tx, const struct people_take *take)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT account_id, m.app_id, coalesce(slug, ''), role FROM member m LEFT JOIN app USING (app_id)"
                      " WHERE m.app_id = 0 OR slug IS NOT NULL");
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        rc = take->member(take->context, &(struct member_row){.account = pg_int(rows, i, 0),
                                                              .app = (int32_t)pg_int(rows, i, 1),
                                                              .name = "",
                                                              .slug = pg_text(rows, i, 2),
                                                              .role = pg_text(rows, i, 3)});
    return rc;
}

/* A sign-in that nobody used for a week is over. */
static int each_credential(struct pg_tx *tx, const struct people_take *take)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(
        &rows, tx,
        "SELECT hash, credential_id, account_id, expires_at, kind, scope FROM credential"
        " WHERE revoked_at IS NULL AND kind IN ('sign-in', 'token') AND (expires_at IS NULL OR expires_at > now())"
        " AND (kind <> 'sign-in' OR coalesce(used_at, created_at) > now() - interval '7 days')");
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        rc = take->credential(take->context, &(struct credential_good){.hash = pg_bytes(rows, i, 0),
                                                                       .credential = pg_int(rows, i, 1),
                                                                       .account = pg_int(rows, i, 2),
                                                                       .expires_us = pg_time(rows, i, 3),
                                                                       .kind = pg_text(rows, i, 4),
                                                                       .scope = pg_text(rows, i, 5)});
    return rc;
}

int rows_people_each(struct pg *pg, const struct people_take *take)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_READ);
    if (!rc)
        rc = each_account(tx, take);
    if (!rc)
        rc = each_member(tx, take);
    return rc ? rc : each_credential(tx, take);
}
