/*
 * metrickit.c - Apple's MetricKit diagnostics: payloads of MXDiagnosticPayload, single diagnostics, bare call stack
 * trees, and the Codable form of later systems, whose names lack the suffix "Diagnostics" and whose amounts are numbers.
 *
 *     hangDiagnostics            event, hang; hangDuration
 *     cpuExceptionDiagnostics    event, cpu; totalCPUTime of totalSampledTime
 *     diskWriteException...      event, disk; writesCaused
 *     crashDiagnostics           event, crash
 *     appLaunchDiagnostics       event, hang at launch; launchDuration
 *     memoryExceptions           memory, foom: the system's word for a process above its limit, from iOS 27 on
 *     a bare tree                event, captured by the app
 *
 * DiagnosticReport of iOS 27 has one diagnostic, beside its environment and its time range:
 *
 *     {"timeRange": {...}, "environment": {...}, "hangDiagnostic": {"hangDuration": {...}, "callStackTree": {...}}}
 */
#include "decode/apple.h"
#include "decode/build_context.h"
#include "decode/formats.h"
#include "decode/metrickit_meta.h"
#include "decode/metrickit_metrics.h"
#include "decode/metrickit_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct kit {
    struct foreign *foreign;
    const struct json *json;
    struct build *b;
};

enum kit_kind { KIT_HANG, KIT_CPU, KIT_DISK, KIT_CRASH, KIT_LAUNCH, KIT_MEMORY, KIT_KINDS };

static const char *const lists[KIT_KINDS][2] = {
    [KIT_HANG] = {"hangDiagnostics", "hangs"},
    [KIT_CPU] = {"cpuExceptionDiagnostics", "cpuExceptions"},
    [KIT_DISK] = {"diskWriteExceptionDiagnostics", "diskWriteExceptions"},
    [KIT_CRASH] = {"crashDiagnostics", "crashes"},
    [KIT_LAUNCH] = {"appLaunchDiagnostics", "appLaunches"},
    [KIT_MEMORY] = {"memoryExceptionDiagnostics", "memoryExceptions"},
};

/* DiagnosticReport of iOS 27, as JSONEncoder writes it: the name of its one diagnostic. */
static const char *const cases[KIT_KINDS] = {
    [KIT_HANG] = "hangDiagnostic",   [KIT_CPU] = "cpuExceptionDiagnostic", [KIT_DISK] = "diskWriteExceptionDiagnostic",
    [KIT_CRASH] = "crashDiagnostic", [KIT_LAUNCH] = "appLaunchDiagnostic", [KIT_MEMORY] = "memoryExceptionDiagnostic",
};

/* The same as Swift writes an enumeration, in "result" under its case; the diagnostic's name without its last word. */
static uint32_t enumerated(const struct json *json, const char *name)
{
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)(strlen(name) - strlen("Diagnostic")), name);
    uint32_t at = look_one(json, look_root(json, "result"), word), inside = look_one(json, at, "_0");
    return inside ? inside : at;
}

/* The diagnostic of a DiagnosticReport, if it is of this kind; 0: it is not. */
static uint32_t result_of(const struct json *json, enum kit_kind kind)
{
    uint32_t at = look_root(json, cases[kind]);
    return at ? at : enumerated(json, cases[kind]);
}

/* The list of a kind in the payload, by either name; 0: none. */
static uint32_t list_of(const struct json *json, enum kit_kind kind)
{
    uint32_t list = look_root(json, lists[kind][0]);
    return list ? list : look_root(json, lists[kind][1]);
}

bool metrickit_is(const struct json *json)
{
    if (json_kind(json, 0) != MIRE_JSON_OBJECT)
        return false;
    bool payload =
        look_root(json, "timeStampBegin") || look_root(json, "timeStampEnd") || look_root(json, "timestampBegin");
    for (int kind = 0; kind < KIT_KINDS; kind++)
        payload |= look_count(json, list_of(json, (enum kit_kind)kind)) > 0 || result_of(json, (enum kit_kind)kind);
    return payload || metrickit_has_metrics(json) || look_root(json, "callStackTree") || metrickit_is_tree(json, 0);
}

/* ---- diagnostics ---- */

