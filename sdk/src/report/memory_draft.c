/*
 * memory_draft.c - one pass over blocks and mappings, then the selection of categories and stacks.
 */
#include "report/memory_draft.h"

#include "base/alloc.h"
#include "platform/own.h"
#include "platform/platform.h"
#include "report/parts.h"

#include <stdlib.h>
#include <string.h>

/* Frames of one stack in a report, innermost first; the tables have fewer. */
#define DEPTH_MAX 256u

/* ---- the pass ---- */

static void add(struct memory_row *row, const struct heap_live *live)
{
    row->live.count += 1 / live->chance;
    row->live.bytes += (double)live->size / live->chance;
    mire__draw_add(&row->spread, live->size, live->chance);
}

static bool on_block(void *context, const struct heap_live *live)
{
    struct memory_draft *draft = context;
    struct memory_row *row = &draft->rows[live->category];
    uint64_t held = draft->said->areas ? mire__pieces_add_block(&draft->pieces, live) : live->size;

    add(row, live);
    row->resident_bytes += (double)held / live->chance;
    draft->rounding_bytes += (double)mire__part_rounding(live->size) / live->chance;
    mire__tally_add(&draft->tally, live->category, live->node, live->size, live->chance);
    if (++draft->blocks_read % MIRE_MEMORY_STRIDE == 0 && draft->said->on_read)
        draft->said->on_read(draft->said->context);
    return true;
}

/* Is the mapping an allocator's, for blocks? The stacks of the blocks show the users of this memory. */
static bool is_for_blocks(uint32_t category)
{
    return category == MIRE_CATEGORY_KINDS + MIRE_KIND_BRK || category == MIRE_CATEGORY_KINDS + MIRE_KIND_ALLOCATOR;
}

static bool on_region(void *context, const struct heap_live *live)
{
    struct memory_draft *draft = context;
    struct memory_row *row = &draft->rows[live->category];

    add(row, live);
    draft->mapped_bytes += (double)live->size;
    if (draft->said->resident && !draft->said->areas)
        row->resident_bytes += (double)mire__memory_resident(draft->said, live);
    if (!is_for_blocks(live->category))
        mire__tally_add(&draft->tally, live->category, live->node, live->size, 1);
    return true;
}

/* For a dead process: the values of the last look. */
static void recall_residency(struct memory_draft *draft)
{
    size_t size;
    const void *extra = mire__read_extra(&size, draft->reader);
    const struct residency *then = draft->said->resident ? NULL : mire__extra_residency(extra, size);

    draft->knows_resident = draft->said->resident || then;
    for (uint32_t kind = 0; then && kind < MIRE_HEAP_KINDS; kind++) {
        struct memory_row *row = &draft->rows[MIRE_CATEGORY_KINDS + kind];

        row->resident_bytes = (double)mire__residency_since(&then->kinds[kind], (uint64_t)row->live.bytes);
    }
}

/* ---- categories ---- */

static bool name_category(struct memory_row *row, const struct memory_draft *draft, uint32_t category)
{
    const uint32_t which = category - MIRE_CATEGORY_PARTS;

    if (category < MIRE_CATEGORY_PARTS || which >= MIRE_PARTS)
        return mire__read_category(&row->now, draft->reader, category);
    memset(&row->now, 0, sizeof(row->now));
    mire__text_copy(row->now.name, sizeof(row->now.name), mire__part_name(which));
    return draft->knows_parts;
}

static int by_live_bytes(const void *a, const void *b)
{
    const struct memory_row *x = *(const struct memory_row *const *)a, *y = *(const struct memory_row *const *)b;

    if (x->live.bytes != y->live.bytes)
        return x->live.bytes < y->live.bytes ? 1 : -1;
    return x->live.category < y->live.category ? -1 : 1;
}

/* The chosen stacks of each category, in the order of the report. */
static enum mire_err rank_categories(struct memory_draft *draft)
{
    struct memory_row **order = mire__calloc(MIRE_CATEGORIES_MAX, sizeof(struct memory_row *));

