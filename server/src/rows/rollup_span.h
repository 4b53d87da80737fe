/*
 * rollup_span.h - which cells make up a span, and the deltas that wait, as rows of the same columns. Inside rows/ only.
 *
 *     from      day       day              day       to
 *      | hours  | whole days                | hours  |
 */
#ifndef MIRE_ROWS_ROLLUP_SPAN_H
#define MIRE_ROWS_ROLLUP_SPAN_H

#include "model/view.h"
#include "pg/pg.h"
#include "rollup/delta.h"

struct rollup_span {
    int64_t from_us, days_us, end_us, to_us; /* whole days between days_us and end_us, hours before and behind */
};

/* Of a view. */
void rollup_span_of(struct rollup_span *out, const struct view *view);

/*
 * The cells of a span: three statements in one. $1 app, $6 slots, and from `p` on the instants of the span.
 *   columns  of rollup
 *   more     further conditions, beginning with AND
 */
/* clang-format off */
#define ROLLUP_OF(columns, more, hours, from, to) \
    "SELECT " columns " FROM rollup WHERE app_id = $1 AND slot = ANY ($6::smallint[]) AND hours = " hours \
    " AND at >= $" from "::timestamptz AND at < $" to "::timestamptz" more
#define ROLLUPS(columns, more, p1, p2, p3, p4) \
    ROLLUP_OF(columns, more, "1", p1, p2) " UNION ALL " ROLLUP_OF(columns, more, "24", p2, p3) \
    " UNION ALL " ROLLUP_OF(columns, more, "1", p3, p4)
/* clang-format on */
#define ROLLUP_SPAN_PARAMS(s) PG_TIME((s)->from_us), PG_TIME((s)->days_us), PG_TIME((s)->end_us), PG_TIME((s)->to_us)

/* Events of deltas that wait, as cells by issue, tree and UTC day, or by kind of the whole app and day. */
struct rollup_waiting {
    int64_t *issues;
    int32_t *trees;
    const char **categories; /* "" by issue */
    struct pg_bytes *cells, *devices;
    int64_t *oldest, *newest;
    size_t count;
};

enum rollup_of {
    MIRE_ROLLUPS_OF_ISSUES,
    MIRE_ROLLUPS_OF_DEVICES, /* of issues, without the cells, which take most of the time */
    MIRE_ROLLUPS_OF_APP,
    MIRE_ROLLUPS_OF_SESSIONS
};

/* Read those of a view, at most the 1,024 oldest deltas: app, span and version are honoured. 0 or a fault. */
int rollup_waiting_read(struct rollup_waiting *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                        const struct rollup_span *span, enum rollup_of of);

#endif
