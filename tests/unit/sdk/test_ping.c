/*
 * test_ping.c - the odds of the ping watchdog on simulated time, compared with the formula of mire/ping.h, and the
 * words that the loop's thread writes.
 *
 * A trial is a loop that answers at once, except for one hang of length x at a random instant. The code under test
 * decides when tokens are posted and checked, as on the check thread: it sleeps until mire__ping_next_ns, or until an
 * answer that wakes it.
 */
#include "gate/ping.h"
#include "platform/platform.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define TRIALS 20000

static uint64_t seed;

/* xorshift64* */
static uint64_t random_below(uint64_t end)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (uint64_t)((unsigned __int128)(seed * 0x2545f4914f6cdd1dull) * end >> 64);
}

static int seeded(void **state)
{
    const char *given = getenv("MIRE_TEST_SEED");

    (void)state;
    seed = given ? strtoull(given, NULL, 10) : mire__now_ns() | 1;
    print_message("MIRE_TEST_SEED=%llu\n", (unsigned long long)seed);
    return 0;
}

struct trial {
    uint64_t interval_ns, patience_ns, threshold_ns, hang_ns; /* the last: x */
    uint64_t latency_ns;                                      /* longest time of the loop for a token */
};

struct outcome {
    uint64_t age_ns, slack_ns; /* of the token that waited longest */
    uint64_t begin_ns, posted_ns;
    unsigned wakeups;
};

static uint64_t answer_of(const struct trial *trial, uint64_t begin_ns, uint64_t posted_ns)
{
    uint64_t at_ns = posted_ns + (trial->latency_ns ? random_below(trial->latency_ns) : 0);

    return at_ns >= begin_ns && at_ns < begin_ns + trial->hang_ns ? begin_ns + trial->hang_ns : at_ns;
}

static struct outcome run(const struct trial *trial)
{
    uint64_t start_ns = 1 + random_below(MIRE_NS_PER_S), now_ns = start_ns, answer_ns = UINT64_MAX;
    struct outcome out = {.begin_ns = start_ns + 10 * trial->interval_ns + random_below(trial->interval_ns)};
    struct ping_answer answer = {0};
    uint64_t token = 0, count = 0;
    struct ping ping;

    mire__ping_init(&ping, trial->interval_ns, now_ns);
    while (now_ns < out.begin_ns + trial->hang_ns + 3 * trial->interval_ns + trial->patience_ns) {
        if (token != answer.token && answer_ns <= now_ns)
            answer = (struct ping_answer){.token = token, .at_ns = answer_ns};
        if (mire__ping_see(&ping, &answer) && mire__ping_age_ns(&ping, now_ns) > out.age_ns) {
            out.age_ns = mire__ping_age_ns(&ping, now_ns);
            out.slack_ns = mire__ping_slack_ns(&ping);
            out.posted_ns = ping.posted_ns;
        }
        if (mire__ping_is_due(&ping, now_ns)) {
            token = ++count;
            mire__ping_posted(&ping, token, true, now_ns);
            answer_ns = answer_of(trial, out.begin_ns, now_ns);
        }
        uint64_t next_ns = mire__ping_next_ns(&ping, trial->patience_ns, now_ns);
        bool asked = mire__ping_is_slow(&ping, trial->patience_ns, now_ns);

        now_ns = asked && answer_ns < next_ns ? answer_ns : next_ns;
        out.wakeups++;
    }
    return out;
}

/* P(x) of mire/ping.h */
static double formula(const struct trial *trial)
{
    double odds = ((double)trial->hang_ns - (double)trial->threshold_ns) / (double)trial->interval_ns;

    return odds < 0 ? 0 : odds > 1 ? 1 : odds;
}

static double share_caught(const struct trial *trial)
{
    unsigned caught = 0;

    for (unsigned i = 0; i < TRIALS; i++)
        caught += run(trial).age_ns >= trial->threshold_ns;
    return (double)caught / TRIALS;
}

