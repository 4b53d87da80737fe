/* Rollout: the deciding rule, the answer to an installation, and rules that an author may not write. */
#include "rollout/rollout.h"

#include "wire/bucket.h"
#include "wire/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rollout_device someone = {.install = "00112233445566778899aabbccddeeff",
                                              .version = "8.0.38",
                                              .channel = "public",
                                              .os = "linux",
                                              .os_version = "debian 12",
                                              .class = "6gb",
                                              .arch = "x86_64"};

struct scene {
    struct arena arena;
    struct rollout rollout;
    struct text text;
};

static int scene_open(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    arena_init(&scene->arena, 4 << 20);
    *state = scene;
    return scene ? 0 : -1;
}

static int scene_close(void **state)
{
    struct scene *scene = *state;

    text_fini(&scene->text);
    arena_fini(&scene->arena);
    free(scene);
    return 0;
}

static void parse(struct scene *scene, const char *text)
{
    if (rollout_parse(&scene->rollout, &scene->arena, text) != 0)
        fail_msg("refused: %s", text);
}

static const char *given(struct scene *scene, const struct rollout_device *device)
{
    text_fini(&scene->text);
    rollout_evaluate(&scene->text, &scene->rollout, 7, device);
    assert_false(text_failed(&scene->text));
    return scene->text.bytes;
}

/* Returns true if a rollout of one rule with this condition fits. */
static bool fits(struct scene *scene, const char *when, const struct rollout_device *device)
{
    char text[512];

    snprintf(text, sizeof text, "{\"rules\":[{\"name\":\"r\",\"when\":%s,\"plugins\":{}}]}", when);
    parse(scene, text);
    return rollout_rule_fits(&scene->rollout.rules[0], device);
}

static void the_default_takes_all_inside_and_samples_the_public(void **state)
{
    struct scene *scene = *state;
    struct rollout_device device = someone;

    parse(scene, rollout_default);
    assert_string_equal(
        given(scene, &device),
        "{\"mire_rollout\":1,\"version\":7,\"fetch_s\":3600,\"kill\":false,\"plugins\":{\"hang\":{\"ppm\":20000},"
        "\"memory\":{\"ppm\":10000},\"exit\":{\"ppm\":100000},\"session\":{\"ppm\":100000}}}");
    device.channel = ""; /* not specified: public */
    assert_non_null(strstr(given(scene, &device), "\"hang\":{\"ppm\":20000}"));
    device.channel = "gray";
    assert_non_null(strstr(given(scene, &device), "\"hang\":{\"ppm\":1000000}"));
    device.channel = "internal";
    assert_non_null(strstr(given(scene, &device), "\"memory\":{\"ppm\":1000000}"));
}

static void the_first_rule_that_fits_and_speaks_of_a_plugin_decides(void **state)
{
    struct scene *scene = *state;

    parse(scene,
          "{\"fetch_s\":60,\"kill\":true,\"rules\":["
          "{\"name\":\"other\",\"when\":{\"os\":[\"android\"]},\"plugins\":{\"hang\":{\"probability\":1}}},"
          "{\"name\":\"a\",\"when\":{\"os\":[\"android\",\"linux\"]},\"plugins\":{\"memory\":{\"probability\":0.5,"
          "\"salt\":\"s\",\"parameters\":{\"mode\":\"exact\",\"budget_bytes\":5}}}},"
          "{\"name\":\"b\",\"plugins\":{\"memory\":{\"probability\":1},\"hang\":{\"probability\":0.000001}}}]}");
    assert_string_equal(
        given(scene, &someone),
        "{\"mire_rollout\":1,\"version\":7,\"fetch_s\":60,\"kill\":true,\"plugins\":{\"hang\":{\"ppm\":1},"
        "\"memory\":{\"ppm\":500000,\"salt\":\"s\",\"parameters\":{\"mode\":\"exact\",\"budget_bytes\":5}}}}");
    assert_string_equal(rollout_decide(&scene->rollout, &someone, MIRE_PLUGIN_MEMORY)->name, "a");
    assert_null(rollout_decide(&scene->rollout, &someone, MIRE_PLUGIN_EXIT));
}

static void the_first_rule_that_fits_and_has_a_list_says_what_is_left_out(void **state)
{
    struct scene *scene = *state;
    struct rollout_device device = someone;

    parse(scene, "{\"rules\":[{\"name\":\"a\",\"when\":{\"channels\":[\"gray\"]},\"leave_out\":[]},{\"name\":\"b\"},"
                 "{\"name\":\"c\",\"leave_out\":[\"user\",\"tag:plan\"]},{\"name\":\"d\",\"leave_out\":[\"tags\"]}]}");
    assert_non_null(strstr(given(scene, &device), "\"plugins\":{},\"leave_out\":\"user tag:plan\"}"));
    device.channel = "gray";
    assert_null(strstr(given(scene, &device), "leave_out"));
}

