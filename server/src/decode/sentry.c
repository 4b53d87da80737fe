/*
 * sentry.c - one Sentry event.
 *
 *     mechanism or type tells of a hang (AppHang, ANR ...)     event, hang
 *     an exception that nobody handled, or level fatal         event, crash
 *     another exception                                        event, exception: captured by the app
 *     no exception, but a stack                                event, captured by the app
 *
 * Frames are the other way round than in all other formats: outermost first. Addresses are texts in hex; addr_mode
 * "rel:N" counts from the N-th image of debug_meta. Frames without an address are those of scripts, or of Java. Of
 * exceptions that caused one another the last one was thrown last; it is the one told.
 */
#include "decode/sentry.h"

#include "base/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FRAMES_MAX 4096

struct sentry {
    struct foreign *foreign;
    const struct json *json;
    struct build *b;
    struct apple_modules modules;
    uint32_t debug_images; /* place of the list */
    const char *platform;
    bool java;
    int32_t script_image; /* of frames without an address; -1: none yet */
    uint32_t *frames;
};

bool sentry_is(const struct json *json)
{
    if (json_kind(json, 0) != MIRE_JSON_OBJECT)
        return false;
    bool content = look_root(json, "exception") || look_root(json, "threads") || look_root(json, "message") ||
                   look_root(json, "logentry") || look_root(json, "stacktrace");
    bool form = look_root(json, "platform") || look_root(json, "sdk") || look_root(json, "level");
    return look_root(json, "event_id") && content && form;
}

/* ---- modules ---- */

static void read_images(struct sentry *s)
{
    const struct json *json = s->json;
    s->debug_images = look_one(json, look_root(json, "debug_meta"), "images");
    uint32_t count = look_count(json, s->debug_images), at = s->debug_images + 1;
    if (!modules_begin(&s->modules, s->b, json, count))
        return;
    s->modules.apple = !strcmp(s->platform, "cocoa") || !strcmp(s->b->report->device.os, "ios") ||
                       !strcmp(s->b->report->device.os, "macos");
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        uint32_t name = look_one(json, at, "code_file");
        uint32_t id = look_one(json, at, "code_id");
        bool macho =
            look_is(json, look_one(json, at, "type"), "macho") || look_is(json, look_one(json, at, "type"), "apple");
        if (macho || !id) /* of ELF code_id is the build id; of Mach-O debug_id is the UUID */
            id = look_one(json, at, "debug_id");
        if (!id)
            id = look_one(json, at, "uuid");
        struct apple_module module = {.begin = look_number(json, look_one(json, at, "image_addr")).value,
                                      .size = look_number(json, look_one(json, at, "image_size")).value,
                                      .vmaddr = look_number(json, look_one(json, at, "image_vmaddr")),
                                      .arch = look_text(s->b, json, at, "arch"),
                                      .name_at = name ? name : look_one(json, at, "name")};
        /* An image_vmaddr of 0 is written where nobody knows it, too: of Mach-O the beginning is sure. */
        module.vmaddr.known &= module.vmaddr.value != 0 || !macho;
        if (!macho && !module.vmaddr.known)
            module.vmaddr = (struct fact){0, true};
        module.id_len = read_id(module.id, build_string(s->b, json, id));
        modules_add(&s->modules, &module);
        if (i == 0)
            s->modules.program = build_string(s->b, json, module.name_at);
    }
}

/* Where an address that is relative to an image begins to count: "rel:3" is the fourth image. */
static struct fact base_of(struct sentry *s, uint32_t frame)
{
    uint32_t mode = look_one(s->json, frame, "addr_mode");
    const char *text = build_string(s->b, s->json, mode);
    if (strncmp(text, "rel:", 4) != 0)
        return (struct fact){0, true};
    uint32_t at = s->debug_images + 1;
    char *end;
    unsigned long number = strtoul(text + 4, &end, 10);
    for (uint32_t i = 0; i < look_count(s->json, s->debug_images); i++, at = json_next(s->json, at))
        if (*end ? look_is(s->json, look_one(s->json, at, "debug_id"), text + 4) : i == number)
            return look_number(s->json, look_one(s->json, at, "image_addr"));
    return (struct fact){0};
}

/* ---- frames ---- */

/* Is it a frame of Java or Kotlin: "module" is the class. */
static bool is_java(const struct sentry *s, uint32_t at)
{
    uint32_t platform = look_one(s->json, at, "platform");
    return platform ? look_is(s->json, platform, "java") : s->java;
}

