/* door.c - the statements behind door.h. */
#include "rows/door.h"

#include "model/rows.h"
#include "rows/view_sql.h"

int rows_door_add(struct pg_tx *tx, struct arena *arena, const struct rows_door *rows, size_t count)
{
    int16_t *slots = arena_array(arena, count + 1, sizeof *slots);
    int32_t *apps = arena_array(arena, count + 1, sizeof *apps);
    int64_t *reports = arena_array(arena, count + 1, sizeof *reports);
    int64_t *bytes = arena_array(arena, count + 1, sizeof *bytes);
    const char **outcomes = arena_array(arena, count + 1, sizeof *outcomes);

    if (!count)
        return 0;
    if (!slots || !apps || !reports || !bytes || !outcomes)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        slots[i] = rows_slot(rows[i].app_id, 0);
        apps[i] = rows[i].app_id;
        outcomes[i] = rows[i].outcome;
        reports[i] = rows[i].reports;
        bytes[i] = rows[i].bytes;
    }
    return pg_query(NULL, tx,
                    "INSERT INTO door_day AS t (slot, day, app_id, outcome, reports, bytes)"
                    " SELECT slot, " TODAY ", app_id, outcome, reports, bytes"
                    " FROM unnest($1::smallint[], $2::integer[], $3::text[], $4::bigint[], $5::bigint[])"
                    " u (slot, app_id, outcome, reports, bytes) ORDER BY slot, app_id, outcome"
                    " ON CONFLICT (slot, day, app_id, outcome) DO UPDATE SET"
                    " reports = t.reports + EXCLUDED.reports, bytes = t.bytes + EXCLUDED.bytes",
                    PG_INT2S(slots, count), PG_INT4S(apps, count), PG_TEXTS(outcomes, count), PG_INT8S(reports, count),
                    PG_INT8S(bytes, count));
}

int rows_budgets_read(struct rows_budget *budgets, size_t count, struct pg_tx *tx, struct arena *arena,
                      int64_t server_reports, int64_t server_bytes)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int16_t *slots = arena_array(arena, count + 1, sizeof *slots);
    int32_t *apps = arena_array(arena, count + 1, sizeof *apps);

    if (!slots || !apps)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        slots[i] = rows_slot(budgets[i].app_id, 0);
        apps[i] = budgets[i].app_id;
    }
    int rc = pg_query(&rows, tx,
                      "SELECT n, coalesce(a.quota_reports_day, $3), coalesce(a.quota_bytes_day, $4),"
                      " coalesce(d.reports, 0), coalesce(d.bytes, 0)"
                      " FROM unnest($1::smallint[], $2::integer[]) WITH ORDINALITY u (slot, app_id, n)"
                      " JOIN app a USING (app_id) LEFT JOIN door_day d ON d.slot = u.slot AND d.day = " TODAY
                      " AND d.app_id = u.app_id AND d.outcome = 'stored'",
                      PG_INT2S(slots, count), PG_INT4S(apps, count), PG_INT8(server_reports), PG_INT8(server_bytes));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct rows_budget *budget = &budgets[pg_int(rows, i, 0) - 1];
        budget->quota_reports = pg_int(rows, i, 1);
        budget->quota_bytes = pg_int(rows, i, 2);
        budget->reports = pg_int(rows, i, 3);
        budget->bytes = pg_int(rows, i, 4);
    }

    return rc;
}

int rows_door_days(struct rows_door_day **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                   int days)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT day, outcome, reports, bytes FROM door_day WHERE slot = $1 AND app_id = $2"
                      " AND day > " TODAY " - $3::integer ORDER BY day DESC, outcome",
                      PG_INT2(rows_slot(app, 0)), PG_INT4(app), PG_INT4(days));

    *count = 0;
    if (rc)
        return rc;
    *out = arena_array(arena, pg_row_count(rows) + 1, sizeof **out);
    for (size_t i = 0; *out && i < pg_row_count(rows); i++)
        (*out)[(*count)++] = (struct rows_door_day){.day = pg_day(rows, i, 0),
                                                    .outcome = arena_strdup(arena, pg_text(rows, i, 1)),
                                                    .reports = pg_int(rows, i, 2),
                                                    .bytes = pg_int(rows, i, 3)};
    for (size_t i = 0; i < *count; i++)
        if (!(*out)[i].outcome)
            return MIRE_FAULT_MEMORY;
    return *out ? 0 : MIRE_FAULT_MEMORY;
}
