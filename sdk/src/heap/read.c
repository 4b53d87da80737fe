/*
 * read.c - see read.h.
 *
 * mire__read_open finds how much of each section is there; after that every index is checked against that. Words that a
 * running process may change are read once, as atomics, and judged by what was read.
 */
#include "heap/read.h"

#include "heap/weight.h"

#include <string.h>

static uint64_t get64(const _Atomic uint64_t *word)
{
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)word, memory_order_acquire);
}
static uint32_t get32(const _Atomic uint32_t *word)
{
    return atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)word, memory_order_acquire);
}
static uint32_t get16(const _Atomic uint16_t *word)
{
    return atomic_load_explicit((_Atomic uint16_t *)(uintptr_t)word, memory_order_acquire);
}
static int64_t signed64(const _Atomic int64_t *word)
{
    return atomic_load_explicit((_Atomic int64_t *)(uintptr_t)word, memory_order_relaxed);
}
static uint64_t min64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static const void *section(const struct heap_reader *reader, enum heap_section_id id)
{
    return reader->bytes + reader->at[id];
}

/* How many entries of a section may be looked at: what its counter says, of what is there. */
static uint32_t entries(const struct heap_reader *reader, enum heap_section_id id, uint32_t used, uint64_t entry_bytes)
{
    return (uint32_t)min64(used, reader->bytes_of[id] / entry_bytes);
}

/* ---- open ---- */

static uint32_t segment_count(const struct heap_reader *reader)
{
    return entries(reader, MIRE_HEAP_BLOCKS, get32(&reader->header->segments_used), sizeof(struct heap_segment));
}

/* Fill `segment_of`: the deepest segment that covers a hash has it; its number + 1, 0 none. */
static void read_segments(uint16_t segment_of[], const struct heap_reader *reader)
{
    const struct heap_segment *segments = section(reader, MIRE_HEAP_BLOCKS);
    uint32_t count = segment_count(reader);
    uint8_t depth_of[1u << MIRE_SEGMENT_BITS_MAX];

    memset(segment_of, 0, sizeof(*segment_of) << MIRE_SEGMENT_BITS_MAX);
    memset(depth_of, 0, sizeof(depth_of));
    for (uint32_t i = 0; i < count && i < UINT16_MAX; i++) {
        uint32_t covers = get32(&segments[i].covers), depth = MIRE_COVERS_DEPTH(covers), span;

        if (covers == 0 || depth > MIRE_SEGMENT_BITS_MAX || MIRE_COVERS_PREFIX(covers) >> depth)
            continue;
        span = 1u << (MIRE_SEGMENT_BITS_MAX - depth);
        for (uint32_t j = 0, at = MIRE_COVERS_PREFIX(covers) * span; j < span; j++, at++) {
            if (depth_of[at] <= depth) {
                depth_of[at] = (uint8_t)(depth + 1);
                segment_of[at] = (uint16_t)(i + 1);
            }
        }
    }
}

enum heap_read mire__read_open(struct heap_reader *reader, const void *bytes, uint64_t size)
{
    const struct heap_header *header = bytes;

    memset(reader, 0, sizeof(*reader));
    if (size < MIRE_HEAP_PAGE_BYTES)
        return MIRE_READ_SHORT;
    if (header->magic != MIRE_HEAP_MAGIC)
        return MIRE_READ_FORMAT;
    if (header->version != MIRE_HEAP_VERSION || header->header_bytes != sizeof(*header))
        return MIRE_READ_VERSION;
    reader->bytes = bytes;
    reader->size = size;
    reader->header = header;
    for (uint32_t i = 0; i < MIRE_HEAP_SECTIONS; i++) {
        struct heap_section at = header->sections[i];

        if (at.at % MIRE_HEAP_PAGE_BYTES || at.at < MIRE_HEAP_PAGE_BYTES)
            return MIRE_READ_FORMAT;
        if (at.at >= size)
            continue;
        reader->at[i] = at.at;
        reader->bytes_of[i] = min64(at.bytes, size - at.at);
    }
    reader->intervals_count = (uint32_t)min64(get32(&header->interval_count), MIRE_HEAP_INTERVALS_MAX);
    for (uint32_t i = 0; i < reader->intervals_count; i++)
        reader->intervals[i] = get64(&header->intervals[i]);
    read_segments(reader->segment_of, reader);
    return MIRE_READ_OK;
}

/* ---- facts ---- */

