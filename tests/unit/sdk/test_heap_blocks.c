/* test_heap_blocks.c - live blocks compared with a naive twin, in the tables and by a reader of the file. */
#include "heap/classes.h"
#include "heap/reclaim.h"
#include "heapread/read.h"
#include "support/heaps.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define BUDGET (20u << 20)

static uint64_t random_state;

static uint32_t roll(uint32_t below)
{
    return test_roll(&random_state, below);
}

/* ---- the twin: a plain list ---- */

struct twin_block {
    uint64_t address, size;
    uint32_t node, category;
    bool seen;
};

struct twin {
    struct twin_block *blocks;
    uint32_t count, cap;
    bool wrong;
};

static int by_address(const void *a, const void *b)
{
    uint64_t left = ((const struct twin_block *)a)->address, right = ((const struct twin_block *)b)->address;

    return left < right ? -1 : left > right;
}

static bool check_block(void *context, const struct heap_live *live)
{
    struct twin *twin = context;
    struct twin_block key = {.address = live->address}, *found;

    found = bsearch(&key, twin->blocks, twin->count, sizeof(key), by_address);
    if (!found || found->seen || found->size != live->size || found->node != live->node ||
        found->category != live->category || live->chance != 1) {
        twin->wrong = true;
        return false;
    }
    return found->seen = true;
}

/* The reader reports exactly the twin's blocks. */
static void assert_read_as(struct heaps *heaps, struct twin *twin)
{
    static struct heap_reader reader;

    assert_int_equal(mire__read_open(&reader, heaps->memory, heaps->bytes), MIRE_READ_OK);
    qsort(twin->blocks, twin->count, sizeof(*twin->blocks), by_address);
    for (uint32_t i = 0; i < twin->count; i++)
        twin->blocks[i].seen = false;
    twin->wrong = false;
    assert_int_equal(mire__read_blocks(&reader, check_block, twin), 0);
    assert_false(twin->wrong);
    for (uint32_t i = 0; i < twin->count; i++)
        assert_true(twin->blocks[i].seen);
}

/* ---- an allocator of made-up addresses: buckets of one size each, like a real allocator's ---- */

#define SLOTS 4096u

struct arena {
    uint64_t begin, quantum;
    uint8_t used[SLOTS];
};

static uint64_t arena_take(struct arena *arena)
{
    uint32_t at = roll(SLOTS);

    while (arena->used[at])
        at = (at + 1) % SLOTS;
    arena->used[at] = 1;
    return arena->begin + at * arena->quantum;
}

static void add(struct heaps *heaps, struct twin *twin, struct arena *arena)
{
    struct twin_block *block = &twin->blocks[twin->count++];

    block->address = arena_take(arena);
    block->size = roll((uint32_t)arena->quantum + 1);
    block->node = roll(MIRE_HEAP_WORDS_MAX) & 0xff; /* none of the nodes is a tag's */
    block->category = mire__size_class(block->size);
    assert_true(heaps_set(heaps, block->address, block->size, block->node));
}

static void take_away(struct heaps *heaps, struct twin *twin, struct arena *arenas, uint32_t arena_count)
{
    uint32_t at = roll(twin->count);
    struct twin_block block = twin->blocks[at];
    struct live_block was;

    assert_true(mire__block_as_find(&was, &heaps->heap, block.address));
    assert_true(mire__block_as_clear(&was, &heaps->heap, heaps->slot, block.address));
    assert_int_equal(was.size, block.size);
    assert_int_equal(was.node, block.node);
    assert_int_equal(was.interval, 0);
    assert_false(mire__block_as_clear(&was, &heaps->heap, heaps->slot, block.address));
    twin->blocks[at] = twin->blocks[--twin->count];
    for (uint32_t i = 0; i < arena_count; i++) {
        uint64_t off = block.address - arenas[i].begin;

        if (block.address >= arenas[i].begin && off / arenas[i].quantum < SLOTS)
            arenas[i].used[off / arenas[i].quantum] = 0;
    }
}

