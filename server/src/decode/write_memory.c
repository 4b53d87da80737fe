/* write_memory.c - the section "memory" of a report that is written. */
#include "decode/write_inside.h"

/* A column of facts that all rows have; of none if one lacks it. */
#define FACTS(w, key, rows, count, member)                             \
    do {                                                               \
        bool all = (count) > 0;                                        \
        for (size_t at = 0; at < (count); at++)                        \
            all &= (rows)[at].member.known;                            \
        if (all)                                                       \
            COLUMN(w, key, json_write_u64, rows, count, member.value); \
    } while (0)

static void write_categories(struct json_writer *w, const struct memory *memory)
{
    const struct memory_category *rows = memory->categories;
    size_t count = memory->category_count;
    bool grown = count > 0;
    for (size_t i = 0; i < count; i++)
        grown &= rows[i].grown.known;
    json_write_open(w, MIRE_NAME_CATEGORIES, '{');
    COLUMN(w, MIRE_NAME_NAME, json_write_text, rows, count, name);
    COLUMN(w, MIRE_NAME_KIND, json_write_u64, rows, count, kind);
    COLUMN(w, MIRE_NAME_LIVE_COUNT, json_write_u64, rows, count, live_count);
    COLUMN(w, MIRE_NAME_LIVE_BYTES, json_write_u64, rows, count, live_bytes);
    COLUMN(w, MIRE_NAME_RESIDENT_BYTES, json_write_u64, rows, count, held_bytes);
    FACTS(w, MIRE_NAME_TOTAL_COUNT, rows, count, total_count);
    FACTS(w, MIRE_NAME_TOTAL_BYTES, rows, count, total_bytes);
    FACTS(w, MIRE_NAME_PEAK_COUNT, rows, count, peak_count);
    FACTS(w, MIRE_NAME_PEAK_BYTES, rows, count, peak_bytes);
    if (grown) {
        COLUMN(w, MIRE_NAME_GROWN_COUNT, json_write_i64, rows, count, grown.count);
        COLUMN(w, MIRE_NAME_GROWN_BYTES, json_write_i64, rows, count, grown.bytes);
    }
    FACTS(w, MIRE_NAME_ERROR_COUNT, rows, count, error_count);
    FACTS(w, MIRE_NAME_ERROR_BYTES, rows, count, error_bytes);
    FACTS(w, MIRE_NAME_STACK_COUNT, rows, count, stack_count);
    json_write_close(w, '}');
}

static void write_held(struct json_writer *w, const struct memory *memory)
{
    const struct memory_stack *rows = memory->stacks;
    size_t count = memory->stack_count;
    bool grown = count > 0;
    for (size_t i = 0; i < count; i++)
        grown &= rows[i].grown.known;
    json_write_open(w, MIRE_NAME_STACKS, '{');
    COLUMN(w, MIRE_NAME_CATEGORY, json_write_u64, rows, count, category);
    COLUMN(w, MIRE_NAME_NODE, json_write_u64, rows, count, node);
    COLUMN(w, MIRE_NAME_COUNT, json_write_u64, rows, count, count);
    COLUMN(w, MIRE_NAME_BYTES, json_write_u64, rows, count, bytes);
    FACTS(w, MIRE_NAME_TOTAL_COUNT, rows, count, total_count);
    FACTS(w, MIRE_NAME_TOTAL_BYTES, rows, count, total_bytes);
    FACTS(w, MIRE_NAME_ERROR_COUNT, rows, count, error_count);
    FACTS(w, MIRE_NAME_ERROR_BYTES, rows, count, error_bytes);
    if (grown) {
        COLUMN(w, MIRE_NAME_GROWN_COUNT, json_write_i64, rows, count, grown.count);
        COLUMN(w, MIRE_NAME_GROWN_BYTES, json_write_i64, rows, count, grown.bytes);
    }
    json_write_close(w, '}');
}

