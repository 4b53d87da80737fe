/* What the JSON writer writes. */
#include "json/write.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_real(double value, const char *expected)
{
    struct json_writer w;

    json_write_begin(&w);
    json_write_real(&w, NULL, value);
    assert_false(w.failed);
    assert_int_equal(w.len, strlen(expected));
    assert_memory_equal(w.text, expected, w.len);
    free(w.text);
}

static void a_number_has_no_more_digits_than_it_needs(void **state)
{
    (void)state;
    check_real(0, "0");
    check_real(12, "12");
    check_real(-3, "-3");
    check_real(12.5, "12.5");
    check_real(0.05, "0.05");
    check_real(-0.25, "-0.25");
    check_real(1.0 / 3, "0.333");
    check_real(0.9996, "1");
    check_real(-0.0001, "0");
    check_real(8999999999999999.0, "8999999999999999");
    check_real(1e300, "1.0000000000000001e+300");
}

static void what_is_no_number_is_written_as_0(void **state)
{
    (void)state;
    check_real(NAN, "0");
    check_real(INFINITY, "0");
    check_real(-INFINITY, "0");
}

static void values_are_parted_by_commas_and_texts_escaped(void **state)
{
    static const char expected[] = "{\"a\":[1,null,\"q\\\"\\\\\\u000a<\u6e32\"],\"b\":true}";
    struct json_writer w;

    (void)state;
    json_write_begin(&w);
    json_write_open(&w, NULL, '{');
    json_write_open(&w, "a", '[');
    json_write_i64(&w, NULL, 1);
    json_write_null(&w, NULL);
    json_write_text(&w, NULL, "q\"\\\n<\u6e32");
    json_write_close(&w, ']');
    json_write_bool(&w, "b", true);
    json_write_close(&w, '}');
    assert_int_equal(w.len, strlen(expected));
    assert_memory_equal(w.text, expected, w.len);
    free(w.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_has_no_more_digits_than_it_needs),
        cmocka_unit_test(what_is_no_number_is_written_as_0),
        cmocka_unit_test(values_are_parted_by_commas_and_texts_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
