/*
 * test_options.c - the options of a start: refused values, values from the environment, and the place of the store.
 */
#include "mire/mire.h"

#include "core/options.h"
#include "core/store_location.h"
#include "store/store.h"
#include "support/scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static void options_refuse_what_cannot_work(void **state)
{
    mire_options *options = mire_options_new();
    char tall[5000];

    (void)state;
    memset(tall, 'x', sizeof(tall));
    tall[sizeof(tall) - 1] = '\0';
    assert_int_equal(mire_options_set_app(options, "", "1"), MIRE_E_ARG);
    assert_int_equal(mire_options_set_app(options, "a", NULL), MIRE_E_ARG);
    assert_int_equal(mire_options_set_app(options, "a\n", "1"), MIRE_E_ARG);
    assert_int_equal(mire_options_set_app(options, tall, "1"), MIRE_E_ARG);
    assert_int_equal(mire_options_set_app(NULL, "a", "1"), MIRE_E_ARG);
    assert_int_equal(mire_options_set_build(options, ""), MIRE_E_ARG);
    assert_int_equal(mire_options_set_channel(NULL, "gray"), MIRE_E_ARG);
    assert_int_equal(mire_options_set_server(options, "mire.example.com", "k"), MIRE_E_ARG);
    assert_int_equal(mire_options_set_server(options, "https://", "k"), MIRE_E_ARG);
    assert_int_equal(mire_options_set_server(options, "https:///x", "k"), MIRE_E_ARG);
    assert_int_equal(mire_options_set_server(options, "https://a b", "k"), MIRE_E_ARG);
    assert_int_equal(mire_options_set_server(options, "https://a", "k\r\nX: y"), MIRE_E_ARG);
    assert_int_equal(mire_options_set_server(options, "https://a", ""), MIRE_E_ARG);
    assert_int_equal(mire_options_set_store(options, ""), MIRE_E_ARG);
    assert_int_equal(mire_options_set_store(options, tall), MIRE_E_ARG);
    assert_int_equal(mire_options_set_threshold_ms(options, 249), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_threshold_ms(options, 60001), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_threshold_ms(NULL, 10), MIRE_E_ARG);
    assert_int_equal(mire_options_set_period_ms(options, 0), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_period_ms(options, 60001), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_period_ms(NULL, 1), MIRE_E_ARG);
    assert_int_equal(mire_options_set_sampling(options, 1.01), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_sampling(options, -0.1), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_sampling(options, NAN), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_sampling(NULL, 1), MIRE_E_ARG);
    assert_int_equal(mire_options_set_log(NULL, NULL, NULL), MIRE_E_ARG);
    assert_int_equal(mire_options_set_log(options, NULL, NULL), MIRE_OK);
    mire_options_free(options);
    mire_options_free(NULL);
}

static void options_are_as_before_after_a_refusal(void **state)
{
    mire_options *options = mire_options_new();

    (void)state;
    mire_options_set_app(options, "a", "1");
    assert_int_equal(mire_options_set_app(options, "b", ""), MIRE_E_ARG);
    assert_string_equal(options->app_name, "a");
    mire_options_set_server(options, "http://a", "k");
    assert_int_equal(mire_options_set_server(options, "http://b", ""), MIRE_E_ARG);
    assert_string_equal(options->server_url, "http://a");
    mire_options_free(options);
}

static void options_of_the_store_are_bounded_and_reach_it(void **state)
{
    mire_options *options = mire_options_new();

    (void)state;
    assert_int_equal(options->store_sync, MIRE_STORE_SYNC_SEAL);
    assert_int_equal(mire_options_set_store_sync(NULL, MIRE_STORE_SYNC_SEAL), MIRE_E_ARG);
    assert_int_equal(mire_options_set_store_sync(options, (enum mire_store_sync)3), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_store_sync(options, MIRE_STORE_SYNC_ALWAYS), MIRE_OK);
    assert_int_equal(options->store_sync, MIRE_STORE_SYNC_ALWAYS);
    assert_int_equal(mire_options_set_store_caps(NULL, 64, 2, 60), MIRE_E_ARG);
    assert_int_equal(mire_options_set_store_caps(options, 63, 2, 60), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_store_caps(options, 64, 1, 60), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_store_caps(options, 64, 1025, 60), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_store_caps(options, 64, 2, 59), MIRE_E_RANGE);
    assert_int_equal(options->store_caps.count, 256);
    assert_int_equal(mire_options_set_store_caps(options, 64, 2, 60), MIRE_OK);
    assert_true(options->store_caps.bytes == 65536 && options->store_caps.count == 2 &&
                options->store_caps.age_ms == 60000);
    setenv("MIRE_STORE_SYNC", "never", 1);
    mire__options_from_environment(options);
    assert_int_equal(options->store_sync, MIRE_STORE_SYNC_NEVER);
    setenv("MIRE_STORE_SYNC", "sometimes", 1);
    mire__options_from_environment(options);
    assert_int_equal(options->store_sync, MIRE_STORE_SYNC_SEAL);
    unsetenv("MIRE_STORE_SYNC");
    mire_options_free(options);
}

