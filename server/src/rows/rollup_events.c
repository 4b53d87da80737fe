/* rollup_events.c - see rollup_events.h. */
#include "rows/rollup_events.h"

#include "base/fault.h"
#include "model/category.h"

#include <string.h>

#define TAGS_AT 27 /* column of the first tag */
_Static_assert(MIRE_TAGS_KEPT == 8, "the columns of tags are not as many");

/* An event of the table `event`, as the worker made it. */
static void read_entry(struct delta_entry *out, const struct pg_rows *rows, size_t row)
{
    struct pg_bytes install = pg_bytes(rows, row, 20);
    struct event_row event = {.issue_id = pg_int(rows, row, 0),
                              .tree = (int32_t)pg_int(rows, row, 1),
                              .category = pg_text(rows, row, 2),
                              .occurred_us = pg_time(rows, row, 3),
                              .duration_ms = pg_int(rows, row, 4),
                              .waited_ms = pg_int(rows, row, 5),
                              .open = pg_bool(rows, row, 6),
                              .launch = pg_bool(rows, row, 7),
                              .foreground = pg_bool(rows, row, 8),
                              .foreground_known = !pg_is_null(rows, row, 8),
                              .thread_count = pg_int(rows, row, 9),
                              .frame_count = (int32_t)pg_int(rows, row, 10),
                              .unresolved_count = (int32_t)pg_int(rows, row, 11),
                              .suppressed = pg_int(rows, row, 12),
                              .os = pg_text(rows, row, 13),
                              .os_version = pg_text(rows, row, 14),
                              .arch = pg_text(rows, row, 15),
                              .model = pg_text(rows, row, 16),
                              .process_name = pg_text(rows, row, 17),
                              .holder = pg_text(rows, row, 18),
                              .device_class = pg_text(rows, row, 21),
                              .channel = pg_text(rows, row, 22),
                              .scene = pg_text(rows, row, 26),
                              .weight = pg_real(rows, row, 23)};
    struct hour_row hour = {.events = pg_real(rows, row, 24), .waited_ms = pg_real(rows, row, 25)};
    if (install.len == sizeof event.install)
        memcpy(event.install, install.bytes, sizeof event.install);
    event.tag_count = MIRE_TAGS_KEPT; /* none is an empty text */
    for (int i = 0; i < MIRE_TAGS_KEPT; i++)
        event.tags[i] = pg_text(rows, row, TAGS_AT + i);
    event.country = pg_text(rows, row, TAGS_AT + MIRE_TAGS_KEPT);
    rows_rollup_entry(out, &event, &hour, pg_text(rows, row, 19));
}

size_t rows_rollup_of_process(const char **out)
{
    size_t count = 0;
    for (int i = 0; i < MIRE_CATEGORY_COUNT; i++)
        if (category_is_of_process((enum event_category)i))
            out[count++] = category_name((enum event_category)i);
    return count;
}

