/* test_heap_walk.c - what is remembered of stacks does not change them: held against a walk that remembers nothing. */
#include "allochook/hooks.h"
#include "allochook/walk.h"
#include "heap/counters.h"
#include "support/heaps.h"
#include "support/seed.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define DEEPEST 14u

static struct {
    struct heaps *heaps;
    struct code code;
    struct walk walk, forgetful;
    uint32_t walked, expected;
    uint64_t random;
} t;

static volatile long sink;

/* The node of a stack as an allocation finds it; 0: it has to be walked. */
static inline __attribute__((always_inline)) uint32_t find(const struct walk_frame *site)
{
    struct walk_tail *tail = mire__walk_as_expected(&t.walk, site->pc, site->sp);
    uint32_t node = 0;

    if (tail) {
        t.expected++;
        mire__walk_follow(&t.walk, tail);
        return tail->node;
    }
    tail = mire__walk_as_tail(&t.walk, site->pc, site->sp, site->fp);
    if (tail && (node = mire__walk_as_based(&t.walk, tail)) != 0)
        mire__walk_learn(&t.walk, tail);
    return node;
}

/* As a hook that allocates: whoever calls is the innermost frame. Its block is freed at once. */
static void __attribute__((noinline, optimize("no-omit-frame-pointer"))) allocate(void)
{
    const struct walk_frame site = {.pc = (uintptr_t)__builtin_return_address(0),
                                    .sp = (uintptr_t)__builtin_dwarf_cfa(),
                                    .fp = *(const uintptr_t *)__builtin_frame_address(0)};
    uint32_t node = find(&site);

    mire__slot_as_count(&t.heaps->heap, t.heaps->slot, 16);
    mire__slot_as_uncount(&t.heaps->heap, t.heaps->slot, 16);
    t.walked += node == 0;
    if (node == 0)
        node = mire__walk_as_node_else(&t.walk, &t.heaps->heap, &t.code, &site);
    mire__walk_as_forget(&t.forgetful, atomic_load(&t.code.version));
    assert_int_not_equal(node, MIRE_NODE_ROOT);
    assert_int_equal(node, mire__walk_as_node(&t.forgetful, &t.heaps->heap, &t.code, &site));
}

static void go(uint32_t way, uint32_t left);

/* Frames of several sizes, of functions that are told and one that is left out of stacks. */
#define STEP(name, bytes, how)                                                  \
    static void __attribute__((noinline)) how name(uint32_t way, uint32_t left) \
    {                                                                           \
        volatile char room[bytes];                                              \
                                                                                \
        room[0] = 1;                                                            \
        go(way, left);                                                          \
        sink += room[0];                                                        \
    }
STEP(one, 8, )
STEP(two, 40, )
STEP(three, 200, MIRE_HIDDEN)
STEP(four, 1000, )

static void __attribute__((noinline)) go(uint32_t way, uint32_t left)
{
    static void (*const steps[])(uint32_t, uint32_t) = {one, two, three, four};

    if (left == 0)
        allocate();
    else
        steps[way % 4](way / 4, left - 1);
    sink++;
}

static int set_up(void **state)
{
    pthread_attr_t attr;
    void *low;
    size_t bytes;

    (void)state;
    t.random = test_seed();
    t.heaps = heaps_new(20u << 20, MIRE_HEAP_EXACT);
    mire__code_open(&t.code, &t.heaps->heap);
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &bytes);
    pthread_attr_destroy(&attr);
    memset(&t.walk, 0, sizeof(t.walk));
    mire__walk_as_forget(&t.walk, 0);
    t.walk.low = t.forgetful.low = (uintptr_t)low;
    t.walk.high = t.forgetful.high = (uintptr_t)low + bytes;
    t.walk.slot = t.heaps->slot;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    heaps_free(t.heaps);
    return 0;
}

/* More stacks than can be remembered, one after the other. Returns how many of them were walked while tails rested. */
static uint32_t wander(uint32_t count)
{
    uint32_t rested = 0;

    for (uint32_t i = 0; i < count; i++) {
        go((uint32_t)test_roll(&t.random, 1u << 28), 1 + test_roll(&t.random, DEEPEST));
        rested += t.walk.rests;
    }
    return rested;
}

/* Returns in how many of so many calls the stack was walked. */
static uint32_t go_to_and_fro(uint32_t count)
{
    uint32_t before = t.walked;

    for (uint32_t i = 0; i < count; i++)
        go(i % 3 * 7, 2 + i % 3);
    return t.walked - before;
}