    draft->ranked = mire__calloc(MIRE_CATEGORIES_MAX, sizeof(*draft->ranked));
    if (!order || !draft->ranked) {
        mire__free(order);
        return MIRE_E_MEMORY;
    }
    for (uint32_t i = 0; i < MIRE_CATEGORIES_MAX; i++) {
        struct memory_row *row = &draft->rows[i];

        row->rank = -1;
        row->live.category = i;
        if (!name_category(row, draft, i))
            continue;
        if (row->live.count > 0 || row->live.bytes > 0 || (draft->knows_parts && row->resident_bytes > 0) ||
            (draft->exact && row->now.total_count > 0))
            order[draft->row_count++] = row;
        if (draft->before)
            row->before = mire__snapshot_category(draft->before, i);
    }
    mire__own.qsort(order, draft->row_count, sizeof(*order), by_live_bytes);
    for (uint32_t i = 0; i < draft->row_count; i++) {
        order[i]->rank = (int32_t)i;
        draft->ranked[i] = order[i]->live.category;
    }
    mire__free(order);
    return MIRE_OK;
}

/* ---- stacks ---- */

static struct trie_frame place_of(struct memory_draft *draft, const struct heap_frame *frame)
{
    struct trie_frame place = {.image = -1, .offset = frame->address};
    struct heap_read_image image;

    if (frame->image >= MIRE_HEAP_IMAGES_MAX || !mire__read_image(&image, draft->reader, frame->image))
        return mire__script_rows_place(&draft->perf, &place);
    if (draft->image_no[frame->image] < 0) {
        draft->image_no[frame->image] = (int32_t)draft->image_count;
        draft->images[draft->image_count++] = frame->image;
    }
    place.image = draft->image_no[frame->image];
    place.offset = frame->address - image.load;
    return place;
}

static uint32_t read_stack(struct heap_frame frames[DEPTH_MAX], const struct heap_reader *reader, uint32_t node)
{
    uint32_t depth = 0;

    while (depth < DEPTH_MAX && mire__read_frame(&frames[depth], reader, &node))
        depth++;
    return depth;
}

static uint32_t add_stack(struct memory_draft *draft, uint32_t node)
{
    struct heap_frame frames[DEPTH_MAX];
    uint32_t leaf = 0;

    for (uint32_t i = read_stack(frames, draft->reader, node); i-- > 0;) {
        struct trie_frame place = place_of(draft, &frames[i]);

        leaf = mire__trie_child(&draft->trie, leaf, &place);
    }
    return leaf;
}

/* Select the stacks of the report from the tally's pairs, most bytes first. Returns the sum of their frames. */
static size_t choose(uint32_t *chosen, struct memory_draft *draft)
{
    const struct memory_caps *caps = &draft->said->caps;
    struct heap_frame frames[DEPTH_MAX];
    uint32_t *left = mire__calloc(draft->row_count + 1, sizeof(*left)); /* remaining stacks by rank */
    uint32_t objects = caps->objects;
    size_t sum = 0;

    for (uint32_t rank = 0; left && rank < draft->row_count; rank++) {
        bool more = rank >= caps->top && mire__memory_kind(draft->ranked[rank]) == 2 && objects > 0;

        objects -= more;
        left[rank] = rank < caps->top || more ? caps->each : 0;
    }
    for (uint32_t i = 0; left && i < draft->tally.pair_count && draft->stack_count < caps->stacks; i++) {
        const struct tally_pair *pair = mire__tally_at(&draft->tally, i);
        int32_t rank = draft->rows[pair->category].rank;
        uint32_t depth;

        if (rank < 0 || left[rank] == 0)
            continue;
        depth = read_stack(frames, draft->reader, pair->node);
        if (sum + depth > MIRE_WIRE_NODES_MAX / 4)
            break;
        sum += depth;
        left[rank]--;
        chosen[draft->stack_count++] = i;
    }
    mire__free(left);
    return sum;
}

