/* Arguments that mire/delivery.h accepts and rejects, and its functions that need no server. */
#include "mire/delivery.h"

#include "base/alloc.h"
#include "core/options.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define PIN "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

static mire_options *options_at(const char *dir)
{
    mire_options *options = mire_options_new();

    assert_int_equal(mire_options_set_app(options, "delivery", "1"), MIRE_OK);
    assert_int_equal(mire_options_set_store(options, dir), MIRE_OK);
    return options;
}

static void setters_refuse_what_cannot_work(void **state)
{
    static const char *const bad_pins[] = {
        "", "sha256//", "sha256//AAAA", "/etc/passwd", (PIN ";"), (PIN ";x"), (PIN PIN), (";" PIN), "sha1//AAAA",
    };
    mire_options *options = mire_options_new();
    const mire_allocator half = {0};

    (void)state;
    assert_int_equal(mire_options_set_daily_bytes(options, 65535), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_daily_bytes(options, 65536), MIRE_OK);
    assert_int_equal(mire_options_set_daily_bytes(options, 0), MIRE_OK);
    assert_int_equal(mire_options_set_retry_ms(options, 0, 1), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_retry_ms(options, 2, 1), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_retry_ms(options, 1, 86400001), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_retry_ms(options, 1, 86400000), MIRE_OK);
    assert_int_equal(mire_options_set_ca_file(options, ""), MIRE_E_ARG);
    assert_int_equal(mire_options_set_ca_file(options, "/ca.pem"), MIRE_OK);
    for (size_t i = 0; i < MIRE_COUNT(bad_pins); i++)
        assert_int_equal(mire_options_set_pins(options, bad_pins[i]), MIRE_E_ARG);
    assert_int_equal(mire_options_set_pins(options, NULL), MIRE_E_ARG);
    assert_int_equal(mire_options_set_pins(options, PIN), MIRE_OK);
    assert_int_equal(mire_options_set_pins(options, PIN ";" PIN), MIRE_OK);
    assert_int_equal(mire_options_set_allocator(options, &half), MIRE_E_ARG);
    assert_int_equal(mire_options_set_allocator(options, NULL), MIRE_OK);
    mire_options_free(options);
    assert_int_equal(mire_options_set_consent_required(NULL, 1), MIRE_E_ARG);
    assert_int_equal(mire_options_set_plain_http(NULL, 1), MIRE_E_ARG);
    assert_int_equal(mire_options_set_before_send(NULL, NULL, NULL), MIRE_E_ARG);
    assert_int_equal(mire_options_set_transport(NULL, NULL, NULL), MIRE_E_ARG);
    assert_int_equal(mire_options_set_clock(NULL, NULL, NULL), MIRE_E_ARG);
}

static void reports_do_not_go_over_a_network_in_plain_http(void **state)
{
    static const struct {
        const char *url;
        bool safe;
    } rows[] = {
        {"https://mire.example.com", true},
        {"https://10.0.0.1:7117/x", true},
        {"http://127.0.0.1:7117", true},
        {"http://127.9.9.9/", true},
        {"http://localhost", true},
        {"http://localhost:7117/mire", true},
        {"http://[::1]:7117", true},
        {"http://[::1]", true},
        {"http://mire.example.com", false},
        {"http://10.0.0.1:7117", false},
        {"http://127.0.0.1.example.com", false},
        {"http://localhost.example.com", false},
        {"http://localhost:x@example.com", false},
        {"http://127.0.0.1@example.com", false},
        {"http://[::1].example.com", false},
        {"http://[::2]", false},
    };

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(rows); i++) {
        mire_options *options = options_at("/nonexistent");

        assert_int_equal(mire_options_set_server(options, rows[i].url, "k"), MIRE_OK);
        assert_int_equal(mire__options_server_is_safe(options), rows[i].safe);
        if (!rows[i].safe)
            assert_int_equal(mire_start(options), MIRE_E_ARG);
        mire_options_set_plain_http(options, 1);
        assert_true(mire__options_server_is_safe(options));
        mire_options_free(options);
    }
}

static void consent_is_told_while_started_and_remembered(void **state)
{
    mire_options *options = options_at(*state);

    assert_int_equal(mire_set_consent(MIRE_CONSENT_GIVEN), MIRE_E_STATE);
    assert_int_equal(mire_get_consent(), MIRE_CONSENT_UNKNOWN);
    for (int run = 0; run < 2; run++) {
        assert_int_equal(mire_start(options), MIRE_OK);
        assert_int_equal(mire_get_consent(), run ? MIRE_CONSENT_GIVEN : MIRE_CONSENT_UNKNOWN);
        assert_int_equal(mire_set_consent((enum mire_consent)3), MIRE_E_RANGE);
        assert_int_equal(mire_set_consent(MIRE_CONSENT_GIVEN), MIRE_OK);
        assert_int_equal(mire_stop(NULL), MIRE_OK);
    }
    mire_options_free(options);
}

#define CONSENTS 200

