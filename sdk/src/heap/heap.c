/* heap.c - see heap.h: sections, what is claimed of them, the mode. Signal-safe. */
#include "heap/heap.h"

#include "heap/index.h"
#include "heap/inside.h"
#include "platform/platform.h"

#include <string.h>

/*
 * How far a section is claimed ahead: a claim makes four pages present, some 3 us, on a virtual machine at times 30. At
 * first nothing is, for of most sections a small program needs no more.
 */
#define STEP 16384u

/* What a program gets that fills the tables in exact mode. */
#define FIRST_INTERVAL_BYTES (64u << 10)
#define LAST_INTERVAL_BYTES  (UINT64_C(1) << 30)

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + MIRE_HEAP_PAGE_BYTES - 1) & ~(uint64_t)(MIRE_HEAP_PAGE_BYTES - 1);
}

static uint64_t section_bytes(enum heap_section_id section, uint64_t budget)
{
    switch (section) {
    case MIRE_HEAP_SLOTS:
        return MIRE_HEAP_THREADS_MAX * sizeof(struct heap_slot);
    case MIRE_HEAP_PEAKS:
        return round_up(sizeof(struct heap_peaks));
    case MIRE_HEAP_CLASSES:
        return MIRE_HEAP_CLASSES_MAX * sizeof(struct heap_class);
    case MIRE_HEAP_IMAGES:
        return round_up(MIRE_HEAP_IMAGES_MAX * sizeof(struct heap_image));
    case MIRE_HEAP_PATHS:
        return MIRE_HEAP_PATHS_BYTES;
    case MIRE_HEAP_REGIONS:
        return round_up(MIRE_HEAP_REGIONS_MAX * sizeof(struct heap_region));
    case MIRE_HEAP_PLACES:
        return MIRE_HEAP_PLACES_MAX * sizeof(uint64_t);
    case MIRE_HEAP_WORDS:
        return MIRE_HEAP_WORDS_MAX * sizeof(uint16_t);
    case MIRE_HEAP_BLOCKS:
    case MIRE_HEAP_CELLS:
        return round_up(budget);
    case MIRE_HEAP_KEYS:
        return round_up(budget / MIRE_HEAP_PAGE_BYTES * sizeof(uint64_t));
    case MIRE_HEAP_EXTRA:
        return MIRE_HEAP_EXTRA_BYTES;
    case MIRE_HEAP_THERE:
        return round_up(budget / MIRE_HEAP_PAGE_BYTES);
    case MIRE_HEAP_SECTIONS:
        break;
    }
    return 0;
}

uint64_t mire__heap_file_bytes(uint64_t budget_bytes)
{
    uint64_t bytes = MIRE_HEAP_PAGE_BYTES;

    for (uint32_t i = 0; i < MIRE_HEAP_SECTIONS; i++)
        bytes += section_bytes((enum heap_section_id)i, budget_bytes);
    return bytes;
}

/* ---- locks ---- */

/*
 * While its holder runs it is a matter of microseconds; one that lost its processor gets it back within some
 * milliseconds, if those who wait do not take it up: a thousand threads that wake every 50 us leave it none. So each
 * nap is twice as long as the one before.
 */
#define SPINS      64
#define YIELDS     16
#define NAP_NS     50000
#define NAP_MAX_NS (10 * MIRE_NS_PER_MS)
#define NAPS_LIMIT (1000 * MIRE_NS_PER_MS)

bool mire__heap_lock_slow(_Atomic uint32_t *lock)
{
    uint64_t now, until, nap = NAP_NS;

    for (int i = 0; i < SPINS + YIELDS; i++) {
        if (mire__heap_try(lock))
            return true;
        if (i >= SPINS)
            mire__yield();
    }
    now = mire__now_ns();
    for (until = now + NAPS_LIMIT; now < until; now = mire__now_ns()) {
        mire__futex_wait(lock, 1, now + nap);
        if (mire__heap_try(lock))
            return true;
        nap = nap < NAP_MAX_NS / 2 ? 2 * nap : NAP_MAX_NS;
    }
    return false;
}

/* Who holds mode_lock. */
static void store_mode(struct heap *heap, enum heap_mode mode)
{
    const uint32_t cells = mode == MIRE_HEAP_EXACT ? MIRE_HOW_CELLS : 0;
    void (*on_mode)(void) = atomic_load(&heap->on_mode);

    atomic_store_explicit(&heap->header->mode, mode, memory_order_release);
    mire__heap_how_change(heap, MIRE_HOW_MODE | cells, mode | cells);
    if (on_mode)
        on_mode();
}

