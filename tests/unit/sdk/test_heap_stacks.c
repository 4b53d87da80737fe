/* test_heap_stacks.c - stored stacks are read back unchanged; no node is stored twice; images come and go. */
#include "heapread/read.h"
#include "support/heaps.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BUDGET (20u << 20)

static uint64_t random_state;

static uint32_t roll(uint32_t below)
{
    return test_roll(&random_state, below);
}

static struct heap_reader *read_tables(const struct heaps *heaps)
{
    static struct heap_reader reader;

    assert_int_equal(mire__read_open(&reader, heaps->memory, heaps->bytes), MIRE_READ_OK);
    return &reader;
}

/* Check a node's frames, innermost first. */
static void assert_stack(const struct heap_reader *reader, uint32_t node, const uint64_t *addresses, uint32_t count)
{
    struct heap_frame frame;

    for (uint32_t i = 0; i < count; i++) {
        assert_true(mire__read_frame(&frame, reader, &node));
        assert_int_equal(frame.address, addresses[i]);
    }
    assert_int_equal(node, MIRE_NODE_ROOT);
    assert_false(mire__read_frame(&frame, reader, &node));
}

static int by_pair(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(uint64_t));
}

/* Check that no pair of parent and address is stored twice. Returns the number of readable nodes. */
static uint32_t assert_no_node_twice(const struct heap_reader *reader, uint32_t words_used)
{
    uint64_t(*pairs)[2] = calloc(words_used, sizeof(*pairs));
    struct heap_frame frame;
    uint32_t count = 0;

    for (uint32_t at = 1; at < words_used; at++) {
        uint32_t node = at;

        if (!mire__read_frame(&frame, reader, &node))
            continue;
        assert_true(node < at);
        pairs[count][0] = node;
        pairs[count++][1] = frame.address;
    }
    qsort(pairs, count, sizeof(*pairs), by_pair);
    for (uint32_t i = 1; i < count; i++)
        assert_int_not_equal(memcmp(pairs[i - 1], pairs[i], sizeof(*pairs)), 0);
    free(pairs);
    return count;
}

/* An artificial program: every function calls a few others, deeper ones more of them. */
static uint32_t wander(uint64_t *addresses, uint32_t functions)
{
    uint32_t depth = 1 + roll(MIRE_DEPTH_MAX - 1), at = 0;

    for (uint32_t i = depth; i > 0; i--) {
        at = (at * 7 + roll(i > depth / 4 ? 2 : 30) + 1) % functions;
        addresses[i - 1] = 0x7f1234560000u + at * UINT64_C(37);
    }
    return depth;
}

static void stacks_come_out_as_they_went_in(void **state)
{
    enum { STACKS = 20000 };
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    uint64_t(*stacks)[MIRE_DEPTH_MAX] = calloc(STACKS, sizeof(*stacks));
    uint32_t *depths = calloc(STACKS, sizeof(*depths)), *nodes = calloc(STACKS, sizeof(*nodes));
    uint32_t path[MIRE_DEPTH_MAX];
    struct heap_reader *reader;

    (void)state;
    random_state = test_seed();
    for (uint32_t i = 0; i < STACKS; i++) {
        depths[i] = wander(stacks[i], 60000); /* more places than short words can name */
        assert_true(mire__nodes_as_push(path, &heaps->heap, MIRE_NODE_ROOT, stacks[i], depths[i]));
        nodes[i] = path[0];
    }
    for (uint32_t i = 0; i < STACKS; i++) { /* known by now: found from any outer frame, without the lock */
        uint32_t from = roll(depths[i]);

        assert_true(mire__nodes_as_push(path, &heaps->heap, MIRE_NODE_ROOT, stacks[i], depths[i]));
        assert_int_equal(path[0], nodes[i]);
        if (from > 0) {
            assert_int_equal(mire__nodes_as_child(&heaps->heap, path[from], stacks[i][from - 1]), path[from - 1]);
        }
    }
    reader = read_tables(heaps);
    assert_true(heaps->heap.header->pcs_used > MIRE_HEAP_PC_SHORT);
    for (uint32_t i = 0; i < STACKS; i++)
        assert_stack(reader, nodes[i], stacks[i], depths[i]);
    assert_int_equal(assert_no_node_twice(reader, heaps->heap.header->words_used), heaps->heap.header->nodes_used);
    assert_int_equal(heaps->heap.header->drops[MIRE_HEAP_DROP_STACK], 0);
    free(stacks);
    free(depths);
    free(nodes);
    heaps_free(heaps);
}

static void stacks_beyond_the_budget_are_cut_and_counted(void **state)
{
    struct heaps *heaps = heaps_new(MIRE_HEAP_BUDGET_MIN, MIRE_HEAP_EXACT);
    uint64_t addresses[MIRE_DEPTH_MAX];
    uint32_t path[MIRE_DEPTH_MAX], depth, cut = 0;
    struct heap_reader *reader;

    (void)state;
    random_state = test_seed();
    for (uint32_t i = 0; i < 40000; i++) {
        depth = wander(addresses, 100000);
        if (!mire__nodes_as_push(path, &heaps->heap, MIRE_NODE_ROOT, addresses, depth))
            cut++;
        reader = i % 4000 ? NULL : read_tables(heaps);
        if (reader) { /* the outer part of the stack was stored */
            uint32_t known = 0;

            while (known < depth && path[known] == path[0])
                known++;
            assert_stack(reader, path[0], addresses + (path[0] ? known - 1 : depth), path[0] ? depth - known + 1 : 0);
        }
    }
    assert_true(cut > 0);
    assert_int_equal(heaps->heap.header->drops[MIRE_HEAP_DROP_STACK], cut);
    assert_true(heaps->heap.header->claimed_bytes <= MIRE_HEAP_BUDGET_MIN);
    heaps_free(heaps);
}

