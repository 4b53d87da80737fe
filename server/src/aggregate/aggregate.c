/*
 * aggregate.c - pure arithmetic; rows/derive.c stores the rows.
 */
#include "aggregate/aggregate.h"

#include "base/text.h"

#include <string.h>

#define HOUR_US 3600000000ll

size_t aggregate_text_length(const char *text)
{
    return text_cut(text, strnlen(text, MIRE_AGGREGATE_TEXT_MAX + 1), MIRE_AGGREGATE_TEXT_MAX);
}

static int32_t count(size_t n)
{
    return n < INT32_MAX ? (int32_t)n : INT32_MAX;
}

static int64_t at_most(uint64_t value, int64_t limit)
{
    return value < (uint64_t)limit ? (int64_t)value : limit;
}

/* Devices may have other buckets of turns: a device's bucket counts in the one in which it begins. */
static void count_turns(double turns[MIRE_TURN_BUCKETS], const struct report *report, double weight)
{
    for (size_t i = 0; i < report->bucket_count; i++) {
        uint64_t from_ms = report->buckets[i].from_ms;
        int bucket = 0;
        if (from_ms < MIRE_TURN_LEAST)
            continue;
        while (bucket + 1 < MIRE_TURN_BUCKETS && from_ms >= (uint64_t)MIRE_TURN_LEAST << (bucket + 1))
            bucket++;
        turns[bucket] += weight * (double)at_most(report->buckets[i].count, MIRE_AGGREGATE_TURNS_MS_MAX / from_ms + 1);
    }
}

/* Suppressed events of a report, bounded by their length, which is bounded by a day. */
static void bound_suppressed(int64_t *count_out, int64_t *ms_out, const struct report_event *event)
{
    const struct report_suppressed *given = &event->suppressed;
    *ms_out = at_most(given->duration_ms.value, MIRE_AGGREGATE_SUPPRESSED_MS_MAX);
    *count_out = at_most(given->count, MIRE_AGGREGATE_SUPPRESSED_MAX);
    if (given->duration_ms.known && *count_out > *ms_out / MIRE_AGGREGATE_EVENT_MS_LEAST)
        *count_out = *ms_out / MIRE_AGGREGATE_EVENT_MS_LEAST;
}

static double bounded_weight(const struct report *report, const struct aggregate_facts *facts)
{
    double weight = facts->weight > 0 ? facts->weight : report_weight(report);
    return weight <= MIRE_AGGREGATE_WEIGHT_MAX ? weight : MIRE_AGGREGATE_WEIGHT_MAX;
}

static int64_t footprint(const struct memory *memory)
{
    return memory->footprint_bytes.known ? at_most(memory->footprint_bytes.value, INT64_MAX) : -1;
}

/* Facts of memory reports alone. The app's state and the end are in other reports' events too. */
static void add_memory(struct aggregate_rows *out, const struct report *report, const struct aggregate_facts *facts)
{
    const struct memory *memory = &report->memory;

    out->event.footprint_bytes = out->event.subject_bytes = out->event.above_bytes = -1;
    if (report->kind != MIRE_REPORT_MEMORY)
        return;
    out->event.footprint_bytes = footprint(memory);
    out->event.subject_bytes = out->hour.most_bytes = at_most(facts->subject_bytes, INT64_MAX);
    out->event.above_bytes = at_most(facts->above_bytes, INT64_MAX);
    out->hour.above_bytes = out->hour.events * (double)out->event.above_bytes;
    out->event.foreground = memory->foreground;
    out->event.foreground_known = memory->foreground_known;
    out->event.open = facts->category == MIRE_CATEGORY_FOOM;
    out->event.sample_count = count(memory->stack_count);
}

void aggregate_rows(struct aggregate_rows *out, const struct report *report, const struct aggregate_facts *facts)
{
    double weight = bounded_weight(report, facts);
    int64_t at_us = facts->occurred.at_us;
    const struct report_event *event = &report->event;
    int64_t waited_ms = at_most(category_waited_ms(facts->category, report), INT32_MAX);
    int64_t suppressed, suppressed_ms;
    bound_suppressed(&suppressed, &suppressed_ms, event);
    int64_t all_ms = waited_ms + (category_is_of_process(facts->category) ? 0 : suppressed_ms);

    *out = (struct aggregate_rows){
        .event =
            {
                .key = facts->key,
                .app_id = facts->app_id,
                .version_id = facts->version_id,
                .issue_id = facts->issue_id,
                .tree = facts->tree,
                .received_us = facts->received_us,
                .occurred_us = at_us,
                .duration_ms = event->duration_ms,
                .waited_ms = waited_ms,
                .category = category_name(facts->category),
                .reason = facts->reason,
                .open = event->open,
                .launch = event->launch,
                .foreground = event->foreground,
                .foreground_known = event->foreground_known,
                .weight = weight,
                .thread_count = report->process.thread_count.known ? (int64_t)report->process.thread_count.value : -1,
                .suppressed = suppressed,
                .suppressed_ms = suppressed_ms,
                .holder = facts->holder,
                .exit = report->exit.verdict,
                .exit_ppm = (int32_t)report->exit.confidence_ppm,
                .os = report->device.os,
                .os_version = report->device.os_version,
                .arch = report->device.arch,
                .model = report->device.model,
                .process_name = report->process.name,
                .device_class = report->device.class_name,
                .channel = report->app.channel,
                .scene = report->context.scene ? report->context.scene : "",
                .sample_count = count(event->sample_count),
                .frame_count = count(facts->frame_count),
                .unresolved_count = count(facts->unresolved_count),
                .rules_version = facts->rules_version,
            },
        .hour =
            {
                .reports = 1,
                .hour_us = at_us - ((at_us % HOUR_US) + HOUR_US) % HOUR_US,
                .app_id = facts->app_id,
                .version_id = facts->version_id,
                .issue_id = facts->issue_id,
                .tree = facts->tree,
                .category = category_name(facts->category),
                .events = weight * (double)(1 + suppressed),
                .waited_ms = weight * (double)all_ms,
                .longest_ms = waited_ms,
                .last_us = at_us,
                .delay = aggregate_delay(&facts->occurred, facts->received_us),
            },
    };
    count_turns(out->hour.turns, report, weight);
    add_memory(out, report, facts);
    memcpy(out->event.install, report->device.install, sizeof out->event.install);
}

void aggregate_baseline(struct baseline_row *out, const struct report *report, const struct aggregate_facts *facts)
{
    *out = (struct baseline_row){
        .key = facts->key,
        .app_id = facts->app_id,
        .version_id = facts->version_id,
        .os = report->device.os,
        .device_class = report->device.class_name,
        .received_us = facts->received_us,
        .weight = bounded_weight(report, facts),
        .footprint_bytes = footprint(&report->memory),
        .held_bytes = at_most(report->memory.held_bytes, INT64_MAX),
    };
    memcpy(out->install, report->device.install, sizeof out->install);
}