/* ---- claims ---- */

/* Another thread's allocations make the budget run out: go over to (longer) sampling at once. */
static void press(struct heap *heap)
{
    struct heap_header *header = heap->header;
    uint32_t mode = atomic_load_explicit(&header->mode, memory_order_relaxed), index;
    uint64_t interval = FIRST_INTERVAL_BYTES;

    if (atomic_load_explicit(&heap->pressed, memory_order_relaxed) || !mire__heap_try(&heap->mode_lock.taken))
        return;
    if (mode == MIRE_HEAP_SAMPLED)
        interval = 2 * mire__heap_as_interval_bytes(heap, mire__heap_as_interval(heap));
    index = interval <= LAST_INTERVAL_BYTES ? mire__heap_interval_index(heap, interval) : MIRE_HEAP_INTERVALS_MAX;
    if (mode != MIRE_HEAP_OFF && index < MIRE_HEAP_INTERVALS_MAX) {
        atomic_store_explicit(&header->interval, index, memory_order_release);
        store_mode(heap, MIRE_HEAP_SAMPLED);
        if (mode == MIRE_HEAP_EXACT)
            atomic_store_explicit(&header->inexact_ns, mire__now_ns(), memory_order_relaxed);
        if (atomic_fetch_add_explicit(&header->degrade_count, 1, memory_order_relaxed) == 0)
            atomic_store_explicit(&header->degraded_ns, mire__now_ns(), memory_order_relaxed);
    }
    atomic_store_explicit(&heap->pressed, 1, memory_order_release);
    mire__heap_unlock(&heap->mode_lock.taken);
}

/*
 * Of the budget. The rest is for what is claimed until the keeper has thinned the tables, and for what the library
 * takes beside them: 3 MB, so that the process as a whole grows by no more than the default budget.
 */
#define PRESSED_32NDS 25

bool mire__heap_claim_anonymous(struct heap *heap, uint64_t bytes)
{
    struct heap_header *header = heap->header;
    uint64_t sum = atomic_fetch_add_explicit(&header->claimed_bytes, bytes, memory_order_relaxed) + bytes;

    if (sum > heap->budget_bytes) {
        atomic_fetch_sub_explicit(&header->claimed_bytes, bytes, memory_order_relaxed);
        return false;
    }
    if (sum > atomic_load_explicit(&header->claimed_most_bytes, memory_order_relaxed))
        atomic_store_explicit(&header->claimed_most_bytes, sum, memory_order_relaxed);
    if (sum > heap->budget_bytes / 32 * PRESSED_32NDS)
        press(heap);
    return true;
}

static bool claim_pages(struct heap *heap, void *pages, uint64_t bytes)
{
    if (!mire__heap_claim_anonymous(heap, bytes))
        return false;
    if (mire__pages_claim(pages, bytes))
        return true;
    atomic_fetch_sub_explicit(&heap->header->claimed_bytes, bytes, memory_order_relaxed);
    press(heap);
    return false;
}

bool mire__heap_claim_slow(struct heap *heap, enum heap_section_id section, uint64_t bytes)
{
    const struct heap_section *at = &heap->header->sections[section];
    uint64_t most =
        section == MIRE_HEAP_WORDS && at->bytes > heap->budget_bytes / 2 ? heap->budget_bytes / 2 : at->bytes;
    uint64_t ready;
    bool claimed = false;

    if (bytes > most || !mire__heap_lock(&heap->claim_lock.taken))
        return false;
    while ((ready = atomic_load_explicit(&heap->header->ready[section], memory_order_relaxed)) < bytes) {
        /* Slots: a page for each thread of a few, an eighth more at a time for those of many. */
        uint64_t ahead = section == MIRE_HEAP_SLOTS ? (ready / 8 | (MIRE_HEAP_PAGE_BYTES - 1)) + 1 : STEP;
        uint64_t step = ready == 0 ? round_up(bytes) : ahead;
        uint64_t next = step < at->bytes - ready ? step : at->bytes - ready;

        if (!claim_pages(heap, (char *)heap->header + at->at + ready, next))
            break;
        atomic_store_explicit(&heap->header->ready[section], ready + next, memory_order_release);
    }
    claimed = ready >= bytes;
    mire__heap_unlock(&heap->claim_lock.taken);
    return claimed;
}

