#include "json/json.h"
#include "json/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum json_outcome read_text(struct json *json, struct json_fault *fault, const char *text, size_t len,
                                   bool tolerant)
{
    struct json_limits limits = MIRE_JSON_LIMITS;
    limits.tolerant = tolerant;
    char *exact = malloc(len ? len : 1); /* exact size: a sanitizer finds a read after the end */
    memcpy(exact, text, len);
    enum json_outcome outcome = json_read(json, fault, exact, len, &limits);
    if (outcome) {
        free(exact);
        json->text = NULL;
    }
    return outcome;
}

static void finish(struct json *json)
{
    free((char *)(uintptr_t)json->text);
    json_fini(json);
}

/* From published suites of texts on which readers disagree; the names describe them. */
static const struct {
    const char *text;
    long wrong_at; /* -1: fine */
} documents[] = {
    {"[]", -1},
    {"{}", -1},
    {" [ ] ", -1},
    {"null", -1},
    {"true", -1},
    {"false", -1},
    {"\"\"", -1},
    {"0", -1},
    {"-0", -1},
    {"-1.5e+3", -1},
    {"1E22", -1},
    {"[1,2,3]", -1},
    {"[[[[]]]]", -1},
    {"{\"a\":{\"b\":[{}]}}", -1},
    {"{\"a\":1,\"a\":2}", -1},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"", -1},
    {"\"\\ud83d\\ude00\"", -1},
    {"\"\x7f\"", -1},
    {"\"\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80\"", -1},
    {"\r\n\t 1 \r\n\t", -1},
    {"", 0},
    {" ", 1},
    {"[", 1},
    {"[1", 2},
    {"[1,", 3},
    {"[1,]", 3},
    {"[,1]", 1},
    {"[1 2]", 3},
    {"[1}", 2},
    {"{\"a\"", 4},
    {"{\"a\":", 5},
    {"{\"a\":1", 6},
    {"{\"a\":1,}", 7},
    {"{\"a\" 1}", 5},
    {"{a:1}", 1},
    {"{1:1}", 1},
    {"{,}", 1},
    {"1 2", 2},
    {"1,", 1},
    {"]", 0},
    {"nul", 3},
    {"nulL", 3},
    {"True", 0},
    {"NaN", 0},
    {"-", 1},
    {"-Infinity", 1},
    {"+1", 0},
    {"01", 1},
    {"-012", 2},
    {"1.", 2},
    {".5", 0},
    {"1.e3", 2},
    {"1e", 2},
    {"1e+", 3},
    {"1.5.2", 3},
    {"0x10", 1},
    {"1e999", 0},
    {"\"", 1},
    {"\"a", 2},
    {"\"\\", 2},
    {"\"\\x\"", 2},
    {"\"\\u12\"", 5},
    {"\"\\u12g4\"", 5},
    {"\"\\ud800\"", 1},
    {"\"\\ud800\\u0041\"", 1},
    {"\"\\udc00\"", 1},
    {"\"\t\"", 1},
    {"\"\n\"", 1},
    {"\"\x80\"", 1},
    {"\"\xc0\xaf\"", 1},
    {"\"\xe0\x80\x80\"", 1},
    {"\"\xed\xa0\x80\"", 1},
    {"\"\xf4\x90\x80\x80\"", 1},
    {"\"\xf8\x88\x80\x80\x80\"", 1},
    {"\"\xc3\"", 1},
    {"\"\xe4\xb8\"", 1},
    {"\xef\xbb\xbf[]", 0},
    {"[1]x", 3},
    {"// c\n1", 0},
    {"/**/1", 0},
    {"'a'", 0},
};

static void documents_are_taken_or_refused_where_they_go_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        struct json json;
        struct json_fault fault = {0};
        json_init(&json);
        enum json_outcome outcome = read_text(&json, &fault, documents[i].text, strlen(documents[i].text), false);
        long wrong_at = outcome ? (long)fault.at : -1;
        if (wrong_at != documents[i].wrong_at)
            fail_msg("%s: wrong at %ld (%s), not %ld", documents[i].text, wrong_at, outcome ? fault.text : "fine",
                     documents[i].wrong_at);
        if (outcome)
            assert_non_null(fault.text);
        finish(&json);
    }
}

static void no_document_survives_being_cut(void **state)
{
    (void)state;
    static const char whole[] = "{\"a\":[1,-2.5e3,true,null,\"x\\u0041\\ud83d\\ude00\xe4\xb8\xad\"],\"b\":{}}";
    for (size_t len = 0; len < sizeof whole - 1; len++) {
        struct json json;
        struct json_fault fault = {0};
        json_init(&json);
        assert_int_equal(read_text(&json, &fault, whole, len, false), MIRE_JSON_MALFORMED);
        assert_true(fault.at <= len);
        finish(&json);
    }
}

