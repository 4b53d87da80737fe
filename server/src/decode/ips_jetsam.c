/*
 * ips_jetsam.c - a jetsam event: processes by the pages that they hold, and why the system killed some of them.
 *
 * Each process that has a reason becomes one report: memory, foom if it was in front. Bytes are pages times the
 * size of a page. The other processes are one category each of the report, for the comparison.
 */
#include "decode/ips.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct jetsam {
    struct ips *ips;
    const struct json *json;
    uint64_t page;
};

static uint64_t bytes_of(const struct jetsam *j, uint32_t process, const char *name)
{
    struct fact pages = look_number(j->json, look_one(j->json, process, name));
    return pages.value < UINT64_MAX / 65536 ? pages.value * j->page : 0;
}

/* Is a word among the process's states? */
static bool has_state(const struct json *json, uint32_t process, const char *word)
{
    uint32_t states = look_one(json, process, "states"), at = states + 1;
    for (uint32_t i = 0; i < look_count(json, states); i++, at = json_next(json, at))
        if (look_is(json, at, word))
            return true;
    return false;
}

static void read_process(struct jetsam *j, uint32_t process, bool front)
{
    const struct json *json = j->json;
    struct build *b = j->ips->b;
    struct report *report = b->report;
    uint64_t held = bytes_of(j, process, "rpages");
    report->kind = MIRE_REPORT_MEMORY;
    report->process.name = look_text(b, json, process, "name");
    report->process.pid = look_number(json, look_one(json, process, "pid")).value & UINT32_MAX;
    report->app.name = report->process.name;
    report->memory.trigger = front ? "foom" : "background";
    report->memory.taken_wall_ms = j->ips->wall_ms;
    report->memory.footprint_bytes = (struct fact){held, true};
    report->memory.footprint_peak_bytes = (struct fact){bytes_of(j, process, "lifetimeMax"), true};
    report->memory.footprint_from = "exit";
    report->memory.foreground = front;
    report->memory.foreground_known = true;
    report->exit = (struct report_exit){.known = true,
                                        .verdict = front ? "foom" : "background_kill",
                                        .confidence_ppm = 1000000,
                                        .footprint_bytes = report->memory.footprint_bytes,
                                        .footprint_peak_bytes = report->memory.footprint_peak_bytes,
                                        .foreground = front,
                                        .foreground_known = true};
}

static enum decode_outcome read_killed(struct jetsam *j, uint32_t process, const char *reason)
{
    const struct json *json = j->json;
    struct ips *ips = j->ips;
    struct build *b = ips->b;
    bool front = has_state(json, process, "frontmost") || has_state(json, process, "active");
    read_process(j, process, front);
    b->report->device.model = build_string(b, json, look_root(json, "product"));
    install_of(b->report->device.install, build_string(b, json, look_root(json, "crashReporterKey")));
    build_note(b, "killed for %s; the file does not tell what the memory held", reason);
    const char *largest = build_string(b, json, look_root(json, "largestProcess"));
    if (largest[0])
        build_note(b, "the largest process was %s", largest);
    const char *uuid = look_text(b, json, process, "uuid");
    return ips_end(ips, build_printf(b, "jetsam %s %" PRIu64, uuid, b->report->process.pid));
}

enum decode_outcome ips_jetsam(struct ips *ips)
{
    struct jetsam j = {.ips = ips, .json = ips->body};
    const struct json *json = j.json;
    uint32_t processes = look_root(json, "processes"), count = look_count(json, processes), at = processes + 1;
    struct fact page = look_number(json, look(json, look_root(json, "memoryStatus"), "pageSize", NULL, NULL));
    struct fact time = read_time(build_string(ips->b, json, look_root(json, "date")));
    struct build head = *ips->b; /* what the first line told, for each report */
    if (time.known)
        ips->wall_ms = time;
    j.page = page.known && page.value <= 65536 ? page.value : 4096;
    bool any = false;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        char reason[64] = "";
        uint32_t given = look_one(json, at, "reason");
        if (given && json_kind(json, given) == MIRE_JSON_STRING && json_size(json, given) < sizeof reason)
            reason[json_text(reason, json, given)] = '\0';
        if (!reason[0])
            continue;
        *ips->b = head;
        any = true;
        enum decode_outcome outcome = read_killed(&j, at, reason);
        if (outcome)
            return outcome;
    }
    return any ? MIRE_DECODE_OK
               : foreign_wrong(ips->foreign, "/processes", "no process has a reason: nothing was killed");
}