static struct fact amount_of(struct kit *kit, uint32_t meta, const char *name, uint64_t number_is)
{
    return metrickit_amount(kit->b, kit->json, look_one(kit->json, meta, name), number_is);
}

static const char *const exceptions[] = {"",
                                         "EXC_BAD_ACCESS",
                                         "EXC_BAD_INSTRUCTION",
                                         "EXC_ARITHMETIC",
                                         "EXC_EMULATION",
                                         "EXC_SOFTWARE",
                                         "EXC_BREAKPOINT",
                                         "EXC_SYSCALL",
                                         "EXC_MACH_SYSCALL",
                                         "EXC_RPC_ALERT",
                                         "EXC_CRASH",
                                         "EXC_RESOURCE",
                                         "EXC_GUARD"};
static const char *const signals[] = {[4] = "SIGILL",  [5] = "SIGTRAP", [6] = "SIGABRT", [8] = "SIGFPE",
                                      [9] = "SIGKILL", [10] = "SIGBUS", [11] = "SIGSEGV"};
#define EXCEPTIONS (sizeof exceptions / sizeof *exceptions)
#define SIGNALS    (sizeof signals / sizeof *signals)

/* A number, or a name of the table, as later systems write it. */
static uint64_t number_or_name(const struct json *json, uint32_t at, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] && names[i][0] && look_is(json, at, names[i]))
            return i;
    return look_number(json, at).value;
}

/* Signals and Mach exceptions by their numbers. */
static const char *crash_word(struct kit *kit, uint32_t meta, uint64_t number)
{
    uint64_t type = number_or_name(kit->json, look_one(kit->json, meta, "exceptionType"), exceptions, EXCEPTIONS);
    uint32_t reason = look_one(kit->json, meta, "exceptionReason");
    const char *name = look_text(kit->b, kit->json, reason, "exceptionName");
    if (name[0])
        return name;
    if (type && type < EXCEPTIONS && type != 10)
        return exceptions[type];
    const char *of_signal = number < SIGNALS ? signals[number] : NULL;
    return of_signal ? of_signal : type == 10 ? "EXC_CRASH" : "crash";
}

/* Did the system end the process because it did not answer? */
static bool is_watchdog(const struct json *json, uint32_t meta, const char *reason)
{
    uint32_t category = look_one(json, meta, "terminationCategory");
    return strstr(reason, "8badf00d") || strstr(reason, "0x8BADF00D") || look_is(json, category, "watchdog");
}

static void read_crash(struct kit *kit, uint32_t meta)
{
    const struct json *json = kit->json;
    struct report *report = kit->b->report;
    uint64_t number = number_or_name(json, look_one(json, meta, "signal"), signals, SIGNALS);
    report->event.trigger = "crash";
    report->event.name = crash_word(kit, meta, number);
    report->exit = (struct report_exit){.known = true,
                                        .verdict = number == 6 ? "abort" : "crash",
                                        .confidence_ppm = 1000000,
                                        .signal = {number, number != 0}};
    const char *reason = look_text(kit->b, json, meta, "terminationReason");
    if (is_watchdog(json, meta, reason)) {
        report->event.trigger = "busy";
        report->event.name = "";
        report->event.open = true;
        report->exit.verdict = "watchdog_kill";
    }
    if (reason[0])
        build_note(kit->b, "termination reason: %s", reason);
}

static void read_memory(struct kit *kit)
{
    struct report *report = kit->b->report;
    report->kind = MIRE_REPORT_MEMORY;
    report->memory.trigger = "foom";
    report->exit = (struct report_exit){.known = true, .verdict = "foom", .confidence_ppm = 1000000};
    build_note(kit->b, "MetricKit reports neither the amount of memory of the process nor the code that held it");
}