static void the_store_keeps_to_the_caps_of_the_options(void **state)
{
    mire_options *options = mire_options_new();
    char dir[MIRE_STORE_PATH_MAX];
    struct store_item items[8];
    struct store *store;

    mire_options_set_app(options, "a", "1");
    mire_options_set_store(options, *state);
    mire_options_set_store_caps(options, 64, 2, 60);
    assert_int_equal(mire__store_location_open(&store, dir, options), MIRE_OK);
    for (unsigned i = 0; i < 5; i++) {
        char id[MIRE_STORE_ID_LENGTH + 1];
        const struct store_report report = {.id = id, .body = "x", .size = 1, .value = MIRE_VALUE_HANG};

        snprintf(id, sizeof(id), "019aa3d3-31f9-7000-8000-%012x", i);
        assert_int_equal(mire__store_put(store, &report, 1763685118457ull), MIRE_OK);
    }
    assert_int_equal(mire__store_list(items, 8, store), 2);
    mire__store_close(store);
    mire_options_free(options);
}

static void assert_opens(const char *place, const mire_options *options)
{
    char dir[MIRE_STORE_PATH_MAX];
    struct store *store;

    assert_int_equal(mire__store_location_open(&store, dir, options), MIRE_OK);
    assert_string_equal(dir, place);
    assert_string_equal(mire__store_dir(store), place);
    mire__store_close(store);
}

static void the_store_is_the_first_place_that_can_be_written(void **state)
{
    mire_options *options = mire_options_new();
    char place[MIRE_STORE_PATH_MAX], name[32];

    snprintf(name, sizeof(name), "../test-%d", (int)getpid());
    mire_options_set_app(options, name, "1");
    setenv("XDG_STATE_HOME", *state, 1);
    setenv("HOME", *state, 1);
    snprintf(place, sizeof(place), "%s/mire/_._test-%d", (char *)*state, (int)getpid());
    assert_opens(place, options);
    setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
    snprintf(place, sizeof(place), "%s/.local/state/mire/_._test-%d", (char *)*state, (int)getpid());
    assert_opens(place, options);
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "/proc/nowhere", 1);
    snprintf(place, sizeof(place), "/var/tmp/mire-%u/_._test-%d", geteuid(), (int)getpid());
    assert_opens(place, options);
    assert_int_equal(nftw(place, scratch_remove, 16, FTW_DEPTH | FTW_PHYS), 0);
    *strrchr(place, '/') = '\0';
    rmdir(place); /* unless something else is there */
    mire_options_free(options);
}

static void a_store_that_is_set_has_no_second_place(void **state)
{
    mire_options *options = mire_options_new();
    char dir[MIRE_STORE_PATH_MAX];
    struct store *store;

    mire_options_set_app(options, "test", "1");
    mire_options_set_store(options, *state);
    assert_opens(*state, options);
    mire_options_set_store(options, "/proc/nowhere");
    assert_int_equal(mire__store_location_open(&store, dir, options), MIRE_E_STORE);
    assert_null(store);
    assert_string_equal(dir, "/proc/nowhere");
    mire_options_free(options);
}

static void numbers_are_set_by_name_within_their_bounds(void **state)
{
    mire_options *options = mire_options_new();

    (void)state;
    assert_int_equal(mire_options_set_number(options, "cpu_percent", 55), MIRE_OK);
    assert_int_equal(options->settings.cpu_percent, 55);
    assert_int_equal(mire_options_set_number(options, "cpu_percent", 100001), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_number(options, "daily_cap", 0), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_number(options, "cpu_per", 5), MIRE_E_ARG);
    assert_int_equal(mire_options_set_number(options, NULL, 5), MIRE_E_ARG);
    assert_int_equal(mire_options_set_number(NULL, "cpu_percent", 5), MIRE_E_ARG);
    assert_int_equal(options->settings.cpu_percent, 55);
    setenv("MIRE_SETTINGS", "disk_kib=77 nothing=1 cpu_percent=x, power_percent=,suppress_ms=0 cpu_window_ms=1", 1);
    mire__options_from_environment(options);
    unsetenv("MIRE_SETTINGS");
    assert_int_equal(options->settings.disk_kib, 77);
    assert_int_equal(options->settings.suppress_ms, 0);
    assert_int_equal(options->settings.cpu_percent, 80);
    assert_int_equal(options->settings.power_percent, 80);
    assert_int_equal(options->settings.cpu_window_ms, 5000);
    mire_options_free(options);
}

static void threads_are_named_and_few(void **state)
{
    mire_options *options = mire_options_new();

    (void)state;
    assert_int_equal(mire_options_add_thread(options, ""), MIRE_E_ARG);
    assert_int_equal(mire_options_add_thread(options, "sixteen letters!"), MIRE_E_ARG);
    assert_int_equal(mire_options_add_thread(NULL, "render"), MIRE_E_ARG);
    for (int i = 0; i < MIRE_THREAD_NAMES_MAX; i++)
        assert_int_equal(mire_options_add_thread(options, "render"), MIRE_OK);
    assert_int_equal(mire_options_add_thread(options, "render"), MIRE_E_FULL);
    assert_int_equal(mire_options_set_launch(NULL, 1), MIRE_E_ARG);
    setenv("MIRE_THREADS", "Qt render,sixteen letters!,io", 1);
    mire__options_from_environment(options);
    unsetenv("MIRE_THREADS");
    assert_int_equal(options->threads_count, 2);
    assert_string_equal(options->threads[0], "Qt render");
    assert_string_equal(options->threads[1], "io");
    mire_options_free(options);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_refuse_what_cannot_work),
        cmocka_unit_test(options_are_as_before_after_a_refusal),
        cmocka_unit_test(options_of_the_store_are_bounded_and_reach_it),
        TEST(the_store_keeps_to_the_caps_of_the_options),
        TEST(the_store_is_the_first_place_that_can_be_written),
        TEST(a_store_that_is_set_has_no_second_place),
        cmocka_unit_test(numbers_are_set_by_name_within_their_bounds),
        TEST(threads_are_named_and_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