static bool is_made(const struct memory_draft *draft, const struct heap_frame *frame)
{
    struct heap_read_image image;

    return frame->image >= MIRE_HEAP_IMAGES_MAX || !mire__read_image(&image, draft->reader, frame->image);
}

/* Names of code made at run time that is on a chosen stack. */
static void name_made_code(struct memory_draft *draft, const uint32_t *chosen)
{
    const struct blackbox_facts *facts = draft->said->facts;
    struct heap_frame frames[DEPTH_MAX];
    bool opened = false;

    for (uint32_t i = 0; i < draft->stack_count; i++)
        for (uint32_t n = read_stack(frames, draft->reader, mire__tally_at(&draft->tally, chosen[i])->node); n-- > 0;) {
            if (!is_made(draft, &frames[n]))
                continue;
            if (!opened && !mire__perf_map_open(&draft->perf, "/tmp", facts->pid, facts->start_wall_ms))
                return;
            opened = true;
            mire__perf_map_ask(&draft->perf, frames[n].address);
        }
    if (opened)
        mire__perf_map_read(&draft->perf);
}

static enum mire_err gather_stacks(struct memory_draft *draft)
{
    uint32_t *chosen = mire__calloc(draft->said->caps.stacks + 1, sizeof(*chosen));
    enum mire_err err = chosen ? mire__trie_init(&draft->trie, choose(chosen, draft)) : MIRE_E_MEMORY;

    draft->stacks = mire__calloc(draft->stack_count + 1, sizeof(*draft->stacks));
    if (!draft->stacks)
        err = MIRE_E_MEMORY;
    if (err == MIRE_OK)
        name_made_code(draft, chosen);
    for (uint32_t i = 0; err == MIRE_OK && i < draft->stack_count; i++) {
        const struct tally_pair *pair = mire__tally_at(&draft->tally, chosen[i]);
        struct memory_stack *stack = &draft->stacks[i];

        stack->rank = (uint32_t)draft->rows[pair->category].rank;
        stack->count = (uint64_t)(pair->count + 0.5);
        stack->bytes = (uint64_t)(pair->bytes + 0.5);
        if (!draft->exact)
            stack->spread = *mire__tally_spread(&draft->tally, chosen[i]);
        stack->node = add_stack(draft, pair->node);
        if (draft->before)
            stack->before = mire__snapshot_pair(draft->before, pair->category, pair->node);
    }
    mire__free(chosen);
    return err == MIRE_OK
               ? mire__script_rows_init(&draft->scripts, &draft->trie, NULL, &draft->perf, draft->image_count)
               : err;
}

/* ---- all of it ---- */

static void sum_up(struct memory_draft *draft)
{
    if (draft->facts.interval_bytes > 0)
        mire__draw_begin(&draft->all.spread, draft->facts.interval_bytes);
    for (uint32_t i = 0; i < MIRE_CATEGORIES_MAX; i++) {
        const struct memory_row *row = &draft->rows[i];

        if (mire__memory_kind(i) == 1 || mire__memory_kind(i) == 3)
            continue;
        draft->all.live.count += row->live.count;
        draft->all.live.bytes += row->live.bytes;
        mire__draw_join(&draft->all.spread, &row->spread);
    }
}

/* The app's gauges as rows, which nothing is known of but their values. */
static void gather_gauges(struct memory_draft *draft)
{
    uint64_t bytes, count;

    for (uint32_t i = 0; draft->said->app && i < MIRE_GAUGES_MAX; i++) {
        struct memory_row *row = &draft->gauges[draft->gauge_count];
        char name[MIRE_CONTEXT_NAME_BYTES];

        if (!mire__context_as_gauge(name, &bytes, &count, draft->said->app, i))
            continue;
        mire__text_copy(row->now.name, sizeof(row->now.name), name);
        row->live.bytes = (double)bytes;
        row->live.count = (double)count;
        row->now.total_bytes = row->now.peak_bytes = row->before.bytes = bytes;
        row->now.total_count = row->now.peak_count = row->before.count = count;
        draft->gauge_count++;
    }
}