static void add_calls(struct heap_facts *out, const struct heap_reader *reader)
{
    const struct heap_slot *slots = section(reader, MIRE_HEAP_SLOTS);
    uint32_t count = entries(reader, MIRE_HEAP_SLOTS, get32(&reader->header->slots_used), sizeof(*slots));

    out->thread_count = count;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t class = 0; class < MIRE_HEAP_SIZES; class ++) {
            const struct heap_count *c = &slots[i].counts[class];

            out->allocated_count += get64(&c->count);
            out->freed_count += get64(&c->count) - (uint64_t)signed64(&c->live_count);
        }
    }
}

void mire__read_facts(struct heap_facts *out, const struct heap_reader *reader)
{
    const struct heap_header *header = reader->header;
    uint32_t interval = get32(&header->interval), mode = get32(&header->mode);

    memset(out, 0, sizeof(*out));
    memcpy(out->run_id, header->run_id, sizeof(out->run_id));
    memcpy(out->boot_id, header->boot_id, sizeof(out->boot_id) - 1);
    out->pid = header->pid;
    out->start_ticks = header->start_ticks;
    out->start_mono_ns = header->start_mono_ns;
    out->start_wall_ms = header->start_wall_ms;
    out->seen_ns = get64(&header->seen_ns);
    out->stopped = get32(&header->stopped) != 0;
    out->mode = mode <= MIRE_HEAP_SAMPLED ? (enum heap_mode)mode : MIRE_HEAP_OFF;
    out->asked_mode =
        get32(&header->asked_mode) <= MIRE_HEAP_SAMPLED ? (enum heap_mode)get32(&header->asked_mode) : MIRE_HEAP_OFF;
    out->interval_bytes =
        mode == MIRE_HEAP_SAMPLED && interval < reader->intervals_count ? reader->intervals[interval] : 0;
    out->asked_interval_bytes = get64(&header->asked_interval_bytes);
    out->degrade_count = get32(&header->degrade_count);
    out->degraded_ns = get64(&header->degraded_ns);
    out->inexact_ns = get64(&header->inexact_ns);
    out->budget_bytes = header->budget_bytes;
    out->used_bytes = get64(&header->claimed_bytes);
    out->used_most_bytes = get64(&header->claimed_most_bytes);
    out->node_count = get32(&header->nodes_used);
    out->place_count = get32(&header->places_used);
    out->image_count = entries(reader, MIRE_HEAP_IMAGES, get32(&header->images_used), sizeof(struct heap_image));
    out->stack_bytes = sizeof(uint16_t) * (uint64_t)get32(&header->words_used) + sizeof(uint64_t) * out->place_count;
    for (uint32_t i = 0; i < MIRE_HEAP_DROPS; i++)
        out->drops[i] = get64(&header->drops[i]);
    add_calls(out, reader);
}

const char *mire__read_drop_name(enum heap_drop drop)
{
    static const char *const names[MIRE_HEAP_DROPS] = {
        [MIRE_HEAP_DROP_FULL] = "full",     [MIRE_HEAP_DROP_BUSY] = "busy",     [MIRE_HEAP_DROP_STACK] = "stack",
        [MIRE_HEAP_DROP_THREAD] = "thread", [MIRE_HEAP_DROP_REGION] = "region", [MIRE_HEAP_DROP_IMAGE] = "image",
        [MIRE_HEAP_DROP_CLASS] = "class",   [MIRE_HEAP_DROP_FREE] = "free",     [MIRE_HEAP_DROP_OVERLAP] = "overlap",
        [MIRE_HEAP_DROP_CALL] = "call"};

    return (uint32_t)drop < MIRE_HEAP_DROPS ? names[drop] : "";
}

/* ---- nodes ---- */

static uint32_t word_at(const struct heap_reader *reader, uint32_t at)
{
    const _Atomic uint16_t *words = section(reader, MIRE_HEAP_WORDS);

    return at < reader->bytes_of[MIRE_HEAP_WORDS] / sizeof(*words) ? get16(&words[at]) : 0;
}

