/*
 * draft.c - the lists of a report grow in its arena; one table finds images, names, frames and children by content.
 */
#include "decode/draft.h"
#include "decode/draft_context.h"

#include "base/hash.h"
#include "base/text.h"
#include "wire/limits.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a number in the table is of: the upper bits of its entry. */
enum draft_list { LIST_IMAGE, LIST_FRAME, LIST_NODE, LIST_SCRIPT, LIST_JAVA, LIST_CATEGORY };
#define LIST_SHIFT 28
#define ROW_MASK   ((1u << LIST_SHIFT) - 1)

void draft_begin(struct draft *b, struct arena *arena)
{
    *b = (struct draft){.arena = arena};
    b->report = (struct report){
        .app = {.name = "", .version = "", .build = "", .channel = "public"},
        .device = {.os = "", .os_version = "", .model = "", .class_name = "", .arch = ""},
        .sdk_name = "",
        .sdk_version = "",
        .process = {.name = "", .path = ""},
        .exit = {.verdict = ""},
        .event = {.trigger = "busy", .name = "", .guess = "", .thread = {.name = ""}},
        .memory = {.trigger = "", .name = "", .footprint_from = ""},
    };
}

static void *row_of(const struct draft_rows *rows, uint32_t i, size_t size)
{
    return (char *)rows->rows + (size_t)i * size;
}

void *draft_row(struct draft *b, struct draft_rows *rows, size_t size, uint32_t most, enum draft_loss loss)
{
    if (b->failed)
        return NULL;
    if (rows->count >= most) {
        b->lost[loss]++;
        return NULL;
    }
    if (rows->count == rows->room) {
        uint32_t room = rows->room ? rows->room * 2 : 32;
        void *more = arena_array(b->arena, room, size);
        b->failed = !more;
        if (!more)
            return NULL;
        if (rows->count)
            memcpy(more, rows->rows, rows->count * size);
        rows->rows = more;
        rows->room = room;
    }
    return row_of(rows, rows->count++, size);
}

static uint32_t cut_length(const char *bytes, size_t len)
{
    size_t most = MIRE_WIRE_TEXT_MAX; /* characters are at least as many bytes */
    if (len <= most)
        return (uint32_t)len;
    while (most && (bytes[most] & 0xc0) == 0x80)
        most--;
    return (uint32_t)most;
}

const char *draft_text(struct draft *b, const char *bytes, size_t len)
{
    len = cut_length(bytes, len);
    char *copy = NULL;
    if (text_is_valid(bytes, len)) {
        copy = arena_copy(b->arena, bytes, len);
    } else {
        struct text mended = {0};
        text_add_valid(&mended, bytes, len);
        if (!text_failed(&mended))
            copy = arena_copy(b->arena, mended.bytes ? mended.bytes : "", cut_length(mended.bytes, mended.len));
        text_fini(&mended);
    }
    b->failed |= !copy;
    return copy ? copy : "";
}

const char *draft_string(struct draft *b, const struct json *json, uint32_t at)
{
    char few[256];
    if (!at || json_kind(json, at) != MIRE_JSON_STRING)
        return "";
    size_t size = json_size(json, at);
    char *plain = size <= sizeof few ? few : arena_alloc(b->arena, size);
    b->failed |= !plain;
    return plain ? draft_text(b, plain, json_text(plain, json, at)) : "";
}

const char *draft_printf(struct draft *b, const char *format, ...)
{
    char text[MIRE_WIRE_TEXT_MAX];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t most = len < 0 ? 0 : (size_t)len;
    return draft_text(b, text, most < sizeof text ? most : sizeof text - 1);
}

/* ---- the table ---- */

struct draft_search {
    enum draft_list list;
    uint64_t hash;
    const void *key;
    bool (*same)(const struct draft *b, uint32_t row, const void *key);
};

static bool widen(struct draft *b)
{
    uint32_t room = b->table_room ? b->table_room * 2 : 1024;
    uint32_t *table = arena_array(b->arena, (size_t)room * 2, sizeof *table);
    b->failed |= !table;
    if (!table)
        return false;
    for (uint32_t i = 0; i < b->table_room; i++) {
        if (!b->table[2 * i])
            continue;
        uint32_t at = b->table[2 * i + 1] & (room - 1);
        while (table[2 * at])
            at = (at + 1) & (room - 1);
        memcpy(&table[2 * at], &b->table[2 * i], 2 * sizeof *table);
    }
    b->table = table;
    b->table_room = room;
    return true;
}

