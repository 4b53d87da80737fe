/* test_sql.c - statements with holes: filled holes, removed comments, and refused statements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rows/sql.h"

static int set_up(void **state)
{
    static struct arena arena;
    arena_init(&arena, 1u << 20);
    *state = &arena;
    return 0;
}

static int tear_down(void **state)
{
    arena_fini(*state);
    return 0;
}

static void every_hole_is_filled(void **state)
{
    const char *sql =
        SQL_FILL(*state, "SELECT {a} FROM t WHERE {b} AND {a} = '{'", {"a", "x"}, {"b", "y = $1"}, {"", ""});
    assert_null(sql); /* a brace that is no hole is refused, also in a literal */
    sql = SQL_FILL(*state, "SELECT {a} FROM t WHERE {b} AND {a}{c}", {"a", "x"}, {"b", "y = $1"}, {"c", ""});
    assert_string_equal(sql, "SELECT x FROM t WHERE y = $1 AND x");
}

static void a_filled_hole_is_not_filled_again(void **state)
{
    assert_string_equal(SQL_FILL(*state, "{a}", {"a", "{b}"}, {"b", "-- no"}), "{b}");
}

static void comments_go(void **state)
{
    assert_string_equal(SQL_FILL(*state, "-- {nothing}\nSELECT 1 -- one\n", {"a", "x"}), "\nSELECT 1 \n");
    assert_string_equal(SQL_FILL(*state, "SELECT 1 - -1 --", {"a", "x"}), "SELECT 1 - -1 ");
}

static void a_hole_without_a_row_is_refused(void **state)
{
    assert_null(SQL_FILL(*state, "SELECT {a}, {b}", {"a", "x"}));
    assert_null(SQL_FILL(*state, "SELECT {ab}", {"a", "x"}));
    assert_null(SQL_FILL(*state, "SELECT {a", {"a", "x"}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_hole_is_filled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_filled_hole_is_not_filled_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(comments_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hole_without_a_row_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
