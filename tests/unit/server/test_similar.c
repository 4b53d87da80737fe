/* Which known issues look alike. */
#include "cluster/similar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOW  1000000000
#define YEAR (365 * 86400)

static int with(void **state)
{
    *state = similar_new();
    return *state ? 0 : -1;
}

static int without(void **state)
{
    similar_free(*state);
    return 0;
}

/* One letter for each function, innermost first. */
static struct similar_stack stack_of(uint64_t *frames, const char *letters)
{
    size_t count = strlen(letters);
    for (size_t i = 0; i < count; i++)
        frames[i] = (uint64_t)(unsigned char)letters[i];
    return (struct similar_stack){frames, count};
}

static void add(struct similar *similar, int64_t issue, const char *letters)
{
    uint64_t frames[128];
    struct similar_stack stack = stack_of(frames, letters);
    assert_int_equal(similar_add(similar, issue, NOW, &stack, 1), 0);
}

static size_t find(struct similar_hit *hits, size_t cap, struct similar *similar, const char *letters)
{
    uint64_t frames[128];
    struct similar_stack stack = stack_of(frames, letters);
    size_t got;
    assert_int_equal(similar_find(hits, cap, &got, similar, &(struct similar_question){.stacks = &stack, .count = 1}),
                     0);
    return got;
}

static void nothing_known_is_nothing_found(void **state)
{
    struct similar_hit hit;
    assert_int_equal(find(&hit, 1, *state, "abc"), 0);
    add(*state, 1, "xyz");
    assert_int_equal(find(&hit, 1, *state, "abc"), 0);
    assert_int_equal(find(&hit, 1, *state, ""), 0);
    add(*state, 2, "");
    assert_int_equal(similar_count(*state), 1);
}

static void the_same_stack_comes_first(void **state)
{
    add(*state, 1, "abcdef");
    add(*state, 2, "abcxyz");
    add(*state, 3, "qrstuv");
    struct similar_hit hits[4];
    assert_int_equal(find(hits, 4, *state, "abcdef"), 2);
    assert_int_equal(hits[0].issue, 1);
    assert_int_equal(hits[1].issue, 2);
    assert_true(hits[0].best <= 1 && hits[0].best > hits[1].best);
    assert_int_equal(find(hits, 1, *state, "abcdef"), 1);
    assert_int_equal(hits[0].issue, 1);
}

static void what_everybody_has_counts_little(void **state)
{
    for (int i = 0; i < 50; i++)
        add(*state, 100 + i, "pm");
    add(*state, 1, "pr");
    add(*state, 2, "qm");
    struct similar_hit hits[2];
    assert_int_equal(find(hits, 2, *state, "pr"), 2);
    assert_int_equal(hits[0].issue, 1);
    assert_true(hits[0].best > 2 * hits[1].best);
}

static void inner_frames_count_more(void **state)
{
    add(*state, 1, "abcdefuvwxyz"); /* shares the inner half */
    add(*state, 2, "uvwxyzghijkl"); /* the outer half stays outer */
    struct similar_hit hits[2];
    assert_int_equal(find(hits, 2, *state, "abcdefghijkl"), 2);
    assert_int_equal(hits[0].issue, 1);
}

static void a_function_that_calls_itself_is_one_frame(void **state)
{
    add(*state, 1, "abbbbbbbbbbbbc");
    struct similar_hit once, often;
    find(&once, 1, *state, "abc");
    find(&often, 1, *state, "abbbbc");
    assert_true(once.best == often.best && once.best > 0.4);
}

static void the_best_member_speaks_for_its_issue(void **state)
{
    struct similar *similar = *state;
    uint64_t frames[8];
    struct similar_stack stack = stack_of(frames, "abc");
    for (int i = 0; i < 3; i++)
        assert_int_equal(similar_add(similar, 1, NOW - (2 - i) * YEAR, &stack, 1), 0);
    assert_int_equal(similar_add(similar, 2, NOW - 2 * YEAR, &stack, 1), 0);
    struct similar_hit hits[2];
    assert_int_equal(find(hits, 2, similar, "abc"), 2);
    assert_true(hits[0].score == hits[1].score && hits[0].score == hits[0].best);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hits[i].newest_s, hits[i].issue == 1 ? NOW : NOW - 2 * YEAR);
        assert_int_equal(hits[i].heard, hits[i].issue == 1 ? 3 : 1);
    }
}

