/* issue_days.c - the cells of some issues at a time, merged by issue and day. */
#include "rows/issue_days.h"

#include "base/fault.h"
#include "rollup/cell.h"
#include "rows/rollup_read.h"
#include "rows/rollup_span.h"
#include "rows/view_sql.h"

#define ISSUES_AT_ONCE 256
#define SCRATCH_BYTES  (256u << 20)

/* clang-format off */
/* $7 issues, $8 those whose cells may be shown as one of them; $9 to $12 the span; $13 to $16 what waits. */
#define OF_KEYS " AND issue_id = ANY ($8::bigint[])"
static const char days_sql[] =
    "WITH r AS (" ROLLUPS("issue_id, tree, at, cell", OF_KEYS, "9", "10", "11", "12")
    " UNION ALL SELECT issue_id, tree, at, cell"
    "  FROM unnest($13::bigint[], $14::integer[], $15::timestamptz[], $16::bytea[]) u (issue_id, tree, at, cell)"
    "  WHERE true" OF_KEYS "),"
    " s AS (SELECT " SHOWN_ID("r") " AS issue_id, (at AT TIME ZONE 'UTC')::date AS day, cell FROM r" SHOWN_JOIN("r") ")"
    " SELECT issue_id, day, cell FROM s WHERE issue_id = ANY ($7::bigint[]) ORDER BY 1, 2";
/* clang-format on */

struct days_read {
    const struct view *view;
    struct arena scratch; /* of one issue */
    issue_days_take take;
    void *context;
};

static int add_sums(struct issue_day *day, struct arena *arena, const struct cell_sums *sums)
{
    day->reports += sums->reports;
    day->weight += sums->weight;
    day->events += sums->events;
    return distinct_merge(&day->devices, arena, &sums->devices);
}

/* Add the wanted versions of a cell. */
static int add_cell(struct issue_day *day, struct days_read *read, struct pg_bytes bytes)
{
    const struct filter *versions = &read->view->version;
    struct cell cell;
    int rc = cell_decode(&cell, &read->scratch, bytes.bytes, bytes.len);

    if (!rc && !versions->with_count && !versions->without_count)
        return add_sums(day, &read->scratch, &cell.all);
    for (size_t i = 0; !rc && i < cell.value_count; i++)
        if (cell.values[i].facet == MIRE_FACET_VERSION && filter_wants(versions, cell.values[i].text))
            rc = add_sums(day, &read->scratch, &cell.values[i].sums);
    return rc;
}

/* The rows from..to are one issue's. */
static int take_issue(struct days_read *read, const struct pg_rows *rows, size_t from, size_t to)
{
    size_t count = 0;
    int rc = 0;

    arena_reset(&read->scratch);
    struct issue_day *days = arena_array(&read->scratch, to - from, sizeof *days);
    if (!days)
        return MIRE_FAULT_MEMORY;
    for (size_t i = from; !rc && i < to; i++) {
        int32_t day = pg_day(rows, i, 1);
        if (count && days[count - 1].day != day && !days[count - 1].reports)
            count--; /* none of the wanted versions */
        if (!count || days[count - 1].day != day)
            days[count++] = (struct issue_day){.day = day};
        rc = add_cell(&days[count - 1], read, pg_bytes(rows, i, 2));
    }
    if (count && !days[count - 1].reports)
        count--;
    return rc || !count ? rc : read->take(read->context, &read->scratch, pg_int(rows, from, 0), days, count);
}

static int read_some(struct days_read *read, struct pg_tx *tx, struct arena *arena, const struct rollup_span *span,
                     const struct rollup_waiting *waiting, const int64_t *issues, size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct issue_keys keys;
    int rc = rows_keys_read(&keys, tx, arena, issues, count);

    if (!rc)
        rc = pg_query(&rows, tx, days_sql, VIEW_PARAMS(read->view), SLOT_PARAM, PG_INT8S(issues, count),
                      PG_INT8S(keys.issues, keys.count), ROLLUP_SPAN_PARAMS(span),
                      PG_INT8S(waiting->issues, waiting->count), PG_INT4S(waiting->trees, waiting->count),
                      PG_TIMES(waiting->oldest, waiting->count), PG_BYTESS(waiting->cells, waiting->count));
    size_t row_count = rc ? 0 : pg_row_count(rows);
    for (size_t at = 0, to; !rc && at < row_count; at = to) {
        for (to = at + 1; to < row_count && pg_int(rows, to, 0) == pg_int(rows, at, 0);)
            to++;
        rc = take_issue(read, rows, at, to);
    }
    return rc;
}

int rows_issue_days_read(struct pg_tx *tx, const struct view *view, const int64_t *issues, size_t issue_count,
                         issue_days_take take, void *context)
{
    struct days_read read = {.view = view, .take = take, .context = context};
    struct rollup_waiting waiting;
    struct rollup_span span;
    struct arena arena;
    int rc;

    arena_init(&arena, SCRATCH_BYTES);
    arena_init(&read.scratch, SCRATCH_BYTES);
    rollup_span_of(&span, view);
    rc = issue_count ? rollup_waiting_read(&waiting, tx, &arena, view, &span, MIRE_ROLLUPS_OF_ISSUES) : 0;
    for (size_t at = 0; !rc && at < issue_count; at += ISSUES_AT_ONCE) {
        size_t some = issue_count - at < ISSUES_AT_ONCE ? issue_count - at : ISSUES_AT_ONCE;
        rc = read_some(&read, tx, &arena, &span, &waiting, issues + at, some);
    }
    arena_fini(&arena);
    arena_fini(&read.scratch);
    return rc;
}
