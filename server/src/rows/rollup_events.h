/*
 * rollup_events.h - events and session records that are stored, as the worker gave them to its delta. Inside rows/ only.
 */
#ifndef MIRE_ROWS_ROLLUP_EVENTS_H
#define MIRE_ROWS_ROLLUP_EVENTS_H

#include "pg/pg.h"
#include "rows/rollup.h"

/* The columns of an event `e` and its version `v` that an entry is made of, after the columns before them; parameter `p` is
 * MIRE_OF_PROCESS. */
#define ROLLUP_EVENT_COLUMNS(p)                                                                                  \
    "e.issue_id, e.tree, e.category, e.occurred_at, e.duration_ms, e.waited_ms, e.open, e.launch, e.foreground," \
    " e.thread_count, e.frame_count, e.unresolved_count, e.suppressed, e.os, e.os_version, e.arch, e.model,"     \
    " e.process_name, e.holder, v.version, e.install, e.device_class, e.channel, e.weight, e.weight * (1 + "     \
    "e.suppressed),"                                                                                             \
    " e.weight * (e.waited_ms + CASE WHEN e.category = ANY ($" p "::text[]) THEN 0 ELSE e.suppressed_ms END),"   \
    " e.scene, e.tags[1], e.tags[2], e.tags[3], e.tags[4], e.tags[5], e.tags[6], e.tags[7], e.tags[8],"          \
    " e.country"

/* Kinds in whose suppressed events nobody waited. Returns their number; there are at most MIRE_CATEGORY_COUNT. */
size_t rows_rollup_of_process(const char **out);

/* The entries of rows of those columns, in the arena; texts are the rows'. 0 or a fault. */
int rows_rollup_entries(struct delta_entry **out, struct arena *arena, const struct pg_rows *rows);

/* The entries of a day's issue or app that happened in a span; texts are the rows'. 0 or a fault. */
int rows_rollup_events_read(struct pg_rows **rows_out, struct delta_entry **out, size_t *count_out, struct pg_tx *tx,
                            struct arena *arena, const struct rollup_day *day, int64_t from_us, int64_t to_us);

/* The same of the app's session records that began in a span. */
int rows_rollup_sessions_read(struct pg_rows **rows_out, struct delta_entry **out, size_t *count_out, struct pg_tx *tx,
                              struct arena *arena, const struct rollup_day *day, int64_t from_us, int64_t to_us);

#endif
