/* test_alert.c - when a condition holds and when it is told: against known values, on generated months, and step by step. */
#include "model/alert.h"
#include "support/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MONTHS   200
#define DAYS     30
#define VERSIONS 3
#define MINUTE   60000000ll

/* How many of n sessions hang. */
static double binomial(double n, double p)
{
    if (n * p > 30)
        return normal(n * p, sqrt(n * p * (1 - p)));
    double count = 0;
    for (int i = 0; i < (int)n; i++)
        count += uniform() < p;
    return count;
}

/* Days of one version, as the default rule sees them: the rate of each day against the week before it, of all versions. */
static void month(struct alert_point out[DAYS], double sessions, double wobble, double factor, int from_day,
                  double factor_bound)
{
    double hung[DAYS + 7];

    for (int d = 0; d < DAYS + 7; d++) {
        double rate = 0.02 * exp(wobble * (uniform() + uniform() + uniform() - 1.5));
        hung[d] = binomial(sessions, d >= from_day + 7 ? rate * factor : rate);
    }
    for (int d = 0; d < DAYS; d++) {
        double week = 0;
        for (int k = d; k < d + 7; k++)
            week += hung[k];
        struct rate before = rate_share(week, 7 * sessions, 7 * sessions),
                    day = rate_share(hung[d + 7], sessions, sessions);
        out[d] =
            (struct alert_point){.subject = "v", .at_s = d * 86400, .rate = day, .bound = factor_bound * before.high};
    }
}

/* Months in which any of three versions would have fired. */
static int false_months(double sessions, double wobble)
{
    int months = 0;

    seed = 1;
    for (int m = 0; m < MONTHS; m++) {
        size_t times = 0;
        for (int v = 0; v < VERSIONS; v++) {
            struct alert_point points[DAYS];
            bool fired[DAYS];
            month(points, sessions, wobble, 1, DAYS, 1.25);
            times += alert_replay(fired, ALERT_RATE, points, DAYS);
        }
        months += times > 0;
    }
    return months;
}

/* Months in which a rate that grows by `factor` on day 20 fires on that day. */
static int found_months(double sessions, double factor)
{
    int months = 0;

    seed = 2;
    for (int m = 0; m < MONTHS; m++) {
        struct alert_point points[DAYS];
        bool fired[DAYS];
        month(points, sessions, 0.1, factor, 20, 1.25);
        (void)alert_replay(fired, ALERT_RATE, points, DAYS);
        months += fired[20];
    }
    return months;
}

/* docs/alerts.md has these figures. */
static void the_default_rule_is_silent_on_an_unchanged_month_and_finds_a_change(void **state)
{
    (void)state;
    int silent[] = {false_months(100000, 0.1), false_months(2000, 0.1), false_months(200, 0.1)};
    int found[] = {found_months(100000, 1.5), found_months(20000, 1.5), found_months(2000, 2)};
    print_message("false %d %d %d, found %d %d %d\n", silent[0], silent[1], silent[2], found[0], found[1], found[2]);
    assert_in_range(silent[0], 0, 2);
    assert_in_range(silent[1], 0, 4);
    assert_in_range(silent[2], 0, 30);
    assert_in_range(found[0], 190, MONTHS);
    assert_in_range(found[1], 150, MONTHS);
    assert_in_range(found[2], 150, MONTHS);
}

static struct alert_point point_of(double low, double value, double high, double bound)
{
    return (struct alert_point){.subject = "", .rate = {true, value, low, high}, .bound = bound};
}

static void the_interval_must_be_clear_of_the_bound(void **state)
{
    (void)state;
    struct alert_point above = point_of(2.6, 3, 3.4, 2.5), holds_it = point_of(2.4, 3, 3.6, 2.5),
                       below = point_of(1, 2, 2.5, 2.5);
    struct alert_point nothing = {.subject = "", .bound = 2.5}, no_bound = point_of(2, 3, 4, 0);
    assert_int_equal(alert_judge(ALERT_RATE, &above), ALERT_HOLDS);
    assert_int_equal(alert_judge(ALERT_RATE, &holds_it), ALERT_UNKNOWN);
    assert_int_equal(alert_judge(ALERT_RATE, &below), ALERT_CLEAR);
    assert_int_equal(alert_judge(ALERT_RATE, &nothing), ALERT_UNKNOWN);
    assert_int_equal(alert_judge(ALERT_RATE, &no_bound), ALERT_UNKNOWN);
    assert_int_equal(alert_judge(ALERT_SILENCE, &above), ALERT_CLEAR);
    assert_int_equal(alert_judge(ALERT_SILENCE, &below), ALERT_UNKNOWN);
    struct alert_point silent = point_of(0, 0, 2.4, 2.5);
    assert_int_equal(alert_judge(ALERT_SILENCE, &silent), ALERT_HOLDS);
}

