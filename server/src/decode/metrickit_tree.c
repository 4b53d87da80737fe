/*
 * metrickit_tree.c - see metrickit_tree.h.
 *
 * A tree with callStackPerThread is one chain for each thread; without it is a tree of counts. The root is the thread's
 * entry in the one and its innermost frame in the other, and neither is told: the end at which dyld, start or a thread's
 * first function stands is the entry. offsetIntoBinaryTextSegment is the address at which the module lies, or an offset
 * in it: pages are aligned, which tells the two apart.
 *
 * iOS 27 names the same "callStackThreads" and "rootFrames", and tells the modules' names once, by their UUIDs.
 */
#include "decode/metrickit_tree.h"

#include "decode/apple.h"
#include "decode/metrickit_meta.h"
#include "decode/tree.h"

#include <string.h>

#define PAGE       4096
#define MODULE_MAX (UINT64_C(1) << 31) /* bytes of the largest module believed */
#define NAMES_MAX  1024                /* modules of a tree, to find a name among; a frame of a further one has none */

struct tree_reading {
    const struct json *json;
    struct build *b;
    bool from_leaf;
    uint32_t names;      /* the tree's modules; 0: frames have their names */
    uint32_t unresolved; /* frames whose offset makes no sense */
};

static const char *module_of(struct tree_reading *reading, uint32_t at)
{
    const struct json *json = reading->json;
    const char *name = look_text(reading->b, json, at, "binaryName");
    uint32_t count = look_count(json, reading->names), row = reading->names + 1;
    const char *id = name[0] || !count ? "" : look_text(reading->b, json, at, "binaryUUID");
    for (uint32_t i = 0; id[0] && i < count && i < NAMES_MAX; i++, row = json_next(json, row))
        if (json_kind(json, row) == MIRE_JSON_OBJECT && look_is(json, look_one(json, row, "uuid"), id))
            return look_text(reading->b, json, row, "name");
    return name;
}

static uint32_t read_frame(void *context, uint32_t at, bool caller)
{
    struct tree_reading *reading = context;
    const struct json *json = reading->json;
    struct fact address = look_number(json, look_one(json, at, "address"));
    struct fact value = look_number(json, look_one(json, at, "offsetIntoBinaryTextSegment"));
    struct report_image image = {.name = module_of(reading, at), .from_start = true};
    image.id_len = read_id(image.id, look_text(reading->b, json, at, "binaryUUID"));
    image.arch = reading->b->report->device.arch;
    uint64_t offset;
    if (!address.known && !value.known)
        return MIRE_BUILD_NONE;
    if (!address.known) {
        offset = value.value;
    } else if (value.known && value.value % PAGE == 0 && value.value && value.value <= address.value &&
               address.value - value.value < MODULE_MAX) {
        image.load = value.value;
        offset = address.value - value.value;
    } else if (value.known && value.value <= address.value && (address.value - value.value) % PAGE == 0) {
        image.load = address.value - value.value;
        offset = value.value;
    } else {
        reading->unresolved++;
        offset = address.value;
    }
    const struct report_frame frame = {.image = image.name[0] || image.id_len ? build_image(reading->b, &image) : -1,
                                       .found = caller ? MIRE_FOUND_FRAME_POINTER : MIRE_FOUND_PC,
                                       .offset = caller && offset ? offset - 1 : offset};
    return build_frame(reading->b, &frame);
}

/* Is this a module in which threads begin? */
static bool is_entry(struct tree_reading *reading, uint32_t at)
{
    static const char *const modules[] = {"dyld", "libdyld.dylib", "libsystem_pthread.dylib", "start"};
    const char *name = module_of(reading, at);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (!strcmp(name, modules[i]))
            return true;
    return false;
}

/* The outermost frames of a thread. */
static uint32_t roots_of(const struct json *json, uint32_t thread)
{
    return metrickit_either(json, thread, "callStackRootFrames", "rootFrames");
}

/* Follow the first children, and count the entries at the root's end and at the other. */
static void count_ends(struct tree_reading *reading, uint32_t root, unsigned *at_root, unsigned *at_end)
{
    const struct json *json = reading->json;
    uint32_t at = root, deeper;
    *at_root += is_entry(reading, root);
    while (look_count(json, deeper = look_one(json, at, "subFrames")))
        at = deeper + 1;
    *at_end += at != root && is_entry(reading, at);
}

/* Chains of threads are written from the innermost frame on, trees of counts from the entry on, unless their ends say
 * otherwise. */
static bool is_from_leaf(struct tree_reading *reading, uint32_t stacks, bool per_thread)
{
    const struct json *json = reading->json;
    unsigned at_root = 0, at_end = 0;
    uint32_t at = stacks + 1;
    for (uint32_t i = 0; i < look_count(json, stacks); i++, at = json_next(json, at)) {
        uint32_t roots = roots_of(json, at);
        uint32_t root = roots + 1;
        for (uint32_t k = 0; k < look_count(json, roots); k++, root = json_next(json, root))
            count_ends(reading, root, &at_root, &at_end);
    }
    return at_root == at_end ? per_thread : at_end > at_root;
}

