/*
 * ips_crash.c - the JSON of a crash: threads whose frames are an image's number and an offset in it. Also of hangs,
 * resource limits and watchdog kills, which have the same form.
 */
#include "decode/build_context.h"
#include "decode/ips.h"

#include <inttypes.h>
#include <string.h>

#define FRAMES_MAX 4096
#define WATCHDOG   0x8badf00d

struct crash {
    struct ips *ips;
    const struct json *json;
    struct build *b;
    struct apple_modules modules; /* by number, not by address */
    uint32_t *frames;
};

static void read_images(struct crash *c)
{
    const struct json *json = c->json;
    uint32_t images = look_root(json, "usedImages"), count = look_count(json, images), at = images + 1;
    if (!modules_begin(&c->modules, c->b, json, count))
        return;
    c->modules.program = c->b->report->process.path;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        uint32_t path = look_one(json, at, "path");
        struct apple_module module = {.begin = look_number(json, look_one(json, at, "base")).value,
                                      .size = look_number(json, look_one(json, at, "size")).value,
                                      .arch = arch_word(c->b, look_text(c->b, json, at, "arch")),
                                      .name_at = path ? path : look_one(json, at, "name")};
        module.id_len = read_id(module.id, look_text(c->b, json, at, "uuid"));
        modules_add(&c->modules, &module);
    }
}

static uint32_t read_frame(struct crash *c, uint32_t at, bool caller)
{
    const struct json *json = c->json;
    struct fact number = look_number(json, look_one(json, at, "imageIndex"));
    struct fact offset = look_number(json, look_one(json, at, "imageOffset"));
    const char *symbol = look_text(c->b, json, at, "symbol");
    uint32_t line = (uint32_t)look_number(json, look_one(json, at, "sourceLine")).value & INT32_MAX;
    if (!offset.known)
        return MIRE_BUILD_NONE;
    if (!strcmp(symbol, "<redacted>"))
        symbol = "";
    struct apple_module *module =
        number.known && number.value < c->modules.count ? &c->modules.rows[number.value] : NULL;
    bool bare = module && !module->begin && !module->id_len; /* "absolute": the offset is an address */
    const struct report_frame frame = {.image = module && !bare ? modules_image(&c->modules, module) : -1,
                                       .found = caller ? MIRE_FOUND_FRAME_POINTER : MIRE_FOUND_PC,
                                       .offset = caller && offset.value ? offset.value - 1 : offset.value,
                                       .names =
                                           build_name(c->b, symbol, look_text(c->b, json, at, "sourceFile"), line)};
    return build_frame(c->b, &frame);
}

static uint32_t read_stack(struct crash *c, uint32_t frames)
{
    uint32_t count = look_count(c->json, frames), at = frames + 1, kept = 0;
    for (uint32_t i = 0; i < count && kept < FRAMES_MAX; i++, at = json_next(c->json, at))
        c->frames[kept++] = read_frame(c, at, i > 0);
    if (kept < count)
        build_note(c->b, "%u frames at the outer end of a stack are left out", count - kept);
    return build_stack(c->b, c->frames, kept);
}

static void read_threads(struct crash *c, bool main_thread)
{
    const struct json *json = c->json;
    struct report_event *event = &c->b->report->event;
    uint32_t threads = look_root(json, "threads"), count = look_count(json, threads), at = threads + 1;
    struct fact faulting = look_number(json, look_root(json, "faultingThread"));
    bool taken = false;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        bool chosen = main_thread      ? i == 0
                      : faulting.known ? faulting.value == i
                                       : look_flag(json, look_one(json, at, "triggered"));
        const char *name = look_text(c->b, json, at, "name");
        const char *queue = look_text(c->b, json, at, "queue");
        uint32_t node = read_stack(c, look_one(json, at, "frames"));
        uint64_t tid = look_number(json, look_one(json, at, "id")).value & UINT32_MAX;
        const struct report_thread thread = {
            .tid = tid, .name = name[0] ? name : queue, .role = "", .node = node, .state = '?', .syscall = -1};
        const struct report_sample sample = {.weight_ms = event->duration_ms ? event->duration_ms : 1,
                                             .node = node,
                                             .state = '?',
                                             .syscall = -1,
                                             .loss = '.'};
        if (!chosen || taken) {
            build_thread(c->b, &thread);
            continue;
        }
        taken = true;
        build_sample(c->b, &sample);
        event->thread.tid = (struct fact){tid, true};
        event->thread.name = name[0] ? name : queue;
    }
    c->b->report->process.thread_count = (struct fact){count, count != 0};
    if (!taken)
        build_note(c->b, "the file does not say which thread it is about");
}

