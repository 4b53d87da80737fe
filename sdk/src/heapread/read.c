/*
 * read.c - see read.h.
 *
 * mire__read_open determines the size of each section, and every index is checked against it. Invariant: a word that a
 * running process may change is loaded once, atomically, and the loaded value is checked.
 */
#include "heapread/inside.h"

#include <string.h>

/* ---- open ---- */

uint32_t mire__read_segment_count(const struct heap_reader *reader)
{
    uint32_t count = mire__read_entries(reader, MIRE_HEAP_BLOCKS, mire__get32(&reader->header->segments_used),
                                        sizeof(struct heap_segment));

    return mire__read_entries(reader, MIRE_HEAP_THERE, count, 1);
}

void mire__read_segments(uint16_t segment_of[], const struct heap_reader *reader)
{
    const struct heap_segment *segments = mire__read_section(reader, MIRE_HEAP_BLOCKS);
    const _Atomic uint8_t *there = mire__read_section(reader, MIRE_HEAP_THERE);
    uint32_t count = mire__read_segment_count(reader);
    uint8_t depth_of[1u << MIRE_SEGMENT_BITS_MAX];

    memset(segment_of, 0, sizeof(*segment_of) << MIRE_SEGMENT_BITS_MAX);
    memset(depth_of, 0, sizeof(depth_of));
    for (uint32_t i = 0; i < count && i < UINT16_MAX; i++) {
        uint32_t covers = mire__get8(&there[i]) ? mire__get32(&segments[i].covers) : 0;
        uint32_t depth = MIRE_COVERS_DEPTH(covers), span;

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
        reader->bytes_of[i] = mire__least(at.bytes, size - at.at);
    }
    reader->intervals_count = (uint32_t)mire__least(mire__get32(&header->interval_count), MIRE_HEAP_INTERVALS_MAX);
    for (uint32_t i = 0; i < reader->intervals_count; i++)
        reader->intervals[i] = mire__get64(&header->intervals[i]);
    mire__read_segments(reader->segment_of, reader);
    return MIRE_READ_OK;
}

/* ---- facts ---- */

static void add_calls(struct heap_facts *out, const struct heap_reader *reader)
{
    const struct heap_slot *slots = mire__read_section(reader, MIRE_HEAP_SLOTS);
    uint32_t count =
        mire__read_entries(reader, MIRE_HEAP_SLOTS, mire__get32(&reader->header->slots_used), sizeof(*slots));

    out->thread_count = count;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t class = 0; class < MIRE_HEAP_SIZES; class ++) {
            const struct heap_count *c = &slots[i].counts[class];

            out->allocated_count += (uint64_t)mire__get_signed(&c->count);
            out->freed_count += (uint64_t)mire__get_signed(&c->count) - (uint64_t)mire__get_signed(&c->live_count);
        }
    }
}

