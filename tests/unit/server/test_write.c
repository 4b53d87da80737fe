/* Output of the JSON writer, by calls and by a table. */
#include "base/fact.h"
#include "json/bind.h"

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

struct given {
    const char *name;
    bool open;
    int32_t number;
    uint64_t bytes;
    struct fact code, pid;
};

static void write_doubled(struct json_writer *w, const char *name, const void *in)
{
    json_write_u64(w, name, ((const struct given *)in)->bytes * 2);
}

/* clang-format off */
static const struct bind_field told_fields[] = {
    {.name = "name", .want = MIRE_BIND_TEXT, .offset = offsetof(struct given, name), .max = 9},
    {.name = "open", .want = MIRE_BIND_BOOL, .offset = offsetof(struct given, open)},
    {.name = "number", .want = MIRE_BIND_U32, .offset = offsetof(struct given, number), .min = -1, .max = INT32_MAX},
    {.name = "bytes", .want = MIRE_BIND_U64, .offset = offsetof(struct given, bytes), .max = UINT64_MAX},
    {.name = "code", .want = MIRE_BIND_FACT, .offset = offsetof(struct given, code), .min = INT32_MIN, .max = INT32_MAX},
    {.name = "pid", .want = MIRE_BIND_FACT, .offset = offsetof(struct given, pid), .max = UINT64_MAX},
    {.name = "doubled", .want = MIRE_BIND_OTHER, .write = write_doubled},
    {.name = "unwritten", .want = MIRE_BIND_OTHER},
};
/* clang-format on */

static void check_table(const struct given *given, enum bind_unknown unknown, const char *expected)
{
    static const struct bind_table table = BIND_TABLE(told_fields);
    struct json_writer w;

    json_write_begin(&w);
    bind_write_object(&w, NULL, given, &table, unknown);
    assert_false(w.failed);
    assert_int_equal(w.len, strlen(expected));
    assert_memory_equal(w.text, expected, w.len);
    free(w.text);
}

static void a_table_writes_what_it_reads(void **state)
{
    const struct given known = {"a", true, -1, UINT64_MAX / 2, {(uint64_t)-7, true}, {UINT64_MAX, true}};
    const struct given unknown = {.name = ""};

    (void)state;
    check_table(&known, MIRE_BIND_NULL,
                "{\"name\":\"a\",\"open\":true,\"number\":-1,\"bytes\":9223372036854775807,\"code\":-7,"
                "\"pid\":18446744073709551615,\"doubled\":18446744073709551614}");
    check_table(&unknown, MIRE_BIND_NULL,
                "{\"name\":\"\",\"open\":false,\"number\":0,\"bytes\":0,\"code\":null,\"pid\":null,\"doubled\":0}");
    check_table(&unknown, MIRE_BIND_LEAVE_OUT, "{\"name\":\"\",\"open\":false,\"number\":0,\"bytes\":0,\"doubled\":0}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_has_no_more_digits_than_it_needs),
        cmocka_unit_test(what_is_no_number_is_written_as_0),
        cmocka_unit_test(values_are_parted_by_commas_and_texts_escaped),
        cmocka_unit_test(a_table_writes_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
