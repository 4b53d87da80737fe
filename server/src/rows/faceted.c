/* faceted.c - see faceted.h. */
#include "rows/faceted.h"

#include "base/fault.h"
#include "model/category.h"
#include "rollup/pack.h"
#include "rows/rollup_events.h"
#include "rows/rollup_span.h"
#include "rows/session_totals.h"
#include "rows/view_sql.h"

#include <stdlib.h>
#include <string.h>

#define HOUR_US       3600000000ll
#define SCRATCH_BYTES (256u << 20)

/* clang-format off */
/* $7 to $10 the span; $11 to $14 what waits. */
static const char cells_sql[] =
    "SELECT " SHOWN_ID("r") " AS shown, cell, at, hours FROM ("
    ROLLUPS("issue_id, tree, cell, at, hours", " AND issue_id <> 0", "7", "8", "9", "10")
    " UNION ALL SELECT issue_id, tree, cell, at, 0 FROM unnest($11::bigint[], $12::integer[], $13::bytea[], $14::timestamptz[])"
    " u (issue_id, tree, cell, at)) r" SHOWN_JOIN("r") " ORDER BY 1";
/* $6 to $15 the facets; $16 $17 kinds; $18 kinds in whose suppressed events nobody waited; $19 most events. */
static const char events_sql[] =
    "SELECT " ROLLUP_EVENT_COLUMNS("18") ", " SHOWN_ID("e") " AS shown FROM (SELECT * FROM event WHERE " EVENT_IN_VIEW
    " AND " IS_WANTED("os", "$6", "$7") " AND " IS_WANTED("os_version", "$8", "$9") " AND " IS_WANTED("model", "$10", "$11")
    " AND " IS_WANTED("device_class", "$12", "$13") " AND " IS_WANTED("channel", "$14", "$15")
    " AND " IS_WANTED("category", "$16", "$17") " ORDER BY occurred_at DESC LIMIT $19) e JOIN version v USING (version_id)"
    SHOWN_JOIN("e") " ORDER BY shown";
#define SHOWN_AT 36 /* column of events_sql */
/* clang-format on */

static const enum cell_facet facets[VIEW_FACETS] = {[VIEW_OS] = MIRE_FACET_OS,
                                                    [VIEW_OS_VERSION] = MIRE_FACET_OS_VERSION,
                                                    [VIEW_MODEL] = MIRE_FACET_MODEL,
                                                    [VIEW_CLASS] = MIRE_FACET_CLASS,
                                                    [VIEW_CHANNEL] = MIRE_FACET_CHANNEL};

/* The rows as they are made. */
struct making {
    struct faceted *out;
    const struct view *view;
    struct arena *arena;   /* of the answer */
    struct arena *scratch; /* of an issue's cells */
    struct distinct devices;
};

/* Facets that the view wants; the last of them. */
static int wanted_facets(const struct view *view, enum view_facet *last_out)
{
    int count = 0;

    for (int i = 0; i < VIEW_FACETS; i++)
        if (filter_is_set(&view->facets[i])) {
            *last_out = (enum view_facet)i;
            count++;
        }
    return count;
}

bool rows_is_faceted(const struct view *view)
{
    enum view_facet last;
    return wanted_facets(view, &last) > 0;
}

static void begin_issue(struct making *m, int64_t issue)
{
    arena_reset(m->scratch);
    m->devices = (struct distinct){0};
    m->out->list[m->out->count++] = (struct faceted_issue){.issue = issue};
}

/* An issue without such events leaves no row. */
static int end_issue(struct making *m)
{
    struct faceted_issue *row = &m->out->list[m->out->count - 1];
    struct pack_out bytes = {.arena = m->arena};

    if (!row->totals.reports) {
        m->out->count--;
        return 0;
    }
    distinct_pack(&bytes, &m->devices);
    row->sketch = (struct pg_bytes){bytes.bytes, bytes.len};
    return bytes.failed ? MIRE_FAULT_MEMORY : 0;
}

/* Spread events over the parts of the span that they happened in. */
static void add_trend(double *trend, const struct span *span, double events, int64_t from_us, int64_t to_us)
{
    double begin = (double)span->from_s * 1e6, part = (double)(span->to_s - span->from_s) * 1e6 / MIRE_TREND_PARTS;
    double from = ((double)from_us - begin) / part, to = ((double)to_us - begin) / part;

    from = from < 0 ? 0 : from > MIRE_TREND_PARTS ? MIRE_TREND_PARTS : from;
    to = to < from ? from : to > MIRE_TREND_PARTS ? MIRE_TREND_PARTS : to;
    if (to - from < 1e-9) {
        trend[from >= MIRE_TREND_PARTS ? MIRE_TREND_PARTS - 1 : (int)from] += events;
        return;
    }
    for (int i = (int)from; i < MIRE_TREND_PARTS && i < to; i++) {
        double low = from > i ? from : i, high = to < i + 1 ? to : i + 1;
        trend[i] += events * (high - low) / (to - from);
    }
}