void mire__read_facts(struct heap_facts *out, const struct heap_reader *reader)
{
    const struct heap_header *header = reader->header;
    uint32_t interval = mire__get32(&header->interval), mode = mire__get32(&header->mode);

    memset(out, 0, sizeof(*out));
    memcpy(out->run_id, header->run_id, sizeof(out->run_id));
    memcpy(out->boot_id, header->boot_id, sizeof(out->boot_id) - 1);
    out->pid = header->pid;
    out->start_ticks = header->start_ticks;
    out->start_mono_ns = header->start_mono_ns;
    out->start_wall_ms = header->start_wall_ms;
    out->seen_ns = mire__get64(&header->seen_ns);
    out->stopped = mire__get32(&header->stopped) != 0;
    out->mode = mode <= MIRE_HEAP_SAMPLED ? (enum heap_mode)mode : MIRE_HEAP_OFF;
    out->asked_mode = mire__get32(&header->asked_mode) <= MIRE_HEAP_SAMPLED
                          ? (enum heap_mode)mire__get32(&header->asked_mode)
                          : MIRE_HEAP_OFF;
    out->interval_bytes =
        mode == MIRE_HEAP_SAMPLED && interval < reader->intervals_count ? reader->intervals[interval] : 0;
    out->asked_interval_bytes = mire__get64(&header->asked_interval_bytes);
    out->degrade_count = mire__get32(&header->degrade_count);
    out->degraded_ns = mire__get64(&header->degraded_ns);
    out->inexact_ns = mire__get64(&header->inexact_ns);
    out->budget_bytes = header->budget_bytes;
    out->used_bytes = mire__get64(&header->claimed_bytes);
    out->used_most_bytes = mire__get64(&header->claimed_most_bytes);
    out->node_count = mire__get32(&header->nodes_used);
    out->pc_count = mire__get32(&header->pcs_used);
    out->image_count =
        mire__read_entries(reader, MIRE_HEAP_IMAGES, mire__get32(&header->images_used), sizeof(struct heap_image));
    out->stack_bytes = sizeof(uint16_t) * (uint64_t)mire__get32(&header->words_used) + sizeof(uint64_t) * out->pc_count;
    for (uint32_t i = 0; i < MIRE_HEAP_DROPS; i++)
        out->drops[i] = mire__get64(&header->drops[i]);
    add_calls(out, reader);
}

const char *mire__read_drop_name(enum heap_drop drop)
{
    static const char *const names[MIRE_HEAP_DROPS] = {
        [MIRE_HEAP_DROP_FULL] = "full",     [MIRE_HEAP_DROP_BUSY] = "busy",      [MIRE_HEAP_DROP_STACK] = "stack",
        [MIRE_HEAP_DROP_THREAD] = "thread", [MIRE_HEAP_DROP_MAPPING] = "region", [MIRE_HEAP_DROP_IMAGE] = "image",
        [MIRE_HEAP_DROP_CLASS] = "class",   [MIRE_HEAP_DROP_FREE] = "free",      [MIRE_HEAP_DROP_OVERLAP] = "overlap",
        [MIRE_HEAP_DROP_CALL] = "call"};

    return (uint32_t)drop < MIRE_HEAP_DROPS ? names[drop] : "";
}

/* ---- nodes ---- */

static uint32_t word_at(const struct heap_reader *reader, uint32_t at)
{
    const _Atomic uint16_t *words = mire__read_section(reader, MIRE_HEAP_WORDS);

    return at < mire__read_bytes(reader, MIRE_HEAP_WORDS) / sizeof(*words) ? mire__get16(&words[at]) : 0;
}

/* The pc and the parent of a node. False: there is no such node. */
static bool read_node(uint64_t *pc, uint32_t *parent, const struct heap_reader *reader, uint32_t node)
{
    const _Atomic uint64_t *pcs = mire__read_section(reader, MIRE_HEAP_PCS);
    uint32_t used = mire__get32(&reader->header->words_used), word, number, before = node - 1;

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
        number >= mire__read_entries(reader, MIRE_HEAP_PCS, mire__get32(&reader->header->pcs_used), sizeof(*pcs)))
        return false;
    *pc = mire__get64(&pcs[number]);
    *parent = before;
    word = before > 1 ? word_at(reader, before) : 0;
    if (mire__word_ends_jump((uint16_t)word)) {
        *parent = mire__words_value((uint16_t)word_at(reader, before - 1), (uint16_t)word);
        if (*parent >= before)
            return false;
    }
    return *pc != 0;
}

uint32_t mire__read_class(const struct heap_reader *reader, uint32_t node)
{
    uint32_t parent;
    uint64_t pc, address;

    if (!read_node(&pc, &parent, reader, node))
        return 0;
    address = pc & MIRE_HEAP_ADDRESS_MASK;
    return address > MIRE_HEAP_TAG_BASE && address < MIRE_HEAP_TAG_BASE + MIRE_HEAP_CLASSES_MAX
               ? (uint32_t)(address - MIRE_HEAP_TAG_BASE)
               : 0;
}

