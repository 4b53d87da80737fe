/* tables.c - see tables.h: sections, and which parts of them are claimed. Signal-safe. */
#include "heap/tables.h"

#include "heap/index.h"
#include "heap/inside.h"
#include "platform/platform.h"

#include <string.h>

/*
 * A section is claimed so far ahead: a claim makes four pages present, in some 3 us, on a virtual machine at times
 * 30. The first claim is exact, for most sections of a small program need no more.
 */
#define STEP 16384u

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
    case MIRE_HEAP_MAPPINGS:
        return round_up(MIRE_HEAP_MAPPINGS_MAX * sizeof(struct heap_mapping));
    case MIRE_HEAP_PCS:
        return MIRE_HEAP_PCS_MAX * sizeof(uint64_t);
    case MIRE_HEAP_WORDS:
        return MIRE_HEAP_WORDS_MAX * sizeof(uint16_t);
    case MIRE_HEAP_BLOCKS:
    case MIRE_HEAP_SHADOW:
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
 * A holder that runs needs some microseconds. A holder that lost its processor gets it back within some milliseconds,
 * unless the waiting threads use it up, as a thousand threads that wake every 50 us do. So each nap is twice as long
 * as the one before.
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

/* ---- claims ---- */

/*
 * The rest of the budget is the reserve: for claims until the reclaimer has thinned the tables, and for the 3 MB that
 * the library takes beside the tables. So the process as a whole grows by no more than the default budget.
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
        mire__heap_press(heap);
    return true;
}

static bool claim_pages(struct heap *heap, void *pages, uint64_t bytes)
{
    if (!mire__heap_claim_anonymous(heap, bytes))
        return false;
    if (mire__pages_claim(pages, bytes))
        return true;
    atomic_fetch_sub_explicit(&heap->header->claimed_bytes, bytes, memory_order_relaxed);
    mire__heap_press(heap);
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
        /* Slots: a page for each of the first threads, then an eighth more at a time. */
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

/* ---- open and close ---- */

/* Cut a piece off the memory without a file. Before that is mapped only sizes are added up. */
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

    piece(&at, &heap->shadow_directory, heap, MIRE_SHADOW_PHASES * MIRE_DIRECTORY_TABLES * sizeof(void *));
    piece(&at, &heap->directory_tables, heap,
          (uint64_t)MIRE_DIRECTORY_TABLES_MAX * MIRE_DIRECTORY_TABLE_REFS * sizeof(shadow_ref));
    piece(&at, &heap->block_directory, heap, sizeof(uint16_t) << MIRE_SEGMENT_BITS_MAX);
    piece(&at, &heap->mapping_order, heap, MIRE_HEAP_MAPPINGS_MAX * sizeof(uint16_t));
    index_pieces(&at, &heap->node_index, heap, 1u << MIRE_INDEX_BITS_MAX);
    index_pieces(&at, &heap->pc_index, heap, 1u << 13);
    spare_pieces(&at, &heap->mapping_spare, heap, MIRE_HEAP_MAPPINGS_MAX);
    piece(&at, &heap->mapping_owner, heap, MIRE_HEAP_MAPPINGS_MAX * sizeof(uint32_t));
    spare_pieces(&at, &heap->shadow_spare, heap, pages);
    piece(&at, &heap->shadow_looks, heap, pages);
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
    atomic_store_explicit(&header->pcs_used, 1, memory_order_relaxed);
    atomic_store_explicit(&header->classes_used, 1, memory_order_relaxed);
    if (options->mode != MIRE_HEAP_EXACT)
        atomic_store_explicit(&header->inexact_ns, options->start_mono_ns, memory_order_relaxed);
}

/* Set where the sections lie, here and in the header. */
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
    heap->mappings = (struct heap_mapping *)at[MIRE_HEAP_MAPPINGS];
    heap->pcs = (_Atomic uint64_t *)at[MIRE_HEAP_PCS];
    heap->words = (_Atomic uint16_t *)at[MIRE_HEAP_WORDS];
    heap->blocks = (struct heap_segment *)at[MIRE_HEAP_BLOCKS];
    heap->keys = (_Atomic uint64_t *)at[MIRE_HEAP_KEYS];
    heap->shadow = (_Atomic uint32_t *)at[MIRE_HEAP_SHADOW];
    heap->extra = at[MIRE_HEAP_EXTRA];
    heap->there = (_Atomic uint8_t *)at[MIRE_HEAP_THERE];
}

/* Claim the needs of every run: first parts of the sections, the directories and the filter. */
static bool claim_first(struct heap *heap)
{
    uint64_t fixed =
        2 * MIRE_HEAP_PAGE_BYTES + (sizeof(uint16_t) << MIRE_SEGMENT_BITS_MAX) + MIRE_HEAP_FILTER + 2 * STEP;

    return mire__heap_claim_anonymous(heap, MIRE_HEAP_PAGE_BYTES + fixed) &&
           mire__heap_claim(heap, MIRE_HEAP_PEAKS, sizeof(struct heap_peaks)) &&
           mire__heap_claim(heap, MIRE_HEAP_IMAGES, 1) && mire__heap_claim(heap, MIRE_HEAP_PATHS, 1) &&
           mire__heap_claim(heap, MIRE_HEAP_PCS, 1) && mire__heap_claim(heap, MIRE_HEAP_WORDS, 1) &&
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
        mire__heap_close(heap); /* heap->header is NULL: unclaimed memory must not be read */
        return MIRE_E_FULL;
    }
    *first = 1; /* qemu-user says that it gave a page back, and did not */
    heap->holds_pages = !mire__pages_punch(memory, MIRE_HEAP_PAGE_BYTES);
    if (!mire__pages_claim(memory, MIRE_HEAP_PAGE_BYTES)) { /* another process took the last page of a full disk */
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
