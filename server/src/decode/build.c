/* build.c - see build.h. Tables are open addressing under a key of their own: names in foreign reports are anybody's. */
#include "decode/build.h"

#include "base/text.h"
#include "wire/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NOTES_MAX 64

/* ---- lists and tables ---- */

void *build_push(struct build *build, struct build_list *list, size_t size, size_t most)
{
    if (list->count >= most) {
        build->left_out++;
        return NULL;
    }
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 64;
        void *rows = build->failed ? NULL : arena_array(build->arena, room, size);
        if (!rows) {
            build->failed = true;
            return NULL;
        }
        if (list->count)
            memcpy(rows, list->rows, list->count * size);
        list->rows = rows;
        list->room = room;
    }
    return (char *)list->rows + size * list->count++;
}

static void put(struct build_table *table, uint32_t row, uint32_t hash)
{
    size_t at = hash & (table->room - 1);
    while (table->rows[at])
        at = (at + 1) & (table->room - 1);
    table->rows[at] = row + 1;
    table->hashes[at] = hash;
}

void build_insert(struct build *build, struct build_table *table, uint32_t hash, size_t row)
{
    if (table->count * 2 >= table->room) { /* a load of at most a half */
        struct build_table wide = {.room = table->room ? table->room * 2 : 256, .count = table->count};
        wide.rows = build->failed ? NULL : arena_array(build->arena, wide.room, sizeof *wide.rows);
        wide.hashes = wide.rows ? arena_array(build->arena, wide.room, sizeof *wide.hashes) : NULL;
        if (!wide.hashes) {
            build->failed = true;
            return;
        }
        for (size_t i = 0; i < table->room; i++)
            if (table->rows[i])
                put(&wide, table->rows[i] - 1, table->hashes[i]);
        *table = wide;
    }
    put(table, (uint32_t)row, hash);
    table->count++;
}

bool build_seek(size_t *row_out, const struct build_table *table, struct build_seek *seek)
{
    size_t mask = table->room - 1;
    if (!table->room)
        return false;
    seek->at = seek->begun ? (seek->at + 1) & mask : seek->hash & mask;
    seek->begun = true;
    for (; table->rows[seek->at]; seek->at = (seek->at + 1) & mask) {
        if (table->hashes[seek->at] != seek->hash)
            continue;
        *row_out = table->rows[seek->at] - 1;
        return true;
    }
    return false;
}

uint32_t build_hash(const struct build *build, const void *bytes, size_t len)
{
    uint64_t hash = hash_short(build->key, bytes, len);
    return (uint32_t)(hash ^ hash >> 32);
}

/* Hash of two words: multiplied by odd numbers nobody knows. */
static uint32_t mix(const struct build *build, uint64_t a, uint64_t b)
{
    uint64_t keys[2];
    memcpy(keys, build->key, sizeof keys);
    uint64_t hash = (a + 1) * (keys[0] | 1);
    hash = (hash ^ hash >> 29 ^ b) * (keys[1] | 1);
    return (uint32_t)(hash >> 32);
}

/* ---- texts ---- */

struct interned {
    const char *text;
    size_t len;
};

static const char *find_text(const struct build *build, const char *bytes, size_t len, uint32_t hash)
{
    const struct interned *texts = build->texts.rows;
    size_t row;
    for (struct build_seek seek = {.hash = hash}; build_seek(&row, &build->text_table, &seek);)
        if (texts[row].len == len && !memcmp(texts[row].text, bytes, len))
            return texts[row].text;
    return NULL;
}

static const char *mended(struct build *build, const char *bytes, size_t len)
{
    struct text text = {0};
    text_add_valid(&text, bytes, len);
    if (text.len > MIRE_WIRE_TEXT_MAX) {
        size_t cut = MIRE_WIRE_TEXT_MAX;
        while (cut && ((unsigned char)text.bytes[cut] & 0xc0) == 0x80)
            cut--;
        text.len = cut;
    }
    const char *copy = text_failed(&text) ? NULL : arena_copy(build->arena, text.len ? text.bytes : "", text.len);
    text_fini(&text);
    return copy;
}

