/* test_heap_shadow.c - blocks that begin in the same shadow entries, also by two threads at once. */
#include "heap/reclaim.h"
#include "heapread/read.h"
#include "support/heaps.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define BASE    UINT64_C(0x7f0000000000)
#define ENTRIES 16u
#define TURNS   400000u

/* One of two threads: all its blocks begin at one offset in their shadow entries. */
struct neighbour {
    struct heaps *heaps;
    struct heap_slot *slot;
    uint64_t offset, size;
    uint32_t lost;
    pthread_t thread;
};

static uint64_t address_of(const struct neighbour *self, uint32_t turn)
{
    return BASE + turn % ENTRIES * 64 + self->offset;
}

static void *come_and_go(void *argument)
{
    struct neighbour *self = argument;
    struct heap *heap = &self->heaps->heap;
    struct live_block was;

    mire__slot_as_enter(self->slot);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        uint64_t address = address_of(self, turn);

        mire__block_as_set(heap, self->slot, address, self->size, 1);
        self->lost += !mire__block_as_find(&was, heap, address) || was.size != self->size;
        self->lost += !mire__block_as_clear(&was, heap, self->slot, address);
    }
    for (uint32_t entry = 0; entry < ENTRIES; entry++)
        mire__block_as_set(heap, self->slot, address_of(self, entry), self->size, 1);
    mire__slot_as_leave(self->slot);
    return NULL;
}

static bool count_size(void *context, const struct heap_live *live)
{
    uint64_t *sizes = context;

    sizes[live->size >= 64]++;
    return true;
}

/* Make a shadow page for the addresses. */
static void make_page(struct heaps *heaps)
{
    for (uint64_t i = 0; i < MIRE_SHADOW_DENSE; i++)
        heaps_set(heaps, BASE + 8192 + i * 64, 8, 1);
    assert_non_null(mire__shadow_page_at(&heaps->heap, BASE, 0));
    for (uint64_t i = 0; i < MIRE_SHADOW_DENSE; i++)
        assert_true(heaps_clear(heaps, BASE + 8192 + i * 64));
}

/* The size of the second one is in the next shadow entry. */
static void neighbours_in_an_entry_are_both_kept(void **state)
{
    struct heaps *heaps = heaps_new(20u << 20, MIRE_HEAP_EXACT);
    struct neighbour both[2] = {{.offset = 0, .size = 16}, {.offset = 16, .size = 80}};
    static struct heap_reader reader;
    uint64_t sizes[2] = {0, 0};

    (void)state;
    make_page(heaps);
    for (uint32_t i = 0; i < 2; i++) {
        both[i].heaps = heaps;
        both[i].slot = mire__slot_as_take(&heaps->heap, 100 + i);
        assert_non_null(both[i].slot);
        assert_int_equal(pthread_create(&both[i].thread, NULL, come_and_go, &both[i]), 0);
    }
    for (uint32_t i = 0; i < 2; i++) {
        pthread_join(both[i].thread, NULL);
        assert_int_equal(both[i].lost, 0);
    }
    assert_int_equal(mire__read_open(&reader, heaps->memory, heaps->bytes), MIRE_READ_OK);
    assert_int_equal(mire__read_blocks(&reader, count_size, sizes), 0);
    assert_int_equal(sizes[0], ENTRIES);
    assert_int_equal(sizes[1], ENTRIES);
    assert_int_equal(heaps->heap.header->drops[MIRE_HEAP_DROP_OVERLAP], 0);
    heaps_free(heaps);
}

static uint32_t entry_count(const struct heap *heap)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < heap->header->segments_used; i++) {
        for (uint32_t j = 0; j < MIRE_SEGMENT_ENTRIES; j++)
            count += heap->blocks[i].entries[j].where != 0;
    }
    return count;
}

