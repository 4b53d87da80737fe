/*
 * matrix_android.c - the Issue JSON of Matrix on Android.
 *
 *     tag Trace_EvilMethod    detail NORMAL, STARTUP             event, hang; the stack is a tree of method numbers
 *                             ANR, SIGNAL_ANR*                   event, hang
 *                             LAG*                               event, hang; the stack is a text
 *                             PRIORITY_, TIMERSLACK_MODIFIED     event, captured by the app
 *     tag Trace_StartUp       event, hang at launch
 *     tag Trace_FPS           event, frames
 *     tag io                  event, disk
 *     tag memory              memory; a leaked object, without what it held
 *     SoNativeSize            memory, by library and stack (MemoryHook)
 *     PthreadHook_*           event, captured by the app: threads that did not end
 *
 * A tree is lines "depth,method,count,ms" in the order of calls; names are in methodmap.txt, which the server knows as
 * the app's mapping. A method's own time is its time less that of the methods below.
 */
#include "decode/apple.h"
#include "decode/build_context.h"
#include "decode/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 512

struct issue {
    struct foreign *foreign;
    const struct json *json;
    struct build *b;
    struct fact wall_ms;
};

static bool is_tag(const struct json *json, const char *tag)
{
    return look_is(json, look_root(json, "tag"), tag);
}

bool matrix_android_is(const struct json *json)
{
    static const char *const tags[] = {"Trace_EvilMethod", "Trace_StartUp", "Trace_FPS", "io", "memory"};
    if (look_root(json, "SoNativeSize") || look_root(json, "NativeHeap") || look_root(json, "PthreadHook_not_exited") ||
        look_root(json, "PthreadHook_not_released"))
        return true;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (is_tag(json, tags[i]))
            return look_root(json, "process") || look_root(json, "time") || look_root(json, "type");
    return false;
}

static void read_context(struct issue *issue)
{
    static const char *const words[] = {"machine", "processPriority", "processNice", "cpu_app"};
    const struct json *json = issue->json;
    struct fact free_kib = look_number(json, look_root(json, "mem_free"));
    build_scene(issue->b, build_string(issue->b, json, look_root(json, "scene")));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        build_tag_at(issue->b, words[i], json, look_root(json, words[i]));
    free_kib.value = free_kib.value < UINT64_MAX >> 10 ? free_kib.value << 10 : UINT64_MAX;
    build_tag_bytes(issue->b, "free_memory", free_kib);
}

static void begin(struct issue *issue)
{
    const struct json *json = issue->json;
    struct build *b = issue->b;
    build_begin(b, NULL, issue->foreign->arena);
    struct report *report = b->report;
    report->device.os = "android";
    report->device.arch = "aarch64";
    report->device.class_name = build_string(b, json, look_root(json, "machine"));
    report->device.memory_bytes = look_number(json, look_root(json, "mem"));
    report->process.name = build_string(b, json, look_root(json, "process"));
    report->app.name = report->process.name[0] ? report->process.name : "app";
    report->app.version = build_string(b, json, look_root(json, "version"));
    report->sdk_name = "Matrix";
    report->event.name = build_string(b, json, look_root(json, "scene"));
    read_context(issue);
    issue->wall_ms = look_number(json, look_root(json, "time"));
    issue->wall_ms.known &= issue->wall_ms.value > UINT64_C(946684800000);
    build_note(b, "Matrix names neither installation nor version here: all such reports count as one installation");
}

static enum decode_outcome end(struct issue *issue)
{
    struct report_event *event = &issue->b->report->event;
    if (issue->wall_ms.known)
        event->begin_wall_ms = (struct fact){
            issue->wall_ms.value - (event->duration_ms < issue->wall_ms.value ? event->duration_ms : 0), true};
    return build_end(issue->b) ? foreign_report(issue->foreign, issue->b->report, "", issue->wall_ms.value)
                               : MIRE_DECODE_NO_MEMORY;
}

static void add_sample(struct issue *issue, uint32_t node, uint64_t weight)
{
    const struct report_sample sample = {.weight_ms = weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX,
                                         .node = node,
                                         .state = '?',
                                         .syscall = -1,
                                         .loss = '.'};
    build_sample(issue->b, &sample);
}

/* ---- stacks ---- */

static int32_t java_image(struct issue *issue)
{
    const struct report_image image = {.name = "app", .java = true};
    return build_image(issue->b, &image);
}

