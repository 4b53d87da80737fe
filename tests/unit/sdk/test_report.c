/* From blackbox to report: the trie compared with a naive twin, the hot stack, the document. */
#include "report/report.h"

#include "report/hot.h"
#include "report/trie.h"
#include "support/boxes.h"
#include "support/documents.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <zstd.h>
#include <cmocka.h>

static void trie_is_equal_to_a_naive_twin(void **state)
{
    enum { STACKS = 400, DEPTH = 12 };
    unsigned seed = test_seed();
    struct trie_frame stacks[STACKS][DEPTH];
    uint32_t leaves[STACKS], lengths[STACKS];
    struct trie trie;

    (void)state;
    srand(seed);
    assert_int_equal(mire__trie_init(&trie, STACKS * DEPTH), MIRE_OK);
    for (int i = 0; i < STACKS; i++) {
        lengths[i] = (uint32_t)(rand() % (DEPTH + 1));
        leaves[i] = 0;
        for (uint32_t j = 0; j < lengths[i]; j++) {
            stacks[i][j] = (struct trie_frame){.image = rand() % 3 - 1, .offset = (uint64_t)(rand() % 3) * 1000};
            leaves[i] = mire__trie_child(&trie, leaves[i], &stacks[i][j]);
        }
    }
    for (int i = 0; i < STACKS; i++) {
        uint32_t node = leaves[i];
        for (uint32_t j = lengths[i]; j-- > 0;) {
            assert_in_range(node, 1, trie.node_count);
            uint32_t frame = trie.node_frame[node - 1];
            assert_int_equal(trie.frame_image[frame], stacks[i][j].image);
            assert_true(trie.frame_offset[frame] == stacks[i][j].offset);
            assert_in_range(trie.node_up[node - 1], 1, node);
            node -= trie.node_up[node - 1];
        }
        assert_int_equal(node, 0);
    }
    /* The twin: a prefix has a node of its own exactly if no earlier prefix is equal to it. */
    uint32_t distinct = 0;
    for (int i = 0; i < STACKS; i++)
        for (uint32_t length = 1; length <= lengths[i]; length++) {
            bool seen = false;
            for (int k = 0; k < i && !seen; k++) {
                seen = lengths[k] >= length;
                for (uint32_t j = 0; seen && j < length; j++)
                    seen = stacks[k][j].image == stacks[i][j].image && stacks[k][j].offset == stacks[i][j].offset;
            }
            distinct += !seen;
        }
    assert_int_equal(trie.node_count, distinct);
    mire__trie_fini(&trie);
}

static void hot_is_the_longest_row_and_of_equals_the_last(void **state)
{
    static const uint64_t a[] = {0x10, 0x1, 0}, b[] = {0x20, 0x1, 0}, none[] = {0};
    struct blackbox *box = box_new();
    struct hot hot;

    (void)state;
    mire__hot_find(&hot, &box->lanes[0].ring, 4711);
    assert_int_equal(hot.run, 0);
    box_sample(box, S(1), 1, a);
    box_sample(box, S(2), 1, a);
    box_sample(box, S(3), 1, b);
    box_sample(box, S(4), 1, none);
    box_sample(box, S(5), 1, b);
    box_sample(box, S(6), 1, b);
    box_sample(box, S(7), 1, a);
    mire__hot_find(&hot, &box->lanes[0].ring, 4711);
    assert_int_equal(hot.run, 2);
    assert_int_equal(hot.sample, 5);
    assert_int_equal(hot.depth, 2);
    assert_int_equal(hot.repeat[0], 3);
    assert_int_equal(hot.repeat[1], 6);
    free(box);
}

