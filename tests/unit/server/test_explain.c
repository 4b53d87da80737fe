/* test_explain.c - explanations of changes: Fisher's test against known values, and generated months with planted causes. */
#include "model/explain.h"
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

#define MONTHS 200
#define MODELS 40
#define TRIED  1000 /* values of all changes of an answer */

/* Devices of the models of one side; every fifth has its hit on each of three days. */
static struct explain_hits hits_of(double mean)
{
    double light = (double)poisson(mean * 0.8), heavy = (double)poisson(mean * 0.2 / 3);

    return (struct explain_hits){light + 3 * heavy, light + 9 * heavy};
}

static const char *const systems[] = {"android 11", "android 12", "android 13", "android 14"};
static const char *const classes[] = {"3gb", "4gb", "8gb"};
static char names[MODELS][16];

struct plan {
    double before, after; /* mean hits of the issue */
    int cause;            /* the model that has the growth; -1: all have their share */
    double drift; /* share of the hits after that the newest model has beyond its own: new versions are on new phones */
};

/* Of the hits of any issue, on a side. */
static double share_of(int model, double drift)
{
    double share = 1.0 / (1 + model), all = 0;

    for (int i = 0; i < MODELS; i++)
        all += 1.0 / (1 + i);
    return share / all * (1 - drift) + (model == MODELS - 1 ? drift : 0);
}

static void add(struct explain_value *to, struct explain_hits before, struct explain_hits after,
                struct explain_hits others)
{
    struct explain_hits *sums[] = {&to->before, &to->after, &to->others};
    struct explain_hits more[] = {before, after, others};

    for (int i = 0; i < 3; i++) {
        sums[i]->hits += more[i].hits;
        sums[i]->hits_sq += more[i].hits_sq;
    }
}

/* An issue in a month: every model runs one system and is of one class. */
static size_t month(struct explain_value *values, struct rate_change *change, const struct plan *plan)
{
    size_t count = 0;
    struct explain_value *of_system = values + MODELS, *of_class = of_system + 4;

    *change = (struct rate_change){.before = {.sessions = 100000}, .after = {.sessions = 100000}};
    memset(values, 0, (MODELS + 7) * sizeof *values);
    for (int m = 0; m < MODELS; m++) {
        double usual = plan->before * share_of(m, plan->drift), now = plan->after * share_of(m, plan->drift);
        if (plan->cause >= 0)
            now = usual + (m == plan->cause ? plan->after - plan->before : 0);
        struct explain_hits before = hits_of(plan->before * share_of(m, 0)), after = hits_of(now);
        struct explain_hits others = hits_of(5000 * share_of(m, plan->drift));
        values[count] = (struct explain_value){EXPLAIN_MODEL, names[m], {0, 0}, {0, 0}, {0, 0}};
        add(&values[count++], before, after, others);
        add(&of_system[m % 4], before, after, others);
        add(&of_class[m % 3], before, after, others);
        change->before.hits += before.hits;
        change->after.hits += after.hits;
    }
    for (int i = 0; i < 4; i++)
        of_system[i].facet = EXPLAIN_SYSTEM, of_system[i].text = systems[i];
    for (int i = 0; i < 3; i++)
        of_class[i].facet = EXPLAIN_CLASS, of_class[i].text = classes[i];
    change->verdict = change->before.hits > 0 ? CHANGE_WORSE : CHANGE_NEW;
    return count + 7;
}

/* Months in which the planted model is named; *wrong: another value is. */
static int months_named(int *wrong, const struct plan *plan)
{
    struct explain_value values[MODELS + 7];
    struct rate_change change;
    int named = 0;

    *wrong = 0;
    for (int i = 0; i < MONTHS; i++) {
        struct explained found;
        seed = (uint64_t)i * 104729 + 5;
        size_t count = month(values, &change, plan);
        explain_change(&found, &change, values, count, TRIED);
        bool right = found.value && plan->cause >= 0 && found.value->facet == EXPLAIN_MODEL &&
                     !strcmp(found.value->text, names[plan->cause]);
        named += right;
        *wrong += found.value && !right;
    }
    return named;
}

static void fishers_test_is_right(void **state)
{
    (void)state;
    /* The lady tasting tea: 4 of 4, and 3 or more of 4, of 8 cups (Fisher 1935). */
    assert_true(fabs(explain_fisher(4, 4, 0, 4) - 1.0 / 70) < 1e-12);
    assert_true(fabs(explain_fisher(3, 4, 1, 4) - 17.0 / 70) < 1e-12);
    assert_true(fabs(explain_fisher(0, 10, 5, 10) - 1) < 1e-9);
    assert_true(explain_fisher(90, 100, 400, 10000) < 1e-60);
    assert_true(explain_fisher(0, 0, 0, 0) == 1);
}

