/* memory.c - the reports of memory of inside.h. Names are those that the device knows. */
#include "seed/held.h"
#include "seed/inside.h"

#include "json/write.h"

#include <math.h>
#include <stdio.h>

#define POINTS         24 /* of the trail */
#define GROWN_MS       60000
#define INTERVAL_BYTES (512 * 1024)
#define NODES_MAX      64

struct trie {
    size_t count;
    uint32_t parent[NODES_MAX], function[NODES_MAX]; /* of node i + 1; 0 is the root */
};

struct held_stack {
    uint32_t category; /* row of the wire */
    uint32_t node;
    const struct seed_row *row;
    uint64_t count, bytes, grown_count, grown_bytes;
};

/* A report that is being written. */
struct memory_writing {
    struct json_writer w;
    const struct seed_memory *memory;
    struct seed_held held;
    bool sampled;
    uint32_t order[SEED_CATEGORIES]; /* rows of held, most live bytes first */
    struct trie trie;
    struct held_stack stacks[NODES_MAX];
    size_t stack_count;
};

static uint32_t child_of(struct trie *trie, uint32_t parent, uint32_t function)
{
    for (size_t i = 0; i < trie->count; i++)
        if (trie->parent[i] == parent && trie->function[i] == function)
            return (uint32_t)i + 1;
    trie->parent[trie->count] = parent;
    trie->function[trie->count] = function;
    return (uint32_t)++trie->count;
}

static uint32_t node_of(struct trie *trie, const struct seed_site *site)
{
    uint32_t node = child_of(trie, 0, site->functions[0]);

    for (size_t i = 1; i < SEED_STACK_FRAMES && site->functions[i]; i++)
        node = child_of(trie, node, site->functions[i]);
    return node;
}

static void sort_rows(struct memory_writing *writing)
{
    for (uint32_t i = 0; i < SEED_CATEGORIES; i++) {
        uint32_t at = i;

        for (; at && writing->held.rows[writing->order[at - 1]].live_bytes < writing->held.rows[i].live_bytes; at--)
            writing->order[at] = writing->order[at - 1];
        writing->order[at] = i;
    }
}

/* The share of a site in its row: the leaked bytes are the first site's alone. */
static void add_stack(struct memory_writing *writing, uint32_t category, const struct seed_site *site, bool first)
{
    const struct seed_row *row = &writing->held.rows[site->category];
    uint64_t unit = row->count ? row->live_bytes / row->count : 0;
    struct held_stack *stack = &writing->stacks[writing->stack_count++];

    *stack = (struct held_stack){.category = category, .node = node_of(&writing->trie, site), .row = row};
    stack->count = (row->count - row->leaked_count) * site->percent / 100 + (first ? row->leaked_count : 0);
    stack->bytes = stack->count * unit;
    stack->grown_count = first ? row->grown_count : 0;
    stack->grown_bytes = first ? row->grown_bytes : 0;
}

static void find_stacks(struct memory_writing *writing)
{
    for (uint32_t i = 0; i < SEED_CATEGORIES; i++)
        for (size_t at = 0; at < seed_site_count; at++)
            if (seed_sites[at].category == writing->order[i])
                add_stack(writing, i, &seed_sites[at], !at || seed_sites[at - 1].category != seed_sites[at].category);
}

static void write_images(struct json_writer *w, const char *app)
{
    static const char *const libraries[SEED_IMAGES] = {[SEED_PIXBUF] = "libgdk_pixbuf-2.0.so.0",
                                                       [SEED_PANGO] = "libpango-1.0.so.0",
                                                       [SEED_GOBJECT] = "libgobject-2.0.so.0"};
    char path[128];

    json_write_open(w, "images", '[');
    snprintf(path, sizeof path, "/opt/%s/bin/%s", app, app);
    seed_write_image(w, path, 0x555500000000u, true);
    for (uint64_t i = SEED_PIXBUF; i < SEED_IMAGES; i++) {
        snprintf(path, sizeof path, "/usr/lib/x86_64-linux-gnu/%s", libraries[i]);
        seed_write_image(w, path, 0x7f0000000000u + (i << 24), false);
    }
    json_write_close(w, ']');
}