static uint32_t java_frame(struct sentry *s, uint32_t at, const char *function, const char *file, uint32_t line)
{
    const struct report_image image = {.name = "app", .java = true};
    const struct report_java java = {.class_name = look_text(s->b, s->json, at, "module"),
                                     .method = function,
                                     .file = file,
                                     .line = line,
                                     .number = -1};
    uint32_t row = java.class_name[0] && function[0] ? build_java_row(s->b, &java) : MIRE_BUILD_NONE;
    if (row == MIRE_BUILD_NONE)
        return row;
    const struct report_frame frame = {.image = build_image(s->b, &image), .offset = row};
    return frame.image < 0 ? MIRE_BUILD_NONE : build_frame(s->b, &frame);
}

/* A frame of a script; its file is its module. */
static uint32_t script_frame(struct sentry *s, const char *function, const char *file, uint32_t line)
{
    const struct report_image image = {.name = s->platform[0] ? s->platform : "script",
                                       .script = s->platform[0] ? s->platform : "script"};
    uint32_t row = build_script(s->b, function[0] ? function : "<anonymous>", file, line);
    int32_t number = build_image(s->b, &image);
    if (!row || number < 0)
        return MIRE_BUILD_NONE;
    const struct report_frame frame = {.image = number, .found = MIRE_FOUND_SCRIPT, .offset = row - 1};
    return build_frame(s->b, &frame);
}

static uint32_t read_frame(struct sentry *s, uint32_t at, bool caller)
{
    const struct json *json = s->json;
    struct fact address = look_number(json, look_one(json, at, "instruction_addr"));
    const char *function = look_text(s->b, json, at, "function");
    const char *file = look_text(s->b, json, at, "abs_path");
    uint64_t line = look_number(json, look_one(json, at, "lineno")).value;
    struct fact base = base_of(s, at);
    if (!file[0] || !strncmp(file, "http", 4) || is_java(s, at)) {
        const char *short_name = look_text(s->b, json, at, "filename");
        file = short_name[0] ? short_name : file;
    }
    uint32_t row_line = line <= INT32_MAX ? (uint32_t)line : 0;
    if (!address.known && is_java(s, at))
        return java_frame(s, at, function, file, row_line);
    if (!address.known)
        return function[0] || file[0] ? script_frame(s, function, file, row_line) : MIRE_BUILD_NONE;
    if (!strcmp(function, "<redacted>") || !strcmp(function, "<unknown>"))
        function = "";
    return modules_frame(&s->modules, address.value + base.value, caller, build_name(s->b, function, file, row_line));
}

/* Frames stand outermost first: the innermost is the last. */
static uint32_t read_stack(struct sentry *s, uint32_t stacktrace)
{
    const struct json *json = s->json;
    uint32_t list = look_one(json, stacktrace, "frames");
    uint32_t count = look_count(json, list), at = list + 1, node = 0;
    uint32_t skip = count > FRAMES_MAX ? count - FRAMES_MAX : 0;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at))
        if (i >= skip)
            node = build_node(s->b, node, read_frame(s, at, i + 1 < count));
    if (skip)
        build_note(s->b, "%u frames at the outer end of a stack are left out", skip);
    return node;
}

/* ---- who sent it ---- */

static void read_device(struct sentry *s)
{
    const struct json *json = s->json;
    struct build *b = s->b;
    struct report_device *device = &b->report->device;
    uint32_t contexts = look_root(json, "contexts"), of = look_one(json, contexts, "device");
    uint32_t os = look_one(json, contexts, "os"), app = look_one(json, contexts, "app");
    uint32_t user = look_root(json, "user");
    const char *os_name = look_text(b, json, os, "name");
    device->os = os_word(b, os_name);
    device->os_version = look_text(b, json, os, "version");
    device->model = look_text(b, json, of, "model");
    device->arch = arch_word(b, look_text(b, json, of, "arch"));
    device->memory_bytes = look_number(json, look_one(json, of, "memory_size"));
    device->class_name = memory_class(b, device->memory_bytes);
    if (!device->os[0])
        device->os = !strcmp(s->platform, "cocoa") ? "ios" : !strcmp(s->platform, "java") ? "android" : "linux";
    const char *install = look_text(b, json, app, "device_app_hash");
    if (!install[0])
        install = look_text(b, json, user, "id");
    if (!install[0])
        install = look_text(b, json, of, "id");
    if (!install[0])
        install = look_text(b, json, user, "ip_address");
    if (!install[0])
        install = look_root(json, "server_name") ? build_string(b, json, look_root(json, "server_name")) : "";
    install_of(device->install, install);
    if (!install[0])
        build_note(b, "the report names no installation: all such reports count as one");
}

