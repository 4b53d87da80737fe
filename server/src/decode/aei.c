/* aei.c - see aei.h. Reasons: android.app.ApplicationExitInfo; importance: ActivityManager.RunningAppProcessInfo. */
#include "decode/aei.h"
#include "decode/build.h"
#include "decode/lines.h"
#include "decode/when.h"

#include <stdio.h>

#define ENDS_MAX   64
#define FOREGROUND 230 /* the largest importance that a user notices: foreground, its services, visible, perceptible */
#define SIGABRT_NR 6

enum aei_reason {
    AEI_EXIT_SELF = 1,
    AEI_LOW_MEMORY = 3,
    AEI_CRASH,
    AEI_CRASH_NATIVE,
    AEI_ANR,
    AEI_USER_REQUESTED = 10,
    AEI_USER_STOPPED,
    AEI_FREEZER = 14,
    AEI_PACKAGE_UPDATED = 16
};

struct aei_record {
    uint64_t wall_ms, reason, status, importance;
    bool timed, zone, reasoned;
    const char *process;
};

struct aei {
    struct build build;
    struct report_end ends[ENDS_MAX];
    size_t end_count, left_out, zoneless;
    const char *package;
    bool other_package;
    struct aei_record record;
    bool inside;
};

static const char *verdict_of(const struct aei_record *record)
{
    bool seen = record->importance && record->importance <= FOREGROUND;
    switch (record->reason) {
    case 0:
        return "unknown";
    case AEI_EXIT_SELF:
        return "clean_exit";
    case AEI_LOW_MEMORY:
        return seen ? "foom" : "background_kill";
    case AEI_CRASH:
        return "crash";
    case AEI_CRASH_NATIVE:
        return record->status == SIGABRT_NR ? "abort" : "crash";
    case AEI_ANR:
        return "watchdog_kill";
    case AEI_USER_REQUESTED:
    case AEI_USER_STOPPED:
        return "user_quit";
    case AEI_FREEZER:
        return "background_kill";
    case AEI_PACKAGE_UPDATED:
        return "app_upgraded";
    default: /* a signal, a dependency that died, too much of something, the system's other reasons */
        return seen ? "os_kill" : "background_kill";
    }
}

static void end_record(struct aei *a)
{
    const struct aei_record *record = &a->record;
    if (!a->inside || !record->reasoned)
        return;
    a->inside = false;
    if (a->other_package || a->end_count == ENDS_MAX) {
        a->left_out++;
        return;
    }
    if (!a->package[0])
        a->package = record->process;
    a->zoneless += record->timed && !record->zone;
    a->ends[a->end_count++] = (struct report_end){.verdict = verdict_of(record),
                                                  .confidence_ppm = {1000000, true},
                                                  .seen_wall_ms = {record->wall_ms, record->timed}};
}

/* "2026-07-12 06:03:48.426", or milliseconds since 1970. */
static void read_time(struct aei_record *record, const struct line_span *line)
{
    const char *found = span_find(line, "timestamp=");
    if (!found)
        return;
    struct line_span rest = {found, (size_t)(line->at + line->len - found)}, digits;
    span_take(&rest, "timestamp=");
    digits = rest;
    const char *end = span_find(&rest, " pid=");
    if (end)
        rest.len = (size_t)(end - rest.at);
    record->timed = when_parse(&record->wall_ms, &record->zone, rest.at, rest.len);
    if (!record->timed && span_number(&record->wall_ms, &digits, 10) && record->wall_ms > UINT32_MAX)
        record->timed = record->zone = true;
}

static void read_fields(struct aei *a, const struct line_span *whole)
{
    struct aei_record *record = &a->record;
    const char *text = span_find(whole, "description="); /* anybody's words */
    const struct line_span given = {whole->at, text ? (size_t)(text - whole->at) : whole->len}, *line = &given;
    read_time(record, line);
    record->reasoned = span_number_of(&record->reason, line, " reason=", 10) || record->reasoned ||
                       (span_begins(line, "reason=") && span_number_of(&record->reason, line, "reason=", 10));
    span_number_of(&record->status, line, " status=", 10);
    span_number_of(&record->importance, line, "importance=", 10);
    const char *process = span_find(line, "process=");
    if (process) {
        struct line_span name = {process + 8, (size_t)(line->at + line->len - process - 8)};
        const char *blank = span_find(&name, " ");
        record->process = build_text(&a->build, name.at, blank ? (size_t)(blank - name.at) : name.len);
    }
}

static void read_line(struct aei *a, struct line_span line)
{
    span_trim(&line);
    if (span_take(&line, "package:")) {
        end_record(a);
        span_trim(&line);
        const char *package = build_text(&a->build, line.at, line.len);
        if (!a->package[0])
            a->package = package;
        a->other_package = strcmp(a->package, package) != 0;
        return;
    }
    if (span_begins(&line, "ApplicationExitInfo #") || span_begins(&line, "ApplicationExitInfo(")) {
        end_record(a);
        a->record = (struct aei_record){.process = ""};
        a->inside = true;
    }
    if (a->inside)
        read_fields(a, &line);
}

static bool finish(struct aei *a)
{
    struct report *report = a->build.report;
    struct report_end *ends = arena_array(a->build.arena, a->end_count, sizeof *ends);
    uint64_t latest = 0;
    if (!ends)
        return false;
    for (size_t i = 0; i < a->end_count; i++) {
        ends[i] = a->ends[i];
        latest = ends[i].seen_wall_ms.value > latest ? ends[i].seen_wall_ms.value : latest;
    }
    report->kind = MIRE_REPORT_SESSION;
    report->device.os = "android";
    report->process.name = a->package;
    report->app.name = build_text(&a->build, a->package, strcspn(a->package, ":"));
    report->session.duration_ms = (struct fact){0, true};
    report->session.over = true;
    report->session.ends = ends;
    report->session.end_count = a->end_count;
    if (a->left_out)
        build_note(&a->build, "%zu records, beyond %d or of other packages, are left out", a->left_out, ENDS_MAX);
    if (a->zoneless)
        build_note(&a->build, "instants have no zone: they were taken for UTC");
    return build_end(&a->build);
}

enum decode_outcome aei_decode(struct report *out, struct arena *arena, struct decode_fault *fault, const char *bytes,
                               size_t len)
{
    struct aei *a = arena_alloc(arena, sizeof *a);
    struct text_lines lines = lines_of(bytes, len);
    struct line_span line;
    if (!a)
        return MIRE_DECODE_NO_MEMORY;
    build_begin(&a->build, out, arena);
    a->package = "";
    while (lines_next(&line, &lines))
        read_line(a, line);
    end_record(a);
    if (!a->end_count && !a->build.failed) {
        fault->position = (size_t)(lines.last - lines.begin);
        snprintf(fault->text, sizeof fault->text,
                 "line %zu: the text ends without a record: ApplicationExitInfo, reason=N", lines.number);
        return MIRE_DECODE_MALFORMED;
    }
    return finish(a) ? MIRE_DECODE_OK : MIRE_DECODE_NO_MEMORY;
}
