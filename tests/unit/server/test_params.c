/* Parameters of a query string: accepted and refused ones. */
#include "api/params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define NOW  1793629927 /* 2026-11-02T14:32:07Z */
#define HOUR 3600

static int make_arena(void **state)
{
    static struct arena arena;

    arena_init(&arena, 1 << 20);
    *state = &arena;
    return 0;
}

static int drop_arena(void **state)
{
    arena_fini(*state);
    return 0;
}

static void a_span_is_widened_to_whole_hours(void **state)
{
    struct span s;

    (void)state;
    assert_int_equal(span_parse(&s, "24h", NOW), 0);
    assert_int_equal(s.to_s, NOW - 1927 + HOUR);
    assert_int_equal(s.from_s, s.to_s - 25 * HOUR);
    assert_int_equal(span_parse(&s, "2026-11-01T00:30Z..2026-11-02T00:00:01Z", NOW), 0);
    assert_int_equal(s.from_s, 1793491200);
    assert_int_equal(s.to_s - s.from_s, 25 * HOUR);
    assert_int_equal(span_parse(&s, "2026-11-01..2026-11-02", NOW), 0);
    assert_int_equal(s.to_s - s.from_s, 24 * HOUR);
    assert_int_equal(span_parse(&s, "2024-02-29T00Z..2024-03-01", NOW), 0);
}

static void a_bad_span_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "0h",
        "24",
        "24 h",
        "h",
        "-24h",
        "24hh",
        "24s",
        "99999999h",
        "9999999d",
        "yesterday",
        "2026-11-01T00Z",
        "2026-11-01T00Z..",
        "..2026-11-01",
        "2026-11-02..2026-11-01",
        "2026-11-01..2026-11-01",
        "2026-13-01..2026-12-01",
        "2026-02-29..2026-03-02",
        "2026-11-01T24Z..2026-11-03",
        "2026-11-01T00..2026-11-03",
        "2026-11-01..2026-11-02x",
        "1900-01-01..2026-01-01",
        "1970-01-01..2026-01-01",
        "2026-11-01T00:00:00:00Z..2026-11-03",
    };
    struct span s = {7, 7};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (span_parse(&s, bad[i], NOW) != -1)
            fail_msg("accepted: %s", bad[i]);
    assert_int_equal(s.from_s, 7);
}

static void a_filter_tells_with_from_without(void **state)
{
    static const char *const kinds[] = {"hang", "launch", NULL};
    struct filter f;

    assert_int_equal(filter_parse(&f, *state, "hang,!launch", kinds), 0);
    assert_int_equal(f.with_count, 1);
    assert_string_equal(f.with[0], "hang");
    assert_int_equal(f.without_count, 1);
    assert_string_equal(f.without[0], "launch");
    assert_int_equal(filter_parse(&f, *state, "\u7248\u672c 1,'; DROP", NULL), 0);
    assert_int_equal(filter_parse(&f, *state, "iPhone15\\,2,!\\!a\\\\b", NULL), 0);
    assert_int_equal(f.with_count, 1);
    assert_string_equal(f.with[0], "iPhone15,2");
    assert_string_equal(f.without[0], "!a\\b");
    assert_true(filter_is_set(&f) && filter_wants(&f, "iPhone15,2") && !filter_wants(&f, "iPhone15"));
    assert_int_equal(filter_parse(&f, *state, "a\\", NULL), -1);
    assert_int_equal(filter_parse(&f, *state, "", NULL), -1);
    assert_int_equal(filter_parse(&f, *state, "!", NULL), -1);
    assert_int_equal(filter_parse(&f, *state, "hang,", kinds), -1);
    assert_int_equal(filter_parse(&f, *state, ",hang", kinds), -1);
    assert_int_equal(filter_parse(&f, *state, "crash", kinds), -1);
    char many[300] = "a";
    for (int i = 0; i < MIRE_FILTER_MAX; i++)
        strcat(many, ",a");
    assert_int_equal(filter_parse(&f, *state, many, NULL), -1);
}

static void numbers_have_nothing_around_them(void **state)
{
    int64_t n;
    uint64_t h;

    (void)state;
    assert_int_equal(integer_parse(&n, "50", 1, 200), 0);
    assert_int_equal(n, 50);
    assert_int_equal(integer_parse(&n, "0", 1, 200), -1);
    assert_int_equal(integer_parse(&n, "201", 1, 200), -1);
    assert_int_equal(integer_parse(&n, " 5", 1, 200), -1);
    assert_int_equal(integer_parse(&n, "5x", 1, 200), -1);
    assert_int_equal(integer_parse(&n, "99999999999999999999", 1, INT64_MAX), -1);
    assert_int_equal(hash_parse(&h, "00000000000000ff"), 0);
    assert_int_equal(h, 255);
    assert_int_equal(hash_parse(&h, "00000000000000fF"), -1);
    assert_int_equal(hash_parse(&h, "ff"), -1);
    assert_int_equal(hash_parse(&h, "00000000000000ff0"), -1);
    assert_int_equal(issue_parse(&n, "I-1042"), 0);
    assert_int_equal(n, 1042);
    assert_int_equal(issue_parse(&n, "M-77"), 0);
    assert_int_equal(n, 77);
    assert_int_equal(issue_parse(&n, "X-1"), -1);
    assert_int_equal(issue_parse(&n, "I-"), -1);
    assert_true(text_is_uuid("019341f2-7b3c-7d10-8a5e-0123456789ab"));
    assert_false(text_is_uuid("019341f2-7b3c-7d10-8a5e-0123456789a"));
    assert_false(text_is_uuid("019341f2-7b3c-7d10-8a5e-0123456789abc"));
    assert_false(text_is_uuid("019341F2-7b3c-7d10-8a5e-0123456789ab"));
}

static void a_cursor_survives_its_way_through_a_url(void **state)
{
    struct page_cursor in = {.query = 0xabcdef0123456789,
                             .span = {1793491200, 1793577600},
                             .rank = "\u6e32.<b>",
                             .key = "0af3"},
                       out;
    char *text = cursor_format(*state, &in);

    assert_non_null(text);
    assert_int_equal(strspn(text, "0123456789abcdef.-"), strlen(text));
    assert_int_equal(cursor_parse(&out, *state, text, in.query), 0);
    assert_string_equal(out.rank, in.rank);
    assert_string_equal(out.key, in.key);
    assert_memory_equal(&out.span, &in.span, sizeof in.span);
    assert_int_equal(cursor_parse(&out, *state, text, 1), -1);
}

static void a_bad_cursor_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "0000000000000001",
                                      "0000000000000001.1.2.k.61",
                                      "0000000000000001.3600.7200.zz.61",
                                      "0000000000000001.7200.3600.0a.61",
                                      "0000000000000001.3600.7200.0a.6",
                                      "0000000000000001.3600.7200.0a.00",
                                      "0000000000000001.3600.7200.0a.61.1"};
    struct page_cursor out;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (cursor_parse(&out, *state, bad[i], 1) != -1)
            fail_msg("accepted: %s", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_is_widened_to_whole_hours),
        cmocka_unit_test(a_bad_span_is_refused),
        cmocka_unit_test_setup_teardown(a_filter_tells_with_from_without, make_arena, drop_arena),
        cmocka_unit_test(numbers_have_nothing_around_them),
        cmocka_unit_test_setup_teardown(a_cursor_survives_its_way_through_a_url, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(a_bad_cursor_is_refused, make_arena, drop_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