bool mire__read_frame(struct heap_frame *out, const struct heap_reader *reader, uint32_t *node)
{
    uint64_t pc;

    do {
        if (!read_node(&pc, node, reader, *node))
            return false;
        out->address = pc & MIRE_HEAP_ADDRESS_MASK;
    } while (out->address >= MIRE_HEAP_TAG_BASE);
    out->image = (uint32_t)(pc >> MIRE_HEAP_ADDRESS_BITS) & 0x7fff;
    return true;
}

/* ---- categories ---- */

static void read_shared(struct heap_category *out, const struct heap_shared_count *counts)
{
    out->total_count = mire__get64(&counts->count);
    out->total_bytes = mire__get64(&counts->bytes);
    out->peak_count = mire__get64(&counts->peak_count);
    out->peak_bytes = mire__get64(&counts->peak_bytes);
}

/* Sums over the threads; and peaks, with the highest sum of each thread since its last flush to the common counter. */
/* The highest sum of one thread's counter and the common one. */
static int64_t highest(uint64_t in_all, const _Atomic int64_t *given, const _Atomic int64_t *high,
                       const _Atomic int64_t *live)
{
    int64_t most = mire__get_signed(high) > mire__get_signed(live) ? mire__get_signed(high) : mire__get_signed(live);

    return (int64_t)(in_all + (uint64_t)most - (uint64_t)mire__get_signed(given));
}

static void read_size(struct heap_category *out, const struct heap_reader *reader, uint32_t class)
{
    const struct heap_slot *slots = mire__read_section(reader, MIRE_HEAP_SLOTS);
    const struct heap_peaks *peaks = mire__read_section(reader, MIRE_HEAP_PEAKS);
    uint32_t count =
        mire__read_entries(reader, MIRE_HEAP_SLOTS, mire__get32(&reader->header->slots_used), sizeof(*slots));
    bool known = mire__read_bytes(reader, MIRE_HEAP_PEAKS) >= sizeof(*peaks);
    int64_t peak_count = known ? mire__get_signed(&peaks->sizes[class].peak_count) : 0;
    int64_t peak_bytes = known ? mire__get_signed(&peaks->sizes[class].peak_bytes) : 0;
    int64_t live_count = 0, live_bytes = 0;
    uint64_t published_count = 0, published_bytes = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct heap_count *c = &slots[i].counts[class];

        out->total_count += (uint64_t)mire__get_signed(&c->count);
        out->total_bytes += (uint64_t)mire__get_signed(&c->bytes);
        live_count += mire__get_signed(&c->live_count);
        live_bytes += mire__get_signed(&c->live_bytes);
        published_count += (uint64_t)mire__get_signed(&c->published_count);
        published_bytes += (uint64_t)mire__get_signed(&c->published_bytes);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct heap_count *c = &slots[i].counts[class];
        int64_t high_count = highest(published_count, &c->published_count, &c->high_count, &c->live_count);
        int64_t high_bytes = highest(published_bytes, &c->published_bytes, &c->high_bytes, &c->live_bytes);

        peak_count = high_count > peak_count ? high_count : peak_count;
        peak_bytes = high_bytes > peak_bytes ? high_bytes : peak_bytes;
    }
    /* The current sum over all threads may be above the flushed peaks. */
    peak_count = live_count > peak_count ? live_count : peak_count;
    peak_bytes = live_bytes > peak_bytes ? live_bytes : peak_bytes;
    out->peak_count = peak_count > 0 ? (uint64_t)peak_count : 0;
    out->peak_bytes = peak_bytes > 0 ? (uint64_t)peak_bytes : 0;
}

