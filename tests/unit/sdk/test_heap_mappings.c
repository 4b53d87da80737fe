/* test_heap_mappings.c - mappings compared with a naive twin, an array with an entry for each page. */
#include "heap/mappings.h"
#include "heapread/read.h"
#include "support/heaps.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define BUDGET (20u << 20)
#define PAGE   UINT64_C(4096)
#define PAGES  512u
#define BASE   UINT64_C(0x7f0000000000)

static uint64_t random_state;

static uint32_t roll(uint32_t below)
{
    return test_roll(&random_state, below);
}

/* Kind and node of each page, both + 1; 0: not mapped. */
struct twin {
    uint32_t kind[PAGES], node[PAGES];
    bool reserved[PAGES]; /* addresses without memory */
    uint64_t mapped_bytes[MIRE_HEAP_KINDS], peak_bytes[MIRE_HEAP_KINDS];
};

static void twin_fill(struct twin *twin, uint32_t from, uint32_t count, uint32_t kind, uint32_t node)
{
    for (uint32_t i = from; i < from + count; i++) {
        twin->kind[i] = kind;
        twin->node[i] = node;
        twin->reserved[i] = false;
    }
}

static void twin_commit(struct twin *twin, uint32_t from, uint32_t count, uint32_t kind, uint32_t node)
{
    for (uint32_t i = from; i < from + count; i++) {
        if (twin->reserved[i])
            twin_fill(twin, i, 1, kind, node);
    }
}

struct pages {
    uint32_t kind[PAGES], node[PAGES];
};

static bool mark_pages(void *context, const struct heap_live *live)
{
    struct pages *pages = context;

    for (uint64_t at = live->address; at < live->address + live->size; at += PAGE) {
        uint32_t i = (uint32_t)((at - BASE) / PAGE);

        if (pages->kind[i] != 0) /* reported twice */
            return false;
        pages->kind[i] = live->category - MIRE_CATEGORY_KINDS + 1;
        pages->node[i] = live->node + 1;
    }
    return true;
}

static void assert_read_as(const struct heaps *heaps, const struct twin *twin)
{
    static struct heap_reader reader;
    struct pages pages;

    memset(&pages, 0, sizeof(pages));
    assert_int_equal(mire__read_open(&reader, heaps->memory, heaps->bytes), MIRE_READ_OK);
    assert_int_equal(mire__read_mappings(&reader, mark_pages, &pages), 0);
    assert_memory_equal(pages.kind, twin->kind, sizeof(pages.kind));
    assert_memory_equal(pages.node, twin->node, sizeof(pages.node));
}

static void assert_counted_as(const struct heaps *heaps, struct twin *twin)
{
    uint64_t bytes[MIRE_HEAP_KINDS] = {0};

    for (uint32_t i = 0; i < PAGES; i++) {
        if (twin->kind[i])
            bytes[twin->kind[i] - 1] += PAGE;
    }
    for (uint32_t kind = 0; kind < MIRE_HEAP_KINDS; kind++) {
        const struct heap_shared_count *counts = &heaps->heap.peaks->kinds[kind];

        twin->peak_bytes[kind] = bytes[kind] > twin->peak_bytes[kind] ? bytes[kind] : twin->peak_bytes[kind];
        assert_int_equal(counts->bytes - counts->freed_bytes, bytes[kind]);
        assert_true(counts->peak_bytes >= twin->peak_bytes[kind]);
    }
}

