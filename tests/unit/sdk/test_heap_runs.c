/* test_heap_runs.c - a run ends and another begins during a real call, for each path of a call. */
#include "allochook/allochook.h"
#include "allochook/hooks.h"
#include "support/heaps.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct heaps *first, *second;

static void begin(struct heaps **heaps)
{
    *heaps = heaps_new(20u << 20, MIRE_HEAP_EXACT);
    mire__slot_as_leave((*heaps)->slot);
    assert_int_equal(mire__collect_begin(&(*heaps)->heap), MIRE_OK);
}

static void *change_runs(void *context)
{
    assert_true(mire__collect_end());
    begin(&second);
    return context;
}

/* The real call. During it another thread ends the run and begins the next. */
static void *malloc_between_runs(size_t size)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, change_runs, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return malloc(size);
}

static void real_malloc_is(void *(*real)(size_t))
{
    atomic_store(&mire__heap_hooks[MIRE_HEAP_HOOK_malloc].real, (void *)real);
}

static bool is_noted(struct heaps *heaps, const void *block)
{
    struct live_block found;

    return mire__block_as_find(&found, &heaps->heap, (uintptr_t)block);
}

static void runs_change_within(void *(*hook)(size_t))
{
    void *blocks[4];

    mire__heap_bind(RTLD_DEFAULT);
    begin(&first);
    blocks[0] = hook(100);
    blocks[1] = hook(100);
    assert_true(is_noted(first, blocks[0]) && is_noted(first, blocks[1]));
    real_malloc_is(malloc_between_runs);
    blocks[2] = hook(100);
    real_malloc_is(malloc);
    blocks[3] = hook(100);
    assert_false(is_noted(first, blocks[2]) || is_noted(second, blocks[2])); /* neither run saw the whole call */
    assert_true(is_noted(second, blocks[3]));
    assert_false(is_noted(second, blocks[0]));
    assert_true(mire__collect_end());
    for (size_t i = 0; i < 4; i++)
        free(blocks[i]);
    heaps_free(second);
    heaps_free(first);
}

static void runs_change_within_the_hook(void **state)
{
    (void)state;
    runs_change_within(mire__heap_malloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_change_within_the_hook),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
