/*
 * sql.h - long statements: files of rows/sql, compiled in, with holes for the parts that are known only at run time.
 *
 *     SELECT ... FROM issue_hour WHERE {hour_in_view} GROUP BY 1{by_tree}     -- comments are removed
 *
 * Values are parameters ($1 ...), never holes. A hole is filled with SQL text of this program only.
 */
#ifndef MIRE_ROWS_SQL_H
#define MIRE_ROWS_SQL_H

#include "base/arena.h"

extern const char sql_app_sums[], sql_devices[], sql_facet_hits[], sql_issue_counters[], sql_issue_groups[],
    sql_issue_hits[], sql_issue_shown[], sql_session_rates[], sql_version_facts[];

struct sql_hole {
    const char *name; /* of the hole, which may occur several times */
    const char *text;
};

/* The statement without comments, its holes filled, in the arena. NULL: no memory, or a hole has no row. */
const char *sql_fill(struct arena *arena, const char *sql, const struct sql_hole *holes, size_t count);

/* sql_fill with a list of rows: SQL_FILL(arena, sql_devices, {"tree", "0"}, ...). */
#define SQL_FILL(arena, sql, ...)                                \
    sql_fill(arena, sql, (const struct sql_hole[]){__VA_ARGS__}, \
             sizeof((const struct sql_hole[]){__VA_ARGS__}) / sizeof(struct sql_hole))

#endif