static enum mire_err gather(struct memory_draft *draft)
{
    enum mire_err err = mire__tally_init(&draft->tally, !draft->exact);

    draft->rows = mire__calloc(MIRE_CATEGORIES_MAX, sizeof(*draft->rows));
    if (err != MIRE_OK || !draft->rows ||
        (draft->said->areas && mire__pieces_make(&draft->pieces, draft->said->areas, draft->reader) != MIRE_OK))
        return MIRE_E_MEMORY;
    mire__read_blocks(draft->reader, on_block, draft);
    mire__read_mappings(draft->reader, on_region, draft);
    sum_up(draft);
    if (!draft->said->areas)
        recall_residency(draft);
    mire__parts_settle(draft);
    mire__tally_close(&draft->tally);
    for (uint32_t i = 0; i < draft->tally.pair_count; i++)
        draft->rows[mire__tally_at(&draft->tally, i)->category].stack_count++;
    gather_gauges(draft);
    err = rank_categories(draft);
    return err == MIRE_OK ? gather_stacks(draft) : err;
}

enum mire_err mire__memory_draft_init(struct memory_draft *draft, const struct heap_reader *reader,
                                      const struct memory_said *said)
{
    uint64_t begin_ns = mire__now_ns();
    enum mire_err err;
    const void *extra;
    size_t size;

    memset(draft, 0, sizeof(*draft));
    memset(draft->image_no, 0xff, sizeof(draft->image_no));
    draft->perf.fd = draft->perf.dump = -1;
    draft->reader = reader;
    draft->said = said;
    mire__read_facts(&draft->facts, reader);
    draft->exact = draft->facts.inexact_ns == 0 && draft->facts.mode != MIRE_HEAP_SAMPLED;
    extra = mire__read_extra(&size, reader);
    draft->before = mire__extra_snapshot(extra, size);
    if (draft->before && draft->before->taken_ns > said->taken_ns)
        draft->before = NULL;
    err = gather(draft);
    draft->build_ns = mire__now_ns() - begin_ns;
    return err;
}

void mire__memory_draft_fini(struct memory_draft *draft)
{
    mire__tally_fini(&draft->tally);
    mire__trie_fini(&draft->trie);
    mire__script_rows_fini(&draft->scripts);
    mire__perf_map_fini(&draft->perf);
    mire__pieces_fini(&draft->pieces);
    mire__free(draft->rows);
    mire__free(draft->ranked);
    mire__free(draft->stacks);
}

static void keep_residency(struct memory_extra *extra, const struct memory_draft *draft)
{
    struct residency looked = {.taken_ns = draft->said->taken_ns};

    if (draft->said->areas)
        mire__parts_note(&looked, &draft->pieces, 0);
    looked.used_bytes = draft->facts.used_bytes;
    looked.block_bytes = (uint64_t)draft->all.live.bytes;
    for (uint32_t kind = 0; kind < MIRE_HEAP_KINDS; kind++) {
        const struct memory_row *row = &draft->rows[MIRE_CATEGORY_KINDS + kind];

        looked.kinds[kind] = (struct residency_row){(uint64_t)row->live.bytes, (uint64_t)row->resident_bytes};
    }
    mire__extra_set_residency(extra, &looked);
}

void mire__memory_draft_keep(struct memory_extra *extra, const struct memory_draft *draft)
{
    struct tally_pair *sums = mire__calloc(MIRE_CATEGORIES_MAX, sizeof(*sums));

    if (draft->said->resident || draft->said->areas)
        keep_residency(extra, draft);
    for (uint32_t i = 0; sums && i < MIRE_CATEGORIES_MAX; i++)
        sums[i] = draft->rows[i].live;
    if (sums)
        mire__snapshot_take(extra, draft->said->taken_ns, sums, MIRE_CATEGORIES_MAX, &draft->tally);
    mire__free(sums);
}
