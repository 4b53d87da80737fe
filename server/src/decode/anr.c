/*
 * anr.c - see anr.h: what stands before the threads, and the event made of it all.
 *
 * The dump is taken at the end: its instant less the time that the subject says somebody waited is the beginning. Where
 * no time is told the hang lasted the shortest time that Android calls an ANR of its kind, or longer.
 */
#include "decode/anr.h"
#include "decode/when.h"

#include <stdio.h>

#define INPUT_MS     5000 /* an input event that is not answered */
#define BROADCAST_MS 10000
#define SERVICE_MS   20000
#define HEAD_MAX     65536 /* lines before the dump that are looked at: CriticalEventLog, memory, DropBox's own */

struct head {
    const char *subject, *process, *package, *fingerprint, *abi;
    uint64_t dump_ms;
    bool dumped, zone;
    struct fact rss_bytes, foreground;
    size_t dump_line;
};

/* "Waited 5002ms", "waited 10001 ms", "Waited 5.0s": the last such number. 0: none. */
static uint32_t waited_ms(const char *subject)
{
    uint32_t found = 0;
    for (const char *at = subject; (at = strstr(at, "aited ")) != NULL;) {
        struct line_span span = {at + 6, strlen(at + 6)};
        uint64_t value;
        at += 6;
        if (!span_number(&value, &span, 10))
            continue;
        if (span_take(&span, ".")) {
            uint64_t fraction;
            span_number(&fraction, &span, 10);
        }
        span_trim(&span);
        if (span_begins(&span, "ms") && value <= 86400000)
            found = (uint32_t)value;
        else if (span_begins(&span, "s") && value <= 86400)
            found = (uint32_t)value * 1000;
    }
    return found;
}

static uint32_t least_ms(const char *subject)
{
    if (strstr(subject, "Broadcast of "))
        return BROADCAST_MS;
    return strstr(subject, "xecuting service") ? SERVICE_MS : INPUT_MS;
}

/* "----- pid 20232 at 2025-07-17 10:31:01.609265466+0200 -----" */
static bool read_dump_line(struct anr *anr, struct head *head, struct line_span line)
{
    if (!span_take(&line, "----- pid ") || !span_number(&anr->pid, &line, 10))
        return false;
    if (span_take(&line, " at "))
        head->dumped = when_parse(&head->dump_ms, &head->zone, line.at, line.len);
    return true;
}

/* The rest of a line behind its key. */
static bool take_value(const char **out, struct build *build, struct line_span line, const char *key)
{
    if (!span_take(&line, key))
        return false;
    span_trim(&line);
    if (line.len > 1 && *line.at == '\'' && line.at[line.len - 1] == '\'') {
        span_skip(&line, 1);
        line.len--;
    }
    *out = build_text(build, line.at, line.len);
    return true;
}

static void read_head_line(struct anr *anr, struct head *head, const struct line_span *line)
{
    const char *yes;
    uint64_t kib;
    if (!head->subject[0])
        take_value(&head->subject, &anr->build, *line, "Subject:");
    take_value(&head->package, &anr->build, *line, "Package:");
    if (span_number_of(&kib, line, "RssKb: ", 10) && span_begins(line, "RssKb:") && kib < UINT64_MAX / 1024)
        head->rss_bytes = (struct fact){kib * 1024, true};
    if (take_value(&yes, &anr->build, *line, "Foreground:"))
        head->foreground = (struct fact){!strcmp(yes, "Yes"), true};
}

static void read_about(struct anr *anr, struct head *head, const struct line_span *line)
{
    if (!head->process[0])
        take_value(&head->process, &anr->build, *line, "Cmd line:");
    take_value(&head->fingerprint, &anr->build, *line, "Build fingerprint:");
    take_value(&head->abi, &anr->build, *line, "ABI:");
}

/* Lines up to the first thread. Is there one? */
static bool read_head(struct anr *anr, struct head *head, struct text_lines *lines)
{
    struct text_lines before = *lines;
    struct line_span line;
    bool inside = false;
    for (size_t i = 0; i < HEAD_MAX && lines_next(&line, lines); before = *lines, i++) {
        if (inside && line.len && *line.at == '"') {
            *lines = before;
            return true;
        }
        if (!inside && read_dump_line(anr, head, line)) {
            inside = true;
            head->dump_line = lines->number;
        } else if (inside) {
            read_about(anr, head, &line);
        } else {
            read_head_line(anr, head, &line);
        }
    }
    return false;
}

/* ---- what the device is ---- */

/* "google/sdk_gphone64/emu64a:13/TE1A.220922.012/9302419:userdebug/dev-keys": device and version. */
void anr_fingerprint(struct build *build, const char *fingerprint)
{
    struct report_device *device = &build->report->device;
    struct line_span rest = {fingerprint, strlen(fingerprint)};
    const char *colon = span_find(&rest, ":");
    device->os = "android";
    if (!colon)
        return;
    struct line_span names = span_cut(&rest, colon, 1);
    const char *slash = span_find_last(&names, "/");
    if (slash && !device->model[0])
        device->model = build_text(build, slash + 1, (size_t)(names.at + names.len - slash - 1));
    slash = span_find(&rest, "/");
    if (slash && !device->os_version[0])
        device->os_version = build_text(build, rest.at, (size_t)(slash - rest.at));
}

