/*
 * ksreport.c - see ksreport.h. Fields are looked for by name, never by order: reports that an app read and wrote again
 * have any order.
 */
#include "decode/ksreport.h"

#include <stdio.h>
#include <string.h>

#define YEAR_2000_MS UINT64_C(946684800000)
#define FRAMES_MAX   4096 /* of one stack; more are left out and noted */

/* ---- who sent it ---- */

/* The time of an integer of seconds, milliseconds or microseconds, or of a text; unknown before the year 2000. */
static struct fact time_of(struct build *b, const struct json *json, uint32_t at)
{
    struct fact time = {0};
    if (at && json_kind(json, at) == MIRE_JSON_STRING)
        time = read_time(build_string(b, json, at));
    else
        time = look_number(json, at);
    if (time.known && json_kind(json, at) != MIRE_JSON_STRING) /* seconds, milliseconds or microseconds */
        time.value = time.value < UINT64_C(100000000000)      ? time.value * 1000
                     : time.value < UINT64_C(100000000000000) ? time.value
                                                              : time.value / 1000;
    if (time.known && time.value < YEAR_2000_MS) {
        build_note(b, "the report's time is wrong (before the year 2000): it counts when it was received");
        return (struct fact){0};
    }
    return time;
}

static void read_device(struct ks *ks)
{
    const struct json *json = ks->json;
    struct report_device *device = &ks->b->report->device;
    uint32_t system = ks->system;
    device->os = os_word(ks->b, look_text(ks->b, json, system, "system_name"));
    device->os_version = look_text(ks->b, json, system, "system_version");
    device->model = look_text(ks->b, json, system, "machine");
    device->arch = arch_word(ks->b, look_text(ks->b, json, system, "cpu_arch"));
    device->memory_bytes = look_number(json, look(json, system, "memory", "size", NULL));
    device->class_name = memory_class(ks->b, device->memory_bytes);
    const char *app_hash = look_text(ks->b, json, system, "device_app_hash");
    install_of(device->install, app_hash);
    if (!app_hash[0])
        build_note(ks->b, "the report names no installation: all such reports count as one");
}

static void read_process(struct ks *ks)
{
    const struct json *json = ks->json;
    struct report *report = ks->b->report;
    uint32_t system = ks->system;
    const char *bundle = look_text(ks->b, json, system, "CFBundleIdentifier");
    report->process.name = look_text(ks->b, json, ks->report, "process_name");
    if (!report->process.name[0])
        report->process.name = look_text(ks->b, json, system, "process_name");
    report->process.path = look_text(ks->b, json, system, "CFBundleExecutablePath");
    report->process.pid = look_number(json, look_one(json, system, "process_id")).value & UINT32_MAX;
    report->process.start_wall_ms = time_of(ks->b, json, look_one(json, system, "app_start_time"));
    report->app.name = bundle[0] ? bundle : report->process.name;
    report->app.version = look_text(ks->b, json, system, "CFBundleShortVersionString");
    report->app.build = look_text(ks->b, json, system, "CFBundleVersion");
    uint32_t stats = look_one(json, system, "application_stats");
    uint32_t foreground = stats ? look_one(json, stats, "application_in_foreground") : 0;
    report->event.foreground_known = foreground != 0;
    report->event.foreground = look_flag(json, foreground);
    report->process.rss_bytes = look_number(json, look(json, system, "app_memory", "memory_footprint", NULL));
}

static void read_images(struct ks *ks)
{
    const struct json *json = ks->json;
    uint32_t images = look_root(json, "binary_images");
    uint32_t count = look_count(json, images);
    if (!modules_begin(&ks->modules, ks->b, json, count))
        return;
    ks->modules.program = ks->b->report->process.path;
    uint32_t at = images + 1;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        struct apple_module module = {.begin = look_number(json, look_one(json, at, "image_addr")).value,
                                      .size = look_number(json, look_one(json, at, "image_size")).value,
                                      .vmaddr = look_number(json, look_one(json, at, "image_vmaddr")),
                                      .name_at = look_one(json, at, "name"),
                                      .arch = ks->b->report->device.arch};
        char uuid[64] = "";
        uint32_t id = look_one(json, at, "uuid");
        if (id && json_kind(json, id) == MIRE_JSON_STRING && json_size(json, id) < sizeof uuid)
            uuid[json_text(uuid, json, id)] = '\0';
        module.id_len = read_id(module.id, uuid);
        modules_add(&ks->modules, &module);
    }
}

