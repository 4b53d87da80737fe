/* Ramps: when a share is raised, when it waits, and when it stops. */
#include "rollout/ramp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#define HOUR 3600

static struct ramp ramp_new(void)
{
    return (struct ramp){.steps = {1000, 10000, 50000},
                         .step_count = 3,
                         .step = 0,
                         .hold_s = 24 * HOUR,
                         .step_since_s = 1000000,
                         .guards = {.crash_points = 0.5, .cpu_percent = 1, .reports_per_hour = 10000}};
}

/* A day later, without trouble: 1 % of the sessions end badly in both arms. */
static struct ramp_seen seen_new(void)
{
    const struct ramp_arm arm = {.records = 5000,
                                 .ends = 5000,
                                 .ends_sq = 5000,
                                 .bad = 50,
                                 .time_ms = 5000 * 60000.0,
                                 .sdk_cpu_us = 5000 * 60000.0};
    return (struct ramp_seen){
        .now_s = 1000000 + 24 * HOUR, .ppm = 1000, .sampled = arm, .control = arm, .reports_last_hour = 100};
}

static enum ramp_move decide(const struct ramp *ramp, const struct ramp_seen *seen, const char *word)
{
    char note[MIRE_RAMP_NOTE_BYTES];
    enum ramp_move move = ramp_decide(note, ramp, seen);

    if (!strstr(note, word))
        fail_msg("%s is not in %s", word, note);
    return move;
}

static void a_step_that_held_is_followed_by_the_next(void **state)
{
    struct ramp ramp = ramp_new();
    struct ramp_seen seen = seen_new();
    (void)state;
    assert_int_equal(decide(&ramp, &seen, ""), MIRE_RAMP_NEXT);
    seen.now_s--;
    assert_int_equal(decide(&ramp, &seen, "1 more minutes"), MIRE_RAMP_STAYS);
    seen.now_s++;
    ramp.step = 2;
    seen.ppm = 50000;
    assert_int_equal(decide(&ramp, &seen, ""), MIRE_RAMP_ENDS);
}

static void a_share_changed_by_hand_pauses(void **state)
{
    struct ramp ramp = ramp_new();
    struct ramp_seen seen = seen_new();
    (void)state;
    seen.ppm = 2000;
    assert_int_equal(decide(&ramp, &seen, "changed"), MIRE_RAMP_PAUSE);
    seen.ppm = UINT32_MAX; /* the rule is gone */
    ramp.backs = true;
    assert_int_equal(decide(&ramp, &seen, "changed"), MIRE_RAMP_PAUSE); /* no share of the ramp to restore */
}

static void a_guard_trips_at_once_and_pauses_or_brings_back(void **state)
{
    struct ramp ramp = ramp_new();
    struct ramp_seen seen = seen_new();
    (void)state;
    seen.now_s = ramp.step_since_s + 60;
    seen.sampled.bad = 250; /* 5 %, against 1 */
    assert_int_equal(decide(&ramp, &seen, "end badly"), MIRE_RAMP_PAUSE);
    ramp.backs = true;
    assert_int_equal(decide(&ramp, &seen, "end badly"), MIRE_RAMP_BACK);
    ramp.guards.crash_points = 0;
    assert_int_equal(decide(&ramp, &seen, "minutes"), MIRE_RAMP_STAYS);
    seen.sampled.sdk_cpu_us *= 20; /* 2 % of a processor */
    assert_int_equal(decide(&ramp, &seen, "2.00 % of a processor"), MIRE_RAMP_BACK);
    ramp.guards.cpu_percent = 0;
    seen.reports_last_hour = 10001;
    assert_int_equal(decide(&ramp, &seen, "10001 reports"), MIRE_RAMP_BACK);
    ramp.guards.reports_per_hour = 0;
    assert_int_equal(decide(&ramp, &seen, "minutes"), MIRE_RAMP_STAYS);
}

static void without_evidence_it_waits(void **state)
{
    struct ramp ramp = ramp_new();
    struct ramp_seen seen = seen_new();
    (void)state;
    seen.sampled.records = MIRE_RAMP_LEAST_RECORDS - 1;
    assert_int_equal(decide(&ramp, &seen, "waits for sessions: 99"), MIRE_RAMP_STAYS);
    seen = seen_new();
    seen.control = (struct ramp_arm){0};
    assert_int_equal(decide(&ramp, &seen, "waits for sessions"), MIRE_RAMP_STAYS);
    ramp.guards.crash_points = 0; /* no comparison */
    assert_int_equal(decide(&ramp, &seen, ""), MIRE_RAMP_NEXT);
    /* A minute of CPU proves nothing. */
    seen = seen_new();
    seen.sampled.time_ms = 60000;
    seen.sampled.sdk_cpu_us = 60000000;
    assert_int_equal(decide(&ramp, &seen, ""), MIRE_RAMP_NEXT);
}

/* With equal arms the guard trips in at most one of forty looks; with different ones it trips. */
static void equal_arms_trip_rarely_and_unequal_ones_do(void **state)
{
    enum { WORLDS = 4000 };
    uint64_t seed = 88172645463325252u;
    int equal = 0, unequal = 0;
    (void)state;
    for (int world = 0; world < WORLDS; world++) {
        struct ramp_arm arms[3] = {{0}};
        static const double shares[3] = {0.01, 0.01, 0.04};
        for (int a = 0; a < 3; a++) {
            for (int i = 0; i < 1500; i++) {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                arms[a].ends += 10;
                arms[a].ends_sq += 100;
                arms[a].bad += (double)(seed >> 11) / 9007199254740992.0 < shares[a] ? 10 : 0;
            }
        }
        equal += ramp_excess(&arms[1], &arms[0]) > 0;
        unequal += ramp_excess(&arms[2], &arms[0]) > 0.5;
    }
    assert_in_range(equal, 0, WORLDS * 4 / 100);
    assert_in_range(unequal, WORLDS * 95 / 100, WORLDS);
    assert_true(ramp_excess(&(struct ramp_arm){0}, &(struct ramp_arm){0}) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_that_held_is_followed_by_the_next),
        cmocka_unit_test(a_share_changed_by_hand_pauses),
        cmocka_unit_test(a_guard_trips_at_once_and_pauses_or_brings_back),
        cmocka_unit_test(without_evidence_it_waits),
        cmocka_unit_test(equal_arms_trip_rarely_and_unequal_ones_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
