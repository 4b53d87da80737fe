/* tree.c - the statements behind tree.h. */
#include "rows/tree.h"

#define COLUMNS "tree_id, issue_id, tree, caller1, first_seen, frames"

int rows_tree_find(struct pg_tx *tx, const struct tree_row *row)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx, "SELECT first_seen > $4 FROM issue_tree WHERE app_id = $1 AND issue_id = $2 AND tree = $3",
                 PG_INT4(row->app_id), PG_INT8(row->issue_id), PG_INT4(row->tree), PG_TIME(row->first_seen_us));
    if (rc || !pg_row_count(rows))
        return rc;
    if (pg_bool(rows, 0, 0))
        rc = pg_query(NULL, tx,
                      "UPDATE issue_tree SET first_seen = least(first_seen, $4) WHERE app_id = $1 AND issue_id = $2"
                      " AND tree = $3",
                      PG_INT4(row->app_id), PG_INT8(row->issue_id), PG_INT4(row->tree), PG_TIME(row->first_seen_us));
    return rc ? rc : 1;
}

int rows_trees_find(struct rows_tree_found *out, struct pg_tx *tx, int32_t app_id, const int64_t *issues,
                    const int32_t *trees, size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT l.n, t.first_seen, CASE WHEN t.tree IS NULL THEN (SELECT count(*) FROM issue_tree o"
                      " WHERE o.app_id = $1 AND o.issue_id = l.issue_id) END FROM unnest($2::bigint[], $3::integer[])"
                      " WITH ORDINALITY l (issue_id, tree, n) LEFT JOIN issue_tree t ON t.app_id = $1"
                      " AND t.issue_id = l.issue_id AND t.tree = l.tree",
                      PG_INT4(app_id), PG_INT8S(issues, count), PG_INT4S(trees, count));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        out[pg_int(rows, i, 0) - 1] =
            (struct rows_tree_found){!pg_is_null(rows, i, 1), pg_time(rows, i, 1), pg_int(rows, i, 2)};
    return rc;
}

int rows_trees_keep(struct pg_tx *tx, struct arena *arena, const struct tree_row *trees, size_t count)
{
    int64_t *issues = arena_array(arena, count + 1, sizeof *issues),
            *seen = arena_array(arena, count + 1, sizeof *seen);
    int32_t *numbers = arena_array(arena, count + 1, sizeof *numbers);
    int32_t *callers = arena_array(arena, count + 1, sizeof *callers);
    const char **frames = arena_array(arena, count + 1, sizeof *frames);

    if (!count)
        return 0;
    if (!issues || !seen || !numbers || !callers || !frames)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        issues[i] = trees[i].issue_id;
        numbers[i] = trees[i].tree;
        seen[i] = trees[i].first_seen_us;
        frames[i] = trees[i].frames;
        callers[i] = trees[i].caller1;
    }
    return pg_query(NULL, tx,
                    "INSERT INTO issue_tree AS t (app_id, issue_id, tree, first_seen, frames, caller1)"
                    " SELECT $1, l.* FROM unnest($2::bigint[], $3::integer[], $4::timestamptz[], $5::text[],"
                    " $6::integer[]) l (issue_id, tree, first_seen, frames, caller1) ORDER BY issue_id, tree"
                    " ON CONFLICT (app_id, issue_id, tree) DO UPDATE SET"
                    " first_seen = least(t.first_seen, EXCLUDED.first_seen)",
                    PG_INT4(trees->app_id), PG_INT8S(issues, count), PG_INT4S(numbers, count), PG_TIMES(seen, count),
                    PG_TEXTS(frames, count), PG_INT4S(callers, count));
}

int rows_tree_keep(struct pg_tx *tx, const struct tree_row *row)
{
    int rc = pg_query(NULL, tx,
                      "INSERT INTO issue_tree (app_id, issue_id, tree, first_seen, frames, caller1)"
                      " SELECT $1, $2, $3, $4, $5, $6 WHERE"
                      "  (SELECT count(*) FROM issue_tree WHERE app_id = $1 AND issue_id = $2) < $7"
                      " ON CONFLICT (app_id, issue_id, tree) DO NOTHING",
                      PG_INT4(row->app_id), PG_INT8(row->issue_id), PG_INT4(row->tree), PG_TIME(row->first_seen_us),
                      PG_TEXT(row->frames), PG_INT4(row->caller1), PG_INT8(MIRE_TREES_MAX));
    return rc ? rc : rows_tree_find(tx, row);
}

static int fill(struct rows_tree **out, size_t *count, struct arena *arena, const struct pg_rows *rows)
{
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct rows_tree){.tree_id = pg_int(rows, i, 0),
                                       .issue_id = pg_int(rows, i, 1),
                                       .tree = (int32_t)pg_int(rows, i, 2),
                                       .caller1 = (int32_t)pg_int(rows, i, 3),
                                       .first_seen_us = pg_time(rows, i, 4),
                                       .frames = arena_strdup(arena, pg_text(rows, i, 5))};
        if (!(*out)[i].frames)
            return MIRE_FAULT_MEMORY;
    }

    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_tree_news(struct rows_tree **out, size_t *count, int64_t *since_out, struct pg_tx *tx, struct arena *arena,
                   int32_t app_id, int64_t since, size_t cap)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *now = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&now, tx, "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint");
    if (!rc)
        rc = pg_query(&rows, tx,
                      "SELECT " COLUMNS " FROM (SELECT * FROM issue_tree WHERE app_id = $1"
                      "  AND added >= $2::bigint::text::xid8 ORDER BY tree_id DESC LIMIT $3) newest ORDER BY tree_id",
                      PG_INT4(app_id), PG_INT8(since), PG_INT8(cap));
    if (rc)
        return rc;
    *since_out = pg_int(now, 0, 0);
    return fill(out, count, arena, rows);
}

int rows_tree_list(struct rows_tree **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app_id,
                   const int64_t *tree_ids, size_t id_count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT " COLUMNS " FROM issue_tree WHERE app_id = $1 AND tree_id = ANY ($2)",
                      PG_INT4(app_id), PG_INT8S(tree_ids, id_count));
    return rc ? rc : fill(out, count, arena, rows);
}