/* The place of a node and its parent. False: no node ends there. */
static bool read_node(uint64_t *place, uint32_t *parent, const struct heap_reader *reader, uint32_t node)
{
    const _Atomic uint64_t *places = section(reader, MIRE_HEAP_PLACES);
    uint32_t used = get32(&reader->header->words_used), word, number, before = node - 1;

    if (node == 0 || node >= used || node >= MIRE_HEAP_WORDS_MAX)
        return false;
    word = number = word_at(reader, node);
    if (!mire__word_is_short((uint16_t)word)) {
        uint32_t first = word_at(reader, node - 1);

        if (node < 2 || !mire__word_ends_long((uint16_t)word) || !mire__word_is_first((uint16_t)first))
            return false;
        number = mire__words_value((uint16_t)first, (uint16_t)word);
        before = node - 2;
    }
    if (number == 0 ||
        number >= entries(reader, MIRE_HEAP_PLACES, get32(&reader->header->places_used), sizeof(*places)))
        return false;
    *place = get64(&places[number]);
    *parent = before;
    word = before > 1 ? word_at(reader, before) : 0;
    if (mire__word_ends_jump((uint16_t)word)) {
        *parent = mire__words_value((uint16_t)word_at(reader, before - 1), (uint16_t)word);
        if (*parent >= before)
            return false;
    }
    return *place != 0;
}

uint32_t mire__read_class(const struct heap_reader *reader, uint32_t node)
{
    uint32_t parent;
    uint64_t place, address;

    if (!read_node(&place, &parent, reader, node))
        return 0;
    address = place & MIRE_HEAP_ADDRESS_MASK;
    return address > MIRE_HEAP_TAG_BASE && address < MIRE_HEAP_TAG_BASE + MIRE_HEAP_CLASSES_MAX
               ? (uint32_t)(address - MIRE_HEAP_TAG_BASE)
               : 0;
}

bool mire__read_frame(struct heap_frame *out, const struct heap_reader *reader, uint32_t *node)
{
    uint64_t place;

    do {
        if (!read_node(&place, node, reader, *node))
            return false;
        out->address = place & MIRE_HEAP_ADDRESS_MASK;
    } while (out->address >= MIRE_HEAP_TAG_BASE);
    out->image = (uint32_t)(place >> MIRE_HEAP_ADDRESS_BITS) & 0x7fff;
    return true;
}

/* ---- live blocks ---- */

#define LOOKS_MAX 256u /* for segments that were split or joined while they were visited */

/* What a visit is made of. */
struct visit {
    const struct heap_reader *reader;
    mire__read_live_fn *visit;
    void *context;
    uint64_t torn;
    uint64_t moving;  /* a block that may be in both tables */
    bool moving_seen; /* in its cell */
    uint32_t words_used;
};

/* Tell one block. False: the visitor has enough. */
static bool tell(struct visit *v, uint64_t address, uint64_t size, uint32_t node, uint32_t interval)
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
    for (uint32_t i = 0; i < MIRE_CELLS_PAGE; i++) {
        uint32_t cell = get32(&page[i]), size = cell & MIRE_CELL_SIZE_MASK, next;
        uint64_t address = begin + ((uint64_t)i << MIRE_CELL_SPAN_LOG) + ((cell >> MIRE_CELL_OFFSET_SHIFT & 3) << 3);
        uint64_t bytes = size - 1;

        if (size == 0)
            continue;
        if (size == MIRE_CELL_SIZE_NEXT) {
            next = i + 1 < MIRE_CELLS_PAGE ? get32(&page[i + 1]) : MIRE_CELL_SIZE_MASK;
            if (get32(&page[i]) != cell)
                continue; /* gone while it was read */
            if (next & MIRE_CELL_SIZE_MASK) {
                v->torn++;
                continue;
            }
            bytes = next >> MIRE_CELL_OFFSET_SHIFT;
        }
        v->moving_seen |= address == v->moving;
        if (!tell(v, address, bytes, cell >> MIRE_CELL_NODE_SHIFT, 0))
            return false;
    }
    return true;
}

static bool visit_cells(struct visit *v)
{
    const struct heap_reader *reader = v->reader;
    const _Atomic uint64_t *keys = section(reader, MIRE_HEAP_KEYS);
    const _Atomic uint32_t *cells = section(reader, MIRE_HEAP_CELLS);
    uint32_t used = get32(&reader->header->cell_pages_used);
    uint32_t count = entries(reader, MIRE_HEAP_CELLS, used, MIRE_HEAP_PAGE_BYTES);

    count = (uint32_t)min64(count, entries(reader, MIRE_HEAP_KEYS, used, sizeof(*keys)));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = get64(&keys[i]);

        if (key == 0)
            continue;
        if (key - 1 > MIRE_HEAP_ADDRESS_MASK >> MIRE_CELLS_SPAN_LOG) {
            v->torn++;
            continue;
        }
        if (!visit_page(v, cells + (uint64_t)i * MIRE_CELLS_PAGE, (key - 1) << MIRE_CELLS_SPAN_LOG))
            return false;
    }
    return true;
}

