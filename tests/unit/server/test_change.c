/* test_change.c - comparing two rates, and telling changes from chance: against known values, and on generated months. */
#include "model/change.h"
#include "support/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#define MONTHS 200
#define ISSUES 80

#define HEAVY_SHARE 0.5 /* of the hits are of devices that have one on each third day */
#define HEAVY_DAILY 0.3

static void add_devices(struct change_side *side, int64_t count, double hits, double p)
{
    side->devices += count;
    side->reports += count * (int64_t)hits;
    side->hits += (double)count * hits / p;
    side->hits_sq += (double)count * hits / p * hits / p;
}

/* What a server would know of one issue in `sessions` sessions, spread over `days`, of which the share p is sampled. */
static struct change_side side_of(double per_session, double sessions, int days, double p)
{
    struct change_side side = {.sessions = (double)poisson(sessions * p) / p};
    double hits = per_session * sessions * p;
    int64_t light = poisson(hits * (1 - HEAVY_SHARE)), heavy = poisson(hits * HEAVY_SHARE / HEAVY_DAILY / days);

    side.sessions_sq = side.sessions / p;
    add_devices(&side, light, 1, p);
    for (int64_t i = 0; i < heavy; i++) {
        int count = 0;
        for (int day = 0; day < days; day++)
            count += uniform() < HEAVY_DAILY;
        if (count > 0)
            add_devices(&side, 1, count, p);
    }
    return side;
}

struct plan {
    double sessions; /* of the version after, spread over days */
    int days;
    double p;
    double planted; /* hits a session of issue 3 before; 0: as the others */
    double times;   /* more of them after */
};

/* Issues of very different size, the largest in 2 of 100 sessions, held against four weeks of the version before. */
static void month(struct rate_change changes[ISSUES], const struct plan *plan)
{
    for (int i = 0; i < ISSUES; i++) {
        double rate = i == 3 && plan->planted > 0 ? plan->planted : 0.02 / (1 + i);
        changes[i] = (struct rate_change){
            .before = side_of(rate, 1400000, 28, plan->p),
            .after = side_of(i == 3 ? rate * plan->times : rate, plan->sessions, plan->days, plan->p)};
    }
}

static int given(const struct rate_change changes[ISSUES])
{
    int count = 0;
    for (int i = 0; i < ISSUES; i++)
        count += changes[i].verdict > CHANGE_SAME;
    return count;
}

static void the_beta_distribution_is_right(void **state)
{
    (void)state;
    /* I_x(a, b) in closed form: x^a for b = 1; 1 - (1 - x)^b for a = 1; the binomial tail for whole numbers */
    assert_true(fabs(change_beta(0.3, 4, 1) - pow(0.3, 4)) < 1e-12);
    assert_true(fabs(change_beta(0.9, 1, 7.5) - (1 - pow(0.1, 7.5))) < 1e-12);
    assert_true(fabs(change_beta(0.5, 20, 11) - 0.0493685733526945) < 1e-12); /* P(X >= 20), X of 30 coins */
    assert_true(fabs(change_beta(0.4, 2000.5, 3000.5) - 0.5) < 0.01);
    assert_true(change_beta(0, 2, 3) == 0 && change_beta(1, 2, 3) == 1);
}

static void a_ratio_has_its_interval(void **state)
{
    (void)state;
    struct rate_change change = {
        .before = {.reports = 100, .devices = 100, .hits = 100, .hits_sq = 100, .sessions = 10000, .sessions_sq = 0},
        .after = {.reports = 300, .devices = 300, .hits = 300, .hits_sq = 300, .sessions = 10000, .sessions_sq = 0}};

    change_compare(&change);
    assert_true(fabs(change.ratio - 3) < 1e-9);
    assert_true(change.low > 2.3 && change.low < 2.45 && change.high > 3.7 && change.high < 3.9);
    assert_true(change.p < 1e-12);
    change.before = (struct change_side){.sessions = 10000};
    change_compare(&change);
    assert_true(isinf(change.ratio) && isinf(change.high) && change.low > 50);
    change.after.sessions = 0;
    change_compare(&change);
    assert_true(change.p == 1);
}