/* Nothing is told twice, and an interval that holds the bound changes nothing. */
static void an_alert_is_told_once_repeated_and_escalated(void **state)
{
    (void)state;
    struct alert_rule rule = {.hold_s = 120, .repeat_s = 3600, .escalate_s = 1800};
    struct alert_state s = {0};
    int64_t t = 1000 * MINUTE;
    assert_int_equal(alert_step(&s, &rule, ALERT_CLEAR, false, t), 0);
    assert_int_equal(s.began_us, 0);
    assert_int_equal(alert_step(&s, &rule, ALERT_HOLDS, false, t), 0);
    assert_int_equal(alert_step(&s, &rule, ALERT_UNKNOWN, false, t + MINUTE), 0);
    assert_int_equal(alert_step(&s, &rule, ALERT_HOLDS, false, t + 2 * MINUTE), ALERT_NOTIFY_FIRED);
    assert_int_equal(alert_step(&s, &rule, ALERT_HOLDS, false, t + 3 * MINUTE), 0);
    assert_int_equal(alert_step(&s, &rule, ALERT_UNKNOWN, false, t + 32 * MINUTE), ALERT_NOTIFY_ESCALATED);
    assert_int_equal(alert_step(&s, &rule, ALERT_HOLDS, false, t + 33 * MINUTE), 0);
    assert_int_equal(alert_step(&s, &rule, ALERT_HOLDS, false, t + 62 * MINUTE), ALERT_NOTIFY_AGAIN);
    s.acked_us = t + 63 * MINUTE;
    assert_int_equal(alert_step(&s, &rule, ALERT_HOLDS, false, t + 600 * MINUTE), 0);
    assert_int_equal(alert_step(&s, &rule, ALERT_CLEAR, false, t + 601 * MINUTE), ALERT_NOTIFY_OVER);
    assert_int_equal(alert_step(&s, &rule, ALERT_HOLDS, false, t + 602 * MINUTE), 0);
}

static void what_nobody_was_told_has_no_end_to_tell(void **state)
{
    (void)state;
    struct alert_rule rule = {.repeat_s = 3600};
    struct alert_state night = {0}, day = {0}, acked = {0};
    assert_int_equal(alert_step(&night, &rule, ALERT_HOLDS, true, MINUTE), 0);
    assert_int_equal(night.fired_us, MINUTE);
    assert_int_equal(alert_step(&night, &rule, ALERT_CLEAR, true, 2 * MINUTE), 0);
    assert_int_equal(alert_step(&day, &rule, ALERT_HOLDS, true, MINUTE), 0);
    assert_int_equal(alert_step(&day, &rule, ALERT_HOLDS, false, 9 * MINUTE), ALERT_NOTIFY_FIRED);
    assert_int_equal(alert_step(&acked, &rule, ALERT_HOLDS, true, MINUTE), 0);
    acked.acked_us = 2 * MINUTE; /* on its page, at night */
    assert_int_equal(alert_step(&acked, &rule, ALERT_HOLDS, false, 9 * MINUTE), 0);
}

static void quiet_hours_may_go_over_midnight(void **state)
{
    (void)state;
    struct alert_rule none = {.quiet_from = -1, .quiet_to = -1}, night = {.quiet_from = 22 * 60, .quiet_to = 8 * 60},
                      noon = {.quiet_from = 12 * 60, .quiet_to = 13 * 60}, never = {.quiet_from = 60, .quiet_to = 60};
    assert_false(alert_is_quiet(&none, 0));
    assert_true(alert_is_quiet(&night, 22 * 60));
    assert_true(alert_is_quiet(&night, 0));
    assert_true(alert_is_quiet(&night, 8 * 60 - 1));
    assert_false(alert_is_quiet(&night, 8 * 60));
    assert_true(alert_is_quiet(&noon, 12 * 60 + 30));
    assert_false(alert_is_quiet(&noon, 13 * 60));
    assert_false(alert_is_quiet(&never, 60));
}

/* Garwood's intervals, as tables have them: 0 is 0 to 3.69, 10 is 4.80 to 18.39, 100 is 81.4 to 121.6. */
static void counts_have_exact_intervals(void **state)
{
    (void)state;
    assert_true(alert_count(0).low == 0 && fabs(alert_count(0).high - 3.689) < 0.01);
    assert_true(fabs(alert_count(10).low - 4.795) < 0.01 && fabs(alert_count(10).high - 18.39) < 0.01);
    assert_true(fabs(alert_count(99).low - 80.46) < 0.1 && fabs(alert_count(99).high - 120.5) < 0.2);
    assert_true(fabs(alert_count(100).low - 81.36) < 0.7 && fabs(alert_count(100).high - 121.6) < 0.7);
    struct rate all = alert_devices(5, 0, 5), sampled = alert_devices(5000, 5 * 1000.0 * 999, 5);
    assert_true(all.low == 5 && all.high == 5);
    assert_true(sampled.low < 1000 && sampled.low >= 5 && sampled.high > 9000);
    struct rate grown = alert_growth(40, 70, 7), same = alert_growth(10, 70, 7), fresh = alert_growth(30, 0, 7);
    assert_true(fabs(grown.value - 4) < 1e-9 && grown.low > 2.5 && grown.high < 6.5);
    assert_true(same.low < 1 && same.high > 1);
    assert_true(fresh.low > 10);
    assert_false(alert_growth(0, 0, 7).known);
}

static void a_line_of_values_is_as_high_as_they_are(void **state)
{
    (void)state;
    char spark[MIRE_SPARK_BYTES];
    alert_spark(spark, (const double[]){0, 1, 2, -1, 8}, 5);
    assert_string_equal(spark, "▁▂▃ █");
    double many[MIRE_SPARK_PARTS + 5];
    for (size_t i = 0; i < MIRE_SPARK_PARTS + 5; i++)
        many[i] = 1;
    alert_spark(spark, many, MIRE_SPARK_PARTS + 5);
    assert_int_equal(strlen(spark), 3 * MIRE_SPARK_PARTS);
    alert_spark(spark, (const double[]){0, 0}, 2);
    assert_string_equal(spark, "▁▁");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_rule_is_silent_on_an_unchanged_month_and_finds_a_change),
        cmocka_unit_test(the_interval_must_be_clear_of_the_bound),
        cmocka_unit_test(an_alert_is_told_once_repeated_and_escalated),
        cmocka_unit_test(what_nobody_was_told_has_no_end_to_tell),
        cmocka_unit_test(quiet_hours_may_go_over_midnight),
        cmocka_unit_test(counts_have_exact_intervals),
        cmocka_unit_test(a_line_of_values_is_as_high_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
