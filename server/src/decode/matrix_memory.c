/*
 * matrix_memory.c - Matrix's report of memory, protocol 1, and protocol 3 of a fork.
 *
 *     {"head": {"protocol_ver": 1, "app_uuid": ..., "launch_time": ..., "report_time": ..., ...},
 *      "items": [{"tag": "iOS_MemStat", "name": "Malloc 48 Bytes", "size": 4096, "count": 85, "scene": ...,
 *                 "stacks": [{"caller": "uuid@offset", "size": ..., "count": ..., "frames": [{"uuid", "offset"}]}]}]}
 *
 * A report is taken apart leniently: members of the head may stand in it or beside the items. Names of items are
 * rounded, so that several items have one name: they become one category. "Alloc Fail" and "Unknow" have size 0, though
 * their stacks have sizes: the sum of these is taken. `caller` is not read: it is cut to 32 bits, and may be garbage.
 * Offsets count from where the image's text begins; protocol 3 has plain addresses and a list of images.
 */
#include "base/hash.h"
#include "decode/apple.h"
#include "decode/build_context.h"
#include "decode/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FRAMES_MAX 512 /* of one stack */
#define RECENT     256 /* a power of two */
#define PROBES     4

/* The image of a UUID: nearly all frames of a report name one of a few. */
struct recent_image {
    char uuid[64];
    size_t len; /* 0: nothing yet */
    int32_t image;
};

struct memory_report {
    struct foreign *foreign;
    const struct json *json;
    struct build *b;
    struct apple_modules modules; /* protocol 3 */
    uint32_t head;                /* 0: the document itself */
    uint32_t frames[FRAMES_MAX];
    uint64_t sized, counted;           /* of stacks and items */
    uint8_t app_id[MIRE_BUILD_ID_MAX]; /* of the app's executable */
    uint8_t app_id_len;
    struct recent_image recent[RECENT];
};

bool matrix_memory_is(const struct json *json)
{
    uint32_t items = look_root(json, "items");
    uint32_t head = look_root(json, "head");
    return items && json_kind(json, items) == MIRE_JSON_ARRAY &&
           (look_root(json, "protocol_ver") || (head && look_one(json, head, "protocol_ver")));
}

static uint32_t of_head(const struct memory_report *m, const char *name)
{
    uint32_t found = m->head ? look_one(m->json, m->head, name) : 0;
    return found ? found : look_root(m->json, name);
}

/* Seconds or milliseconds: the header of Matrix says one, its code does the other. */
static struct fact time_of(const struct memory_report *m, const char *name)
{
    struct fact time = look_number(m->json, of_head(m, name));
    if (time.known && time.value < UINT64_C(100000000000))
        time.value *= 1000;
    time.known &= time.value > UINT64_C(946684800000);
    return time;
}

static void read_head(struct memory_report *m)
{
    static const char *const known[] = {"protocol_ver", "phone",       "os_ver",   "cpu_arch",
                                        "launch_time",  "report_time", "app_uuid", "bundle_id",
                                        "app_name",     "app_version", "images",   NULL};
    const struct json *json = m->json;
    struct build *b = m->b;
    struct report *report = b->report;
    struct fact start = time_of(m, "launch_time");
    report->kind = MIRE_REPORT_MEMORY;
    report->device.os = "ios";
    report->device.model = build_string(b, json, of_head(m, "phone"));
    report->device.os_version = build_string(b, json, of_head(m, "os_ver"));
    report->device.arch = arch_word(b, build_string(b, json, of_head(m, "cpu_arch")));
    if (!report->device.arch[0])
        report->device.arch = "aarch64";
    report->process.start_wall_ms = start;
    report->memory.trigger = "demand";
    report->memory.taken_wall_ms = time_of(m, "report_time");
    report->sdk_name = "Matrix";
    report->sdk_version = build_printf(b, "protocol %" PRIu64, look_number(json, of_head(m, "protocol_ver")).value);
    /* Name and version are the app's own members of the head, if it has any. */
    report->app.name = build_string(b, json, of_head(m, "bundle_id"));
    if (!report->app.name[0])
        report->app.name = build_string(b, json, of_head(m, "app_name"));
    report->app.version = build_string(b, json, of_head(m, "app_version"));
    const char *uuid = build_string(b, json, of_head(m, "app_uuid"));
    if (!report->app.version[0] && uuid[0]) {
        report->app.version = uuid;
        build_note(b, "the app's version is unknown: the report counts by the UUID of the executable");
    }
    if (!report->app.name[0])
        report->app.name = "app";
    m->app_id_len = read_id(m->app_id, uuid);
    build_members(b, json, m->head, known);
    report->process.name = report->app.name;
    build_note(b, "Matrix names no installation here: all such reports count as one");
}

