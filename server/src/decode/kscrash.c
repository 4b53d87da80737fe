/*
 * kscrash.c - KSCrash 2.x and 3.x: crashes, hangs, kills by the watchdog or for lack of memory, profiles.
 *
 *     error.termination_reason                 memory_limit, memory_pressure   memory, foom
 *                                              hang                            event, killed in it
 *                                              else                            event "termination: ..."
 *     error.hang, exit_reason 0x8badf00d                                       event, killed in it
 *     error.hang, or type hang                                                 event, hang
 *     error.profile                                                            event, captured by the app
 *     type deadlock                                                            event, killed in it (by KSCrash)
 *     type user                                                                event, exception
 *     else                                                                     event, crash
 *
 * The hung thread is the main thread: index 0. The type of a kill is "mach": the members beside it decide.
 */
#include "decode/ksreport.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WATCHDOG_KILL 0x8badf00d

bool kscrash_is(const struct json *json)
{
    uint32_t report = json_kind(json, 0) == MIRE_JSON_OBJECT ? json_member(json, 0, "report") : 0;
    uint32_t crash = report ? json_member(json, 0, "crash") : 0;
    return report && crash && json_kind(json, report) == MIRE_JSON_OBJECT && json_kind(json, crash) == MIRE_JSON_OBJECT;
}

/* The watched thread's stack as the one sample, all others as threads. `crashed`: the thread that crashed is meant. */
static enum decode_outcome read_threads(struct ks *ks, bool crashed)
{
    const struct json *json = ks->json;
    uint32_t threads = look_one(json, ks->crash, "threads");
    uint32_t count = look_count(json, threads), chosen = 0, element = threads + 1, at = threads + 1;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        bool fits = crashed ? look_flag(json, look_one(json, at, "crashed"))
                            : look_number(json, look_one(json, at, "index")).value == 0;
        if (fits && !chosen)
            chosen = at;
    }
    if (!count) {
        chosen = crashed ? look_one(json, ks->crash, "crashed_thread") : 0;
        build_note(ks->b, "the report has no threads");
    }
    for (uint32_t i = 0; i < count; i++, element = json_next(json, element))
        if (element != chosen)
            ks_thread(ks, element, look_flag(json, look_one(json, element, "current_thread")) ? "reporter" : "");
    ks->b->report->process.thread_count = (struct fact){count, count != 0};
    if (!chosen)
        return MIRE_DECODE_OK;
    struct ks_stack stack;
    ks_stack(&stack, ks, chosen);
    ks->b->report->event.thread.tid = look_number(json, look_one(json, chosen, "index"));
    ks->b->report->event.thread.tid.known = true;
    ks->b->report->event.thread.tid.value &= UINT32_MAX;
    ks->b->report->event.thread.name = look_text(ks->b, json, chosen, "name");
    const struct report_sample sample = {.weight_ms =
                                             ks->b->report->event.duration_ms ? ks->b->report->event.duration_ms : 1,
                                         .node = stack.node,
                                         .state = '?',
                                         .syscall = -1,
                                         .loss = '.',
                                         .skipped = stack.skipped};
    build_sample(ks->b, &sample);
    return MIRE_DECODE_OK;
}

/* Milliseconds from one clock reading in nanoseconds to another; a week at most. */
static uint32_t span_ms(struct fact from, struct fact to)
{
    uint64_t ms = from.known && to.known && to.value > from.value ? (to.value - from.value) / 1000000 : 0;
    return ms < 604800000 ? (uint32_t)ms : 604800000;
}

