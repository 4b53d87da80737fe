/* Clusters, and the rows added for an event. */
#include "aggregate/aggregate.h"
#include "cluster/cluster.h"
#include "support/issues.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#define HOUR_US 3600000000ll

static void one_feature_is_one_issue_in_an_app(void **state)
{
    (void)state;
    struct issues issues = {0};
    const struct cluster_index index = issues_index(&issues);
    struct issue_row row = {.app_id = 1, .feature_key = {1}};
    int64_t first, again, other_app, other_feature;
    assert_int_equal(cluster_assign(&first, &index, &row), MIRE_CLUSTER_NEW);
    assert_int_equal(cluster_assign(&again, &index, &row), MIRE_CLUSTER_KNOWN);
    assert_int_equal(first, again);
    row.app_id = 2;
    assert_int_equal(cluster_assign(&other_app, &index, &row), MIRE_CLUSTER_NEW);
    row.feature_key[15] = 1;
    assert_int_equal(cluster_assign(&other_feature, &index, &row), MIRE_CLUSTER_NEW);
    assert_int_equal(issues.count, 3);
}

static void a_fault_of_the_index_goes_up(void **state)
{
    (void)state;
    struct issues issues = {.fault = -3};
    const struct cluster_index index = issues_index(&issues);
    struct issue_row row = {.app_id = 1};
    int64_t id;
    assert_int_equal(cluster_assign(&id, &index, &row), -3);
    assert_int_equal(issues.count, 0);
}

static int64_t open_scene(struct issues *issues, uint8_t scene, bool joins)
{
    const struct cluster_index index = issues_index(issues);
    struct issue_row row = {.app_id = 1, .feature_key = {7, scene}, .blame_key = {7}, .joins = joins};
    int64_t id;
    assert_true(cluster_assign(&id, &index, &row) > 0);
    return issues->shown[id - 1];
}

static void the_first_scenes_of_a_caller1_are_shown_as_one(void **state)
{
    (void)state;
    struct issues issues = {0};
    for (uint8_t scene = 0; scene < MIRE_CLUSTER_SCENES; scene++)
        assert_int_equal(open_scene(&issues, scene, true), 1);
    for (uint8_t scene = MIRE_CLUSTER_SCENES; scene < 9; scene++)
        assert_int_equal(open_scene(&issues, scene, true), scene + 1);
    for (uint8_t scene = 0; scene < 9; scene++) /* again: the results are stable */
        assert_int_equal(open_scene(&issues, scene, true), scene < MIRE_CLUSTER_SCENES ? 1 : scene + 1);
    assert_int_equal(issues.count, 9);
}

static void a_scene_with_a_name_is_an_issue_of_its_own(void **state)
{
    (void)state;
    struct issues issues = {0};
    assert_int_equal(open_scene(&issues, 1, true), 1);
    assert_int_equal(open_scene(&issues, 2, false), 2);
    assert_int_equal(open_scene(&issues, 3, true), 1);
}

/* Compared with a linear list: random features, few enough to recur. */
static void assignments_agree_with_a_naive_list(void **state)
{
    (void)state;
    struct issues issues = {0};
    const struct cluster_index index = issues_index(&issues);
    int64_t seen[8][4] = {{0}};
    srand(17);
    for (int i = 0; i < 5000; i++) {
        int key = rand() % 8;
        int app = rand() % 4;
        struct issue_row row = {.app_id = app, .feature_key = {[7] = (uint8_t)key}};
        int64_t id = 0;
        int outcome = cluster_assign(&id, &index, &row);
        assert_int_equal(outcome, seen[key][app] ? MIRE_CLUSTER_KNOWN : MIRE_CLUSTER_NEW);
        assert_true(!seen[key][app] || seen[key][app] == id);
        seen[key][app] = id;
    }
}

static struct aggregate_rows rows_of(const struct report *report, int64_t received_us)
{
    struct aggregate_facts facts = {.key = {.slot = 5, .day = 20000},
                                    .app_id = 1,
                                    .received_us = received_us,
                                    .occurred = {received_us, true},
                                    .version_id = 2,
                                    .issue_id = 3,
                                    .category = MIRE_CATEGORY_HANG,
                                    .reason = "cpu",
                                    .holder = "",
                                    .rules_version = 1};
    struct aggregate_rows rows;
    aggregate_rows(&rows, report, &facts);
    return rows;
}

