/*
 * test_base.c - identifiers, texts, logs, clocks, metrics.
 */
#include "base/clock.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/log.h"
#include "base/metric.h"
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void a_uuid_reads_as_it_is_written(void **state)
{
    (void)state;
    struct uuid made, read;
    char text[MIRE_UUID_TEXT];
    uuid_make(&made, 1700000000123456);
    uuid_format(text, &made);
    assert_true(uuid_parse(&read, text, strlen(text)));
    assert_memory_equal(read.bytes, made.bytes, 16);
    assert_true(made.bytes[6] >> 4 == 7 && made.bytes[8] >> 6 == 2); /* version and variant of RFC 9562 */
    assert_true(uuid_wall_us(&made) == 1700000000123000);
}

static void a_derived_uuid_is_of_content_and_app(void **state)
{
    (void)state;
    struct uuid one, same, other, of_one, of_two, made;
    uuid_derive(&one, 1700000000123, "report", 6);
    uuid_derive(&same, 1700000000123, "report", 6);
    uuid_derive(&other, 1700000000123, "repord", 6);
    assert_memory_equal(one.bytes, same.bytes, 16);
    assert_memory_not_equal(one.bytes, other.bytes, 16);
    assert_int_equal(one.bytes[6] >> 4, 8);
    of_one = of_two = one;
    uuid_of_app(&of_one, 1);
    uuid_of_app(&of_two, 2);
    uuid_of_app(&same, 1);
    assert_memory_equal(of_one.bytes, same.bytes, 16);
    assert_memory_not_equal(of_one.bytes, of_two.bytes, 16);
    assert_memory_not_equal(of_one.bytes, one.bytes, 16);
    assert_int_equal(of_two.bytes[6] >> 4, 8);
    assert_true(uuid_wall_us(&of_two) == 1700000000123000);
    uuid_make(&made, 1700000000123456);
    same = made;
    uuid_of_app(&same, 1); /* a device's own id stays as it is */
    assert_memory_equal(same.bytes, made.bytes, 16);
}

static void what_is_no_uuid_is_refused(void **state)
{
    (void)state;
    struct uuid out;
    static const char *const bad[] = {"", "0193", "018bcfe568007bcf8bcfe568007bcf8b0000",
                                      "018bcfe5-6800-7bcf-8bcf-e568007bcf8g", "018bcfe5x6800-7bcf-8bcf-e568007bcf8a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(uuid_parse(&out, bad[i], strlen(bad[i])));
}

static void a_slot_never_changes(void **state)
{
    (void)state;
    struct uuid uuid;
    assert_true(uuid_parse(&uuid, "018bcfe5-6800-7bcf-8bcf-e568007bcf8a", 36));
    assert_int_equal(uuid_slot(&uuid), 48);
    int seen[MIRE_SLOT_COUNT] = {0};
    for (int i = 0; i < 20000; i++) {
        uuid_make(&uuid, 1700000000000000);
        seen[uuid_slot(&uuid)]++;
    }
    for (int i = 0; i < MIRE_SLOT_COUNT; i++)
        assert_in_range(seen[i], 150, 500);
}

static void a_key_has_its_form_and_a_hash(void **state)
{
    (void)state;
    char key[MIRE_KEY_TEXT], other[MIRE_KEY_TEXT];
    uint8_t hash[MIRE_KEY_HASH], again[MIRE_KEY_HASH];
    key_make(key);
    key_make(other);
    assert_string_not_equal(key, other);
    assert_true(key_is_wellformed(key, strlen(key)));
    key_hash(hash, key, strlen(key));
    key_hash(again, key, strlen(key));
    assert_memory_equal(hash, again, sizeof hash);
    assert_false(key_is_wellformed("mk_short", 8));
    key[5] = 'A';
    assert_false(key_is_wellformed(key, strlen(key)));
}

static void text_escapes_for_json(void **state)
{
    (void)state;
    struct text text = {0};
    text_add_json(&text, "a\"\\\n\x01\xc3\xa4\xff\xed\xa0\x80", 11);
    assert_string_equal(text.bytes, "\"a\\\"\\\\\\n\\u0001\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    text_fini(&text);
    for (int i = 0; i < 1000; i++)
        text_printf(&text, "%d,", i);
    assert_int_equal(text.len, 3890);
    assert_false(text_failed(&text));
    text_fini(&text);
}

static void a_text_in_any_encoding_becomes_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *mended;
        size_t len;
    } rows[] = {{"plain", "plain", 5},
                {"caf\xc3\xa9", "caf\xc3\xa9", 5},
                {"caf\xe9", "caf\xc3\xa9", 4},
                {"\xfb\xff", "\xc3\xbb\xc3\xbf", 2},
                {"\xc3\xa9 \xe9!", "\xc3\xa9 \xef\xbf\xbd!", 5},
                {"\xc3\xa9 \xe2\x82", "\xc3\xa9 ", 5},
                {"a\0b",
                 "a\xef\xbf\xbd"
                 "b",
                 3},
                {"\xed\xa0\x80", "\xc3\xad\xc2\xa0\xc2\x80", 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text text = {0};
        assert_int_equal(text_is_valid(rows[i].bytes, rows[i].len), i < 2);
        text_add_valid(&text, rows[i].bytes, rows[i].len);
        assert_string_equal(text.bytes, rows[i].mended);
        assert_true(text_is_valid(text.bytes, text.len));
        text_fini(&text);
    }
}

static void a_text_is_cut_between_characters(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"caf\xc3\xa9", "caf"},     {"abc\xe2\x82\xac", "abc"},
                                          {"a\xf0\x9f\x98\x80", "a"}, {"ab\xc3\xa9", "ab\xc3\xa9"},
                                          {"abcdef", "abcd"},         {"", ""}};
    char room[5], whole[16];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(text_format(room, sizeof room, "%s", rows[i][0]), strlen(rows[i][1]));
        assert_string_equal(room, rows[i][1]);
        snprintf(whole, sizeof whole, "<%.*s>", TEXT_CUT(rows[i][0], 4));
        assert_int_equal(strlen(whole), strlen(rows[i][1]) + 2);
        assert_memory_equal(whole + 1, rows[i][1], strlen(rows[i][1]));
    }
    assert_int_equal(text_cut_string(NULL, 4), 0);
}

