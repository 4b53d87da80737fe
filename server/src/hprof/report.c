/*
 * report.c - see hprof.h: ways and classes as Mire's wire JSON. Beyond the wire's limits the
 * largest classes and ways are told; the sums are of all.
 */
#include "hprof/hprof.h"
#include "hprof/ways.h"

#include "base/id.h"
#include "base/text.h"
#include "json/write.h"
#include "wire/limits.h"
#include "wire/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET_BYTES (184u << 20) /* when pages are given back; SPILL_OVER comes on top */
#define OTHERS       "(other classes)"

static const char *const reasons[WAY_REASONS] = {
    [ROOT_UNKNOWN] = "unknown",   [ROOT_JNI_GLOBAL] = "jni",  [ROOT_LOCAL] = "local",
    [ROOT_CLASS] = "class",       [ROOT_MONITOR] = "monitor", [ROOT_THREAD] = "thread",
    [ROOT_INTERNAL] = "internal", [WAY_SEVERAL] = "several",  [WAY_GARBAGE] = "garbage"};

struct sum { /* of a class, or a way */
    uint32_t row;
    uint64_t count, bytes;
};

struct summary {
    struct heap *heap;
    const struct ways *ways;
    struct sum *classes, *stacks; /* those with objects, by bytes */
    size_t class_count, stack_count;
    uint32_t *category; /* per class */
    uint32_t *node;     /* per way: its node in the report; 0: none */
    uint32_t node_count;
    uint32_t *frame;  /* per label: its frame, and one; 0: none */
    uint32_t *labels; /* per frame */
    uint32_t frame_count;
};

