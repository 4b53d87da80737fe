/*
 * read_live.c - see read.h: live blocks and mappings, one by one.
 *
 * Invariant: each block is visited once, although a block that moves between the tables may be in both, and an entry
 * may move to another segment during the visit.
 */
#include "heapread/inside.h"
#include "heapread/weight.h"

#include <string.h>

#define LOOKS_MAX 256u /* repeats for segments that were split or joined during the visit */

/* The state of a visit. */
struct visit {
    const struct heap_reader *reader;
    mire__read_live_fn *visit;
    void *context;
    uint64_t torn;
    uint64_t moving;   /* a block that may be in both tables */
    bool moving_seen;  /* in its shadow entry */
    bool moving_moved; /* out of it */
    uint32_t words_used;
};

/* Visit one block. False: the visitor ends the visit. */
static bool visit_block(struct visit *v, uint64_t address, uint64_t size, uint32_t node, uint32_t interval)
{
    struct heap_live live = {.address = address, .size = size, .node = node, .chance = 1};
    uint32_t class = mire__read_class(v->reader, node);

    if (interval >= v->reader->intervals_count) {
        v->torn++;
        return true;
    }
    if (node >= v->words_used)
        live.node = 0;
    if (interval)
        live.chance = mire__draw_chance(size, v->reader->intervals[interval]);
    live.category = class ? MIRE_CATEGORY_CLASSES + class : mire__size_class(size);
    return v->visit(v->context, &live);
}

static bool visit_page(struct visit *v, const _Atomic uint32_t *page, uint64_t begin)
{
    const uint64_t moving_at = (v->moving - begin) >> MIRE_SHADOW_SPAN_LOG;

    if (moving_at < MIRE_SHADOW_PAGE_ENTRIES && mire__get32(&page[moving_at]) == MIRE_SHADOW_MOVED)
        v->moving_moved = true;
    for (uint32_t i = 0; i < MIRE_SHADOW_PAGE_ENTRIES; i++) {
        uint32_t shadow = mire__get32(&page[i]), size = shadow & MIRE_SHADOW_SIZE_MASK, next;
        uint64_t address =
            begin + ((uint64_t)i << MIRE_SHADOW_SPAN_LOG) + ((shadow >> MIRE_SHADOW_OFFSET_SHIFT & 3) << 3);
        uint64_t bytes = size - 1;

        if (size == 0)
            continue;
        if (size == MIRE_SHADOW_SIZE_NEXT) {
            next = i + 1 < MIRE_SHADOW_PAGE_ENTRIES ? mire__get32(&page[i + 1]) : MIRE_SHADOW_SIZE_MASK;
            if (mire__get32(&page[i]) != shadow)
                continue; /* it ended while it was read */
            if (next & MIRE_SHADOW_SIZE_MASK) {
                v->torn++;
                continue;
            }
            bytes = next >> MIRE_SHADOW_OFFSET_SHIFT;
        }
        v->moving_seen |= address == v->moving;
        if (!visit_block(v, address, bytes, shadow >> MIRE_SHADOW_NODE_SHIFT, 0))
            return false;
    }
    return true;
}

static bool visit_cells(struct visit *v)
{
    const struct heap_reader *reader = v->reader;
    const _Atomic uint64_t *keys = mire__read_section(reader, MIRE_HEAP_KEYS);
    const _Atomic uint32_t *entries = mire__read_section(reader, MIRE_HEAP_SHADOW);
    uint32_t used = mire__get32(&reader->header->shadow_pages_used);
    uint32_t count = mire__read_entries(reader, MIRE_HEAP_SHADOW, used, MIRE_HEAP_PAGE_BYTES);

    count = (uint32_t)mire__least(count, mire__read_entries(reader, MIRE_HEAP_KEYS, used, sizeof(*keys)));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = mire__get64(&keys[i]);

        if (key == 0)
            continue;
        if (mire__key_begin(key) > MIRE_HEAP_ADDRESS_MASK) {
            v->torn++;
            continue;
        }
        if (!visit_page(v, entries + (uint64_t)i * MIRE_SHADOW_PAGE_ENTRIES, mire__key_begin(key)))
            return false;
    }
    return true;
}

/* A consistent copy of a segment. */
struct segment_copy {
    uint32_t from, to; /* the hashes' top bits, `to` excluded; empty: the segment was reused during the copy */
    uint64_t where[MIRE_SEGMENT_ENTRIES], what[MIRE_SEGMENT_ENTRIES];
};

