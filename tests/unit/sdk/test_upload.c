/* Sending: the effect of each response on a report, and the time of the next try. */
#include "store/sending.h"
#include "upload/upload.h"
#include "upload/rules.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/uploads.h"

static void upload_judges_every_status(void **state)
{
    (void)state;
    for (int status = 0; status < 700; status++) {
        enum upload_verdict want = UPLOAD_LATER;
        if (status >= 200 && status <= 299)
            want = UPLOAD_SENT;
        else if (status >= 400 && status <= 499 && status != 408 && status != 425 && status != 429)
            want = UPLOAD_REFUSED;
        assert_int_equal(mire__upload_verdict(status), want);
    }
}

static void upload_reads_retry_after_in_all_forms(void **state)
{
    static const struct {
        const char *text;
        uint64_t at_ms;
    } rows[] = {
        {"0", NOW},
        {"120", NOW + 120000},
        {"99999999999999999999", 0}, /* any instant far in the future */
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777000},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777000},
        {"Sun Nov  6 08:49:37 1994", 784111777000},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Thu, 29 Feb 2024 23:59:60 GMT", 1709251200000},
        {"Fri, 31 Dec 2099 00:00:00 GMT", 4102358400000},
        {"Wednesday, 01-Jan-70 00:00:00 GMT", 3155760000000},
    };
    uint64_t at;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_true(mire__upload_parse_retry_after(&at, rows[i].text, NOW));
        if (i == 2)
            assert_true(at > NOW + 1000ull * 3600 * 24 * 365);
        else
            assert_int_equal(at, rows[i].at_ms);
    }
}

static void upload_ignores_a_retry_after_that_is_none(void **state)
{
    static const char *const texts[] = {"",
                                        "soon",
                                        "-5",
                                        "12x",
                                        "1.5",
                                        "Sun, 06 Nov 1994",
                                        "Sun, 32 Nov 1994 08:49:37 GMT",
                                        "Sun, 06 Nix 1994 08:49:37 GMT",
                                        "Sun, 06 Nov 1994 24:49:37 GMT",
                                        "Sun, 06 Nov 1994 08:49:37 GMT+1",
                                        "Sun, 06 Nov 1960 08:49:37 GMT"};
    uint64_t at = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_false(mire__upload_parse_retry_after(&at, texts[i], NOW));
        assert_int_equal(at, 7);
    }
}

static void upload_backs_off_with_jitter_up_to_a_quarter_of_an_hour(void **state)
{
    (void)state;
    assert_int_equal(mire__upload_backoff_ms(1, 2000, 900000, 0), 1000);
    assert_int_equal(mire__upload_backoff_ms(1, 2000, 900000, UINT32_MAX), 2000);
    assert_int_equal(mire__upload_backoff_ms(3, 2000, 900000, UINT32_MAX), 8000);
    assert_int_equal(mire__upload_backoff_ms(100, 2000, 900000, 0), 450000);
    assert_int_equal(mire__upload_backoff_ms(UINT32_MAX, 2000, 900000, UINT32_MAX), 900000);
}

static void upload_deletes_only_what_was_taken(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}, {.status = 500}};
    struct scene scene;

    scene_open(&scene, *state, answers, 2);
    seal(&scene, "one");
    seal(&scene, "two");
    seal(&scene, "three");
    uint64_t wait = round_at(&scene, NOW);
    assert_in_range(wait, 1000, 2000);
    assert_int_equal(scene.tally.sent, 1);
    assert_int_equal(scene.tally.waiting, 2);
    assert_int_equal(scene.script.used, 2);
    assert_int_equal(round_at(&scene, NOW + wait - 1), 1);
    assert_int_equal(scene.script.used, 2);
    scene_close(&scene);
}

