/* parts.c - the issues shown as an issue, its trees, and its merges and splits with their authors. */
#include "rows/parts.h"
#include "rows/rows.h"
#include "rows/sql.h"
#include "rows/standing_read.h"
#include "rows/view_sql.h"

/* clang-format off */
/* $2 the issue, $3 the most rows. */
#define TREES(which) \
    "WITH h AS (SELECT issue_id, tree, sum(reports)::bigint AS reports, sum(events) AS events, max(last_at) AS last_at" \
    "  FROM {counted} WHERE true" which("2") " GROUP BY 1, 2)" \
    " SELECT t.tree_id, issue_id, tree, t.caller1, t.first_seen, t.frames, coalesce(h.reports, 0), coalesce(h.events, 0)," \
    "  h.last_at FROM (SELECT * FROM issue_tree WHERE app_id = $1" which("2") ") t LEFT JOIN h USING (issue_id, tree)" \
    " ORDER BY 7 DESC, tree_id LIMIT $3"
static const char members_sql[] =
    "WITH m AS (SELECT issue_id FROM issue_shown WHERE shown_id = $2 AND tree = 0 UNION SELECT $2),"
    " h AS (SELECT issue_id, sum(reports)::bigint AS reports, sum(events) AS events FROM {counted}"
    "  WHERE issue_id = ANY (ARRAY(SELECT issue_id FROM m)) GROUP BY 1)"
    " SELECT i.issue_id, i.caller1, i.caller2, i.category, i.reason, " STATE ", least(i.first_seen, now()), coalesce(h.reports, 0),"
    "  coalesce(h.events, 0), i.subject FROM m JOIN issue i USING (issue_id) LEFT JOIN h USING (issue_id)"
    " WHERE i.app_id = $1 ORDER BY i.issue_id <> $2, 8 DESC, i.issue_id LIMIT $3";
static const char log_sql[] =
    "WITH m AS (SELECT $2::bigint AS issue_id UNION SELECT issue_id FROM issue_shown WHERE shown_id = $2)"
    " SELECT act_id, kind, a.issue_id, a.tree, into_id, author, reason, created_at, undone_at, coalesce(undone_by, ''),"
    "  coalesce(undone_why, '') FROM issue_alias a"
    " WHERE app_id = $1 AND (a.issue_id IN (SELECT issue_id FROM m) OR into_id IN (SELECT issue_id FROM m))"
    " ORDER BY alias_id DESC LIMIT $3";
/* clang-format on */

#define TREES_LISTED 100

/* Run one of these two statements with the counters of the issue, and of those that may be shown as it. */
static int read_counted(struct pg_rows **rows, struct pg_tx *tx, struct arena *arena, const struct view *view,
                        int64_t issue, const char *statement, int64_t most)
{
    const char *sql = SQL_FILL(arena, statement, {"counted", counted_sql(arena, 4)});
    struct counted counted;

    if (!sql)
        return MIRE_FAULT_MEMORY;
    int rc = rows_counted_of_issue(&counted, tx, arena, view, issue, &(struct counted_by){.bucket_s = 0});
    return rc ? rc
              : pg_query(rows, tx, sql, PG_INT4(view->app), PG_INT8(issue), PG_INT8(most), COUNTED_PARAMS(&counted));
}

int rows_trees_read(struct tree_part **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                    const struct view *view, int64_t issue)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = read_counted(&rows, tx, arena, view, issue, OF_ISSUE(view, TREES), TREES_LISTED);
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct tree_part){.tree_id = pg_int(rows, i, 0),
                                       .issue = pg_int(rows, i, 1),
                                       .tree = (int32_t)pg_int(rows, i, 2),
                                       .caller1 = (int32_t)pg_int(rows, i, 3),
                                       .first_us = pg_time(rows, i, 4),
                                       .frames = arena_strdup(arena, pg_text(rows, i, 5)),
                                       .reports = pg_int(rows, i, 6),
                                       .events = pg_real(rows, i, 7),
                                       .last_us = pg_time(rows, i, 8)};
        if (!(*out)[i].frames)
            return MIRE_FAULT_MEMORY;
    }

    return *out ? 0 : MIRE_FAULT_MEMORY;
}

static int member_fill(struct member_part *m, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    const char **texts[] = {&m->caller1, &m->caller2, &m->category, &m->reason, &m->state};

    *m = (struct member_part){.issue = pg_int(rows, row, 0),
                              .first_us = pg_time(rows, row, 6),
                              .reports = pg_int(rows, row, 7),
                              .events = pg_real(rows, row, 8),
                              .memory = *pg_text(rows, row, 9) != '\0'};
    for (int i = 0; i < 5; i++)
        if (!(*texts[i] = arena_strdup(arena, pg_text(rows, row, i + 1))))
            return MIRE_FAULT_MEMORY;
    return 0;
}

int rows_members_read(struct member_part **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                      const struct view *view, int64_t issue)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = read_counted(&rows, tx, arena, view, issue, members_sql, MIRE_FACET_MAX);
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        if (member_fill(&(*out)[i], arena, rows, i) != 0)
            return MIRE_FAULT_MEMORY;
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

static int act_fill(struct act_part *a, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    *a = (struct act_part){.act = pg_int(rows, row, 0),
                           .kind = arena_strdup(arena, pg_text(rows, row, 1)),
                           .issue = pg_int(rows, row, 2),
                           .tree = (int32_t)pg_int(rows, row, 3),
                           .into = pg_int(rows, row, 4),
                           .author = arena_strdup(arena, pg_text(rows, row, 5)),
                           .reason = arena_strdup(arena, pg_text(rows, row, 6)),
                           .at_us = pg_time(rows, row, 7),
                           .undone_us = pg_time(rows, row, 8),
                           .undone_by = arena_strdup(arena, pg_text(rows, row, 9)),
                           .undone_why = arena_strdup(arena, pg_text(rows, row, 10))};
    return a->kind && a->author && a->reason && a->undone_by && a->undone_why ? 0 : MIRE_FAULT_MEMORY;
}

int rows_acts_read(struct act_part **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                   int64_t issue)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx, log_sql, PG_INT4(app), PG_INT8(issue), PG_INT8(MIRE_FACET_MAX));
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        if (act_fill(&(*out)[i], arena, rows, i) != 0)
            return MIRE_FAULT_MEMORY;
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_shown_all_read(struct shown_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;

    int rc = pg_query(&rows, tx,
                      "SELECT issue_id, tree, shown_id FROM issue_shown WHERE app_id = $1 ORDER BY issue_id, tree",
                      PG_INT4(app));
    if (rc != 0)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (struct shown_row){pg_int(rows, i, 0), (int32_t)pg_int(rows, i, 1), pg_int(rows, i, 2)};
    return *out ? 0 : MIRE_FAULT_MEMORY;
}