static void regions_are_those_of_a_naive_twin(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    static struct twin twin;

    (void)state;
    random_state = test_seed();
    for (uint64_t i = 0; i < 16; i++)
        heaps_stack(heaps, 1, 0x401000 + i);
    for (int step = 0; step < 20000; step++) {
        uint32_t from = roll(PAGES / 2), count = 1 + roll(40), node = roll(8) + 1;
        enum heap_kind kind = (enum heap_kind)roll(MIRE_HEAP_KINDS);

        switch (roll(6)) {
        case 0:
            assert_true(mire__mappings_as_unmap(&heaps->heap, BASE + from * PAGE, count * PAGE));
            twin_fill(&twin, from, count, 0, 0);
            break;
        case 1:
            assert_true(mire__mappings_as_map(&heaps->heap, BASE + from * PAGE, count * PAGE, MIRE_KIND_RESERVED, 0));
            twin_fill(&twin, from, count, 0, 0);
            memset(twin.reserved + from, true, count);
            assert_true(mire__mappings_as_is_reserved(&heaps->heap, BASE + (from + count - 1) * PAGE, PAGE));
            break;
        case 2:
            assert_true(mire__mappings_as_commit(&heaps->heap, BASE + from * PAGE, count * PAGE, kind, node));
            twin_commit(&twin, from, count, (uint32_t)kind + 1, node + 1);
            assert_false(mire__mappings_as_is_reserved(&heaps->heap, BASE + from * PAGE, count * PAGE));
            break;
        case 3:
            assert_true(mire__mappings_as_renew(&heaps->heap, BASE + from * PAGE, count * PAGE, kind));
            twin_fill(&twin, from, count, (uint32_t)kind + 1, 1);
            break;
        default:
            assert_true(mire__mappings_as_map(&heaps->heap, BASE + from * PAGE, count * PAGE, kind, node));
            twin_fill(&twin, from, count, (uint32_t)kind + 1, node + 1);
        }
        assert_counted_as(heaps, &twin);
        if (step % 16 == 0)
            assert_read_as(heaps, &twin);
    }
    assert_int_equal(heaps->heap.header->drops[MIRE_HEAP_DROP_MAPPING], 0);
    assert_true(heaps->heap.header->regions_used <= PAGES);
    heaps_free(heaps);
}

static void a_break_that_grows_is_one_region(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    const struct heap_shared_count *counts = &heaps->heap.peaks->kinds[MIRE_KIND_BRK];

    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        assert_true(mire__mappings_as_map(&heaps->heap, BASE + i * PAGE, PAGE, MIRE_KIND_BRK, 3));
    assert_true(mire__mappings_as_unmap(&heaps->heap, BASE + 50 * PAGE, 50 * PAGE));
    assert_int_equal(counts->count, 1);
    assert_int_equal(counts->bytes - counts->freed_bytes, 50 * PAGE);
    assert_int_equal(counts->peak_bytes, 100 * PAGE);
    heaps_free(heaps);
}

/* A look at the mappings finds the same ones again and again. */
static void a_mapping_that_is_found_again_counts_once(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    const struct heap_shared_count *counts = &heaps->heap.peaks->kinds[MIRE_KIND_TAGGED];

    (void)state;
    for (int look = 0; look < 100; look++)
        assert_true(mire__mappings_as_renew(&heaps->heap, BASE, 8 * PAGE, MIRE_KIND_TAGGED));
    assert_int_equal(counts->count, 1);
    assert_int_equal(counts->bytes, 8 * PAGE);
    assert_true(mire__mappings_as_renew(&heaps->heap, BASE, 8 * PAGE, MIRE_KIND_TAGGED + 1));
    assert_int_equal(counts->bytes - counts->freed_bytes, 0);
    assert_int_equal(counts[1].bytes, 8 * PAGE);
    heaps_free(heaps);
}

static void every_kind_has_a_name(void **state)
{
    char name[MIRE_CATEGORY_NAME_BYTES], other[MIRE_CATEGORY_NAME_BYTES];

    (void)state;
    for (uint32_t kind = 0; kind < MIRE_HEAP_KINDS; kind++) {
        mire__category_name(name, MIRE_CATEGORY_KINDS + kind);
        assert_int_equal(strncmp(name, "VM: ", 4), 0);
        for (uint32_t before = 0; before < kind; before++) {
            mire__category_name(other, MIRE_CATEGORY_KINDS + before);
            assert_string_not_equal(name, other);
        }
    }
}

static void what_was_mapped_is_told_and_can_be_put_back(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    static struct twin twin;
    struct mapping_was was;

    (void)state;
    heaps_stack(heaps, 1, UINT64_C(0x401000));
    assert_true(mire__mappings_as_take(&was, &heaps->heap, BASE, 4 * PAGE));
    assert_false(was.known);
    assert_true(mire__mappings_as_map(&heaps->heap, BASE, 4 * PAGE, MIRE_KIND_DEVICE, 1));
    assert_true(mire__mappings_as_take(&was, &heaps->heap, BASE, 4 * PAGE));
    assert_true(was.known);
    assert_int_equal(was.kind, MIRE_KIND_DEVICE);
    assert_int_equal(was.node, 1);
    assert_read_as(heaps, &twin);
    assert_true(mire__mappings_as_map(&heaps->heap, BASE, 4 * PAGE, was.kind, was.node));
    twin_fill(&twin, 0, 4, MIRE_KIND_DEVICE + 1, 2);
    assert_read_as(heaps, &twin);
    heaps_free(heaps);
}