bool mire__heap_claim_page(struct heap *heap, void *page)
{
    return heap->holds_pages || claim_pages(heap, page, MIRE_HEAP_PAGE_BYTES);
}

bool mire__heap_give_pages(struct heap *heap, void *first, uint32_t count)
{
    const uint64_t bytes = (uint64_t)count * MIRE_HEAP_PAGE_BYTES;

    if (heap->holds_pages) {
        memset(first, 0, bytes);
        return true;
    }
    if (!mire__pages_punch(first, bytes))
        return false;
    atomic_fetch_sub_explicit(&heap->header->claimed_bytes, bytes, memory_order_relaxed);
    return true;
}

void *mire__heap_extra(struct heap *heap, uint64_t bytes)
{
    return mire__heap_claim(heap, MIRE_HEAP_EXTRA, bytes) ? heap->extra : NULL;
}

/* ---- mode ---- */

uint32_t mire__heap_interval_index(struct heap *heap, uint64_t interval_bytes)
{
    struct heap_header *header = heap->header;
    uint32_t count = atomic_load_explicit(&header->interval_count, memory_order_relaxed);

    for (uint32_t i = 1; i < count; i++) {
        if (mire__heap_as_interval_bytes(heap, i) == interval_bytes)
            return i;
    }
    if (count == MIRE_HEAP_INTERVALS_MAX)
        return MIRE_HEAP_INTERVALS_MAX;
    atomic_store_explicit(&header->intervals[count], interval_bytes, memory_order_relaxed);
    atomic_store_explicit(&header->interval_count, count + 1, memory_order_release);
    return count;
}

enum mire_err mire__heap_set_mode(struct heap *heap, enum heap_mode mode, uint64_t interval_bytes)
{
    struct heap_header *header = heap->header;
    uint32_t was = atomic_load_explicit(&header->mode, memory_order_relaxed), index = 0;
    enum mire_err err = MIRE_OK;

    if (mode > MIRE_HEAP_SAMPLED || (mode == MIRE_HEAP_SAMPLED && interval_bytes == 0))
        return MIRE_E_RANGE;
    if (!mire__heap_lock(&heap->mode_lock.taken))
        return MIRE_E_STATE;
    if (mode == MIRE_HEAP_EXACT && atomic_load_explicit(&header->degrade_count, memory_order_relaxed) > 0)
        err = MIRE_E_STATE;
    else if (mode == MIRE_HEAP_SAMPLED &&
             (index = mire__heap_interval_index(heap, interval_bytes)) == MIRE_HEAP_INTERVALS_MAX)
        err = MIRE_E_FULL;
    if (!err) {
        atomic_store_explicit(&header->asked_mode, mode, memory_order_relaxed);
        atomic_store_explicit(&header->asked_interval_bytes, index ? interval_bytes : 0, memory_order_relaxed);
        if (mode != MIRE_HEAP_EXACT && was == MIRE_HEAP_EXACT)
            atomic_store_explicit(&header->inexact_ns, mire__now_ns(), memory_order_relaxed);
        atomic_store_explicit(&header->interval, index, memory_order_release);
        store_mode(heap, mode);
    }
    mire__heap_unlock(&heap->mode_lock.taken);
    return err;
}

/* ---- open and close ---- */

/* Cut a piece off the memory without a file; with out NULL only its size is added up. */
static void piece(uint64_t *at, void *out, const struct heap *heap, uint64_t bytes)
{
    void *piece = heap->anonymous ? (char *)heap->anonymous + *at : NULL;

    memcpy(out, &piece, sizeof(piece));
    *at += (bytes + 4095) & ~UINT64_C(4095);
}

static void index_pieces(uint64_t *at, struct heap_index *index, const struct heap *heap, uint32_t segment_cap)
{
    index->segment_cap = segment_cap;
    index->segment_count = 1;
    piece(at, &index->directories, heap, sizeof(uint16_t) << (MIRE_INDEX_BITS_MAX + 1));
    piece(at, &index->about, heap, segment_cap * sizeof(*index->about));
    piece(at, &index->segments, heap, (uint64_t)segment_cap * MIRE_INDEX_ENTRIES * sizeof(uint32_t));
}

static void spare_pieces(uint64_t *at, struct heap_spare *spare, const struct heap *heap, uint64_t cap)
{
    spare->cap = (uint32_t)cap;
    piece(at, &spare->numbers, heap, cap * sizeof(uint32_t));
}

