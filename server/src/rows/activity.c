/* activity.c - see activity.h. */
#include "rows/activity.h"

#include "base/fault.h"

#define ACTS_MAX 200

/* clang-format off */
/* $1 app, $2 issue, $3 most acts. */
static const char activity_sql[] =
    "WITH m AS (SELECT $2::bigint AS issue_id UNION SELECT issue_id FROM issue_shown WHERE shown_id = $2)"
    " SELECT act_id, batch_id, at, who, kind, before::text, after::text, body, undone_at, coalesce(undone_by, '') FROM issue_act"
    "  WHERE app_id = $1 AND issue_id IN (SELECT issue_id FROM m) AND NOT (kind = 'comment' AND body = '')"
    " UNION ALL"
    " SELECT act_id, act_id, min(created_at), min(author), CASE min(kind) WHEN 'merge' THEN 'merged' ELSE 'split' END,"
    "  string_agg(DISTINCT CASE WHEN i.subject = '' THEN 'I-' ELSE 'M-' END || a.issue_id, ', '), '', min(a.reason), min(undone_at),"
    "  coalesce(min(undone_by), '') FROM issue_alias a JOIN issue i USING (app_id, issue_id)"
    "  WHERE app_id = $1 AND (a.issue_id IN (SELECT issue_id FROM m) OR into_id IN (SELECT issue_id FROM m)) GROUP BY act_id"
    " ORDER BY 3 DESC, 1 DESC LIMIT $3";
/* clang-format on */

static int act_fill(struct act_row *a, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    static const int columns[] = {3, 4, 5, 6, 7, 9};
    const char **texts[] = {&a->who, &a->kind, &a->before, &a->after, &a->body, &a->undone_by};

    *a = (struct act_row){.act = pg_int(rows, row, 0),
                          .batch = pg_int(rows, row, 1),
                          .at_us = pg_time(rows, row, 2),
                          .undone_us = pg_time(rows, row, 8)};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (!(*texts[i] = arena_strdup(arena, pg_text(rows, row, columns[i]))))
            return MIRE_FAULT_MEMORY;
    return 0;
}

int rows_activity_read(struct act_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                       int64_t issue)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, activity_sql, PG_INT4(app), PG_INT8(issue), PG_INT8(ACTS_MAX));

    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        if (act_fill(&(*out)[i], arena, rows, i))
            return MIRE_FAULT_MEMORY;
    return *out ? 0 : MIRE_FAULT_MEMORY;
}
