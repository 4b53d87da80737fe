/*
 * session.c - a session record as a row; pure arithmetic.
 */
#include "aggregate/aggregate.h"

#include "base/clock.h"
#include "wire/plugin.h"

#include <string.h>

static double at_most(double value, double limit)
{
    return value <= limit ? value : limit;
}

static int64_t least(uint64_t value, uint64_t limit)
{
    return (int64_t)(value < limit ? value : limit);
}

/* The number of ends with one of two verdicts. */
static int32_t count_ends(const struct report_session *session, const char *verdict, const char * or)
{
    int32_t count = 0;
    for (size_t i = 0; i < session->end_count; i++)
        count += !strcmp(session->ends[i].verdict, verdict) || !strcmp(session->ends[i].verdict, or);
    return count;
}

/* -1: unknown. */
static int64_t given(struct fact fact)
{
    return fact.known ? least(fact.value, INT64_MAX / 2) : -1;
}

void aggregate_session(struct session_row *out, const struct report *report, const struct aggregate_facts *facts)
{
    const struct report_session *session = &report->session;
    bool watched = session->loop && session->plugins >> MIRE_PLUGIN_HANG & 1;
    double weight = at_most(facts->weight > 0 ? facts->weight : report_weight(report), MIRE_AGGREGATE_WEIGHT_MAX);
    uint64_t time_ms = session->duration_ms.value;
    /* Hangs that fit into the session's length. */
    int64_t hang_ms = least(session->hang_ms - session->background_ms, time_ms * MIRE_AGGREGATE_SESSION_THREADS);
    int64_t hangs =
        least(session->hang_count - session->background_count, (uint64_t)hang_ms / MIRE_AGGREGATE_EVENT_MS_LEAST);

    if (session->foreground_ms.known && session->foreground_ms.value < time_ms)
        time_ms = session->foreground_ms.value;
    *out = (struct session_row){
        .key = facts->key,
        .app_id = facts->app_id,
        .version_id = facts->version_id,
        .received_us = facts->received_us,
        .occurred_us = facts->occurred.at_us,
        .occurred_day = clock_day(facts->occurred.at_us),
        .delay = aggregate_delay(&facts->occurred, facts->received_us),
        .channel = report->app.channel,
        .plugins = (int16_t)session->plugins,
        .part = session->part.value < INT32_MAX ? (int64_t)session->part.value : INT32_MAX,
        .over = session->over,
        .loop = session->loop,
        .duration_ms = (int64_t)session->duration_ms.value,
        .foreground_ms = session->foreground_ms.known ? (int64_t)session->foreground_ms.value : -1,
        .hangs = hangs,
        .hang_ms = hang_ms,
        .sdk_cpu_us = session->sdk_cpu_us.value < INT64_MAX / 2 ? (int64_t)session->sdk_cpu_us.value : INT64_MAX / 2,
        .cpu_ms = given(session->cpu_ms),
        .footprint_peak_bytes = given(session->footprint_peak_bytes),
        .launch_ms = given(session->launch_ms),
        .frames_drawn = given(session->frames_drawn),
        .frames_dropped = given(session->frames_dropped),
        .weight = weight,
        .watched_weight = watched ? at_most(weight / report_share(report, "hang"), MIRE_AGGREGATE_WEIGHT_MAX) : 0,
        .time_ms = (double)time_ms,
        .os = report->device.os,
        .os_version = report->device.os_version,
        .arch = report->device.arch,
        .model = report->device.model,
        .process_name = report->process.name,
        .device_class = report->device.class_name,
        .ends = (int32_t)session->end_count,
        .fooms = count_ends(session, "foom", "foom"),
        .watchdogs = count_ends(session, "watchdog_kill", "watchdog_kill"),
        .crashes = count_ends(session, "crash", "abort"),
    };
    memcpy(out->install, report->device.install, sizeof out->install);
}