/* An ended thread is noticed late, when its stack's addresses may belong to others. */
static void an_ended_thread_takes_its_own_stack_alone(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    static struct twin twin;

    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        heaps_stack(heaps, 1, 0x401000 + i);
    assert_true(mire__mappings_as_map_stack(&heaps->heap, BASE, 8 * PAGE, 1, 100));
    assert_true(mire__mappings_as_map(&heaps->heap, BASE + 2 * PAGE, PAGE, MIRE_KIND_FILE, 2));
    assert_true(mire__mappings_as_map_stack(&heaps->heap, BASE + 4 * PAGE, 3 * PAGE, 1, 101));
    twin_fill(&twin, 0, 8, MIRE_KIND_STACK + 1, 2);
    twin_fill(&twin, 2, 1, MIRE_KIND_FILE + 1, 3);
    assert_read_as(heaps, &twin);
    assert_true(mire__mappings_as_end_stack(&heaps->heap, BASE, 8 * PAGE, 100));
    twin_fill(&twin, 0, 2, 0, 0);
    twin_fill(&twin, 3, 1, 0, 0);
    twin_fill(&twin, 7, 1, 0, 0);
    assert_read_as(heaps, &twin);
    assert_counted_as(heaps, &twin);
    assert_true(mire__mappings_as_end_stack(&heaps->heap, BASE + 4 * PAGE, 3 * PAGE, 101));
    twin_fill(&twin, 4, 3, 0, 0);
    assert_read_as(heaps, &twin);
    heaps_free(heaps);
}

static void a_stack_that_the_program_mapped_stays_what_it_was(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    static struct twin twin;

    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        heaps_stack(heaps, 1, 0x401000 + i);
    assert_true(mire__mappings_as_map(&heaps->heap, BASE, 8 * PAGE, MIRE_KIND_ANONYMOUS, 2));
    assert_true(mire__mappings_as_map_stack(&heaps->heap, BASE + PAGE, 2 * PAGE, 1, 100));
    twin_fill(&twin, 0, 8, MIRE_KIND_ANONYMOUS + 1, 3);
    assert_read_as(heaps, &twin);
    assert_true(mire__mappings_as_end_stack(&heaps->heap, BASE + PAGE, 2 * PAGE, 100));
    assert_read_as(heaps, &twin);
    heaps_free(heaps);
}

static void nothing_is_mapped_by_no_bytes(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);

    (void)state;
    assert_true(mire__mappings_as_map(&heaps->heap, BASE, 0, MIRE_KIND_FILE, 0));
    assert_true(mire__mappings_as_map(&heaps->heap, UINT64_MAX - 4095, 8192, MIRE_KIND_FILE, 0)); /* wraps */
    assert_true(mire__mappings_as_unmap(&heaps->heap, BASE, PAGE));
    assert_int_equal(heaps->heap.header->regions_used, 0);
    heaps_free(heaps);
}

static void regions_beyond_the_table_are_counted(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);

    (void)state;
    for (uint64_t i = 0; i < MIRE_HEAP_MAPPINGS_MAX; i++) /* downwards, so that each is inserted before all others */
        mire__mappings_as_map(&heaps->heap, BASE + (MIRE_HEAP_MAPPINGS_MAX - i) * 2 * PAGE, PAGE, MIRE_KIND_FILE, 0);
    assert_int_equal(heaps->heap.header->drops[MIRE_HEAP_DROP_MAPPING], 0);
    assert_false(mire__mappings_as_map(&heaps->heap, BASE, PAGE, MIRE_KIND_FILE, 0));
    assert_int_equal(heaps->heap.header->drops[MIRE_HEAP_DROP_MAPPING], 1);
    heaps_free(heaps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_those_of_a_naive_twin),
        cmocka_unit_test(a_break_that_grows_is_one_region),
        cmocka_unit_test(a_mapping_that_is_found_again_counts_once),
        cmocka_unit_test(every_kind_has_a_name),
        cmocka_unit_test(what_was_mapped_is_told_and_can_be_put_back),
        cmocka_unit_test(an_ended_thread_takes_its_own_stack_alone),
        cmocka_unit_test(a_stack_that_the_program_mapped_stays_what_it_was),
        cmocka_unit_test(nothing_is_mapped_by_no_bytes),
        cmocka_unit_test(regions_beyond_the_table_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
