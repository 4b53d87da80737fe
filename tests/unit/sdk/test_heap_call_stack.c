/* test_heap_call_stack.c - cached stacks are those of a walk without a cache. */
#include "allochook/call_stack.h"
#include "allochook/hooks.h"
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
    struct step_cache steps;
    struct call_stack stack, forgetful;
    struct self_fresh fresh[2][MIRE_SELF_DEPTH];
    struct stack_few few[2];
    struct stack_many many;
    uint32_t walked;
    uint64_t random;
} t;

static volatile long sink;

/* As an allocation hook: its caller is the innermost frame. The block is freed at once. */
static void __attribute__((noinline, optimize("no-omit-frame-pointer"))) allocate(void)
{
    const struct self_frame site = {.pc = (uintptr_t)__builtin_return_address(0),
                                    .sp = (uintptr_t)__builtin_dwarf_cfa(),
                                    .fp = *(const uintptr_t *)__builtin_frame_address(0)};
    uint32_t node = mire__call_stack_as_cached(&t.stack, &t.steps, &site);

    mire__slot_as_count(&t.heaps->heap, t.heaps->slot, 16);
    mire__slot_as_uncount(&t.heaps->heap, t.heaps->slot, 16);
    t.walked += node == 0;
    if (node == 0)
        node = mire__call_stack_as_walk(&t.stack, &t.heaps->heap, &t.steps, &site);
    mire__call_stack_as_forget(&t.forgetful, atomic_load(&t.steps.version));
    assert_int_not_equal(node, MIRE_NODE_ROOT);
    assert_int_equal(node, mire__call_stack_as_node(&t.forgetful, &t.heaps->heap, &t.steps, &site));
}

static void go(uint32_t way, uint32_t left);

/* Frames of several sizes, one of them hidden from stacks. */
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

/* Frames in MIRE_HIDDEN are left out, like those of hooks. */
extern const char __start_mire_hidden[] __attribute__((visibility("hidden")));
extern const char __stop_mire_hidden[] __attribute__((visibility("hidden")));

static bool is_hidden(void *context, uint64_t pc, uint64_t function)
{
    (void)context;
    (void)function;
    return pc >= (uintptr_t)__start_mire_hidden && pc < (uintptr_t)__stop_mire_hidden;
}

static void begin(struct call_stack *stack, uint32_t number, const char *low, size_t bytes)
{
    memset(stack, 0, sizeof(*stack));
    stack->walk.fresh = t.fresh[number];
    stack->walk.low = (uintptr_t)low;
    stack->walk.high = (uintptr_t)low + bytes;
    stack->cache.few = &t.few[number];
    stack->cache.slot = t.heaps->slot;
    mire__call_stack_as_forget(stack, 0);
}

static int set_up(void **state)
{
    const struct step_cache_owner owner = {.is_hidden = is_hidden};
    pthread_attr_t attr;
    void *low;
    size_t bytes;

    (void)state;
    t.random = test_seed();
    t.heaps = heaps_new(20u << 20, MIRE_HEAP_EXACT);
    mire__step_cache_open(&t.steps, &owner);
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &bytes);
    pthread_attr_destroy(&attr);
    begin(&t.stack, 0, low, bytes);
    begin(&t.forgetful, 1, low, bytes);
    t.stack.cache.many = &t.many;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    heaps_free(t.heaps);
    return 0;
}

/* Make more stacks than the cache holds, one after the other. Returns the number of calls with the cache off. */
static uint32_t wander(uint32_t count)
{
    uint32_t off = 0;

    for (uint32_t i = 0; i < count; i++) {
        go((uint32_t)test_roll(&t.random, 1u << 28), 1 + test_roll(&t.random, DEEPEST));
        off += t.stack.cache.off;
    }
    return off;
}