static void upload_drops_and_counts_what_is_refused(void **state)
{
    static const struct upload_answer answers[] = {{.status = 413}, {.status = 401}, {.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 3);
    seal(&scene, "one");
    seal(&scene, "two");
    seal(&scene, "three");
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(scene.tally.refused, 2);
    assert_int_equal(scene.tally.sent, 1);
    assert_int_equal(dropped(&scene, MIRE_DROP_REFUSED), 2);
    scene_close(&scene);
}

static void upload_keeps_retry_after_over_a_restart(void **state)
{
    static const struct upload_answer answers[] = {{.status = 503, .retry_after = "3600"}, {.status = 202}};
    struct scene scene;
    uint64_t wait;

    scene_open(&scene, *state, answers, 2);
    seal(&scene, "one");
    wait = round_at(&scene, NOW);
    assert_in_range(wait, 3600000, 3602000);
    scene_close(&scene);
    scene_open(&scene, *state, answers + 1, 1);
    assert_int_equal(round_at(&scene, NOW + 1000), wait - 1000);
    assert_int_equal(scene.script.used, 0);
    assert_true(round_at(&scene, NOW + wait) == UINT64_MAX);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

static void upload_is_not_silenced_for_more_than_a_day(void **state)
{
    static const struct upload_answer answers[] = {{.status = 503, .retry_after = "Fri, 31 Dec 2099 00:00:00 GMT"},
                                                   {.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 2);
    seal(&scene, "one");
    uint64_t wait = round_at(&scene, NOW);
    assert_in_range(wait, DAY, DAY + 2000);
    scene_close(&scene);
    /* A restart, and the clock went back by a year meanwhile. The requested delay is still the maximum. */
    scene_open(&scene, *state, answers + 1, 1);
    assert_int_equal(round_at(&scene, NOW - 365 * DAY), DAY);
    assert_true(round_at(&scene, NOW - 365 * DAY + wait) == UINT64_MAX);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

static void upload_waits_as_long_however_the_clock_jumps(void **state)
{
    static const struct upload_answer answers[] = {{.status = 503, .retry_after = "600"}, {.status = 202}};
    static const uint64_t walls[] = {0, NOW - 20 * 365 * DAY, NOW - 3600000, NOW + 300000, NOW + 100 * 365 * DAY};
    struct scene scene;

    for (size_t i = 0; i < MIRE_COUNT(walls); i++) {
        scene_open(&scene, *state, answers, 2);
        seal(&scene, "one");
        uint64_t wait = round_at(&scene, NOW);
        assert_in_range(wait, 600000, 602000);
        assert_int_equal(round_at_both(&scene, walls[i], 1), wait - 1);
        assert_int_equal(scene.script.used, 1);
        assert_true(round_at_both(&scene, walls[i], wait) == UINT64_MAX);
        assert_int_equal(scene.tally.sent, 1);
        assert_int_equal(mire__store_set_after(scene.store, &(struct store_after){0}), MIRE_OK);
        scene_close(&scene);
    }
}

static void upload_takes_a_date_by_the_servers_clock(void **state)
{
    /* The device's clock is a year ahead, or behind. */
    static const char *const now = "Sun, 06 Nov 1994 08:49:37 GMT", *const then = "Sun, 06 Nov 1994 08:51:37 GMT";
    uint64_t wait;

    (void)state;
    assert_true(mire__upload_asked_ms(&wait, then, now, 784111777000 + 365 * DAY));
    assert_int_equal(wait, 120000);
    assert_true(mire__upload_asked_ms(&wait, then, now, 784111777000 - 365 * DAY));
    assert_int_equal(wait, 120000);
    assert_true(mire__upload_asked_ms(&wait, then, "", 784111777000));
    assert_int_equal(wait, 120000);
    assert_true(mire__upload_asked_ms(&wait, then, "yesterday", 784111777000 - 365 * DAY));
    assert_int_equal(wait, DAY);
    assert_true(mire__upload_asked_ms(&wait, "30", now, NOW));
    assert_int_equal(wait, 30000);
    assert_true(mire__upload_asked_ms(&wait, now, then, NOW));
    assert_int_equal(wait, 0);
    assert_false(mire__upload_asked_ms(&wait, "later", now, NOW));
}

static void upload_knows_an_ack_by_the_reports_id(void **state)
{
    static const char *const id = "0123abcd-ef01-7000-8000-000000000001";
    static const char *const good[] = {"{\"report_id\":\"0123abcd-ef01-7000-8000-000000000001\"}",
                                       " { \"x\" : 1 , \"report_id\" \t: \"0123abcd-ef01-7000-8000-000000000001\" }"};
    static const char *const bad[] = {"",
                                      "{}",
                                      "ok",
                                      "<html>0123abcd-ef01-7000-8000-000000000001</html>",
                                      "{\"report_id\":\"0123abcd-ef01-7000-8000-000000000002\"}",
                                      "{\"report_id\":\"0123abcd-ef01-7000-8000-00000000000",
                                      "{\"report_id\":0123abcd-ef01-7000-8000-000000000001}",
                                      "{\"report_id\":",
                                      "{\"report_id\""};

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(good); i++)
        assert_true(mire__upload_is_ack(good[i], strlen(good[i]), id));
    for (size_t i = 0; i < MIRE_COUNT(bad); i++)
        assert_false(mire__upload_is_ack(bad[i], strlen(bad[i]), id));
    for (size_t size = 0; size < strlen(good[0]) - 1; size++)
        assert_false(mire__upload_is_ack(good[0], size, id));
}

/* Of a payload of the system's the server makes reports of its own; the answer names them all. */
static void upload_sends_a_payload_under_its_media_type(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    char id[MIRE_STORE_ID_LENGTH + 1];
    const struct store_report payload = {
        .id = id, .body = "kit", .size = 3, .value = MIRE_VALUE_HANG, .format = MIRE_FORMAT_METRICKIT};
    const struct upload_now now = {NOW, BOOT};
    struct scene scene;

    snprintf(id, sizeof(id), "%08x-%04x-7000-8000-0000000fffff", (unsigned)(NOW >> 16), (unsigned)(NOW & 0xffff));
    scene_open(&scene, *state, answers, 1);
    assert_int_equal(mire__store_put(scene.store, &payload, NOW), MIRE_OK);
    seal_of(&scene, "own", MIRE_VALUE_BASELINE);
    assert_int_equal(mire__upload_round(scene.upload, &scene.tally, &now), UINT64_MAX);
    assert_int_equal(scene.tally.sent, 2);
    assert_string_equal(scene.script.types[0], "Content-Type: application/vnd.apple.metrickit+json");
    assert_string_equal(scene.script.types[1], "Content-Type: application/json");
    assert_false(mire__upload_is_ack("<html>report</html>", 19, NULL));
    assert_false(mire__upload_is_ack("{\"report_ids", 12, NULL));
    assert_true(mire__upload_is_ack("{\"report_ids\":[]}", 17, NULL)); /* of exits that the server knows */
    scene_close(&scene);
}

static void upload_does_not_take_a_portals_answer_for_the_servers(void **state)
{
    static const struct upload_answer answers[] = {{.status = 200}, {.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 2);
    seal(&scene, "one");
    assert_in_range(round_at(&scene, NOW), 1000, 2000);
    assert_int_equal(scene.tally.sent, 0);
    assert_string_not_equal(scene.tally.last.problem, "");
    assert_true(round_at(&scene, NOW + 3600000) == UINT64_MAX);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

static void upload_sends_the_most_valuable_first(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 1);
    seal_of(&scene, "base", MIRE_VALUE_BASELINE);
    seal_of(&scene, "hang", MIRE_VALUE_HANG);
    seal_of(&scene, "later", MIRE_VALUE_HANG);
    seal_of(&scene, "death", MIRE_VALUE_DEATH);
    round_at(&scene, NOW);
    assert_string_equal(scene.script.bodies[0], "death");
    assert_string_equal(scene.script.bodies[1], "hang");
    assert_string_equal(scene.script.bodies[2], "later");
    assert_string_equal(scene.script.bodies[3], "base");
    scene_close(&scene);
}

static void upload_is_not_held_up_by_one_report(void **state)
{
    static const struct upload_answer answers[] = {{.status = 500}, {.status = 202}, {.status = 202}, {.status = 500}};
    struct scene scene;

    scene_open(&scene, *state, answers, 4);
    seal(&scene, "bad");
    seal(&scene, "two");
    seal(&scene, "three");
    round_at(&scene, NOW);
    round_at(&scene, NOW + 3600000);
    assert_string_equal(scene.script.bodies[0], "bad");
    assert_string_equal(scene.script.bodies[1], "two");
    assert_string_equal(scene.script.bodies[2], "three");
    assert_string_equal(scene.script.bodies[3], "bad");
    assert_int_equal(scene.tally.waiting, 1);
    scene_close(&scene);
}

static void upload_sends_again_what_was_not_answered(void **state)
{
    static const struct upload_answer answers[] = {{.status = 0, .problem = "connection lost"}, {.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 2);
    seal(&scene, "one");
    round_at(&scene, NOW);
    assert_string_equal(scene.tally.last.problem, "connection lost");
    round_at(&scene, NOW + 3600000);
    assert_string_equal(scene.script.bodies[0], scene.script.bodies[1]);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

static void upload_drops_a_damaged_report(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct store_item item;
    struct scene scene;
    char path[512];

    scene_open(&scene, *state, answers, 1);
    seal(&scene, "one");
    assert_int_equal(mire__store_list(&item, 1, scene.store), 1);
    snprintf(path, sizeof(path), "%s/out/%s.report", (char *)*state, item.id);
    assert_int_equal(truncate(path, 3), 0);
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(scene.tally.broken, 1);
    assert_int_equal(dropped(&scene, MIRE_DROP_BROKEN), 1);
    scene_close(&scene);
}

static void upload_does_nothing_once_cancelled(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 1);
    seal(&scene, "one");
    mire__upload_cancel(scene.upload, true);
    round_at(&scene, NOW);
    assert_int_equal(scene.script.used, 0);
    mire__upload_cancel(scene.upload, false);
    round_at(&scene, NOW);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upload_judges_every_status),
        cmocka_unit_test(upload_reads_retry_after_in_all_forms),
        cmocka_unit_test(upload_ignores_a_retry_after_that_is_none),
        cmocka_unit_test(upload_backs_off_with_jitter_up_to_a_quarter_of_an_hour),
        TEST(upload_sends_a_payload_under_its_media_type),
        TEST(upload_deletes_only_what_was_taken),
        TEST(upload_drops_and_counts_what_is_refused),
        TEST(upload_keeps_retry_after_over_a_restart),
        TEST(upload_is_not_silenced_for_more_than_a_day),
        TEST(upload_waits_as_long_however_the_clock_jumps),
        cmocka_unit_test(upload_takes_a_date_by_the_servers_clock),
        cmocka_unit_test(upload_knows_an_ack_by_the_reports_id),
        TEST(upload_does_not_take_a_portals_answer_for_the_servers),
        TEST(upload_sends_the_most_valuable_first),
        TEST(upload_is_not_held_up_by_one_report),
        TEST(upload_sends_again_what_was_not_answered),
        TEST(upload_drops_a_damaged_report),
        TEST(upload_does_nothing_once_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