static void write_stacks_of_functions(struct json_writer *w, const struct trie *trie)
{
    json_write_open(w, "script", '{');
    JSON_WRITE_LIST(w, "texts", text, seed_function_count, seed_functions[i].name);
    JSON_WRITE_LIST(w, "function", u64, seed_function_count, i);
    json_write_close(w, '}');
    json_write_open(w, "frames", '{');
    JSON_WRITE_LIST(w, "image", u64, seed_function_count, seed_functions[i].image);
    JSON_WRITE_LIST(w, "offset", u64, seed_function_count, 0x100000 + 256 * i);
    JSON_WRITE_LIST(w, "name", u64, seed_function_count, i);
    json_write_close(w, '}');
    json_write_open(w, "nodes", '{');
    JSON_WRITE_LIST(w, "up", u64, trie->count, i + 1 - trie->parent[i]);
    JSON_WRITE_LIST(w, "frame", u64, trie->count, trie->function[i]);
    json_write_close(w, '}');
}

/* Half of a 95 % interval of an amount of which a byte in INTERVAL_BYTES is drawn. */
static uint64_t error_of(uint64_t bytes)
{
    return (uint64_t)(1.96 * sqrt((double)bytes * INTERVAL_BYTES));
}

static uint64_t error_count_of(uint64_t count, uint64_t bytes)
{
    return bytes ? (uint64_t)((double)error_of(bytes) * (double)count / (double)bytes) : 0;
}

static size_t stacks_of(const struct memory_writing *writing, size_t category)
{
    size_t count = 0;

    for (size_t i = 0; i < writing->stack_count; i++)
        count += writing->stacks[i].category == category;
    return count;
}

static void write_categories(struct json_writer *w, const struct memory_writing *writing)
{
#define ROW (&writing->held.rows[writing->order[i]])
#define ERR (ROW->kind == 1 ? 0 : ROW->live_bytes) /* mappings are all seen */
    json_write_open(w, "categories", '{');
    JSON_WRITE_LIST(w, "name", text, SEED_CATEGORIES, ROW->name);
    JSON_WRITE_LIST(w, "kind", u64, SEED_CATEGORIES, ROW->kind);
    JSON_WRITE_LIST(w, "live_count", u64, SEED_CATEGORIES, ROW->count);
    JSON_WRITE_LIST(w, "live_bytes", u64, SEED_CATEGORIES, ROW->live_bytes);
    JSON_WRITE_LIST(w, "resident_bytes", u64, SEED_CATEGORIES, ROW->resident_bytes);
    JSON_WRITE_LIST(w, "grown_count", u64, SEED_CATEGORIES, ROW->grown_count);
    JSON_WRITE_LIST(w, "grown_bytes", u64, SEED_CATEGORIES, ROW->grown_bytes);
    JSON_WRITE_LIST(w, "stack_count", u64, SEED_CATEGORIES, stacks_of(writing, i));
    if (writing->sampled) {
        JSON_WRITE_LIST(w, "error_count", u64, SEED_CATEGORIES, error_count_of(ROW->count, ERR));
        JSON_WRITE_LIST(w, "error_bytes", u64, SEED_CATEGORIES, ROW->count ? error_of(ERR) : 0);
    }
    json_write_close(w, '}');
#undef ROW
#undef ERR
}

static void write_stacks(struct json_writer *w, const struct memory_writing *writing)
{
#define STACK (&writing->stacks[i])
#define ERR   (STACK->row->kind == 1 ? 0 : STACK->bytes)
    json_write_open(w, "stacks", '{');
    JSON_WRITE_LIST(w, "category", u64, writing->stack_count, STACK->category);
    JSON_WRITE_LIST(w, "node", u64, writing->stack_count, STACK->node);
    JSON_WRITE_LIST(w, "count", u64, writing->stack_count, STACK->count);
    JSON_WRITE_LIST(w, "bytes", u64, writing->stack_count, STACK->bytes);
    JSON_WRITE_LIST(w, "grown_count", u64, writing->stack_count, STACK->grown_count);
    JSON_WRITE_LIST(w, "grown_bytes", u64, writing->stack_count, STACK->grown_bytes);
    if (writing->sampled) {
        JSON_WRITE_LIST(w, "error_count", u64, writing->stack_count, error_count_of(STACK->count, ERR));
        JSON_WRITE_LIST(w, "error_bytes", u64, writing->stack_count, error_of(ERR));
    }
    json_write_close(w, '}');
#undef STACK
#undef ERR
}