static void write_trail(struct json_writer *w, const struct memory *memory)
{
    if (!memory->point_count)
        return;
    json_write_open(w, MIRE_NAME_TRAIL, '{');
    COLUMN(w, MIRE_NAME_AT_MS, json_write_u64, memory->trail, memory->point_count, at_ms);
    COLUMN(w, MIRE_NAME_FOOTPRINT_BYTES, json_write_u64, memory->trail, memory->point_count, footprint_bytes);
    FACTS(w, MIRE_NAME_AVAILABLE_BYTES, memory->trail, memory->point_count, available_bytes);
    json_write_close(w, '}');
}

static void write_monitor(struct json_writer *w, const struct memory *memory)
{
    if (memory->degraded.times) {
        json_write_open(w, MIRE_NAME_DEGRADED, '{');
        json_write_u64(w, MIRE_NAME_TIMES, memory->degraded.times);
        put_fact(w, MIRE_NAME_SINCE_NS, memory->degraded.since_ns);
        json_write_text(w, MIRE_NAME_MODE, memory->degraded.sampled ? "sampled" : "exact");
        put_fact(w, MIRE_NAME_INTERVAL_BYTES, memory->degraded.interval_bytes);
        json_write_close(w, '}');
    }
    write_numbers(w, MIRE_NAME_DROPS, memory->drops, memory->drop_count);
    json_write_open(w, MIRE_NAME_COST, '{');
    put_fact(w, MIRE_NAME_BUDGET_BYTES, memory->cost.budget_bytes);
    put_fact(w, MIRE_NAME_USED_BYTES, memory->cost.used_bytes);
    put_fact(w, MIRE_NAME_CALLS, memory->cost.calls);
    put_fact(w, MIRE_NAME_STACKS, memory->cost.stacks);
    put_fact(w, MIRE_NAME_BUILD_US, memory->cost.build_us);
    json_write_close(w, '}');
}

void report_write_memory(struct json_writer *w, const struct memory *memory)
{
    json_write_open(w, MIRE_NAME_MEMORY, '{');
    json_write_text(w, MIRE_NAME_TRIGGER, memory->trigger);
    put_text(w, MIRE_NAME_NAME, memory->name);
    json_write_u64(w, MIRE_NAME_TAKEN_NS, memory->taken_ns);
    put_fact(w, MIRE_NAME_TAKEN_WALL_MS, memory->taken_wall_ms);
    if (memory->foreground_known)
        json_write_bool(w, MIRE_NAME_FOREGROUND, memory->foreground);
    json_write_text(w, MIRE_NAME_MODE, memory->sampled ? "sampled" : "exact");
    put_fact(w, MIRE_NAME_INTERVAL_BYTES, memory->interval_bytes);
    put_fact(w, MIRE_NAME_FOOTPRINT_BYTES, memory->footprint_bytes);
    put_text(w, MIRE_NAME_FOOTPRINT_FROM, memory->footprint_from);
    put_fact(w, MIRE_NAME_FOOTPRINT_PEAK_BYTES, memory->footprint_peak_bytes);
    put_fact(w, MIRE_NAME_LIMIT_BYTES, memory->limit_bytes);
    put_fact(w, MIRE_NAME_LIMIT_USED_BYTES, memory->limit_used_bytes);
    put_fact(w, MIRE_NAME_THRESHOLD_BYTES, memory->threshold_bytes);
    put_fact(w, MIRE_NAME_EXPLAINED_BYTES, memory->explained_bytes);
    json_write_u64(w, MIRE_NAME_LIVE_BYTES, memory->live_bytes);
    json_write_u64(w, MIRE_NAME_LIVE_COUNT, memory->live_count);
    put_fact(w, MIRE_NAME_ERROR_COUNT, memory->error_count);
    put_fact(w, MIRE_NAME_ERROR_BYTES, memory->error_bytes);
    put_fact(w, MIRE_NAME_MAPPED_BYTES, memory->mapped_bytes);
    put_fact(w, MIRE_NAME_GROWN_MS, memory->grown_ms);
    write_trail(w, memory);
    write_categories(w, memory);
    write_held(w, memory);
    write_monitor(w, memory);
    json_write_close(w, '}');
}
