/* build_rows.c - see build.h: images, names, frames, nodes and the rows of the report. */
#include "decode/build.h"

#include "wire/limits.h"

#include <string.h>

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* A limit as a line's number; beyond it none. */
static uint32_t line_of(uint64_t line)
{
    return line <= INT32_MAX ? (uint32_t)line : 0;
}

/* ---- images ---- */

static bool same_image(const struct report_image *x, const struct report_image *y)
{
    return x->load == y->load && x->java == y->java && x->id_len == y->id_len && !memcmp(x->id, y->id, x->id_len) &&
           !strcmp(x->name, y->name) && !strcmp(x->script, y->script);
}

int32_t build_image(struct build *build, const struct report_image *image)
{
    struct report_image copy = *image;
    size_t row;
    copy.name = or_empty(image->name);
    copy.arch = or_empty(image->arch);
    copy.script = or_empty(image->script);
    uint32_t names = build_mix(build, build_hash(build, copy.name, strlen(copy.name)), copy.load);
    uint32_t hash = build_mix(build, names, build_hash(build, copy.id, copy.id_len));
    for (struct build_seek seek = {.hash = hash}; build_seek(&row, &build->image_table, &seek);)
        if (same_image((const struct report_image *)build->images.rows + row, &copy))
            return (int32_t)row;
    struct report_image *added = build_push(build, &build->images, sizeof *added, MIRE_WIRE_IMAGES_MAX);
    if (!added)
        return -1;
    *added = copy;
    build_insert(build, &build->image_table, hash, build->images.count - 1);
    return (int32_t)build->images.count - 1;
}

/* ---- names ---- */

static uint32_t hash_place(const struct build *build, const char *a, const char *b, const char *file, uint64_t line)
{
    uint32_t names = build_mix(build, (uintptr_t)a, (uintptr_t)b);
    uint32_t where = build_mix(build, (uintptr_t)file, line);
    return build_mix(build, names, where);
}

/* The one that is equal to it. */
static const struct report_names *copy_names(struct build *build, const struct report_names *named)
{
    struct report_names *const *rows = build->names.rows;
    uint32_t hash = hash_place(build, named->function, named->whole ? "" : NULL, named->file, named->line);
    size_t row;
    for (struct build_seek seek = {.hash = hash}; build_seek(&row, &build->name_table, &seek);)
        if (rows[row]->function == named->function && rows[row]->file == named->file &&
            rows[row]->line == named->line && rows[row]->whole == named->whole)
            return rows[row];
    struct report_names *copy = build->failed ? NULL : arena_alloc(build->arena, sizeof *copy);
    struct report_names **added = copy ? build_push(build, &build->names, sizeof *added, MIRE_WIRE_SCRIPT_MAX) : NULL;
    build->failed |= !copy;
    if (!added)
        return NULL;
    *copy = *named;
    *added = copy;
    build_insert(build, &build->name_table, hash, build->names.count - 1);
    return copy;
}

const struct report_names *build_name(struct build *build, const char *function, const char *file, uint32_t line)
{
    return function[0] ? copy_names(build, &(struct report_names){function, file, line_of(line), false}) : NULL;
}

uint32_t build_script(struct build *build, const char *function, const char *file, uint32_t line)
{
    const struct report_script *rows = build->scripts.rows, key = {function, file, line_of(line)};
    uint32_t hash = hash_place(build, function, NULL, file, key.line);
    size_t row;
    for (struct build_seek seek = {.hash = hash}; build_seek(&row, &build->script_table, &seek);)
        if (rows[row].function == function && rows[row].file == file && rows[row].line == key.line)
            return (uint32_t)row + 1;
    struct report_script *added = build_push(build, &build->scripts, sizeof *added, MIRE_WIRE_SCRIPT_MAX / 4);
    if (!added)
        return 0;
    *added = key;
    build_insert(build, &build->script_table, hash, build->scripts.count - 1);
    return (uint32_t)build->scripts.count;
}