/* Add sums of events that happened between two instants, and are spread from one to the other. */
static int add_sums(struct making *m, const struct cell_sums *sums, const int64_t seen_us[2],
                    const int64_t spread_us[2])
{
    struct faceted_issue *row = &m->out->list[m->out->count - 1];

    row->totals.reports += (int64_t)sums->reports;
    row->totals.events += sums->events;
    row->totals.waited_ms += sums->waited_ms;
    if ((int64_t)sums->longest_ms > row->totals.longest_ms)
        row->totals.longest_ms = (int64_t)sums->longest_ms;
    if (!row->oldest_us || seen_us[0] < row->oldest_us)
        row->oldest_us = seen_us[0];
    if (seen_us[1] > row->newest_us)
        row->newest_us = seen_us[1];
    add_trend(row->trend, &m->view->span, sums->events, spread_us[0], spread_us[1]);
    return distinct_merge(&m->devices, m->scratch, &sums->devices);
}

/* --- one facet: cells --------------------------------------------------------------------------------------------- */

static int add_cell(struct making *m, enum view_facet facet, const struct pg_rows *rows, size_t row)
{
    struct pg_bytes bytes = pg_bytes(rows, row, 1);
    int64_t at_us = pg_time(rows, row, 2), hours = pg_int(rows, row, 3), now_us = m->view->now_us;
    struct cell cell;

    int rc = cell_decode(&cell, m->scratch, bytes.bytes, bytes.len);
    int64_t end_us = hours ? at_us + hours * HOUR_US : cell.newest_us;
    const int64_t seen_us[] = {cell.oldest_us, cell.newest_us};
    const int64_t spread_us[] = {at_us, now_us && end_us > now_us ? now_us : end_us}; /* a day may not be over */
    for (size_t i = 0; !rc && i < cell.value_count; i++) {
        const struct cell_value *value = &cell.values[i];
        if (value->facet != facets[facet])
            continue;
        if (!strcmp(value->text, MIRE_CELL_OTHERS))
            m->out->others += (int64_t)value->sums.reports;
        else if (filter_wants(&m->view->facets[facet], value->text))
            rc = add_sums(m, &value->sums, seen_us, spread_us);
    }
    return rc;
}

static int read_cells(struct making *m, struct pg_tx *tx, enum view_facet facet)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct rollup_waiting waiting;
    struct rollup_span span;

    rollup_span_of(&span, m->view);
    int rc = rollup_waiting_read(&waiting, tx, m->arena, m->view, &span, MIRE_ROLLUPS_OF_ISSUES);
    if (!rc)
        rc = pg_query(&rows, tx, cells_sql, VIEW_PARAMS(m->view), SLOT_PARAM, ROLLUP_SPAN_PARAMS(&span),
                      PG_INT8S(waiting.issues, waiting.count), PG_INT4S(waiting.trees, waiting.count),
                      PG_BYTESS(waiting.cells, waiting.count), PG_TIMES(waiting.oldest, waiting.count));
    size_t count = pg_row_count(rows);
    m->out->list = arena_array(m->arena, count + 1, sizeof *m->out->list);
    if (rc || !m->out->list)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t at = 0, to; !rc && at < count; at = to) {
        begin_issue(m, pg_int(rows, at, 0));
        for (to = at; !rc && to < count && pg_int(rows, to, 0) == pg_int(rows, at, 0); to++)
            rc = add_cell(m, facet, rows, to);
        if (!rc)
            rc = end_issue(m);
    }
    return rc;
}

static int read_sessions(struct making *m, struct pg_tx *tx, enum view_facet facet)
{
    struct cell totals;
    int rc = rows_session_totals_read(&totals, tx, m->scratch, m->view);

    for (size_t i = 0; !rc && i < totals.value_count; i++)
        if (totals.values[i].facet == facets[facet] && filter_wants(&m->view->facets[facet], totals.values[i].text))
            m->out->sessions += totals.values[i].sums.weight;
    return rc;
}

/* --- two facets: events ------------------------------------------------------------------------------------------- */

static int add_event(struct making *m, const struct cell_event *event)
{
    uint32_t device = event->device;
    const int64_t at_us[] = {event->occurred_us, event->occurred_us};
    const struct cell_sums sums = {.reports = 1,
                                   .events = event->events,
                                   .waited_ms = event->waited_ms,
                                   .longest_ms = event->longest_ms,
                                   .devices = {.count = 1, .room = 1, .hashes = &device}};

    return add_sums(m, &sums, at_us, at_us);
}

