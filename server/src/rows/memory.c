/* memory.c - the statements behind memory.h, text beside binding. */
#include "rows/memory.h"

#include "base/clock.h"
#include "rows/keys.h"
#include "rows/view_sql.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MERGED_MAX 1024 /* sums merged for one answer, newest first */

/* The sum in the only row; empty if it cannot be read. */
static void read_sum(struct population *out, struct arena *arena, const struct pg_rows *rows)
{
    struct pg_bytes stored = pg_bytes(rows, 0, 0);
    (void)population_decode(out, arena, stored.bytes, stored.len);
}

int rows_baselines_store(struct pg_tx *tx, const struct baseline_row *baselines, size_t count)
{
    MIRE_SCOPED(pg_copy_fini) struct pg_copy copy = {0};

    for (size_t i = 0; i < count; i++) {
        const struct baseline_row *b = &baselines[i];
        struct uuid id = id_of(&b->key);
        pg_copy(&copy, PG_INT2(b->key.slot), PG_DAY(b->key.day), PG_UUID(&id), PG_INT4(b->app_id),
                PG_INT8(b->version_id), PG_TEXT(b->os), PG_TEXT(b->device_class), PG_TIME(b->received_us),
                PG_BYTES(b->install, sizeof b->install), PG_REAL(b->weight),
                b->footprint_bytes >= 0 ? PG_INT8(b->footprint_bytes) : PG_NULL(), PG_INT8(b->held_bytes));
    }
    return pg_copy_end(tx,
                       "COPY memory_baseline (slot, day, report_id, app_id, version_id, os, device_class, received_at,"
                       " install, weight, footprint_bytes, held_bytes) FROM STDIN BINARY",
                       &copy);
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int rows_healthy_compare(const struct baseline_row *a, const struct baseline_row *b)
{
    int order = compare(rows_slot(a->app_id, a->version_id), rows_slot(b->app_id, b->version_id));
    order = order ? order : compare(a->version_id, b->version_id);
    order = order ? order : strcmp(a->os, b->os);
    return order ? order : strcmp(a->device_class, b->device_class);
}

#define HEALTHY_KEY(baseline)                                                                    \
    PG_INT2(rows_slot((baseline)->app_id, (baseline)->version_id)), PG_INT4((baseline)->app_id), \
        PG_INT8((baseline)->version_id), PG_TEXT((baseline)->os), PG_TEXT((baseline)->device_class)

#define IS_HEALTHY "slot = $1 AND app_id = $2 AND version_id = $3 AND os = $4 AND device_class = $5"

int rows_healthy_add(struct pg_tx *tx, struct arena *arena, const struct rows_healthy_one *added, size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    MIRE_SCOPED(free_memory) unsigned char *bytes = NULL;
    struct population sum;
    int64_t last_us = 0;
    size_t len = 0;
    int rc = pg_query(
        NULL, tx,
        "INSERT INTO healthy (slot, app_id, version_id, os, device_class, last_at, population)"
        " VALUES ($1, $2, $3, $4, $5, $6, '') ON CONFLICT (slot, app_id, version_id, os, device_class) DO NOTHING",
        HEALTHY_KEY(added->baseline), PG_TIME(added->baseline->received_us));
    if (!rc)
        rc = pg_query(&rows, tx, "SELECT population FROM healthy WHERE " IS_HEALTHY " FOR UPDATE",
                      HEALTHY_KEY(added->baseline));
    if (!rc)
        read_sum(&sum, arena, rows);
    for (size_t i = 0; !rc && i < count; i++) {
        rc = population_add(&sum, added[i].memory, (uint64_t)llround(added[i].baseline->weight));
        last_us = added[i].baseline->received_us > last_us ? added[i].baseline->received_us : last_us;
    }
    if (!rc && population_encode(&bytes, &len, &sum))
        rc = MIRE_FAULT_MEMORY;
    if (rc)
        return rc;
    return pg_query(NULL, tx, "UPDATE healthy SET population = $6, last_at = greatest(last_at, $7) WHERE " IS_HEALTHY,
                    HEALTHY_KEY(added->baseline), PG_BYTES(bytes, len), PG_TIME(last_us));
}

/* The population of a row without one process that was counted in it, as bytes, owned by caller; NULL: none is left. */
static int without(unsigned char **bytes_out, size_t *len_out, struct arena *arena, const struct pg_rows *rows,
                   const struct memory *memory, double weight)
{
    struct population sum, one;

    read_sum(&sum, arena, rows);
    population_init(&one, arena);
    int rc = population_add(&one, memory, (uint64_t)llround(weight));
    if (rc)
        return rc;
    population_take(&sum, &one);
    return sum.reports && population_encode(bytes_out, len_out, &sum) ? MIRE_FAULT_MEMORY : 0;
}

int rows_healthy_take(struct pg_tx *tx, struct arena *arena, const struct baseline_row *baseline,
                      const struct memory *memory)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    MIRE_SCOPED(free_memory) unsigned char *bytes = NULL;
    size_t len = 0;
    int rc =
        pg_query(&rows, tx, "SELECT population FROM healthy WHERE " IS_HEALTHY " FOR UPDATE", HEALTHY_KEY(baseline));

    if (rc || !pg_row_count(rows))
        return rc;
    rc = without(&bytes, &len, arena, rows, memory, baseline->weight);
    if (rc)
        return rc;
    if (!bytes)
        return pg_query(NULL, tx, "DELETE FROM healthy WHERE " IS_HEALTHY, HEALTHY_KEY(baseline));
    return pg_query(NULL, tx,
                    "UPDATE healthy SET population = $6, last_at = CASE WHEN last_at > $7 THEN last_at ELSE coalesce("
                    "(SELECT max(b.received_at) FROM memory_baseline b WHERE b.app_id = $2 AND b.version_id = $3"
                    " AND b.os = $4 AND b.device_class = $5), last_at) END WHERE " IS_HEALTHY,
                    HEALTHY_KEY(baseline), PG_BYTES(bytes, len), PG_TIME(baseline->received_us));
}

