/*
 * metrickit_exits.c - the metrics of Apple's MetricKit: a session record of a day, with how its runs ended.
 *
 *     applicationExitMetrics: { foregroundExitData: { cumulative...ExitCount: N, ... }, backgroundExitData: { ... } }
 *
 * A count becomes as many ends. Without libmire the record also has the day's usage (metrickit_metrics.h).
 *
 * libmire records its own runs with their usage, and sends the last of them along (metrickit_run.c). Each explains an exit of the period: one
 * of its verdict, or else a kill, if it was killed for a reason that libmire did not see. The exits that remain are of runs
 * which libmire never saw. If the kills for memory without a run of that verdict are as many as the runs that were killed for
 * an unseen reason, they are those: each becomes a report of the run, up to iOS 26; later systems have a diagnostic for it.
 */
#include "decode/apple.h"
#include "decode/build_context.h"
#include "decode/formats.h"
#include "decode/metrickit_meta.h"
#include "decode/metrickit_metrics.h"

#include <stdlib.h>
#include <string.h>

#define ENDS_MAX      64 /* further ones are left out; a session record has no room to say so */
#define FOOM_REPORTED 27 /* major version of iOS from which on MetricKit has a diagnostic of a kill for memory */

static const struct {
    const char *name;         /* between "cumulative" and "ExitCount" */
    const char *now;          /* before "TerminationCount", from iOS 27 on; NULL: it has none */
    const char *front, *back; /* verdicts */
} counts[] = {
    {"NormalApp", "normal", "clean_exit", "clean_exit"},
    {"MemoryResourceLimit", "memoryLimit", "foom", "foom"},
    {"MemoryPressure", "systemPressure", "background_kill", "background_kill"},
    {"AppWatchdog", "watchdog", "watchdog_kill", "watchdog_kill"},
    {"BadAccess", "badAccess", "crash", "crash"},
    {"IllegalInstruction", "illegalInstruction", "crash", "crash"},
    {"Abnormal", "abnormal", "abort", "abort"},
    {"CPUResourceLimit", "highCPU", "os_kill", "background_kill"},
    {"SuspendedWithLockedFile", "fileLock", "os_kill", "background_kill"},
    {"BackgroundTaskAssertionTimeout", "taskTimeout", "os_kill", "background_kill"},
    {"BackgroundURLSessionCompletionTimeout", NULL, "os_kill", "background_kill"},
    {"BackgroundFetchCompletionTimeout", NULL, "os_kill", "background_kill"},
};

struct exits {
    struct build *b;
    const struct json *json;
    struct report_end *ends;
    size_t count;
    uint64_t seen_ms;
    struct metrickit_run *runs; /* of libmire, in the period */
    size_t run_count;
    uint64_t fooms, kills; /* without a run of the verdict */
};

/* ---- the runs that explain exits ---- */

static bool is_normal(const char *verdict)
{
    return !strcmp(verdict, "clean_exit") || !strcmp(verdict, "user_quit") || !strcmp(verdict, "app_upgraded");
}

/* Did libmire not see the reason for which the run ended? */
static bool is_unseen(const char *verdict)
{
    return !strcmp(verdict, "os_kill") || !strcmp(verdict, "unknown") || !strcmp(verdict, "background_kill");
}

static bool is_kill(const char *verdict)
{
    return !is_normal(verdict) && strcmp(verdict, "crash") != 0 && strcmp(verdict, "abort") != 0;
}

/* Take away the exits that have a run of their verdict. */
static uint64_t explain(struct exits *exits, const char *verdict, uint64_t count)
{
    for (size_t i = 0; i < exits->run_count && count; i++) {
        const char **of = &exits->runs[i].verdict;
        if (!strcmp(*of, verdict) || (is_normal(*of) && is_normal(verdict))) {
            *of = ""; /* explains this one alone */
            count--;
        }
    }
    return count;
}

static size_t count_unseen(const struct exits *exits)
{
    size_t count = 0;
    for (size_t i = 0; i < exits->run_count; i++)
        count += is_unseen(exits->runs[i].verdict);
    return count;
}

/* Take away the kills that a run can be, whose reason libmire did not see. */
static uint64_t explain_unseen(struct exits *exits, const char *verdict, uint64_t count)
{
    for (size_t i = 0; i < exits->run_count && count && is_kill(verdict); i++)
        if (is_unseen(exits->runs[i].verdict)) {
            exits->runs[i].verdict = "";
            count--;
        }
    return count;
}

/* ---- counts ---- */

static void add(struct exits *exits, const char *verdict, uint64_t count)
{
    for (; count && exits->count < ENDS_MAX; count--)
        exits->ends[exits->count++] = (struct report_end){.verdict = verdict,
                                                          .confidence_ppm = {1000000, true},
                                                          .seen_wall_ms = {exits->seen_ms, exits->seen_ms != 0}};
}

