/*
 * metrickit_exits.c - the counts of exits of Apple's MXMetricPayload: a session record with how the runs of a day ended.
 *
 *     applicationExitMetrics: { foregroundExitData: { cumulative...ExitCount: N, ... }, backgroundExitData: { ... } }
 *
 * A count becomes as many ends. The payload's other metrics are amounts of a day, not events, and are left out.
 */
#include "decode/apple.h"
#include "decode/build_context.h"
#include "decode/formats.h"

#include <string.h>

#define ENDS_MAX 64 /* further ones are left out; a session record has no room to say so */

static const struct {
    const char *name;         /* between "cumulative" and "ExitCount" */
    const char *front, *back; /* verdicts */
} counts[] = {
    {"NormalApp", "clean_exit", "clean_exit"},
    {"MemoryResourceLimit", "foom", "foom"},
    {"MemoryPressure", "background_kill", "background_kill"},
    {"AppWatchdog", "watchdog_kill", "watchdog_kill"},
    {"BadAccess", "crash", "crash"},
    {"IllegalInstruction", "crash", "crash"},
    {"Abnormal", "abort", "abort"},
    {"CPUResourceLimit", "os_kill", "background_kill"},
    {"SuspendedWithLockedFile", "os_kill", "background_kill"},
    {"BackgroundTaskAssertionTimeout", "os_kill", "background_kill"},
    {"BackgroundURLSessionCompletionTimeout", "os_kill", "background_kill"},
    {"BackgroundFetchCompletionTimeout", "os_kill", "background_kill"},
};

struct exits {
    struct build *b;
    const struct json *json;
    struct report_end *ends;
    size_t count;
    uint64_t seen_ms;
};

static void add(struct exits *exits, const char *verdict, uint64_t count)
{
    for (; count && exits->count < ENDS_MAX; count--)
        exits->ends[exits->count++] = (struct report_end){.verdict = verdict,
                                                          .confidence_ppm = {1000000, true},
                                                          .seen_wall_ms = {exits->seen_ms, exits->seen_ms != 0}};
}

/* One side of a payload: the runs that ended in front, or in the background. */
static uint64_t count_of(struct exits *exits, const char *side, const char *name)
{
    uint32_t data = look_one(exits->json, look_root(exits->json, "applicationExitMetrics"), side);
    const char *member = build_printf(exits->b, "cumulative%sExitCount", name);
    struct fact count = look_number(exits->json, look_one(exits->json, data, member));
    return count.known && count.value < UINT32_MAX ? count.value : 0;
}

/* Kills first: of a day with many exits the ordinary ones are those that have no room. */
static void read_counts(struct exits *exits)
{
    for (size_t i = sizeof counts / sizeof *counts; i-- > 0;) {
        add(exits, counts[i].front, count_of(exits, "foregroundExitData", counts[i].name));
        add(exits, counts[i].back, count_of(exits, "backgroundExitData", counts[i].name));
    }
}

static void read_origin(struct exits *exits)
{
    const struct json *json = exits->json;
    struct report *report = exits->b->report;
    uint32_t meta = look_root(json, "metaData");
    const char *os = look_text(exits->b, json, meta, "osVersion");
    const char *digit = os + strcspn(os, "0123456789");
    report->sdk_name = "MetricKit";
    report->app.name = look_text(exits->b, json, meta, "bundleIdentifier");
    report->app.name = report->app.name[0] ? report->app.name : "app";
    report->process.name = report->app.name;
    report->app.version = build_string(exits->b, json, look_root(json, "appVersion"));
    report->app.build = look_text(exits->b, json, meta, "appBuildVersion");
    report->device.os = "ios";
    report->device.os_version = build_text(exits->b, digit, strcspn(digit, " "));
    report->device.model = look_text(exits->b, json, meta, "deviceType");
    report->device.arch = arch_word(exits->b, look_text(exits->b, json, meta, "platformArchitecture"));
}

enum decode_outcome metrickit_exits(struct foreign *foreign, const struct json *json)
{
    struct build b;
    build_begin(&b, NULL, foreign->arena);
    struct exits exits = {.b = &b, .json = json, .ends = arena_array(b.arena, ENDS_MAX, sizeof *exits.ends)};
    struct fact begin = read_time(build_string(&b, json, look_root(json, "timeStampBegin")));
    struct fact end = read_time(build_string(&b, json, look_root(json, "timeStampEnd")));
    if (!exits.ends)
        return MIRE_DECODE_NO_MEMORY;
    exits.seen_ms = end.known ? end.value : 0;
    read_counts(&exits);
    if (!exits.count)
        return foreign_wrong(foreign, "/applicationExitMetrics", "the payload counts no exit");
    read_origin(&exits);
    b.report->kind = MIRE_REPORT_SESSION;
    b.report->session = (struct report_session){
        .begin_wall_ms = begin, .duration_ms = {0, true}, .over = true, .ends = exits.ends, .end_count = exits.count};
    return build_end(&b) ? foreign_report(foreign, b.report, "", exits.seen_ms) : MIRE_DECODE_NO_MEMORY;
}