/* Where it is, or where it would go: an entry is list and 1 + row, and its hash. NULL: no memory. */
static uint32_t *find(struct draft *b, const struct draft_search *s)
{
    if (b->failed || (b->table_count * 2 >= b->table_room && !widen(b)))
        return NULL;
    uint32_t hash = (uint32_t)(s->hash ^ s->hash >> 32);
    uint32_t at = hash & (b->table_room - 1);
    for (; b->table[2 * at]; at = (at + 1) & (b->table_room - 1)) {
        uint32_t entry = b->table[2 * at];
        if (b->table[2 * at + 1] == hash && entry >> LIST_SHIFT == (uint32_t)s->list &&
            s->same(b, (entry & ROW_MASK) - 1, s->key))
            break;
    }
    return &b->table[2 * at];
}

static bool is_there(uint32_t *row_out, const uint32_t *entry)
{
    *row_out = (*entry & ROW_MASK) - 1;
    return *entry != 0;
}

static void enter(struct draft *b, uint32_t *entry, const struct draft_search *s, uint32_t row)
{
    entry[0] = (uint32_t)s->list << LIST_SHIFT | (row + 1);
    entry[1] = (uint32_t)(s->hash ^ s->hash >> 32);
    b->table_count++;
}

static uint64_t hash_begin(enum draft_list list)
{
    return fnv_step(MIRE_HASH_START, (uint64_t)list);
}

/* Lower bits choose the place: stir them once more. */
static uint64_t stir(uint64_t hash)
{
    hash ^= hash >> 29;
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 32;
}

/* ---- images, names, frames, nodes ---- */

static bool same_image(const struct draft *b, uint32_t row, const void *key)
{
    const struct report_image *x = row_of(&b->images, row, sizeof *x), *y = key;
    return x->load == y->load && x->java == y->java && x->id_len == y->id_len && !memcmp(x->id, y->id, x->id_len) &&
           !strcmp(x->name, y->name) && !strcmp(x->script, y->script);
}

int32_t draft_image(struct draft *b, const struct report_image *image)
{
    struct report_image copy = *image;
    uint32_t row;
    copy.arch = image->arch ? image->arch : "";
    copy.script = image->script ? image->script : "";
    uint64_t hash = fnv_step(fnv_text(hash_begin(LIST_IMAGE), copy.name), copy.load);
    const struct draft_search s = {LIST_IMAGE, stir(fnv_bytes(hash, copy.id, copy.id_len)), &copy, same_image};
    uint32_t *entry = find(b, &s);
    if (!entry)
        return -1;
    if (is_there(&row, entry))
        return (int32_t)row;
    struct report_image *added = draft_row(b, &b->images, sizeof *added, MIRE_WIRE_IMAGES_MAX, MIRE_DRAFT_IMAGES);
    if (!added)
        return -1;
    *added = copy;
    enter(b, entry, &s, b->images.count - 1);
    return (int32_t)b->images.count - 1;
}

static bool same_name(const struct draft *b, uint32_t row, const void *key)
{
    const struct report_script *x = row_of(&b->scripts, row, sizeof *x), *y = key;
    return x->line == y->line && !strcmp(x->function, y->function) && !strcmp(x->file, y->file);
}

uint32_t draft_name(struct draft *b, const char *function, const char *file, uint32_t line)
{
    const struct report_script key = {function, file, line < INT32_MAX ? line : 0};
    uint32_t row;
    if (!function[0])
        return 0;
    uint64_t hash = fnv_text(fnv_step(fnv_text(hash_begin(LIST_SCRIPT), function), key.line), file);
    const struct draft_search s = {LIST_SCRIPT, stir(hash), &key, same_name};
    uint32_t *entry = find(b, &s);
    if (!entry)
        return 0;
    if (is_there(&row, entry))
        return row + 1;
    struct report_script *added = draft_row(b, &b->scripts, sizeof *added, MIRE_WIRE_SCRIPT_MAX / 4, MIRE_DRAFT_NAMES);
    if (!added)
        return 0;
    *added = key;
    enter(b, entry, &s, b->scripts.count - 1);
    return b->scripts.count;
}

static bool same_java(const struct draft *b, uint32_t row, const void *key)
{
    const struct report_java *x = row_of(&b->java, row, sizeof *x), *y = key;
    return x->line == y->line && x->number == y->number && !strcmp(x->class_name, y->class_name) &&
           !strcmp(x->method, y->method) && !strcmp(x->file, y->file);
}

uint32_t draft_java(struct draft *b, const struct report_java *java)
{
    struct report_java copy = *java;
    uint32_t row;
    copy.line = java->line <= INT32_MAX ? java->line : 0;
    uint64_t hash = fnv_step(fnv_step(hash_begin(LIST_JAVA), copy.line), (uint64_t)copy.number);
    hash = fnv_text(fnv_text(fnv_text(hash, copy.class_name), copy.method), copy.file);
    const struct draft_search s = {LIST_JAVA, stir(hash), &copy, same_java};
    uint32_t *entry = find(b, &s);
    if (!entry)
        return MIRE_DRAFT_NONE;
    if (is_there(&row, entry))
        return row;
    struct report_java *added = draft_row(b, &b->java, sizeof *added, MIRE_WIRE_JAVA_MAX / 4, MIRE_DRAFT_NAMES);
    if (!added)
        return MIRE_DRAFT_NONE;
    *added = copy;
    enter(b, entry, &s, b->java.count - 1);
    return b->java.count - 1;
}