/* A segment as it was at one moment. */
struct segment_copy {
    uint32_t from, to; /* top bits of the hashes it has, `to` excluded; none if it changed hands while it was copied */
    uint64_t where[MIRE_SEGMENT_ENTRIES], what[MIRE_SEGMENT_ENTRIES];
};

/* A split takes entries away only after the segment covers less: what covered as much afterwards was whole. */
static void copy_segment(struct segment_copy *copy, const struct heap_segment *segment)
{
    uint32_t covers = get32(&segment->covers), depth = MIRE_COVERS_DEPTH(covers), span;

    copy->from = copy->to = 0;
    if (covers == 0 || depth > MIRE_SEGMENT_BITS_MAX || MIRE_COVERS_PREFIX(covers) >> depth)
        return;
    for (uint32_t i = 0; i < MIRE_SEGMENT_ENTRIES; i++) {
        copy->where[i] = get64(&segment->entries[i].where);
        copy->what[i] = get64(&segment->entries[i].what);
        if (get64(&segment->entries[i].where) != copy->where[i])
            copy->where[i] = 0; /* gone while it was read */
    }
    if (get32(&segment->covers) != covers)
        return;
    span = 1u << (MIRE_SEGMENT_BITS_MAX - depth);
    copy->from = MIRE_COVERS_PREFIX(covers) * span;
    copy->to = copy->from + span;
}

/* Tell what of a segment lies at `from` or beyond. */
static bool visit_copy(struct visit *v, const struct segment_copy *copy, uint32_t from)
{
    for (uint32_t i = 0; i < MIRE_SEGMENT_ENTRIES; i++) {
        uint64_t where = copy->where[i], what = copy->what[i], address = mire__where_address(where);
        uint32_t at = (uint32_t)(mire__block_hash(address) >> (64 - MIRE_SEGMENT_BITS_MAX));

        if (where == 0 || at < from || at >= copy->to || (address == v->moving && v->moving_seen))
            continue;
        if (!tell(v, address, what & MIRE_WHAT_SIZE_MAX, (uint32_t)(what >> MIRE_WHAT_SIZE_BITS),
                  mire__where_interval(where)))
            return false;
    }
    return true;
}

/* In order of the hashes, so that each is told once though segments are split and joined meanwhile. */
static bool visit_segments(struct visit *v)
{
    const struct heap_reader *reader = v->reader;
    const struct heap_segment *segments = section(reader, MIRE_HEAP_BLOCKS);
    uint16_t segment_of[1u << MIRE_SEGMENT_BITS_MAX];
    struct segment_copy copy;
    uint32_t looks = LOOKS_MAX;
    bool looked = false;

    memcpy(segment_of, reader->segment_of, sizeof(segment_of));
    for (uint32_t at = 0; at < 1u << MIRE_SEGMENT_BITS_MAX;) {
        copy.from = copy.to = 0;
        if (segment_of[at] && segment_of[at] <= segment_count(reader))
            copy_segment(&copy, &segments[segment_of[at] - 1]);
        if (copy.from <= at && at < copy.to) {
            if (!visit_copy(v, &copy, at))
                return false;
            at = copy.to;
            looked = false;
        } else if (!looked && looks > 0) {
            read_segments(segment_of, reader);
            looks--;
            looked = true;
        } else {
            at++; /* nobody has it: a damaged file */
        }
    }
    return true;
}

uint64_t mire__read_blocks(const struct heap_reader *reader, mire__read_live_fn *visit, void *context)
{
    struct visit v = {reader, visit, context, .moving = get64(&reader->header->moving),
                      .words_used = get32(&reader->header->words_used)};

    if (visit_cells(&v))
        visit_segments(&v);
    return v.torn;
}