static void hot_takes_addresses_of_one_function_as_one(void **state)
{
    static const uint64_t a[] = {0x5010, 0x1000, 0}, b[] = {0x5020, 0x1008, 0}, c[] = {0x9000, 0x1010, 0};
    struct blackbox *box = box_new();
    struct hot hot;

    (void)state;
    box_sample(box, S(1), 1, a);
    box_sample(box, S(2), 1, b);
    box_sample(box, S(3), 1, c);
    for (int i = 0; i < 3; i++) {
        struct sample *sample =
            &box->lanes[0].ring.slots[box->lanes[0].ring.views[box->lanes[0].ring.active].entries[i].slot];
        for (uint32_t j = 0; j < sample->depth; j++)
            sample->into[j] = (uint32_t)(sample->pc[j] & 0xfff);
    }
    mire__hot_find(&hot, &box->lanes[0].ring, 4711);
    assert_int_equal(hot.run, 2);
    assert_int_equal(hot.sample, 1);
    assert_int_equal(hot.repeat[0], 2);
    assert_int_equal(hot.repeat[1], 3);
    free(box);
}

static void report_attached_only_the_images_it_refers_to(void **state)
{
    static const uint64_t in_libc[] = {BOX_LIBC_LOAD + 0x500, 0};
    struct blackbox *box = box_new();
    char *text;

    (void)state;
    box_sample(box, S(1), MIRE_NS_PER_S, in_libc);
    text = json(box, NULL);
    assert_non_null(
        strstr(text, "\"images\":[{\"name\":\"/lib/libc.so.6\",\"arch\":\"x86_64\",\"load\":140737351778304"));
    assert_null(strstr(text, "abababab"));
    assert_non_null(strstr(text, "\"frames\":{\"image\":[0],\"offset\":[1280],\"found\":[0]}"));
    free(text);
    free(box);
}

/* The base is 0 for position-independent code, and left out. */
static void report_tells_where_a_program_is_linked(void **state)
{
    static const uint64_t a[] = {BOX_EXE_LOAD + 16, 0};
    struct blackbox *box = box_new();
    struct image *exe = &box->images[mire__blackbox_find_image(box, a[0])];
    char *text;

    (void)state;
    box_sample(box, S(1), MIRE_NS_PER_S, a);
    text = json(box, NULL);
    assert_null(strstr(text, "\"base\""));
    free(text);
    exe->load = exe->start - 0x400000;
    exe->base = 0x400000;
    text = json(box, NULL);
    assert_non_null(strstr(text, "\"load\":93824988037120,\"base\":4194304,\"size\""));
    assert_non_null(strstr(text, "\"offset\":[4194320]"));
    free(text);
    exe->id_size = 0; /* no file can be matched with it */
    text = json(box, NULL);
    assert_null(strstr(text, "\"base\""));
    free(text);
    free(box);
}

static void report_shares_outer_frames(void **state)
{
    static const uint64_t a[] = {BOX_LIBC_LOAD + 8, BOX_EXE_LOAD + 16, BOX_EXE_LOAD + 32, 0};
    static const uint64_t b[] = {BOX_EXE_LOAD + 64, BOX_EXE_LOAD + 16, BOX_EXE_LOAD + 32, 0};
    struct blackbox *box = box_new();

    (void)state;
    box_sample(box, S(10), MIRE_NS_PER_S, a);
    box_sample(box, S(20), MIRE_NS_PER_S / 3, b);
    box_sample(box, S(15), MIRE_NS_PER_S / 3, a);
    assert_says(box, "\"nodes\":{\"up\":[1,1,1,2],\"frame\":[0,1,2,3]}");
    assert_says(box, "\"at_ms\":[1000,2000,2000],\"weight_ms\":[1000,333,333],\"node\":[3,4,3],\"state\":\"SSS\","
                     "\"syscall\":[35,35,35]");
    assert_says(box, "\"hot\":{\"node\":3,\"run\":1,\"repeat\":[2,3,3]}");
    free(box);
}

static void report_keeps_the_sum_of_weights(void **state)
{
    static const uint64_t a[] = {1, 0};
    struct blackbox *box = box_new();

    (void)state;
    for (int i = 0; i < 4; i++)
        box_sample(box, S(i), 1500000, a);
    assert_says(box, "\"weight_ms\":[1,2,1,2]");
    assert_says(box, "\"image\":[-1],\"offset\":[1]");
    free(box);
}