static bool same_frame(const struct draft *b, uint32_t row, const void *key)
{
    const struct draft_frame *x = row_of(&b->frames, row, sizeof *x), *y = key;
    return x->image == y->image && x->offset == y->offset && x->name == y->name && x->found == y->found;
}

uint32_t draft_frame(struct draft *b, const struct draft_frame *frame)
{
    uint32_t row;
    uint64_t hash = fnv_step(fnv_step(hash_begin(LIST_FRAME), (uint32_t)frame->image), frame->offset);
    const struct draft_search s = {LIST_FRAME, stir(fnv_step(hash, frame->name)), frame, same_frame};
    uint32_t *entry = find(b, &s);
    if (!entry)
        return MIRE_DRAFT_NONE;
    if (is_there(&row, entry))
        return row;
    struct draft_frame *added = draft_row(b, &b->frames, sizeof *added, MIRE_WIRE_FRAMES_MAX, MIRE_DRAFT_FRAMES);
    if (!added)
        return MIRE_DRAFT_NONE;
    *added = *frame;
    enter(b, entry, &s, b->frames.count - 1);
    return b->frames.count - 1;
}

/* Rows of nodes begin with node 1. */
static bool same_node(const struct draft *b, uint32_t row, const void *key)
{
    const struct report_node *x = row_of(&b->nodes, row, sizeof *x), *y = key;
    return x->parent == y->parent && x->frame == y->frame;
}

uint32_t draft_node(struct draft *b, uint32_t parent, uint32_t frame)
{
    const struct report_node key = {parent, frame};
    uint32_t row;
    if (frame == MIRE_DRAFT_NONE)
        return parent;
    const struct draft_search s = {LIST_NODE, stir(fnv_step(fnv_step(hash_begin(LIST_NODE), parent), frame)), &key,
                                   same_node};
    uint32_t *entry = find(b, &s);
    if (!entry)
        return parent;
    if (is_there(&row, entry))
        return row + 1;
    struct report_node *added = draft_row(b, &b->nodes, sizeof *added, MIRE_WIRE_NODES_MAX, MIRE_DRAFT_NODES);
    if (!added)
        return parent;
    *added = key;
    enter(b, entry, &s, b->nodes.count - 1);
    return b->nodes.count;
}

uint32_t draft_stack(struct draft *b, const uint32_t *frames, size_t count)
{
    uint32_t node = 0;
    while (count--)
        node = draft_node(b, node, frames[count]);
    return node;
}

/* ---- rows ---- */

void draft_sample(struct draft *b, const struct report_sample *sample)
{
    struct report_sample *row = draft_row(b, &b->samples, sizeof *row, MIRE_WIRE_SAMPLES_MAX, MIRE_DRAFT_SAMPLES);
    if (row)
        *row = *sample;
}

void draft_thread(struct draft *b, const struct report_thread *thread)
{
    struct report_thread *row = draft_row(b, &b->threads, sizeof *row, MIRE_WIRE_THREADS_MAX, MIRE_DRAFT_THREADS);
    if (row)
        *row = *thread;
}

static bool same_category(const struct draft *b, uint32_t row, const void *key)
{
    const struct memory_category *x = row_of(&b->categories, row, sizeof *x), *y = key;
    return x->kind == y->kind && !strcmp(x->name, y->name);
}

/* Sums stay at the most that fits. */
static uint64_t add_up(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint32_t draft_category(struct draft *b, const struct memory_category *category)
{
    uint32_t row;
    const struct draft_search s = {LIST_CATEGORY,
                                   stir(fnv_text(fnv_step(hash_begin(LIST_CATEGORY), category->kind), category->name)),
                                   category, same_category};
    uint32_t *entry = find(b, &s);
    if (!entry)
        return MIRE_DRAFT_NONE;
    if (is_there(&row, entry)) {
        struct memory_category *there = row_of(&b->categories, row, sizeof *there);
        there->live_count = add_up(there->live_count, category->live_count);
        there->live_bytes = add_up(there->live_bytes, category->live_bytes);
        there->held_bytes = add_up(there->held_bytes, category->held_bytes);
        return row;
    }
    struct memory_category *added =
        draft_row(b, &b->categories, sizeof *added, MIRE_WIRE_CATEGORIES_MAX, MIRE_DRAFT_CATEGORIES);
    if (!added)
        return MIRE_DRAFT_NONE;
    *added = *category;
    enter(b, entry, &s, b->categories.count - 1);
    return b->categories.count - 1;
}

void draft_held(struct draft *b, const struct memory_stack *stack)
{
    struct memory_stack *row;
    if (stack->category == MIRE_DRAFT_NONE)
        return;
    row = draft_row(b, &b->stacks, sizeof *row, MIRE_WIRE_STACKS_MAX, MIRE_DRAFT_STACKS);
    if (row)
        *row = *stack;
}

void draft_note(struct draft *b, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len < 0)
        return;
    const char **notes = b->notes.rows;
    const char *line = draft_text(b, text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1);
    for (uint32_t i = 0; i < b->notes.count; i++)
        if (!strcmp(notes[i], line))
            return;
    if (b->notes.count < MIRE_WIRE_NOTES_MAX) {
        const char **row = draft_row(b, &b->notes, sizeof *row, MIRE_WIRE_NOTES_MAX, MIRE_DRAFT_LOSSES - 1);
        if (row)
            *row = line;
    }
}

