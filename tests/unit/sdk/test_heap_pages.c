/* test_heap_pages.c - pages of the shadow: when a page is made, and when it is given back. */
#include "heap/heap.h"
#include "support/heaps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define BUDGET (20u << 20)

/* Returns true if a page that is given back reads as zeros. Under qemu-user the call succeeds without effect. */
static bool system_takes_pages_back(void)
{
    uint8_t *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool taken;

    assert_ptr_not_equal(page, MAP_FAILED);
    *page = 1;
    taken = sysconf(_SC_PAGESIZE) == 4096 && madvise(page, 4096, MADV_REMOVE) == 0 && *(volatile uint8_t *)page == 0;
    munmap(page, 65536);
    return taken;
}

/* Run rounds of the reclaimer. Returns the number of pages given back. */
static uint32_t keep(struct heaps *heaps, uint32_t rounds)
{
    struct heap_reclaimed kept;
    uint32_t given = 0;

    mire__slot_as_leave(heaps->slot);
    for (uint32_t round = 1; round <= rounds; round++) {
        mire__heap_reclaim(&kept, &heaps->heap, round, round);
        given += kept.pages_given_back;
    }
    assert_true(mire__slot_as_enter(heaps->slot));
    return given;
}

static void pages_in_which_nothing_lives_are_given_back(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    uint64_t before, peak;

    (void)state;
    heaps_fill(heaps);
    before = heaps->heap.header->claimed_bytes;
    for (uint64_t i = 0; i < 100000; i++)
        assert_true(heaps_set(heaps, 0x10000000 + i * 64, 50, 0));
    peak = heaps->heap.header->claimed_bytes;
    for (uint64_t i = 0; i < 100000; i++)
        assert_true(heaps_clear(heaps, 0x10000000 + i * 64));
    assert_true(keep(heaps, 2) >= 100000 * 64 / 32768);
    assert_int_equal(heaps->heap.holds_pages, !system_takes_pages_back());
    assert_true(heaps->heap.header->claimed_bytes < before + (peak - before) / 8 || heaps->heap.holds_pages);
    for (uint64_t i = 0; i < 100000; i++) /* and are taken again */
        assert_true(heaps_set(heaps, 0x90000000 + i * 64, 50, 0));
    assert_true(heaps->heap.header->claimed_bytes <= peak + MIRE_HEAP_PAGE_BYTES * 16);
    heaps_free(heaps);
}

/* A file without holes, as in a private mapping, or system pages larger than those of the tables. */
static void pages_that_cannot_be_given_back_are_used_again(void **state)
{
    struct heaps heaps = {.bytes = mire__heap_file_bytes(BUDGET)};
    struct heap_options options = MIRE_HEAP_OPTIONS_INIT;
    uint64_t claimed = 0;

    (void)state;
    heaps.memory = mmap(NULL, heaps.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(heaps.memory, MAP_FAILED);
    options.budget_bytes = BUDGET;
    options.mode = MIRE_HEAP_EXACT;
    assert_int_equal(mire__heap_open(&heaps.heap, heaps.memory, &options), MIRE_OK);
    heaps.slot = mire__slot_as_take(&heaps.heap, 1);
    assert_true(mire__slot_as_enter(heaps.slot));
    heaps_fill(&heaps);
    for (uint64_t round = 1; round <= 100; round++) {
        for (uint64_t i = 0; i < 20000; i++)
            assert_true(heaps_set(&heaps, 0x10000000 + round * 0x200000 + i * 64, 50, 0));
        for (uint64_t i = 0; i < 20000; i++)
            assert_true(heaps_clear(&heaps, 0x10000000 + round * 0x200000 + i * 64));
        assert_true(keep(&heaps, 2) >= 20000 * 64 / 32768);
        if (round == 10)
            claimed = heaps.heap.header->claimed_bytes;
    }
    assert_in_range(heaps.heap.header->claimed_bytes, claimed, claimed + BUDGET / 16);
    assert_int_equal(heaps.heap.header->degrade_count, 0);
    mire__heap_close(&heaps.heap);
    munmap(heaps.memory, heaps.bytes);
}

/* Its few live blocks move to the other table. */
static void a_page_in_which_little_lives_is_given_back_too(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    struct live_block found;

    (void)state;
    heaps_fill(heaps);
    for (uint64_t i = 0; i < 512; i++)
        assert_true(heaps_set(heaps, 0x10000000 + i * 64, 50, (uint32_t)i));
    for (uint64_t i = 0; i < 512; i++)
        assert_true(i % 64 == 3 || heaps_clear(heaps, 0x10000000 + i * 64));
    assert_int_equal(keep(heaps, 1), 0);
    assert_int_equal(keep(heaps, 1), 1);
    for (uint64_t i = 0; i < 512; i++) {
        assert_int_equal(mire__block_as_find(&found, &heaps->heap, 0x10000000 + i * 64), i % 64 == 3);
        assert_true(i % 64 != 3 || found.node == i);
    }
    heaps_free(heaps);
}

/* Fill a page with blocks, and free them. */
static void fill_a_page(struct heaps *heaps)
{
    for (uint64_t i = 0; i < 512; i++)
        assert_true(heaps_set(heaps, 0x10000000 + i * 64, 50, 0));
}
static void empty_a_page(struct heaps *heaps)
{
    for (uint64_t i = 0; i < 512; i++)
        assert_true(heaps_clear(heaps, 0x10000000 + i * 64));
}

static void while_there_is_room_no_page_is_given_back(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);

    (void)state;
    fill_a_page(heaps);
    empty_a_page(heaps);
    assert_int_equal(keep(heaps, 5), 0);
    heaps_fill(heaps);
    assert_int_equal(keep(heaps, 2), 1);
    heaps_free(heaps);
}

