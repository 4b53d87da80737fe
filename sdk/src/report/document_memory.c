/*
 * document_memory.c - the report of a memory draft. Columns are written straight from the draft's rows.
 */
#include "report/memory_draft.h"

#include "report/document.h"
#include "report/parts.h"

#include "base/alloc.h"

#include <string.h>

/* ---- columns ---- */

/* One value of a row. */
typedef uint64_t value_fn(const struct memory_draft *draft, uint32_t i);
typedef int64_t change_fn(const struct memory_draft *draft, uint32_t i);

static void column(struct wire *wire, const char *key, const struct memory_draft *draft, uint32_t count,
                   value_fn *value)
{
    mire__wire_array(wire, key);
    for (uint32_t i = 0; i < count; i++)
        mire__wire_u64(wire, NULL, value(draft, i));
    mire__wire_end(wire);
}

static void change_column(struct wire *wire, const char *key, const struct memory_draft *draft, uint32_t count,
                          change_fn *change)
{
    mire__wire_array(wire, key);
    for (uint32_t i = 0; i < count; i++)
        mire__wire_i64(wire, NULL, change(draft, i));
    mire__wire_end(wire);
}

static uint64_t whole(double value)
{
    return value < 1.8e19 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

/* Rows of the tables, then the gauges. */
static const struct memory_row *row_at(const struct memory_draft *draft, uint32_t rank)
{
    return rank < draft->row_count ? &draft->rows[draft->ranked[rank]] : &draft->gauges[rank - draft->row_count];
}

static uint64_t kind_of(const struct memory_draft *draft, uint32_t i)
{
    return i < draft->row_count ? mire__memory_kind(draft->ranked[i]) : MIRE_KIND_GAUGE;
}
static uint64_t live_count(const struct memory_draft *draft, uint32_t i)
{
    return whole(row_at(draft, i)->live.count);
}
static uint64_t live_bytes(const struct memory_draft *draft, uint32_t i)
{
    return whole(row_at(draft, i)->live.bytes);
}
static uint64_t resident_bytes(const struct memory_draft *draft, uint32_t i)
{
    bool known = i < draft->row_count && (draft->knows_parts || kind_of(draft, i) == 1);

    return whole(known ? row_at(draft, i)->resident_bytes : row_at(draft, i)->live.bytes);
}
static uint64_t total_count(const struct memory_draft *draft, uint32_t i)
{
    return row_at(draft, i)->now.total_count;
}
static uint64_t total_bytes(const struct memory_draft *draft, uint32_t i)
{
    return row_at(draft, i)->now.total_bytes;
}
static uint64_t peak_count(const struct memory_draft *draft, uint32_t i)
{
    return row_at(draft, i)->now.peak_count;
}
static uint64_t peak_bytes(const struct memory_draft *draft, uint32_t i)
{
    return row_at(draft, i)->now.peak_bytes;
}
static int64_t grown_count(const struct memory_draft *draft, uint32_t i)
{
    return (int64_t)(live_count(draft, i) - row_at(draft, i)->before.count);
}
static int64_t grown_bytes(const struct memory_draft *draft, uint32_t i)
{
    return (int64_t)(live_bytes(draft, i) - row_at(draft, i)->before.bytes);
}
static uint64_t error_count(const struct memory_draft *draft, uint32_t i)
{
    return whole(mire__draw_half_count(&row_at(draft, i)->spread));
}
static uint64_t error_bytes(const struct memory_draft *draft, uint32_t i)
{
    return whole(mire__draw_half_bytes(&row_at(draft, i)->spread));
}
static uint64_t stack_count(const struct memory_draft *draft, uint32_t i)
{
    return row_at(draft, i)->stack_count;
}

static void write_categories(struct wire *wire, const struct memory_draft *draft)
{
    uint32_t count = draft->row_count + draft->gauge_count;

    mire__wire_object(wire, MIRE_NAME_CATEGORIES);
    mire__wire_array(wire, MIRE_NAME_NAME);
    for (uint32_t i = 0; i < count; i++)
        mire__wire_text(wire, NULL, row_at(draft, i)->now.name, MIRE_CATEGORY_NAME_BYTES);
    mire__wire_end(wire);
    column(wire, MIRE_NAME_KIND, draft, count, kind_of);
    column(wire, MIRE_NAME_LIVE_COUNT, draft, count, live_count);
    column(wire, MIRE_NAME_LIVE_BYTES, draft, count, live_bytes);
    if (draft->knows_resident)
        column(wire, MIRE_NAME_RESIDENT_BYTES, draft, count, resident_bytes);
    if (draft->exact) {
        column(wire, MIRE_NAME_TOTAL_COUNT, draft, count, total_count);
        column(wire, MIRE_NAME_TOTAL_BYTES, draft, count, total_bytes);
        column(wire, MIRE_NAME_PEAK_COUNT, draft, count, peak_count);
        column(wire, MIRE_NAME_PEAK_BYTES, draft, count, peak_bytes);
    }
    if (draft->before) {
        change_column(wire, MIRE_NAME_GROWN_COUNT, draft, count, grown_count);
        change_column(wire, MIRE_NAME_GROWN_BYTES, draft, count, grown_bytes);
    }
    if (!draft->exact) {
        column(wire, MIRE_NAME_ERROR_COUNT, draft, count, error_count);
        column(wire, MIRE_NAME_ERROR_BYTES, draft, count, error_bytes);
    }
    column(wire, MIRE_NAME_STACK_COUNT, draft, count, stack_count);
    mire__wire_end(wire);
}

/* ---- stacks ---- */

static uint64_t stack_category(const struct memory_draft *draft, uint32_t i)
{
    return draft->stacks[i].rank;
}
static uint64_t stack_node(const struct memory_draft *draft, uint32_t i)
{
    return draft->stacks[i].node;
}
static uint64_t stack_blocks(const struct memory_draft *draft, uint32_t i)
{
    return draft->stacks[i].count;
}
static uint64_t stack_bytes(const struct memory_draft *draft, uint32_t i)
{
    return draft->stacks[i].bytes;
}
static uint64_t stack_error_count(const struct memory_draft *draft, uint32_t i)
{
    return whole(mire__draw_half_count(&draft->stacks[i].spread));
}
static uint64_t stack_error_bytes(const struct memory_draft *draft, uint32_t i)
{
    return whole(mire__draw_half_bytes(&draft->stacks[i].spread));
}
static int64_t stack_grown_count(const struct memory_draft *draft, uint32_t i)
{
    return (int64_t)(draft->stacks[i].count - draft->stacks[i].before.count);
}
static int64_t stack_grown_bytes(const struct memory_draft *draft, uint32_t i)
{
    return (int64_t)(draft->stacks[i].bytes - draft->stacks[i].before.bytes);
}

static void write_stacks(struct wire *wire, const struct memory_draft *draft)
{
    uint32_t count = draft->stack_count;

    mire__wire_object(wire, MIRE_NAME_STACKS);
    column(wire, MIRE_NAME_CATEGORY, draft, count, stack_category);
    column(wire, MIRE_NAME_NODE, draft, count, stack_node);
    column(wire, MIRE_NAME_COUNT, draft, count, stack_blocks);
    column(wire, MIRE_NAME_BYTES, draft, count, stack_bytes);
    if (!draft->exact) {
        column(wire, MIRE_NAME_ERROR_COUNT, draft, count, stack_error_count);
        column(wire, MIRE_NAME_ERROR_BYTES, draft, count, stack_error_bytes);
    }
    if (draft->before) {
        change_column(wire, MIRE_NAME_GROWN_COUNT, draft, count, stack_grown_count);
        change_column(wire, MIRE_NAME_GROWN_BYTES, draft, count, stack_grown_bytes);
    }
    mire__wire_end(wire);
}

/* ---- footprint ---- */

/* The available memory: the rest of the limit, or of the machine's memory if that is less. */
static uint64_t available(const struct trail_row *row)
{
    uint64_t below_limit = row->limit_bytes > row->used_bytes ? row->limit_bytes - row->used_bytes : 0;

    return row->limit_bytes > 0 && below_limit < row->available_bytes ? below_limit : row->available_bytes;
}

/* The values at the end, if they are known better than by the last look. */
struct last_point {
    bool known;
    uint64_t at_ms, footprint_bytes, available_bytes;
};

static struct last_point last_point(const struct memory_draft *draft)
{
    const struct memory_said *said = draft->said;
    const struct trail_row *last = said->trail_rows > 0 ? &said->trail[said->trail_rows - 1] : NULL;
    uint64_t seen_ns = last ? atomic_load_explicit(&last->boot_ns, memory_order_relaxed) : 0, grown;
    struct last_point point = {.known = last && draft->knows_parts && draft->footprint_from > MIRE_FOOTPRINT_LOOK &&
                                        said->trail_rows < MIRE_WIRE_TRAIL_MAX};

    point.footprint_bytes = whole(draft->footprint_bytes);
    point.known = point.known && point.footprint_bytes > last->footprint_bytes;
    if (!point.known)
        return point;
    grown = point.footprint_bytes > last->footprint_bytes ? point.footprint_bytes - last->footprint_bytes : 0;
    point.available_bytes = available(last) > grown ? available(last) - grown : 0;
    point.at_ms = seen_ns > said->facts->start_boot_ns ? (seen_ns - said->facts->start_boot_ns) / MIRE_NS_PER_MS : 0;
    if (said->taken_ns > said->facts->start_mono_ns + point.at_ms * MIRE_NS_PER_MS)
        point.at_ms = (said->taken_ns - said->facts->start_mono_ns) / MIRE_NS_PER_MS;
    return point;
}

static void write_trail(struct wire *wire, const struct memory_draft *draft)
{
    const struct memory_said *said = draft->said;
    const uint64_t start_ns = said->facts->start_boot_ns;
    const struct last_point end = last_point(draft);

    if (said->trail_rows == 0)
        return;
    mire__wire_object(wire, MIRE_NAME_TRAIL);
    mire__wire_array(wire, MIRE_NAME_AT_MS);
    for (uint32_t i = 0; i < said->trail_rows; i++) {
        uint64_t at_ns = atomic_load_explicit(&said->trail[i].boot_ns, memory_order_relaxed);

        mire__wire_u64(wire, NULL, at_most(at_ns > start_ns ? (at_ns - start_ns) / MIRE_NS_PER_MS : 0, UINT32_MAX));
    }
    if (end.known)
        mire__wire_u64(wire, NULL, at_most(end.at_ms, UINT32_MAX));
    mire__wire_end(wire);
    mire__wire_array(wire, MIRE_NAME_FOOTPRINT_BYTES);
    for (uint32_t i = 0; i < said->trail_rows; i++)
        mire__wire_u64(wire, NULL, said->trail[i].footprint_bytes);
    if (end.known)
        mire__wire_u64(wire, NULL, end.footprint_bytes);
    mire__wire_end(wire);
    mire__wire_array(wire, MIRE_NAME_AVAILABLE_BYTES);
    for (uint32_t i = 0; i < said->trail_rows; i++)
        mire__wire_u64(wire, NULL, available(&said->trail[i]));
    if (end.known)
        mire__wire_u64(wire, NULL, end.available_bytes);
    mire__wire_end(wire);
    mire__wire_end(wire);
}

/* Memory in use by mappings of this kind. */
static double mapped_in_use(const struct memory_draft *draft, uint32_t kind)
{
    const struct memory_row *row = &draft->rows[MIRE_CATEGORY_KINDS + kind];

    return draft->knows_resident ? row->resident_bytes : row->live.bytes;
}

/* Thread stacks without a look count as 0: most of their address space is never touched. */
static uint64_t explained(const struct memory_draft *draft, uint64_t footprint_bytes)
{
    double sum = draft->all.live.bytes + (double)draft->facts.used_bytes;

    sum += mapped_in_use(draft, MIRE_KIND_ANONYMOUS) + mapped_in_use(draft, MIRE_KIND_SHARED);
    if (draft->knows_resident)
        sum += mapped_in_use(draft, MIRE_KIND_STACK);
    return at_most(whole(sum), footprint_bytes);
}

static const char *from_name(enum footprint_from from)
{
    static const char *const names[] = {[MIRE_FOOTPRINT_NOW] = "now",
                                        [MIRE_FOOTPRINT_LOOK] = "look",
                                        [MIRE_FOOTPRINT_TABLES] = "tables",
                                        [MIRE_FOOTPRINT_EXIT] = "exit"};

    return names[from];
}

static void write_footprint(struct wire *wire, const struct memory_draft *draft)
{
    const struct memory_said *said = draft->said;
    const struct trail_row *last = said->trail_rows > 0 ? &said->trail[said->trail_rows - 1] : NULL;
    uint64_t looked = last ? last->footprint_bytes : 0;
    uint64_t footprint = draft->knows_parts ? whole(draft->footprint_bytes) : looked;
    double unexplained = draft->rows[MIRE_CATEGORY_PARTS + MIRE_PART_UNEXPLAINED].resident_bytes;

    if (draft->knows_parts || last)
        mire__wire_u64(wire, MIRE_NAME_FOOTPRINT_BYTES, footprint);
    if (draft->knows_parts)
        mire__wire_text(wire, MIRE_NAME_FOOTPRINT_FROM, from_name(draft->footprint_from), SIZE_MAX);
    if (said->footprint_peak_bytes > 0)
        mire__wire_u64(wire, MIRE_NAME_FOOTPRINT_PEAK_BYTES,
                       said->footprint_peak_bytes > footprint ? said->footprint_peak_bytes : footprint);
    if (last && last->limit_bytes > 0) {
        mire__wire_u64(wire, MIRE_NAME_LIMIT_BYTES, last->limit_bytes);
        mire__wire_u64(wire, MIRE_NAME_LIMIT_USED_BYTES, last->used_bytes);
    }
    if (said->threshold_bytes > 0)
        mire__wire_u64(wire, MIRE_NAME_THRESHOLD_BYTES, said->threshold_bytes);
    if (draft->knows_parts)
        mire__wire_u64(wire, MIRE_NAME_EXPLAINED_BYTES, whole(draft->footprint_bytes - unexplained));
    else if (last)
        mire__wire_u64(wire, MIRE_NAME_EXPLAINED_BYTES, explained(draft, footprint));
}

/* ---- the monitor ---- */

static const char *mode_name(bool exact)
{
    return exact ? "exact" : "sampled";
}

static void write_degraded(struct wire *wire, const struct heap_facts *facts)
{
    if (facts->degrade_count == 0)
        return;
    mire__wire_object(wire, MIRE_NAME_DEGRADED);
    mire__wire_u64(wire, MIRE_NAME_TIMES, facts->degrade_count);
    mire__wire_u64(wire, MIRE_NAME_SINCE_NS, facts->degraded_ns);
    mire__wire_text(wire, MIRE_NAME_MODE, mode_name(facts->asked_mode == MIRE_HEAP_EXACT), SIZE_MAX);
    if (facts->asked_mode == MIRE_HEAP_SAMPLED)
        mire__wire_u64(wire, MIRE_NAME_INTERVAL_BYTES, facts->asked_interval_bytes);
    mire__wire_end(wire);
}

static void write_monitor(struct wire *wire, const struct memory_draft *draft)
{
    const struct heap_facts *facts = &draft->facts;

    write_degraded(wire, facts);
    mire__wire_object(wire, MIRE_NAME_DROPS);
    for (int i = 0; i < MIRE_HEAP_DROPS; i++)
        if (facts->drops[i] > 0)
            mire__wire_u64(wire, mire__read_drop_name(i), facts->drops[i]);
    mire__wire_end(wire);
    mire__wire_object(wire, MIRE_NAME_COST);
    mire__wire_u64(wire, MIRE_NAME_BUDGET_BYTES, facts->budget_bytes);
    mire__wire_u64(wire, MIRE_NAME_USED_BYTES, facts->used_bytes);
    if (draft->exact)
        mire__wire_u64(wire, MIRE_NAME_CALLS, facts->allocated_count + facts->freed_count);
    mire__wire_u64(wire, MIRE_NAME_STACKS, draft->tally.pair_count);
    mire__wire_u64(wire, MIRE_NAME_BUILD_US, draft->build_ns / 1000);
    mire__wire_end(wire);
}

/* ---- all of it ---- */

static void write_memory(struct wire *wire, const struct memory_draft *draft)
{
    const struct memory_said *said = draft->said;

    mire__wire_object(wire, MIRE_NAME_MEMORY);
    mire__wire_text(wire, MIRE_NAME_TRIGGER, said->trigger, SIZE_MAX);
    if (said->name)
        mire__wire_text(wire, MIRE_NAME_NAME, said->name, SIZE_MAX);
    mire__wire_u64(wire, MIRE_NAME_TAKEN_NS, said->taken_ns);
    if (said->taken_wall_ms > 0)
        mire__wire_u64(wire, MIRE_NAME_TAKEN_WALL_MS, said->taken_wall_ms);
    if (said->ground != MIRE_GROUND_UNKNOWN)
        mire__wire_bool(wire, MIRE_NAME_FOREGROUND, said->ground == MIRE_GROUND_FORE);
    mire__wire_text(wire, MIRE_NAME_MODE, mode_name(draft->exact), SIZE_MAX);
    if (!draft->exact)
        mire__wire_u64(wire, MIRE_NAME_INTERVAL_BYTES, draft->facts.interval_bytes);
    write_footprint(wire, draft);
    mire__wire_u64(wire, MIRE_NAME_LIVE_BYTES, whole(draft->all.live.bytes));
    mire__wire_u64(wire, MIRE_NAME_LIVE_COUNT, whole(draft->all.live.count));
    if (!draft->exact) {
        mire__wire_u64(wire, MIRE_NAME_ERROR_COUNT, whole(mire__draw_half_count(&draft->all.spread)));
        mire__wire_u64(wire, MIRE_NAME_ERROR_BYTES, whole(mire__draw_half_bytes(&draft->all.spread)));
    }
    mire__wire_u64(wire, MIRE_NAME_MAPPED_BYTES, whole(draft->mapped_bytes));
    if (draft->before)
        mire__wire_u64(wire, MIRE_NAME_GROWN_MS, (said->taken_ns - draft->before->taken_ns) / MIRE_NS_PER_MS);
    write_trail(wire, draft);
    write_categories(wire, draft);
    write_stacks(wire, draft);
    write_monitor(wire, draft);
    mire__wire_end(wire);
}

/* The tie of every image to a package; NULL: no memory. */
static enum package_tie *find_ties(const struct memory_draft *draft)
{
    char(*texts)[MIRE_PATH_BYTES] = mire__calloc(draft->image_count + 1, sizeof(*texts));
    const char **paths = mire__calloc(draft->image_count + 1, sizeof(*paths));
    enum package_tie *ties = NULL;
    struct heap_read_image image;

    for (uint32_t i = 0; texts && paths && i < draft->image_count; i++) {
        if (mire__read_image(&image, draft->reader, draft->images[i]) && image.path_bytes < MIRE_PATH_BYTES)
            memcpy(texts[i], image.path, image.path_bytes);
        paths[i] = texts[i];
    }
    if (texts && paths)
        ties = mire__packages_ties(draft->said->facts->exe_path, paths, draft->image_count);
    mire__free(paths);
    mire__free(texts);
    return ties;
}

static void write_images(struct wire *wire, const struct memory_draft *draft)
{
    enum package_tie *ties = find_ties(draft);

    mire__wire_array(wire, MIRE_NAME_IMAGES);
    for (uint32_t i = 0; i < draft->image_count; i++) {
        struct document_image row = {.path = ""};
        struct heap_read_image image;

        if (mire__read_image(&image, draft->reader, draft->images[i]))
            row = (struct document_image){.path = image.path,
                                          .path_size = image.path_bytes,
                                          .id = image.id,
                                          .id_size = image.id_size,
                                          .base = image.base,
                                          .load = image.load,
                                          .size = image.end - image.start,
                                          .tie = ties ? ties[i] : MIRE_PACKAGE_UNKNOWN};
        mire__document_image(wire, &row, draft->said->facts->arch);
    }
    mire__document_script_images(wire, &draft->scripts);
    mire__wire_end(wire);
    mire__free(ties);
}

void mire__memory_document_write(struct wire *wire, const struct memory_draft *draft)
{
    const struct memory_said *said = draft->said;

    mire__document_head(wire, said->id, MIRE_NAME_MEMORY, said->facts, said->use);
    mire__document_context(wire, said->app, said->facts);
    write_images(wire, draft);
    mire__document_script(wire, &draft->scripts);
    mire__document_trie(wire, &draft->trie, false);
    write_memory(wire, draft);
    mire__document_exit(wire, said->end);
    mire__document_drops(wire, said->attached);
    mire__wire_end(wire);
}