static void blocks_are_those_of_a_naive_twin(void **state)
{
    static const uint64_t quanta[] = {8, 16, 24, 32, 48, 64, 160, 256, 272, 4096, 1u << 20};
    static struct arena arenas[MIRE_COUNT(quanta)];
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    struct twin twin = {calloc(SLOTS * MIRE_COUNT(quanta), sizeof(struct twin_block)), 0, 0, false};

    (void)state;
    random_state = test_seed();
    memset(arenas, 0, sizeof(arenas));
    for (uint32_t i = 0; i < 256; i++) /* 256 words of nodes, so that every node of the blocks is one */
        heaps_stack(heaps, 1, 0x400000 + 16 * (uint64_t)i);
    for (uint32_t i = 0; i < MIRE_COUNT(quanta); i++) {
        arenas[i].begin = 0x7f0000000000u + ((uint64_t)i << 33) + 8;
        arenas[i].quantum = quanta[i];
    }
    for (uint32_t step = 0; step < 200000; step++) {
        struct arena *arena = &arenas[roll(MIRE_COUNT(quanta))];

        if (twin.count < 3000 * MIRE_COUNT(quanta) && roll(100) < 58)
            add(heaps, &twin, arena);
        else if (twin.count > 0)
            take_away(heaps, &twin, arenas, MIRE_COUNT(quanta));
        if (step % 50000 == 0)
            assert_read_as(heaps, &twin);
    }
    assert_read_as(heaps, &twin);
    while (twin.count > 0)
        take_away(heaps, &twin, arenas, MIRE_COUNT(quanta));
    assert_read_as(heaps, &twin);
    for (uint32_t i = 0; i < MIRE_HEAP_DROPS; i++)
        assert_int_equal(heaps->heap.header->drops[i], 0);
    free(twin.blocks);
    heaps_free(heaps);
}

/* The hook of a free looks there before it enters its slot: a thread may stop in between for any time. */
static void who_comes_too_late_finds_nothing_in_tables_that_were_retired(void **state)
{
    struct heaps *heaps = heaps_new_at(BUDGET, MIRE_HEAP_SAMPLED, 1);

    (void)state;
    assert_true(heaps_set(heaps, 0x10000000, 5000, 0));
    assert_true(mire__filter_may_hold(&heaps->heap, 0x10000000));
    mire__slot_as_leave(heaps->slot);
    mire__heap_stop(&heaps->heap);
    mire__heap_retire(&heaps->heap);
    for (uint64_t address = 0x10000000; address < 0x18000000; address += 1024)
        assert_false(mire__filter_may_hold(&heaps->heap, address));
    heaps_free(heaps);
}

static void a_block_whose_end_was_not_seen_gives_way(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    struct live_block found;

    (void)state;
    for (uint64_t i = 4; i < 128; i++) { /* so that there are shadow entries */
        assert_true(heaps_set(heaps, 0x10000 + i * 256, 40, 1));
        assert_true(heaps_set(heaps, 0x20000 + i * 256, 40, 1));
        assert_true(heaps_set(heaps, 0x40000 + i * 256, 40, 1));
    }
    assert_true(heaps_set(heaps, 0x10000, 40, 1));
    assert_true(heaps_set(heaps, 0x10000, 200, 2)); /* over it */
    assert_true(heaps_set(heaps, 0x20000, 40, 1));
    assert_true(heaps_set(heaps, 0x20020, 10, 1));
    assert_true(heaps_set(heaps, 0x20000, 100, 3)); /* over both */
    assert_true(heaps_set(heaps, 0x30000, 5000, 1));
    assert_true(heaps_set(heaps, 0x30000, 6000, 4));
    assert_true(heaps_set(heaps, 0x40000, 40, 1));
    assert_true(heaps_set(heaps, 0x40000, 4000, 5)); /* now in the other table */
    assert_true(heaps_clear(heaps, 0x40000));
    assert_false(heaps_clear(heaps, 0x40000));
    assert_true(mire__block_as_find(&found, &heaps->heap, 0x10000));
    assert_int_equal(found.size, 200);
    assert_false(mire__block_as_find(&found, &heaps->heap, 0x20020));
    assert_true(mire__block_as_find(&found, &heaps->heap, 0x30000));
    assert_int_equal(found.node, 4);
    assert_int_equal(heaps->heap.header->drops[MIRE_HEAP_DROP_OVERLAP], 5);
    heaps_free(heaps);
}