uint64_t mire__read_regions(const struct heap_reader *reader, mire__read_live_fn *visit, void *context)
{
    const struct heap_region *regions = section(reader, MIRE_HEAP_REGIONS);
    uint32_t count = entries(reader, MIRE_HEAP_REGIONS, get32(&reader->header->regions_used), sizeof(*regions));
    uint32_t words_used = get32(&reader->header->words_used);
    uint64_t torn = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t end = get64(&regions[i].end), start = get64(&regions[i].start), what = get64(&regions[i].what);
        struct heap_live live = {.address = start, .size = end - start, .chance = 1};

        if (end == 0)
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

/* ---- categories ---- */

static void read_shared(struct heap_category *out, const struct heap_shared_count *counts)
{
    out->total_count = get64(&counts->count);
    out->total_bytes = get64(&counts->bytes);
    out->peak_count = get64(&counts->peak_count);
    out->peak_bytes = get64(&counts->peak_bytes);
}

/* Sums over the threads; and peaks, with what each thread reached since it told last. */
static void read_size(struct heap_category *out, const struct heap_reader *reader, uint32_t class)
{
    const struct heap_slot *slots = section(reader, MIRE_HEAP_SLOTS);
    const struct heap_peaks *peaks = section(reader, MIRE_HEAP_PEAKS);
    uint32_t count = entries(reader, MIRE_HEAP_SLOTS, get32(&reader->header->slots_used), sizeof(*slots));
    bool known = reader->bytes_of[MIRE_HEAP_PEAKS] >= sizeof(*peaks);
    int64_t peak_count = known ? signed64(&peaks->sizes[class].peak_count) : 0;
    int64_t peak_bytes = known ? signed64(&peaks->sizes[class].peak_bytes) : 0;
    uint64_t told_count = 0, told_bytes = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct heap_count *c = &slots[i].counts[class];

        out->total_count += get64(&c->count);
        out->total_bytes += get64(&c->bytes);
        told_count += (uint64_t)signed64(&c->told_count);
        told_bytes += (uint64_t)signed64(&c->told_bytes);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct heap_count *c = &slots[i].counts[class];
        int64_t high_count =
            (int64_t)(told_count + (uint64_t)signed64(&c->high_count) - (uint64_t)signed64(&c->told_count));
        int64_t high_bytes =
            (int64_t)(told_bytes + (uint64_t)signed64(&c->high_bytes) - (uint64_t)signed64(&c->told_bytes));

        peak_count = high_count > peak_count ? high_count : peak_count;
        peak_bytes = high_bytes > peak_bytes ? high_bytes : peak_bytes;
    }
    out->peak_count = peak_count > 0 ? (uint64_t)peak_count : 0;
    out->peak_bytes = peak_bytes > 0 ? (uint64_t)peak_bytes : 0;
}

bool mire__read_category(struct heap_category *out, const struct heap_reader *reader, uint32_t category)
{
    const struct heap_peaks *peaks = section(reader, MIRE_HEAP_PEAKS);
    const struct heap_class *classes = section(reader, MIRE_HEAP_CLASSES);
    uint32_t class = category - MIRE_CATEGORY_CLASSES;

    memset(out, 0, sizeof(*out));
    mire__category_name(out->name, category);
    if (category < MIRE_HEAP_SIZES) {
        read_size(out, reader, category);
        return true;
    }
    if (category >= MIRE_CATEGORY_KINDS && category < MIRE_CATEGORY_KINDS + MIRE_HEAP_KINDS) {
        if (reader->bytes_of[MIRE_HEAP_PEAKS] >= sizeof(*peaks))
            read_shared(out, &peaks->kinds[category - MIRE_CATEGORY_KINDS]);
        return true;
    }
    if (category <= MIRE_CATEGORY_CLASSES ||
        class >= entries(reader, MIRE_HEAP_CLASSES, get32(&reader->header->classes_used), sizeof(*classes)))
        return false;
    memcpy(out->name, classes[class].name, sizeof(out->name) - 1);
    read_shared(out, &classes[class].counts);
    return true;
}

/* ---- images ---- */

bool mire__read_image(struct heap_read_image *out, const struct heap_reader *reader, uint32_t index)
{
    const struct heap_image *images = section(reader, MIRE_HEAP_IMAGES), *image = images + index;

    memset(out, 0, sizeof(*out));
    if (index >= entries(reader, MIRE_HEAP_IMAGES, get32(&reader->header->images_used), sizeof(*images)))
        return false;
    if (image->id_size > sizeof(image->id) || image->start >= image->end ||
        image->path_bytes > reader->bytes_of[MIRE_HEAP_PATHS] ||
        image->path_at > reader->bytes_of[MIRE_HEAP_PATHS] - image->path_bytes)
        return false;
    out->start = image->start;
    out->end = image->end;
    out->load = image->load;
    out->id = image->id;
    out->id_size = image->id_size;
    out->path = (const char *)section(reader, MIRE_HEAP_PATHS) + image->path_at;
    out->path_bytes = image->path_bytes;
    out->gone = get32(&image->gone) != 0;
    return true;
}

const void *mire__read_extra(size_t *bytes_out, const struct heap_reader *reader)
{
    bool there = reader->bytes_of[MIRE_HEAP_EXTRA] >= MIRE_HEAP_EXTRA_BYTES;

    *bytes_out = there ? MIRE_HEAP_EXTRA_BYTES : 0;
    return there ? section(reader, MIRE_HEAP_EXTRA) : NULL;
}