/* Returns the number of walks in `count` calls. */
static uint32_t go_to_and_fro(uint32_t count)
{
    uint32_t before = t.walked;

    for (uint32_t i = 0; i < count; i++)
        go(i % 3 * 7, 2 + i % 3);
    return t.walked - before;
}

static void the_cache_is_off_while_a_thread_wanders(void **state)
{
    (void)state;
    assert_true(wander(40000) > 30000);
    /* The rest of that time, then it is on again, and stays so. */
    assert_true(go_to_and_fro(MIRE_STACK_OFF_WALKS + 1000) < MIRE_STACK_OFF_WALKS + 100);
    assert_false(t.stack.cache.off);
    assert_in_range(go_to_and_fro(3000), 0, 3); /* called from elsewhere: each stack is walked once */
    assert_false(t.stack.cache.off);
}

static void the_cache_is_on_where_stacks_come_back(void **state)
{
    (void)state;
    assert_true(go_to_and_fro(20000) < 200);
    for (uint32_t i = 0; i < 20000; i++) {
        go(i % 40, 3); /* forty stacks */
        assert_false(t.stack.cache.off);
    }
}

/* A small cache, which cannot hold them all. */
static void a_state_without_room_for_many_finds_the_same_stacks(void **state)
{
    (void)state;
    t.stack.cache.many = NULL;
    assert_true(go_to_and_fro(2000) < 100);
    wander(2000);
    assert_ptr_equal(t.stack.cache.entries, t.few[0].entries);
}

/* Steps of all values, including those that no compiler makes. */
static void a_packed_step_is_the_same_step(void **state)
{
    uint32_t packed_count = 0;

    (void)state;
    for (int32_t offset = -16; offset <= 40000; offset += 4) {
        for (int16_t fp_at = -80; fp_at <= 16; fp_at += 4) {
            struct step steps[] = {
                {.kind = STEP_CFA, .fp = STEP_FP_AT_CFA, .offset = offset, .ra_at = -8, .fp_at = fp_at},
                {.kind = STEP_CFA, .fp = STEP_FP_SAME, .offset = offset, .ra_at = -8},
                {.kind = STEP_CFA, .fp = STEP_FP_SAME, .offset = offset, .ra_at = fp_at},
                {.kind = STEP_CFA, .fp = STEP_FP_LOST, .offset = offset, .ra_at = -8, .fp_at = fp_at},
                {.kind = STEP_CFA, .from_fp = 1, .fp = STEP_FP_AT_CFA, .offset = offset, .ra_at = -8, .fp_at = fp_at},
                {.kind = STEP_CFA, .flags = MIRE_STEP_HIDDEN, .offset = offset, .ra_at = -8},
                {.kind = STEP_CFA_AT, .offset = offset, .add = 8, .ra_at = -8, .fp_at = fp_at},
            };

            for (size_t i = 0; i < MIRE_COUNT(steps); i++) {
                mire__step_mark(&steps[i]);

                uint32_t packed = mire__step_pack(&steps[i]);
                struct step back = mire__step_unpack(packed);

                if (!packed)
                    continue;
                packed_count++;
                assert_true(packed <= UINT16_MAX && packed & MIRE_STEP_PACKED);
                assert_memory_equal(&back, &steps[i], sizeof(back));
                assert_int_equal(mire__packed_cfa(packed), steps[i].offset);
                assert_int_equal(-8 - (int64_t)mire__packed_fp(packed), steps[i].fp_at);
                assert_int_equal(mire__packed_moves_fp(packed), steps[i].fp == STEP_FP_AT_CFA);
                assert_true(steps[i].offset + steps[i].fp_at >= 0); /* nothing below the stack pointer is read */
            }
        }
    }
    assert_in_range(packed_count, 1u << 16, 1u << 18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_step_is_the_same_step),
        cmocka_unit_test_setup_teardown(the_cache_is_off_while_a_thread_wanders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_cache_is_on_where_stacks_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_state_without_room_for_many_finds_the_same_stacks, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