/* ---- the end ---- */

static int by_time(const void *a, const void *b)
{
    const struct report_sample *x = a, *y = b;
    return (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms);
}

/* qsort is not stable, but is asked for only where the order is wrong. */
static void order_samples(const struct draft_rows *samples)
{
    struct report_sample *rows = samples->rows;
    for (uint32_t i = 1; i < samples->count; i++) {
        if (rows[i].at_ms < rows[i - 1].at_ms) {
            qsort(rows, samples->count, sizeof *rows, by_time);
            return;
        }
    }
}

static void note_losses(struct draft *b)
{
    static const char *const names[MIRE_DRAFT_LOSSES] = {"images",  "frames",     "stack nodes",       "names",
                                                         "samples", "threads",    "memory categories", "memory stacks",
                                                         "tags",    "breadcrumbs"};
    for (int i = 0; i < MIRE_DRAFT_LOSSES; i++)
        if (b->lost[i])
            draft_note(b, "%" PRIu64 " %s are left out: the report has more than Mire keeps", b->lost[i], names[i]);
}

static bool end_memory(struct draft *b)
{
    struct memory *memory = &b->report.memory;
    if (b->report.kind != MIRE_REPORT_MEMORY)
        return true;
    memory->known = true;
    memory->categories = b->categories.rows;
    memory->category_count = b->categories.count;
    memory->stacks = b->stacks.rows;
    memory->stack_count = b->stacks.count;
    for (size_t i = 0; i < memory->category_count; i++)
        if (!memory_is_beside(&memory->categories[i]))
            memory->held_bytes = add_up(memory->held_bytes, memory->categories[i].held_bytes);
    return memory_arrange(memory, b->arena) == 0;
}

/* Frames with their names. */
static struct report_frame *end_frames(struct draft *b)
{
    const struct draft_frame *from = b->frames.rows;
    const struct report_script *names = b->scripts.rows;
    struct report_frame *frames = arena_array(b->arena, b->frames.count, sizeof *frames);
    struct report_told *told = arena_array(b->arena, b->scripts.count, sizeof *told);
    if (!frames || !told)
        return NULL;
    for (uint32_t i = 0; i < b->scripts.count; i++)
        told[i] = (struct report_told){names[i].function, names[i].file, names[i].line, false};
    for (uint32_t i = 0; i < b->frames.count; i++)
        frames[i] = (struct report_frame){.image = from[i].image,
                                          .found = from[i].found,
                                          .offset = from[i].offset,
                                          .told = from[i].name ? &told[from[i].name - 1] : NULL};
    return frames;
}

bool draft_end(struct draft *b)
{
    struct report *report = &b->report;
    struct report_frame *frames = end_frames(b);
    struct report_node *nodes = arena_array(b->arena, (size_t)b->nodes.count + 1, sizeof *nodes);
    if (!nodes || !frames)
        return false;
    if (b->nodes.count)
        memcpy(nodes + 1, b->nodes.rows, b->nodes.count * sizeof *nodes);
    draft_end_context(b);
    note_losses(b);
    order_samples(&b->samples);
    report->images = b->images.rows;
    report->image_count = b->images.count;
    report->scripts = b->scripts.rows;
    report->script_count = b->scripts.count;
    report->java = b->java.rows;
    report->java_count = b->java.count;
    report->frames = frames;
    report->frame_count = b->frames.count;
    report->nodes = nodes;
    report->node_count = (size_t)b->nodes.count + 1;
    report->threads = b->threads.rows;
    report->thread_count = b->threads.count;
    report->event.samples = b->samples.rows;
    report->event.sample_count = b->samples.count;
    report->notes = b->notes.rows;
    report->note_count = b->notes.count;
    return !b->failed && end_memory(b) && !b->failed;
}
