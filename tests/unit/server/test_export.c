/* Exports: tables of any list, and the formats of a flame graph whose names hold their separators. */
#include "api/csv.h"
#include "api/flame/export.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void check_table(const char *json, const char *path, const char *expected)
{
    struct text out = {0};

    assert_int_equal(csv_table(&out, json, strlen(json), path), 0);
    assert_string_equal(out.bytes ? out.bytes : "", expected);
    text_fini(&out);
}

static void a_list_becomes_a_table(void **state)
{
    (void)state;
    check_table("{\"rows\":[{\"a\":1,\"b\":{\"c\":-2,\"d\":0.25},\"e\":[1],\"f\":null},{\"f\":true,\"a\":"
                "18446744073709551615}]}",
                "rows", "\"a\",\"b.c\",\"b.d\",\"f\"\r\n1,-2,0.25,\r\n18446744073709551615,,,true\r\n");
    check_table(
        "{\"groups\":[{\"x\":9,\"issues\":[{\"id\":\"I-1\"}]},{\"issues\":[]},{\"issues\":[{\"id\":\"I-2\"}]}]}",
        "groups.issues", "\"id\"\r\n\"I-1\"\r\n\"I-2\"\r\n");
    check_table("{\"rows\":[]}", "rows", "");
    check_table("{\"rows\":{}}", "rows", "");
    check_table("{}", "rows.more", "");
}

static void a_cell_is_a_text_whatever_it_holds(void **state)
{
    (void)state;
    check_table("{\"rows\":[{\"a\":\"x\\\"y,\\nz\",\"b\":\"=1+2\",\"c\":\"-3\",\"d\":\"\"}]}", "rows",
                "\"a\",\"b\",\"c\",\"d\"\r\n\"x\"\"y,\nz\",\"'=1+2\",\"'-3\",\"\"\r\n");
}

/* all > a;b > <c> of 10, and all > "a;b" > wide of 0.2 */
static const char *names[] = {"all", "a;b\nc", "<c> & \"d\"", "wide"};
static const char *images[] = {"", "lib&.so"};
static uint32_t name[] = {0, 1, 2, 3}, image[] = {0, 1, 1, 1};
static uint8_t role[] = {0, 1, 1, 1};
static int32_t parent[] = {-1, 0, 1, 1};
static double self[] = {0, 0, 10, 0.2}, value[] = {10.2, 10.2, 10, 0.2};
static uint64_t hash[4];
static const struct flame_view view = {.count = 4,
                                       .name = name,
                                       .image = image,
                                       .role = role,
                                       .parent = parent,
                                       .self = self,
                                       .value = value,
                                       .hash = hash,
                                       .names = names,
                                       .images = images,
                                       .name_count = 4,
                                       .image_count = 2};
static const struct flame_export whole = {&view, "I-1 <x>", "ms"};

static void names_cannot_break_a_format(void **state)
{
    struct text out = {0};

    (void)state;
    flame_folded(&out, &whole);
    assert_string_equal(out.bytes, "a:b c;<c> & \"d\" 10\n");
    text_fini(&out);
    flame_svg(&out, &whole);
    assert_non_null(strstr(out.bytes, "<title>&lt;c&gt; &amp; &quot;d&quot; [lib&amp;.so]: 10 ms, 98.04 %</title>"));
    assert_non_null(strstr(out.bytes, ">I-1 &lt;x&gt;</text>"));
    assert_null(strstr(out.bytes, "<c>"));
    text_fini(&out);
    flame_speedscope(&out, &whole);
    assert_non_null(strstr(out.bytes, "{\"name\":\"a;b\\nc\",\"file\":\"lib&.so\"}"));
    assert_non_null(strstr(out.bytes, "\"samples\":[[1,2],[1,3]],\"weights\":[10.000,0.200],\"endValue\":10.200"));
    text_fini(&out);
}

static void an_empty_graph_is_a_file_too(void **state)
{
    static double nothing[] = {0};
    const struct flame_view empty = {.count = 1,
                                     .name = name,
                                     .image = image,
                                     .role = role,
                                     .parent = parent,
                                     .self = nothing,
                                     .value = nothing,
                                     .hash = hash,
                                     .names = names,
                                     .images = images,
                                     .name_count = 1,
                                     .image_count = 1};
    const struct flame_export e = {&empty, "", "bytes"};
    struct text out = {0};

    (void)state;
    flame_folded(&out, &e);
    assert_int_equal(out.len, 0);
    flame_svg(&out, &e);
    assert_non_null(strstr(out.bytes, "</svg>"));
    assert_null(strstr(out.bytes, "nan"));
    text_fini(&out);
    flame_speedscope(&out, &e);
    assert_non_null(
        strstr(out.bytes, "\"unit\":\"bytes\",\"startValue\":0,\"samples\":[],\"weights\":[],\"endValue\":0.000}]}"));
    text_fini(&out);
    flame_pprof(&out, &e);
    assert_true(out.len > 10);
    text_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_becomes_a_table),
        cmocka_unit_test(a_cell_is_a_text_whatever_it_holds),
        cmocka_unit_test(names_cannot_break_a_format),
        cmocka_unit_test(an_empty_graph_is_a_file_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