static uint32_t method_frame(struct issue *issue, const struct report_java *java)
{
    uint32_t row = build_java_row(issue->b, java);
    int32_t image = java_image(issue);
    const struct report_frame frame = {.image = image, .offset = row};
    return row == MIRE_BUILD_NONE || image < 0 ? MIRE_BUILD_NONE : build_frame(issue->b, &frame);
}

struct method_level {
    uint32_t node;
    uint64_t own_ms;
};

/* "depth,method,count,ms\n" ... Returns the methods read. */
static uint32_t read_methods(struct issue *issue, const char *text)
{
    struct method_level *levels = arena_array(issue->b->arena, DEPTH_MAX, sizeof *levels);
    size_t depth = 0;
    uint32_t count = 0;
    issue->b->failed |= !levels;
    while (levels && *text) {
        char *after;
        uint64_t number[4] = {0};
        size_t have = 0;
        for (const char *at = text; have < 4; at = after + 1) {
            number[have] = strtoull(at, &after, 10);
            have += after != at;
            if (after == at || *after != ',')
                break;
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
        if (have < 4 || number[0] >= DEPTH_MAX)
            continue;
        while (depth > number[0]) {
            depth--;
            if (levels[depth].own_ms)
                add_sample(issue, levels[depth].node, levels[depth].own_ms);
        }
        const struct report_java java = {
            .class_name = "", .method = "", .file = "", .number = (int64_t)(number[1] & INT32_MAX)};
        uint32_t parent = depth ? levels[depth - 1].node : 0;
        if (depth)
            levels[depth - 1].own_ms -= number[3] < levels[depth - 1].own_ms ? number[3] : levels[depth - 1].own_ms;
        levels[depth++] = (struct method_level){build_node(issue->b, parent, method_frame(issue, &java)), number[3]};
        count++;
    }
    while (depth--)
        if (levels[depth].own_ms)
            add_sample(issue, levels[depth].node, levels[depth].own_ms);
    return count;
}

/* "at com.example.Cart.total(Cart.java:12)", with or without "at ". */
static bool read_java_line(struct issue *issue, uint32_t *frame, const char *line, size_t len)
{
    const char *end = line + len;
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    if (end - line > 3 && !strncmp(line, "at ", 3))
        line += 3;
    const char *open = memchr(line, '(', (size_t)(end - line));
    const char *dot = NULL;
    for (const char *at = line; at < (open ? open : end); at++) {
        if (*at == ' ')
            return false;
        dot = *at == '.' ? at : dot;
    }
    if (!dot || dot == line)
        return false;
    const char *stop = open ? open : end;
    const char *colon = open ? memchr(open, ':', (size_t)(end - open)) : NULL;
    const char *close = open ? memchr(open, ')', (size_t)(end - open)) : NULL;
    const char *file_end = colon ? colon : close;
    struct report_java java = {.class_name = build_text(issue->b, line, (size_t)(dot - line)),
                               .method = build_text(issue->b, dot + 1, (size_t)(stop - dot - 1)),
                               .file = open && file_end ? build_text(issue->b, open + 1, (size_t)(file_end - open - 1))
                                                        : "",
                               .line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) & INT32_MAX : 0,
                               .number = -1};
    if (!java.method[0])
        return false;
    *frame = method_frame(issue, &java);
    return true;
}

/* A stack of Java as text, innermost line first. */
static uint32_t read_java_stack(struct issue *issue, const char *text)
{
    uint32_t *frames = arena_array(issue->b->arena, DEPTH_MAX, sizeof *frames);
    size_t count = 0;
    issue->b->failed |= !frames;
    while (frames && *text && count < DEPTH_MAX) {
        size_t len = strcspn(text, "\n");
        count += read_java_line(issue, &frames[count], text, len);
        text += len + (text[len] == '\n');
    }
    return frames ? build_stack(issue->b, frames, count) : 0;
}

/* ---- kinds ---- */