#define ISSUE_KEY(event, day)                                                                      \
    PG_INT2(rows_slot((event)->app_id, (event)->issue_id)), PG_DAY(day), PG_INT4((event)->app_id), \
        PG_INT8((event)->issue_id), PG_INT8((event)->version_id), PG_INT4((event)->tree)

/* The sum of an issue, locked until commit; made if it is not there. */
static int lock_sum(struct pg_rows **rows, struct pg_tx *tx, const struct event_row *event, int32_t day)
{
    int rc = pg_query(NULL, tx,
                      "INSERT INTO issue_memory (slot, day, app_id, issue_id, version_id, tree, population)"
                      " VALUES ($1, $2, $3, $4, $5, $6, '')"
                      " ON CONFLICT (slot, day, app_id, issue_id, version_id, tree) DO NOTHING",
                      ISSUE_KEY(event, day));
    if (rc)
        return rc;
    return pg_query(rows, tx,
                    "SELECT population FROM issue_memory WHERE slot = $1 AND day = $2 AND app_id = $3"
                    " AND issue_id = $4 AND version_id = $5 AND tree = $6 FOR UPDATE",
                    ISSUE_KEY(event, day));
}

static int write_sum(struct pg_tx *tx, const struct event_row *event, int32_t day, const void *bytes, size_t len)
{
    return pg_query(NULL, tx,
                    "UPDATE issue_memory SET population = $7 WHERE slot = $1 AND day = $2 AND app_id = $3"
                    " AND issue_id = $4 AND version_id = $5 AND tree = $6",
                    ISSUE_KEY(event, day), PG_BYTES(bytes, len));
}

/* The UTC day in which the event happened. */
static int32_t sum_day(const struct event_row *event)
{
    return clock_day(event->occurred_us);
}

int rows_issue_memory_compare(const struct event_row *a, const struct event_row *b)
{
    int order = compare(rows_slot(a->app_id, a->issue_id), rows_slot(b->app_id, b->issue_id));
    order = order ? order : compare(sum_day(a), sum_day(b));
    order = order ? order : compare(a->app_id, b->app_id);
    order = order ? order : compare(a->issue_id, b->issue_id);
    order = order ? order : compare(a->version_id, b->version_id);
    return order ? order : compare(a->tree, b->tree);
}

int rows_issue_memory_add(struct pg_tx *tx, struct arena *arena, const struct rows_held *added, size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    MIRE_SCOPED(free_memory) unsigned char *bytes = NULL;
    struct population sum;
    int32_t day = sum_day(added->event);
    size_t len = 0;
    int rc = lock_sum(&rows, tx, added->event, day);
    if (!rc)
        read_sum(&sum, arena, rows);
    for (size_t i = 0; !rc && i < count; i++)
        rc = population_add(&sum, added[i].memory, (uint64_t)llround(added[i].event->weight));
    if (!rc && population_encode(&bytes, &len, &sum))
        rc = MIRE_FAULT_MEMORY;
    return rc ? rc : write_sum(tx, added->event, day, bytes, len);
}

