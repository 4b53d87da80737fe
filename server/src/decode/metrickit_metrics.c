/*
 * metrickit_metrics.c - see metrickit_metrics.h. The two forms of one metric:
 *
 *     MXMetricPayload   {"memoryMetrics": {"peakMemoryUsage": "200,000 kB"}, ...}
 *     MetricReport      {"intervalEntries": [{"duration": ..., "values": [{"peakMemoryMetric": {"value": ...}}, ...]}], ...}
 *
 * A histogram is {"histogramValue": {"0": {"bucketCount", "bucketStart", "bucketEnd"}, ...}} in the one, and
 * {"histogram": {"buckets": [{"count", "lowerBound", "upperBound"}, ...]}} in the other. The values of MetricReport are
 * those of the longest interval, which is the whole day; Swift writes a value's name as its case or as its type.
 */
#include "decode/metrickit_metrics.h"

#include "decode/apple.h"
#include "decode/metrickit_meta.h"
#include "wire/limits.h"
#include "wire/plugin.h"

#include <stdio.h>
#include <string.h>

#define BUCKETS_MAX 256
#define HANG_MS     2000 /* libmire's own threshold, if the app sets none */
#define SECOND_MS   1000

/* A metric's place in each form. */
struct metric_name {
    const char *group, *member; /* of MXMetricPayload */
    const char *now;            /* of MetricReport */
};

static const struct metric_name foreground = {"applicationTimeMetrics", "cumulativeForegroundTime",
                                              "totalForegroundTime"};
static const struct metric_name background = {"applicationTimeMetrics", "cumulativeBackgroundTime",
                                              "totalBackgroundTime"};
static const struct metric_name hangs = {"applicationResponsivenessMetrics", "histogrammedAppHangTime", "hangTime"};
static const struct metric_name launches = {"applicationLaunchMetrics", "histogrammedTimeToFirstDrawKey",
                                            "timeToFirstDraw"};
static const struct metric_name cpu_time = {"cpuMetrics", "cumulativeCPUTime", "cpuTime"};
static const struct metric_name peak = {"memoryMetrics", "peakMemoryUsage", "peakMemory"};
static const struct metric_name late = {"animationMetrics", "hitchTimeRatio", "hitchTime"};
static const struct metric_name late_scroll = {"animationMetrics", "scrollHitchTimeRatio", "scrollHitchTime"};

/* ---- places ---- */

/* The values of the longest interval; 0: the document is no MetricReport. */
static uint32_t values_of(struct build *b, const struct json *json)
{
    uint32_t list = look_root(json, "intervalEntries"), at = list + 1, found = 0;
    uint64_t longest = 0;
    for (uint32_t i = 0; i < look_count(json, list); i++, at = json_next(json, at)) {
        uint64_t ms = metrickit_amount(b, json, look_one(json, at, "duration"), SECOND_MS).value;
        if (found && ms <= longest)
            continue;
        found = look_one(json, at, "values");
        longest = ms;
    }
    return found;
}

/* A value by the name of its case or of its type. */
static uint32_t value_named(const struct json *json, uint32_t values, const char *name)
{
    uint32_t at = values + 1;
    char type[64];
    snprintf(type, sizeof type, "%sMetric", name);
    for (uint32_t i = 0; i < look_count(json, values); i++, at = json_next(json, at)) {
        uint32_t found = metrickit_either(json, at, type, name), inside = look_one(json, found, "_0");
        if (found)
            return inside ? inside : found;
    }
    return 0;
}

static uint32_t metric_at(struct build *b, const struct json *json, const struct metric_name *name)
{
    uint32_t group = look_root(json, name->group);
    if (group)
        return look_one(json, group, name->member);
    uint32_t values = values_of(b, json);
    return values ? value_named(json, values, name->now) : 0;
}

