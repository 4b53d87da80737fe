/* test_signature.c - which stacks have one signature; compared with a naive twin that builds the tree. */
#include "ring/signature.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define APP  0x400000u
#define LIBC 0x7f0000000000u

static struct blackbox box; /* some MB: not for the stack */
static struct ring ring;
static struct stack_signature signature, other;

static int setup(void **state)
{
    static const struct blackbox_facts facts;
    const struct image app = {.start = APP, .end = APP + 0x100000, .load = APP, .id_size = 4, .id = {1, 2, 3, 4}};
    const struct image libc = {.start = LIBC, .end = LIBC + 0x100000, .load = LIBC};

    (void)state;
    memset(&box, 0, sizeof(box));
    mire__blackbox_init(&box, &facts);
    mire__blackbox_clear_images(&box);
    mire__blackbox_add_image(&box, &app, "/opt/app");
    mire__blackbox_add_image(&box, &libc, "/lib/libc.so.6");
    mire__ring_reset(&ring, 1);
    return 0;
}

/* Push a stack of function numbers, outermost first: function n begins at APP + n * 0x100, and the pc is `into` it. */
static void push(uint64_t weight_ns, uint32_t into, bool known, uint32_t depth, const uint32_t *functions)
{
    struct sample *sample = mire__ring_reserve(&ring);

    memset(sample, 0, sizeof(*sample));
    sample->depth = depth;
    for (uint32_t i = 0; i < depth; i++) {
        uint32_t frame = depth - 1 - i;

        sample->pc[frame] = APP + functions[i] * 0x100u + into;
        sample->into[frame] = known ? into : 0;
    }
    mire__ring_append(&ring, weight_ns);
}

#define STACK(...)                                        \
    (sizeof((uint32_t[]){__VA_ARGS__}) / 4), (uint32_t[]) \
    {                                                     \
        __VA_ARGS__                                       \
    }

static void assert_signature(const struct stack_signature *is, uint32_t depth, const uint32_t *functions)
{
    assert_int_equal(is->sure, depth);
    for (uint32_t i = 0; i < depth; i++)
        assert_int_equal(is->functions[i].at, functions[i] * 0x100u);
}

static void the_signature_ends_where_no_function_holds_enough(void **state)
{
    (void)state;
    push(30, 5, true, STACK(1, 2, 3, 40));
    push(40, 6, true, STACK(1, 2, 3, 50));
    push(30, 7, true, STACK(1, 2, 9));
    mire__signature_find(&signature, &box, &ring);
    assert_signature(&signature, STACK(1, 2, 3));
    assert_int_equal(signature.deepest, 4);
    assert_int_equal(signature.inward, 0);
}

static void a_heavy_stack_wins_over_many_light_ones(void **state)
{
    (void)state;
    push(10, 5, true, STACK(1, 2, 7));
    push(10, 5, true, STACK(1, 2, 8));
    push(900, 5, true, STACK(1, 2, 3));
    push(10, 5, true, STACK(1, 2, 7));
    mire__signature_find(&signature, &box, &ring);
    assert_signature(&signature, STACK(1, 2, 3));
}

static void another_place_in_the_same_functions_is_the_same_signature(void **state)
{
    (void)state;
    push(1, 5, true, STACK(1, 2, 3));
    mire__signature_find(&signature, &box, &ring);
    mire__ring_reset(&ring, 1);
    push(1, 0xe0, true, STACK(1, 2, 3));
    mire__signature_find(&other, &box, &ring);
    assert_true(mire__signature_same(&signature, &other));
    assert_int_equal(mire__signature_number(&signature, 7), mire__signature_number(&other, 7));
    assert_int_not_equal(mire__signature_number(&signature, 7), mire__signature_number(&signature, 8));
}