const char *build_text(struct build *build, const char *bytes, size_t len)
{
    if (!bytes || !len || build->failed)
        return "";
    if (len > MIRE_WIRE_TEXT_MAX)
        len = MIRE_WIRE_TEXT_MAX;
    uint32_t hash = build_hash(build, bytes, len);
    const char *found = find_text(build, bytes, len, hash);
    if (found)
        return found;
    const char *copy = text_is_valid(bytes, len) ? arena_copy(build->arena, bytes, len) : mended(build, bytes, len);
    struct interned *row = copy ? build_push(build, &build->texts, sizeof *row, UINT32_MAX - 1) : NULL;
    if (!row) {
        build->failed = true;
        return "";
    }
    *row = (struct interned){copy, strlen(copy)};
    if (row->len == len && !memcmp(copy, bytes, len)) /* else the same bytes are mended again: they are rare */
        build_insert(build, &build->text_table, hash, build->texts.count - 1);
    return copy;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* ---- images and frames ---- */

int32_t build_image(struct build *build, const struct report_image *image)
{
    struct report_image *row = build_push(build, &build->images, sizeof *row, MIRE_WIRE_IMAGES_MAX);
    if (!row)
        return -1;
    *row = *image;
    row->name = or_empty(row->name);
    row->arch = or_empty(row->arch);
    row->script = or_empty(row->script);
    return (int32_t)build->images.count - 1;
}

/* Texts are interned, so a pointer is a text's number. */
static uint32_t hash_place(const struct build *build, const char *a, const char *b, const char *file, uint64_t line)
{
    uint32_t names = mix(build, (uintptr_t)a, (uintptr_t)b);
    uint32_t where = mix(build, (uintptr_t)file, line);
    return mix(build, names, where);
}

static bool same_told(const struct report_told *a, const struct report_told *b)
{
    if (!a || !b)
        return a == b;
    return a->function == b->function && a->file == b->file && a->line == b->line && a->whole == b->whole;
}

uint32_t build_named(struct build *build, int32_t image, uint64_t offset, enum frame_found found,
                     const struct report_told *told)
{
    const struct report_frame *frames = build->frames.rows;
    uint32_t hash = mix(build, (uint64_t)(int64_t)image, offset);
    size_t row;
    if (told && !told->function[0])
        told = NULL;
    if (told)
        hash = mix(build, hash, hash_place(build, told->function, NULL, told->file, told->line));
    for (struct build_seek seek = {.hash = hash}; build_seek(&row, &build->frame_table, &seek);)
        if (frames[row].image == image && frames[row].offset == offset && frames[row].found == (uint8_t)found &&
            same_told(frames[row].told, told))
            return (uint32_t)row;
    struct report_told *copy = told ? arena_alloc(build->arena, sizeof *copy) : NULL;
    build->failed |= told && !copy;
    struct report_frame *frame = build_push(build, &build->frames, sizeof *frame, MIRE_WIRE_FRAMES_MAX);
    if (!frame || build->failed)
        return UINT32_MAX;
    if (copy)
        *copy = *told;
    *frame = (struct report_frame){image, (uint8_t)found, offset, copy};
    build_insert(build, &build->frame_table, hash, build->frames.count - 1);
    return (uint32_t)build->frames.count - 1;
}

uint32_t build_address(struct build *build, int32_t image, uint64_t offset, enum frame_found found)
{
    return build_named(build, image, offset, found, NULL);
}

uint32_t build_java(struct build *build, const struct report_java *place)
{
    const struct report_java *rows = build->java.rows;
    uint32_t hash = hash_place(build, place->class_name, place->method, place->file, place->line);
    size_t row;
    if (build->java_image < 0)
        build->java_image = build_image(build, &(struct report_image){.name = "java", .java = true});
    if (build->java_image < 0)
        return UINT32_MAX;
    for (struct build_seek seek = {.hash = hash}; build_seek(&row, &build->java_table, &seek);)
        if (rows[row].class_name == place->class_name && rows[row].method == place->method &&
            rows[row].file == place->file && rows[row].line == place->line)
            return build_address(build, build->java_image, row, MIRE_FOUND_SCRIPT);
    struct report_java *added = build_push(build, &build->java, sizeof *added, MIRE_WIRE_JAVA_MAX);
    if (!added)
        return UINT32_MAX;
    *added = *place;
    added->number = -1;
    build_insert(build, &build->java_table, hash, build->java.count - 1);
    return build_address(build, build->java_image, build->java.count - 1, MIRE_FOUND_SCRIPT);
}

/* ---- stacks ---- */

uint32_t build_node(struct build *build, uint32_t parent, uint32_t frame)
{
    const struct report_node *nodes = build->nodes.rows;
    uint32_t hash = mix(build, parent, frame);
    size_t row;
    if (frame >= build->frames.count)
        return parent;
    for (struct build_seek seek = {.hash = hash}; build_seek(&row, &build->node_table, &seek);)
        if (nodes[row].parent == parent && nodes[row].frame == frame)
            return (uint32_t)row;
    struct report_node *node = build_push(build, &build->nodes, sizeof *node, MIRE_WIRE_NODES_MAX);
    if (!node)
        return parent;
    *node = (struct report_node){parent, frame};
    build_insert(build, &build->node_table, hash, build->nodes.count - 1);
    return (uint32_t)build->nodes.count - 1;
}

uint32_t build_stack(struct build *build, const uint32_t *frames, size_t count)
{
    uint32_t node = 0;
    while (count-- > 0)
        node = build_node(build, node, frames[count]);
    return node;
}

void build_thread(struct build *build, const struct report_thread *thread)
{
    struct report_thread *row = build_push(build, &build->threads, sizeof *row, MIRE_WIRE_THREADS_MAX);
    if (row)
        *row = *thread;
}

void build_sample(struct build *build, const struct report_sample *sample)
{
    struct report_sample *row = build_push(build, &build->samples, sizeof *row, MIRE_WIRE_SAMPLES_MAX);
    if (row)
        *row = *sample;
}

uint32_t build_category(struct build *build, const struct memory_category *category)
{
    struct memory_category *row = build_push(build, &build->categories, sizeof *row, MIRE_WIRE_CATEGORIES_MAX);
    if (!row)
        return UINT32_MAX;
    *row = *category;
    return (uint32_t)build->categories.count - 1;
}

void build_memory_stack(struct build *build, const struct memory_stack *stack)
{
    struct memory_stack *row = build_push(build, &build->stacks, sizeof *row, MIRE_WIRE_STACKS_MAX);
    if (row)
        *row = *stack;
}

void build_note(struct build *build, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char **row = build_push(build, &build->notes, sizeof *row, NOTES_MAX);
    if (row)
        *row = build_text(build, text, strlen(text));
}

/* ---- the whole ---- */

void build_begin(struct build *build, struct report *report, struct arena *arena)
{
    *build = (struct build){.arena = arena, .report = report, .java_image = -1};
    random_fill(build->key, sizeof build->key);
    *report = (struct report){
        .app = {.name = "", .version = "", .build = "", .channel = "public"},
        .device = {.os = "", .os_version = "", .model = "", .class_name = "", .arch = ""},
        .sdk_name = "",
        .sdk_version = "",
        .process = {.name = "", .path = ""},
        .exit = {.verdict = ""},
        .event = {.trigger = "busy", .name = "", .guess = "", .thread = {.name = ""}},
        .memory = {.trigger = "", .name = "", .footprint_from = ""},
    };
    build_push(build, &build->nodes, sizeof(struct report_node), 1); /* the root, which no lookup finds */
}

static void make_id(char out[37], uint64_t wall_ms, const void *bytes, size_t len)
{
    struct uuid uuid;
    uint8_t hash[32];
    hash_blake2b(hash, sizeof hash, bytes, len);
    memcpy(uuid.bytes, hash, sizeof uuid.bytes);
    for (int i = 0; i < 6; i++)
        uuid.bytes[i] = (uint8_t)(wall_ms >> (40 - 8 * i));
    uuid.bytes[6] = 0x70 | (uuid.bytes[6] & 0x0f);
    uuid.bytes[8] = 0x80 | (uuid.bytes[8] & 0x3f);
    uuid_format(out, &uuid);
}

bool build_finish(struct build *build, uint64_t wall_ms, const void *bytes, size_t len)
{
    struct report *report = build->report;
    if (build->left_out)
        build_note(build, "%zu rows beyond the limits of a report are left out", build->left_out);
    make_id(report->id, wall_ms, bytes, len);
    report->notes = build->notes.rows;
    report->note_count = build->notes.count;
    report->images = build->images.rows;
    report->image_count = build->images.count;
    report->java = build->java.rows;
    report->java_count = build->java.count;
    report->frames = build->frames.rows;
    report->frame_count = build->frames.count;
    report->nodes = build->nodes.rows;
    report->node_count = build->nodes.count;
    report->threads = build->threads.rows;
    report->thread_count = build->threads.count;
    report->event.samples = build->samples.rows;
    report->event.sample_count = build->samples.count;
    report->memory.categories = build->categories.rows;
    report->memory.category_count = build->categories.count;
    report->memory.stacks = build->stacks.rows;
    report->memory.stack_count = build->stacks.count;
    if (!build->failed && report->memory.known && memory_arrange(&report->memory, build->arena))
        build->failed = true;
    return !build->failed;
}