static void report_without_samples_has_no_hot_stack(void **state)
{
    struct blackbox *box = box_new();
    char *text = json(box, NULL);

    (void)state;
    assert_non_null(strstr(
        text,
        "\"samples\":{\"period_ms\":50,\"at_ms\":[],\"weight_ms\":[],\"node\":[],\"state\":\"\",\"syscall\":[]}"));
    assert_null(strstr(text, "\"hot\""));
    free(text);
    free(box);
}

static void report_of_a_hang_the_process_was_killed_in_is_open(void **state)
{
    struct blackbox *box = box_new();
    struct event hang;

    (void)state;
    assert_says(box, "\"open\":false");
    assert_says(box, "\"duration_ms\":3000");
    assert_says(box, "\"begin_wall_ms\":1763685100000");
    mire__blackbox_event(&hang, box, 0);
    hang.exited = 1;
    mire__blackbox_set_event(box, 0, &hang);
    assert_says(box, "\"open\":false"); /* it ended itself */
    hang.exited = 0;
    hang.state = MIRE_EVENT_OPEN;
    hang.last_seen_ns = hang.begin_ns + 2500 * MIRE_NS_PER_MS;
    mire__blackbox_set_event(box, 0, &hang);
    assert_says(box, "\"duration_ms\":2500");
    assert_says(box, "\"open\":true");
    free(box);
}

static void report_tells_the_drops_that_are_not_zero(void **state)
{
    const struct report_attached given = {.drops = {[MIRE_DROP_FULL] = 2, [MIRE_DROP_REFUSED] = 5}};
    struct blackbox *box = box_new();
    char *text = json(box, &given);

    (void)state;
    assert_non_null(strstr(text, "\"drops\":{\"full\":2,\"refused\":5}}"));
    free(text);
    free(box);
}

static void report_is_wanted_only_beyond_the_threshold(void **state)
{
    struct blackbox *box = box_new();
    struct event hang;

    (void)state;
    assert_true(mire__report_wanted(box, 0));
    mire__blackbox_event(&hang, box, 0);
    hang.end_ns = hang.begin_ns + 1999 * MIRE_NS_PER_MS;
    mire__blackbox_set_event(box, 0, &hang);
    assert_false(mire__report_wanted(box, 0));
    hang.state = MIRE_EVENT_NONE;
    mire__blackbox_set_event(box, 0, &hang);
    assert_false(mire__report_wanted(box, 0));
    free(box);
}

static void report_refuses_a_box_without_hang_or_id(void **state)
{
    struct blackbox *box = box_new();
    struct report report = {.size = 1};
    struct event hang;

    (void)state;
    mire__blackbox_event(&hang, box, 0);
    hang.id[6] = 0x4e;
    mire__blackbox_set_event(box, 0, &hang);
    assert_int_equal(mire__report_build(&report, box, 0, NULL), MIRE_E_FORMAT);
    assert_null(report.body);
    hang.state = MIRE_EVENT_NONE;
    mire__blackbox_set_event(box, 0, &hang);
    assert_int_equal(mire__report_build(&report, box, 0, NULL), MIRE_E_STATE);
    assert_int_equal(report.size, 0);
    free(box);
}

static void report_is_packed_and_its_id_stays(void **state)
{
    static const uint64_t a[] = {BOX_LIBC_LOAD + 8, BOX_EXE_LOAD + 16, 0};
    struct blackbox *box = box_new();
    struct report one, two;
    char *text, *unpacked;
    size_t size;

    (void)state;
    box_sample(box, S(1), MIRE_NS_PER_S, a);
    text = json(box, NULL);
    assert_int_equal(mire__report_build(&one, box, 0, NULL), MIRE_OK);
    assert_int_equal(mire__report_build(&two, box, 0, NULL), MIRE_OK);
    assert_string_equal(one.id, "019aa1b2-c3d4-7e5f-8a6b-010203040506");
    assert_string_equal(one.id, two.id);
    size = (size_t)ZSTD_getFrameContentSize(one.body, one.size);
    assert_int_equal(size, strlen(text));
    unpacked = malloc(size);
    assert_int_equal(ZSTD_decompress(unpacked, size, one.body, one.size), size);
    assert_memory_equal(unpacked, text, size);
    mire__report_fini(&one);
    mire__report_fini(&two);
    free(unpacked);
    free(text);
    free(box);
}