static void another_function_anywhere_is_another_signature(void **state)
{
    static const uint32_t others[][3] = {{1, 2, 4}, {1, 4, 3}, {4, 2, 3}};

    (void)state;
    push(1, 5, true, STACK(1, 2, 3));
    mire__signature_find(&signature, &box, &ring);
    for (size_t i = 0; i < MIRE_COUNT(others); i++) {
        mire__ring_reset(&ring, 1);
        push(1, 5, true, 3, others[i]);
        mire__signature_find(&other, &box, &ring);
        assert_false(mire__signature_same(&signature, &other));
        assert_int_not_equal(mire__signature_number(&signature, 7), mire__signature_number(&other, 7));
    }
}

/* Without call frame information the start of a function is unknown. Two instructions further is the same function,
 * also across a multiple of 32. */
static void a_drift_of_two_instructions_is_the_same_signature(void **state)
{
    (void)state;
    for (uint32_t from = 0; from < 64; from++) {
        mire__ring_reset(&ring, 1);
        push(1, from, false, STACK(1, 2, 3));
        mire__signature_find(&signature, &box, &ring);
        mire__ring_reset(&ring, 1);
        push(1, from + 15, false, STACK(1, 2, 3));
        mire__signature_find(&other, &box, &ring);
        assert_true(mire__signature_same(&signature, &other));
        mire__ring_reset(&ring, 1);
        push(1, from + 64, false, STACK(1, 2, 3));
        mire__signature_find(&other, &box, &ring);
        assert_false(mire__signature_same(&signature, &other));
    }
}

static void with_share(uint64_t percent, struct stack_signature *out)
{
    mire__ring_reset(&ring, 1);
    push(percent, 5, true, STACK(1, 2, 3));
    push((100 - percent) / 2, 5, true, STACK(1, 2, 4));
    push((100 - percent) / 2, 5, true, STACK(1, 2, 5));
    mire__signature_find(out, &box, &ring);
}

/* 58 % of the time in a function now and 64 % the next time: it is one hang. 10 % and 90 %: they are two. */
static void a_share_that_varies_a_little_is_the_same_signature(void **state)
{
    (void)state;
    with_share(58, &signature);
    assert_int_equal(signature.sure, 2);
    with_share(64, &other);
    assert_int_equal(other.sure, 3);
    assert_true(mire__signature_same(&signature, &other) && mire__signature_same(&other, &signature));
    with_share(30, &signature);
    assert_false(mire__signature_same(&signature, &other) || mire__signature_same(&other, &signature));
}

static void the_number_holds_wherever_the_image_is_loaded(void **state)
{
    (void)state;
    push(1, 5, true, STACK(1, 2, 3));
    mire__signature_find(&signature, &box, &ring);
    mire__blackbox_clear_images(&box);
    const struct image moved = {
        .start = 2 * APP, .end = 2 * APP + 0x100000, .load = 2 * APP, .id_size = 4, .id = {1, 2, 3, 4}};
    mire__blackbox_add_image(&box, &moved, "/elsewhere/app");
    mire__ring_reset(&ring, 1);
    push(1, 5, true, STACK(1 + APP / 0x100, 2 + APP / 0x100, 3 + APP / 0x100));
    mire__signature_find(&other, &box, &ring);
    assert_true(mire__signature_same(&signature, &other));
    assert_int_equal(mire__signature_number(&signature, 7), mire__signature_number(&other, 7));
}

/* A run-time compiler puts the same code at another address in each run. */
static void code_in_no_image_is_the_same_wherever_it_lies(void **state)
{
    (void)state;
    uint64_t number;

    push(100, 4, true, STACK(1, 2, 0x7000));
    mire__signature_find(&signature, &box, &ring);
    assert_int_equal(signature.sure, 3);
    number = mire__signature_number(&signature, 0);
    mire__ring_reset(&ring, 1);
    push(100, 4, true, STACK(1, 2, 0x9123));
    mire__signature_find(&other, &box, &ring);
    assert_true(mire__signature_same(&other, &signature));
    assert_int_not_equal(mire__signature_number(&other, 0), 0);
    mire__ring_reset(&ring, 1);
    push(100, 4, true, STACK(1, 2, 0x8000));
    mire__signature_find(&other, &box, &ring);
    assert_int_equal(mire__signature_number(&other, 0), number);
    mire__ring_reset(&ring, 1);
    push(100, 4, true, STACK(1, 2, 3));
    mire__signature_find(&other, &box, &ring);
    assert_false(mire__signature_same(&other, &signature));
}

