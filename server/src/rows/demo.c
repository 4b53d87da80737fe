/* demo.c - the statements behind demo.h. */
#include "rows/demo.h"
#include "rows/apps.h"
#include "rows/rows.h"

#define NAMES 20 /* demo to demo-20 are tried */

int rows_demo_is(bool *out, struct pg_tx *tx, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT EXISTS (SELECT FROM app WHERE app_id = $1 AND is_demo)", PG_INT4(app));

    if (!rc)
        *out = pg_bool(rows, 0, 0);
    return rc;
}

int rows_demo_find(int32_t *app_out, const char **slug_out, struct pg_tx *tx, struct arena *arena)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT app_id, slug FROM app WHERE is_demo");

    if (rc || !pg_row_count(rows))
        return rc ? rc : READ_NONE;
    *app_out = (int32_t)pg_int(rows, 0, 0);
    *slug_out = arena_strdup(arena, pg_text(rows, 0, 1));
    return *slug_out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_demo_add(int32_t *app_out, const char **slug_out, struct pg_tx *tx, struct arena *arena)
{
    int rc = ROWS_APP_THERE;

    for (int i = 1; rc == ROWS_APP_THERE && i <= NAMES; i++) {
        *slug_out = i == 1 ? "demo" : arena_printf(arena, "demo-%d", i);
        rc = *slug_out ? rows_app_add(tx, *slug_out, "Demo") : MIRE_FAULT_MEMORY;
    }
    if (rc)
        return rc == ROWS_APP_THERE ? READ_NONE : rc;
    rc = rows_app_read(app_out, tx, *slug_out);
    return rc ? rc : pg_query(NULL, tx, "UPDATE app SET is_demo = true WHERE app_id = $1", PG_INT4(*app_out));
}

int rows_demo_hold(struct pg_tx *tx, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT FROM app WHERE app_id = $1 FOR KEY SHARE", PG_INT4(app));

    return rc || pg_row_count(rows) ? rc : READ_NONE;
}

int rows_demo_remove(struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "DELETE FROM app WHERE is_demo RETURNING app_id");

    if (rc || !pg_row_count(rows))
        return rc ? rc : READ_NONE;
    return pg_query(NULL, tx, "INSERT INTO app_removed (app_id) VALUES ($1)", PG_INT4((int32_t)pg_int(rows, 0, 0)));
}

/* --- the rows of removed apps -------------------------------------------------------------------------------------- */

/* The inbox first: its rows are locked while a worker stores what it makes of them. */
static const char tables_sql[] =
    "SELECT quote_ident(c.relname) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
    " WHERE a.attname = 'app_id' AND NOT a.attisdropped AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
    " AND c.relnamespace = current_schema()::regnamespace AND c.relname NOT IN ('app', 'app_removed', 'audit')"
    " ORDER BY c.relname <> 'inbox', c.relname <> 'rollup_due', c.relname = 'event', c.relname";

static int empty_one(int64_t *deleted, struct pg_tx *tx, struct arena *arena, const struct pg_rows *tables, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *stacks = NULL;
    int rc = 0;

    for (size_t i = 0; !rc && i < pg_row_count(tables); i++) {
        MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
        const char *sql = arena_printf(arena, "DELETE FROM %s WHERE app_id = $1", pg_text(tables, i, 0));
        rc = sql ? pg_query(&rows, tx, sql, PG_INT4(app)) : MIRE_FAULT_MEMORY;
        *deleted += rc ? 0 : pg_touched(rows);
        if (!rc && !i) /* stacks name no app, and their events go last */
            rc = pg_query(&stacks, tx,
                          "DELETE FROM event_stack s USING event e WHERE e.app_id = $1 AND s.slot = e.slot"
                          " AND s.day = e.day AND s.report_id = e.report_id",
                          PG_INT4(app));
    }
    return rc;
}

int rows_removed_empty(struct pg_tx *tx, struct arena *arena)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *apps = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *tables = NULL;
    int rc = pg_query(&apps, tx, "SELECT app_id FROM app_removed WHERE emptied_at IS NULL FOR UPDATE SKIP LOCKED");

    if (rc || !pg_row_count(apps))
        return rc;
    rc = pg_query(&tables, tx, tables_sql);
    for (size_t i = 0; !rc && i < pg_row_count(apps); i++) {
        int32_t app = (int32_t)pg_int(apps, i, 0);
        int64_t deleted = 0;
        rc = empty_one(&deleted, tx, arena, tables, app);
        if (!rc && !deleted) /* nobody wrote more since the last call */
            rc = pg_query(NULL, tx, "UPDATE app_removed SET emptied_at = now() WHERE app_id = $1", PG_INT4(app));
    }
    return rc;
}