static void a_page_that_is_sparse_now_and_then_stays(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);

    (void)state;
    heaps_fill(heaps);
    for (uint32_t round = 0; round < 5; round++) {
        fill_a_page(heaps);
        assert_int_equal(keep(heaps, 5), 0);
        empty_a_page(heaps);
        assert_int_equal(keep(heaps, 1), 0);
    }
    assert_int_equal(keep(heaps, 4), 1); /* one that was not sparse is looked at again after some rounds */
    heaps_free(heaps);
}

/* Allocate and free 8 blocks in each 32 KiB, several times. */
static void come_far_apart(struct heaps *heaps, uint32_t rounds, uint64_t count)
{
    for (uint32_t round = 1; round <= rounds; round++) {
        for (uint64_t i = 0; i < count; i++)
            assert_true(heaps_set(heaps, 0x10000000 + i * 4096, 50, 0));
        for (uint64_t i = 0; i < count && round < rounds; i++)
            assert_true(heaps_clear(heaps, 0x10000000 + i * 4096));
    }
}

static void blocks_far_from_each_other_take_no_pages(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    uint64_t before;

    (void)state;
    heaps_fill(heaps);
    before = heaps->heap.header->claimed_bytes;
    come_far_apart(heaps, 10, 10000);
    assert_int_equal(heaps->heap.header->shadow_pages_used, 0);
    assert_true(heaps->heap.header->claimed_bytes < before + (1u << 20) + 10000 * 40);
    heaps_free(heaps);
}

/* And blocks beside them, until half of the budget is used. */
static void while_there_is_room_those_that_come_again_do(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);

    (void)state;
    come_far_apart(heaps, 1, 80);
    assert_int_equal(heaps->heap.header->shadow_pages_used, 0);
    come_far_apart(heaps, 1, 80); /* the ends of those before were not seen */
    assert_int_equal(heaps->heap.header->shadow_pages_used, 10);
    come_far_apart(heaps, 10, 100000);
    assert_in_range(heaps->heap.header->claimed_bytes, BUDGET / 4, BUDGET / 2 + 100000 * 40);
    heaps_free(heaps);
}

/* A heap grows at its end: the next block there has a shadow entry already. Far from any page a block has none. */
static void the_first_small_block_beside_a_page_makes_the_next(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);

    (void)state;
    for (uint64_t i = 0; i < 512; i++)
        assert_true(heaps_set(heaps, 0x10000000 + i * 64, 50, 0));
    assert_int_equal(heaps->heap.header->shadow_pages_used, 1);
    assert_true(heaps_set(heaps, 0x10008000, 50, 0));
    assert_int_equal(heaps->heap.header->shadow_pages_used, 2);
    assert_true(heaps_set(heaps, 0x10010000, MIRE_SHADOW_SMALL + 1, 0)); /* a large one makes none */
    assert_true(heaps_set(heaps, 0x10028000, 50, 0));
    assert_int_equal(heaps->heap.header->shadow_pages_used, 2);
    heaps_free(heaps);
}

static void a_page_of_a_thread_that_stays_inside_is_kept(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    struct heap_reclaimed kept;

    (void)state;
    heaps_fill(heaps);
    fill_a_page(heaps);
    empty_a_page(heaps);
    for (uint64_t round = 1; round <= 2; round++) {
        mire__heap_reclaim(&kept, &heaps->heap, round, 1); /* heaps->slot is inside */
        assert_int_equal(kept.pages_given_back, 0);
    }
    assert_true(heaps_set(heaps, 0x10000000, 50, 0));
    assert_true(heaps_clear(heaps, 0x10000000));
    heaps_free(heaps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_in_which_nothing_lives_are_given_back),
        cmocka_unit_test(pages_that_cannot_be_given_back_are_used_again),
        cmocka_unit_test(a_page_in_which_little_lives_is_given_back_too),
        cmocka_unit_test(while_there_is_room_no_page_is_given_back),
        cmocka_unit_test(a_page_that_is_sparse_now_and_then_stays),
        cmocka_unit_test(blocks_far_from_each_other_take_no_pages),
        cmocka_unit_test(while_there_is_room_those_that_come_again_do),
        cmocka_unit_test(the_first_small_block_beside_a_page_makes_the_next),
        cmocka_unit_test(a_page_of_a_thread_that_stays_inside_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