/* "org.example.shop@4.2+17": package, version, build. A release without @ is the version. */
static void read_release(struct sentry *s)
{
    const struct json *json = s->json;
    struct build *b = s->b;
    struct report_app *app = &b->report->app;
    uint32_t context = look_one(json, look_root(json, "contexts"), "app");
    const char *release = build_string(b, json, look_root(json, "release"));
    const char *version = strrchr(release, '@');
    const char *plus = strrchr(release, '+');
    version = version ? version + 1 : release;
    app->version = plus && plus > version ? build_text(b, version, (size_t)(plus - version)) : version;
    app->build = plus && plus > version ? plus + 1 : build_string(b, json, look_root(json, "dist"));
    app->name = version > release ? build_text(b, release, (size_t)(version - 1 - release)) : "";
    if (!app->name[0])
        app->name = look_text(b, json, context, "app_identifier");
    if (!app->version[0])
        app->version = look_text(b, json, context, "app_version");
    if (!app->name[0])
        app->name = look_text(b, json, context, "app_name");
    const char *environment = build_string(b, json, look_root(json, "environment"));
    if (environment[0] && strcmp(environment, "production") != 0)
        app->channel = environment;
    b->report->process.name = app->name;
    b->report->process.start_wall_ms = read_time(look_text(b, json, context, "app_start_time"));
    uint32_t foreground = look_one(json, context, "in_foreground");
    b->report->event.foreground_known = foreground != 0;
    b->report->event.foreground = look_flag(json, foreground);
}

/* Counts the parts that Mire does not keep. */
static void note_left_out(struct sentry *s, const char *left_out)
{
    const struct json *json = s->json;
    if (look_root(json, "request"))
        build_note(s->b, "the request that was served is left out");
    if (left_out[0])
        build_note(s->b, "left out of the envelope: %s", left_out);
}

/* ---- what happened ---- */

static bool contains(const char *text, const char *part)
{
    size_t len = strlen(part);
    for (; *text; text++)
        if (!strncasecmp(text, part, len))
            return true;
    return false;
}

/* A hang is told by the mechanism (AppHang, ANR, AppExitInfo, appHangTracking), or by the exception's type. */
static bool is_hang(const char *mechanism, const char *type)
{
    return contains(mechanism, "hang") || contains(mechanism, "anr") || contains(type, "App Hanging") ||
           contains(type, "AppHang") || contains(type, "ApplicationNotResponding") || !strcasecmp(type, "ANR");
}

/*
 * "App hanging for at least 2000 ms.", "between 2.0 and 2.5 seconds", "Application Not Responding for at least 5000
 * ms": the first number with the first unit behind it, in milliseconds.
 */
static uint32_t hang_ms(const char *value)
{
    const char *digit = value + strcspn(value, "0123456789");
    double number = *digit ? strtod(digit, NULL) : 0;
    bool seconds = strstr(digit, " s") || strstr(digit, "sec");
    bool milli = strstr(digit, "ms") != NULL;
    double ms = seconds ? number * 1000 : 0;
    if (milli)
        ms = number;
    return ms > 0 && ms < 604800000 ? (uint32_t)ms : 0;
}

struct happened {
    const char *type, *value, *mechanism;
    uint32_t exception, stacktrace;
    struct fact thread;
    bool handled;
};

static void read_exception(struct sentry *s, struct happened *h)
{
    const struct json *json = s->json;
    uint32_t list = sentry_values(json, look_root(json, "exception"));
    uint32_t count = look_count(json, list), at = list + 1;
    *h = (struct happened){.type = "", .value = "", .mechanism = "", .handled = true};
    if (list && json_kind(json, list) == MIRE_JSON_OBJECT)
        h->exception = list;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at))
        h->exception = at;
    if (count > 1)
        build_note(s->b, "%u exceptions that caused this one are left out", count - 1);
    if (!h->exception)
        return;
    uint32_t mechanism = look_one(json, h->exception, "mechanism");
    uint32_t handled = look_one(json, mechanism, "handled");
    h->type = look_text(s->b, json, h->exception, "type");
    h->value = look_text(s->b, json, h->exception, "value");
    h->mechanism = look_text(s->b, json, mechanism, "type");
    h->handled = handled ? look_flag(json, handled) : !look_is(json, look_root(json, "level"), "fatal");
    h->stacktrace = look_one(json, h->exception, "stacktrace");
    h->thread = look_number(json, look_one(json, h->exception, "thread_id"));
    struct fact number = look_number(json, look(json, mechanism, "meta", "signal", "number"));
    s->b->report->exit.signal = (struct fact){number.value, number.value != 0};
}

/* Is this the thread the event is about? */
static bool is_chosen(struct sentry *s, uint32_t thread, const struct happened *h)
{
    const struct json *json = s->json;
    if (h->thread.known)
        return look_number(json, look_one(json, thread, "id")).value == h->thread.value;
    return look_flag(json, look_one(json, thread, "crashed")) || look_flag(json, look_one(json, thread, "current"));
}