static void counters_are_scaled_by_the_sampling_probability(void **state)
{
    (void)state;
    const struct report_probability sampling[] = {{"other", 0.5}, {"hang", 0.25}};
    struct report report = {.sampling = sampling, .sampling_count = 2, .event = {.duration_ms = 3000}};
    struct aggregate_rows rows = rows_of(&report, 500 * HOUR_US + 1);
    assert_true(rows.event.weight == 4 && rows.hour.events == 4 && rows.hour.waited_ms == 12000);
    assert_int_equal(rows.hour.longest_ms, 3000);
    assert_int_equal(rows.hour.hour_us, 500 * HOUR_US);
    assert_int_equal(rows.hour.reports, 1);
    const struct report_probability hardly[] = {{"hang", 1e-300}};
    report.sampling = hardly;
    report.sampling_count = 1;
    assert_true(rows_of(&report, 0).event.weight == MIRE_AGGREGATE_WEIGHT_MAX);
    report.sampling_count = 0;
    assert_true(rows_of(&report, 0).event.weight == 1);
}

static void what_was_suppressed_counts_with_the_report_that_tells_it(void **state)
{
    (void)state;
    const struct report_probability sampling[] = {{"hang", 0.5}};
    struct report report = {
        .sampling = sampling, .sampling_count = 1, .event = {.duration_ms = 3000, .suppressed = {4, {10000, true}}}};
    struct aggregate_rows rows = rows_of(&report, 0);
    assert_true(rows.event.weight == 2 && rows.hour.events == 10 && rows.hour.waited_ms == 26000);
    assert_int_equal(rows.hour.longest_ms, 3000);
    report.event.suppressed = (struct report_suppressed){UINT32_MAX, {UINT64_MAX, true}};
    rows = rows_of(&report, 0);
    assert_int_equal(rows.event.suppressed, MIRE_AGGREGATE_SUPPRESSED_MAX);
    assert_int_equal(rows.event.suppressed_ms, MIRE_AGGREGATE_SUPPRESSED_MS_MAX);
    report.event.suppressed = (struct report_suppressed){1000, {3000, true}};
    assert_int_equal(rows_of(&report, 0).event.suppressed, 300);
}

static void nobody_waits_for_a_window_of_the_process(void **state)
{
    (void)state;
    struct report report = {.event = {.duration_ms = 60000, .suppressed = {1, {60000, true}}}};
    struct aggregate_facts facts = {.category = MIRE_CATEGORY_POWER, .reason = "cpu", .holder = ""};
    struct aggregate_rows rows;
    aggregate_rows(&rows, &report, &facts);
    assert_string_equal(rows.hour.category, "power");
    assert_true(rows.hour.events == 2 && rows.hour.waited_ms == 0);
    assert_int_equal(rows.hour.longest_ms, 0);
    assert_int_equal(rows.event.duration_ms, 60000);
}

static void turns_go_to_the_bucket_they_begin_in(void **state)
{
    (void)state;
    const struct report_bucket endless[] = {{250, UINT32_MAX}};
    const struct report_bucket buckets[] = {{100, 9}, {250, 1}, {499, 1}, {500, 4}, {16000, 1}, {UINT32_MAX, 2}};
    struct report report = {.buckets = buckets, .bucket_count = 6};
    struct aggregate_rows rows = rows_of(&report, 0);
    const double want[MIRE_TURN_BUCKETS] = {2, 4, 0, 0, 0, 0, 2}; /* one of 49 days is one too many */
    for (int i = 0; i < MIRE_TURN_BUCKETS; i++)
        assert_true(rows.hour.turns[i] == want[i]);
    report = (struct report){.buckets = endless, .bucket_count = 1};
    assert_true(rows_of(&report, 0).hour.turns[0] == MIRE_AGGREGATE_TURNS_MS_MAX / 250 + 1);
}

static void texts_are_cut_between_characters(void **state)
{
    (void)state;
    char text[600];
    memset(text, 'a', sizeof text);
    text[10] = '\0';
    assert_int_equal(aggregate_text_length(text), 10);
    text[10] = 'a';
    text[599] = '\0';
    assert_int_equal(aggregate_text_length(text), 255);
    memcpy(text + 253, "\xe4\xb8\xad", 3);
    assert_int_equal(aggregate_text_length(text), 253);
    text[255] = '\0';
    assert_int_equal(aggregate_text_length(text), 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_feature_is_one_issue_in_an_app),
        cmocka_unit_test(a_fault_of_the_index_goes_up),
        cmocka_unit_test(the_first_scenes_of_a_caller1_are_shown_as_one),
        cmocka_unit_test(a_scene_with_a_name_is_an_issue_of_its_own),
        cmocka_unit_test(assignments_agree_with_a_naive_list),
        cmocka_unit_test(counters_are_scaled_by_the_sampling_probability),
        cmocka_unit_test(what_was_suppressed_counts_with_the_report_that_tells_it),
        cmocka_unit_test(nobody_waits_for_a_window_of_the_process),
        cmocka_unit_test(turns_go_to_the_bucket_they_begin_in),
        cmocka_unit_test(texts_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
