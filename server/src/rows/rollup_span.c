/* rollup_span.c - see rollup_span.h. */
#include "rows/rollup_span.h"

#include "base/clock.h"
#include "base/fault.h"
#include "rollup/pack.h"
#include "rows/rollup.h"
#include "rows/rollup_read.h"

#include <stdlib.h>
#include <string.h>

#define DAY_US       86400000000ll
#define WAITING_MOST 1024         /* deltas of one app: 200,000 events; minutes of the largest load */
#define ARENA_BYTES  (512u << 20) /* of their events */

static int64_t day_before(int64_t us)
{
    return us - ((us % DAY_US) + DAY_US) % DAY_US;
}

static int64_t day_after(int64_t us)
{
    return day_before(us + DAY_US - 1);
}

void rollup_span_of(struct rollup_span *out, const struct view *view)
{
    int64_t from_us = view->span.from_s * 1000000, to_us = view->span.to_s * 1000000;
    int64_t now_us = view->now_us ? view->now_us : clock_wall_us();
    int64_t hours_us = day_before(now_us) - (MIRE_ROLLUP_HOUR_DAYS - 1) * DAY_US; /* hours are kept from here on */

    if (from_us < hours_us)
        from_us = day_before(from_us);
    if (to_us < hours_us || to_us >= now_us) /* nothing has happened in the future */
        to_us = day_after(to_us);
    *out = (struct rollup_span){from_us, day_after(from_us), day_before(to_us), to_us};
    if (out->days_us > out->end_us) /* within a day */
        out->days_us = out->end_us = to_us;
}

/* --- deltas that wait --- */

static int by_cell(const void *a, const void *b)
{
    const struct delta_entry *x = a, *y = b;
    if (x->issue_id != y->issue_id)
        return x->issue_id < y->issue_id ? -1 : 1;
    if (x->tree != y->tree)
        return x->tree < y->tree ? -1 : 1;
    int64_t day_x = day_before(x->event.occurred_us), day_y = day_before(y->event.occurred_us);
    if (day_x != day_y)
        return day_x < day_y ? -1 : 1;
    return strcmp(x->category, y->category);
}

/* Append the events of a delta that are in the view; of an app only their kind counts. */
static int take(struct delta_entry **list, size_t *count, size_t *room, struct arena *arena, struct pg_bytes bytes,
                const struct view *view, const struct rollup_span *span, enum rollup_of of)
{
    struct delta_entry *entries;
    size_t found;
    int rc = delta_decode(&entries, &found, arena, bytes.bytes, bytes.len);
    if (rc)
        return rc;
    if (*count + found > *room) {
        size_t more = (*count + found) * 2;
        struct delta_entry *moved = arena_array(arena, more, sizeof *moved);
        if (!moved)
            return MIRE_FAULT_MEMORY;
        if (*count)
            memcpy(moved, *list, *count * sizeof *moved);
        *list = moved;
        *room = more;
    }
    for (size_t i = 0; i < found; i++) {
        struct delta_entry *entry = &entries[i];
        int64_t at_us = entry->event.occurred_us;
        const char *version = entry->event.values[MIRE_FACET_VERSION];
        if (at_us < span->from_us || at_us >= span->to_us ||
            (entry->event.session != NULL) != (of == MIRE_ROLLUPS_OF_SESSIONS) ||
            !filter_wants(&view->version, version ? version : ""))
            continue;
        if (of == MIRE_ROLLUPS_OF_APP)
            entry->issue_id = entry->tree = 0;
        else
            entry->category = "";
        (*list)[(*count)++] = *entry;
    }
    return 0;
}

static bool make_waiting(struct rollup_waiting *out, struct arena *arena, size_t count)
{
    *out = (struct rollup_waiting){
        .issues = arena_array(arena, count + 1, sizeof *out->issues),
        .trees = arena_array(arena, count + 1, sizeof *out->trees),
        .categories = arena_array(arena, count + 1, sizeof *out->categories),
        .cells = arena_array(arena, count + 1, sizeof *out->cells),
        .devices = arena_array(arena, count + 1, sizeof *out->devices),
        .oldest = arena_array(arena, count + 1, sizeof *out->oldest),
        .newest = arena_array(arena, count + 1, sizeof *out->newest),
    };
    return out->issues && out->trees && out->categories && out->cells && out->devices && out->oldest && out->newest;
}

