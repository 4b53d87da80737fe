/* rollup_read.c - cells of one issue, or of the app, merged. */
#include "rows/rollup_read.h"

#include "base/fault.h"
#include "model/category.h"
#include "rows/rollup.h"
#include "rows/rollup_events.h"
#include "rows/rollup_span.h"
#include "rows/view_sql.h"

#include <string.h>

#define SCRATCH_BYTES (64u << 20)

/* clang-format off */
/* $7 issue; $8 to $11 the span; $12 to $14 what waits. */
#define CELLS(which) \
    "SELECT cell FROM (" ROLLUPS("issue_id, tree, cell", which("7") " AND category <> '" MIRE_ROLLUP_SESSION "'", "8", "9", "10", "11") " UNION ALL" \
    " SELECT issue_id, tree, cell FROM unnest($12::bigint[], $13::integer[], $14::bytea[]) u (issue_id, tree, cell)" \
    "  WHERE true" which("7") ") r"
/* $6 issue; $7 kinds in whose suppressed events nobody waited; $8 most events. */
#define EVENTS(which) \
    "SELECT " ROLLUP_EVENT_COLUMNS("7") " FROM (SELECT * FROM event WHERE " EVENT_IN_VIEW which("6") \
    "  ORDER BY occurred_at DESC LIMIT $8) e JOIN version v USING (version_id)"
#define OF_APP(p) " AND $" p "::bigint = 0"
#define CELL_OF_APP(p) " AND issue_id = $" p
/* clang-format on */

static int merge_rows(struct cell *out, struct arena *arena, const struct pg_rows *rows)
{
    struct arena scratch;
    int rc = 0;

    arena_init(&scratch, SCRATCH_BYTES);
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct pg_bytes bytes = pg_bytes(rows, i, 0);
        struct cell more;
        arena_reset(&scratch);
        rc = cell_decode(&more, &scratch, bytes.bytes, bytes.len);
        if (!rc)
            rc = cell_merge(out, arena, &more);
    }
    arena_fini(&scratch);
    return rc;
}

static int read_cells(struct event_totals *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                      int64_t issue)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct rollup_waiting waiting;
    struct rollup_span span;

    rollup_span_of(&span, view);
    int rc =
        rollup_waiting_read(&waiting, tx, arena, view, &span, issue ? MIRE_ROLLUPS_OF_ISSUES : MIRE_ROLLUPS_OF_APP);
    if (!rc)
        rc = pg_query(&rows, tx, issue ? OF_ISSUE(view, CELLS) : CELLS(CELL_OF_APP), VIEW_PARAMS(view), SLOT_PARAM,
                      PG_INT8(issue), ROLLUP_SPAN_PARAMS(&span), PG_INT8S(waiting.issues, waiting.count),
                      PG_INT4S(waiting.trees, waiting.count), PG_BYTESS(waiting.cells, waiting.count));
    return rc ? rc : merge_rows(&out->cell, arena, rows);
}

/* The sums of the wanted versions, which are values of a facet. */
static int add_versions(struct event_totals *out, struct arena *arena, const struct cell *cell, const struct view *view)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < cell->value_count; i++) {
        const struct cell_value *value = &cell->values[i];
        if (value->facet != MIRE_FACET_VERSION || !filter_wants(&view->version, value->text))
            continue;
        if (!out->sums.reports || value->oldest_us < out->oldest_us)
            out->oldest_us = value->oldest_us;
        if (value->newest_us > out->newest_us)
            out->newest_us = value->newest_us;
        rc = cell_sums_merge(&out->sums, arena, &value->sums);
    }
    return rc;
}

/* Version and another facet together: events themselves. */
static int read_events(struct event_totals *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                       int64_t issue)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    const char *of_process[MIRE_CATEGORY_COUNT];
    size_t of_process_count = rows_rollup_of_process(of_process);
    struct delta_entry *entries;

    int rc = pg_query(&rows, tx, issue ? OF_ISSUE(view, EVENTS) : EVENTS(OF_APP), VIEW_PARAMS(view), PG_INT8(issue),
                      PG_TEXTS(of_process, of_process_count), PG_INT8(MIRE_NEWEST_EVENTS));
    if (!rc)
        rc = rows_rollup_entries(&entries, arena, rows);
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        rc = cell_add(&out->cell, arena, &entries[i].event);
    out->is_sampled = !rc && pg_row_count(rows) == MIRE_NEWEST_EVENTS && out->sums.reports > MIRE_NEWEST_EVENTS;
    return rc;
}

int rows_event_totals_read(struct event_totals *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                           int64_t issue)
{
    memset(out, 0, sizeof *out);
    int rc = read_cells(out, tx, arena, view, issue);
    out->sums = out->cell.all;
    out->oldest_us = out->cell.oldest_us;
    out->newest_us = out->cell.newest_us;
    if (rc || !filter_is_set(&view->version))
        return rc;
    struct cell all = out->cell;
    memset(out, 0, sizeof *out);
    rc = add_versions(out, arena, &all, view);
    return rc ? rc : read_events(out, tx, arena, view, issue);
}