static void another_build_is_another_signature(void **state)
{
    (void)state;
    push(1, 5, true, STACK(1, 2, 3));
    mire__signature_find(&signature, &box, &ring);
    box.images[0].id[3]++;
    mire__signature_find(&other, &box, &ring);
    assert_false(mire__signature_same(&signature, &other));
}

static void stacks_that_do_not_reach_the_outermost_frame_are_read_from_the_innermost(void **state)
{
    uint32_t deep[MIRE_DEPTH_MAX];

    (void)state;
    for (uint32_t round = 0; round < 10; round++) {
        for (uint32_t i = 0; i < MIRE_DEPTH_MAX; i++)
            deep[i] = 100 + i + round; /* another outermost function each time */
        memcpy(deep + MIRE_DEPTH_MAX - 3, (uint32_t[]){7, 8, 9}, 12);
        push(1, 5, true, MIRE_DEPTH_MAX, deep);
    }
    mire__signature_find(&signature, &box, &ring);
    assert_int_equal(signature.inward, 1);
    assert_signature(&signature, STACK(9, 8, 7));
}

static void broken_stacks_do_not_vote_where_whole_ones_hold_most(void **state)
{
    (void)state;
    push(70, 5, true, STACK(1, 2, 3));
    push(30, 5, true, STACK(3));
    ring.slots[1].flags = MIRE_SAMPLE_BROKEN;
    mire__signature_find(&signature, &box, &ring);
    assert_signature(&signature, STACK(1, 2, 3));
}

static void nothing_is_known_of_an_empty_ring(void **state)
{
    (void)state;
    mire__signature_find(&signature, &box, &ring);
    assert_int_equal(signature.sure, 0);
    assert_false(mire__signature_same(&signature, &signature));
    push(50, 0, true, 0, NULL);
    mire__signature_find(&signature, &box, &ring);
    assert_int_equal(signature.sure, 0);
    assert_int_equal(signature.deepest, 0);
    assert_int_not_equal(mire__signature_number(&signature, 0), 0);
}

/* The twin weighs every prefix of every stack: from the root down the heaviest, as long as it has enough weight. */
static uint32_t twin_depth(uint32_t stacks[][6], const uint64_t *weights, uint32_t count, uint64_t percent)
{
    uint64_t total = 0;
    uint32_t way = 0; /* a stack that goes the way found so far */

    for (uint32_t i = 0; i < count; i++)
        total += weights[i] + 1;
    for (uint32_t depth = 1; depth <= 6; depth++) {
        uint64_t most = 0;
        uint32_t next = way;

        for (uint32_t i = 0; i < count; i++) {
            uint64_t weight = 0;

            for (uint32_t j = 0; j < count; j++)
                if (memcmp(stacks[i], stacks[j], depth * sizeof(uint32_t)) == 0)
                    weight += weights[j] + 1;
            if (weight > most && memcmp(stacks[i], stacks[way], (depth - 1) * sizeof(uint32_t)) == 0) {
                most = weight;
                next = i;
            }
        }
        if (most * 100 < total * percent)
            return depth - 1;
        way = next;
    }
    return 6;
}