/* The installations of entries of one cell. */
static int put_devices(struct rollup_waiting *out, struct arena *arena, struct arena *own,
                       const struct delta_entry *entries, size_t count)
{
    struct pack_out bytes = {.arena = arena};
    struct distinct devices = {0};
    int64_t oldest_us = entries->event.occurred_us, newest_us = oldest_us;
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++) {
        int64_t at_us = entries[i].event.occurred_us;
        oldest_us = at_us < oldest_us ? at_us : oldest_us;
        newest_us = at_us > newest_us ? at_us : newest_us;
        rc = distinct_add(&devices, own, entries[i].event.device);
    }
    if (rc)
        return rc;
    distinct_pack(&bytes, &devices);
    out->issues[out->count] = entries->issue_id;
    out->trees[out->count] = entries->tree;
    out->categories[out->count] = "";
    out->devices[out->count] = (struct pg_bytes){bytes.bytes, bytes.len};
    out->oldest[out->count] = oldest_us;
    out->newest[out->count++] = newest_us;
    return bytes.failed ? MIRE_FAULT_MEMORY : 0;
}

/* Entries of one cell, which is built in `own`. */
static int put_cell(struct rollup_waiting *out, struct arena *arena, struct arena *own,
                    const struct delta_entry *entries, size_t count)
{
    struct pack_out devices = {.arena = arena};
    struct cell cell;
    unsigned char *bytes;
    size_t len;
    int rc = 0;

    memset(&cell, 0, sizeof cell);
    for (size_t i = 0; !rc && i < count; i++)
        rc = cell_add(&cell, own, &entries[i].event);
    if (!rc)
        rc = cell_encode(&bytes, &len, arena, &cell);
    if (rc)
        return rc;
    distinct_pack(&devices, &cell.all.devices);
    out->issues[out->count] = entries->issue_id;
    out->trees[out->count] = entries->tree;
    out->categories[out->count] = arena_strdup(arena, entries->category);
    out->cells[out->count] = (struct pg_bytes){bytes, len};
    out->devices[out->count] = (struct pg_bytes){devices.bytes, devices.len};
    out->oldest[out->count] = cell.oldest_us;
    out->newest[out->count] = cell.newest_us;
    return devices.failed || !out->categories[out->count++] ? MIRE_FAULT_MEMORY : 0;
}

static int put_cells(struct rollup_waiting *out, struct arena *arena, struct arena *own, struct delta_entry *list,
                     size_t count, enum rollup_of of)
{
    size_t cells = 0;
    int rc = 0;

    if (count)
        qsort(list, count, sizeof *list, by_cell);
    for (size_t i = 0; i < count; i++)
        cells += !i || by_cell(&list[i], &list[i - 1]) != 0;
    if (!make_waiting(out, arena, cells))
        return MIRE_FAULT_MEMORY;
    for (size_t at = 0, to; !rc && at < count; at = to) {
        for (to = at + 1; to < count && !by_cell(&list[at], &list[to]);)
            to++;
        rc = of == MIRE_ROLLUPS_OF_DEVICES ? put_devices(out, arena, own, &list[at], to - at)
                                           : put_cell(out, arena, own, &list[at], to - at);
    }
    return rc;
}

int rollup_waiting_read(struct rollup_waiting *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                        const struct rollup_span *span, enum rollup_of of)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct delta_entry *list = NULL;
    size_t count = 0, room = 0;
    struct arena own;
    int rc = pg_query(&rows, tx, "SELECT bytes FROM rollup_delta WHERE app_id = $1 ORDER BY delta_id LIMIT $2",
                      PG_INT4(view->app), PG_INT8(WAITING_MOST));

    arena_init(&own, ARENA_BYTES);
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        rc = take(&list, &count, &room, &own, pg_bytes(rows, i, 0), view, span, of);
    if (!rc)
        rc = put_cells(out, arena, &own, list, count, of);
    arena_fini(&own);
    return rc;
}