/* Within five standard deviations, which one run in two million exceeds by chance. Exact where the formula is 0 or
 * 1. */
static void assert_formula(const struct trial *trial)
{
    double expected = formula(trial), found = share_caught(trial);
    double bound = 5 * sqrt(expected * (1 - expected) / TRIALS);

    if (fabs(found - expected) > bound)
        fail_msg("a %g s, T %g s, x %g s: caught %.4f, formula %.4f +- %.4f", (double)trial->interval_ns / 1e9,
                 (double)trial->threshold_ns / 1e9, (double)trial->hang_ns / 1e9, found, expected, bound);
}

#define MS(value) ((uint64_t)(value)*MIRE_NS_PER_MS)

static void hangs_are_caught_with_the_odds_that_are_documented(void **state)
{
    (void)state;
    const uint64_t intervals_ms[] = {100, 500, 1000, 2000, 4500};
    const double lengths[] = {0.5, 0.99, 1.01, 1.1, 1.25, 1.5, 2.0, 2.01, 3.3, 4.0};

    for (size_t i = 0; i < MIRE_COUNT(intervals_ms); i++) {
        for (size_t k = 0; k < MIRE_COUNT(lengths); k++) {
            struct trial trial = {
                .interval_ns = MS(intervals_ms[i]), .threshold_ns = MS(2000), .patience_ns = MS(1000)};

            trial.hang_ns = (uint64_t)(lengths[k] * (double)trial.threshold_ns);
            assert_formula(&trial);
        }
    }
}

/* The published examples: every 4.5 s and a lag of 5 s, 5 and 8 s, 2 s and 7 s where three looks must fail. */
static void where_interval_and_threshold_are_one_the_odds_are_the_known_ones(void **state)
{
    (void)state;
    struct trial wechat = {
        .interval_ns = MS(4500), .threshold_ns = MS(4500), .patience_ns = MS(4500), .hang_ns = MS(5000)};
    struct trial dog = {
        .interval_ns = MS(5000), .threshold_ns = MS(5000), .patience_ns = MS(5000), .hang_ns = MS(8000)};
    struct trial thrice = {
        .interval_ns = MS(2000), .threshold_ns = MS(6000), .patience_ns = MS(6000), .hang_ns = MS(7000)};

    assert_float_equal(formula(&wechat), 1.0 / 9, 1e-9);
    assert_float_equal(formula(&dog), 0.6, 1e-9);
    assert_float_equal(formula(&thrice), 0.5, 1e-9);
    assert_formula(&wechat);
    assert_formula(&dog);
    assert_formula(&thrice);
}

static void a_hang_begins_between_the_last_answer_and_the_post(void **state)
{
    (void)state;
    struct trial trial = {.interval_ns = MS(500),
                          .threshold_ns = MS(2000),
                          .patience_ns = MS(1000),
                          .hang_ns = MS(2600),
                          .latency_ns = MS(5)};

    for (unsigned i = 0; i < TRIALS; i++) {
        struct outcome out = run(&trial);

        assert_true(out.age_ns >= trial.threshold_ns);
        assert_true(out.posted_ns - out.slack_ns <= out.begin_ns);
        assert_true(out.begin_ns <= out.posted_ns + trial.latency_ns);
        assert_true(out.slack_ns <= trial.interval_ns);
        assert_true(out.age_ns <= trial.hang_ns + trial.latency_ns);
        assert_true(out.age_ns + out.slack_ns >= trial.hang_ns);
    }
}

static void a_loop_that_answers_costs_one_wake_up_an_interval(void **state)
{
    (void)state;
    struct trial trial = {.interval_ns = MS(500), .threshold_ns = MS(2000), .patience_ns = MS(1000), .hang_ns = 0};

    trial.hang_ns = 1; /* as good as none */
    assert_in_range(run(&trial).wakeups, 14, 16);
}