static void the_tape_is_walked(void **state)
{
    (void)state;
    struct json json;
    struct json_fault fault;
    json_init(&json);
    static const char text[] = "{\"a\": [1, [2], {\"x\": 3}], \"b\\u0063\": \"t\", \"a\": null, \"n\": {}}";
    assert_int_equal(read_text(&json, &fault, text, sizeof text - 1, false), MIRE_JSON_OK);
    assert_int_equal(json_kind(&json, 0), MIRE_JSON_OBJECT);
    assert_int_equal(json_size(&json, 0), 4);
    assert_int_equal(json_next(&json, 0), json.count);
    uint32_t list = 2;
    assert_int_equal(json_kind(&json, list), MIRE_JSON_ARRAY);
    assert_int_equal(json_size(&json, list), 3);
    uint32_t second = json_next(&json, list + 1);
    assert_int_equal(json_kind(&json, second), MIRE_JSON_ARRAY);
    uint32_t third = json_next(&json, second);
    assert_int_equal(json_kind(&json, json_member(&json, third, "x")), MIRE_JSON_UINT);
    assert_int_equal(json_kind(&json, json_member(&json, 0, "a")), MIRE_JSON_NULL); /* the last one */
    assert_int_equal(json_kind(&json, json_member(&json, 0, "bc")), MIRE_JSON_STRING);
    assert_int_equal(json_size(&json, json_member(&json, 0, "n")), 0);
    assert_int_equal(json_member(&json, 0, "c"), 0);
    finish(&json);
}

static void whole_numbers_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_u64, is_i64;
        uint64_t u;
        int64_t i;
    } numbers[] = {
        {"0", true, true, 0, 0},
        {"-0", true, true, 0, 0},
        {"18446744073709551615", true, false, UINT64_MAX, 0},
        {"18446744073709551616", false, false, 0, 0},
        {"99999999999999999999999", false, false, 0, 0},
        {"9223372036854775807", true, true, INT64_MAX, INT64_MAX},
        {"9223372036854775808", true, false, 1ull << 63, 0},
        {"-9223372036854775808", false, true, 0, INT64_MIN},
        {"-9223372036854775809", false, false, 0, 0},
        {"9007199254740993", true, true, 9007199254740993, 9007199254740993},
        {"1.0", true, true, 1, 1},
        {"1e3", true, true, 1000, 1000},
        {"-2.00", false, true, 0, -2},
        {"1.5", false, false, 0, 0},
    };
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        struct json json;
        struct json_fault fault;
        json_init(&json);
        assert_int_equal(read_text(&json, &fault, numbers[n].text, strlen(numbers[n].text), false), MIRE_JSON_OK);
        uint64_t u = 0;
        int64_t i = 0;
        bool is_u64 = json_u64(&u, &json, 0);
        bool is_i64 = json_i64(&i, &json, 0);
        assert_int_equal(is_u64, numbers[n].is_u64);
        assert_int_equal(is_i64, numbers[n].is_i64);
        assert_true(!is_u64 || u == numbers[n].u);
        assert_true(!is_i64 || i == numbers[n].i);
        finish(&json);
    }
}

static void doubles_are_the_nearest_ones(void **state)
{
    (void)state;
    uint64_t seed = 0x9e3779b97f4a7c15;
    for (int n = 0; n < 20000; n++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        double value;
        memcpy(&value, &seed, sizeof value);
        if (!isfinite(value))
            continue;
        char text[64];
        snprintf(text, sizeof text, "%.*e", n % 20, value);
        double want = strtod(text, NULL);
        struct json json;
        struct json_fault fault;
        json_init(&json);
        enum json_outcome outcome = read_text(&json, &fault, text, strlen(text), false);
        assert_int_equal(outcome, isfinite(want) ? MIRE_JSON_OK : MIRE_JSON_MALFORMED);
        if (!outcome && json_double(&json, 0) != want)
            fail_msg("%s read as %.17g", text, json_double(&json, 0));
        finish(&json);
    }
}