static void every_condition_of_a_rule_has_to_fit(void **state)
{
    static const struct {
        const char *when;
        bool fits;
    } rows[] = {
        {"{}", true},
        {"{\"channels\":[\"public\"]}", true},
        {"{\"channels\":[]}", false},
        {"{\"versions\":{\"from\":\"8.0.4\"}}", true}, /* by value: 38 is more than 4 */
        {"{\"versions\":{\"from\":\"8.0.38\",\"to\":\"8.0.38\"}}", true},
        {"{\"versions\":{\"from\":\"8.0.39\"}}", false},
        {"{\"versions\":{\"to\":\"8.0.37\"}}", false},
        {"{\"versions\":{\"to\":\"10\"}}", true},
        {"{\"os\":[\"linux\"],\"archs\":[\"aarch64\"]}", false},
        {"{\"os\":[\"linux\"],\"archs\":[\"aarch64\",\"x86_64\"]}", true},
        {"{\"os_versions\":{\"from\":\"debian 11\",\"to\":\"debian 12\"}}", true},
        {"{\"classes\":[\"2gb\",\"4gb\"]}", false},
        {"{\"classes\":[\"6gb\"]}", true},
        {"{\"installs\":[\"00112233445566778899aabbccddeeff\"]}", true},
        {"{\"installs\":[\"00112233445566778899aabbccddeefe\"]}", false},
        {"{\"share\":{\"from\":0,\"to\":1}}", true},
        {"{\"share\":{\"to\":0}}", false},
    };
    struct rollout_device silent = {"", "", "", "", "", "", ""};
    struct scene *scene = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fits(scene, rows[i].when, &someone) != rows[i].fits)
            fail_msg("%s", rows[i].when);
    assert_false(fits(scene, "{\"versions\":{\"to\":\"9\"}}", &silent));
}

static void shares_of_installs_split_without_gap_or_overlap(void **state)
{
    struct scene *scene = *state;
    struct rollout_device device = someone;
    unsigned low = 0, count = 4000;

    for (unsigned i = 0; i < count; i++) {
        char install[33];
        snprintf(install, sizeof install, "%032x", i);
        device.install = install;
        bool in_low = fits(scene, "{\"share\":{\"to\":0.25,\"salt\":\"x\"}}", &device);
        bool in_high = fits(scene, "{\"share\":{\"from\":0.25,\"salt\":\"x\"}}", &device);
        assert_int_not_equal(in_low, in_high);
        assert_int_equal(in_low, mire__bucket(install, "rule", "x") < 250000);
        low += in_low;
        arena_reset(&scene->arena);
    }
    assert_in_range(low, count / 4 - 110, count / 4 + 110); /* four standard deviations */
}

static void what_is_written_reads_back_as_itself(void **state)
{
    static const char full[] =
        "{\"fetch_s\":604800,\"kill\":true,\"rules\":[{\"name\":\"a "
        "\\\"b\\\"\",\"when\":{\"channels\":[\"gray\"],\"versions\":{"
        "\"from\":\"1\",\"to\":\"2\"},\"os\":[\"linux\"],\"os_versions\":{\"to\":\"x\"},\"classes\":[],\"archs\":["
        "\"arm\"],"
        "\"installs\":[\"1\",\"2\"],\"share\":{\"from\":0.1,\"to\":0.25,\"salt\":\"s\"}},\"plugins\":{\"hang\":{"
        "\"probability\":"
        "0.000001,\"salt\":\"t\",\"parameters\":{\"period_ms\":18446744073709551615,\"mode\":\"exact\"}},\"exit\":{"
        "\"probability\":0},\"session\":{\"probability\":1}},\"leave_out\":[\"user\",\"tag:a.b\"]}]}";
    struct scene *scene = *state;
    const char *const texts[] = {full, "{\"fetch_s\":3600,\"kill\":false,\"rules\":[]}"};

    for (size_t i = 0; i < 2; i++) {
        parse(scene, texts[i]);
        text_fini(&scene->text);
        rollout_write(&scene->text, &scene->rollout);
        assert_string_equal(scene->text.bytes, texts[i]);
    }
    parse(scene, rollout_default);
    text_fini(&scene->text);
    rollout_write(&scene->text, &scene->rollout);
    assert_string_equal(scene->text.bytes, rollout_default);
}

