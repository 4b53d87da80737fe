/* module.c - a row for each app and module, written once. */
#include "rows/module.h"

#define MODULES_MAX 4096 /* of an app: names that are made at run time fill the table up to here */

int rows_modules_store(bool *known_out, struct pg_tx *tx, int32_t app_id, const struct module_seen *seen, size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    const char *modules[MIRE_MODULES_AT_ONCE], *paths[MIRE_MODULES_AT_ONCE];
    int64_t unowned[MIRE_MODULES_AT_ONCE];
    for (size_t i = 0; i < count; i++) {
        modules[i] = seen[i].module;
        paths[i] = seen[i].path;
        unowned[i] = seen[i].unowned;
    }
    int rc = pg_query(&rows, tx,
                      "WITH given AS (SELECT l.*, m.unowned AS before FROM unnest($2::text[], $3::text[], $4::bigint[])"
                      "  WITH ORDINALITY l (module, path, unowned, n) LEFT JOIN app_module m"
                      "  ON m.app_id = $1 AND m.module = l.module),"
                      " kept AS (INSERT INTO app_module (app_id, module, path, unowned)"
                      "  SELECT $1, module, path, unowned > 0 FROM given"
                      "  WHERE (before IS NULL AND (SELECT count(*) FROM app_module WHERE app_id = $1) < $5)"
                      "   OR (unowned > 0 AND NOT before) ORDER BY module"
                      "  ON CONFLICT (app_id, module) DO UPDATE SET unowned = app_module.unowned OR EXCLUDED.unowned)"
                      " SELECT before IS NOT NULL AND (before OR unowned = 0) FROM given ORDER BY n",
                      PG_INT4(app_id), PG_TEXTS(modules, count), PG_TEXTS(paths, count), PG_INT8S(unowned, count),
                      PG_INT8(MODULES_MAX));
    for (size_t i = 0; !rc && i < count; i++)
        known_out[i] = pg_bool(rows, i, 0);
    return rc;
}

/* Does an app have so many reports? */
static int has_reports(bool *out, struct pg_tx *tx, int32_t app_id)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT count(*) FROM (SELECT 1 FROM event WHERE app_id = $1 LIMIT $2) few",
                      PG_INT4(app_id), PG_INT8(MIRE_MODULE_REPORTS));
    *out = !rc && pg_int(rows, 0, 0) >= MIRE_MODULE_REPORTS;
    return rc;
}

/* The number of other apps with so many reports, asked app by app (README.md). */
static int count_compared(int64_t *out, struct pg_tx *tx, int32_t app_id)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *apps = NULL;
    bool has;
    int rc = pg_query(&apps, tx, "SELECT app_id FROM app WHERE app_id <> $1", PG_INT4(app_id));

    *out = 0;
    for (size_t i = 0; !rc && i < pg_row_count(apps); i++) {
        rc = has_reports(&has, tx, (int32_t)pg_int(apps, i, 0));
        *out += !rc && has;
    }
    return rc;
}

int rows_modules_proposed(struct pg_rows **out, int64_t *compared_out, struct pg_tx *tx, int32_t app_id, int64_t most)
{
    bool is_enough;
    int rc = count_compared(compared_out, tx, app_id);
    if (!rc)
        rc = has_reports(&is_enough, tx, app_id);
    if (rc)
        return rc;
    if (*compared_out < MIRE_MODULE_APPS || !is_enough)
        most = 0;
    return pg_query(out, tx,
                    "SELECT module, path, first_seen FROM app_module m WHERE app_id = $1 AND unowned"
                    " AND NOT EXISTS (SELECT FROM app_module o WHERE o.module = m.module AND o.app_id <> $1)"
                    " ORDER BY first_seen, module LIMIT $2",
                    PG_INT4(app_id), PG_INT8(most));
}