/* A full ring of deep stacks that differ in their inner third, as of a program that computes for long. */
static void report_of_a_full_ring_stays_small(void **state)
{
    struct blackbox *box = box_new();
    struct report report;

    (void)state;
    srand(1);
    for (int i = 0; i < MIRE_RING_SAMPLES; i++) {
        uint64_t pc[31] = {0};
        for (int j = 0; j < 30; j++)
            pc[j] = BOX_EXE_LOAD + (j < 10 ? (uint64_t)(rand() % (10 * (10 - j))) * 160 : (uint64_t)j * 4096);
        box_sample(box, S(i), 50 * MIRE_NS_PER_MS, pc);
    }
    assert_int_equal(mire__report_build(&report, box, 0, NULL), MIRE_OK);
    print_message("%zu bytes\n", report.size);
    assert_in_range(report.size, 1, 8192);
    mire__report_fini(&report);
    free(box);
}

static void damage(struct blackbox *box, size_t from, size_t to)
{
    for (size_t i = from; i < to; i += 7)
        if (rand() % 4 == 0)
            ((uint8_t *)box)[i] = (uint8_t)rand();
}

/* A damaged file must cause neither a crash nor an endless loop. */
static void report_survives_any_damage(void **state)
{
    static const uint64_t a[] = {BOX_LIBC_LOAD + 8, BOX_EXE_LOAD + 16, 0};
    unsigned seed = test_seed();

    (void)state;
    srand(seed);
    for (int round = 0; round < 300; round++) {
        struct blackbox *box = box_new();
        struct report report;

        for (int i = 0; i < 20; i++)
            box_sample(box, S(i), MIRE_NS_PER_MS, a);
        for (int i = 0; i < 2000; i++)
            ((uint8_t *)box)[24 + (size_t)rand() % (sizeof(*box) - 24)] = (uint8_t)rand();
        damage(box, offsetof(struct blackbox, left_ns), offsetof(struct blackbox, images) + 512);
        damage(box, offsetof(struct blackbox, lanes), offsetof(struct blackbox, lanes) + offsetof(struct lane, others));
        damage(box, offsetof(struct blackbox, lanes) + offsetof(struct lane, ring),
               offsetof(struct blackbox, lanes) + offsetof(struct lane, ring) + 512);
        if (mire__blackbox_check(box, sizeof(*box)) == MIRE_OK) {
            mire__report_wanted(box, 0);
            if (mire__report_build(&report, box, 0, NULL) == MIRE_OK)
                mire__report_fini(&report);
        }
        free(box);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trie_is_equal_to_a_naive_twin),
        cmocka_unit_test(hot_is_the_longest_row_and_of_equals_the_last),
        cmocka_unit_test(hot_takes_addresses_of_one_function_as_one),
        cmocka_unit_test(report_attached_only_the_images_it_refers_to),
        cmocka_unit_test(report_tells_where_a_program_is_linked),
        cmocka_unit_test(report_shares_outer_frames),
        cmocka_unit_test(report_keeps_the_sum_of_weights),
        cmocka_unit_test(report_without_samples_has_no_hot_stack),
        cmocka_unit_test(report_of_a_hang_the_process_was_killed_in_is_open),
        cmocka_unit_test(report_tells_the_drops_that_are_not_zero),
        cmocka_unit_test(report_is_wanted_only_beyond_the_threshold),
        cmocka_unit_test(report_refuses_a_box_without_hang_or_id),
        cmocka_unit_test(report_is_packed_and_its_id_stays),
        cmocka_unit_test(report_of_a_full_ring_stays_small),
        cmocka_unit_test(report_survives_any_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
