/* rollup.c - what the pipeline adds to the rollups' tables. */
#include "rows/rollup.h"

#include "base/fault.h"
#include "pg/pg.h"

#include <stdlib.h>

#define MANY_THREADS 64 /* more of them are counted */

static uint64_t positive(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

void rows_rollup_entry(struct delta_entry *out, const struct event_row *event, const struct hour_row *hour,
                       const char *version)
{
    const char *state = event->foreground ? "foreground" : "background";

    *out = (struct delta_entry){
        .issue_id = event->issue_id,
        .tree = event->tree,
        .category = event->category,
        .event = {.occurred_us = event->occurred_us,
                  .device = distinct_hash(event->install),
                  .weight = event->weight,
                  .events = hour->events,
                  .waited_ms = hour->waited_ms,
                  .length_ms = positive(event->duration_ms),
                  .longest_ms = positive(event->waited_ms),
                  .counts = {[MIRE_CELL_KILLED] = event->open,
                             [MIRE_CELL_LAUNCH] = event->launch,
                             [MIRE_CELL_FOREGROUND] = event->foreground_known && event->foreground,
                             [MIRE_CELL_BACKGROUND] = event->foreground_known && !event->foreground,
                             [MIRE_CELL_MANY_THREADS] = event->thread_count > MANY_THREADS,
                             [MIRE_CELL_FRAMES] = positive(event->frame_count),
                             [MIRE_CELL_UNRESOLVED] = positive(event->unresolved_count),
                             [MIRE_CELL_SUPPRESSED] = positive(event->suppressed)},
                  .values = {[MIRE_FACET_VERSION] = version,
                             [MIRE_FACET_OS] = event->os,
                             [MIRE_FACET_OS_VERSION] = event->os_version,
                             [MIRE_FACET_ARCH] = event->arch,
                             [MIRE_FACET_MODEL] = event->model,
                             [MIRE_FACET_PROCESS] = event->process_name,
                             [MIRE_FACET_HOLDER] = event->holder[0] ? event->holder : NULL,
                             [MIRE_FACET_CLASS] = event->device_class,
                             [MIRE_FACET_CHANNEL] = event->channel,
                             [MIRE_FACET_STATE] = event->foreground_known ? state : NULL,
                             [MIRE_FACET_SCENE] = event->scene[0] ? event->scene : NULL,
                             [MIRE_FACET_COUNTRY] = event->country[0] ? event->country : NULL}},
    };
    for (size_t i = 0; i < event->tag_count; i++)
        out->event.values[MIRE_FACET_TAGS + i] = event->tags[i][0] ? event->tags[i] : NULL;
}

static void put_spread(struct session_one *one, enum session_spread spread, int64_t value)
{
    one->has[spread] = value >= 0;
    one->values[spread] = positive(value);
}

/* `part` in 10,000ths of `whole`; -1: one of them is not known. */
static int64_t share_of(int64_t part, int64_t whole)
{
    return part < 0 || whole <= 0 ? -1 : (int64_t)((double)part * 10000 / (double)whole);
}

static void put_spreads(struct session_one *one, const struct session_row *s)
{
    int64_t frames = s->frames_drawn >= 0 && s->frames_dropped >= 0 ? s->frames_drawn + s->frames_dropped : 0;

    put_spread(one, MIRE_SPREAD_FOOTPRINT, s->footprint_peak_bytes);
    put_spread(one, MIRE_SPREAD_LAUNCH, s->launch_ms);
    put_spread(one, MIRE_SPREAD_CPU, share_of(s->cpu_ms, s->duration_ms));
    put_spread(one, MIRE_SPREAD_DROPPED, share_of(s->frames_dropped, frames));
}

int rows_rollup_session_entry(struct delta_entry *out, struct arena *arena, const struct session_row *s,
                              const char *version)
{
    struct session_one *one = arena_alloc(arena, sizeof *one);
    double w = s->weight, v = s->watched_weight, t = s->time_ms, h = (double)s->hang_ms;

    if (!one)
        return MIRE_FAULT_MEMORY;
    *one = (struct session_one){.sums = {[MIRE_SESSION_SESSIONS_SQ] = w * w,
                                         [MIRE_SESSION_TIME_MS] = w * t,
                                         [MIRE_SESSION_SDK_CPU_US] = w * (double)s->sdk_cpu_us,
                                         [MIRE_SESSION_WATCHED] = v,
                                         [MIRE_SESSION_WATCHED_SQ] = v * v,
                                         [MIRE_SESSION_WATCHED_MS] = v * t,
                                         [MIRE_SESSION_LAGGING] = s->hangs > 0 ? v : 0,
                                         [MIRE_SESSION_HANGS] = v * (double)s->hangs,
                                         [MIRE_SESSION_HANG_MS] = v * h,
                                         [MIRE_SESSION_HANG_HANG_SQ] = v * v * h * h,
                                         [MIRE_SESSION_HANG_TIME_SQ] = v * v * h * t,
                                         [MIRE_SESSION_TIME_TIME_SQ] = v * v * t * t,
                                         [MIRE_SESSION_ENDS] = w * s->ends,
                                         [MIRE_SESSION_ENDS_SQ] = w * w * s->ends,
                                         [MIRE_SESSION_FOOM] = w * s->fooms,
                                         [MIRE_SESSION_WATCHDOG] = w * s->watchdogs,
                                         [MIRE_SESSION_CRASH] = w * s->crashes},
                                .groups = {[MIRE_GROUP_WATCHED] = v > 0,
                                           [MIRE_GROUP_LAGGING] = v > 0 && s->hangs > 0,
                                           [MIRE_GROUP_ENDED] = s->ends > 0,
                                           [MIRE_GROUP_FOOM] = s->fooms > 0,
                                           [MIRE_GROUP_WATCHDOG] = s->watchdogs > 0,
                                           [MIRE_GROUP_CRASH] = s->crashes > 0}};
    put_spreads(one, s);
    *out = (struct delta_entry){.category = MIRE_ROLLUP_SESSION,
                                .event = {.occurred_us = s->occurred_us,
                                          .device = distinct_hash(s->install),
                                          .weight = w,
                                          .events = w,
                                          .waited_ms = w * t,
                                          .length_ms = positive(s->duration_ms),
                                          .longest_ms = positive(s->duration_ms),
                                          .values = {[MIRE_FACET_VERSION] = version,
                                                     [MIRE_FACET_OS] = s->os,
                                                     [MIRE_FACET_OS_VERSION] = s->os_version,
                                                     [MIRE_FACET_ARCH] = s->arch,
                                                     [MIRE_FACET_MODEL] = s->model,
                                                     [MIRE_FACET_PROCESS] = s->process_name,
                                                     [MIRE_FACET_CLASS] = s->device_class,
                                                     [MIRE_FACET_CHANNEL] = s->channel,
                                                     [MIRE_FACET_COUNTRY] = s->country[0] ? s->country : NULL},
                                          .session = one}};
    return 0;
}

int rows_rollup_delta_store(struct pg_tx *tx, struct arena *arena, int32_t app, int16_t slot,
                            const struct delta_entry *entries, size_t count)
{
    unsigned char *bytes;
    int64_t newest_us = INT64_MIN;
    size_t len;

    for (size_t i = 0; i < count; i++)
        if (entries[i].event.occurred_us > newest_us)
            newest_us = entries[i].event.occurred_us;
    int rc = count ? delta_encode(&bytes, &len, arena, entries, count) : 0;
    return rc || !count
               ? rc
               : pg_query(NULL, tx, "INSERT INTO rollup_delta (slot, app_id, newest_at, bytes) VALUES ($1, $2, $3, $4)",
                          PG_INT2(slot), PG_INT4(app), PG_TIME(newest_us), PG_BYTES(bytes, len));
}

static int by_day(const void *a, const void *b)
{
    const struct rollup_day *x = a, *y = b;
    if (x->app_id != y->app_id)
        return x->app_id < y->app_id ? -1 : 1;
    if (x->issue_id != y->issue_id)
        return x->issue_id < y->issue_id ? -1 : 1;
    return (x->day > y->day) - (x->day < y->day);
}

int rows_rollups_due(struct pg_tx *tx, struct arena *arena, const struct rollup_day *days, size_t count)
{
    struct rollup_day *sorted = arena_array(arena, count + 1, sizeof *sorted);
    int16_t *slots = arena_array(arena, count + 1, sizeof *slots);
    int32_t *apps = arena_array(arena, count + 1, sizeof *apps), *on = arena_array(arena, count + 1, sizeof *on);
    int64_t *issues = arena_array(arena, count + 1, sizeof *issues);
    size_t kept = 0;

    if (!sorted || !slots || !apps || !on || !issues)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        sorted[i] = days[i];
    if (count)
        qsort(sorted, count, sizeof *sorted, by_day);
    for (size_t i = 0; i < count; i++) {
        if (i && !by_day(&sorted[i], &sorted[i - 1]))
            continue;
        slots[kept] = rows_slot(sorted[i].app_id, sorted[i].issue_id);
        apps[kept] = sorted[i].app_id;
        issues[kept] = sorted[i].issue_id;
        on[kept++] = sorted[i].day;
    }
    return kept ? pg_query(NULL, tx,
                           "INSERT INTO rollup_due (slot, app_id, issue_id, day) SELECT * FROM unnest($1::smallint[],"
                           " $2::integer[], $3::bigint[], $4::date[])",
                           PG_INT2S(slots, kept), PG_INT4S(apps, kept), PG_INT8S(issues, kept), PG_DAYS(on, kept))
                : 0;
}