/* A device that hangs three hundred times is one device. */
static void one_device_is_no_regression(void **state)
{
    (void)state;
    struct arena arena;
    struct rate_change change = {
        .before = {.sessions = 50000, .sessions_sq = 50000},
        .after = {
            .reports = 300, .devices = 1, .hits = 300, .hits_sq = 90000, .sessions = 50000, .sessions_sq = 50000}};

    arena_init(&arena, 1 << 20);
    assert_int_equal(change_judge(&arena, &change, 1), 0);
    assert_int_equal(change.verdict, CHANGE_SAME);
    change.after.devices = 300;
    change.after.hits_sq = 300;
    assert_int_equal(change_judge(&arena, &change, 1), 0);
    assert_int_equal(change.verdict, CHANGE_NEW);
    change.after.reports = 29;
    assert_int_equal(change_judge(&arena, &change, 1), 0);
    assert_int_equal(change.verdict, CHANGE_FEW);
    arena_fini(&arena);
}

/* In how many of the months something is told; `found`: the planted one is, and is the surest. */
static int months_told(const struct plan *plan, bool found)
{
    struct arena arena;
    int months = 0;

    arena_init(&arena, 1 << 20);
    for (int i = 0; i < MONTHS; i++) {
        struct rate_change changes[ISSUES];
        seed = (uint64_t)i * 7919 + 1;
        month(changes, plan);
        assert_int_equal(change_judge(&arena, changes, ISSUES), 0);
        bool top = changes[3].verdict == CHANGE_WORSE;
        for (int k = 0; k < ISSUES && top; k++)
            top = k == 3 || changes[k].p > changes[3].p;
        months += found ? top : given(changes) > 0;
        arena_reset(&arena);
    }
    arena_fini(&arena);
    return months;
}

static void an_unchanged_month_shows_no_change(void **state)
{
    (void)state;
    static const struct plan plans[] = {{700000, 14, 1, 0, 1}, {700000, 14, 0.02, 0, 1}, {100000, 2, 0.02, 0, 1},
                                        {100000, 2, 1, 0, 1},  {20000, 1, 1, 0, 1},      {4000, 1, 1, 0, 1}};

    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        int months = months_told(&plans[i], false);
        print_message("%6.0f sessions in %2d days, %3.0f %% sampled: a change is told in %d of %d unchanged months\n",
                      plans[i].sessions, plans[i].days, plans[i].p * 100, months, MONTHS);
        assert_in_range(months, 0, MONTHS / 20);
    }
}

static void a_planted_regression_is_on_top(void **state)
{
    (void)state;
    static const struct plan plans[] = {{2000, 1, 1, 0.1, 1.5},    {6000, 1, 1, 0.02, 1.5}, {20000, 1, 1, 0.02, 1.5},
                                        {20000, 1, 1, 0.005, 1.5}, {2000, 1, 1, 0.02, 3},   {6000, 1, 1, 0.005, 3}};
    static const int least[] = {MONTHS * 9 / 10, 0, MONTHS * 19 / 20, 0, MONTHS * 19 / 20, MONTHS * 19 / 20};

    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        int months = months_told(&plans[i], true);
        print_message(
            "%3.0f hits per 1,000 sessions before; after %5.0f sessions x%.1f is on top in %3d of %d months\n",
            plans[i].planted * 1000, plans[i].sessions, plans[i].times, months, MONTHS);
        assert_true(months >= least[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_beta_distribution_is_right), cmocka_unit_test(a_ratio_has_its_interval),
        cmocka_unit_test(one_device_is_no_regression),    cmocka_unit_test(an_unchanged_month_shows_no_change),
        cmocka_unit_test(a_planted_regression_is_on_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