static void a_planted_cause_is_named(void **state)
{
    (void)state;
    static const struct plan plans[] = {{0, 60, 2, 0},    {0, 60, 20, 0},     {0, 200, 20, 0.3},     {200, 300, 20, 0},
                                        {200, 300, 2, 0}, {60, 180, 20, 0.3}, {2000, 3000, 20, 0.3}, {100, 300, 39, 0}};

    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        int wrong, named = months_named(&wrong, &plans[i]);
        print_message(
            "%4.0f -> %4.0f hits by model %2d, %2.0f %% on new phones: named in %3d, another in %d of %d months\n",
            plans[i].before, plans[i].after, plans[i].cause, 100 * plans[i].drift, named, wrong, MONTHS);
        assert_in_range(named, MONTHS * 95 / 100, MONTHS);
        assert_in_range(wrong, 0, MONTHS / 20);
    }
}

static void without_a_cause_none_is_named(void **state)
{
    (void)state;
    static const struct plan plans[] = {{0, 60, -1, 0},       {0, 300, -1, 0.3},   {0, 300, -1, 0.6},
                                        {200, 300, -1, 0},    {200, 300, -1, 0.3}, {200, 600, -1, 0.6},
                                        {2000, 3000, -1, 0.3}};

    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        int wrong, named = months_named(&wrong, &plans[i]);
        print_message("%4.0f -> %4.0f hits by all, %2.0f %% on new phones: a cause is named in %d of %d months\n",
                      plans[i].before, plans[i].after, 100 * plans[i].drift, wrong, MONTHS);
        assert_int_equal(named, 0);
        assert_in_range(wrong, 0, MONTHS / 20);
    }
}

/* One phone that hangs all day explains nothing; nor does a value without a name, or one that all have. */
static void one_device_explains_nothing(void **state)
{
    (void)state;
    struct rate_change change = {
        .before = {.sessions = 1000}, .after = {.sessions = 1000, .hits = 110}, .verdict = CHANGE_NEW};
    struct explain_value values[] = {{EXPLAIN_MODEL, "a", {0, 0}, {100, 10000}, {30, 30}},
                                     {EXPLAIN_MODEL, "b", {0, 0}, {10, 10}, {1000, 1000}}};
    struct explained found;

    explain_change(&found, &change, values, 2, 2);
    assert_null(found.value);
    values[0].after.hits_sq = 100;
    explain_change(&found, &change, values, 2, 2);
    assert_ptr_equal(found.value, &values[0]);
    assert_true(fabs(found.share - 100.0 / 110) < 1e-9 && fabs(found.of_others - 30.0 / 1030) < 1e-9);
    values[0].text = "";
    explain_change(&found, &change, values, 2, 2);
    assert_null(found.value);
    values[0].text = "a";
    values[0].others = (struct explain_hits){1000, 1000};
    explain_change(&found, &change, values, 2, 2);
    assert_null(found.value);
    explain_change(&found, &change, values, 0, 0);
    assert_null(found.value);
}

/* All that vanished was of one class: the sides are exchanged. */
static void a_change_for_the_better_is_explained_too(void **state)
{
    (void)state;
    struct rate_change change = {
        .before = {.sessions = 1000, .hits = 110}, .after = {.sessions = 1000, .hits = 12}, .verdict = CHANGE_BETTER};
    struct explain_value values[] = {{EXPLAIN_CLASS, "3gb", {100, 100}, {2, 2}, {30, 30}},
                                     {EXPLAIN_CLASS, "8gb", {10, 10}, {10, 10}, {1000, 1000}}};
    struct explained found;

    explain_change(&found, &change, values, 2, 2);
    assert_ptr_equal(found.value, &values[0]);
    change.verdict = CHANGE_GONE;
    values[0].after = values[1].after = (struct explain_hits){0, 0};
    explain_change(&found, &change, values, 2, 2);
    assert_ptr_equal(found.value, &values[0]);
}

int main(void)
{
    for (int m = 0; m < MODELS; m++)
        snprintf(names[m], sizeof names[m], "model %d", m);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fishers_test_is_right),
        cmocka_unit_test(a_planted_cause_is_named),
        cmocka_unit_test(without_a_cause_none_is_named),
        cmocka_unit_test(one_device_explains_nothing),
        cmocka_unit_test(a_change_for_the_better_is_explained_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