bool ks_begin(struct ks *ks, struct foreign *foreign, struct build *b, const struct json *json)
{
    *ks = (struct ks){.foreign = foreign, .json = json, .b = b};
    build_begin(b, NULL, foreign->arena);
    ks->report = look_root(json, "report");
    ks->system = look_root(json, "system");
    ks->crash = look_root(json, "crash");
    ks->error = ks->crash ? look_one(json, ks->crash, "error") : 0;
    ks->id = ks->report ? look_text(b, json, ks->report, "id") : "";
    ks->wall_ms = ks->report ? time_of(b, json, look_one(json, ks->report, "timestamp")) : (struct fact){0};
    ks->frame_room = FRAMES_MAX;
    ks->frames = arena_array(b->arena, FRAMES_MAX, sizeof *ks->frames);
    b->failed |= !ks->frames;
    if (b->failed)
        return false;
    b->report->device.os = "ios";
    if (ks->system) {
        read_device(ks);
        read_process(ks);
    } else {
        build_note(b, "the sender is unknown: the section system is missing");
        b->report->process.name = ks->report ? look_text(b, json, ks->report, "process_name") : "";
        b->report->app.name = b->report->process.name;
    }
    read_images(ks);
    if (look_root(json, "recrash_report"))
        build_note(b, "the reporter itself crashed while it wrote the report: the report inside is left out");
    if (look_flag(json, look_root(json, "incomplete")))
        build_note(b, "the report is incomplete, says its writer");
    ks_context(ks);
    return !b->failed;
}

/* ---- stacks ---- */

/* A name that says nothing, or that dladdr took from far away. */
static bool is_no_name(const char *name)
{
    return !name[0] || !strcmp(name, "<redacted>") || !strcmp(name, "???") || !strncmp(name, "GCC_except_table", 16) ||
           !strcmp(name, "_mh_execute_header") || !strncmp(name, "__lldb_unnamed", 14);
}

/* How the sender calls it: only where the symbol is of the module that the address lies in. */
static const struct report_names *name_of(struct ks *ks, uint32_t at, uint64_t address)
{
    const struct json *json = ks->json;
    uint32_t name_at = look_one(json, at, "symbol_name");
    struct fact object = look_number(json, look_one(json, at, "object_addr"));
    struct fact symbol = look_number(json, look_one(json, at, "symbol_addr"));
    if (!name_at || json_kind(json, name_at) != MIRE_JSON_STRING)
        return NULL;
    const struct apple_module *module = modules_find(&ks->modules, address);
    if ((module && object.known && object.value && object.value != module->begin) ||
        (symbol.known && symbol.value > address))
        return NULL;
    const char *name = build_string(ks->b, json, name_at);
    return is_no_name(name) ? NULL : build_name(ks->b, name, "", 0);
}

/* A frame whose module stands in it, and in no list. */
static uint32_t frame_alone(struct ks *ks, uint32_t at, uint64_t address, const struct report_names *names)
{
    const struct json *json = ks->json;
    struct fact object = look_number(json, look_one(json, at, "object_addr"));
    const char *module = look_text(ks->b, json, at, "object_name");
    struct report_image image = {
        .name = module, .arch = ks->b->report->device.arch, .load = object.value, .from_start = true};
    image.id_len = read_id(image.id, look_text(ks->b, json, at, "object_uuid"));
    bool known = object.known && module[0] && object.value <= address;
    const struct report_frame frame = {.image = known ? build_image(ks->b, &image) : -1,
                                       .offset = known ? address - object.value : address,
                                       .names = names};
    return build_frame(ks->b, &frame);
}

uint32_t ks_frame(struct ks *ks, uint32_t at, bool caller)
{
    const struct json *json = ks->json;
    struct fact address = look_number(json, look_one(json, at, "instruction_addr"));
    if (!address.known)
        return MIRE_BUILD_NONE;
    uint64_t inside = caller && address.value ? address.value - 1 : address.value;
    const struct report_names *names = name_of(ks, at, inside);
    if (!modules_find(&ks->modules, inside) && look_one(json, at, "object_name"))
        return frame_alone(ks, at, inside, names);
    return modules_frame(&ks->modules, address.value, caller, names);
}

void ks_stack(struct ks_stack *out, struct ks *ks, uint32_t at)
{
    const struct json *json = ks->json;
    uint32_t contents = look(json, at, "backtrace", "contents", NULL);
    uint32_t count = look_count(json, contents);
    size_t kept = count < ks->frame_room ? count : ks->frame_room;
    uint32_t *repeats = arena_array(ks->b->arena, kept, sizeof *repeats);
    bool repeated = false;
    *out = (struct ks_stack){.count = count};
    ks->b->failed |= !repeats;
    if (ks->b->failed)
        return;
    uint32_t element = contents + 1;
    for (size_t i = 0; i < kept; i++, element = json_next(json, element)) {
        ks->frames[i] = ks_frame(ks, element, i > 0);
        struct fact repeat = look_number(json, look_one(json, element, "repeat_count"));
        repeats[i] = repeat.value && repeat.value < UINT32_MAX ? (uint32_t)repeat.value : 1;
        repeated |= repeat.known;
    }
    if (kept < count)
        build_note(ks->b, "%u frames at the outer end of a stack are left out", (unsigned)(count - kept));
    out->node = build_stack(ks->b, ks->frames, kept);
    out->repeats = repeated ? repeats : NULL;
    uint64_t skipped = look_number(json, look(json, at, "backtrace", "skipped", NULL)).value;
    out->skipped = skipped < UINT32_MAX ? (uint32_t)skipped : UINT32_MAX;
}