static void read_threads(struct sentry *s, const struct happened *h)
{
    const struct json *json = s->json;
    struct report_event *event = &s->b->report->event;
    uint32_t list = sentry_values(json, look_root(json, "threads"));
    uint32_t count = look_count(json, list), at = list + 1, node = 0;
    bool found = false;
    if (h->stacktrace)
        node = read_stack(s, h->stacktrace);
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        struct fact id = look_number(json, look_one(json, at, "id"));
        struct report_thread thread = {.tid = id.value & UINT32_MAX,
                                       .name = look_text(s->b, json, at, "name"),
                                       .role = "",
                                       .node = 0,
                                       .state = '?',
                                       .syscall = -1};
        bool chosen = !found && is_chosen(s, at, h);
        if (chosen) {
            found = true;
            event->thread.tid = (struct fact){thread.tid, true};
            event->thread.name = thread.name;
            if (node)
                continue;
        }
        thread.node = read_stack(s, look_one(json, at, "stacktrace"));
        if (chosen)
            node = thread.node;
        else
            build_thread(s->b, &thread);
    }
    if (!node && look_root(json, "stacktrace"))
        node = read_stack(s, look_root(json, "stacktrace"));
    s->b->report->process.thread_count = (struct fact){count, count != 0};
    const struct report_sample sample = {.weight_ms = event->duration_ms ? event->duration_ms : 1,
                                         .node = node,
                                         .state = '?',
                                         .syscall = -1,
                                         .loss = '.'};
    if (node)
        build_sample(s->b, &sample);
    else
        build_note(s->b, "the event has no stack");
}

static void read_kind(struct sentry *s, const struct happened *h)
{
    struct report *report = s->b->report;
    struct report_event *event = &report->event;
    struct fact number = report->exit.signal;
    const char *message =
        build_string(s->b, s->json, look(s->json, look_root(s->json, "logentry"), "formatted", NULL, NULL));
    if (!message[0])
        message = build_string(s->b, s->json, look_root(s->json, "message"));
    if (h->exception && is_hang(h->mechanism, h->type)) {
        event->duration_ms = hang_ms(h->value);
        event->gate = MIRE_GATE_PING;
        event->open = contains(h->type, "fatal");
        if (!event->duration_ms)
            build_note(s->b, "the duration of the hang is unknown");
    } else if (h->exception) {
        event->trigger = h->handled ? "exception" : "crash";
        event->name = h->type[0] ? h->type : "exception";
    } else {
        event->trigger = "call";
        event->name = message;
    }
    if (!strcmp(event->trigger, "crash"))
        report->exit = (struct report_exit){.known = true,
                                            .verdict = number.value == 6 ? "abort" : "crash",
                                            .confidence_ppm = 1000000,
                                            .signal = number};
    if (h->value[0])
        build_note(s->b, "%s: %s", h->type[0] ? h->type : "message", h->value);
}

enum decode_outcome sentry_event(struct foreign *foreign, const struct json *json, const char *left_out)
{
    struct build b;
    struct sentry s = {.foreign = foreign, .json = json, .b = &b, .script_image = -1};
    struct happened happened;
    build_begin(&b, NULL, foreign->arena);
    s.platform = build_string(&b, json, look_root(json, "platform"));
    s.java = !strcmp(s.platform, "java");
    uint32_t sdk = look_root(json, "sdk");
    b.report->sdk_name = look_text(&b, json, sdk, "name");
    b.report->sdk_version = look_text(&b, json, sdk, "version");
    if (!b.report->sdk_name[0])
        b.report->sdk_name = "Sentry";
    read_device(&s);
    read_release(&s);
    read_images(&s);
    if (!b.report->app.name[0]) /* the first module is the program */
        b.report->app.name = b.report->process.name = s.modules.program[0] ? path_base(s.modules.program) : "app";
    read_exception(&s, &happened);
    read_kind(&s, &happened);
    read_threads(&s, &happened);
    note_left_out(&s, left_out);
    sentry_context(&b, json);
    struct fact time = sentry_time(&b, json, look_root(json, "timestamp"));
    b.report->event.begin_wall_ms = time;
    if (time.known && time.value > b.report->event.duration_ms)
        b.report->event.begin_wall_ms.value -= b.report->event.duration_ms;
    const char *id = build_string(&b, json, look_root(json, "event_id"));
    return build_end(&b) ? foreign_report(foreign, b.report, id, time.value) : MIRE_DECODE_NO_MEMORY;
}

enum decode_outcome sentry_document(struct foreign *foreign, const struct json *json)
{
    return sentry_event(foreign, json, "");
}