static void what_is_long_past_comes_later(void **state)
{
    (void)state;
    struct similar_hit hits[] = {{.issue = 1, .score = 0.8}, {.issue = 2, .score = 0.6}, {.issue = 3, .score = 0.5}};
    similar_age(hits, 3, (int64_t[]){2 * (int64_t)YEAR, -YEAR, 0});
    assert_int_equal(hits[0].issue, 2);
    assert_int_equal(hits[1].issue, 3);
    assert_int_equal(hits[2].issue, 1);
    assert_true(hits[0].score == 0.6 && hits[1].score == 0.5);
    assert_float_equal(hits[2].score, 0.8 * exp(-1), 1e-9);
}

/* The definition in similar.h, taken literally: every pair of stacks, every frame. */
struct twin {
    char letters[64][64];
    int count;
};

static void collapse(char *out, const char *letters)
{
    size_t len = 0;
    for (size_t i = 0; letters[i]; i++)
        if (!i || letters[i] != letters[i - 1])
            out[len++] = letters[i];
    out[len] = '\0';
}

static double twin_weight(const struct twin *twin, char letter, size_t position)
{
    int members = 0;
    for (int i = 0; i < twin->count; i++)
        members += strchr(twin->letters[i], letter) != NULL;
    double idf = log(1 + (double)twin->count / (members ? members : 1));
    return idf * idf * exp(-0.1 * (double)position);
}

static double twin_likeness(const struct twin *twin, const char *a, const char *b)
{
    double common = 0, total = log(1 + (double)twin->count) * log(1 + (double)twin->count);
    for (size_t i = 0; a[i]; i++)
        total += twin_weight(twin, a[i], i);
    for (size_t i = 0; b[i]; i++)
        total += twin_weight(twin, b[i], i);
    for (size_t i = 0; a[i]; i++) {
        int nth = 0, seen = 0;
        for (size_t k = 0; k < i; k++)
            nth += a[k] == a[i];
        for (size_t k = 0; b[k]; k++) {
            if (b[k] != a[i] || seen++ != nth)
                continue;
            common +=
                (twin_weight(twin, a[i], i) + twin_weight(twin, b[k], k)) * exp(-0.1 * fabs((double)i - (double)k));
        }
    }
    return common / total;
}

static void scores_agree_with_the_definition(void **state)
{
    struct similar *similar = *state;
    static struct twin twin;
    srand(11);
    for (twin.count = 0; twin.count < 60;) {
        char letters[64];
        int len = 1 + rand() % 20;
        for (int i = 0; i < len; i++)
            letters[i] = (char)('a' + rand() % 16);
        letters[len] = '\0';
        collapse(twin.letters[twin.count], letters);
        add(similar, twin.count++, letters);
        if (twin.count % 10)
            continue;
        int asked = rand() % twin.count;
        struct similar_hit hits[64];
        size_t got = find(hits, 64, similar, twin.letters[asked]);
        assert_int_equal(hits[0].issue == asked || hits[0].best >= hits[1].best, 1);
        for (size_t i = 0; i < got; i++)
            assert_true(fabs(hits[i].best - twin_likeness(&twin, twin.letters[asked], twin.letters[hits[i].issue])) <
                        0.05);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_known_is_nothing_found, with, without),
        cmocka_unit_test_setup_teardown(the_same_stack_comes_first, with, without),
        cmocka_unit_test_setup_teardown(what_everybody_has_counts_little, with, without),
        cmocka_unit_test_setup_teardown(inner_frames_count_more, with, without),
        cmocka_unit_test_setup_teardown(a_function_that_calls_itself_is_one_frame, with, without),
        cmocka_unit_test_setup_teardown(the_best_member_speaks_for_its_issue, with, without),
        cmocka_unit_test(what_is_long_past_comes_later),
        cmocka_unit_test_setup_teardown(scores_agree_with_the_definition, with, without),
    };
    return cmocka_run_group_tests_name("similar", tests, NULL, NULL);
}