/* TH_STATE_RUNNING and so on, as a scheduler's letter. */
static char state_of(const struct json *json, uint32_t at)
{
    static const struct {
        const char *name;
        char letter;
    } states[] = {{"TH_STATE_RUNNING", 'R'},
                  {"TH_STATE_WAITING", 'S'},
                  {"TH_STATE_UNINTERRUPTIBLE", 'D'},
                  {"TH_STATE_STOPPED", 'T'},
                  {"TH_STATE_HALTED", 'T'}};
    uint32_t state = look_one(json, at, "state");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (look_is(json, state, states[i].name))
            return states[i].letter;
    return '?';
}

void ks_thread(struct ks *ks, uint32_t at, const char *role)
{
    struct ks_stack stack;
    const char *name = look_text(ks->b, ks->json, at, "name");
    if (!name[0])
        name = look_text(ks->b, ks->json, at, "dispatch_queue");
    ks_stack(&stack, ks, at);
    const struct report_thread thread = {.tid =
                                             look_number(ks->json, look_one(ks->json, at, "index")).value & UINT32_MAX,
                                         .name = name,
                                         .role = role,
                                         .node = stack.node,
                                         .state = state_of(ks->json, at),
                                         .syscall = -1};
    build_thread(ks->b, &thread);
}

/* ---- crashes ---- */

/* The word for it: the exception's name where an exception was thrown; otherwise Mach's, otherwise the signal's. */
static const char *crash_type(struct ks *ks)
{
    const struct json *json = ks->json;
    static const char *const paths[][2] = {
        {"nsexception", "name"}, {"cpp_exception", "name"}, {"signal", "name"}, {"mach", "exception_name"}};
    bool mach = look_is(json, look_one(json, ks->error, "type"), "mach");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        size_t row = mach && i >= 2 ? 5 - i : i; /* of a Mach exception its own name goes before the signal's */
        const char *name = build_string(ks->b, json, look(json, ks->error, paths[row][0], paths[row][1], NULL));
        if (name[0])
            return name;
    }
    const char *type = look_text(ks->b, json, ks->error, "type");
    return type[0] ? type : "crash";
}

void ks_crash(struct ks *ks)
{
    const struct json *json = ks->json;
    struct report *report = ks->b->report;
    struct fact number = look_number(json, look(json, ks->error, "signal", "signal", NULL));
    const char *reason = look_text(ks->b, json, ks->error, "reason");
    report->event.trigger = "crash";
    report->event.name = crash_type(ks);
    report->exit = (struct report_exit){.known = true,
                                        .verdict = number.value == 6 ? "abort" : "crash",
                                        .confidence_ppm = 1000000,
                                        .signal = {number.value, number.value != 0},
                                        .address = look_number(json, look_one(json, ks->error, "address"))};
    report->exit.foreground = report->event.foreground;
    report->exit.foreground_known = report->event.foreground_known;
    if (!reason[0])
        reason = build_string(ks->b, json, look(json, ks->error, "nsexception", "reason", NULL));
    if (reason[0])
        build_note(ks->b, "reason: %s", reason);
    const char *diagnosis = look_text(ks->b, json, ks->crash, "diagnosis");
    if (diagnosis[0])
        build_note(ks->b, "diagnosis of the sender: %s", diagnosis);
}

enum decode_outcome ks_end(struct ks *ks, const char *own)
{
    struct report *report = ks->b->report;
    if (!report->app.name[0])
        report->app.name = "app";
    if (!report->event.begin_wall_ms.known && ks->wall_ms.known)
        report->event.begin_wall_ms = (struct fact){
            ks->wall_ms.value - (report->event.duration_ms < ks->wall_ms.value ? report->event.duration_ms : 0), true};
    if (!build_end(ks->b))
        return MIRE_DECODE_NO_MEMORY;
    char id[128] = "";
    if (ks->id[0])
        snprintf(id, sizeof id, "%.80s %.40s", ks->id, own);
    return foreign_report(ks->foreign, report, id, ks->wall_ms.value);
}
