/*
 * parts.h - pieces that several answers share, as openapi.yaml names them.
 */
#ifndef MIRE_API_PARTS_H
#define MIRE_API_PARTS_H

#include "json/write.h"
#include "model/frames.h"
#include "rows/issues.h"
#include "rows/reports.h"
#include "rows/totals.h"

/* An instant, microseconds since 1970, as RFC 3339. */
void part_time(struct json_writer *w, const char *key, int64_t wall_us);

/* The same; null for 0. */
void part_time_or_null(struct json_writer *w, const char *key, int64_t wall_us);

/* Range. newest_us 0: nothing is counted, as_of is the beginning. */
void part_range(struct json_writer *w, const struct span *span, int64_t newest_us);

/*
 * Range, and since when devices and single reports in it are known, if counters reach further back.
 *   first_hour_us  hour of the oldest counter
 *   oldest_us      when the oldest event happened whose report is kept
 * Both 0 if there is none.
 */
void part_range_kept(struct json_writer *w, const struct span *span, int64_t newest_us, int64_t first_hour_us,
                     int64_t oldest_us);

/* Totals; without devices where only counters were asked. */
void part_totals(struct json_writer *w, const char *key, const struct totals *totals);
void part_counts(struct json_writer *w, const struct totals *totals);

void part_facet(struct json_writer *w, const char *key, const struct facet_value *shares, size_t count);
void part_series(struct json_writer *w, const struct point *points, size_t count);
void part_trend(struct json_writer *w, const double *trend);
/* "I-1042", of memory "M-77": what people call an issue. */
struct issue_name {
    char text[24];
};
struct issue_name part_issue_name(int64_t issue, bool memory);

/* "I-1042.1a2b3c4d": one tree of an issue, by the issue of its reports' key. */
struct tree_name {
    char text[40];
};
struct tree_name part_tree_name(int64_t issue, bool memory, int32_t tree);

/* A stack, innermost first, and which frame is Caller1: "frames", "caller1" (null: none). */
void part_frames(struct json_writer *w, const struct frame_line *frames, size_t count, int32_t caller1);

void part_summary(struct json_writer *w, const char *key, const struct issue_summary *summary);
void part_report_row(struct json_writer *w, const char *key, const struct report_row *row);

/* Seconds of one bucket of a line over this range. */
int part_bucket_s(const struct span *span);

#endif