bool mire__read_category(struct heap_category *out, const struct heap_reader *reader, uint32_t category)
{
    const struct heap_peaks *peaks = mire__read_section(reader, MIRE_HEAP_PEAKS);
    const struct heap_class *classes = mire__read_section(reader, MIRE_HEAP_CLASSES);
    uint32_t class = category - MIRE_CATEGORY_CLASSES;

    memset(out, 0, sizeof(*out));
    mire__category_name(out->name, category);
    if (category < MIRE_HEAP_SIZES) {
        read_size(out, reader, category);
        return true;
    }
    if (category >= MIRE_CATEGORY_KINDS && category < MIRE_CATEGORY_KINDS + MIRE_HEAP_KINDS) {
        if (mire__read_bytes(reader, MIRE_HEAP_PEAKS) >= sizeof(*peaks))
            read_shared(out, &peaks->kinds[category - MIRE_CATEGORY_KINDS]);
        return true;
    }
    if (category <= MIRE_CATEGORY_CLASSES ||
        class >=
            mire__read_entries(reader, MIRE_HEAP_CLASSES, mire__get32(&reader->header->classes_used), sizeof(*classes)))
        return false;
    memcpy(out->name, classes[class].name, sizeof(out->name) - 1);
    read_shared(out, &classes[class].counts);
    return true;
}

uint64_t mire__read_live_bytes(uint64_t *large_out, const struct heap_reader *reader, uint64_t large)
{
    const struct heap_slot *slots = mire__read_section(reader, MIRE_HEAP_SLOTS);
    const struct heap_class *classes = mire__read_section(reader, MIRE_HEAP_CLASSES);
    uint32_t count =
        mire__read_entries(reader, MIRE_HEAP_SLOTS, mire__get32(&reader->header->slots_used), sizeof(*slots));
    int64_t sums[2] = {0, 0};

    for (uint32_t class = 0; class < MIRE_HEAP_SIZES; class ++)
        for (uint32_t i = 0; i < count; i++)
            sums[mire__size_class_bytes(class) > large] += mire__get_signed(&slots[i].counts[class].live_bytes);
    count = mire__read_entries(reader, MIRE_HEAP_CLASSES, mire__get32(&reader->header->classes_used), sizeof(*classes));
    for (uint32_t class = 1; class < count; class ++)
        sums[0] +=
            (int64_t)(mire__get64(&classes[class].counts.bytes) - mire__get64(&classes[class].counts.freed_bytes));
    for (int i = 0; i < 2; i++)
        sums[i] = sums[i] > 0 ? sums[i] : 0;
    *large_out = (uint64_t)sums[1];
    return (uint64_t)(sums[0] + sums[1]);
}

/* ---- images ---- */

bool mire__read_image(struct heap_read_image *out, const struct heap_reader *reader, uint32_t index)
{
    const struct heap_image *images = mire__read_section(reader, MIRE_HEAP_IMAGES), *image = images + index;
    uint64_t paths_bytes = mire__read_bytes(reader, MIRE_HEAP_PATHS);

    memset(out, 0, sizeof(*out));
    if (index >=
        mire__read_entries(reader, MIRE_HEAP_IMAGES, mire__get32(&reader->header->images_used), sizeof(*images)))
        return false;
    if (image->id_size > sizeof(image->id) || image->start >= image->end || image->path_bytes > paths_bytes ||
        image->path_at > paths_bytes - image->path_bytes)
        return false;
    out->start = image->start;
    out->end = image->end;
    out->load = image->load;
    out->base = image->base;
    out->id = image->id;
    out->id_size = image->id_size;
    out->path = (const char *)mire__read_section(reader, MIRE_HEAP_PATHS) + image->path_at;
    out->path_bytes = image->path_bytes;
    out->gone = mire__get32(&image->gone) != 0;
    return true;
}

const void *mire__read_extra(size_t *bytes_out, const struct heap_reader *reader)
{
    *bytes_out = (size_t)mire__read_bytes(reader, MIRE_HEAP_EXTRA);
    return *bytes_out > 0 ? mire__read_section(reader, MIRE_HEAP_EXTRA) : NULL;
}