static void the_tolerant_read_what_printers_get_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double first;
    } texts[] = {{"{\"a\":1.:,\"b\":2}", 2},
                 {"{\"a\":12.:,\"b\":2}", 13},
                 {"{\"a\":1.,\"b\":2}", 1},
                 {"{\"a\":-0.9:,\"b\":2}", -1},
                 {"{\"a\":-(,\"b\":2}", -0x1p63},
                 {"{\"a\":1e999,\"b\":2}", DBL_MAX},
                 {"{\"a\":9223372036854775807.\x53"
                  "75807,\"b\":2}",
                  9223372036854775807.},
                 {"{\"a\":-1e999,\"b\":2}", -DBL_MAX}};
    static const char *const no_numbers[] = {"{\"a\":(,\"b\":2}", "{\"a\":(.,\"b\":2}", "{\"a\":-(.,\"b\":2}",
                                             "{\"a\":(.\x8d,\"b\":2}",
                                             "{\"a\":-(.\x8d"
                                             "75807,\"b\":2}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct json json;
        struct json_fault fault;
        json_init(&json);
        assert_int_equal(read_text(&json, &fault, texts[i].text, strlen(texts[i].text), true), MIRE_JSON_OK);
        assert_true(json_double(&json, json_member(&json, 0, "a")) == texts[i].first);
        assert_true(json_double(&json, json_member(&json, 0, "b")) == 2);
        finish(&json);
        assert_int_equal(read_text(&json, &fault, texts[i].text, strlen(texts[i].text), false), MIRE_JSON_MALFORMED);
        finish(&json);
    }
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) {
        struct json json;
        struct json_fault fault;
        json_init(&json);
        assert_int_equal(read_text(&json, &fault, no_numbers[i], strlen(no_numbers[i]), true), MIRE_JSON_OK);
        assert_int_equal(json_kind(&json, json_member(&json, 0, "a")), MIRE_JSON_NULL);
        assert_true(json_double(&json, json_member(&json, 0, "b")) == 2);
        finish(&json);
        assert_int_equal(read_text(&json, &fault, no_numbers[i], strlen(no_numbers[i]), false), MIRE_JSON_MALFORMED);
        finish(&json);
    }
}

static void strings_are_unescaped_on_demand(void **state)
{
    (void)state;
    struct json json;
    struct json_fault fault;
    json_init(&json);
    static const char text[] = "\"a\\u0041\\n\\u00e9\\ud83d\\ude00\\u0000z\"";
    assert_int_equal(read_text(&json, &fault, text, sizeof text - 1, false), MIRE_JSON_OK);
    char out[64];
    size_t len = json_text(out, &json, 0);
    static const char want[] = "aA\n\xc3\xa9\xf0\x9f\x98\x80\0z";
    assert_int_equal(len, sizeof want - 1);
    assert_memory_equal(out, want, len);
    finish(&json);
}

static void limits_hold(void **state)
{
    (void)state;
    struct json json;
    struct json_fault fault;
    json_init(&json);
    struct json_limits limits = {.depth_max = 3, .values_max = 5};
    assert_int_equal(json_read(&json, &fault, "[[[]]]", 6, &limits), MIRE_JSON_OK);
    assert_int_equal(json_read(&json, &fault, "[[[[]]]]", 8, &limits), MIRE_JSON_TOO_BIG);
    assert_int_equal(fault.at, 3);
    assert_int_equal(json_read(&json, &fault, "[1,2,3,4]", 9, &limits), MIRE_JSON_OK);
    assert_int_equal(json_read(&json, &fault, "[1,2,3,4,5]", 11, &limits), MIRE_JSON_TOO_BIG);
    assert_int_equal(json.count, 0);
    limits.depth_max = UINT32_MAX;
    limits.values_max = UINT32_MAX;
    char deep[MIRE_JSON_DEPTH_MAX + 100];
    memset(deep, '[', sizeof deep);
    assert_int_equal(json_read(&json, &fault, deep, sizeof deep, &limits), MIRE_JSON_TOO_BIG);
    assert_int_equal(fault.at, MIRE_JSON_DEPTH_MAX);
    json_fini(&json);
}

static void both_scans_stop_at_the_same_byte(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 20000; round++) {
        char text[70];
        size_t len = (size_t)(seed % sizeof text);
        for (size_t i = 0; i < len; i++) {
            seed = seed * 1103515245 + 12345;
            text[i] = (seed >> 16) % 29 ? (char)(0x23 + (seed >> 20) % 50) : (char)(seed >> 24);
        }
        assert_ptr_equal(json_scan(text, text + len), json_scan_scalar(text, text + len));
        seed = seed * 1103515245 + 12345;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_taken_or_refused_where_they_go_wrong),
        cmocka_unit_test(no_document_survives_being_cut),
        cmocka_unit_test(the_tape_is_walked),
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(doubles_are_the_nearest_ones),
        cmocka_unit_test(the_tolerant_read_what_printers_get_wrong),
        cmocka_unit_test(strings_are_unescaped_on_demand),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(both_scans_stop_at_the_same_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