static void tails_rest_while_a_thread_wanders(void **state)
{
    (void)state;
    assert_true(wander(40000) > 30000);
    /* What is left of the rest, then tails are remembered again; and they last. */
    assert_true(go_to_and_fro(MIRE_WALK_REST + 1000) < MIRE_WALK_REST + 100);
    assert_false(t.walk.rests);
    assert_int_equal(go_to_and_fro(3000), 3); /* called from elsewhere: each stack is walked once */
    assert_false(t.walk.rests);
}

static void stacks_that_come_in_the_same_order_are_expected(void **state)
{
    uint32_t before, walked;

    (void)state;
    go_to_and_fro(3000);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message(
        "built for a sanitizer, nothing is inlined (heap.h): the frame pointer that is compared is the hook's own\n");
    skip();
#endif
    before = t.expected;
    walked = go_to_and_fro(3000);
    /* Each is found once to learn what comes next. */
    assert_in_range(t.expected - before, 3000 - walked - 6, 3000 - walked);
}

static void a_thread_that_wandered_at_its_start_rests_but_shortly(void **state)
{
    (void)state;
    assert_true(wander(1500) > 0);
    assert_true(go_to_and_fro(20000) < 2 * MIRE_WALK_REST_FIRST);
    assert_false(t.walk.rests);
}

static void tails_do_not_rest_where_stacks_come_back(void **state)
{
    (void)state;
    assert_true(go_to_and_fro(20000) < 200);
    for (uint32_t i = 0; i < 20000; i++) {
        go(i % 40, 3); /* forty stacks */
        assert_false(t.walk.rests);
    }
}

/* Rules of all numbers that may come, those that no compiler makes as well. */
static void a_rule_in_brief_is_the_same_rule(void **state)
{
    uint32_t brief_count = 0;

    (void)state;
    for (int32_t offset = -16; offset <= 40000; offset += 4) {
        for (int16_t fp_at = -80; fp_at <= 16; fp_at += 4) {
            struct rule rules[] = {
                {.kind = RULE_CFA, .fp = RULE_FP_AT_CFA, .offset = offset, .ra_at = -8, .fp_at = fp_at},
                {.kind = RULE_CFA, .fp = RULE_FP_SAME, .offset = offset, .ra_at = -8},
                {.kind = RULE_CFA, .fp = RULE_FP_SAME, .offset = offset, .ra_at = fp_at},
                {.kind = RULE_CFA, .fp = RULE_FP_LOST, .offset = offset, .ra_at = -8, .fp_at = fp_at},
                {.kind = RULE_CFA, .from_fp = 1, .fp = RULE_FP_AT_CFA, .offset = offset, .ra_at = -8, .fp_at = fp_at},
                {.kind = RULE_CFA, .flags = MIRE_RULE_HIDDEN, .offset = offset, .ra_at = -8},
                {.kind = RULE_CFA_AT, .offset = offset, .add = 8, .ra_at = -8, .fp_at = fp_at},
            };

            for (size_t i = 0; i < MIRE_COUNT(rules); i++) {
                mire__rule_mark(&rules[i]);

                uint32_t brief = mire__rule_brief(&rules[i]);
                struct rule back = mire__rule_of_brief(brief);

                if (!brief)
                    continue;
                brief_count++;
                assert_true(brief <= UINT16_MAX && brief & MIRE_BRIEF);
                assert_memory_equal(&back, &rules[i], sizeof(back));
                assert_int_equal(mire__brief_cfa(brief), rules[i].offset);
                assert_int_equal(-8 - (int64_t)mire__brief_fp(brief), rules[i].fp_at);
                assert_int_equal(mire__brief_moves_fp(brief), rules[i].fp == RULE_FP_AT_CFA);
                assert_true(rules[i].offset + rules[i].fp_at >= 0); /* nothing below the stack pointer is read */
            }
        }
    }
    assert_in_range(brief_count, 1u << 16, 1u << 18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_in_brief_is_the_same_rule),
        cmocka_unit_test_setup_teardown(tails_rest_while_a_thread_wanders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stacks_that_come_in_the_same_order_are_expected, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_thread_that_wandered_at_its_start_rests_but_shortly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tails_do_not_rest_where_stacks_come_back, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
