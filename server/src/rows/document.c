/* document.c - the statements behind document.h: one table each, alike but for the name. */
#include "rows/document.h"

static int take(struct rows_document_version *out, struct arena *arena, const struct pg_rows *rows, size_t row,
                bool with_rules)
{
    *out = (struct rows_document_version){.version = pg_int(rows, row, 0),
                                          .made_us = pg_time(rows, row, 1),
                                          .author = arena_strdup(arena, pg_text(rows, row, 2)),
                                          .reason = arena_strdup(arena, pg_text(rows, row, 3)),
                                          .rules = with_rules ? arena_strdup(arena, pg_text(rows, row, 4)) : ""};
    return out->author && out->reason && out->rules ? 0 : MIRE_FAULT_MEMORY;
}

int rows_rollout_of_key(struct rows_document_version *out, struct pg_tx *tx, struct arena *arena,
                        const uint8_t hash[MIRE_KEY_HASH])
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT coalesce(r.version, 0), r.made_at, r.author, r.reason, r.rules FROM access_key k"
                      " LEFT JOIN rollout_version r ON r.app_id = k.app_id AND r.version ="
                      "  (SELECT max(version) FROM rollout_version WHERE app_id = k.app_id)"
                      " WHERE k.hash = $1 AND k.scope = 'ingest' AND k.revoked_at IS NULL",
                      PG_BYTES(hash, MIRE_KEY_HASH));
    if (rc)
        return rc;
    return pg_row_count(rows) ? take(out, arena, rows, 0, true) : MIRE_DOCUMENT_NONE;
}

/* clang-format off */
#define FIND(table) \
    "SELECT version, made_at, author, reason, rules FROM " table \
    " WHERE app_id = $1 AND ($2 = 0 OR version = $2) ORDER BY version DESC LIMIT 1"
#define NUMBER(table)  "SELECT coalesce(max(version), 0) FROM " table " WHERE app_id = $1"
#define HISTORY(table) \
    "SELECT version, made_at, author, reason FROM " table " WHERE app_id = $1 ORDER BY version DESC LIMIT $2"
/* Of two that make the same number at once, the second finds the row there. */
#define ADD(table) \
    "INSERT INTO " table " (app_id, version, author, reason, rules) SELECT $1, $2 + 1, $3, $4, $5" \
    " WHERE $2 = (SELECT coalesce(max(version), 0) FROM " table " WHERE app_id = $1)" \
    " ON CONFLICT (app_id, version) DO NOTHING"
#define ROW(scope, table) {scope, FIND(table), NUMBER(table), HISTORY(table), ADD(table)}
/* clang-format on */

static const struct {
    const char *scope, *find, *number, *history, *add;
} kinds[] = {
    [ROWS_DOCUMENT_ROLLOUT] = ROW("rollout", "rollout_version"),
    [ROWS_DOCUMENT_RULES] = ROW("rules", "app_rules"),
};

const char *rows_document_scope(enum rows_document what)
{
    return kinds[what].scope;
}

int rows_document_find(struct rows_document_version *out, struct pg_tx *tx, struct arena *arena,
                       enum rows_document what, int32_t app, int64_t version)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, kinds[what].find, PG_INT4(app), PG_INT8(version));
    *out = (struct rows_document_version){.author = "", .reason = "", .rules = ""};
    if (rc)
        return rc;
    if (pg_row_count(rows))
        return take(out, arena, rows, 0, true);
    return version ? MIRE_DOCUMENT_NONE : MIRE_DOCUMENT_DONE;
}

int rows_document_number(int64_t *out, struct pg_tx *tx, enum rows_document what, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, kinds[what].number, PG_INT4(app));
    *out = rc ? 0 : pg_int(rows, 0, 0);
    return rc;
}

int rows_rollouts_since(struct pg_rows **rows_out, struct pg_tx *tx, int32_t app, int64_t after, int64_t most)
{
    return pg_query(rows_out, tx,
                    "SELECT version, made_at, rules FROM rollout_version WHERE app_id = $1 AND version > $2"
                    " ORDER BY version LIMIT $3",
                    PG_INT4(app), PG_INT8(after), PG_INT8(most));
}

int rows_document_history(struct rows_document_version **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                          enum rows_document what, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, kinds[what].history, PG_INT4(app), PG_INT8(MIRE_DOCUMENT_HISTORY_MAX));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && !rc && i < *count; i++)
        rc = take(&(*out)[i], arena, rows, i, false);
    return *out ? rc : MIRE_FAULT_MEMORY;
}

int rows_document_add(struct pg_tx *tx, enum rows_document what, int32_t app, int64_t base,
                      const struct rows_document_version *row)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, kinds[what].add, PG_INT4(app), PG_INT8(base), PG_TEXT(row->author),
                      PG_TEXT(row->reason), PG_TEXT(row->rules));
    if (rc)
        return rc;
    return pg_touched(rows) ? MIRE_DOCUMENT_DONE : MIRE_DOCUMENT_MOVED;
}