const char *anr_arch(const char *abi)
{
    static const char *const names[][2] = {{"arm64", "aarch64"}, {"arm64-v8a", "aarch64"}, {"arm", "arm"},
                                           {"x86", "x86"},       {"armeabi-v7a", "arm"},   {"x86_64", "x86_64"},
                                           {"armeabi", "arm"},   {"riscv64", "riscv64"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i][0], abi))
            return names[i][1];
    return "";
}

/* The package of a process: its name up to the colon of a further process. */
void anr_process(struct build *build, const char *name)
{
    struct report *report = build->report;
    report->process.name = name;
    report->app.name = build_text(build, name, strcspn(name, ": "));
}

/* "com.example v412 (4.1.2)": version and build. */
static void read_package(struct build *build, const char *package)
{
    struct report_app *app = &build->report->app;
    const char *number = strstr(package, " v");
    const char *open = number ? strchr(number, '(') : NULL;
    const char *close = open ? strchr(open, ')') : NULL;
    if (number)
        app->build = build_text(build, number + 2, strcspn(number + 2, " "));
    if (close)
        app->version = build_text(build, open + 1, (size_t)(close - open - 1));
}

/* ---- the event ---- */

void anr_set_event(struct anr *anr, const struct anr_subject *subject)
{
    struct report *report = anr->build.report;
    struct report_event *event = &report->event;
    uint32_t waited = waited_ms(subject->subject);
    event->threshold_ms = least_ms(subject->subject);
    event->duration_ms = waited ? waited : event->threshold_ms;
    event->name = build_text(&anr->build, subject->subject, strcspn(subject->subject, "("));
    if (!waited)
        build_note(&anr->build, "the length of the hang is unknown: Android calls it an ANR from %u ms on",
                   event->threshold_ms);
    if (subject->end_known)
        event->begin_wall_ms =
            (struct fact){subject->end_ms > event->duration_ms ? subject->end_ms - event->duration_ms : 0, true};
    if (strstr(subject->subject, "nput dispatching"))
        event->foreground = event->foreground_known = true;
    if (subject->end_known && !subject->zone_known)
        build_note(&anr->build, "the dump's instant has no zone: it was taken for UTC");
    anr_add_sample(anr, event->duration_ms);
}

static void note_losses(struct anr *anr, struct text_lines *lines)
{
    struct line_span line;
    size_t processes = 0;
    while (lines_next(&line, lines))
        processes += span_begins(&line, "----- pid ");
    if (processes)
        build_note(&anr->build, "dumps of %zu other processes in the file are left out", processes);
    if (anr->kernel_frames)
        build_note(&anr->build, "%zu frames of the kernel are left out", anr->kernel_frames);
    if (anr->main >= anr->threads.count)
        build_note(&anr->build, "no thread is called main, and none has the process's number: the event has no stack");
}

static enum decode_outcome refuse(struct decode_fault *fault, const struct text_lines *lines, size_t line,
                                  const char *what)
{
    fault->position = (size_t)(lines->last - lines->begin);
    snprintf(fault->text, sizeof fault->text, "line %zu: %s", line, what);
    return MIRE_DECODE_MALFORMED;
}

enum decode_outcome anr_decode(struct report *out, struct arena *arena, struct decode_fault *fault, const char *bytes,
                               size_t len)
{
    struct head head = {.subject = "", .process = "", .package = "", .fingerprint = "", .abi = ""};
    struct text_lines lines = lines_of(bytes, len);
    struct anr *anr = arena_alloc(arena, sizeof *anr);
    if (!anr)
        return MIRE_DECODE_NO_MEMORY;
    build_begin(&anr->build, out, arena);
    anr->modules.build = &anr->build;
    if (!read_head(anr, &head, &lines))
        return refuse(fault, &lines, lines.number,
                      head.dump_line ? "the dump has no thread" : "there is no line \"----- pid N at TIME -----\"");
    size_t first = lines.number + 1;
    anr_read_threads(anr, &lines);
    if (!anr->threads.count && !anr->build.failed)
        return refuse(fault, &lines, first, "this is no thread's header");
    anr_process(&anr->build, head.process);
    anr_fingerprint(&anr->build, head.fingerprint);
    out->device.arch = anr_arch(head.abi);
    read_package(&anr->build, head.package);
    out->process.pid = anr->pid <= UINT32_MAX ? anr->pid : 0;
    out->process.rss_bytes = head.rss_bytes;
    anr_finish_threads(anr);
    anr_set_event(anr, &(struct anr_subject){head.subject, head.dump_ms, head.dumped, head.zone});
    if (head.foreground.known) {
        out->event.foreground_known = true;
        out->event.foreground = head.foreground.value != 0;
    }
    note_losses(anr, &lines);
    return build_end(&anr->build) ? MIRE_DECODE_OK : MIRE_DECODE_NO_MEMORY;
}