/* ---- images ---- */

static uint32_t image_of(const struct heaps *heaps, uint32_t node)
{
    struct heap_frame frame;

    assert_true(mire__read_frame(&frame, read_tables(heaps), &node));
    return frame.image;
}

static void assert_image(const struct heaps *heaps, uint32_t index, const char *path, bool gone)
{
    struct heap_read_image image;

    assert_true(mire__read_image(&image, read_tables(heaps), index));
    assert_int_equal(image.path_bytes, strlen(path));
    assert_memory_equal(image.path, path, image.path_bytes);
    assert_int_equal(image.id_size, 20);
    assert_int_equal(image.gone, gone);
}

static void an_unloaded_image_keeps_its_stacks(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    uint32_t first, second, node_first, node_second;

    (void)state;
    first = heaps_image(heaps, 0x10000, 0x10000, "/usr/lib/plugin-one.so");
    node_first = heaps_stack(heaps, 1, (uint64_t)0x12345);
    mire__images_as_gone(&heaps->heap, 0x10000, 0x20000);
    assert_int_equal(mire__images_as_find(&heaps->heap, 0x12345), MIRE_HEAP_NO_IMAGE);
    second = heaps_image(heaps, 0x11000, 0x4000, "/usr/lib/plugin-two.so");
    node_second = heaps_stack(heaps, 1, (uint64_t)0x12345); /* the same address, other code */
    assert_int_not_equal(first, second);
    assert_int_not_equal(node_first, node_second);
    assert_int_equal(image_of(heaps, node_first), first);
    assert_int_equal(image_of(heaps, node_second), second);
    assert_image(heaps, first, "/usr/lib/plugin-one.so", true);
    assert_image(heaps, second, "/usr/lib/plugin-two.so", false);
    heaps_free(heaps);
}

static void a_library_loaded_again_and_again_stays_one(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    uint32_t image = heaps_image(heaps, 0x10000, 0x10000, "/usr/lib/plugin.so");
    uint32_t node = heaps_stack(heaps, 1, (uint64_t)0x12345), generation = heaps->heap.generation;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        mire__images_as_gone(&heaps->heap, 0x10000, 0x20000);
        assert_int_equal(heaps_image(heaps, 0x10000, 0x10000, "/usr/lib/plugin.so"), image);
        assert_int_equal(heaps_stack(heaps, 1, (uint64_t)0x12345), node);
    }
    assert_true(heaps->heap.generation >= generation + 10000);
    assert_image(heaps, image, "/usr/lib/plugin.so", false);
    assert_int_equal(heaps->heap.header->drops[MIRE_HEAP_DROP_IMAGE], 0);
    heaps_free(heaps);
}

/* Code of no module, as made by a compiler at run time, at addresses where modules come and go. */
static void code_of_no_module_is_told_again_and_again(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);

    (void)state;
    for (int i = 0; i < 10000; i++) {
        assert_int_not_equal(heaps_stack(heaps, 2, (uint64_t)0x12345, (uint64_t)0x12399), 0);
        heaps_image(heaps, 0x10000, 0x10000, "/usr/lib/plugin.so");
        assert_int_not_equal(heaps_stack(heaps, 2, (uint64_t)0x12345, (uint64_t)0x12399), 0);
        mire__images_as_gone(&heaps->heap, 0x10000, 0x20000);
    }
    assert_int_equal(heaps->heap.header->drops[MIRE_HEAP_DROP_STACK], 0);
    heaps_free(heaps);
}

static void images_beyond_the_table_are_counted(void **state)
{
    struct heaps *heaps = heaps_new(BUDGET, MIRE_HEAP_EXACT);
    struct heap_image_facts nothing = {.start = 2, .end = 1, .path = ""};
    char path[64];

    (void)state;
    assert_int_equal(mire__images_as_add(NULL, &heaps->heap, &nothing), MIRE_E_RANGE);
    for (uint32_t i = 0; i < MIRE_HEAP_IMAGES_MAX; i++) {
        snprintf(path, sizeof(path), "/usr/lib/lib%u.so", i);
        assert_int_equal(heaps_image(heaps, 0x100000 + i * UINT64_C(0x1000), 0x1000, path), i);
    }
    heaps_image(heaps, 0x90000000, 0x1000, "/usr/lib/libone-more.so");
    assert_int_equal(heaps->heap.header->drops[MIRE_HEAP_DROP_IMAGE], 1);
    assert_int_equal(mire__images_as_find(&heaps->heap, 0x100000 + 77 * 0x1000 + 5), 77);
    heaps_free(heaps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_come_out_as_they_went_in),
        cmocka_unit_test(stacks_beyond_the_budget_are_cut_and_counted),
        cmocka_unit_test(an_unloaded_image_keeps_its_stacks),
        cmocka_unit_test(a_library_loaded_again_and_again_stays_one),
        cmocka_unit_test(code_of_no_module_is_told_again_and_again),
        cmocka_unit_test(images_beyond_the_table_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