/* A split reduces `covers` before it removes entries. If `covers` is unchanged after the copy, the copy is complete. */
static void copy_segment(struct segment_copy *copy, const struct heap_segment *segment)
{
    uint32_t covers = mire__get32(&segment->covers), depth = MIRE_COVERS_DEPTH(covers), span;

    copy->from = copy->to = 0;
    if (covers == 0 || depth > MIRE_SEGMENT_BITS_MAX || MIRE_COVERS_PREFIX(covers) >> depth)
        return;
    for (uint32_t i = 0; i < MIRE_SEGMENT_ENTRIES; i++) {
        copy->where[i] = mire__get64(&segment->entries[i].where);
        copy->what[i] = mire__get64(&segment->entries[i].what);
        if (mire__get64(&segment->entries[i].where) != copy->where[i])
            copy->where[i] = 0; /* it ended while it was read */
    }
    if (mire__get32(&segment->covers) != covers)
        return;
    span = 1u << (MIRE_SEGMENT_BITS_MAX - depth);
    copy->from = MIRE_COVERS_PREFIX(covers) * span;
    copy->to = copy->from + span;
}

/* Is the moving block in the block table now? A block in neither table has been freed. */
static bool is_moved(const struct visit *v)
{
    return !v->moving_seen && (v->moving_moved || mire__get64(&v->reader->header->moving) != v->moving);
}

/* Visit the entries of a segment with a hash of at least `from`. */
static bool visit_copy(struct visit *v, const struct segment_copy *copy, uint32_t from)
{
    for (uint32_t i = 0; i < MIRE_SEGMENT_ENTRIES; i++) {
        uint64_t where = copy->where[i], what = copy->what[i], address = mire__where_address(where);
        uint32_t at = (uint32_t)(mire__block_hash(address) >> (64 - MIRE_SEGMENT_BITS_MAX));

        if (where == 0 || at < from || at >= copy->to || (address == v->moving && !is_moved(v)))
            continue;
        if (!visit_block(v, address, what & MIRE_WHAT_SIZE_MAX, (uint32_t)(what >> MIRE_WHAT_SIZE_BITS),
                         mire__where_interval(where)))
            return false;
    }
    return true;
}

/* Visiting in the order of the hashes visits each entry once, although segments are split and joined meanwhile. */
static bool visit_segments(struct visit *v)
{
    const struct heap_reader *reader = v->reader;
    const struct heap_segment *segments = mire__read_section(reader, MIRE_HEAP_BLOCKS);
    uint16_t segment_of[1u << MIRE_SEGMENT_BITS_MAX];
    struct segment_copy copy;
    uint32_t looks = LOOKS_MAX;
    bool looked = false;

    memcpy(segment_of, reader->segment_of, sizeof(segment_of));
    for (uint32_t at = 0; at < 1u << MIRE_SEGMENT_BITS_MAX;) {
        copy.from = copy.to = 0;
        if (segment_of[at] && segment_of[at] <= mire__read_segment_count(reader))
            copy_segment(&copy, &segments[segment_of[at] - 1]);
        if (copy.from <= at && at < copy.to) {
            if (!visit_copy(v, &copy, at))
                return false;
            at = copy.to;
            looked = false;
        } else if (!looked && looks > 0) {
            mire__read_segments(segment_of, reader);
            looks--;
            looked = true;
        } else {
            at++; /* no segment covers it: a damaged file */
        }
    }
    return true;
}

uint64_t mire__read_blocks(const struct heap_reader *reader, mire__read_live_fn *visit, void *context)
{
    struct visit v = {reader, visit, context, .moving = mire__get64(&reader->header->moving),
                      .words_used = mire__get32(&reader->header->words_used)};

    if (visit_cells(&v))
        visit_segments(&v);
    return v.torn;
}

/* The end of the mapping: see heap_mapping.rest. */
static uint64_t region_end(const struct heap_mapping *regions, uint32_t count, uint32_t i)
{
    uint64_t rest = mire__get64(&regions[i].rest), end = mire__get64(&regions[i].end), start;

    if (rest == 0 || rest > count || mire__get64(&regions[rest - 1].end) == 0)
        return end;
    start = mire__get64(&regions[rest - 1].start);
    return start < end ? start : end;
}

uint64_t mire__read_mappings(const struct heap_reader *reader, mire__read_live_fn *visit, void *context)
{
    const struct heap_mapping *regions = mire__read_section(reader, MIRE_HEAP_MAPPINGS);
    uint32_t count =
        mire__read_entries(reader, MIRE_HEAP_MAPPINGS, mire__get32(&reader->header->regions_used), sizeof(*regions));
    uint32_t words_used = mire__get32(&reader->header->words_used);
    uint64_t torn = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t end = region_end(regions, count, i), start = mire__get64(&regions[i].start),
                 what = mire__get64(&regions[i].what);
        struct heap_live live = {.address = start, .size = end - start, .chance = 1};

        if (end == 0 || what >> 32 == MIRE_KIND_RESERVED)
            continue;
        if (start >= end || end > MIRE_HEAP_ADDRESS_MASK + 1 || what >> 32 >= MIRE_HEAP_KINDS) {
            torn++;
            continue;
        }
        live.node = (uint32_t)what < words_used ? (uint32_t)what : 0;
        live.category = MIRE_CATEGORY_KINDS + (uint32_t)(what >> 32);
        if (!visit(context, &live))
            break;
    }
    return torn;
}
