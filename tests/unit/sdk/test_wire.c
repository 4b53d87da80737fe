/* The report writer: its output, and its behavior on errors. */
#include "wire/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char text[65536];

static const char *finish(struct wire *wire)
{
    size_t length = 0;

    assert_int_equal(mire__wire_finish(&length, wire), MIRE_WIRE_DONE);
    text[length] = '\0';
    return text;
}

static struct wire array(void)
{
    struct wire wire;

    mire__wire_begin(&wire, text, sizeof(text) - 1);
    mire__wire_array(&wire, NULL);
    return wire;
}

static void write_everything(struct wire *wire)
{
    static const uint64_t longs[] = {0, UINT64_MAX};
    static const int32_t ints[] = {-1, INT32_MIN, 7};
    static const uint8_t bytes[] = {0x00, 0xab, 0xff};

    mire__wire_object(wire, NULL);
    mire__wire_u64(wire, "a", UINT64_MAX);
    mire__wire_i64(wire, "b", INT64_MIN);
    mire__wire_bool(wire, "c", true);
    mire__wire_ppm(wire, "d", 250000);
    mire__wire_text(wire, "e", "x\"\\\n", SIZE_MAX);
    mire__wire_hex(wire, "f", bytes, 3);
    mire__wire_array(wire, "g");
    mire__wire_object(wire, NULL);
    mire__wire_end(wire);
    mire__wire_bool(wire, NULL, false);
    mire__wire_end(wire);
    mire__wire_u64_column(wire, "h", longs, 2);
    mire__wire_i32_column(wire, "i", ints, 3);
    mire__wire_u8_column(wire, "j", bytes, 3);
    mire__wire_u32_column(wire, "k", NULL, 0);
    mire__wire_end(wire);
}

static const char everything[] =
    "{\"a\":18446744073709551615,\"b\":-9223372036854775808,\"c\":true,\"d\":0.25,\"e\":\"x\\\"\\\\\\u000a\","
    "\"f\":\"00abff\",\"g\":[{},false],\"h\":[0,18446744073709551615],\"i\":[-1,-2147483648,7],\"j\":[0,171,255],"
    "\"k\":[]}";

static void wire_writes_every_kind_of_value(void **state)
{
    struct wire wire;

    (void)state;
    mire__wire_begin(&wire, text, sizeof(text) - 1);
    write_everything(&wire);
    assert_string_equal(finish(&wire), everything);
}

static void wire_says_full_for_every_smaller_buffer(void **state)
{
    (void)state;
    for (size_t cap = 0; cap < sizeof(everything) - 1; cap++) {
        char *exact = malloc(cap + 1);
        struct wire wire;
        size_t length = 1;

        assert_non_null(exact);
        exact[cap] = '#';
        mire__wire_begin(&wire, exact, cap);
        write_everything(&wire);
        assert_int_equal(mire__wire_finish(&length, &wire), MIRE_WIRE_FULL);
        assert_int_equal(length, 0);
        assert_int_equal(exact[cap], '#');
        free(exact);
    }
}

static void wire_fits_a_buffer_of_the_exact_size(void **state)
{
    char exact[sizeof(everything) - 1];
    struct wire wire;
    size_t length;

    (void)state;
    mire__wire_begin(&wire, exact, sizeof(exact));
    write_everything(&wire);
    assert_int_equal(mire__wire_finish(&length, &wire), MIRE_WIRE_DONE);
    assert_int_equal(length, sizeof(exact));
}

static void wire_keeps_utf8_and_replaces_what_is_none(void **state)
{
    static const char *const pairs[][2] = {
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xff", "\xef\xbf\xbd"},
        {"a\xc3", "a\xef\xbf\xbd"},
        {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\x7f", "\x7f"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct wire wire = array();
        char want[64] = "[\"";

        mire__wire_text(&wire, NULL, pairs[i][0], SIZE_MAX);
        mire__wire_end(&wire);
        strcat(strcat(want, pairs[i][1]), "\"]");
        assert_string_equal(finish(&wire), want);
    }
}

static void wire_cuts_texts_at_their_cap_and_at_the_limit(void **state)
{
    struct wire wire = array();
    char *tall = malloc(2 * 5000 + 1);

    (void)state;
    assert_non_null(tall);
    for (size_t i = 0; i < 5000; i++)
        memcpy(tall + 2 * i, "\xc3\xa9", 2);
    tall[2 * 5000] = '\0';
    mire__wire_text(&wire, NULL, "abcdef", 3);
    mire__wire_text(&wire, NULL, NULL, 3);
    mire__wire_text(&wire, NULL, tall, SIZE_MAX);
    mire__wire_end(&wire);
    finish(&wire);
    assert_memory_equal(text, "[\"abc\",\"\",\"", 11);
    assert_int_equal(strlen(text), 11 + 2 * MIRE_WIRE_TEXT_MAX + 2);
    free(tall);
}

static void wire_writes_shares_as_decimal_fractions(void **state)
{
    struct wire wire = array();

    (void)state;
    mire__wire_ppm(&wire, NULL, 1);
    mire__wire_ppm(&wire, NULL, 1000000);
    mire__wire_ppm(&wire, NULL, 0);
    mire__wire_ppm(&wire, NULL, 120300);
    mire__wire_end(&wire);
    assert_string_equal(finish(&wire), "[0.000001,1,0,0.1203]");
}

static void wire_notices_misuse(void **state)
{
    size_t length;

    (void)state;
    for (int way = 0; way < 7; way++) {
        struct wire wire = array();

        if (way == 0) { /* key inside an array */
            mire__wire_u64(&wire, "k", 1);
            mire__wire_end(&wire);
        } else if (way == 1) { /* no key inside an object */
            mire__wire_object(&wire, NULL);
            mire__wire_u64(&wire, NULL, 1);
            mire__wire_end(&wire);
            mire__wire_end(&wire);
        } else if (way == 2) { /* closed too often */
            mire__wire_end(&wire);
            mire__wire_end(&wire);
        } else if (way == 3) { /* left open */
            mire__wire_u64(&wire, NULL, 1);
        } else if (way == 4) { /* two documents */
            mire__wire_end(&wire);
            mire__wire_u64(&wire, NULL, 1);
        } else if (way == 5) { /* too deep */
            for (unsigned i = 0; i < MIRE_WIRE_DEPTH_MAX; i++)
                mire__wire_array(&wire, NULL);
        } else { /* nothing written */
            mire__wire_begin(&wire, text, sizeof(text));
        }
        assert_int_equal(mire__wire_finish(&length, &wire), MIRE_WIRE_MISUSED);
        assert_int_equal(length, 0);
    }
}

static void wire_opens_as_deep_as_it_says(void **state)
{
    struct wire wire = array();

    (void)state;
    for (unsigned i = 1; i < MIRE_WIRE_DEPTH_MAX; i++)
        mire__wire_array(&wire, NULL);
    for (unsigned i = 0; i < MIRE_WIRE_DEPTH_MAX; i++)
        mire__wire_end(&wire);
    assert_string_equal(finish(&wire), "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wire_writes_every_kind_of_value),
        cmocka_unit_test(wire_says_full_for_every_smaller_buffer),
        cmocka_unit_test(wire_fits_a_buffer_of_the_exact_size),
        cmocka_unit_test(wire_keeps_utf8_and_replaces_what_is_none),
        cmocka_unit_test(wire_cuts_texts_at_their_cap_and_at_the_limit),
        cmocka_unit_test(wire_writes_shares_as_decimal_fractions),
        cmocka_unit_test(wire_notices_misuse),
        cmocka_unit_test(wire_opens_as_deep_as_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
