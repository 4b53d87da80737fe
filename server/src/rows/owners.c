/* owners.c - the statements behind owners.h. */
#include "rows/owners.h"

#include "base/fault.h"

static const char due_sql[] =
    "SELECT i.app_id, i.issue_id, i.caller1, i.caller1_image, i.caller1_location, i.caller2, i.caller2_image,"
    " i.subject <> '', i.state = 'open' AND i.assignee = '' AND i.gone_to IS NULL"
    " FROM issue i JOIN app a USING (app_id) WHERE a.owners <> '' AND NOT i.owner_sought"
    " ORDER BY i.app_id, i.issue_id LIMIT $1 FOR UPDATE OF i SKIP LOCKED";

int rows_owners_due(struct owners_due **out, size_t *count, struct pg_tx *tx, struct arena *arena, int most)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, due_sql, PG_INT4(most));

    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        struct owners_due *due = &(*out)[i];
        *due = (struct owners_due){.app = (int32_t)pg_int(rows, i, 0),
                                   .issue = pg_int(rows, i, 1),
                                   .caller1 = arena_strdup(arena, pg_text(rows, i, 2)),
                                   .caller1_image = arena_strdup(arena, pg_text(rows, i, 3)),
                                   .caller1_location = arena_strdup(arena, pg_text(rows, i, 4)),
                                   .caller2 = arena_strdup(arena, pg_text(rows, i, 5)),
                                   .caller2_image = arena_strdup(arena, pg_text(rows, i, 6)),
                                   .memory = pg_bool(rows, i, 7),
                                   .is_free = pg_bool(rows, i, 8)};
        if (!due->caller1 || !due->caller1_image || !due->caller1_location || !due->caller2 || !due->caller2_image)
            return MIRE_FAULT_MEMORY;
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_owners_read(const char **rules, const char **root, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT owners, source_root FROM app WHERE app_id = $1", PG_INT4(app));

    if (rc)
        return rc;
    *rules = arena_strdup(arena, pg_row_count(rows) ? pg_text(rows, 0, 0) : "");
    *root = arena_strdup(arena, pg_row_count(rows) ? pg_text(rows, 0, 1) : "");
    return *rules && *root ? 0 : MIRE_FAULT_MEMORY;
}

int rows_owners_sought(struct pg_tx *tx, const int64_t *issues, size_t count)
{
    return pg_query(NULL, tx, "UPDATE issue SET owner_sought = true WHERE issue_id = ANY ($1)",
                    PG_INT8S(issues, count));
}

int rows_owners_again(struct pg_tx *tx, int32_t app)
{
    return pg_query(NULL, tx,
                    "UPDATE issue SET owner_sought = false WHERE app_id = $1 AND owner_sought AND state = 'open'"
                    " AND assignee = ''",
                    PG_INT4(app));
}