int rows_rollup_entries(struct delta_entry **out, struct arena *arena, const struct pg_rows *rows)
{
    size_t count = pg_row_count(rows);
    *out = arena_array(arena, count + 1, sizeof **out);
    for (size_t i = 0; *out && i < count; i++)
        read_entry(&(*out)[i], rows, i);
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

#define EVENTS_OF(which)                                                                                      \
    "SELECT " ROLLUP_EVENT_COLUMNS("5") " FROM event e JOIN version v USING (version_id) WHERE e.app_id = $1" \
                                        " AND e.occurred_at >= $2 AND e.occurred_at < $3" which               \
                                        " ORDER BY e.occurred_at"

int rows_rollup_events_read(struct pg_rows **rows_out, struct delta_entry **out, size_t *count_out, struct pg_tx *tx,
                            struct arena *arena, const struct rollup_day *day, int64_t from_us, int64_t to_us)
{
    const char *of_process[MIRE_CATEGORY_COUNT];
    size_t count = rows_rollup_of_process(of_process);
    int rc = pg_query(
        rows_out, tx, day->issue_id ? EVENTS_OF(" AND e.issue_id = $4") : EVENTS_OF(" AND $4::bigint = 0"),
        PG_INT4(day->app_id), PG_TIME(from_us), PG_TIME(to_us), PG_INT8(day->issue_id), PG_TEXTS(of_process, count));
    *count_out = rc ? 0 : pg_row_count(*rows_out);
    return rc ? rc : rows_rollup_entries(out, arena, *rows_out);
}

/* Null: -1. */
static int64_t known_at(const struct pg_rows *rows, size_t row, int column)
{
    return pg_is_null(rows, row, column) ? -1 : pg_int(rows, row, column);
}

static void read_session(struct session_row *out, const struct pg_rows *rows, size_t row)
{
    struct pg_bytes install = pg_bytes(rows, row, 1);
    *out = (struct session_row){.occurred_us = pg_time(rows, row, 0),
                                .channel = pg_text(rows, row, 2),
                                .duration_ms = pg_int(rows, row, 3),
                                .time_ms = (double)pg_int(rows, row, 4),
                                .hangs = pg_int(rows, row, 5),
                                .hang_ms = pg_int(rows, row, 6),
                                .sdk_cpu_us = pg_int(rows, row, 7),
                                .weight = pg_real(rows, row, 8),
                                .watched_weight = pg_real(rows, row, 9),
                                .os = pg_text(rows, row, 10),
                                .os_version = pg_text(rows, row, 11),
                                .arch = pg_text(rows, row, 12),
                                .model = pg_text(rows, row, 13),
                                .process_name = pg_text(rows, row, 14),
                                .device_class = pg_text(rows, row, 15),
                                .ends = (int32_t)pg_int(rows, row, 16),
                                .fooms = (int32_t)pg_int(rows, row, 17),
                                .watchdogs = (int32_t)pg_int(rows, row, 18),
                                .crashes = (int32_t)pg_int(rows, row, 19),
                                .country = pg_text(rows, row, 20),
                                .cpu_ms = known_at(rows, row, 22),
                                .footprint_peak_bytes = known_at(rows, row, 23),
                                .launch_ms = known_at(rows, row, 24),
                                .frames_drawn = known_at(rows, row, 25),
                                .frames_dropped = known_at(rows, row, 26)};
    if (install.len == sizeof out->install)
        memcpy(out->install, install.bytes, sizeof out->install);
}

int rows_rollup_sessions_read(struct pg_rows **rows_out, struct delta_entry **out, size_t *count_out, struct pg_tx *tx,
                              struct arena *arena, const struct rollup_day *day, int64_t from_us, int64_t to_us)
{
    int rc = pg_query(rows_out, tx,
                      "SELECT occurred_at, install, channel, duration_ms, least(duration_ms, foreground_ms), hangs,"
                      " hang_ms, sdk_cpu_us, weight, watched, os, os_version, arch, model, process_name, device_class,"
                      " ends, fooms, watchdogs, crashes, country, version, cpu_ms, footprint_peak_bytes, launch_ms,"
                      " frames_drawn, frames_dropped FROM session s JOIN version v USING (version_id)"
                      " WHERE s.app_id = $1 AND occurred_at >= $2 AND occurred_at < $3",
                      PG_INT4(day->app_id), PG_TIME(from_us), PG_TIME(to_us));
    size_t count = *count_out = rc ? 0 : pg_row_count(*rows_out);
    *out = arena_array(arena, count + 1, sizeof **out);
    for (size_t i = 0; !rc && *out && i < count; i++) {
        struct session_row session;
        read_session(&session, *rows_out, i);
        rc = rows_rollup_session_entry(&(*out)[i], arena, &session, pg_text(*rows_out, i, 21));
    }
    return rc || *out ? rc : MIRE_FAULT_MEMORY;
}