static void read_process(struct crash *c)
{
    const struct json *json = c->json;
    struct report *report = c->b->report;
    report->process.path = build_string(c->b, json, look_root(json, "procPath"));
    report->process.pid = look_number(json, look_root(json, "pid")).value & UINT32_MAX;
    report->process.start_wall_ms = read_time(build_string(c->b, json, look_root(json, "procLaunch")));
    if (!report->process.name[0])
        report->process.name = build_string(c->b, json, look_root(json, "procName"));
    report->device.model = build_string(c->b, json, look_root(json, "modelCode"));
    report->device.arch = arch_word(c->b, build_string(c->b, json, look_root(json, "cpuType")));
    uint32_t bundle = look_root(json, "bundleInfo");
    const char *id = look_text(c->b, json, bundle, "CFBundleIdentifier");
    if (id[0])
        report->app.name = id;
    if (!report->app.version[0])
        report->app.version = look_text(c->b, json, bundle, "CFBundleShortVersionString");
    if (!report->app.build[0])
        report->app.build = look_text(c->b, json, bundle, "CFBundleVersion");
    const char *install = build_string(c->b, json, look_root(json, "crashReporterKey"));
    install_of(report->device.install, install);
    uint32_t role = look_root(json, "procRole");
    report->event.foreground_known = role != 0;
    report->event.foreground = look_is(json, role, "Foreground");
    build_tag_at(c->b, "low_power", json, look_root(json, "lowPowerMode"));
    build_tag_at(c->b, "thermal", json, look_root(json, "thermalPressureLevel"));
    build_tag_at(c->b, "locked", json, look_root(json, "isLocked"));
    build_tag_at(c->b, "role", json, role);
    struct fact time = read_time(build_string(c->b, json, look_root(json, "captureTime")));
    if (time.known)
        c->ips->wall_ms = time;
}

/* The cause of the end. True: the watchdog, because the main thread hung. */
static bool read_end(struct crash *c)
{
    const struct json *json = c->json;
    struct report *report = c->b->report;
    uint32_t exception = look_root(json, "exception"), termination = look_root(json, "termination");
    const char *type = look_text(c->b, json, exception, "type");
    const char *signal = look_text(c->b, json, exception, "signal");
    struct fact code = look_number(json, look_one(json, termination, "code"));
    const char *namespace = look_text(c->b, json, termination, "namespace");
    const char *indicator = look_text(c->b, json, termination, "indicator");
    bool watchdog = code.known && code.value == WATCHDOG;
    bool abort = !strcmp(signal, "SIGABRT");
    report->event.trigger = watchdog ? "busy" : "crash";
    if (watchdog)
        report->event.name = "";
    else if (!strcmp(type, "EXC_CRASH") && signal[0])
        report->event.name = signal;
    else
        report->event.name = type[0] ? type : "crash";
    report->event.open = watchdog;
    report->exit = (struct report_exit){.known = true,
                                        .verdict = watchdog ? "watchdog_kill"
                                                   : abort  ? "abort"
                                                            : "crash",
                                        .confidence_ppm = 1000000};
    if (!strcmp(namespace, "SIGNAL"))
        report->exit.signal = code;
    if (indicator[0] || namespace[0])
        build_note(c->b, "terminated: %s, code %" PRIu64 ", %s", namespace, code.value, indicator);
    uint32_t asi = look_root(json, "asi"); /* what libraries had to say */
    if (asi && json_size(json, asi))
        build_note(c->b, "messages of libraries are left out");
    if (look_root(json, "lastExceptionBacktrace"))
        build_note(c->b, "the stack is that of the exception that was thrown");
    return watchdog;
}

enum decode_outcome ips_crash(struct ips *ips)
{
    struct crash c = {.ips = ips, .json = ips->body, .b = ips->b};
    c.frames = arena_array(c.b->arena, FRAMES_MAX, sizeof *c.frames);
    if (!c.frames)
        return MIRE_DECODE_NO_MEMORY;
    read_process(&c);
    read_images(&c);
    bool hang = read_end(&c);
    uint32_t thrown = look_root(c.json, "lastExceptionBacktrace");
    if (thrown && look_count(c.json, thrown)) {
        const struct report_sample sample = {
            .weight_ms = 1, .node = read_stack(&c, thrown), .state = '?', .syscall = -1, .loss = '.'};
        build_sample(c.b, &sample);
        c.b->report->process.thread_count = (struct fact){look_count(c.json, look_root(c.json, "threads")), true};
        return ips_end(ips, "crash");
    }
    read_threads(&c, hang);
    return ips_end(ips, hang ? "hang" : "crash");
}