static void read_evil(struct issue *issue)
{
    const struct json *json = issue->json;
    struct report_event *event = &issue->b->report->event;
    const char *detail = build_string(issue->b, json, look_root(json, "detail"));
    const char *stack = look_long(issue->b, json, look_root(json, "stack"));
    const char *thread_stack = look_long(issue->b, json, look_root(json, "threadStack"));
    struct fact cost = look_number(json, look_root(json, "cost"));
    uint32_t foreground = look_root(json, "isProcessForeground");
    event->duration_ms = cost.value < 604800000 ? (uint32_t)cost.value : 604800000;
    event->foreground_known = foreground != 0;
    event->foreground = look_flag(json, foreground);
    event->gate = MIRE_GATE_MARK;
    event->launch = !strcmp(detail, "STARTUP");
    event->guess = detail;
    if (strstr(detail, "MODIFIED"))
        event->trigger = "call";
    event->thread = (struct report_watched){.tid = {0, true}, .name = "main"};
    uint32_t methods = read_methods(issue, stack);
    uint32_t node = methods ? 0 : read_java_stack(issue, thread_stack[0] ? thread_stack : stack);
    if (node)
        add_sample(issue, node, event->duration_ms ? event->duration_ms : 1);
    if (methods && thread_stack[0])
        build_note(issue->b, "the stack at the end (threadStack) is left out: the tree of methods has more");
    if (!event->duration_ms)
        build_note(issue->b, "the duration is unknown (detail %s)", detail);
}

static void read_startup(struct issue *issue)
{
    const struct json *json = issue->json;
    struct report_event *event = &issue->b->report->event;
    struct fact length = look_number(json, look_root(json, "startup_duration"));
    event->duration_ms = length.value < 604800000 ? (uint32_t)length.value : 604800000;
    event->launch = true;
    event->gate = MIRE_GATE_MARK;
    event->guess = look_flag(json, look_root(json, "is_warm_start_up")) ? "warm start" : "cold start";
    build_note(issue->b, "Matrix takes no stacks of a start; its phases are left out");
}

static void read_fps(struct issue *issue)
{
    const struct json *json = issue->json;
    struct report_event *event = &issue->b->report->event;
    static const char *const levels[] = {"DROPPED_BEST", "DROPPED_NORMAL", "DROPPED_MIDDLE", "DROPPED_HIGH",
                                         "DROPPED_FROZEN"};
    uint32_t sums = look_root(json, "dropSum"), counts = look_root(json, "dropLevel");
    event->trigger = "frames";
    event->frames.known = true;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        event->frames.dropped += look_number(json, look_one(json, sums, levels[i])).value & UINT16_MAX;
        event->frames.ticks += look_number(json, look_one(json, counts, levels[i])).value & UINT16_MAX;
    }
    build_note(issue->b, "Matrix takes no stacks of dropped frames on Android");
}

static void read_io(struct issue *issue)
{
    static const char *const kinds[] = {"", "on the main thread", "with a small buffer", "read again and again",
                                        "not closed"};
    const struct json *json = issue->json;
    struct report_event *event = &issue->b->report->event;
    uint64_t type = look_number(json, look_root(json, "type")).value;
    uint64_t bytes = look_number(json, look_root(json, "opSize")).value;
    bool writes = look_number(json, look_root(json, "opType")).value == 2;
    struct fact cost = look_number(json, look_root(json, "cost"));
    event->trigger = "disk";
    event->duration_ms = cost.value < 604800000 ? (uint32_t)cost.value : 604800000;
    event->disk = (struct report_disk){.known = true,
                                       .window_ms = event->duration_ms,
                                       .read_bytes = writes ? 0 : bytes,
                                       .write_bytes = writes ? bytes : 0};
    event->thread =
        (struct report_watched){.tid = {0, true}, .name = build_string(issue->b, json, look_root(json, "thread"))};
    uint32_t node = read_java_stack(issue, look_long(issue->b, json, look_root(json, "stack")));
    if (node)
        add_sample(issue, node, event->duration_ms ? event->duration_ms : 1);
    build_note(issue->b, "file %s, %s", build_string(issue->b, json, look_root(json, "path")),
               type < sizeof kinds / sizeof *kinds ? kinds[type] : "");
}

static void read_leak(struct issue *issue)
{
    const struct json *json = issue->json;
    struct memory *memory = &issue->b->report->memory;
    issue->b->report->kind = MIRE_REPORT_MEMORY;
    memory->trigger = "demand";
    memory->name = build_string(issue->b, json, look_root(json, "activity"));
    memory->taken_wall_ms = issue->wall_ms;
    build_note(issue->b, "a leak of %s, found by %s; the heap itself is in another file", memory->name,
               build_string(issue->b, json, look_root(json, "dump_mode")));
}