static void *give_consent(void *going)
{
    for (int i = 0; i < CONSENTS; i++)
        if (mire_set_consent(MIRE_CONSENT_GIVEN) != MIRE_OK)
            break;
    atomic_store((atomic_bool *)going, false);
    return NULL;
}

/* The worker applies a rollout; for a moment one thread holds everything. */
static void no_call_says_not_started_while_another_has_effect(void **state)
{
    mire_options *options = options_at(*state);
    atomic_bool going = true;
    pthread_t thread;

    assert_int_equal(mire_start(options), MIRE_OK);
    assert_int_equal(mire_set_consent(MIRE_CONSENT_GIVEN), MIRE_OK);
    assert_int_equal(pthread_create(&thread, NULL, give_consent, &going), 0);
    while (atomic_load(&going)) {
        assert_int_not_equal(mire_flush(0), MIRE_E_STATE);
        assert_int_equal(mire_watch_thread(NULL), MIRE_OK);
        assert_int_equal(mire_get_consent(), MIRE_CONSENT_GIVEN);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
    mire_options_free(options);
}

static void what_waits_is_deleted_when_the_user_refuses_though_there_is_no_server(void **state)
{
    mire_options *options = options_at(*state);
    struct mire_counts counts;

    assert_int_equal(mire_start(options), MIRE_OK);
    assert_int_equal(mire_test(), MIRE_OK);
    assert_int_equal(mire_set_consent(MIRE_CONSENT_REFUSED), MIRE_OK);
    assert_int_equal(mire_flush(60000), MIRE_OK);
    assert_int_equal(mire_stop(&counts), MIRE_OK);
    assert_true(counts.sent == 0 && counts.kept == 0 && counts.dropped == 1);
    mire_options_free(options);
}

static void stop_says_what_became_of_reports(void **state)
{
    mire_options *options = options_at(*state);
    struct mire_counts counts = {7, 7, 7};

    assert_int_equal(mire_stop(&counts), MIRE_E_STATE);
    assert_true(counts.sent == 0 && counts.kept == 0 && counts.dropped == 0);
    assert_int_equal(mire_start(options), MIRE_OK);
    assert_int_equal(mire_test(), MIRE_OK);
    assert_int_equal(mire_stop(&counts), MIRE_OK);
    assert_true(counts.sent == 0 && counts.kept == 1 && counts.dropped == 0);
    mire_options_free(options);
}

/* An app's allocator that counts, and fails after `left` blocks. All threads of the library use it. */
struct heap {
    _Atomic long blocks, left;
};

static void *heap_allocate(void *context, size_t size)
{
    struct heap *heap = context;

    assert_true(size > 0);
    if (heap->left-- <= 0)
        return NULL;
    heap->blocks++;
    return malloc(size);
}

static void *heap_reallocate(void *context, void *block, size_t size)
{
    struct heap *heap = context;

    assert_non_null(block);
    return heap->left-- <= 0 ? NULL : realloc(block, size);
}

static void heap_release(void *context, void *block)
{
    struct heap *heap = context;

    assert_non_null(block);
    heap->blocks--;
    free(block);
}

static void the_heap_of_the_app_is_used_and_given_back(void **state)
{
    struct heap heap = {.left = 1000};
    const mire_allocator allocator = {heap_allocate, heap_reallocate, heap_release, &heap};
    const mire_allocator none = {0};
    char *text;

    (void)state;
    mire__alloc_use(&allocator);
    assert_null(mire__calloc(SIZE_MAX / 2, 3));
    mire__free(NULL);
    text = mire__strdup("text");
    assert_string_equal(text, "text");
    text = mire__realloc(text, 100);
    assert_string_equal(text, "text");
    mire__free(text);
    text = mire__realloc(NULL, 0);
    assert_non_null(text);
    mire__free(text);
    text = mire__calloc(3, 5);
    for (int i = 0; i < 15; i++)
        assert_int_equal(text[i], 0);
    mire__free(text);
    assert_int_equal(heap.blocks, 0);
    mire__alloc_use(&none);
}

static void a_heap_that_runs_out_costs_reports_and_no_more(void **state)
{
    for (long left = 0; left < 12; left++) {
        struct heap heap = {.left = left};
        const mire_allocator allocator = {heap_allocate, heap_reallocate, heap_release, &heap};
        mire_options *options = options_at(*state);

        mire_options_set_allocator(options, &allocator);
        if (mire_start(options) == MIRE_OK) {
            mire_test();
            assert_int_equal(mire_stop(NULL), MIRE_OK);
        }
        assert_int_equal(heap.blocks, 0);
        mire_options_free(options);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setters_refuse_what_cannot_work),
        cmocka_unit_test(reports_do_not_go_over_a_network_in_plain_http),
        TEST(consent_is_told_while_started_and_remembered),
        TEST(no_call_says_not_started_while_another_has_effect),
        TEST(what_waits_is_deleted_when_the_user_refuses_though_there_is_no_server),
        TEST(stop_says_what_became_of_reports),
        cmocka_unit_test(the_heap_of_the_app_is_used_and_given_back),
        TEST(a_heap_that_runs_out_costs_reports_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
