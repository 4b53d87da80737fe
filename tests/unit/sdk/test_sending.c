/* The persistent state of sending: over restarts, between processes, and from damaged files. */
#include "store/sending.h"

#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOW 1763685118456ull
#define DAY 20412u

static struct store *store_at(const char *dir)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct store *store;

    assert_int_equal(mire__store_open(&store, dir, &caps), MIRE_OK);
    return store;
}

static void when_to_ask_again_is_remembered(void **state)
{
    struct store *store = store_at(*state);
    struct store_after after;

    mire__store_after(&after, store);
    assert_true(after.until_ms == 0 && after.said_ms == 0);
    assert_int_equal(mire__store_set_after(store, &(struct store_after){NOW + 5000, NOW}), MIRE_OK);
    mire__store_close(store);
    store = store_at(*state);
    mire__store_after(&after, store);
    assert_true(after.until_ms == NOW + 5000 && after.said_ms == NOW);
    mire__store_close(store);
}

static void what_the_user_said_is_remembered(void **state)
{
    for (int consent = MIRE_CONSENT_REFUSED; consent >= MIRE_CONSENT_UNKNOWN; consent--) {
        struct store *store = store_at(*state);

        assert_int_equal(mire__store_set_consent(store, (enum mire_consent)consent), MIRE_OK);
        mire__store_close(store);
        store = store_at(*state);
        assert_int_equal(mire__store_consent(store), consent);
        assert_int_equal(mire__store_refused(store), consent == MIRE_CONSENT_REFUSED);
        mire__store_close(store);
    }
}

static void nonsense_in_the_files_is_nothing(void **state)
{
    static const char *const texts[] = {"", "\n", "x", "12", "12 ", "12 x", "12 13 14", " ", "given ", "GIVEN"};
    static const char *const files[] = {"after", "spent", "consent"};
    struct store *store = store_at(*state);

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct store_after after;
        uint64_t spent = 7;

        for (size_t j = 0; j < sizeof(files) / sizeof(files[0]); j++) {
            char path[512];
            FILE *file;

            snprintf(path, sizeof(path), "%s/%s", (char *)*state, files[j]);
            assert_non_null(file = fopen(path, "w"));
            fputs(texts[i], file);
            fclose(file);
        }
        mire__store_after(&after, store);
        assert_true(after.until_ms <= 12 && after.said_ms == 0); /* past, or nothing */
        assert_int_equal(mire__store_consent(store), MIRE_CONSENT_UNKNOWN);
        assert_int_equal(mire__store_spend(&spent, store, DAY, 1, 100), MIRE_OK);
        assert_int_equal(spent, 1);
    }
    mire__store_close(store);
}

static void a_days_bytes_are_counted_up_to_the_cap(void **state)
{
    struct store *store = store_at(*state);
    uint64_t spent;

    assert_int_equal(mire__store_spend(&spent, store, DAY, 60, 100), MIRE_OK);
    assert_int_equal(mire__store_spend(&spent, store, DAY, 41, 100), MIRE_E_FULL);
    assert_int_equal(spent, 60);
    mire__store_close(store);
    store = store_at(*state);
    assert_int_equal(mire__store_spend(&spent, store, DAY, 40, 100), MIRE_OK);
    assert_int_equal(spent, 100);
    assert_int_equal(mire__store_spend(&spent, store, DAY + 1, 100, 100), MIRE_OK);
    /* The clock is set back: no day's allowance is used twice. */
    assert_int_equal(mire__store_spend(&spent, store, DAY - 300, 1, 100), MIRE_E_FULL);
    assert_int_equal(mire__store_spend(&spent, store, DAY - 300, 1, UINT64_MAX), MIRE_OK);
    assert_int_equal(spent, 101);
    assert_int_equal(mire__store_spend(&spent, store, DAY - 299, 1, 100), MIRE_OK);
    mire__store_close(store);
}

static void processes_share_a_days_bytes(void **state)
{
    enum { CHILDREN = 4, EACH = 10 };
    uint64_t spent;

    for (int i = 0; i < CHILDREN; i++) {
        if (fork() > 0)
            continue;
        struct store *store = store_at(*state);
        for (int taken = 0; taken < EACH;) /* the lock is waited for 200 ms at a time */
            taken += mire__store_spend(&spent, store, DAY, 1, UINT64_MAX) == MIRE_OK;
        _exit(0);
    }
    for (int i = 0, status; i < CHILDREN; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    struct store *store = store_at(*state);
    assert_int_equal(mire__store_spend(&spent, store, DAY, 0, UINT64_MAX), MIRE_OK);
    assert_int_equal(spent, CHILDREN * EACH);
    mire__store_close(store);
}

static void what_cannot_be_written_is_said(void **state)
{
    struct store *store = store_at(*state);
    char command[512];
    uint64_t spent;

    snprintf(command, sizeof(command), "rm -r %s && touch %s", (char *)*state, (char *)*state);
    assert_int_equal(system(command), 0); /* a file where the directory was */
    assert_int_equal(mire__store_set_after(store, &(struct store_after){NOW, NOW}), MIRE_E_STORE);
    assert_int_equal(mire__store_set_consent(store, MIRE_CONSENT_GIVEN), MIRE_E_STORE);
    assert_int_equal(mire__store_spend(&spent, store, DAY, 1, 100), MIRE_E_STORE);
    mire__store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(when_to_ask_again_is_remembered),  TEST(what_the_user_said_is_remembered),
        TEST(nonsense_in_the_files_is_nothing), TEST(a_days_bytes_are_counted_up_to_the_cap),
        TEST(processes_share_a_days_bytes),     TEST(what_cannot_be_written_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
