/* test_heap_stack_cache.c - which cached stack is found, on an artificial stack of words. */
#include "allochook/stack_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INNERMOST 0x401000u
#define WORDS     32u
#define MANY      (MIRE_STACK_SETS * MIRE_STACK_WAYS / 4)

static uint64_t words[WORDS]; /* the stack, from the innermost frame's sp on */

struct kind {
    uint32_t node, innermost; /* `innermost` counts from INNERMOST */
    struct {
        uint32_t at;
        uint64_t returns_to;
    } frames[3]; /* from the inner end out; returns_to 0: no more */
};

/* f and g are called by different functions at the same depth; h has arbitrary words in place of their return
 * addresses. */
static const struct kind f = {11, 0, {{2, 0x402f13}, {9, 0x40311e}, {12, 0x4092d8}}};
static const struct kind g = {12, 0, {{2, 0x402f13}, {9, 0x404a07}, {12, 0x4092d8}}};
static const struct kind h = {13, 0, {{2, 0x405c31}, {6, 0x40602b}, {12, 0x4092d8}}};

static struct self_walk *walk;
static struct stack_cache cache;

static struct self_frame innermost(const struct kind *kind)
{
    return (struct self_frame){.pc = INNERMOST + kind->innermost, .sp = (uintptr_t)words};
}

/* Write a stack of that kind; words outside its frames are unchanged. */
static void enter(const struct kind *kind)
{
    for (uint32_t i = 0; i < 3; i++)
        words[kind->frames[i].at] = kind->frames[i].returns_to;
}

/* Store the stack as walked: it becomes the last and a cached one. */
static void remember(const struct kind *kind)
{
    for (uint32_t i = 0; i < 3; i++) {
        struct self_frame *frame = &walk->frames[2 - i];

        frame->pc = kind->frames[i].returns_to;
        frame->slot = (uintptr_t)&words[kind->frames[i].at];
        frame->sp = frame->slot + 8;
        walk->tags[2 - i] = 100 + kind->node;
    }
    walk->frames[3] = innermost(kind);
    walk->tags[3] = kind->node;
    walk->count = 4;
    mire__stack_cache_as_count(&cache);
    mire__stack_cache_as_add(&cache, walk);
}

static uint32_t look(const struct kind *kind)
{
    const struct self_frame frame = innermost(kind);
    const struct stack_entry *entry = mire__stack_cache_as_find(&cache, frame.pc, frame.sp, frame.fp);

    return entry ? mire__stack_cache_as_node(entry, walk) : 0;
}

/* Returns true if the stack had to be walked. */
static bool come_to(const struct kind *kind)
{
    uint32_t found;

    enter(kind);
    found = look(kind);
    if (found == kind->node)
        return false;
    assert_int_equal(found, 0);
    remember(kind);
    return true;
}

static int set_up(void **state)
{
    (void)state;
    walk = calloc(1, sizeof(*walk));
    memset(&cache, 0, sizeof(cache));
    cache.few = calloc(1, sizeof(*cache.few));
    cache.many = calloc(1, sizeof(*cache.many));
    memset(words, 0, sizeof(words));
    if (!walk || !cache.few || !cache.many)
        return -1;
    mire__stack_cache_as_forget(&cache);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(walk);
    free(cache.few);
    free(cache.many);
    return 0;
}

static void stacks_that_begin_alike_are_told_apart(void **state)
{
    const struct kind *const kinds[] = {&f, &g, &h};
    uint32_t walked = 0;

    (void)state;
    for (uint32_t i = 0; i < 30; i++)
        walked += come_to(kinds[i % 3]);
    assert_in_range(walked, 3, 12);
}

static void a_word_that_is_no_frame_of_a_stack_does_not_hide_it(void **state)
{
    uint32_t walked = 0;

    (void)state;
    for (uint32_t i = 0; i < 30; i++)
        come_to(i % 3 == 0 ? &f : i % 3 == 1 ? &g : &h);
    for (uint32_t i = 0; i < 200; i++) {
        words[9] = 0x500000 + i * 0x123456;
        walked += come_to(&h);
    }
    assert_int_equal(walked, 0);
    assert_false(come_to(&f));
    assert_false(come_to(&g));
}

/* A quarter as many stacks as entries, in a repeated order: few sets get five of them. */
static void many_stacks_in_turn_are_found(void **state)
{
    struct kind kind = {0, 0, {{2, 0x402f13}, {9, 0}, {12, 0x4092d8}}};
    uint32_t walked = 0;

    (void)state;
    for (uint32_t round = 0; round < 24; round++) {
        walked = 0;
        for (uint32_t i = 0; i < MANY; i++) {
            kind.node = 1 + i;
            kind.innermost = i / 4 * 0x1c4;
            kind.frames[1].returns_to = 0x410000 + (uint64_t)(i % 4) * 0x3a35;
            walked += come_to(&kind);
        }
    }
    assert_in_range(walked, 0, MANY / 8); /* where the stack lies decides how many share a set */
}

/* Cached stacks in a small and a large cache: after new code at the same addresses none is found. */
static void a_forgotten_stack_is_walked(void **state)
{
    struct kind kind = f;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) { /* the first round with few sets, the second with many */
        assert_true(come_to(&f));
        assert_false(come_to(&f));
        for (uint32_t k = 0; k < MIRE_STACK_FEW_WALKS; k++) {
            kind.node = 20 + k;
            kind.innermost = 0x40 + 0x11 * k;
            come_to(&kind);
        }
        assert_ptr_equal(cache.entries, cache.many->entries);
        mire__stack_cache_as_forget(&cache);
        assert_ptr_equal(cache.entries, cache.few->entries);
    }
    assert_true(come_to(&f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stacks_that_begin_alike_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_stacks_in_turn_are_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_forgotten_stack_is_walked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_word_that_is_no_frame_of_a_stack_does_not_hide_it, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
