/* alias.c - the statements behind alias.h. */
#include "rows/alias.h"
#include "rows/sql.h"
#include "rows/view_sql.h"

#include "base/id.h"

#include <stdlib.h>
#include <string.h>

int rows_alias_begin(struct pg_tx *tx, int32_t app)
{
    return pg_query(NULL, tx, "SELECT FROM app WHERE app_id = $1 FOR NO KEY UPDATE", PG_INT4(app));
}

static int add(struct pg_tx *tx, struct alias_act *act, const struct alias_tree *what, int64_t into)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "WITH n AS (SELECT nextval(pg_get_serial_sequence('issue_alias', 'alias_id')) AS id)"
                 " INSERT INTO issue_alias (alias_id, app_id, kind, issue_id, tree, into_id, act_id, author, reason)"
                 " SELECT id, $1, CASE $3 WHEN 0 THEN 'merge' ELSE 'split' END, $2, $3, $4,"
                 "  coalesce(nullif($5, 0), id), $6, $7 FROM n RETURNING act_id",
                 PG_INT4(act->app), PG_INT8(what->issue), PG_INT4(what->tree), PG_INT8(into), PG_INT8(act->act),
                 PG_TEXT(act->author), PG_TEXT(act->reason));
    if (!rc)
        act->act = pg_int(rows, 0, 0);
    return rc;
}

int rows_alias_merge(struct pg_tx *tx, struct alias_act *act, int64_t issue, int64_t into)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(
        &rows, tx,
        "SELECT (subject <> '')::integer FROM issue i WHERE app_id = $1 AND issue_id IN ($2, $3) AND NOT EXISTS "
        "(SELECT FROM"
        " issue_shown s WHERE s.app_id = $1 AND s.issue_id = i.issue_id AND tree = 0 AND shown_id <> i.issue_id)",
        PG_INT4(act->app), PG_INT8(issue), PG_INT8(into));
    if (rc || pg_row_count(rows) != 2 || pg_int(rows, 0, 0) != pg_int(rows, 1, 0))
        return rc ? rc : MIRE_ALIAS_NONE;
    rc = add(tx, act, &(struct alias_tree){issue, 0}, into);
    return rc ? rc : rows_shown_refresh(tx, act->app);
}

/* The key of an issue that is opened for trees: the same trees of the same issue give the same again. */
static void key_of(uint8_t key[16], int64_t from, const struct alias_tree *trees, size_t count)
{
    int64_t parts[1 + 2 * MIRE_ALIAS_MAX];
    size_t n = 0;
    parts[n++] = from;
    for (size_t i = 0; i < count; i++) {
        parts[n++] = trees[i].issue;
        parts[n++] = trees[i].tree;
    }
    hash_blake2b(key, 16, parts, n * sizeof *parts);
}

static int open_for(int64_t *opened_out, struct pg_tx *tx, int32_t app, int64_t from, const struct alias_tree *trees,
                    size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *first = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int64_t issues[MIRE_ALIAS_MAX];
    int32_t numbers[MIRE_ALIAS_MAX];
    uint8_t key[16];
    for (size_t i = 0; i < count; i++) {
        issues[i] = trees[i].issue;
        numbers[i] = trees[i].tree;
    }
    key_of(key, from, trees, count);
    /* Apart from the statement that opens the issue: issue is a copied table, event a spread one (README.md). */
    int rc = pg_query(&first, tx,
                      "SELECT version_id FROM event e JOIN unnest($2::bigint[], $3::integer[]) u (issue_id, tree)"
                      " USING (issue_id, tree) WHERE e.app_id = $1 ORDER BY occurred_at LIMIT 1",
                      PG_INT4(app), PG_INT8S(issues, count), PG_INT4S(numbers, count));
    if (rc)
        return rc;
    rc = pg_query(
        &rows, tx,
        "WITH t AS (SELECT min(first_seen) AS first_seen, count(*) AS trees FROM issue_tree JOIN"
        "   unnest($4::bigint[], $5::integer[]) u (issue_id, tree) USING (issue_id, tree) WHERE app_id = $1),"
        " o AS (INSERT INTO issue (app_id, feature_key, caller1, caller1_image, caller1_location, caller2, "
        "caller2_image,"
        "   category, reason, subject, rules_version, " ISSUE_STATE_COLUMNS
        ", assignee, first_seen, first_version_id, split_from)"
        "  SELECT $1, $3, caller1, caller1_image, caller1_location, caller2, caller2_image, category, reason, subject,"
        "   rules_version, " ISSUE_STATE_COLUMNS ", assignee, t.first_seen, coalesce($7, first_version_id), $2"
        "  FROM issue, t WHERE issue_id = $2 AND app_id = $1 AND t.trees = $6"
        "  ON CONFLICT (app_id, feature_key) DO UPDATE SET state = EXCLUDED.state, is_regressed = EXCLUDED.is_regressed"
        "   RETURNING issue_id)"
        " SELECT issue_id FROM o",
        PG_INT4(app), PG_INT8(from), PG_BYTES(key, sizeof key), PG_INT8S(issues, count), PG_INT4S(numbers, count),
        PG_INT8(count), pg_row_count(first) ? PG_INT8(pg_int(first, 0, 0)) : PG_NULL());
    if (rc || !pg_row_count(rows))
        return rc ? rc : MIRE_ALIAS_NONE;
    *opened_out = pg_int(rows, 0, 0);
    return 0;
}

