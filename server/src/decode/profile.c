/* profile.c - see profile.h. */
#include "decode/profile.h"

#include "wire/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX  (1u << 20)
#define NAMED_MAX 32 /* bytes of a size class' name */

void profile_begin(struct profile_sums *profile, struct build *build)
{
    *profile = (struct profile_sums){.build = build};
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void add_amount(struct profile_amount *to, const struct profile_amount *more)
{
    to->count = sum(to->count, more->count);
    to->bytes = sum(to->bytes, more->bytes);
}

/* ---- size classes, as Mire's own reports have them ---- */

/* The largest size of the class of a block: up to 128 bytes in steps of 16, up to 8 KiB four a doubling, then one. */
static uint64_t class_bytes(uint64_t size)
{
    if (size <= 128)
        return size ? (size + 15) / 16 * 16 : 16;
    unsigned log = 63u - (unsigned)__builtin_clzll(size - 1);
    uint64_t step = log < 13 ? UINT64_C(1) << (log - 2) : UINT64_C(1) << log;
    return log < 40 ? ((size - 1) / step + 1) * step : UINT64_C(1) << 40;
}

static const char *class_name(struct build *build, uint64_t bytes)
{
    static const char *const units[] = {"", " KiB", " MiB", " GiB", " TiB"};
    char name[NAMED_MAX];
    unsigned unit = 0;
    for (; unit < 4 && bytes >= 1024 && bytes % 1024 == 0; unit++)
        bytes /= 1024;
    int len = snprintf(name, sizeof name, "Malloc %llu%s", (unsigned long long)bytes, units[unit]);
    return build_text(build, name, (size_t)len);
}

/* Blocks whose size was not told have the mean size. */
static const char *category_of(struct build *build, const struct profile_row *row)
{
    const struct profile_amount *amount = row->live.count ? &row->live : &row->total;
    if (row->category)
        return row->category;
    uint64_t size = row->block_bytes;
    if (!size && amount->count)
        size = amount->bytes / amount->count;
    return size ? class_name(build, class_bytes(size)) : "Malloc";
}

/* ---- rows ---- */

void profile_add(struct profile_sums *profile, const struct profile_row *row)
{
    struct profile_row *rows = profile->rows.rows;
    const char *category = category_of(profile->build, row);
    const uint64_t words[] = {row->node, (uintptr_t)category};
    uint32_t hash = build_hash(profile->build, words, sizeof words);
    size_t at;
    for (struct build_seek seek = {.hash = hash}; build_seek(&at, &profile->table, &seek);) {
        if (rows[at].node != row->node || rows[at].category != category)
            continue;
        add_amount(&rows[at].live, &row->live);
        add_amount(&rows[at].total, &row->total);
        rows[at].ns = sum(rows[at].ns, row->ns);
        return;
    }
    struct profile_row *added = build_push(profile->build, &profile->rows, sizeof *added, ROWS_MAX);
    if (!added)
        return;
    *added = *row;
    added->category = category;
    build_insert(profile->build, &profile->table, hash, profile->rows.count - 1);
}

static int by_size(const void *a, const void *b)
{
    const struct profile_row *x = a, *y = b;
    uint64_t left = sum(x->ns, sum(x->live.bytes, x->total.bytes));
    uint64_t right = sum(y->ns, sum(y->live.bytes, y->total.bytes));
    if (left != right)
        return left < right ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* The largest first; how many of them a report may have. */
static size_t keep(struct profile_sums *profile, size_t most)
{
    size_t count = profile->rows.count;
    if (count)
        qsort(profile->rows.rows, count, sizeof(struct profile_row), by_size);
    if (count <= most)
        return count;
    build_note(profile->build, "of %zu stacks the %zu largest are kept", count, most);
    return most;
}

/* ---- memory ---- */

static enum memory_kind kind_of(const char *category)
{
    return !strncmp(category, "Malloc", 6) ? MIRE_MEMORY_HEAP
           : !strncmp(category, "VM: ", 4) ? MIRE_MEMORY_VM
                                           : MIRE_MEMORY_OBJECT;
}

/* Categories by name: number in the build's list. */
struct categories {
    struct build_table table;
    struct build_list names;
};

static uint32_t category_number(struct build *build, struct categories *categories, const char *name)
{
    const uint64_t word = (uintptr_t)name;
    uint32_t hash = build_hash(build, &word, sizeof word);
    const char *const *names = categories->names.rows;
    size_t at;
    for (struct build_seek seek = {.hash = hash}; build_seek(&at, &categories->table, &seek);)
        if (names[at] == name)
            return (uint32_t)at;
    uint32_t number = build_category(build, &(struct memory_category){.name = name, .kind = kind_of(name)});
    const char **row =
        number == UINT32_MAX ? NULL : build_push(build, &categories->names, sizeof *row, MIRE_WIRE_CATEGORIES_MAX);
    if (!row)
        return UINT32_MAX;
    *row = name;
    build_insert(build, &categories->table, hash, number);
    return number;
}

/* A row as part of its category, which has all rows, and, if it is among the largest, as a stack. */
static void add_row(struct profile_sums *profile, struct categories *categories, const struct profile_row *row,
                    bool kept)
{
    struct build *build = profile->build;
    struct memory *memory = &build->report->memory;
    uint32_t number = category_number(build, categories, row->category);
    if (number == UINT32_MAX)
        return;
    struct memory_category *category = (struct memory_category *)build->categories.rows + number;
    struct profile_amount total = {category->total_count.value, category->total_bytes.value};
    if (profile->has_total)
        add_amount(&total, &row->total);
    category->live_count = sum(category->live_count, row->live.count);
    category->live_bytes = sum(category->live_bytes, row->live.bytes);
    category->held_bytes = category->live_bytes;
    category->total_count = (struct fact){total.count, profile->has_total};
    category->total_bytes = (struct fact){total.bytes, profile->has_total};
    memory->live_count = sum(memory->live_count, category->kind == MIRE_MEMORY_VM ? 0 : row->live.count);
    memory->live_bytes = sum(memory->live_bytes, category->kind == MIRE_MEMORY_VM ? 0 : row->live.bytes);
    if (kept)
        build_memory_stack(build, &(struct memory_stack){.category = number,
                                                         .node = row->node,
                                                         .count = row->live.count,
                                                         .bytes = row->live.bytes,
                                                         .total_count = {row->total.count, profile->has_total},
                                                         .total_bytes = {row->total.bytes, profile->has_total},
                                                         .caller1 = -1});
}

void profile_end_memory(struct profile_sums *profile, uint64_t taken_wall_ms)
{
    struct report *report = profile->build->report;
    struct categories categories = {.names = {0}};
    size_t kept = keep(profile, MIRE_WIRE_STACKS_MAX);
    report->kind = MIRE_REPORT_MEMORY;
    report->memory.known = true;
    report->memory.trigger = "demand";
    report->memory.sampled = profile->period_bytes > 1;
    if (report->memory.sampled)
        report->memory.interval_bytes = (struct fact){profile->period_bytes, true};
    if (taken_wall_ms)
        report->memory.taken_wall_ms = (struct fact){taken_wall_ms, true};
    for (size_t i = 0; i < profile->rows.count; i++)
        add_row(profile, &categories, (const struct profile_row *)profile->rows.rows + i, i < kept);
}

/* ---- time ---- */

void profile_end_time(struct profile_sums *profile, const char *trigger, uint64_t wall_ms, uint64_t duration_ns,
                      uint64_t period_ns)
{
    struct report_event *event = &profile->build->report->event;
    const struct profile_row *rows = profile->rows.rows;
    size_t kept = keep(profile, MIRE_WIRE_SAMPLES_MAX);
    bool cpu = !strcmp(trigger, "cpu");
    uint64_t all = 0, left = 0;
    rows = profile->rows.rows;
    for (size_t i = 0; i < profile->rows.count; i++)
        all = sum(all, rows[i].ns);
    uint64_t duration_ms = (duration_ns ? duration_ns : all) / 1000000;
    event->trigger = trigger;
    event->threshold_ms = 1;
    event->duration_ms = duration_ms < MIRE_WIRE_DURATION_MAX ? (uint32_t)duration_ms : MIRE_WIRE_DURATION_MAX;
    if (wall_ms)
        event->begin_wall_ms = (struct fact){wall_ms, true};
    if (period_ns / 1000000 && period_ns / 1000000 <= MIRE_WIRE_PERIOD_MAX)
        event->period_ms = (uint32_t)(period_ns / 1000000);
    if (cpu && event->duration_ms)
        event->cpu = (struct report_cpu){
            .known = true, .window_ms = event->duration_ms, .percent = all / 10000 / event->duration_ms};
    for (size_t i = 0; i < kept; i++) {
        uint64_t ms = sum(rows[i].ns, left) / 1000000; /* what rounding loses goes to the next */
        left = sum(rows[i].ns, left) % 1000000;
        build_sample(profile->build, &(struct report_sample){.weight_ms = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX,
                                                             .node = rows[i].node,
                                                             .state = cpu ? 'R' : '?',
                                                             .syscall = -1,
                                                             .loss = '.'});
    }
}

void profile_place(struct report_image *image, uint64_t start, uint64_t offset)
{
    uint64_t begin = start - offset;
    bool fixed = begin < (UINT64_C(1) << 28); /* a program that is not moved lies low, and is linked where it lies */
    image->load = fixed ? 0 : begin;
    image->base = fixed ? begin : 0;
}