static enum decode_outcome read_hang(struct ks *ks, uint32_t hang, bool killed)
{
    const struct json *json = ks->json;
    struct report_event *event = &ks->b->report->event;
    struct fact begin = hang ? look_number(json, look_one(json, hang, "hang_start_nanos")) : (struct fact){0};
    struct fact end = hang ? look_number(json, look_one(json, hang, "hang_end_nanos")) : (struct fact){0};
    uint32_t role = hang ? look_one(json, hang, "hang_start_role") : 0;
    event->duration_ms = span_ms(begin, end);
    event->begin_ns = begin.value;
    event->open = killed;
    event->gate = MIRE_GATE_PING;
    if (role && json_kind(json, role) == MIRE_JSON_STRING) {
        event->foreground_known = true;
        event->foreground = json_is(json, role, "FOREGROUND_APPLICATION") || json_is(json, role, "FOREGROUND");
    }
    if (killed) {
        ks->b->report->exit =
            (struct report_exit){.known = true, .verdict = "watchdog_kill", .confidence_ppm = 1000000};
        ks->b->report->exit.stuck_ms = (struct fact){event->duration_ms, hang != 0};
        build_note(ks->b, "the hang lasted at least so long: its length was last noted while it went on");
    }
    if (!event->duration_ms)
        build_note(ks->b, "the duration of the hang is unknown");
    (void)read_threads(ks, false);
    return ks_end(ks, killed ? "killed" : "hang");
}

/* Its samples: the time from one to the next is what it stands for. */
static void read_samples(struct ks *ks, uint32_t profile, const uint32_t *frames, uint32_t frame_count)
{
    const struct json *json = ks->json;
    uint32_t samples = look_one(json, profile, "samples");
    uint32_t count = look_count(json, samples), at = samples + 1;
    struct fact begin = look_number(json, look_one(json, profile, "time_start_uptime"));
    struct fact end = look_number(json, look_one(json, profile, "time_end_uptime"));
    uint32_t period =
        (uint32_t)(look_number(json, look_one(json, profile, "expected_sample_interval")).value / 1000000);
    ks->b->report->event.period_ms = period <= 60000 ? period : 0;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        struct fact start = look_number(json, look_one(json, at, "time_start_uptime"));
        struct fact next =
            i + 1 < count ? look_number(json, look_one(json, json_next(json, at), "time_start_uptime")) : end;
        uint32_t indices = look_one(json, at, "frames");
        uint32_t depth = look_count(json, indices), index = indices + 1, kept = 0;
        for (uint32_t k = 0; k < depth && kept < ks->frame_room; k++, index = json_next(json, index)) {
            struct fact which = look_number(json, index);
            if (which.known && which.value < frame_count)
                ks->frames[kept++] = frames[which.value];
        }
        const struct report_sample sample = {.at_ms = span_ms(begin, start),
                                             .weight_ms = span_ms(start, next),
                                             .node = build_stack(ks->b, ks->frames, kept),
                                             .state = '?',
                                             .syscall = -1,
                                             .loss = '.'};
        build_sample(ks->b, &sample);
    }
}

static enum decode_outcome read_profile(struct ks *ks, uint32_t profile)
{
    const struct json *json = ks->json;
    struct report_event *event = &ks->b->report->event;
    uint32_t table = look_one(json, profile, "frames");
    uint32_t count = look_count(json, table), at = table + 1;
    uint32_t *frames = arena_array(ks->b->arena, count, sizeof *frames);
    if (!frames)
        return MIRE_DECODE_NO_MEMORY;
    /* A row may be the innermost frame of one sample and a caller in another; most are callers, whose address is behind
     * the call. */
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at))
        frames[i] = ks_frame(ks, at, true);
    struct fact begin = look_number(json, look_one(json, profile, "time_start_uptime"));
    event->trigger = "call";
    event->name = look_text(ks->b, json, profile, "name");
    event->begin_ns = begin.value;
    event->duration_ms = span_ms(begin, look_number(json, look_one(json, profile, "time_end_uptime")));
    struct fact epoch = look_number(json, look_one(json, profile, "time_start_epoch"));
    event->begin_wall_ms = (struct fact){epoch.value / 1000000, epoch.value > UINT64_C(946684800000000000)};
    read_samples(ks, profile, frames, count);
    const char *id = look_text(ks->b, json, profile, "id");
    return ks_end(ks, build_printf(ks->b, "profile %.36s", id));
}

