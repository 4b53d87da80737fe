/* Parsing of `mire`'s arguments, and escaping of its output to a terminal. */
#include "cli/cli.h"
#include "cli/fetch.h"
#include "cli/say.h"
#include "cli/table.h"

#include <inttypes.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void check_cell(const char *text, int width, const char *expected)
{
    struct text out = {0};

    table_cell(&out, text, width);
    assert_false(text_failed(&out));
    assert_string_equal(out.bytes ? out.bytes : "", expected);
    text_fini(&out);
}

static void a_cell_is_exactly_as_wide_as_asked(void **state)
{
    (void)state;
    check_cell("main", 6, "main  ");
    check_cell("main", -6, "  main");
    check_cell("main", 4, "main");
    check_cell("std::map<int>::at", 8, "\u2026nt>::at");
    check_cell("\u6e32\u67d3\u9875\u9762", 8, "\u6e32\u67d3\u9875\u9762");
    check_cell("\u6e32\u67d3\u9875\u9762", 6, "\u2026\u9875\u9762 ");
    check_cell("", 2, "  ");
}

static void a_cell_cannot_drive_the_terminal(void **state)
{
    (void)state;
    check_cell("a\x1b[31mb", 7, "a?[31mb");
    check_cell("x\ny\tz\x7f", 6, "x?y?z?");
    check_cell("\u202eevil\u202c", 6, "?evil?");
    check_cell("\xff\xfe", 2, "??");
    check_cell("\xc2\x9b"
               "2J",
               3, "?2J");
}

static void saying_is_printing_with_tame_names(void **state)
{
    struct text out = {0};

    (void)state;
    say_add(&out, "%-6s|%6s|%-3.2s|%*s|%s\n", "\u6e32\u67d3", "a\nb", "xyz", 4, "c\x1b", "longer");
    assert_string_equal(out.bytes, "\u6e32\u67d3  |   a?b|xy |  c?|longer\n");
    text_fini(&out);
    say_add(&out, "%u %5d %-5lld %zu %" PRIu64 " %02x 0x%012" PRIx64 " %.1f %5.0f %g %c%% %.*s", 7u, -3, 44LL,
            (size_t)9, UINT64_MAX, 10u, (uint64_t)0xabc, 1.25, 2.0, 0.5, 'R', 2, "abc");
    assert_string_equal(out.bytes, "7    -3 44    9 18446744073709551615 0a 0x000000000abc 1.2     2 0.5 R% ab");
    text_fini(&out);
}

static void names_are_narrowed_until_the_line_fits(void **state)
{
    int a = 44, b = 20;

    (void)state;
    table_fit((int *[]){&a, &b}, 2, 12, 64);
    assert_true(a == 44 && b == 20);
    table_fit((int *[]){&a, &b}, 2, 12, 50);
    assert_true(a == 30 && b == 20);
    table_fit((int *[]){&a, &b}, 2, 12, 30);
    assert_true(a == 15 && b == 15);
    table_fit((int *[]){&a, &b}, 2, 12, -5);
    assert_true(a == 12 && b == 12);
}

static void a_value_is_escaped_for_a_query(void **state)
{
    struct text out = {0};

    (void)state;
    fetch_escape(&out, "a-b.c_~ &=/%\u6e32");
    assert_string_equal(out.bytes, "a-b.c_~%20%26%3D%2F%25%E6%B8%B2");
    text_fini(&out);
}

static void a_mistyped_command_is_recognised(void **state)
{
    static const char *const names[] = {"run", "issues", "key", "symbols"};

    (void)state;
    assert_string_equal(cli_nearest("isues", names, 4), "issues");
    assert_string_equal(cli_nearest("symbol", names, 4), "symbols");
    assert_string_equal(cli_nearest("rn", names, 4), "run");
    assert_null(cli_nearest("zzzzzz", names, 4));
    assert_null(cli_nearest("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", names, 4));
}

static int call(const char *first, const char *second)
{
    char a[] = "mire", b[64], c[64];
    char *argv[] = {a, b, c, NULL};

    snprintf(b, sizeof b, "%s", first ? first : "");
    snprintf(c, sizeof c, "%s", second ? second : "");
    return cli_main(first ? second ? 3 : 2 : 1, argv);
}

static void wrong_calls_exit_with_2(void **state)
{
    (void)state;
    assert_int_equal(call(NULL, NULL), CLI_USAGE);
    assert_int_equal(call("isues", NULL), CLI_USAGE);
    assert_int_equal(call("issues", "stray"), CLI_USAGE);
    assert_int_equal(call("--help", NULL), CLI_DONE);
    assert_int_equal(call("--version", NULL), CLI_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_exactly_as_wide_as_asked),     cmocka_unit_test(a_cell_cannot_drive_the_terminal),
        cmocka_unit_test(names_are_narrowed_until_the_line_fits), cmocka_unit_test(a_value_is_escaped_for_a_query),
        cmocka_unit_test(a_mistyped_command_is_recognised),       cmocka_unit_test(wrong_calls_exit_with_2),
        cmocka_unit_test(saying_is_printing_with_tame_names),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