static struct fact amount(struct build *b, const struct json *json, const struct metric_name *name, uint64_t number_is)
{
    uint32_t at = metric_at(b, json, name);
    if (at && json_kind(json, at) == MIRE_JSON_OBJECT &&
        json_kind(json, look_one(json, at, "value")) == MIRE_JSON_OBJECT)
        at = look_one(json, at, "value"); /* of MetricReport */
    return metrickit_amount(b, json, at, number_is);
}

/* A time that a session can last. */
static struct fact time_of(struct build *b, const struct json *json, const struct metric_name *name)
{
    struct fact ms = amount(b, json, name, SECOND_MS);
    return ms.value <= MIRE_WIRE_DURATION_MAX ? ms : (struct fact){0};
}

/* ---- histograms ---- */

struct kit_histogram {
    struct report_bucket *buckets; /* rising */
    uint32_t *to_ms;               /* the end of each */
    size_t count;
    uint64_t all;
};

static void read_bucket(struct kit_histogram *out, struct build *b, const struct json *json, uint32_t at)
{
    uint32_t begin = metrickit_either(json, at, "bucketStart", "lowerBound");
    struct fact from = metrickit_amount(b, json, begin, SECOND_MS);
    struct fact to = metrickit_amount(b, json, metrickit_either(json, at, "bucketEnd", "upperBound"), SECOND_MS);
    struct fact count = look_number(json, metrickit_either(json, at, "bucketCount", "count"));
    size_t i = out->count;
    if (!from.known || from.value > INT32_MAX || !count.known || !count.value || count.value > INT32_MAX ||
        i == BUCKETS_MAX)
        return;
    for (; i > 0 && out->buckets[i - 1].from_ms > from.value; i--) {
        out->buckets[i] = out->buckets[i - 1];
        out->to_ms[i] = out->to_ms[i - 1];
    }
    out->buckets[i] = (struct report_bucket){(uint32_t)from.value, (uint32_t)count.value};
    out->to_ms[i] =
        to.known && to.value >= from.value && to.value < INT32_MAX ? (uint32_t)to.value : (uint32_t)from.value;
    out->count++;
    out->all += count.value;
}

static bool read_histogram(struct kit_histogram *out, struct build *b, const struct json *json,
                           const struct metric_name *name)
{
    uint32_t at = metric_at(b, json, name), list = look_one(json, look_one(json, at, "histogram"), "buckets");
    uint32_t keyed = look_one(json, at, "histogramValue"), row = list + 1;
    char key[16];
    *out = (struct kit_histogram){.buckets = arena_array(b->arena, BUCKETS_MAX + 1, sizeof *out->buckets),
                                  .to_ms = arena_array(b->arena, BUCKETS_MAX + 1, sizeof *out->to_ms)};
    b->failed |= !out->buckets || !out->to_ms;
    if (b->failed || !(list || keyed))
        return false;
    for (uint32_t i = 0; i < look_count(json, list); i++, row = json_next(json, row))
        read_bucket(out, b, json, row);
    for (uint32_t i = 0; keyed && i < BUCKETS_MAX; i++) {
        snprintf(key, sizeof key, "%u", i);
        if (!look_one(json, keyed, key))
            break;
        read_bucket(out, b, json, look_one(json, keyed, key));
    }
    return true;
}

/* The middle of a bucket: all that is known of a value in it. */
static uint64_t middle(const struct kit_histogram *histogram, size_t i)
{
    return ((uint64_t)histogram->buckets[i].from_ms + histogram->to_ms[i]) / 2;
}

static uint64_t median(const struct kit_histogram *histogram)
{
    uint64_t below = 0;
    size_t i = 0;
    while (i + 1 < histogram->count && (below += histogram->buckets[i].count) * 2 < histogram->all)
        i++;
    return middle(histogram, i);
}

/* ---- a session ---- */