static void time_in_which_the_process_stood_still_does_not_count(void **state)
{
    (void)state;
    struct ping ping;

    mire__ping_init(&ping, MS(500), MS(1000));
    mire__ping_excuse(&ping, MS(9000)); /* no token is outstanding */
    mire__ping_posted(&ping, 1, true, MS(1000));
    mire__ping_excuse(&ping, MS(3000));
    assert_int_equal(mire__ping_age_ns(&ping, MS(4100)), MS(100));
    assert_int_equal(mire__ping_next_ns(&ping, MS(1000), MS(4100)), MS(5000));
    assert_true(mire__ping_see(&ping, &(struct ping_answer){.token = 1, .at_ns = MS(4200)}));
    assert_int_equal(mire__ping_age_ns(&ping, MS(9999)), MS(200));
}

static void a_post_that_failed_is_nobodys_hang(void **state)
{
    (void)state;
    struct ping ping;

    mire__ping_init(&ping, MS(500), MS(1000));
    mire__ping_posted(&ping, 1, false, MS(1000));
    assert_int_equal(mire__ping_age_ns(&ping, MS(9000)), 0);
    assert_false(mire__ping_is_due(&ping, MS(1499)));
    assert_true(mire__ping_is_due(&ping, MS(1500)));
    mire__ping_posted(&ping, 2, true, MS(1500));
    assert_int_equal(mire__ping_slack_ns(&ping), MS(500));
    assert_false(mire__ping_see(&ping, &(struct ping_answer){.token = 1, .at_ns = MS(1600)}));
    assert_false(mire__ping_is_due(&ping, MS(9000)));
}

/* A fast loop may answer before post has returned. */
static void an_answer_may_be_older_than_the_post(void **state)
{
    (void)state;
    struct ping ping;

    mire__ping_init(&ping, MS(500), MS(1000));
    mire__ping_posted(&ping, 1, true, MS(1001));
    assert_true(mire__ping_see(&ping, &(struct ping_answer){.token = 1, .at_ns = MS(1000)}));
    assert_int_equal(mire__ping_age_ns(&ping, MS(5000)), 0);
}

static void only_the_token_waited_for_counts(void **state)
{
    (void)state;
    static _Atomic uint32_t wake;
    struct ping_words words = {.wake = &wake};
    struct ping_answer answer;

    assert_false(mire__ping_words_as_answer(&words, 0, 5));
    assert_false(mire__ping_words_as_answer(&words, 7, 5));
    mire__ping_words_expect(&words, 7);
    assert_false(mire__ping_words_as_answer(&words, 6, 5));
    assert_true(mire__ping_words_as_answer(&words, 7, 5));
    assert_false(mire__ping_words_as_answer(&words, 7, 6));
    mire__ping_words_read(&answer, &words);
    assert_int_equal(answer.token, 7);
    assert_int_equal(answer.at_ns, 5);
    assert_int_equal(wake, 0);
    assert_false(mire__ping_words_ask(&words)); /* it is there */
    mire__ping_words_expect(&words, 8);
    assert_true(mire__ping_words_ask(&words));
    assert_true(mire__ping_words_as_answer(&words, 8, 9));
    assert_int_equal(wake, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(hangs_are_caught_with_the_odds_that_are_documented, seeded),
        cmocka_unit_test_setup(where_interval_and_threshold_are_one_the_odds_are_the_known_ones, seeded),
        cmocka_unit_test_setup(a_hang_begins_between_the_last_answer_and_the_post, seeded),
        cmocka_unit_test_setup(a_loop_that_answers_costs_one_wake_up_an_interval, seeded),
        cmocka_unit_test(time_in_which_the_process_stood_still_does_not_count),
        cmocka_unit_test(a_post_that_failed_is_nobodys_hang),
        cmocka_unit_test(an_answer_may_be_older_than_the_post),
        cmocka_unit_test(only_the_token_waited_for_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
