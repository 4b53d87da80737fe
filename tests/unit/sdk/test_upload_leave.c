/* Sending: permission to leave the device, by the user, the network, the day's bytes and the app. */
#include "upload/upload.h"
#include "upload/rules.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>
#include <zstd.h>

#include "support/uploads.h"

static void upload_sends_nothing_without_the_users_consent(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct upload_options options = MIRE_UPLOAD_OPTIONS_INIT;
    struct upload_answer answer = {0};
    struct scene scene;

    options.consent_required = true;
    scene_open_with(&scene, *state, answers, 1, options);
    seal(&scene, "one");
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(mire__upload_fetch(scene.upload, &answer, "/x", "", &(struct upload_now){NOW, BOOT}), FETCH_LATER);
    assert_int_equal(scene.script.used, 0);
    assert_int_equal(scene.tally.waiting, 1);
    mire__store_set_consent(scene.store, MIRE_CONSENT_GIVEN);
    scene_close(&scene);
    scene_open_with(&scene, *state, answers, 1, options); /* it is remembered */
    round_at(&scene, NOW);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

static void upload_deletes_and_counts_what_the_user_refuses(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct scene scene;

    for (int required = 0; required < 2; required++) {
        struct upload_options options = MIRE_UPLOAD_OPTIONS_INIT;

        options.consent_required = required;
        scene_open_with(&scene, *state, answers, 1, options);
        seal(&scene, "one");
        seal(&scene, "two");
        mire__store_set_consent(scene.store, MIRE_CONSENT_REFUSED);
        assert_true(round_at(&scene, NOW) == UINT64_MAX);
        assert_int_equal(scene.script.used, 0);
        assert_int_equal(scene.tally.waiting, 0);
        assert_int_equal(dropped(&scene, MIRE_DROP_CONSENT), 2 + 2 * (unsigned)required);
        scene_close(&scene);
    }
}

static void upload_tries_nothing_without_a_network(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 1);
    scene.network = MIRE_NETWORK_NONE;
    seal(&scene, "one");
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(scene.script.used, 0);
    scene.network = MIRE_NETWORK_UNMETERED;
    round_at(&scene, NOW);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

static void upload_sends_only_what_is_small_or_matters_where_bytes_cost(void **state)
{
    (void)state;
    assert_true(mire__upload_on_metered(MIRE_METERED_BYTES, MIRE_VALUE_BASELINE));
    assert_false(mire__upload_on_metered(MIRE_METERED_BYTES + 1, MIRE_VALUE_HANG));
    assert_true(mire__upload_on_metered(1u << 20, MIRE_VALUE_DEATH));
}

static void upload_keeps_what_is_large_for_a_network_that_costs_nothing(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 1);
    scene.network = MIRE_NETWORK_METERED;
    seal(&scene, "one");
    assert_int_equal(seal_large(&scene), MIRE_OK);
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(scene.tally.sent, 1);
    assert_int_equal(scene.tally.waiting, 1);
    scene_close(&scene);
}

static void upload_keeps_to_the_days_bytes_over_restarts(void **state)
{
    static const struct upload_answer answers[] = {{.status = 500}, {.status = 202}};
    struct upload_options options = MIRE_UPLOAD_OPTIONS_INIT;
    const uint64_t end_of_day = DAY - NOW % DAY;
    struct scene scene;

    options.daily_bytes = 2 * (MIRE_REQUEST_BYTES + 3);
    scene_open_with(&scene, *state, answers, 2, options);
    seal(&scene, "one");
    seal(&scene, "two");
    seal(&scene, "six");
    round_at(&scene, NOW); /* fails, and costs all the same */
    round_at(&scene, NOW + 5000);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
    scene_open_with(&scene, *state, answers + 1, 1, options);
    uint64_t wait = round_at(&scene, NOW + 10000);
    assert_in_range(wait, end_of_day - 10000, end_of_day - 10000 + 900000);
    assert_int_equal(scene.script.used, 0);
    assert_true(round_at(&scene, NOW + 10000 + wait) == UINT64_MAX);
    assert_int_equal(scene.tally.sent, 2);
    scene_close(&scene);
}

static void upload_drops_what_no_day_has_bytes_for(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct upload_options options = MIRE_UPLOAD_OPTIONS_INIT;
    struct scene scene;

    options.daily_bytes = MIRE_REQUEST_BYTES + 2;
    scene_open_with(&scene, *state, answers, 1, options);
    seal(&scene, "one");
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(dropped(&scene, MIRE_DROP_BIG), 1);
    scene_close(&scene);
}

/* The input of before_send, and its result. */
struct look {
    char seen[64];
    int answer;
};

static int look_at(void *context, const char *json, size_t size)
{
    struct look *look = context;

    assert_true(size < sizeof(look->seen));
    memcpy(look->seen, json, size);
    look->seen[size] = '\0';
    return look->answer;
}

static void upload_shows_each_report_to_the_app_which_may_keep_it(void **state)
{
    static const char *const json = "{\"kind\":\"event\"}";
    char packed[128];
    size_t size = ZSTD_compress(packed, sizeof(packed), json, strlen(json), 3);
    static const struct upload_answer answers[] = {{.status = 202}};
    struct upload_options options = MIRE_UPLOAD_OPTIONS_INIT;
    struct look look = {.answer = 1};
    struct scene scene;

    options.before_send = look_at;
    options.before_send_context = &look;
    scene_open_with(&scene, *state, answers, 1, options);
    assert_int_equal(seal_bytes(&scene, packed, size), MIRE_OK);
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_string_equal(look.seen, json);
    assert_int_equal(scene.script.used, 0);
    assert_int_equal(scene.tally.filtered, 1);
    assert_int_equal(dropped(&scene, MIRE_DROP_FILTERED), 1);
    seal(&scene, "one"); /* no zstd */
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(dropped(&scene, MIRE_DROP_BROKEN), 1);
    scene_close(&scene);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(upload_sends_nothing_without_the_users_consent),
        TEST(upload_deletes_and_counts_what_the_user_refuses),
        TEST(upload_tries_nothing_without_a_network),
        cmocka_unit_test(upload_sends_only_what_is_small_or_matters_where_bytes_cost),
        TEST(upload_keeps_what_is_large_for_a_network_that_costs_nothing),
        TEST(upload_keeps_to_the_days_bytes_over_restarts),
        TEST(upload_drops_what_no_day_has_bytes_for),
        TEST(upload_shows_each_report_to_the_app_which_may_keep_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