static int by_bytes(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The largest first, without those of no object. */
static size_t sort(struct sum *sums, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (sums[i].count)
            sums[kept++] = sums[i];
    if (kept)
        qsort(sums, kept, sizeof *sums, by_bytes);
    return kept;
}

static bool sum_classes(struct summary *s)
{
    const struct heap *heap = s->heap;
    size_t count = heap->classes.count;
    s->classes = calloc(count + 1, sizeof *s->classes);
    s->category = calloc(count + 1, sizeof *s->category);
    if (!s->classes || !s->category)
        return false;
    for (uint32_t i = 0; i < count; i++)
        s->classes[i].row = i;
    for (uint32_t i = 0; i < heap->count; i++, spill_relax(heap->spill)) {
        s->classes[heap->class_of[i]].count++;
        s->classes[heap->class_of[i]].bytes += heap->bytes[i];
    }
    s->class_count = sort(s->classes, count);
    for (size_t i = 0; i < s->class_count; i++)
        s->category[s->classes[i].row] = i < MIRE_WIRE_CATEGORIES_MAX - 1 ? (uint32_t)i : MIRE_WIRE_CATEGORIES_MAX - 1;
    return true;
}

static bool sum_ways(struct summary *s)
{
    const struct ways *ways = s->ways;
    s->stacks = calloc(ways->count + 1u, sizeof *s->stacks);
    s->node = calloc(ways->count + 1u, sizeof *s->node);
    if (!s->stacks || !s->node)
        return false;
    for (uint32_t i = 0; i < ways->count; i++)
        s->stacks[i] = (struct sum){i, way_class(s->heap, &ways->rows[i]) == UINT32_MAX ? 0 : ways->rows[i].count,
                                    ways->rows[i].bytes};
    s->stack_count = sort(s->stacks, ways->count);
    if (s->stack_count > MIRE_WIRE_STACKS_MAX)
        s->stack_count = MIRE_WIRE_STACKS_MAX;
    for (size_t i = 0; i < s->stack_count; i++) /* with all above them */
        for (uint32_t way = s->stacks[i].row; way && !s->node[way]; way = ways->rows[way].parent)
            s->node[way] = 1;
    for (uint32_t way = 1; way < ways->count; way++)
        if (s->node[way])
            s->node[way] = ++s->node_count;
    return true;
}

/* A frame a label; beyond the limit the labels are those of "several". */
static bool make_frames(struct summary *s)
{
    size_t labels = WAY_REASONS + 2 * s->heap->classes.count;
    s->frame = calloc(labels + 1, sizeof *s->frame);
    s->labels = calloc(MIRE_WIRE_FRAMES_MAX, sizeof *s->labels);
    if (!s->frame || !s->labels)
        return false;
    s->labels[s->frame_count++] = WAY_SEVERAL;
    s->frame[WAY_SEVERAL] = 1;
    for (uint32_t way = 1; way < s->ways->count; way++) {
        uint32_t label = s->ways->rows[way].label;
        if (!s->node[way] || s->frame[label])
            continue;
        if (s->frame_count < MIRE_WIRE_FRAMES_MAX - WAY_REASONS - 2) {
            s->labels[s->frame_count++] = label;
            s->frame[label] = s->frame_count;
        } else {
            s->frame[label] = 1;
        }
    }
    return true;
}

/* ---- the document ---- */

/* Class names are modified UTF-8 of anybody's: what cannot stand in JSON becomes a question mark. */
static void write_name(struct json_writer *w, const char *key, const char *name)
{
    char text[1024];
    size_t len = strlen(name) < sizeof text ? strlen(name) : sizeof text - 1;
    memcpy(text, name, len);
    text[len] = '\0';
    if (!text_is_valid(text, len))
        for (size_t i = 0; i < len; i++)
            if ((unsigned char)text[i] >= 0x80)
                text[i] = '?';
    json_write_text(w, key, text);
}

/* "com.example.Cache", "com.example.Cache.<static>", "jvm.root.thread": rules know them by these names. */
static void write_label(struct json_writer *w, const struct summary *s, uint32_t label)
{
    char text[1100];
    if (label < WAY_REASONS)
        snprintf(text, sizeof text, "jvm.root.%s", reasons[label]);
    else
        snprintf(text, sizeof text, "%s%s", heap_class_at(s->heap, (label - WAY_REASONS) / 2)->name,
                 (label - WAY_REASONS) % 2 ? ".<static>" : "");
    write_name(w, NULL, text);
}

static void write_script(struct json_writer *w, const struct summary *s)
{
    json_write_open(w, MIRE_NAME_SCRIPT, '{');
    json_write_open(w, MIRE_NAME_TEXTS, '[');
    for (uint32_t i = 0; i < s->frame_count; i++)
        write_label(w, s, s->labels[i]);
    json_write_close(w, ']');
    json_write_open(w, MIRE_NAME_FUNCTION, '[');
    for (uint32_t i = 0; i < s->frame_count; i++)
        json_write_u64(w, NULL, i);
    json_write_close(w, ']');
    json_write_close(w, '}');
}

static void write_nodes(struct json_writer *w, const struct summary *s)
{
    json_write_open(w, MIRE_NAME_FRAMES, '{');
    json_write_open(w, MIRE_NAME_IMAGE, '[');
    for (uint32_t i = 0; i < s->frame_count; i++)
        json_write_u64(w, NULL, 0);
    json_write_close(w, ']');
    json_write_open(w, MIRE_NAME_OFFSET, '[');
    for (uint32_t i = 0; i < s->frame_count; i++)
        json_write_u64(w, NULL, i);
    json_write_close(w, ']');
    json_write_close(w, '}');
    json_write_open(w, MIRE_NAME_NODES, '{');
    json_write_open(w, MIRE_NAME_UP, '[');
    for (uint32_t way = 1; way < s->ways->count; way++)
        if (s->node[way])
            json_write_u64(w, NULL, s->node[way] - s->node[s->ways->rows[way].parent]);
    json_write_close(w, ']');
    json_write_open(w, MIRE_NAME_FRAME, '[');
    for (uint32_t way = 1; way < s->ways->count; way++)
        if (s->node[way])
            json_write_u64(w, NULL, s->frame[s->ways->rows[way].label] - 1);
    json_write_close(w, ']');
    json_write_close(w, '}');
}

/* The classes beyond the limit are one category at the end. */
static struct sum others(const struct summary *s)
{
    struct sum sum = {0};
    for (size_t i = MIRE_WIRE_CATEGORIES_MAX - 1; i < s->class_count; i++) {
        sum.count += s->classes[i].count;
        sum.bytes += s->classes[i].bytes;
    }
    return sum;
}

static void write_categories(struct json_writer *w, const struct summary *s)
{
    struct sum rest = others(s);
    size_t count = s->class_count < MIRE_WIRE_CATEGORIES_MAX ? s->class_count : MIRE_WIRE_CATEGORIES_MAX - 1;
    json_write_open(w, MIRE_NAME_CATEGORIES, '{');
    json_write_open(w, MIRE_NAME_NAME, '[');
    for (size_t i = 0; i < count; i++)
        write_name(w, NULL, heap_class_at(s->heap, s->classes[i].row)->name);
    if (rest.count)
        json_write_text(w, NULL, OTHERS);
    json_write_close(w, ']');
    json_write_open(w, MIRE_NAME_KIND, '[');
    for (size_t i = 0; i < count + (rest.count != 0); i++)
        json_write_u64(w, NULL, 2); /* objects of a class */
    json_write_close(w, ']');
    for (int bytes = 0; bytes < 2; bytes++) {
        json_write_open(w, bytes ? MIRE_NAME_LIVE_BYTES : MIRE_NAME_LIVE_COUNT, '[');
        for (size_t i = 0; i < count; i++)
            json_write_u64(w, NULL, bytes ? s->classes[i].bytes : s->classes[i].count);
        if (rest.count)
            json_write_u64(w, NULL, bytes ? rest.bytes : rest.count);
        json_write_close(w, ']');
    }
    json_write_close(w, '}');
}

static void write_stacks(struct json_writer *w, const struct summary *s)
{
    json_write_open(w, MIRE_NAME_STACKS, '{');
    for (int column = 0; column < 4; column++) {
        static const char *const names[] = {MIRE_NAME_CATEGORY, MIRE_NAME_NODE, MIRE_NAME_COUNT, MIRE_NAME_BYTES};
        json_write_open(w, names[column], '[');
        for (size_t i = 0; i < s->stack_count; i++) {
            const struct sum *stack = &s->stacks[i];
            uint32_t class = way_class(s->heap, &s->ways->rows[stack->row]);
            const uint64_t values[] = {s->category[class], s->node[stack->row], stack->count, stack->bytes};
            json_write_u64(w, NULL, values[column]);
        }
        json_write_close(w, ']');
    }
    json_write_close(w, '}');
}

static void write_memory(struct json_writer *w, const struct summary *s, uint64_t wall_ms)
{
    struct sum all = {0};
    for (size_t i = 0; i < s->class_count; i++) {
        all.count += s->classes[i].count;
        all.bytes += s->classes[i].bytes;
    }
    json_write_open(w, MIRE_NAME_MEMORY, '{');
    json_write_text(w, MIRE_NAME_TRIGGER, "demand");
    json_write_text(w, MIRE_NAME_NAME, "heap dump");
    json_write_u64(w, MIRE_NAME_TAKEN_NS, 0);
    if (wall_ms)
        json_write_u64(w, MIRE_NAME_TAKEN_WALL_MS, wall_ms);
    json_write_text(w, MIRE_NAME_MODE, "exact");
    json_write_u64(w, MIRE_NAME_LIVE_BYTES, all.bytes);
    json_write_u64(w, MIRE_NAME_LIVE_COUNT, all.count);
    write_categories(w, s);
    write_stacks(w, s);
    json_write_close(w, '}');
}

/* The same dump has the same id: of its instant, and the number and size of each class's objects. */
static void write_id(struct json_writer *w, const struct summary *s, uint64_t wall_ms)
{
    struct uuid uuid;
    char text[MIRE_UUID_TEXT];
    uuid_derive(&uuid, wall_ms, s->classes, s->class_count * sizeof *s->classes);
    uuid_format(text, &uuid);
    json_write_text(w, MIRE_NAME_ID, text);
}

static void write_all(struct json_writer *w, const struct summary *s, uint64_t wall_ms)
{
    json_write_begin(w);
    json_write_open(w, NULL, '{');
    json_write_u64(w, MIRE_NAME_MIRE, MIRE_WIRE_VERSION);
    write_id(w, s, wall_ms);
    json_write_text(w, MIRE_NAME_KIND, MIRE_NAME_MEMORY);
    json_write_open(w, MIRE_NAME_APP, '{');
    json_write_text(w, MIRE_NAME_NAME, "unknown");
    json_write_text(w, MIRE_NAME_VERSION, "");
    json_write_close(w, '}');
    json_write_open(w, MIRE_NAME_DEVICE, '{');
    json_write_text(w, MIRE_NAME_INSTALL, "00000000000000000000000000000000");
    json_write_text(w, MIRE_NAME_OS, s->heap->android ? "android" : "unknown");
    json_write_text(w, MIRE_NAME_ARCH, "unknown");
    json_write_close(w, '}');
    json_write_open(w, MIRE_NAME_PROCESS, '{');
    json_write_u64(w, MIRE_NAME_PID, 0);
    json_write_text(w, MIRE_NAME_NAME, "unknown");
    json_write_close(w, '}');
    json_write_open(w, MIRE_NAME_IMAGES, '[');
    json_write_open(w, NULL, '{');
    json_write_text(w, MIRE_NAME_NAME, "java");
    json_write_u64(w, MIRE_NAME_LOAD, 0);
    json_write_text(w, MIRE_NAME_SCRIPT, "java heap");
    json_write_close(w, '}');
    json_write_close(w, ']');
    write_script(w, s);
    write_nodes(w, s);
    write_memory(w, s, wall_ms);
    json_write_close(w, '}');
}

static bool refuse(struct hprof_fault *fault, const char *what)
{
    if (!fault->text[0])
        snprintf(fault->text, sizeof fault->text, "%s", what);
    return false;
}

static bool summarize(struct json_writer *w, struct heap *heap, const struct dominators *dominators, uint64_t wall_ms)
{
    struct ways ways;
    struct summary s = {.heap = heap, .ways = &ways};
    bool good = ways_make(&ways, heap, dominators) && sum_classes(&s) && sum_ways(&s) && make_frames(&s);
    if (good)
        write_all(w, &s, wall_ms);
    free(s.classes);
    free(s.category);
    free(s.stacks);
    free(s.node);
    free(s.frame);
    free(s.labels);
    ways_fini(&ways);
    return good && !w->failed;
}

bool hprof_report(char **text_out, size_t *len_out, struct hprof_fault *fault, int fd, const char *dir)
{
    struct hprof_stream stream = {.fd = fd, .buffer = malloc(STREAM_ROOM)};
    struct spill spill;
    struct heap heap;
    struct dominators dominators;
    struct json_writer w = {.text = NULL};
    *fault = (struct hprof_fault){0};
    if (!stream.buffer || !spill_open(&spill, dir, BUDGET_BYTES)) {
        free(stream.buffer);
        return refuse(fault, "no temporary file can be made: set TMPDIR to a folder with room for twice the dump");
    }
    bool good = heap_read(&heap, &spill, &stream, fault);
    if (good && !dominate(&dominators, &heap))
        good = refuse(fault, "the temporary file cannot grow: set TMPDIR to a folder with room for twice the dump");
    if (good && !summarize(&w, &heap, &dominators, stream.wall_ms))
        good = refuse(fault, "out of memory");
    heap_fini(&heap);
    spill_close(&spill);
    free(stream.buffer);
    if (!good)
        free(w.text);
    *text_out = good ? w.text : NULL;
    *len_out = w.len;
    return good;
}