static void a_failed_realloc_is_taken_back(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    static struct heap_reader reader;
    struct heap_category category;
    struct live_block was, found;

    (void)state;
    assert_true(heaps_set(heaps, 0x10000, 40, 7));
    assert_true(mire__block_as_clear(&was, &heaps->heap, heaps->slot, 0x10000));
    assert_true(mire__block_as_put_back(&heaps->heap, heaps->slot, 0x10000, &was));
    assert_true(mire__block_as_find(&found, &heaps->heap, 0x10000));
    assert_int_equal(found.node, 7);
    assert_int_equal(mire__read_open(&reader, heaps->memory, heaps->bytes), MIRE_READ_OK);
    assert_true(mire__read_category(&category, &reader, mire__size_class(40)));
    assert_int_equal(category.peak_count, 1);
    heaps_free(heaps);
}

static void impossible_addresses_are_left_out(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);

    (void)state;
    assert_false(heaps_set(heaps, 0, 40, 1));
    assert_false(heaps_set(heaps, UINT64_C(1) << 48, 40, 1));
    assert_false(heaps_clear(heaps, UINT64_C(1) << 48));
    assert_true(heaps_set(heaps, 0x10004, 40, 1)); /* no multiple of 8 */
    assert_true(heaps_clear(heaps, 0x10004));
    heaps_free(heaps);
}

/* ---- classes ---- */

static void assert_category(const struct heap_reader *reader, uint32_t category, const char *name, uint64_t total,
                            uint64_t peak_count, uint64_t peak_bytes)
{
    struct heap_category found;

    assert_true(mire__read_category(&found, reader, category));
    assert_string_equal(found.name, name);
    assert_int_equal(found.total_count, total);
    assert_int_equal(found.peak_count, peak_count);
    assert_int_equal(found.peak_bytes, peak_bytes);
}

struct sums {
    uint64_t count[MIRE_CATEGORIES_MAX], bytes[MIRE_CATEGORIES_MAX];
};

static bool sum_up(void *context, const struct heap_live *live)
{
    struct sums *sums = context;

    sums->count[live->category]++;
    sums->bytes[live->category] += live->size;
    return true;
}

static void tagged_blocks_count_as_their_class(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    uint32_t stack = heaps_stack(heaps, 2, (uint64_t)0x401000, (uint64_t)0x402000), image, label;
    static struct heap_reader reader;
    static struct sums sums;
    struct live_block found;

    (void)state;
    image = mire__classes_as_find(&heaps->heap, "UIImage");
    label = mire__classes_as_find(&heaps->heap, "GtkLabel");
    assert_int_equal(mire__classes_as_find(&heaps->heap, "UIImage"), image);
    assert_int_equal(mire__classes_as_find(&heaps->heap, ""), 0);
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t address = 0x10000 + i * 8192;

        assert_true(heaps_set(heaps, address, i < 5 ? 100 : 5000, stack));
        assert_true(mire__block_as_tag(&heaps->heap, heaps->slot, address, label));
        assert_true(mire__block_as_tag(&heaps->heap, heaps->slot, address, image));
    }
    assert_false(mire__block_as_tag(&heaps->heap, heaps->slot, 0x999990, image));
    assert_false(mire__block_as_tag(&heaps->heap, heaps->slot, 0x10000, 0));
    for (uint64_t i = 0; i < 8; i++)
        assert_true(heaps_clear(heaps, 0x10000 + i * 8192));
    assert_true(mire__block_as_find(&found, &heaps->heap, 0x10000 + 9 * 8192));
    assert_true(found.tagged);
    assert_int_equal(mire__node_as_class(&heaps->heap, found.node), image);
    assert_int_equal(mire__node_as_untagged(&heaps->heap, found.node), stack);
    assert_int_equal(mire__read_open(&reader, heaps->memory, heaps->bytes), MIRE_READ_OK);
    assert_category(&reader, MIRE_CATEGORY_CLASSES + image, "UIImage", 10, 10, 5 * 100 + 5 * 5000);
    assert_category(&reader, MIRE_CATEGORY_CLASSES + label, "GtkLabel", 10, 1, 5000);
    assert_category(&reader, mire__size_class(100), "Malloc 112", 5, 1, 100);
    memset(&sums, 0, sizeof(sums));
    assert_int_equal(mire__read_blocks(&reader, sum_up, &sums), 0);
    assert_int_equal(sums.count[MIRE_CATEGORY_CLASSES + image], 2);
    assert_int_equal(sums.bytes[MIRE_CATEGORY_CLASSES + image], 2 * 5000);
    heaps_free(heaps);
}