/* A healthy process soon has its size; a leak grows faster and faster. */
static uint64_t footprint_at(const struct memory_writing *writing, size_t point)
{
    double part = (point + 1.0) / POINTS, begin = 60e6, end = (double)writing->held.footprint_bytes;

    return (uint64_t)(begin + (end - begin) * (writing->memory->leak == SEED_NO_LEAK ? sqrt(part) : part * part));
}

static void write_trail(struct json_writer *w, const struct memory_writing *writing, uint64_t limit)
{
    json_write_open(w, "trail", '{');
    JSON_WRITE_LIST(w, "at_ms", u64, POINTS, (i + 1) * writing->memory->run_ms / POINTS);
    JSON_WRITE_LIST(w, "footprint_bytes", u64, POINTS, footprint_at(writing, i));
    JSON_WRITE_LIST(w, "available_bytes", u64, POINTS, limit - footprint_at(writing, i));
    json_write_close(w, '}');
}

static void write_memory(struct json_writer *w, const struct memory_writing *writing, uint64_t limit)
{
    const struct seed_memory *memory = writing->memory;
    const struct seed_held *held = &writing->held;

    json_write_open(w, "memory", '{');
    json_write_text(w, "trigger", memory->trigger);
    json_write_u64(w, "taken_ns", memory->run_ms * UINT64_C(1000000));
    json_write_u64(w, "taken_wall_ms", (uint64_t)memory->device_us / 1000);
    json_write_bool(w, "foreground", true);
    json_write_text(w, "mode", writing->sampled ? "sampled" : "exact");
    if (writing->sampled) {
        json_write_u64(w, "interval_bytes", INTERVAL_BYTES);
        json_write_u64(w, "error_count", error_count_of(held->live_count, held->live_bytes));
        json_write_u64(w, "error_bytes", error_of(held->live_bytes));
    }
    json_write_u64(w, "footprint_bytes", held->footprint_bytes);
    json_write_text(w, "footprint_from", memory->killed ? "look" : "now");
    json_write_u64(w, "footprint_peak_bytes", held->footprint_bytes);
    json_write_u64(w, "limit_bytes", limit);
    json_write_u64(w, "limit_used_bytes", held->footprint_bytes);
    json_write_u64(w, "explained_bytes", held->footprint_bytes - held->unexplained_bytes);
    json_write_u64(w, "live_bytes", held->live_bytes);
    json_write_u64(w, "live_count", held->live_count);
    json_write_u64(w, "mapped_bytes", held->mapped_bytes);
    json_write_u64(w, "grown_ms", GROWN_MS);
    write_trail(w, writing, limit);
    write_categories(w, writing);
    write_stacks(w, writing);
    json_write_close(w, '}');
}

/* docs/exits.md has the words. */
static void write_exit(struct json_writer *w, const struct memory_writing *writing, uint64_t limit)
{
    static const char *const signs[] = {"foreground", "near_limit", "oom_counted", "not_stuck"};

    json_write_open(w, "exit", '{');
    json_write_text(w, "verdict", "foom");
    json_write_u64(w, "confidence_ppm", 960000);
    JSON_WRITE_LIST(w, "for", text, sizeof signs / sizeof *signs, signs[i]);
    json_write_u64(w, "signal", 9);
    json_write_bool(w, "foreground", true);
    json_write_u64(w, "seen_wall_ms", (uint64_t)writing->memory->device_us / 1000);
    json_write_u64(w, "footprint_bytes", writing->held.footprint_bytes);
    json_write_u64(w, "limit_bytes", limit);
    json_write_u64(w, "limit_used_bytes", writing->held.footprint_bytes);
    json_write_u64(w, "oom_kills", 1);
    json_write_close(w, '}');
}

bool seed_write_memory(struct text *out, const char *app, const struct uuid *id, const struct seed_session *session,
                       struct seed_memory *memory, uint64_t *state)
{
    uint64_t limit = seed_limit_bytes(session->install);
    struct memory_writing writing = {.memory = memory};
    struct json_writer *w = &writing.w;

    seed_hold(&writing.held, state, memory->leak, memory->footprint_bytes);
    writing.sampled = seed_roll(state, 4) == 0;
    memory->footprint_bytes = writing.held.footprint_bytes;
    sort_rows(&writing);
    find_stacks(&writing);
    seed_write_head(w, "memory", app, id, session);
    seed_write_process(w, app);
    write_images(w, app);
    write_stacks_of_functions(w, &writing.trie);
    write_memory(w, &writing, limit);
    if (memory->killed)
        write_exit(w, &writing, limit);
    return seed_finish(out, w);
}