#define KINDS (sizeof counts / sizeof *counts)
#define SIDES 2

struct exits_left {
    uint64_t left[KINDS][SIDES]; /* in front, in the background */
};

static const char *verdict_of(size_t kind, size_t side)
{
    return side ? counts[kind].back : counts[kind].front;
}

static uint64_t read_counts(struct exits *exits, struct exits_left *out)
{
    uint64_t all = 0;
    for (size_t i = 0; i < KINDS; i++)
        for (size_t side = 0; side < SIDES; side++) {
            uint64_t count = metrickit_exit_count(exits->b, exits->json, side, counts[i].name, counts[i].now);
            all += count;
            out->left[i][side] = count = explain(exits, verdict_of(i, side), count);
            exits->kills += is_kill(verdict_of(i, side)) ? count : 0;
            exits->fooms += strcmp(verdict_of(i, side), "foom") ? 0 : count;
        }
    return all;
}

/* Kills first: of a day with many exits the ordinary ones are those that have no room. */
static void add_unexplained(struct exits *exits, const struct exits_left *counted)
{
    for (size_t i = KINDS; i-- > 0;)
        for (size_t side = 0; side < SIDES; side++)
            add(exits, verdict_of(i, side), explain_unseen(exits, verdict_of(i, side), counted->left[i][side]));
}

static void read_origin(struct build *b, const struct json *json)
{
    uint32_t meta = look_root(json, "metaData");
    metrickit_meta(b, json, meta ? meta : look_root(json, "environment"));
    if (look_root(json, "mire"))
        metrickit_install(b, json);
}

/* ---- reports ---- */

static enum decode_outcome report_foom(struct foreign *foreign, const struct json *json,
                                       const struct metrickit_run *run)
{
    struct build b;
    char own[MIRE_METRICKIT_NAME];
    build_begin(&b, NULL, foreign->arena);
    read_origin(&b, json);
    b.report->kind = MIRE_REPORT_MEMORY;
    b.report->memory.trigger = "foom";
    b.report->exit = (struct report_exit){.known = true, .verdict = "foom", .confidence_ppm = 1000000};
    build_note(&b,
               "MetricKit counts a kill for memory in the period, and this run alone can be it; it does not tell which "
               "code held the memory");
    metrickit_take(&b, run);
    metrickit_name(own, foreign, b.report);
    return build_end(&b) ? foreign_report(foreign, b.report, own, run->seen_ms) : MIRE_DECODE_NO_MEMORY;
}

/* Before the runs are used up. */
static enum decode_outcome report_fooms(struct foreign *foreign, const struct exits *exits)
{
    const char *os = exits->b->report->device.os_version;
    enum decode_outcome outcome = MIRE_DECODE_OK;
    if (!exits->fooms || exits->fooms != exits->kills || exits->fooms != count_unseen(exits) ||
        strtoul(os, NULL, 10) >= FOOM_REPORTED)
        return MIRE_DECODE_OK;
    for (size_t i = 0; i < exits->run_count && !outcome; i++)
        if (is_unseen(exits->runs[i].verdict))
            outcome = report_foom(foreign, exits->json, &exits->runs[i]);
    return outcome;
}

enum decode_outcome metrickit_period_of_runs(struct foreign *foreign, const struct json *json)
{
    struct build b;
    build_begin(&b, NULL, foreign->arena);
    char own[MIRE_METRICKIT_NAME];
    struct exits_left counted;
    struct exits exits = {.b = &b, .json = json, .ends = arena_array(b.arena, ENDS_MAX, sizeof *exits.ends)};
    const struct metrickit_period period = metrickit_period(&b, json);
    exits.runs = metrickit_runs(&exits.run_count, &b, json, &period);
    if (!exits.ends || !exits.runs)
        return MIRE_DECODE_NO_MEMORY;
    exits.seen_ms = period.end.known ? period.end.value : 0;
    uint64_t counted_all = read_counts(&exits, &counted);
    read_origin(&b, json);
    b.report->kind = MIRE_REPORT_SESSION;
    b.report->session = (struct report_session){.begin_wall_ms = period.begin, .duration_ms = {0, true}, .over = true};
    bool used = !look_root(json, "mire") && metrickit_usage(&b, json);
    if (!counted_all && !used && !look_root(json, "mire"))
        return foreign_wrong(foreign, "", "the payload has no metric that is kept, and counts no exit");
    enum decode_outcome outcome = report_fooms(foreign, &exits);
    add_unexplained(&exits, &counted);
    if (outcome || !(exits.count || used))
        return outcome;
    b.report->session.ends = exits.ends;
    b.report->session.end_count = exits.count;
    metrickit_name(own, foreign, b.report);
    return build_end(&b) ? foreign_report(foreign, b.report, own, exits.seen_ms) : MIRE_DECODE_NO_MEMORY;
}