static void read_images(struct memory_report *m)
{
    const struct json *json = m->json;
    uint32_t images = of_head(m, "images"), count = look_count(json, images), at = images + 1;
    if (!modules_begin(&m->modules, m->b, json, count))
        return;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        struct fact begin = look_number(json, look_one(json, at, "vm_str"));
        struct fact end = look_number(json, look_one(json, at, "vm_end"));
        struct fact slide = look_number(json, look_one(json, at, "slide"));
        struct apple_module module = {.begin = begin.value,
                                      .size = end.value > begin.value ? end.value - begin.value : 0,
                                      .vmaddr = {begin.value - slide.value, slide.known && slide.value <= begin.value},
                                      .tie = look_flag(json, look_one(json, at, "is_app")) ? MIRE_TIE_SAME
                                                                                           : MIRE_TIE_UNKNOWN,
                                      .name_at = look_one(json, at, "name")};
        module.id_len = read_id(module.id, look_text(m->b, json, at, "uuid"));
        modules_add(&m->modules, &module);
    }
}

/* Image of the UUID in a frame; -1 if there is none. */
static int32_t image_of(struct memory_report *m, uint32_t uuid_at)
{
    struct recent_image now = {.image = -1}, *before;
    if (!uuid_at || json_kind(m->json, uuid_at) != MIRE_JSON_STRING || json_size(m->json, uuid_at) >= sizeof now.uuid)
        return -1;
    now.len = json_text(now.uuid, m->json, uuid_at);
    uint64_t hash = hash_for_table(0, now.uuid);
    for (size_t i = 0; i < PROBES; i++) {
        before = &m->recent[(hash + i) & (RECENT - 1)];
        if (before->len == now.len && !memcmp(before->uuid, now.uuid, now.len))
            return before->image;
        if (!before->len)
            break;
    }
    struct report_image image = {.name = build_text(m->b, now.uuid, now.len), .from_start = true};
    image.id_len = read_id(image.id, now.uuid);
    if (image.id_len && image.id_len == m->app_id_len && !memcmp(image.id, m->app_id, image.id_len))
        image.tie = MIRE_TIE_SAME;
    if (image.id_len)
        now.image = build_image(m->b, &image);
    *before = now;
    return now.image;
}

/* {uuid, offset}, or a plain address. */
static uint32_t read_frame(struct memory_report *m, uint32_t at, bool caller)
{
    const struct json *json = m->json;
    if (json_kind(json, at) != MIRE_JSON_OBJECT) {
        struct fact address = look_number(json, at);
        return address.known ? modules_frame(&m->modules, address.value, caller, NULL) : MIRE_BUILD_NONE;
    }
    struct fact offset = look_number(json, look_one(json, at, "offset"));
    int32_t image = image_of(m, look_one(json, at, "uuid"));
    uint64_t inside = caller && offset.value ? offset.value - 1 : offset.value;
    const struct report_frame frame = {
        .image = image, .found = MIRE_FOUND_FRAME_POINTER, .offset = image >= 0 ? inside : 0};
    return offset.known ? build_frame(m->b, &frame) : MIRE_BUILD_NONE;
}