static void the_signature_is_that_of_its_naive_twin(void **state)
{
    static uint32_t stacks[MIRE_RING_SAMPLES][6];
    static uint64_t weights[MIRE_RING_SAMPLES];
    unsigned seed = test_seed();
    uint32_t depths[7] = {0};

    (void)state;
    srandom(seed);
    for (int round = 0; round < 500; round++) {
        uint32_t count = 1 + (uint32_t)random() % 40;

        mire__ring_reset(&ring, 1);
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t j = 0; j < 6; j++)
                stacks[i][j] = 1 + (random() % 100 < 12 ? (uint32_t)random() % 4 : 0);
            stacks[i][0] = 1; /* otherwise it may be read from the innermost frame */
            stacks[i][1] = 1;
            weights[i] = (uint64_t)random() % 1000000; /* none weighs the same as another */
            push(weights[i], 5, true, 6, stacks[i]);
        }
        mire__signature_find(&signature, &box, &ring);
        assert_int_equal(signature.sure, twin_depth(stacks, weights, count, 60));
        assert_int_equal(signature.depth, twin_depth(stacks, weights, count, 40));
        depths[signature.sure]++;
    }
    assert_true(depths[2] > 0 && depths[4] > 0 && depths[6] > 0); /* the rounds were not all alike */
}

/* main > eval > a function of a script at a line. */
static void push_script(const char *function, uint32_t line)
{
    int number = mire__blackbox_add_script(&box, MIRE_LANGUAGE_PYTHON, function, "/srv/app.py");

    assert_true(number >= 0);
    push(10, 5, true, STACK(1, 2, 3));
    ring.slots[mire__ring_count(&ring) - 1].pc[0] = MIRE_SCRIPT_PC(number, line);
    ring.slots[mire__ring_count(&ring) - 1].into[0] = line;
}

/* The interpreter's functions are the same in all of them. */
static void functions_of_scripts_are_told_apart(void **state)
{
    uint64_t number;

    (void)state;
    push_script("serve", 7);
    push_script("serve", 9);
    mire__signature_find(&signature, &box, &ring);
    assert_int_equal(signature.sure, 3);
    number = mire__signature_number(&signature, 1);

    setup(NULL);
    push_script("price", 8);
    push_script("price", 8);
    mire__signature_find(&other, &box, &ring);
    assert_int_equal(other.sure, 3);
    assert_false(mire__signature_same(&signature, &other));
    assert_int_not_equal(mire__signature_number(&other, 1), number);

    setup(NULL); /* another process, in which the function has another number */
    assert_int_equal(mire__blackbox_add_script(&box, MIRE_LANGUAGE_PYTHON, "before", "/srv/app.py"), 0);
    push_script("serve", 12);
    push_script("serve", 12);
    mire__signature_find(&other, &box, &ring);
    assert_true(mire__signature_same(&signature, &other));
    assert_int_equal(mire__signature_number(&other, 1), number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_signature_ends_where_no_function_holds_enough, setup),
        cmocka_unit_test_setup(functions_of_scripts_are_told_apart, setup),
        cmocka_unit_test_setup(a_heavy_stack_wins_over_many_light_ones, setup),
        cmocka_unit_test_setup(another_place_in_the_same_functions_is_the_same_signature, setup),
        cmocka_unit_test_setup(another_function_anywhere_is_another_signature, setup),
        cmocka_unit_test_setup(a_drift_of_two_instructions_is_the_same_signature, setup),
        cmocka_unit_test_setup(a_share_that_varies_a_little_is_the_same_signature, setup),
        cmocka_unit_test_setup(the_number_holds_wherever_the_image_is_loaded, setup),
        cmocka_unit_test_setup(code_in_no_image_is_the_same_wherever_it_lies, setup),
        cmocka_unit_test_setup(another_build_is_another_signature, setup),
        cmocka_unit_test_setup(stacks_that_do_not_reach_the_outermost_frame_are_read_from_the_innermost, setup),
        cmocka_unit_test_setup(broken_stacks_do_not_vote_where_whole_ones_hold_most, setup),
        cmocka_unit_test_setup(nothing_is_known_of_an_empty_ring, setup),
        cmocka_unit_test_setup(the_signature_is_that_of_its_naive_twin, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