static void read_kind(struct kit *kit, enum kit_kind kind, uint32_t meta)
{
    struct report_event *event = &kit->b->report->event;
    struct fact length = {0}, other;
    switch (kind) {
    case KIT_HANG:
        length = amount_of(kit, meta, "hangDuration", 1000);
        break;
    case KIT_LAUNCH:
        length = amount_of(kit, meta, "launchDuration", 1000);
        event->launch = true;
        break;
    case KIT_CPU:
        event->trigger = "cpu";
        other = amount_of(kit, meta, "totalCPUTime", 1000);
        length = amount_of(kit, meta, "totalSampledTime", 1000);
        event->cpu = (struct report_cpu){.known = length.known && other.known,
                                         .window_ms = length.value & UINT32_MAX,
                                         .percent = length.value ? other.value * 100 / length.value & UINT32_MAX : 0};
        break;
    case KIT_DISK:
        event->trigger = "disk";
        other = amount_of(kit, meta, "writesCaused", 1);
        event->disk = (struct report_disk){.known = other.known, .write_bytes = other.value};
        break;
    case KIT_CRASH:
        read_crash(kit, meta);
        break;
    case KIT_MEMORY:
        read_memory(kit);
        break;
    case KIT_KINDS:
        event->trigger = "call";
        break;
    }
    event->duration_ms = length.value < 604800000 ? (uint32_t)length.value : 604800000;
}

static enum decode_outcome read_one(struct kit *kit, uint32_t item, enum kit_kind kind)
{
    const struct json *json = kit->json;
    char own[MIRE_METRICKIT_NAME];
    struct build b;
    build_begin(&b, NULL, kit->foreign->arena);
    kit->b = &b;
    uint32_t meta =
        item ? metrickit_either(json, item, "diagnosticMetaData", "metaData") : look_root(json, "diagnosticMetaData");
    uint32_t details = look_root(json, "environment") ? item : meta;
    meta = meta ? meta : look_root(json, "environment");
    metrickit_meta(&b, json, meta);
    read_kind(kit, kind, details);
    metrickit_tree(&b, json, item ? look_one(json, item, "callStackTree") : look_root(json, "callStackTree"));
    b.report->sdk_version = item ? look_text(&b, json, item, "version") : "";
    const struct metrickit_period period = metrickit_period(&b, json);
    b.report->event.begin_wall_ms = b.report->memory.taken_wall_ms = period.end;
    metrickit_join(&b, json, &period);
    metrickit_name(own, kit->foreign, b.report);
    kit->b = NULL;
    return build_end(&b) ? foreign_report(kit->foreign, b.report, own, period.end.value) : MIRE_DECODE_NO_MEMORY;
}

/* A single diagnostic: the kind follows from what its metadata tell. */
static enum kit_kind kind_of(const struct json *json, uint32_t meta)
{
    return look_one(json, meta, "hangDuration")                                      ? KIT_HANG
           : look_one(json, meta, "totalCPUTime")                                    ? KIT_CPU
           : look_one(json, meta, "writesCaused")                                    ? KIT_DISK
           : look_one(json, meta, "launchDuration")                                  ? KIT_LAUNCH
           : look_one(json, meta, "exceptionType") || look_one(json, meta, "signal") ? KIT_CRASH
                                                                                     : KIT_KINDS;
}

enum decode_outcome metrickit_document(struct foreign *foreign, const struct json *json)
{
    struct kit kit = {.foreign = foreign, .json = json};
    bool any = false;
    for (int kind = 0; kind < KIT_KINDS; kind++) {
        uint32_t list = list_of(json, (enum kit_kind)kind);
        uint32_t at = list + 1;
        for (uint32_t i = 0; i < look_count(json, list); i++, at = json_next(json, at)) {
            enum decode_outcome outcome = read_one(&kit, at, (enum kit_kind)kind);
            if (outcome)
                return outcome;
            any = true;
        }
    }
    for (int kind = 0; kind < KIT_KINDS && !any; kind++) {
        uint32_t at = result_of(json, (enum kit_kind)kind);
        if (at)
            return read_one(&kit, at, (enum kit_kind)kind);
    }
    if (any)
        return MIRE_DECODE_OK;
    if (metrickit_has_metrics(json))
        return metrickit_period_of_runs(foreign, json);
    if (look_root(json, "callStackTree") || metrickit_is_tree(json, 0))
        return read_one(&kit, 0, kind_of(json, look_root(json, "diagnosticMetaData")));
    return foreign_wrong(foreign, "", "the payload has no diagnostics and no metrics that are kept");
}