static void mistakes_are_refused_where_they_are(void **state)
{
    static const struct {
        const char *text, *path;
    } rows[] = {
        {"[]", ""},
        {"{}", ""},
        {"{\"rules\":{}}", "/rules"},
        {"{\"rules\":[],\"rule\":1}", ""},
        {"{\"rules\":[],\"fetch_s\":59}", "/fetch_s"},
        {"{\"rules\":[],\"kill\":\"no\"}", "/kill"},
        {"{\"rules\":[{}]}", "/rules/0"},
        {"{\"rules\":[{\"name\":\"a\"},{\"name\":\"a\"}]}", "/rules/1"},
        {"{\"rules\":[{\"name\":\"a\",\"when\":{\"chanels\":[]}}]}", "/rules/0/when"},
        {"{\"rules\":[{\"name\":\"a\",\"when\":{\"os\":\"linux\"}}]}", "/rules/0/when/os"},
        {"{\"rules\":[{\"name\":\"a\",\"when\":{\"os\":[1]}}]}", "/rules/0/when/os/0"},
        {"{\"rules\":[{\"name\":\"a\",\"when\":{\"versions\":{\"from\":1}}}]}", "/rules/0/when/versions/from"},
        {"{\"rules\":[{\"name\":\"a\",\"when\":{\"share\":{\"to\":1.1}}}]}", "/rules/0/when/share/to"},
        {"{\"rules\":[{\"name\":\"a\",\"plugins\":{\"lag\":{\"probability\":1}}}]}", "/rules/0/plugins"},
        {"{\"rules\":[{\"name\":\"a\",\"plugins\":{\"hang\":{}}}]}", "/rules/0/plugins/hang"},
        {"{\"rules\":[{\"name\":\"a\",\"plugins\":{\"hang\":{\"probability\":-0.1}}}]}",
         "/rules/0/plugins/hang/probability"},
        {"{\"rules\":[{\"name\":\"a\",\"plugins\":{\"hang\":{\"probability\":\"1\"}}}]}",
         "/rules/0/plugins/hang/probability"},
        {"{\"rules\":[{\"name\":\"a\",\"plugins\":{\"hang\":{\"probability\":1,\"salt\":\"\\u00e9\"}}}]}",
         "/rules/0/plugins/hang/salt"},
        {"{\"rules\":[{\"name\":\"a\",\"plugins\":{\"hang\":{\"probability\":1,\"parameters\":{\"period_ms\":-1}}}}]}",
         "/rules/0/plugins/hang/parameters/period_ms"},
        {"{\"rules\":[{\"name\":\"a\",\"plugins\":{\"hang\":{\"probability\":1,\"parameters\":{\"Period\":1}}}}]}",
         "/rules/0/plugins/hang/parameters"},
        {"{\"rules\":[{\"name\":\"a\",\"leave_out\":\"user\"}]}", "/rules/0/leave_out"},
        {"{\"rules\":[{\"name\":\"a\",\"leave_out\":[\"users\"]}]}", "/rules/0/leave_out"},
        {"{\"rules\":[{\"name\":\"a\",\"leave_out\":[\"tag:\"]}]}", "/rules/0/leave_out"},
        {"{\"rules\":[{\"name\":\"a\",\"leave_out\":[\"tag:a b\"]}]}", "/rules/0/leave_out"},
        {"{\"rules\":[{\"name\":\"a\",\"leave_out\":[\"tag:a\\\"b\"]}]}", "/rules/0/leave_out"},
    };
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct scene *scene = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct json json;
        struct json_fault malformed;
        struct bind_fault fault = {.path = "?"};
        struct bind bind = {.json = &json, .arena = &scene->arena, .fault = &fault};

        json_init(&json);
        assert_int_equal(json_read(&json, &malformed, rows[i].text, strlen(rows[i].text), &limits), MIRE_JSON_OK);
        if (rollout_read(&scene->rollout, &bind, 0) != MIRE_BIND_WRONG)
            fail_msg("taken: %s", rows[i].text);
        assert_string_equal(fault.path, rows[i].path);
        assert_true(fault.text[0]);
        json_fini(&json);
    }
}

/* The largest possible document fits the limit of a device. */
static void no_document_is_larger_than_a_device_reads(void **state)
{
    struct scene *scene = *state;
    struct text text = {0};

    text_add(&text, "{\"rules\":[{\"name\":\"r\",\"plugins\":{");
    for (int p = 0; p < MIRE_PLUGINS; p++) {
        text_printf(&text, "%s\"%s\":{\"probability\":0.123456,\"salt\":\"%032d\",\"parameters\":{", p ? "," : "",
                    mire__plugin_name(p), 0);
        for (int i = 0; i < MIRE_ROLLOUT_PARAMETERS_MAX; i++)
            text_printf(&text, "%s\"%031d\":\"%s\"", i ? "," : "", i,
                        "\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001");
        text_add(&text, "}}");
    }
    text_add(&text, "},\"leave_out\":[");
    for (int i = 0; i < 13; i++)
        text_printf(&text, "%s\"tag:%032d\"", i ? "," : "", i);
    text_add(&text, "]}]}");
    parse(scene, text.bytes);
    text_fini(&text);
    given(scene, &someone);
    assert_in_range(scene->text.len, MIRE_WIRE_ROLLOUT_MAX / 2, MIRE_WIRE_ROLLOUT_MAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_open, scene_close)
    const struct CMUnitTest tests[] = {
        TEST(the_default_takes_all_inside_and_samples_the_public),
        TEST(the_first_rule_that_fits_and_speaks_of_a_plugin_decides),
        TEST(the_first_rule_that_fits_and_has_a_list_says_what_is_left_out),
        TEST(every_condition_of_a_rule_has_to_fit),
        TEST(shares_of_installs_split_without_gap_or_overlap),
        TEST(what_is_written_reads_back_as_itself),
        TEST(mistakes_are_refused_where_they_are),
        TEST(no_document_is_larger_than_a_device_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