static void classes_beyond_the_table_are_none(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    char name[100];

    (void)state;
    for (uint32_t i = 1; i < MIRE_HEAP_CLASSES_MAX; i++) {
        snprintf(name, sizeof(name), "Class%04u%060u", i, i); /* longer than is kept */
        assert_int_equal(mire__classes_as_find(&heaps->heap, name), i);
        assert_int_equal(mire__classes_as_find(&heaps->heap, name), i);
    }
    assert_int_equal(mire__classes_as_find(&heaps->heap, "OneMore"), 0);
    assert_int_equal(heaps->heap.header->drops[MIRE_HEAP_DROP_CLASS], 1);
    heaps_free(heaps);
}

/* ---- size classes ---- */

static void every_size_is_in_the_smallest_class_that_holds_it(void **state)
{
    char name[MIRE_CATEGORY_NAME_BYTES];

    (void)state;
    for (uint64_t size = 0; size < 100000; size++) {
        uint32_t class = mire__size_class(size);

        assert_true(size <= mire__size_class_bytes(class));
        assert_true(class == 0 || size > mire__size_class_bytes(class - 1));
    }
    for (uint64_t size = 0; size <= 16 * (MIRE_SLOT_CLASSES - 1); size++)
        assert_int_equal(mire__slot_classes[(size + 15) / 16], MIRE_SLOT_COUNTS(mire__size_class(size)));
    assert_int_equal(mire__size_class(UINT64_MAX), MIRE_HEAP_SIZES - 1);
    mire__category_name(name, mire__size_class(1u << 20));
    assert_string_equal(name, "Malloc 1 MiB");
    mire__category_name(name, MIRE_CATEGORY_KINDS + MIRE_KIND_STACK);
    assert_string_equal(name, "VM: stack");
    mire__category_name(name, 63);
    assert_string_equal(name, "");
}

/* Threads publish their counts now and then; unpublished blocks lived too. */
static void what_lives_is_no_more_than_its_peak(void **state)
{
    enum { THREADS = 50, EACH = 10, BYTES = 100 };
    struct heaps *heaps = heaps_new(20u << 20, MIRE_HEAP_EXACT);
    struct heap_category found;
    struct heap_reader reader;

    (void)state;
    for (uint32_t i = 0; i < THREADS; i++) {
        struct heap_slot *slot = mire__slot_as_take(&heaps->heap, 100 + i);

        assert_non_null(slot);
        for (uint64_t at = 0; at < EACH; at++)
            assert_true(mire__block_as_set(&heaps->heap, slot, 0x10000 + (i * EACH + at) * 128, BYTES, 0));
    }
    assert_int_equal(mire__read_open(&reader, heaps->memory, heaps->bytes), MIRE_READ_OK);
    assert_true(mire__read_category(&found, &reader, mire__size_class(BYTES)));
    assert_int_equal(found.peak_count, THREADS * EACH);
    assert_int_equal(found.peak_bytes, THREADS * EACH * BYTES);
    heaps_free(heaps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_those_of_a_naive_twin),
        cmocka_unit_test(who_comes_too_late_finds_nothing_in_tables_that_were_retired),
        cmocka_unit_test(a_block_whose_end_was_not_seen_gives_way),
        cmocka_unit_test(a_failed_realloc_is_taken_back),
        cmocka_unit_test(impossible_addresses_are_left_out),
        cmocka_unit_test(tagged_blocks_count_as_their_class),
        cmocka_unit_test(classes_beyond_the_table_are_none),
        cmocka_unit_test(every_size_is_in_the_smallest_class_that_holds_it),
        cmocka_unit_test(what_lives_is_no_more_than_its_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