/* --- threads and counts */

/* The chain of a thread: its innermost node. */
static uint32_t read_chain(struct tree_reading *reading, uint32_t roots)
{
    const struct json *json = reading->json;
    uint32_t *frames = arena_array(reading->b->arena, MIRE_FOREIGN_DEPTH_MAX, sizeof *frames);
    size_t count = 0;
    uint32_t at = roots + 1, deeper = look_count(json, roots);
    reading->b->failed |= !frames;
    while (frames && deeper && count < MIRE_FOREIGN_DEPTH_MAX) {
        uint32_t below = look_one(json, at, "subFrames");
        deeper = look_count(json, below);
        frames[count] = read_frame(reading, at, reading->from_leaf ? count > 0 : deeper > 0);
        count++;
        at = below + 1;
    }
    for (size_t i = 0; frames && !reading->from_leaf && i < count / 2; i++) {
        uint32_t other = frames[i];
        frames[i] = frames[count - 1 - i];
        frames[count - 1 - i] = other;
    }
    return frames ? build_stack(reading->b, frames, count) : 0;
}

static void read_threads(struct tree_reading *reading, uint32_t stacks)
{
    const struct json *json = reading->json;
    uint32_t count = look_count(json, stacks), chosen = 0, at = stacks + 1;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at))
        if (!chosen && look_flag(json, look_one(json, at, "threadAttributed")))
            chosen = at;
    chosen = chosen || !count ? chosen : stacks + 1;
    if (reading->b->report->kind == MIRE_REPORT_MEMORY) /* its stacks hold no time */
        chosen = 0;
    at = stacks + 1;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        uint32_t node = read_chain(reading, roots_of(json, at));
        const struct report_thread thread = {
            .tid = i, .name = "", .role = "", .node = node, .state = '?', .syscall = -1};
        const struct report_sample sample = {
            .weight_ms = reading->b->report->event.duration_ms ? reading->b->report->event.duration_ms : 1,
            .node = node,
            .state = '?',
            .syscall = -1,
            .loss = '.'};
        if (at != chosen) {
            build_thread(reading->b, &thread);
            continue;
        }
        build_sample(reading->b, &sample);
        reading->b->report->event.thread.tid = (struct fact){i, true};
    }
    reading->b->report->process.thread_count = (struct fact){count, count != 0};
}

static void read_counts(struct tree_reading *reading, uint32_t stacks)
{
    const struct json *json = reading->json;
    uint64_t counted = 0, more;
    uint32_t at = stacks + 1;
    const struct tree_format format = {.count = "sampleCount",
                                       .children = "subFrames",
                                       .from_leaf = reading->from_leaf,
                                       .unit_ms = 1,
                                       .context = reading,
                                       .frame = read_frame};
    for (uint32_t i = 0; i < look_count(json, stacks); i++, at = json_next(json, at)) {
        tree_samples(&more, reading->b, json, roots_of(json, at), &format);
        counted += more;
    }
    build_note(reading->b, "the tree sums samples of several moments: weights are counts, not times");
}

/* The member of a tree; 0: of the document. */
static uint32_t member_of(const struct json *json, uint32_t tree, const char *name)
{
    return tree ? look_one(json, tree, name) : look_root(json, name);
}

static uint32_t stacks_of(const struct json *json, uint32_t tree)
{
    uint32_t stacks = member_of(json, tree, "callStacks");
    return stacks ? stacks : member_of(json, tree, "callStackThreads");
}

bool metrickit_is_tree(const struct json *json, uint32_t at)
{
    uint32_t stacks = stacks_of(json, at);
    return stacks && json_kind(json, stacks) == MIRE_JSON_ARRAY;
}

void metrickit_tree(struct build *b, const struct json *json, uint32_t tree)
{
    struct tree_reading reading = {.json = json, .b = b, .names = member_of(json, tree, "binaryInfo")};
    uint32_t stacks = stacks_of(json, tree);
    bool per_thread = look_flag(json, member_of(json, tree, "callStackPerThread"));
    if (!look_count(json, stacks)) {
        build_note(b, "the diagnostic has no stacks");
        return;
    }
    reading.from_leaf = is_from_leaf(&reading, stacks, per_thread);
    if (per_thread)
        read_threads(&reading, stacks);
    else if (b->report->kind == MIRE_REPORT_MEMORY)
        build_note(b, "the tree of counts is not kept: it does not show which code holds the memory");
    else
        read_counts(&reading, stacks);
    if (reading.unresolved)
        build_note(b, "%u frames have neither a module's address nor an offset in it: no debug file can name them",
                   reading.unresolved);
}