uint32_t build_java_row(struct build *build, const struct report_java *place)
{
    const struct report_java *rows = build->java.rows;
    struct report_java copy = *place;
    size_t row;
    copy.line = line_of(place->line);
    uint32_t where = hash_place(build, copy.class_name, copy.method, copy.file, copy.line);
    uint32_t hash = build_mix(build, where, (uint64_t)copy.number);
    for (struct build_seek seek = {.hash = hash}; build_seek(&row, &build->java_table, &seek);)
        if (rows[row].class_name == copy.class_name && rows[row].method == copy.method && rows[row].file == copy.file &&
            rows[row].line == copy.line && rows[row].number == copy.number)
            return (uint32_t)row;
    struct report_java *added = build_push(build, &build->java, sizeof *added, MIRE_WIRE_JAVA_MAX / 4);
    if (!added)
        return MIRE_BUILD_NONE;
    *added = copy;
    build_insert(build, &build->java_table, hash, build->java.count - 1);
    return (uint32_t)build->java.count - 1;
}

/* ---- frames and nodes ---- */

uint32_t build_frame(struct build *build, const struct report_frame *frame)
{
    const struct report_frame *rows = build->frames.rows;
    uint32_t hash = build_mix(build, (uint64_t)(int64_t)frame->image ^ (uintptr_t)frame->names, frame->offset);
    size_t row;
    for (struct build_seek seek = {.hash = hash}; build_seek(&row, &build->frame_table, &seek);)
        if (rows[row].image == frame->image && rows[row].offset == frame->offset && rows[row].found == frame->found &&
            rows[row].names == frame->names)
            return (uint32_t)row;
    struct report_frame *added = build_push(build, &build->frames, sizeof *added, MIRE_WIRE_FRAMES_MAX);
    if (!added)
        return MIRE_BUILD_NONE;
    *added = *frame;
    build_insert(build, &build->frame_table, hash, build->frames.count - 1);
    return (uint32_t)build->frames.count - 1;
}

uint32_t build_named(struct build *build, int32_t image, uint64_t offset, enum frame_found found,
                     const struct report_names *named)
{
    return build_frame(build,
                       &(struct report_frame){.image = image,
                                              .found = (uint8_t)found,
                                              .offset = offset,
                                              .names = named && named->function[0] ? copy_names(build, named) : NULL});
}

uint32_t build_address(struct build *build, int32_t image, uint64_t offset, enum frame_found found)
{
    return build_named(build, image, offset, found, NULL);
}

uint32_t build_java(struct build *build, const struct report_java *place)
{
    struct report_java copy = *place;
    copy.number = -1;
    if (build->java_image < 0)
        build->java_image = build_image(build, &(struct report_image){.name = "java", .java = true});
    uint32_t row = build->java_image < 0 ? MIRE_BUILD_NONE : build_java_row(build, &copy);
    return row == MIRE_BUILD_NONE ? row : build_address(build, build->java_image, row, MIRE_FOUND_SCRIPT);
}

uint32_t build_node(struct build *build, uint32_t parent, uint32_t frame)
{
    const struct report_node *nodes = build->nodes.rows;
    uint32_t hash = build_mix(build, parent, frame);
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

/* ---- rows ---- */

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

/* Sums stay at the most that fits. */
static uint64_t add_up(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint32_t build_category(struct build *build, const struct memory_category *category)
{
    struct memory_category *rows = build->categories.rows;
    uint32_t hash = build_mix(build, build_hash(build, category->name, strlen(category->name)), category->kind);
    size_t row;
    for (struct build_seek seek = {.hash = hash}; build_seek(&row, &build->category_table, &seek);) {
        if (rows[row].kind != category->kind || strcmp(rows[row].name, category->name) != 0)
            continue;
        rows[row].live_count = add_up(rows[row].live_count, category->live_count);
        rows[row].live_bytes = add_up(rows[row].live_bytes, category->live_bytes);
        rows[row].held_bytes = add_up(rows[row].held_bytes, category->held_bytes);
        return (uint32_t)row;
    }
    struct memory_category *added = build_push(build, &build->categories, sizeof *added, MIRE_WIRE_CATEGORIES_MAX);
    if (!added)
        return MIRE_BUILD_NONE;
    *added = *category;
    build_insert(build, &build->category_table, hash, build->categories.count - 1);
    return (uint32_t)build->categories.count - 1;
}

void build_memory_stack(struct build *build, const struct memory_stack *stack)
{
    struct memory_stack *row = stack->category == MIRE_BUILD_NONE
                                   ? NULL
                                   : build_push(build, &build->stacks, sizeof *row, MIRE_WIRE_STACKS_MAX);
    if (row)
        *row = *stack;
}
