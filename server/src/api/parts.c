/* parts.c - pieces that several answers share. */
#include "api/parts.h"

#include "base/clock.h"
#include "rows/issues.h"
#include "rows/reports.h"
#include "rows/rows.h"
#include "rows/totals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HOUR_US  INT64_C(3600000000)
#define HOURLY_S (73 * 3600) /* three days, widened to whole hours, are drawn by the hour */

void part_time(struct json_writer *w, const char *key, int64_t wall_us)
{
    char text[32];

    clock_format(text, wall_us);
    json_write_text(w, key, text);
}

void part_time_or_null(struct json_writer *w, const char *key, int64_t wall_us)
{
    if (wall_us)
        part_time(w, key, wall_us);
    else
        json_write_null(w, key);
}

void part_range_kept(struct json_writer *w, const struct span *span, int64_t newest_us, int64_t first_hour_us,
                     int64_t oldest_us)
{
    json_write_open(w, "range", '{');
    part_time(w, "from", span->from_s * 1000000);
    part_time(w, "to", span->to_s * 1000000);
    part_time(w, "as_of", newest_us ? newest_us : span->from_s * 1000000);
    if (first_hour_us && (!oldest_us || oldest_us >= first_hour_us + HOUR_US))
        part_time(w, "kept_from", oldest_us ? oldest_us : span->to_s * 1000000);
    json_write_close(w, '}');
}

void part_range(struct json_writer *w, const struct span *span, int64_t newest_us)
{
    part_range_kept(w, span, newest_us, 0, 0);
}

void part_counts(struct json_writer *w, const struct totals *t)
{
    json_write_i64(w, "reports", t->reports);
    json_write_real(w, "events", t->events);
    json_write_real(w, "waited_ms", t->waited_ms);
    json_write_i64(w, "longest_ms", t->longest_ms);
}

void part_totals(struct json_writer *w, const char *key, const struct totals *t)
{
    json_write_open(w, key, '{');
    part_counts(w, t);
    json_write_i64(w, "devices", t->devices);
    json_write_close(w, '}');
}

void part_facet(struct json_writer *w, const char *key, const struct facet_value *shares, size_t count)
{
    json_write_open(w, key, '[');
    for (size_t i = 0; i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "key", shares[i].key);
        json_write_i64(w, "reports", shares[i].reports);
        json_write_real(w, "events", shares[i].events);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

void part_series(struct json_writer *w, const struct point *points, size_t count)
{
    json_write_open(w, "series", '[');
    for (size_t i = 0; i < count;) {
        size_t first = i;
        json_write_open(w, NULL, '{');
        json_write_text(w, "key", points[first].version);
        json_write_open(w, "points", '[');
        for (; i < count && strcmp(points[i].version, points[first].version) == 0; i++) {
            json_write_open(w, NULL, '{');
            part_time(w, "at", points[i].at_s * 1000000);
            json_write_real(w, "events", points[i].events);
            json_write_real(w, "waited_ms", points[i].waited_ms);
            json_write_close(w, '}');
        }
        json_write_close(w, ']');
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
}

void part_trend(struct json_writer *w, const double *trend)
{
    json_write_open(w, "trend", '[');
    for (int i = 0; i < MIRE_TREND_PARTS; i++)
        json_write_real(w, NULL, trend[i]);
    json_write_close(w, ']');
}

struct issue_name part_issue_name(int64_t issue, bool memory)
{
    struct issue_name name;
    snprintf(name.text, sizeof name.text, "%c-%" PRId64, memory ? 'M' : 'I', issue);
    return name;
}

struct tree_name part_tree_name(int64_t issue, bool memory, int32_t tree)
{
    struct tree_name name;
    snprintf(name.text, sizeof name.text, "%s.%08" PRIx32, part_issue_name(issue, memory).text, (uint32_t)tree);
    return name;
}

void part_frames(struct json_writer *w, const struct frame_line *frames, size_t count, int32_t caller1)
{
    json_write_open(w, "frames", '[');
    for (size_t i = 0; i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "function", frames[i].function);
        json_write_text(w, "image", frames[i].image);
        json_write_text(w, "role", role_name(frames[i].role));
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    if (caller1 >= 0 && (size_t)caller1 < count)
        json_write_i64(w, "caller1", caller1);
    else
        json_write_null(w, "caller1");
}

void part_summary(struct json_writer *w, const char *key, const struct issue_summary *f)
{
    json_write_open(w, key, '{');
    json_write_text(w, "id", part_issue_name(f->issue, f->subject[0]).text);
    json_write_text(w, "caller1", f->caller1);
    json_write_text(w, "caller1_image", f->caller1_image);
    json_write_text(w, "caller1_location", f->caller1_location);
    json_write_text(w, "caller2", f->caller2);
    json_write_text(w, "caller2_image", f->caller2_image);
    json_write_text(w, "category", f->category);
    json_write_text(w, "reason", f->reason);
    json_write_text(w, "subject", f->subject);
    json_write_text(w, "state", f->state);
    json_write_text(w, "state_version", f->state_version);
    json_write_text(w, "assignee", f->assignee);
    json_write_i64(w, "most_bytes", f->most_bytes);
    json_write_i64(w, "above_bytes", (int64_t)(f->above_bytes + 0.5));
    part_totals(w, "totals", &f->totals);
    part_trend(w, f->trend);
    part_time(w, "first_seen_at", f->first_us);
    part_time(w, "last_seen_at", f->last_us);
    json_write_text(w, "first_version", f->first_version);
    json_write_text(w, "last_version", f->last_version);
    json_write_i64(w, "members", f->members);
    if (f->split_from)
        json_write_text(w, "split_from", part_issue_name(f->split_from, f->subject[0]).text);
    else
        json_write_null(w, "split_from");
    json_write_close(w, '}');
}

static void put_bytes(struct json_writer *w, const char *key, int64_t bytes)
{
    if (bytes < 0)
        json_write_null(w, key);
    else
        json_write_i64(w, key, bytes);
}

void part_report_row(struct json_writer *w, const char *key, const struct report_row *r)
{
    char id[MIRE_UUID_TEXT];

    uuid_format(id, &r->id);
    json_write_open(w, key, '{');
    json_write_text(w, "id", id);
    part_time(w, "received_at", r->received_us);
    part_time(w, "occurred_at", r->occurred_us);
    json_write_i64(w, "duration_ms", r->duration_ms);
    json_write_bool(w, "open", r->open);
    json_write_bool(w, "kept", r->kept);
    json_write_text(w, "version", r->version);
    json_write_text(w, "os", r->os);
    json_write_text(w, "os_version", r->os_version);
    json_write_text(w, "arch", r->arch);
    json_write_text(w, "model", r->model);
    json_write_text(w, "process", r->process);
    json_write_text(w, "install", r->install);
    put_bytes(w, "footprint_bytes", r->footprint_bytes);
    put_bytes(w, "subject_bytes", r->subject_bytes);
    json_write_close(w, '}');
}

int part_bucket_s(const struct span *span)
{
    return span->to_s - span->from_s <= HOURLY_S ? 3600 : 86400;
}