/* "libapp.so;0x1234;..." pairs of map and address in it, innermost first. */
static uint32_t read_native_stack(struct issue *issue, const char *text)
{
    uint32_t *frames = arena_array(issue->b->arena, DEPTH_MAX, sizeof *frames);
    size_t count = 0;
    issue->b->failed |= !frames;
    while (frames && *text && count < DEPTH_MAX) {
        size_t map = strcspn(text, ";");
        if (!text[map])
            break;
        char *after;
        const struct report_image image = {.name = build_text(issue->b, text, map), .arch = "aarch64"};
        uint64_t pc = strtoull(text + map + 1, &after, 16);
        const struct report_frame frame = {
            .image = build_image(issue->b, &image), .found = MIRE_FOUND_FRAME_POINTER, .offset = pc ? pc - 1 : 0};
        frames[count++] = build_frame(issue->b, &frame);
        text = after + strcspn(after, ";");
        text += *text == ';';
    }
    return frames ? build_stack(issue->b, frames, count) : 0;
}

static void read_so(struct issue *issue, uint32_t row, enum memory_kind kind)
{
    const struct json *json = issue->json;
    struct memory *memory = &issue->b->report->memory;
    const struct memory_category category = {.name = look_text(issue->b, json, row, "so"),
                                             .kind = kind,
                                             .live_bytes = look_number(json, look_one(json, row, "size")).value,
                                             .held_bytes = look_number(json, look_one(json, row, "size")).value};
    uint32_t number = build_category(issue->b, &category);
    uint32_t stacks = look_one(json, row, "top_stacks"), at = stacks + 1;
    if (kind == MIRE_MEMORY_HEAP)
        memory->live_bytes += category.live_bytes < UINT64_MAX - memory->live_bytes ? category.live_bytes : 0;
    for (uint32_t i = 0; i < look_count(json, stacks); i++, at = json_next(json, at)) {
        const struct memory_stack stack = {
            .category = number,
            .node = read_native_stack(issue, look_long(issue->b, json, look_one(json, at, "stack"))),
            .bytes = look_number(json, look_one(json, at, "size")).value,
            .caller1 = -1};
        build_memory_stack(issue->b, &stack);
    }
}

static void read_hooks(struct issue *issue)
{
    static const struct {
        const char *name;
        enum memory_kind kind;
    } lists[] = {{"NativeHeap", MIRE_MEMORY_HEAP}, {"mmap", MIRE_MEMORY_VM}};
    const struct json *json = issue->json;
    issue->b->report->kind = MIRE_REPORT_MEMORY;
    issue->b->report->memory.trigger = "demand";
    issue->b->report->memory.taken_wall_ms = issue->wall_ms;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        uint32_t list = look_root(json, lists[k].name);
        if (!look_count(json, list)) /* sizes alone */
            list = look_root(json, k ? "SoMmapSize" : "SoNativeSize");
        uint32_t at = list + 1;
        for (uint32_t i = 0; i < look_count(json, list); i++, at = json_next(json, at))
            read_so(issue, at, lists[k].kind);
    }
    build_note(issue->b, "categories are libraries; stacks are those of the three largest");
}

static void read_threads(struct issue *issue)
{
    static const char *const lists[] = {"PthreadHook_not_exited", "PthreadHook_not_released"};
    const struct json *json = issue->json;
    struct report_event *event = &issue->b->report->event;
    event->trigger = "call";
    event->name = "threads that did not end";
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        uint32_t list = look_root(json, lists[k]), at = list + 1;
        for (uint32_t i = 0; i < look_count(json, list); i++, at = json_next(json, at)) {
            uint32_t node = read_native_stack(issue, look_long(issue->b, json, look_one(json, at, "native")));
            if (!node)
                node = read_java_stack(issue, look_long(issue->b, json, look_one(json, at, "java")));
            uint64_t threads = look_number(json, look_one(json, at, "count")).value;
            add_sample(issue, node, threads ? threads : 1);
        }
    }
    build_note(issue->b, "samples weigh threads, not times");
}

enum decode_outcome matrix_android_document(struct foreign *foreign, const struct json *json)
{
    struct build b;
    struct issue issue = {.foreign = foreign, .json = json, .b = &b};
    begin(&issue);
    if (is_tag(json, "Trace_EvilMethod"))
        read_evil(&issue);
    else if (is_tag(json, "Trace_StartUp"))
        read_startup(&issue);
    else if (is_tag(json, "Trace_FPS"))
        read_fps(&issue);
    else if (is_tag(json, "io"))
        read_io(&issue);
    else if (is_tag(json, "memory"))
        read_leak(&issue);
    else if (look_root(json, "PthreadHook_not_exited") || look_root(json, "PthreadHook_not_released"))
        read_threads(&issue);
    else
        read_hooks(&issue);
    return end(&issue);
}