/* Is each of them shown as `from`, by its own row or its issue's? */
static int all_there(struct pg_tx *tx, int32_t app, int64_t from, const struct alias_tree *tree)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "SELECT coalesce((SELECT shown_id FROM issue_shown WHERE app_id = $1 AND issue_id = $2 AND tree = $3),"
                 " (SELECT shown_id FROM issue_shown WHERE app_id = $1 AND issue_id = $2 AND tree = 0), $2) = $4"
                 " AND NOT EXISTS (SELECT FROM issue_alias WHERE issue_id = $2 AND tree = $3 AND undone_at IS NULL)",
                 PG_INT4(app), PG_INT8(tree->issue), PG_INT4(tree->tree), PG_INT8(from));
    if (rc)
        return rc;
    return pg_bool(rows, 0, 0) ? 0 : MIRE_ALIAS_NONE;
}

static int by_tree(const void *a, const void *b)
{
    const struct alias_tree *left = a, *right = b;
    if (left->issue != right->issue)
        return left->issue < right->issue ? -1 : 1;
    return (left->tree > right->tree) - (left->tree < right->tree);
}

int rows_alias_split(int64_t *opened_out, struct pg_tx *tx, struct alias_act *act, int64_t from,
                     const struct alias_tree *trees, size_t count)
{
    struct alias_tree sorted[MIRE_ALIAS_MAX];

    if (!count || count > MIRE_ALIAS_MAX)
        return MIRE_ALIAS_NONE;
    memcpy(sorted, trees, count * sizeof *trees);
    qsort(sorted, count, sizeof *sorted, by_tree);
    for (size_t i = 0; i < count; i++) {
        int rc = all_there(tx, act->app, from, &sorted[i]);
        if (rc || (i && !by_tree(&sorted[i - 1], &sorted[i])))
            return rc ? rc : MIRE_ALIAS_NONE;
    }
    int rc = open_for(opened_out, tx, act->app, from, sorted, count);
    for (size_t i = 0; !rc && i < count; i++)
        rc = add(tx, act, &sorted[i], *opened_out);
    return rc ? rc : rows_shown_refresh(tx, act->app);
}

/* Follows the aliases again after an update undid some. */
static int undone(struct pg_tx *tx, int32_t app, int rc, const struct pg_rows *rows)
{
    if (rc || !pg_touched(rows))
        return rc ? rc : MIRE_ALIAS_NONE;
    return rows_shown_refresh(tx, app);
}

int rows_alias_take_out(struct pg_tx *tx, const struct alias_act *act, const int64_t *issues, size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "UPDATE issue_alias SET undone_at = now(), undone_by = $3, undone_why = $4"
                      " WHERE app_id = $1 AND issue_id = ANY ($2) AND tree = 0 AND undone_at IS NULL",
                      PG_INT4(act->app), PG_INT8S(issues, count), PG_TEXT(act->author), PG_TEXT(act->reason));
    return undone(tx, act->app, rc, rows);
}

int rows_alias_undo(struct pg_tx *tx, const struct alias_act *act)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "UPDATE issue_alias SET undone_at = now(), undone_by = $3, undone_why = $4"
                      " WHERE app_id = $1 AND act_id = $2 AND undone_at IS NULL",
                      PG_INT4(act->app), PG_INT8(act->act), PG_TEXT(act->author), PG_TEXT(act->reason));
    return undone(tx, act->app, rc, rows);
}

int rows_shown_refresh(struct pg_tx *tx, int32_t app)
{
    int rc = pg_query(NULL, tx, "DELETE FROM issue_shown WHERE app_id = $1", PG_INT4(app));
    return rc ? rc : pg_query(NULL, tx, sql_issue_shown, PG_INT4(app));
}