/* Lay out the memory without a file. Returns its bytes. */
static uint64_t lay_out(struct heap *heap, uint64_t budget)
{
    uint64_t at = 0, pages = budget / MIRE_HEAP_PAGE_BYTES;

    piece(&at, &heap->roots, heap, MIRE_CELLS_PLANES * MIRE_HEAP_ROOTS * sizeof(void *));
    piece(&at, &heap->root_tables, heap, (uint64_t)MIRE_HEAP_ROOT_CAP * MIRE_HEAP_ROOT_SIZE * sizeof(heap_root));
    piece(&at, &heap->directory, heap, sizeof(uint16_t) << MIRE_SEGMENT_BITS_MAX);
    piece(&at, &heap->region_order, heap, MIRE_HEAP_REGIONS_MAX * sizeof(uint16_t));
    index_pieces(&at, &heap->node_index, heap, 1u << MIRE_INDEX_BITS_MAX);
    index_pieces(&at, &heap->place_index, heap, 1u << 13);
    spare_pieces(&at, &heap->region_spare, heap, MIRE_HEAP_REGIONS_MAX);
    piece(&at, &heap->region_owner, heap, MIRE_HEAP_REGIONS_MAX * sizeof(uint32_t));
    spare_pieces(&at, &heap->cell_spare, heap, pages);
    piece(&at, &heap->cell_looks, heap, pages);
    spare_pieces(&at, &heap->block_spare, heap, pages);
    return at;
}

static void format(struct heap *heap, const struct heap_options *options)
{
    struct heap_header *header = heap->header;

    header->version = MIRE_HEAP_VERSION;
    header->header_bytes = sizeof(*header);
    header->size_bytes = mire__heap_file_bytes(options->budget_bytes);
    header->budget_bytes = options->budget_bytes;
    memcpy(header->run_id, options->run_id, sizeof(header->run_id));
    mire__text_copy(header->boot_id, sizeof(header->boot_id), options->boot_id);
    header->pid = options->pid;
    header->start_ticks = options->start_ticks;
    header->start_mono_ns = options->start_mono_ns;
    header->start_wall_ms = options->start_wall_ms;
    atomic_store_explicit(&header->intervals[0], 1, memory_order_relaxed);
    atomic_store_explicit(&header->interval_count, 1, memory_order_relaxed);
    atomic_store_explicit(&header->words_used, 1, memory_order_relaxed);
    atomic_store_explicit(&header->places_used, 1, memory_order_relaxed);
    atomic_store_explicit(&header->classes_used, 1, memory_order_relaxed);
    if (options->mode != MIRE_HEAP_EXACT)
        atomic_store_explicit(&header->inexact_ns, options->start_mono_ns, memory_order_relaxed);
}

/* Where the sections lie, here and in the header. */
static void place_sections(struct heap *heap, uint64_t budget)
{
    char *memory = (char *)heap->header, *at[MIRE_HEAP_SECTIONS];
    uint64_t offset = MIRE_HEAP_PAGE_BYTES;

    for (uint32_t i = 0; i < MIRE_HEAP_SECTIONS; i++) {
        heap->header->sections[i].at = offset;
        heap->header->sections[i].bytes = section_bytes((enum heap_section_id)i, budget);
        at[i] = memory + offset;
        offset += heap->header->sections[i].bytes;
    }
    heap->slots = (struct heap_slot *)at[MIRE_HEAP_SLOTS];
    heap->peaks = (struct heap_peaks *)at[MIRE_HEAP_PEAKS];
    heap->classes = (struct heap_class *)at[MIRE_HEAP_CLASSES];
    heap->images = (struct heap_image *)at[MIRE_HEAP_IMAGES];
    heap->paths = at[MIRE_HEAP_PATHS];
    heap->regions = (struct heap_region *)at[MIRE_HEAP_REGIONS];
    heap->places = (_Atomic uint64_t *)at[MIRE_HEAP_PLACES];
    heap->words = (_Atomic uint16_t *)at[MIRE_HEAP_WORDS];
    heap->blocks = (struct heap_segment *)at[MIRE_HEAP_BLOCKS];
    heap->keys = (_Atomic uint64_t *)at[MIRE_HEAP_KEYS];
    heap->cells = (_Atomic uint32_t *)at[MIRE_HEAP_CELLS];
    heap->extra = at[MIRE_HEAP_EXTRA];
    heap->there = (_Atomic uint8_t *)at[MIRE_HEAP_THERE];
}