/* Each with the middle of its bucket. */
static void take_hangs(struct report_session *session, struct build *b, const struct json *json)
{
    struct kit_histogram histogram;
    if (!read_histogram(&histogram, b, json, &hangs))
        return;
    session->loop = true;
    session->plugins |= 1u << MIRE_PLUGIN_HANG;
    for (size_t i = 0; i < histogram.count; i++)
        if (histogram.buckets[i].from_ms >= HANG_MS) {
            session->hang_count += histogram.buckets[i].count;
            session->hang_ms += middle(&histogram, i) * histogram.buckets[i].count;
        }
}

/* The share of late time, as frames of a millisecond, because MetricKit counts none: "30 ms per s", or the two times themselves. */
static void take_frames(struct report_session *session, struct build *b, const struct json *json)
{
    const struct metric_name *name = metric_at(b, json, &late) ? &late : &late_scroll;
    uint32_t at = metric_at(b, json, name);
    struct fact animated = metrickit_amount(b, json, look_one(json, at, "totalAnimationTime"), SECOND_MS);
    struct fact hitched = metrickit_amount(b, json, look_one(json, at, "totalHitchTime"), SECOND_MS);
    const char *text = build_string(b, json, at);
    if (strstr(text, " per s") || strstr(text, "/s")) {
        animated = (struct fact){SECOND_MS, true};
        hitched = read_amount(build_text(b, text, strcspn(text, "p/")));
    }
    if (!animated.known || !hitched.known || !animated.value || animated.value > UINT32_MAX ||
        hitched.value > animated.value)
        return;
    session->frames_drawn = (struct fact){animated.value - hitched.value, true};
    session->frames_dropped = hitched;
}

/* The median of the period's launches. */
static void take_launch(struct report_session *session, struct build *b, const struct json *json)
{
    struct kit_histogram histogram;
    if (!read_histogram(&histogram, b, json, &launches) || !histogram.count ||
        median(&histogram) > MIRE_WIRE_DURATION_MAX)
        return;
    session->launch_ms = (struct fact){median(&histogram), true};
}

bool metrickit_usage(struct build *b, const struct json *json)
{
    struct report_session *session = &b->report->session;
    struct fact front = time_of(b, json, &foreground), back = time_of(b, json, &background);
    if (front.value + back.value <= MIRE_WIRE_DURATION_MAX) {
        session->duration_ms = (struct fact){front.value + back.value, true};
        session->foreground_ms = front;
    }
    session->cpu_ms = amount(b, json, &cpu_time, SECOND_MS);
    session->footprint_peak_bytes = amount(b, json, &peak, 1);
    take_hangs(session, b, json);
    take_launch(session, b, json);
    take_frames(session, b, json);
    return front.known || back.known || session->cpu_ms.known || session->footprint_peak_bytes.known || session->loop ||
           session->launch_ms.known || session->frames_drawn.known;
}

/* ---- exits ---- */

uint64_t metrickit_exit_count(struct build *b, const struct json *json, bool back, const char *old, const char *now)
{
    const struct metric_name side = {"applicationExitMetrics", back ? "backgroundExitData" : "foregroundExitData",
                                     back ? "backgroundTermination" : "foregroundTermination"};
    uint32_t at = metric_at(b, json, &side);
    struct fact count = look_number(json, look_one(json, at, build_printf(b, "cumulative%sExitCount", old)));
    if (!count.known && now)
        count = look_number(json, look_one(json, at, build_printf(b, "%sTerminationCount", now)));
    return count.known && count.value < UINT32_MAX ? count.value : 0;
}

bool metrickit_has_metrics(const struct json *json)
{
    static const char *const groups[] = {"applicationExitMetrics",
                                         "applicationTimeMetrics",
                                         "applicationResponsivenessMetrics",
                                         "applicationLaunchMetrics",
                                         "cpuMetrics",
                                         "memoryMetrics",
                                         "animationMetrics",
                                         "intervalEntries"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (look_root(json, groups[i]))
            return true;
    return false;
}