static void log_lines_have_fields(void **state)
{
    (void)state;
    int ends[2];
    char line[256] = "";
    assert_int_equal(pipe(ends), 0);
    struct log log = {.fd = ends[1], .least = MIRE_LOG_INFO, .json = true};
    log_event(&log, MIRE_LOG_DEBUG, "not.seen");
    log_event(&log, MIRE_LOG_WARN, "seen", LOG_TEXT("why", "a \"b\""), LOG_NUMBER("n", -3));
    assert_true(read(ends[0], line, sizeof line - 1) > 0);
    assert_non_null(strstr(line, ",\"level\":\"warn\",\"event\":\"seen\",\"why\":\"a \\\"b\\\"\",\"n\":-3}\n"));
    close(ends[0]);
    close(ends[1]);
}

static void instants_are_written_in_utc(void **state)
{
    (void)state;
    char text[32];
    clock_format(text, 1700000000123456);
    assert_string_equal(text, "2023-11-14T22:13:20.123Z");
    clock_format(text, -1);
    assert_string_equal(text, "1969-12-31T23:59:59.999Z");
    assert_int_equal(clock_day(-1), -1);
    assert_int_equal(clock_day(86400000000), 1);
}

static void a_histogram_adds_up(void **state)
{
    (void)state;
    struct text out = {0};
    struct histogram histogram = {.first = 1, .unit = 1};
    histogram_count(&histogram, 1);
    histogram_count(&histogram, 2);
    histogram_count(&histogram, 1000000);
    histogram_write(&out, "x", "help", &histogram);
    assert_non_null(strstr(out.bytes, "x_bucket{le=\"1\"} 1\nx_bucket{le=\"2\"} 2\n"));
    assert_non_null(strstr(out.bytes, "x_bucket{le=\"+Inf\"} 3\nx_sum 1000003\nx_count 3\n"));
    text_fini(&out);
}

static void faults_have_names(void **state)
{
    (void)state;
    assert_string_equal(fault_name(MIRE_FAULT_AWAY), "away");
    assert_string_equal(fault_name(MIRE_FAULT_BROKEN), "broken");
    assert_string_equal(fault_name(-99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_uuid_reads_as_it_is_written),
        cmocka_unit_test(a_derived_uuid_is_of_content_and_app),
        cmocka_unit_test(what_is_no_uuid_is_refused),
        cmocka_unit_test(a_slot_never_changes),
        cmocka_unit_test(a_key_has_its_form_and_a_hash),
        cmocka_unit_test(text_escapes_for_json),
        cmocka_unit_test(a_text_in_any_encoding_becomes_utf8),
        cmocka_unit_test(a_text_is_cut_between_characters),
        cmocka_unit_test(log_lines_have_fields),
        cmocka_unit_test(instants_are_written_in_utc),
        cmocka_unit_test(a_histogram_adds_up),
        cmocka_unit_test(faults_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
