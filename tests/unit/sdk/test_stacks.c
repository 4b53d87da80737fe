/* test_stacks.c - the ledger of reports sent today and suppressed ones. */
#include "store/store.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NOW 1700000000000u

static bool rename_fails;

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

int __wrap_rename(const char *from, const char *to)
{
    return rename_fails ? -1 : __real_rename(from, to);
}

static struct store *open_default(const char *dir)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct store *store;

    assert_int_equal(mire__store_open(&store, dir, &caps), MIRE_OK);
    return store;
}

static void assert_sent(struct store *store, uint64_t stack, uint64_t now_ms, uint64_t held, uint64_t held_ms)
{
    struct store_held given;

    assert_int_equal(mire__store_stack_send(&given, store, stack, now_ms, 2), MIRE_OK);
    assert_int_equal(given.count, held);
    assert_int_equal(given.duration_ms, held_ms);
}

static void assert_not_sent(struct store *store, uint64_t stack, uint64_t now_ms, enum mire_err why)
{
    struct store_held given = {7, 7};

    assert_int_equal(mire__store_stack_send(&given, store, stack, now_ms, 2), why);
    assert_int_equal(given.count + given.duration_ms, 0);
}

static void a_stacks_day_is_counted_over_restarts(void **state)
{
    struct store *store = open_default(*state);

    assert_sent(store, 5, NOW, 0, 0);
    mire__store_close(store);
    store = open_default(*state);
    assert_sent(store, 5, NOW, 0, 0);
    assert_not_sent(store, 5, NOW, MIRE_E_FULL);
    assert_sent(store, 6, NOW, 0, 0);
    assert_sent(store, 5, NOW + 24 * 3600 * 1000, 0, 0);
    mire__store_close(store);
}

static void what_was_held_back_is_told_with_the_next_that_is_sent(void **state)
{
    const struct store_held one = {1, 2500}, two = {2, 500};
    struct store *store = open_default(*state);

    assert_int_equal(mire__store_stack_hold(store, 5, NOW, &one), MIRE_OK);
    assert_int_equal(mire__store_stack_hold(store, 5, NOW, &two), MIRE_OK);
    mire__store_close(store);
    store = open_default(*state);
    assert_sent(store, 6, NOW, 0, 0);
    assert_sent(store, 5, NOW, 3, 3000);
    assert_sent(store, 5, NOW, 0, 0);
    assert_int_equal(mire__store_stack_hold(store, 5, NOW, &one), MIRE_OK);
    assert_not_sent(store, 5, NOW, MIRE_E_FULL);
    assert_sent(store, 5, NOW + 24 * 3600 * 1000, 1, 2500);
    mire__store_close(store);
}

static void the_stack_not_touched_for_longest_is_forgotten(void **state)
{
    const struct store_held one = {1, 1};
    struct store *store = open_default(*state);

    for (uint64_t stack = 1; stack <= MIRE_STORE_STACKS; stack++)
        assert_int_equal(mire__store_stack_hold(store, stack, NOW, &one), MIRE_OK);
    assert_int_equal(mire__store_stack_hold(store, 1, NOW, &one), MIRE_OK);
    assert_int_equal(
        mire__store_stack_hold(store, UINT64_MAX, UINT64_MAX, &(struct store_held){UINT64_MAX, UINT64_MAX}), MIRE_OK);
    assert_sent(store, 1, NOW, 2, 2);
    assert_sent(store, 3, NOW, 1, 1);
    assert_sent(store, UINT64_MAX, NOW, UINT64_MAX, UINT64_MAX);
    assert_sent(store, 2, NOW, 0, 0);
    mire__store_close(store);
}

static void a_ledger_that_cannot_be_written_is_as_it_was(void **state)
{
    const struct store_held one = {1, 1};
    struct store *store = open_default(*state);

    assert_int_equal(mire__store_stack_hold(store, 5, NOW, &one), MIRE_OK);
    rename_fails = true;
    assert_not_sent(store, 5, NOW, MIRE_E_STORE);
    assert_int_equal(mire__store_stack_hold(store, 5, NOW, &one), MIRE_E_STORE);
    rename_fails = false;
    assert_sent(store, 5, NOW, 1, 1);
    mire__store_close(store);
}

static void lines_that_cannot_be_read_begin_anew(void **state)
{
    struct store *store = open_default(*state);
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/stacks", (const char *)*state);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("0000000000000005 1 2\nwhat\n\n0000000000000007 1 1 4 40\n", file);
    fclose(file);
    assert_sent(store, 5, NOW, 0, 0);
    assert_sent(store, 7, NOW, 4, 40);
    mire__store_close(store);
}

static void several_processes_count_one_ledger(void **state)
{
    enum { PROCESSES = 4, EACH = 10 };
    const struct store_held one = {1, 3};
    struct store *store = open_default(*state);

    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            for (int j = 0; j < EACH; j++)
                while (mire__store_stack_hold(store, 5, NOW, &one) != MIRE_OK)
                    ; /* the others had the lock for too long */
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    assert_sent(store, 5, NOW, PROCESSES * EACH, PROCESSES * EACH * 3);
    mire__store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stacks_day_is_counted_over_restarts),
        TEST(what_was_held_back_is_told_with_the_next_that_is_sent),
        TEST(the_stack_not_touched_for_longest_is_forgotten),
        TEST(a_ledger_that_cannot_be_written_is_as_it_was),
        TEST(lines_that_cannot_be_read_begin_anew),
        TEST(several_processes_count_one_ledger),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
