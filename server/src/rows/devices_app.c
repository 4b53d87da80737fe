/* devices_app.c - the devices of all of an app's events: the sketches of its cells by kind, of which there are few. */
#include "base/fault.h"
#include "rollup/cell.h"
#include "rollup/pack.h"
#include "rows/devices.h"
#include "rows/rollup.h"
#include "rows/rollup_span.h"
#include "rows/view_sql.h"

#include <math.h>

#define SCRATCH_BYTES (256u << 20)

/* clang-format off */
/* $7 $8 kinds wanted, and not; then the span. */
#define OF_APP(column) \
    ROLLUPS(column ", oldest_at, newest_at", \
            " AND issue_id = 0 AND category <> '" MIRE_ROLLUP_SESSION "' AND " IS_WANTED("category", "$7", "$8"), \
            "9", "10", "11", "12")
/* clang-format on */
static const char sketches_sql[] = OF_APP("devices");
static const char cells_sql[] = OF_APP("cell"); /* versions are a facet of cells */

struct app_devices {
    const struct view *view;
    struct kept *kept;
    struct arena arena;   /* of the union */
    struct arena scratch; /* of one cell */
    struct distinct all;
};

static int add(struct app_devices *a, const struct distinct *more, int64_t oldest_us, int64_t newest_us)
{
    struct kept *kept = a->kept;

    kept->oldest_us = !kept->oldest_us || oldest_us < kept->oldest_us ? oldest_us : kept->oldest_us;
    kept->newest_us = newest_us > kept->newest_us ? newest_us : kept->newest_us;
    return distinct_merge(&a->all, &a->arena, more);
}

static int add_sketch(struct app_devices *a, struct pg_bytes bytes, int64_t oldest_us, int64_t newest_us)
{
    struct pack_in in = {
        .arena = &a->scratch, .at = bytes.bytes, .end = (const unsigned char *)bytes.bytes + bytes.len};
    struct distinct more;

    distinct_unpack(&more, &in);
    return in.bad ? MIRE_FAULT_BROKEN : add(a, &more, oldest_us, newest_us);
}

static int add_versions(struct app_devices *a, struct pg_bytes bytes)
{
    struct cell cell;
    int rc = cell_decode(&cell, &a->scratch, bytes.bytes, bytes.len);

    for (size_t i = 0; !rc && i < cell.value_count && cell.values[i].facet == MIRE_FACET_VERSION; i++) {
        const struct cell_value *value = &cell.values[i];
        if (filter_wants(&a->view->version, value->text))
            rc = add(a, &value->sums.devices, value->oldest_us, value->newest_us);
    }
    return rc;
}

static int add_one(struct app_devices *a, bool of_versions, struct pg_bytes bytes, int64_t oldest_us, int64_t newest_us)
{
    arena_reset(&a->scratch);
    return of_versions ? add_versions(a, bytes) : add_sketch(a, bytes, oldest_us, newest_us);
}

static int read_app(struct app_devices *a, struct pg_tx *tx, struct arena *arena)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    const struct view *view = a->view;
    bool of_versions = view->version.with_count || view->version.without_count;
    struct rollup_waiting waiting;
    struct rollup_span span;

    rollup_span_of(&span, view);
    int rc = rollup_waiting_read(&waiting, tx, arena, view, &span, MIRE_ROLLUPS_OF_APP);
    if (!rc)
        rc = pg_query(&rows, tx, of_versions ? cells_sql : sketches_sql, VIEW_PARAMS(view), SLOT_PARAM,
                      FILTER_PARAMS(&view->kind), ROLLUP_SPAN_PARAMS(&span));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        rc = add_one(a, of_versions, pg_bytes(rows, i, 0), pg_time(rows, i, 1), pg_time(rows, i, 2));
    for (size_t i = 0; !rc && i < waiting.count; i++)
        if (filter_wants(&view->kind, waiting.categories[i]))
            rc = add_one(a, of_versions, of_versions ? waiting.cells[i] : waiting.devices[i], waiting.oldest[i],
                         waiting.newest[i]);
    return rc;
}

int rows_devices_of_app(struct kept *out, struct pg_tx *tx, struct arena *arena, const struct view *view)
{
    struct app_devices a = {.view = view, .kept = out};

    arena_init(&a.arena, SCRATCH_BYTES);
    arena_init(&a.scratch, SCRATCH_BYTES);
    int rc = read_app(&a, tx, arena);
    out->devices.total = (int64_t)llround(distinct_count(&a.all));
    arena_fini(&a.arena);
    arena_fini(&a.scratch);
    return rc;
}
