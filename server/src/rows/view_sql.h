/*
 * view_sql.h - common pieces of statements about a view.
 *
 * Parameters 1 to 5 of every statement about a view are: $1 app, $2 from, $3 to, $4 versions wanted, $5 versions not
 * wanted; statements about counters have the slots as $6, because slot and hour lead the index of counters.
 */
#ifndef MIRE_ROWS_VIEW_SQL_H
#define MIRE_ROWS_VIEW_SQL_H

#include "model/population.h"
#include "model/view.h"
#include "pg/pg.h"

/* The UTC day by the database's clock. */
#define TODAY "(now() AT TIME ZONE 'UTC')::date"

/* clang-format off */
#define IN_VERSIONS \
    "(cardinality($4::text[]) + cardinality($5::text[]) = 0 OR version_id IN (SELECT version_id FROM version" \
    " WHERE app_id = $1 AND (cardinality($4::text[]) = 0 OR version = ANY ($4)) AND version <> ALL ($5::text[])))"
#define EVENT_IN_VIEW "app_id = $1 AND occurred_at >= $2 AND occurred_at < $3 AND " IN_VERSIONS
#define HOUR_IN_VIEW "app_id = $1 AND slot = ANY ($6::smallint[]) AND hour >= $2 AND hour < $3 AND " IN_VERSIONS
#define SESSION_DAY_IN_VIEW \
    "app_id = $1 AND slot = ANY ($6::smallint[]) AND day >= ($2 AT TIME ZONE 'UTC')::date" \
    " AND day <= (($3 - interval '1 microsecond') AT TIME ZONE 'UTC')::date AND " IN_VERSIONS
#define ISSUE_TEXT \
    "lower(concat_ws(' ', CASE WHEN i.subject = '' THEN 'I-' ELSE 'M-' END || i.issue_id, i.caller1, i.caller2," \
    " i.caller1_image, i.caller2_image, i.caller1_location, i.reason, i.category, i.subject))"
#define HAS_WORDS(words) \
    "NOT EXISTS (SELECT FROM unnest(" words "::text[]) word WHERE strpos(coalesce(w.texts, " ISSUE_TEXT "), lower(word)) = 0)"

/*
 * Counters and reports have the issue of their key; issue_shown maps this issue, or one of its trees, to the issue it
 * is shown as. For sums `t` by issue_id and tree: FROM t SHOWN_JOIN("t"), where SHOWN_ID("t") is the shown issue.
 */
#define SHOWN_JOIN(t) \
    " LEFT JOIN issue_shown part ON part.app_id = $1 AND part.issue_id = " t ".issue_id AND part.tree = " t ".tree AND part.tree <> 0" \
    " LEFT JOIN issue_shown whole ON whole.app_id = $1 AND whole.issue_id = " t ".issue_id AND whole.tree = 0 "
#define SHOWN_ID(t) "coalesce(part.shown_id, whole.shown_id, " t ".issue_id)"
/* For an issue `i` with merged issues: the facts of all together, joined as `w`. */
#define WHOLES \
    " LEFT JOIN (SELECT s.shown_id, string_agg(" ISSUE_TEXT ", ' ') AS texts, min(i.first_seen) AS first_seen," \
    "   (array_agg(i.first_version_id ORDER BY i.first_seen))[1] AS first_version_id, count(*) AS members" \
    "  FROM issue_shown s JOIN issue i USING (issue_id) WHERE s.app_id = $1 AND s.tree = 0 GROUP BY 1) w" \
    " ON w.shown_id = i.issue_id "
#define STATE "CASE WHEN i.is_regressed THEN 'regressed' ELSE i.state END"

/* The columns of issue that hold its state: an issue that replaces another copies all of them. */
#define ISSUE_STATE_COLUMNS \
    "state, is_regressed, state_version, state_from_next, until_at, until_devices, until_per_1000, state_at"

/*
 * Rows of one issue, with its number in parameter `p`. If the issue has rows in issue_shown (view->many), other issues
 * are shown as this one, or parts of this one as others. OF_ISSUE(view, SQL) is the matching statement, of a macro
 * SQL(WHICH) that contains WHICH("6").
 */
#define ISSUE_ALONE(p) " AND issue_id = $" p
#define ISSUE_MANY(p) \
    " AND issue_id = ANY (ARRAY(SELECT issue_id FROM issue_shown WHERE shown_id = $" p "))" \
    " AND CASE WHEN (issue_id, tree) IN (SELECT issue_id, tree FROM issue_shown WHERE app_id = $1 AND tree <> 0)" \
    "  THEN (issue_id, tree) IN (SELECT issue_id, tree FROM issue_shown WHERE shown_id = $" p " AND tree <> 0)" \
    "  ELSE issue_id IN (SELECT issue_id FROM issue_shown WHERE shown_id = $" p " AND tree = 0) END"
#define OF_ISSUE(view, sql) ((view)->many ? sql(ISSUE_MANY) : sql(ISSUE_ALONE))

#define GROUP_TITLE(order) ((order) == ROWS_BY_CATEGORY ? "coalesce(nullif(i.subject, ''), i.category)" : "i.caller1")
#define GROUP_IMAGE(order) ((order) == ROWS_BY_CATEGORY ? "''" : "i.caller1_image")
#define GROUP_SCENE(order) ((order) == ROWS_BY_PLACE ? "i.caller2" : "''")
/* The key of a group: 12 hex digits. */
#define GROUP_KEY(order) \
    ((order) == ROWS_BY_CATEGORY ? "left(md5(coalesce(nullif(i.subject, ''), i.category) || chr(31)), 12)" \
     : (order) == ROWS_BY_PLACE  ? "left(md5(i.caller1 || chr(31) || i.caller1_image || chr(31) || i.caller2), 12)" \
                                 : "left(md5(i.caller1 || chr(31) || i.caller1_image), 12)")
#define IS_WANTED(column, with, without) \
    "(cardinality(" with "::text[]) = 0 OR " column " = ANY (" with ")) AND " column " <> ALL (" without "::text[])"

#define FILTER_PARAMS(f) PG_TEXTS((f)->with, (f)->with_count), PG_TEXTS((f)->without, (f)->without_count)
#define VIEW_PARAMS(v) \
    PG_INT4((v)->app), PG_TIME((v)->span.from_s * 1000000), PG_TIME((v)->span.to_s * 1000000), \
    FILTER_PARAMS(&(v)->version)
#define SLOT_PARAM PG_INT2S(read_slots, MIRE_SLOT_COUNT)
/* clang-format on */

/* The populations in one column of all rows, merged (memory.c). 0 or MIRE_FAULT_MEMORY. */
int population_of_rows(struct population *out, struct arena *arena, const struct pg_rows *rows, int column);

/*
 * Does the app have split trees? Only then are sums grouped by tree: one more column to group by, even a constant one,
 * costs a third. 0 or a fault.
 */
int rows_splits_read(bool *out, struct pg_tx *tx, int32_t app);
#define TREE_IF(split)    ((split) ? "tree" : "0")
#define BY_TREE_IF(split) ((split) ? ", tree" : "")

/*
 * The issues whose reports may be shown as one of these. A separate query, because the planner estimates by the list.
 */
struct issue_keys {
    int64_t *issues;
    size_t count;
};
int rows_keys_read(struct issue_keys *out, struct pg_tx *tx, struct arena *arena, const int64_t *issues, size_t count);

extern const int16_t read_slots[MIRE_SLOT_COUNT];

#endif