/* Blocks close together: more pages are made after some blocks had to go to the other table. */
static void assert_all_have_entries(uint32_t quantum)
{
    const uint32_t phases = 32 / quantum, blocks = phases * MIRE_SHADOW_PAGE_ENTRIES;
    struct heaps *heaps = heaps_new(20u << 20, MIRE_HEAP_EXACT);
    static struct heap_reader reader;
    uint64_t sizes[2] = {0, 0};
    struct live_block found;

    for (uint32_t i = 0; i < blocks; i++)
        assert_true(heaps_set(heaps, BASE + i * quantum, quantum, i));
    assert_int_equal(heaps->heap.header->shadow_pages_used, phases);
    assert_in_range(entry_count(&heaps->heap), 1, phases * MIRE_SHADOW_COMING);
    for (uint32_t i = 0; i < blocks; i++) {
        assert_true(mire__block_as_find(&found, &heaps->heap, BASE + i * quantum));
        assert_int_equal(found.node, i);
    }
    assert_int_equal(mire__read_open(&reader, heaps->memory, heaps->bytes), MIRE_READ_OK);
    assert_int_equal(mire__read_blocks(&reader, count_size, sizes), 0);
    assert_int_equal(sizes[0], blocks);
    for (uint32_t i = 0; i < blocks; i++)
        assert_true(heaps_clear(heaps, BASE + i * quantum));
    assert_int_equal(entry_count(&heaps->heap), 0);
    for (uint32_t i = 0; i < blocks; i++)
        assert_false(heaps_clear(heaps, BASE + i * quantum));
    heaps_free(heaps);
}

static void blocks_of_8_bytes_all_have_entries(void **state)
{
    (void)state;
    assert_all_have_entries(16);
    assert_all_have_entries(8);
}

/* One page would have room for all of them, but they begin in two phases. */
static void wide_blocks_in_two_phases_have_entries_when_many_came(void **state)
{
    struct heaps *heaps = heaps_new(20u << 20, MIRE_HEAP_EXACT);
    const uint32_t blocks = (MIRE_SHADOW_PAGE_ENTRIES << MIRE_SHADOW_SPAN_LOG) / 208;

    (void)state;
    for (uint32_t i = 0; i < blocks; i++)
        assert_true(heaps_set(heaps, BASE + i * 208, 192, i));
    assert_int_equal(heaps->heap.header->shadow_pages_used, 0);
    assert_int_equal(entry_count(&heaps->heap), blocks);
    for (uint32_t i = 0; i < 4 * blocks; i++) {
        assert_true(heaps_clear(heaps, BASE + i % blocks * 208));
        assert_true(heaps_set(heaps, BASE + i % blocks * 208, 192, i));
    }
    assert_int_equal(heaps->heap.header->shadow_pages_used, 2);
    assert_int_equal(entry_count(&heaps->heap), 0);
    heaps_free(heaps);
}

/* The reclaimer frees the page of each phase separately; the blocks in it are still found. */
static void pages_of_all_phases_are_given_back(void **state)
{
    struct heaps *heaps = heaps_new(20u << 20, MIRE_HEAP_EXACT);
    uint32_t given = 0, blocks = MIRE_SHADOW_PAGE_ENTRIES;
    struct live_block found;
    struct heap_reclaimed kept;

    (void)state;
    for (uint32_t i = 0; i < blocks; i++)
        assert_true(heaps_set(heaps, BASE + i * 8, 8, i));
    for (uint32_t i = 0; i < blocks; i++)
        assert_true(i % 64 == 63 || heaps_clear(heaps, BASE + i * 8));
    heaps_fill(heaps);
    mire__slot_as_leave(heaps->slot);
    for (uint64_t round = 1; round <= 2; round++) {
        mire__heap_reclaim(&kept, &heaps->heap, round, round);
        given += kept.pages_given_back;
    }
    assert_true(mire__slot_as_enter(heaps->slot));
    assert_int_equal(given, MIRE_SHADOW_PHASES);
    for (uint32_t i = 0; i < blocks; i++) {
        assert_int_equal(mire__block_as_find(&found, &heaps->heap, BASE + i * 8), i % 64 == 63);
        assert_true(i % 64 != 63 || found.node == i);
    }
    heaps_free(heaps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_in_an_entry_are_both_kept),
        cmocka_unit_test(blocks_of_8_bytes_all_have_entries),
        cmocka_unit_test(wide_blocks_in_two_phases_have_entries_when_many_came),
        cmocka_unit_test(pages_of_all_phases_are_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