/* Killed for the memory that it held: a report of memory without categories. */
static enum decode_outcome read_oom(struct ks *ks, const char *reason)
{
    const struct json *json = ks->json;
    struct report *report = ks->b->report;
    uint32_t memory = ks->system ? look_one(json, ks->system, "app_memory") : 0;
    struct fact footprint = look_number(json, look_one(json, memory, "memory_footprint"));
    struct fact limit = look_number(json, look_one(json, memory, "memory_limit"));
    bool background = report->event.foreground_known && !report->event.foreground;
    report->kind = MIRE_REPORT_MEMORY;
    report->memory.trigger = background ? "background" : "foom";
    report->memory.taken_wall_ms = ks->wall_ms;
    report->memory.footprint_bytes = footprint;
    report->memory.limit_bytes = limit;
    report->memory.footprint_from = footprint.known ? "look" : "";
    report->memory.foreground = report->event.foreground;
    report->memory.foreground_known = report->event.foreground_known;
    report->exit = (struct report_exit){.known = true,
                                        .verdict = background ? "background_kill" : "foom",
                                        .confidence_ppm = 1000000,
                                        .footprint_bytes = footprint,
                                        .limit_bytes = limit,
                                        .foreground = report->event.foreground,
                                        .foreground_known = report->event.foreground_known};
    build_note(ks->b, "ended by the system: %s; the format does not tell what the memory held", reason);
    return ks_end(ks, "oom");
}

static enum decode_outcome read_termination(struct ks *ks, const char *reason)
{
    if (!strcmp(reason, "memory_limit") || !strcmp(reason, "memory_pressure") || !strcmp(reason, "low_memory"))
        return read_oom(ks, reason);
    if (!strcmp(reason, "hang") || !strcmp(reason, "watchdog"))
        return read_hang(ks, 0, true);
    ks->b->report->event.trigger = "call";
    ks->b->report->event.name = build_printf(ks->b, "termination: %s", reason[0] ? reason : "unknown");
    ks->b->report->exit = (struct report_exit){.known = true, .verdict = "os_kill", .confidence_ppm = 1000000};
    (void)read_threads(ks, true);
    return ks_end(ks, "termination");
}

static enum decode_outcome read_user(struct ks *ks)
{
    ks->b->report->event.trigger = "exception";
    ks->b->report->event.name = build_string(ks->b, ks->json, look(ks->json, ks->error, "user_reported", "name", NULL));
    (void)read_threads(ks, true);
    return ks_end(ks, "user");
}

enum decode_outcome kscrash_rest(struct ks *ks)
{
    const struct json *json = ks->json;
    if (!ks->error || json_kind(json, ks->error) != MIRE_JSON_OBJECT)
        return foreign_wrong(ks->foreign, "/crash/error", "is missing, or no object");
    uint32_t type = look_one(json, ks->error, "type"), hang = look_one(json, ks->error, "hang");
    uint32_t profile = look_one(json, ks->error, "profile");
    uint32_t reason = look_one(json, ks->error, "termination_reason");
    struct fact code = look_number(json, look(json, ks->error, "exit_reason", "code", NULL));
    if (reason || look_is(json, type, "termination"))
        return read_termination(ks, build_string(ks->b, json, reason));
    if (hang || look_is(json, type, "hang") || (code.known && code.value == WATCHDOG_KILL))
        return read_hang(ks, hang, code.known && code.value == WATCHDOG_KILL);
    if (profile)
        return read_profile(ks, profile);
    if (look_is(json, type, "deadlock"))
        return read_hang(ks, 0, true);
    if (look_is(json, type, "user"))
        return read_user(ks);
    ks_crash(ks);
    (void)read_threads(ks, true);
    return ks_end(ks, "crash");
}

enum decode_outcome kscrash_document(struct foreign *foreign, const struct json *json)
{
    struct build b;
    struct ks ks;
    if (!ks_begin(&ks, foreign, &b, json))
        return MIRE_DECODE_NO_MEMORY;
    b.report->sdk_name = "KSCrash";
    uint32_t version = ks.report ? look_one(json, ks.report, "version") : 0;
    b.report->sdk_version = build_string(&b, json, version);
    if (version && json_kind(json, version) == MIRE_JSON_OBJECT)
        b.report->sdk_version =
            build_printf(&b, "%" PRIu64 ".%" PRIu64, look_number(json, look_one(json, version, "major")).value,
                         look_number(json, look_one(json, version, "minor")).value);
    return kscrash_rest(&ks);
}
