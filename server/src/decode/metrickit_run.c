/*
 * metrickit_run.c - the run in which a diagnostic of MetricKit happened. MetricKit names only a period. libmire adds its
 * installation and its last runs before the payload's own members:
 *
 *     {"mire":{"install":"...","runs":[{"pid":71,"start_wall_ms":...,"seen_wall_ms":...,"verdict":"crash"}, ...]},
 *      "timeStampBegin":..., "crashDiagnostics":[ ... ]}
 *
 * A run is excluded if it does not overlap the period, or if its process number differs from the diagnostic's, which is
 * present from iOS 17 on. A crash or a kill for memory ended its run, so runs with another end, or without an end, are
 * excluded, too. If exactly one run remains, the diagnostic belongs to it.
 */
#include "decode/metrickit_run.h"

#include "base/id.h"
#include "decode/apple.h"
#include "decode/build_context.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SLACK_MS 60000 /* periods are in whole minutes */

static void read_run(struct metrickit_run *out, struct build *b, const struct json *json, uint32_t at)
{
    *out = (struct metrickit_run){.pid = look_number(json, look_one(json, at, "pid")).value,
                                  .start_ms = look_number(json, look_one(json, at, "start_wall_ms")).value,
                                  .seen_ms = look_number(json, look_one(json, at, "seen_wall_ms")).value,
                                  .verdict = look_text(b, json, at, "verdict")};
}

/* Can the diagnostic have ended a run with this verdict? libmire may not know the cause of the end. */
static bool agrees(const char *verdict, const char *wanted)
{
    static const char *const others[] = {"clean_exit", "user_quit", "app_upgraded", "os_upgraded", "rebooted", ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(verdict, others[i]))
            return false;
    return strcmp(wanted, "foom") != 0 || strcmp(verdict, "crash") != 0;
}

static bool overlaps(const struct metrickit_run *run, const struct metrickit_period *period)
{
    if (period->begin.known && run->seen_ms + SLACK_MS < period->begin.value)
        return false;
    return !period->end.known || run->start_ms <= period->end.value + SLACK_MS;
}

static bool can_be(const struct metrickit_run *run, const struct report *report, const struct metrickit_period *period)
{
    if (!overlaps(run, period))
        return false;
    if (report->process.pid && run->pid && report->process.pid != run->pid)
        return false;
    return !report->exit.known || agrees(run->verdict, report->exit.verdict);
}

void metrickit_take(struct build *b, const struct metrickit_run *run)
{
    struct report *report = b->report;
    report->process.pid = run->pid & UINT32_MAX;
    report->process.start_wall_ms = (struct fact){run->start_ms, run->start_ms != 0};
    if (report->exit.known) { /* the diagnostic ended the run, so it happened at the end */
        struct fact end = {run->seen_ms, run->seen_ms != 0};
        report->event.begin_wall_ms = report->memory.taken_wall_ms = report->exit.seen_wall_ms = end;
        build_note(b, "libmire's own verdict on the run: %s", run->verdict);
    }
}

/* The payload without the runs, which differ each time the system delivers the payload. */
static const char *payload_of(const struct foreign *foreign)
{
    static const char head[] = "{\"mire\":", tail[] = "]},";
    if (foreign->len < sizeof head || memcmp(foreign->text, head, sizeof head - 1) != 0)
        return NULL;
    return memmem(foreign->text, foreign->len, tail, sizeof tail - 1);
}

void metrickit_name(char out[MIRE_METRICKIT_NAME], const struct foreign *foreign, const struct report *report)
{
    const char *payload = payload_of(foreign);
    uint8_t content[16];
    char install[33], hash[33];
    out[0] = '\0';
    if (!payload)
        return;
    hash_blake2b(content, sizeof content, payload, foreign->len - (size_t)(payload - foreign->text));
    hex_format(install, report->device.install, sizeof report->device.install);
    hex_format(hash, content, sizeof content);
    snprintf(out, MIRE_METRICKIT_NAME, "%s %s %" PRIu32, install, hash, foreign->reports);
}

struct metrickit_run *metrickit_runs(size_t *count_out, struct build *b, const struct json *json,
                                     const struct metrickit_period *period)
{
    uint32_t runs = look_one(json, look_root(json, "mire"), "runs"), at = runs + 1;
    struct metrickit_run *out = arena_array(b->arena, look_count(json, runs) + 1, sizeof *out);
    *count_out = 0;
    for (uint32_t i = 0; out && i < look_count(json, runs); i++, at = json_next(json, at)) {
        struct metrickit_run *run = &out[*count_out];
        read_run(run, b, json, at);
        if (run->verdict[0] && overlaps(run, period) &&
            (!period->end.known || run->seen_ms <= period->end.value + SLACK_MS))
            ++*count_out;
    }
    return out;
}

void metrickit_install(struct build *b, const struct json *json)
{
    const char *install = look_text(b, json, look_root(json, "mire"), "install");
    if (strlen(install) != 2 * sizeof b->report->device.install ||
        !hex_parse(b->report->device.install, install, sizeof b->report->device.install))
        build_note(b, "MetricKit names no installation: all such reports count as one");
}

void metrickit_join(struct build *b, const struct json *json, const struct metrickit_period *period)
{
    uint32_t runs = look_one(json, look_root(json, "mire"), "runs"), fitting = 0, at = runs + 1;
    struct metrickit_run run, found = {0};
    metrickit_install(b, json);
    for (uint32_t i = 0; i < look_count(json, runs); i++, at = json_next(json, at)) {
        read_run(&run, b, json, at);
        if (!can_be(&run, b->report, period))
            continue;
        found = run;
        fitting++;
    }
    if (fitting == 1)
        metrickit_take(b, &found);
    else if (runs)
        build_note(b, "%u runs of the period can be the diagnostic's", fitting);
    if (period->end.known && (fitting != 1 || !b->report->exit.known))
        build_note(b, "MetricKit names a period, not the moment: the event counts at the end of the period");
}
