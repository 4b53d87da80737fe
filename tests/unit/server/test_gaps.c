/* Samples without a stack, and hangs that were mostly not sampled. */
#include "support/stacks.h"

static void samples_without_a_stack(struct stacks *s, int count, char loss)
{
    for (int i = 0; i < count; i++) {
        sample(s, 100, 'R', "");
        lacks(s, loss);
    }
}

static void shares_are_of_all_samples(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.duration_ms = 1000;
    for (int i = 0; i < 6; i++)
        sample(s, 100, 'R', LOOP "keysCommand" R);
    samples_without_a_stack(s, 1, 'g');
    samples_without_a_stack(s, 3, 'u');
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "keysCommand");
    assert_string_equal(f.why,
                        "keysCommand holds 60 % of the sampled time (deepest app frame of the path); 4 of 10 samples "
                        "have no stack: the thread did not get a processor in time (3), the thread had ended (1)");
    assert_int_equal(s->doc.verdict.share_ppm, 600000);
    stacks_free(s);
}

/* Two of nine stacks prove nothing about the other seven. */
static void where_most_stacks_are_missing_nobody_is_blamed(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.duration_ms = 1000;
    sample(s, 100, 'S', LOOP "keysCommand" R "read" LIBC);
    sample(s, 100, 'S', LOOP "keysCommand" R "read" LIBC);
    samples_without_a_stack(s, 7, 'b');
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "(no stack)");
    assert_string_equal(f.caller2.function, "thread without a name (the thread blocked every signal)");
    assert_int_equal(f.category, MIRE_CATEGORY_HANG);
    assert_string_equal(f.why, "7 of 9 samples have no stack: the thread blocked every signal (7)");
    assert_false(s->doc.verdict.known);
    stacks_free(s);
}

/* Samples that begin late in a hang, or that a full ring thinned, prove nothing about the rest. */
static void a_verdict_says_how_much_of_the_hang_it_saw(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.duration_ms = 10000;
    sample(s, 900, 'R', LOOP "keysCommand" R);
    struct feature f = find(s);
    assert_string_equal(f.why, "keysCommand holds 100 % of the sampled time (deepest app frame of the path); the "
                               "samples cover 900 of 10000 ms");
    stacks_free(s);
}

/* The key of a hang without stacks, of a thread with that name. */
static struct feature find_stackless(const char *thread, char loss)
{
    struct stacks *s = stacks_new();
    s->doc.thread.name = thread;
    samples_without_a_stack(s, 4, loss);
    samples_without_a_stack(s, 3, 'u');
    struct feature f = find(s);
    f.caller2.function = strdup(f.caller2.function);
    stacks_free(s);
    return f;
}

static void hangs_without_stacks_are_told_apart_by_thread_and_reason(void **state)
{
    (void)state;
    struct feature one = find_stackless("pool-1-worker-17", 'b'), same = find_stackless("pool-23-worker-4", 'b'),
                   other = find_stackless("render", 'b'), why = find_stackless("render", 'f'),
                   chance = find_stackless("render", 'g'), nothing = find_stackless("", 'g');
    assert_string_equal(one.caller2.function, "thread pool-#-worker-# (the thread blocked every signal)");
    assert_memory_equal(one.key, same.key, sizeof one.key);
    assert_memory_not_equal(one.key, other.key, sizeof one.key);
    assert_memory_not_equal(other.key, why.key, sizeof one.key);
    assert_string_equal(chance.caller2.function, "thread render"); /* the cause of missing stacks may change */
    assert_string_equal(nothing.caller2.function, "(no stack)");
    assert_memory_equal(one.blame, why.blame, sizeof one.blame);
    const struct feature *all[] = {&one, &same, &other, &why, &chance, &nothing};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free((void *)(uintptr_t)all[i]->caller2.function);
}

static void no_stack_is_a_feature_of_its_own(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    struct feature none = find(s);
    assert_string_equal(none.caller1.function, "(no stack)");
    assert_int_equal(s->doc.hot.caller1, -1);
    sample(s, 50, 'R', "");
    struct feature empty = find(s);
    assert_memory_equal(none.caller1.function, empty.caller1.function, 10);
    stacks_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_of_all_samples),
        cmocka_unit_test(a_verdict_says_how_much_of_the_hang_it_saw),
        cmocka_unit_test(where_most_stacks_are_missing_nobody_is_blamed),
        cmocka_unit_test(hangs_without_stacks_are_told_apart_by_thread_and_reason),
        cmocka_unit_test(no_stack_is_a_feature_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
