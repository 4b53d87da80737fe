/* metrickit_meta.c - see metrickit_meta.h. */
#include "decode/metrickit_meta.h"

#include "decode/apple.h"
#include "decode/build_context.h"

#include <stdio.h>
#include <string.h>

#define REFERENCE_S 978307200 /* 2001-01-01, from which Apple's systems count */
#define REFERENCE_TO_S \
    1200000000 /* a smaller number counts from there: it is before 2039, and from 1970 before MetricKit */

uint32_t metrickit_either(const struct json *json, uint32_t at, const char *one, const char *other)
{
    uint32_t found = look_one(json, at, one);
    return found ? found : look_one(json, at, other);
}

/* {"value": 2.5, "unit": "s"}, or with a unit of Foundation's form, {"symbol": "s", ...} */
static struct fact measured(struct build *b, const struct json *json, uint32_t at, uint64_t number_is)
{
    uint32_t value = look_one(json, at, "value"), unit = look_one(json, at, "unit");
    const char *symbol = build_string(b, json, unit);
    char text[64];
    if (unit && json_kind(json, unit) == MIRE_JSON_OBJECT)
        symbol = look_text(b, json, unit, "symbol");
    if (!symbol[0] || !value || json_kind(json, value) == MIRE_JSON_STRING)
        return metrickit_amount(b, json, value, number_is);
    double number = json_double(json, value);
    if (!(number >= 0) || number >= 1.8e19)
        return (struct fact){0};
    snprintf(text, sizeof text, "%.6f %.16s", number, symbol);
    return read_amount(text);
}

struct fact metrickit_amount(struct build *b, const struct json *json, uint32_t at, uint64_t number_is)
{
    if (!at || json_kind(json, at) == MIRE_JSON_STRING)
        return read_amount(build_string(b, json, at));
    if (json_kind(json, at) == MIRE_JSON_OBJECT)
        return measured(b, json, at, number_is);
    double value = json_double(json, at) * (double)number_is;
    return value >= 0 && value < 1.8e19 ? (struct fact){(uint64_t)value, true} : (struct fact){0};
}

/* ---- who sent it ---- */

/* "iPhone OS 14.0.1 (18A393)", or {"platform": "iOS", "number": "27.0"}: the name, and the version without the build. */
static void read_os(struct build *b, const struct json *json, uint32_t at)
{
    struct report_device *device = &b->report->device;
    const char *text = build_string(b, json, at), *platform = look_text(b, json, at, "platform");
    const char *digit = text + strcspn(text, "0123456789");
    size_t name = (size_t)(digit - text);
    while (name && text[name - 1] == ' ')
        name--;
    device->os = name ? os_word(b, build_text(b, text, name)) : platform[0] ? os_word(b, platform) : "ios";
    device->os_version = digit[0] ? build_text(b, digit, strcspn(digit, " ")) : look_text(b, json, at, "number");
}

void metrickit_meta(struct build *b, const struct json *json, uint32_t meta)
{
    struct report *report = b->report;
    uint32_t version = metrickit_either(json, meta, "appVersion", "applicationVersion");
    if (!version)
        version = metrickit_either(json, meta, "latestApplicationVersion", "latestAppVersion");
    report->app.version = build_string(b, json, version ? version : look_root(json, "appVersion"));
    report->app.build =
        build_string(b, json, metrickit_either(json, meta, "appBuildVersion", "applicationBuildVersion"));
    report->app.name = build_string(b, json, metrickit_either(json, meta, "bundleIdentifier", "bundleID"));
    report->process.name = report->app.name;
    report->process.pid = look_number(json, look_one(json, meta, "pid")).value & UINT32_MAX;
    report->device.model = look_text(b, json, meta, "deviceType");
    report->device.arch = arch_word(b, look_text(b, json, meta, "platformArchitecture"));
    read_os(b, json, look_one(json, meta, "osVersion"));
    build_tag_at(b, "region", json, look_one(json, meta, "regionFormat"));
    build_tag_at(b, "low_power", json, look_one(json, meta, "lowPowerModeEnabled"));
    if (look_flag(json, look_one(json, meta, "isTestFlightApp")))
        report->app.channel = "gray";
    if (!report->app.name[0])
        report->app.name = "app";
    report->sdk_name = "MetricKit";
}

/* ---- when ---- */

/* A time as text, or in seconds since 2001 or 1970, as the app's encoder was told. */
static struct fact time_at(struct build *b, const struct json *json, uint32_t at)
{
    if (!at || json_kind(json, at) == MIRE_JSON_STRING)
        return read_time(build_string(b, json, at));
    double seconds = json_double(json, at);
    if (!(seconds > 0) || seconds > 1e11)
        return (struct fact){0};
    return (struct fact){(uint64_t)((seconds < REFERENCE_TO_S ? seconds + REFERENCE_S : seconds) * 1000), true};
}

struct metrickit_period metrickit_period(struct build *b, const struct json *json)
{
    uint32_t range = look_root(json, "timeRange");
    if (range)
        return (struct metrickit_period){time_at(b, json, metrickit_either(json, range, "begin", "start")),
                                         time_at(b, json, look_one(json, range, "end"))};
    uint32_t begin = look_root(json, "timeStampBegin"), end = look_root(json, "timeStampEnd");
    return (struct metrickit_period){time_at(b, json, begin ? begin : look_root(json, "timestampBegin")),
                                     time_at(b, json, end ? end : look_root(json, "timestampEnd"))};
}