/* Allocators call from the innermost frame: every one is a return address. Returns the bytes of all stacks. */
static uint64_t read_stacks(struct memory_report *m, uint32_t item, uint32_t category)
{
    const struct json *json = m->json;
    uint32_t stacks = look_one(json, item, "stacks"), count = look_count(json, stacks), at = stacks + 1;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        uint32_t frames = look_one(json, at, "frames"), depth = look_count(json, frames), frame = frames + 1;
        uint32_t kept = 0;
        for (; kept < depth && kept < FRAMES_MAX; kept++, frame = json_next(json, frame))
            m->frames[kept] = read_frame(m, frame, true);
        if (kept < depth)
            build_note(m->b, "outer ends of stacks of more than %d frames are left out", FRAMES_MAX);
        const struct memory_stack stack = {.category = category,
                                           .node = build_stack(m->b, m->frames, kept),
                                           .count = look_number(json, look_one(json, at, "count")).value,
                                           .bytes = look_number(json, look_one(json, at, "size")).value,
                                           .caller1 = -1};
        build_memory_stack(m->b, &stack);
        sum = stack.bytes > UINT64_MAX - sum ? UINT64_MAX : sum + stack.bytes;
    }
    return sum;
}

static uint64_t bytes_of_stacks(const struct memory_report *m, uint32_t item)
{
    const struct json *json = m->json;
    uint32_t stacks = look_one(json, item, "stacks"), at = stacks + 1;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < look_count(json, stacks); i++, at = json_next(json, at)) {
        uint64_t bytes = look_number(json, look_one(json, at, "size")).value;
        sum = bytes > UINT64_MAX - sum ? UINT64_MAX : sum + bytes;
    }
    return sum;
}

static enum memory_kind kind_of(const char *name)
{
    if (!strncmp(name, "VM: ", 4) || !strcmp(name, "All Anonymous VM"))
        return MIRE_MEMORY_VM;
    bool heap = !strncmp(name, "Malloc ", 7) || !strcmp(name, "Unknow") || !strcmp(name, "Alloc Fail");
    return heap ? MIRE_MEMORY_HEAP : MIRE_MEMORY_OBJECT;
}

static void read_item(struct memory_report *m, uint32_t item)
{
    const struct json *json = m->json;
    struct memory *memory = &m->b->report->memory;
    const char *name = look_text(m->b, json, item, "name");
    const char *scene = look_text(m->b, json, item, "scene");
    struct memory_category category = {.name = !strcmp(name, "Unknow") ? "Unknown"
                                               : name[0]               ? name
                                                                       : "Unknown",
                                       .kind = kind_of(name),
                                       .live_count = look_number(json, look_one(json, item, "count")).value,
                                       .live_bytes = look_number(json, look_one(json, item, "size")).value};
    if (!category.live_bytes && category.live_count)
        category.live_bytes = bytes_of_stacks(m, item);
    category.held_bytes = category.live_bytes;
    if (scene[0] && !memory->name[0])
        memory->name = scene;
    build_scene(m->b, scene);
    if (category.kind != MIRE_MEMORY_VM) {
        memory->live_bytes += category.live_bytes < UINT64_MAX - memory->live_bytes ? category.live_bytes : 0;
        memory->live_count += category.live_count < UINT64_MAX - memory->live_count ? category.live_count : 0;
    }
    (void)read_stacks(m, item, build_category(m->b, &category));
}

enum decode_outcome matrix_memory_document(struct foreign *foreign, const struct json *json)
{
    struct build b;
    struct memory_report *m = arena_alloc(foreign->arena, sizeof *m);
    if (!m)
        return MIRE_DECODE_NO_MEMORY;
    build_begin(&b, NULL, foreign->arena);
    *m = (struct memory_report){.foreign = foreign, .json = json, .b = &b};
    m->head = look_root(json, "head");
    if (m->head && json_kind(json, m->head) != MIRE_JSON_OBJECT)
        return foreign_wrong(foreign, "/head", "must be an object");
    read_head(m);
    read_images(m);
    uint32_t items = look_root(json, "items"), at = items + 1;
    for (uint32_t i = 0; i < look_count(json, items); i++, at = json_next(json, at))
        read_item(m, at);
    build_note(&b, "sizes are rounded up to 16 bytes by Matrix; not every category has stacks");
    if (!b.report->device.model[0])
        b.report->device.model = "";
    if (!build_end(&b))
        return MIRE_DECODE_NO_MEMORY;
    return foreign_report(foreign, b.report, "", b.report->memory.taken_wall_ms.value);
}