static int read_events(struct making *m, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    const struct filter *f = m->view->facets;
    const char *of_process[MIRE_CATEGORY_COUNT];
    size_t of_process_count = rows_rollup_of_process(of_process);
    struct delta_entry *entries;

    int rc = pg_query(&rows, tx, events_sql, VIEW_PARAMS(m->view), FILTER_PARAMS(&f[VIEW_OS]),
                      FILTER_PARAMS(&f[VIEW_OS_VERSION]), FILTER_PARAMS(&f[VIEW_MODEL]), FILTER_PARAMS(&f[VIEW_CLASS]),
                      FILTER_PARAMS(&f[VIEW_CHANNEL]), FILTER_PARAMS(&m->view->kind),
                      PG_TEXTS(of_process, of_process_count), PG_INT8(MIRE_NEWEST_EVENTS));
    if (!rc)
        rc = rows_rollup_entries(&entries, m->arena, rows);
    size_t count = rc ? 0 : pg_row_count(rows);
    m->out->list = arena_array(m->arena, count + 1, sizeof *m->out->list);
    if (rc || !m->out->list)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t at = 0, to; !rc && at < count; at = to) {
        begin_issue(m, pg_int(rows, at, SHOWN_AT));
        for (to = at; !rc && to < count && pg_int(rows, to, SHOWN_AT) == pg_int(rows, at, SHOWN_AT); to++)
            rc = add_event(m, &entries[to].event);
        if (!rc)
            rc = end_issue(m);
    }
    for (size_t i = 0; count == MIRE_NEWEST_EVENTS && i < m->out->count; i++)
        if (!m->out->read_since_us || m->out->list[i].oldest_us < m->out->read_since_us)
            m->out->read_since_us = m->out->list[i].oldest_us;
    return rc;
}

int rows_faceted_read(struct faceted *out, struct pg_tx *tx, struct arena *arena, const struct view *view)
{
    struct arena scratch;
    struct making m = {.out = out, .view = view, .arena = arena, .scratch = &scratch};
    enum view_facet facet = VIEW_OS;
    int rc;

    *out = (struct faceted){0};
    arena_init(&scratch, SCRATCH_BYTES);
    if (wanted_facets(view, &facet) == 1 && !filter_is_set(&view->version)) {
        rc = read_cells(&m, tx, facet);
        arena_reset(&scratch);
        if (!rc)
            rc = read_sessions(&m, tx, facet);
    } else {
        rc = read_events(&m, tx);
    }
    arena_fini(&scratch);
    return rc;
}

static int most_first(const void *a, const void *b)
{
    const struct facet_value *x = a, *y = b;
    if (x->events != y->events)
        return x->events > y->events ? -1 : 1;
    return strcmp(x->key, y->key);
}

int rows_faceted_values_read(struct facet_value **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                             const struct view *view, enum view_facet facet)
{
    struct event_totals totals;
    int rc = rows_event_totals_read(&totals, tx, arena, view, 0);

    *count = 0;
    *out = arena_array(arena, rc ? 1 : totals.cell.value_count + 1, sizeof **out);
    if (rc || !*out)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < totals.cell.value_count; i++) {
        const struct cell_value *value = &totals.cell.values[i];
        if (value->facet == facets[facet] && *value->text && strcmp(value->text, MIRE_CELL_OTHERS) != 0)
            (*out)[(*count)++] = (struct facet_value){
                .key = value->text, .reports = (int64_t)value->sums.reports, .events = value->sums.events};
    }
    qsort(*out, *count, sizeof **out, most_first);
    return 0;
}

static int by_issue(const void *key, const void *row)
{
    int64_t x = *(const int64_t *)key, y = ((const struct faceted_issue *)row)->issue;
    return (x > y) - (x < y);
}

const struct faceted_issue *faceted_find(const struct faceted *faceted, int64_t issue)
{
    return faceted->count ? bsearch(&issue, faceted->list, faceted->count, sizeof *faceted->list, by_issue) : NULL;
}

void faceted_trend(double trend[MIRE_TREND_PARTS], const struct faceted *faceted, const int64_t *issues, size_t count)
{
    memset(trend, 0, MIRE_TREND_PARTS * sizeof *trend);
    for (size_t i = 0; i < count; i++) {
        const struct faceted_issue *found = faceted_find(faceted, issues[i]);
        for (int part = 0; found && part < MIRE_TREND_PARTS; part++)
            trend[part] += found->trend[part];
    }
}