/* What every run needs: first steps of the sections, the directories and the filter. */
static bool claim_first(struct heap *heap)
{
    uint64_t fixed =
        2 * MIRE_HEAP_PAGE_BYTES + (sizeof(uint16_t) << MIRE_SEGMENT_BITS_MAX) + MIRE_HEAP_FILTER + 2 * STEP;

    return mire__heap_claim_anonymous(heap, MIRE_HEAP_PAGE_BYTES + fixed) &&
           mire__heap_claim(heap, MIRE_HEAP_PEAKS, sizeof(struct heap_peaks)) &&
           mire__heap_claim(heap, MIRE_HEAP_IMAGES, 1) && mire__heap_claim(heap, MIRE_HEAP_PATHS, 1) &&
           mire__heap_claim(heap, MIRE_HEAP_PLACES, 1) && mire__heap_claim(heap, MIRE_HEAP_WORDS, 1) &&
           mire__heap_claim(heap, MIRE_HEAP_THERE, 1) && mire__heap_claim(heap, MIRE_HEAP_BLOCKS, MIRE_HEAP_PAGE_BYTES);
}

enum mire_err mire__heap_open(struct heap *heap, void *memory, const struct heap_options *options)
{
    volatile uint8_t *first = memory;

    if (options->budget_bytes < MIRE_HEAP_BUDGET_MIN || options->budget_bytes > MIRE_HEAP_BUDGET_MAX ||
        options->budget_bytes % MIRE_HEAP_PAGE_BYTES)
        return MIRE_E_RANGE;
    memset(heap, 0, sizeof(*heap));
    heap->budget_bytes = options->budget_bytes;
    heap->anonymous_bytes = lay_out(heap, options->budget_bytes);
    heap->anonymous = mire__pages_map(heap->anonymous_bytes);
    heap->filter = mire__pages_map_inherited(MIRE_HEAP_FILTER, true);
    if (!heap->anonymous || !heap->filter) {
        mire__heap_close(heap);
        return MIRE_E_MEMORY;
    }
    lay_out(heap, options->budget_bytes);
    if (!mire__pages_claim(memory, MIRE_HEAP_PAGE_BYTES)) {
        mire__heap_close(heap); /* does not know of the memory yet, which must not be looked at */
        return MIRE_E_FULL;
    }
    *first = 1; /* some systems say that they gave a page back, and did not: qemu-user */
    heap->holds_pages = !mire__pages_punch(memory, MIRE_HEAP_PAGE_BYTES);
    if (!mire__pages_claim(memory, MIRE_HEAP_PAGE_BYTES)) { /* others were quicker on a full disk */
        mire__heap_close(heap);
        return MIRE_E_FULL;
    }
    heap->holds_pages |= *first != 0;
    *first = 0;
    heap->header = memory;
    place_sections(heap, options->budget_bytes);
    format(heap, options);
    if (!claim_first(heap)) {
        mire__heap_close(heap);
        return MIRE_E_FULL;
    }
    mire__heap_set_there(heap, 0, true);
    atomic_store_explicit(&heap->blocks[0].covers, 1, memory_order_relaxed); /* depth 0: all hashes */
    atomic_store_explicit(&heap->header->segments_used, 1, memory_order_relaxed);
    if (mire__heap_set_mode(heap, options->mode, options->interval_bytes) != MIRE_OK) {
        mire__heap_close(heap);
        return MIRE_E_RANGE;
    }
    atomic_thread_fence(memory_order_release);
    heap->header->magic = MIRE_HEAP_MAGIC;
    return MIRE_OK;
}

void mire__heap_stop(struct heap *heap)
{
    atomic_store_explicit(&heap->header->stopped, 1, memory_order_release);
}

void mire__heap_retire(struct heap *heap)
{
    mire__pages_empty(heap->anonymous, heap->anonymous_bytes);
    mire__pages_empty((void *)(uintptr_t)heap->filter, MIRE_HEAP_FILTER);
}

void mire__heap_close(struct heap *heap)
{
    if (heap->header && heap->header->magic == MIRE_HEAP_MAGIC)
        mire__heap_stop(heap);
    if (heap->anonymous)
        mire__pages_unmap(heap->anonymous, heap->anonymous_bytes);
    if (heap->filter)
        mire__pages_unmap((void *)(uintptr_t)heap->filter, MIRE_HEAP_FILTER);
    memset(heap, 0, sizeof(*heap));
}
