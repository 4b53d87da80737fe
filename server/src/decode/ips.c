/*
 * ips.c - Apple's .ips files: a line of JSON that says what kind of file it is, then JSON or text.
 *
 *     bug_type                                              rest
 *     109, 309 crash, 185, 385 resource, 409 watchdog       JSON   event, crash; killed in it where the watchdog did it
 *     298 jetsam                                            JSON   memory, foom; one report for the process killed
 *     222, 223, 228, 310, 328 run-loop hang, 12 hang,       text   event, hang
 *     28 watchdog, 11 spin, 288 stackshot
 *     202, 206 CPU                                          text   event, cpu
 *     145 disk writes                                       text   event, disk
 *
 * The content after the first line decides: threads, processes, or text. Source of the numbers: the table of
 * blacktop/ipsw.
 */
#include "decode/ips.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ips_begins(const char *head, size_t len)
{
    const char *end = len ? memchr(head, '\n', len) : NULL;
    size_t line = end ? (size_t)(end - head) : len;
    return line > 10 && head[0] == '{' && memmem(head, line, "\"bug_type\"", 10) && end;
}

/* A spindump without the line in front. */
bool spindump_begins(const char *head, size_t len)
{
    return len > 24 && memmem(head, len < 512 ? len : 512, "Date/Time:", 10) &&
           (memmem(head, len, "Data Source:", 12) || memmem(head, len, "Heaviest stack for", 18));
}

enum decode_outcome ips_end(struct ips *ips, const char *own)
{
    struct report *report = ips->b->report;
    char id[128] = "";
    if (!report->app.name[0])
        report->app.name = report->process.name[0] ? report->process.name : "app";
    if (!report->event.begin_wall_ms.known && ips->wall_ms.known) {
        uint32_t length = report->event.duration_ms;
        report->event.begin_wall_ms =
            (struct fact){ips->wall_ms.value - (length < ips->wall_ms.value ? length : 0), true};
    }
    if (!build_end(ips->b))
        return MIRE_DECODE_NO_MEMORY;
    if (ips->id[0])
        snprintf(id, sizeof id, "%.80s %.40s", ips->id, own);
    return foreign_report(ips->foreign, report, id, ips->wall_ms.value);
}

/* "iPhone OS 17.1 (21B74)". */
static void read_os(struct ips *ips, const char *text)
{
    struct build *b = ips->b;
    const char *digit = text + strcspn(text, "0123456789");
    size_t name = (size_t)(digit - text);
    while (name && text[name - 1] == ' ')
        name--;
    b->report->device.os = name ? os_word(b, build_text(b, text, name)) : "ios";
    b->report->device.os_version = build_text(b, digit, strcspn(digit, " "));
}

static void read_head(struct ips *ips)
{
    const struct json *json = ips->head;
    struct build *b = ips->b;
    struct report *report = b->report;
    const char *bundle = build_string(b, json, look_root(json, "bundleID"));
    const char *name = build_string(b, json, look_root(json, "app_name"));
    if (!name[0])
        name = build_string(b, json, look_root(json, "name"));
    ips->bug_type = (uint32_t)look_number(json, look_root(json, "bug_type")).value;
    ips->id = build_string(b, json, look_root(json, "incident_id"));
    ips->wall_ms = read_time(build_string(b, json, look_root(json, "timestamp")));
    report->process.name = name;
    report->app.name = bundle[0] ? bundle : name;
    report->app.version = build_string(b, json, look_root(json, "app_version"));
    report->app.build = build_string(b, json, look_root(json, "build_version"));
    report->sdk_name = "Apple";
    report->sdk_version = build_printf(b, "bug_type %u", ips->bug_type);
    read_os(ips, build_string(b, json, look_root(json, "os_version")));
    build_note(b, "Apple's files name no installation: all such reports count as one");
}

static bool is_json(const char *text, size_t len)
{
    size_t space = 0;
    while (space < len && strchr(" \t\r\n", text[space]) && text[space])
        space++;
    return space < len && text[space] == '{';
}

static enum decode_outcome read_body(struct ips *ips)
{
    if (!ips->body)
        return ips_stackshot(ips);
    if (look_root(ips->body, "threads"))
        return ips_crash(ips);
    if (look_root(ips->body, "processes"))
        return ips_jetsam(ips);
    return foreign_wrong(ips->foreign, "", "the file has neither threads nor processes (bug_type %u)", ips->bug_type);
}

static enum decode_outcome read_json(struct json *json, struct foreign *foreign, const char *text, size_t len,
                                     size_t position)
{
    const struct json_limits limits = {MIRE_FOREIGN_DEPTH_MAX, 2u << 20, true};
    struct json_fault wrong;
    enum json_outcome outcome = json_read(json, &wrong, text, len, &limits);
    if (outcome == MIRE_JSON_NO_MEMORY)
        return MIRE_DECODE_NO_MEMORY;
    return outcome ? foreign_malformed(foreign, position + wrong.at, "%s", wrong.text) : MIRE_DECODE_OK;
}

enum decode_outcome ips_whole(struct foreign *foreign, const char *bytes, size_t len)
{
    struct build b;
    struct json head, body;
    const char *end = memchr(bytes, '\n', len);
    size_t line = end ? (size_t)(end - bytes) : len;
    struct ips ips = {.foreign = foreign, .b = &b, .head = &head, .id = ""};
    ips.text = bytes + line;
    ips.len = len - line;
    ips.position = line;
    build_begin(&b, NULL, foreign->arena);
    json_init(&head);
    json_init(&body);
    enum decode_outcome outcome = read_json(&head, foreign, bytes, line, 0);
    if (!outcome)
        read_head(&ips);
    if (!outcome && is_json(ips.text, ips.len)) {
        ips.body = &body;
        outcome = read_json(&body, foreign, ips.text, ips.len, line);
    }
    if (!outcome)
        outcome = read_body(&ips);
    json_fini(&head);
    json_fini(&body);
    return outcome;
}

enum decode_outcome spindump_whole(struct foreign *foreign, const char *bytes, size_t len)
{
    struct build b;
    struct ips ips = {.foreign = foreign, .b = &b, .id = "", .text = bytes, .len = len};
    build_begin(&b, NULL, foreign->arena);
    b.report->sdk_name = "Apple";
    b.report->sdk_version = "spindump";
    b.report->device.os = "macos";
    return ips_stackshot(&ips);
}