int rows_issue_memory_take(struct pg_tx *tx, struct arena *arena, const struct event_row *event,
                           const struct memory *memory)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    MIRE_SCOPED(free_memory) unsigned char *bytes = NULL;
    size_t len = 0;
    int rc = lock_sum(&rows, tx, event, sum_day(event));
    if (!rc)
        rc = without(&bytes, &len, arena, rows, memory, event->weight);
    if (rc)
        return rc;
    if (!bytes)
        return pg_query(NULL, tx,
                        "DELETE FROM issue_memory WHERE slot = $1 AND day = $2 AND app_id = $3 AND issue_id = $4"
                        " AND version_id = $5 AND tree = $6",
                        ISSUE_KEY(event, sum_day(event)));
    return write_sum(tx, event, sum_day(event), bytes, len);
}

/* Merge one sum into that of another issue. */
static int merge_sum(struct pg_tx *tx, struct arena *arena, const struct event_row *to, int32_t day,
                     struct pg_bytes stored)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    MIRE_SCOPED(free_memory) unsigned char *bytes = NULL;
    struct population sum, more;
    size_t len = 0;
    if (population_decode(&more, arena, stored.bytes, stored.len))
        return 0; /* a sum that cannot be read counts nothing */
    int rc = lock_sum(&rows, tx, to, day);
    if (rc)
        return rc;
    read_sum(&sum, arena, rows);
    rc = population_merge(&sum, &more);
    if (!rc && population_encode(&bytes, &len, &sum))
        rc = MIRE_FAULT_MEMORY;
    return rc ? rc : write_sum(tx, to, day, bytes, len);
}

int rows_issue_memory_move(struct pg_tx *tx, struct arena *arena, int32_t app_id, int64_t from, int64_t to)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT day, version_id, population, tree FROM issue_memory WHERE app_id = $1"
                      " AND issue_id = $2 ORDER BY day, version_id, tree",
                      PG_INT4(app_id), PG_INT8(from));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct event_row key = {
            .app_id = app_id, .issue_id = to, .version_id = pg_int(rows, i, 1), .tree = (int32_t)pg_int(rows, i, 3)};
        rc = merge_sum(tx, arena, &key, pg_day(rows, i, 0), pg_bytes(rows, i, 2));
    }

    if (rc || !pg_row_count(rows))
        return rc;
    return pg_query(NULL, tx, "DELETE FROM issue_memory WHERE app_id = $1 AND issue_id = $2", PG_INT4(app_id),
                    PG_INT8(from));
}

int population_of_rows(struct population *out, struct arena *arena, const struct pg_rows *rows, int column)
{
    int rc = 0;

    population_init(out, arena);
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct population part;
        struct pg_bytes stored = pg_bytes(rows, i, column);
        if (population_decode(&part, arena, stored.bytes, stored.len) == 0)
            rc = population_merge(out, &part);
    }
    return rc;
}

int rows_healthy_find(struct population *out, enum healthy_scope *scope_out, struct pg_tx *tx, struct arena *arena,
                      int32_t app_id, int64_t version_id, const char *os, const char *device_class, uint64_t least)
{
    static const enum healthy_scope scopes[] = {MIRE_HEALTHY_VERSION, MIRE_HEALTHY_CLASS, MIRE_HEALTHY_APP};

    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
        int rc = pg_query(
            &rows, tx,
            "SELECT population FROM healthy WHERE slot = ANY ($1::smallint[]) AND app_id = $2 AND os = $6"
            " AND ($3::bigint IS NULL OR version_id = $3) AND ($4::text IS NULL OR device_class = $4)"
            " ORDER BY last_at DESC, slot LIMIT $5",
            SLOT_PARAM, PG_INT4(app_id), scopes[i] == MIRE_HEALTHY_VERSION ? PG_INT8(version_id) : PG_NULL(),
            scopes[i] == MIRE_HEALTHY_APP ? PG_NULL() : PG_TEXT(device_class), PG_INT8(MERGED_MAX), PG_TEXT(os));
        if (!rc)
            rc = population_of_rows(out, arena, rows, 0);
        if (rc)
            return rc;
        *scope_out = scopes[i];
        if (out->reports >= least)
            return 0;
    }

    *scope_out = MIRE_HEALTHY_NONE;
    population_init(out, arena);
    return 0;
}
