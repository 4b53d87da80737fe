/* When an event is said to have happened, and how complete recent days are said to be. */
#include "aggregate/aggregate.h"
#include "base/clock.h"
#include "model/completeness.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#define MINUTE_US 60000000ll
#define HOUR_US   (60 * MINUTE_US)
#define DAY_US    (24 * HOUR_US)
#define NOW_US    (20700 * DAY_US + 15 * HOUR_US)

static struct aggregate_instant event_at(int64_t device_us, struct aggregate_clock clock)
{
    const struct report report = {.event = {.begin_wall_ms = {(uint64_t)(device_us / 1000), true}}};
    return aggregate_occurred(&report, NOW_US, &clock);
}

static void a_time_that_can_be_is_believed(void **state)
{
    (void)state;
    struct aggregate_instant at = event_at(NOW_US - 30 * HOUR_US, (struct aggregate_clock){.keep_days = 90});
    assert_true(at.is_known && at.at_us == NOW_US - 30 * HOUR_US);
    /* Two right clocks differ by some minutes, and nothing happens after its receipt. */
    at = event_at(NOW_US + 4 * MINUTE_US, (struct aggregate_clock){.keep_days = 90});
    assert_true(at.is_known && at.at_us == NOW_US);
}

static void a_time_that_cannot_be_is_not(void **state)
{
    (void)state;
    const struct report untold = {.event = {.duration_ms = 3}};
    const struct report largest = {.event = {.begin_wall_ms = {UINT64_MAX, true}}};
    const struct aggregate_clock plain = {.keep_days = 90}, for_ever = {.keep_days = 0}, mad = {true, INT64_MAX, 90};
    const struct aggregate_instant all[] = {event_at(NOW_US + 6 * MINUTE_US, plain),
                                            event_at(NOW_US - 91 * DAY_US, plain),
                                            event_at(0, for_ever),
                                            event_at(NOW_US, mad),
                                            aggregate_occurred(&untold, NOW_US, &plain),
                                            aggregate_occurred(&largest, NOW_US, &plain)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_true(!all[i].is_known && all[i].at_us == NOW_US && aggregate_delay(&all[i], NOW_US) == -1);
    assert_true(event_at(NOW_US - 89 * DAY_US, plain).is_known);
    assert_true(event_at(NOW_US - 400 * DAY_US, for_ever).is_known);
}

static void the_clocks_error_is_taken_off(void **state)
{
    (void)state;
    const int64_t happened = NOW_US - 7 * HOUR_US,
                  errors_ms[] = {-40 * 86400000ll, -90000, -1, 0, 60001, 3 * 86400000ll};
    for (size_t i = 0; i < sizeof errors_ms / sizeof *errors_ms; i++) {
        struct aggregate_clock clock = {true, errors_ms[i], 90};
        struct aggregate_instant at = event_at(happened - errors_ms[i] * 1000, clock);
        assert_true(at.is_known && at.at_us == happened);
    }
    /* A clock that is right, and a request that took half a minute. */
    assert_int_equal(event_at(happened, (struct aggregate_clock){true, 30000, 90}).at_us, happened);
}

static void every_kind_has_its_own_time(void **state)
{
    (void)state;
    const struct fact given = {(uint64_t)(NOW_US - 5 * HOUR_US) / 1000, true};
    const struct report reports[] = {{.kind = MIRE_REPORT_EVENT, .event = {.begin_wall_ms = given}},
                                     {.kind = MIRE_REPORT_MEMORY, .memory = {.taken_wall_ms = given}},
                                     {.kind = MIRE_REPORT_BASELINE, .memory = {.taken_wall_ms = given}},
                                     {.kind = MIRE_REPORT_SESSION, .session = {.begin_wall_ms = given}}};
    const struct aggregate_clock clock = {.keep_days = 90};
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        assert_int_equal(aggregate_occurred(&reports[i], NOW_US, &clock).at_us, NOW_US - 5 * HOUR_US);
}

static void counters_are_of_the_hour_it_happened_in(void **state)
{
    (void)state;
    const struct report report = {.event = {.duration_ms = 10}};
    const struct aggregate_facts facts = {.received_us = NOW_US,
                                          .occurred = {NOW_US - 50 * HOUR_US + MINUTE_US, true},
                                          .category = MIRE_CATEGORY_HANG,
                                          .reason = "cpu",
                                          .holder = ""};
    struct aggregate_rows rows;
    aggregate_rows(&rows, &report, &facts);
    assert_int_equal(rows.event.received_us, NOW_US);
    assert_int_equal(rows.event.occurred_us, NOW_US - 50 * HOUR_US + MINUTE_US);
    assert_int_equal(rows.hour.hour_us, NOW_US - 50 * HOUR_US);
    assert_int_equal(rows.hour.last_us, rows.event.occurred_us);
    assert_int_equal(rows.hour.delay, 6); /* 32 to 64 hours */
    struct session_row session;
    const struct report record = {.kind = MIRE_REPORT_SESSION, .session = {.duration_ms = {1, true}}};
    aggregate_session(&session, &record, &facts);
    assert_int_equal(session.received_us, NOW_US);
    assert_int_equal(session.occurred_day, 20698);
}

static void delays_go_by_doubling_hours(void **state)
{
    (void)state;
    const struct {
        int64_t us;
        int delay;
    } all[] = {{0, 0},
               {HOUR_US - 1, 0},
               {HOUR_US, 1},
               {2 * HOUR_US - 1, 1},
               {2 * HOUR_US, 2},
               {40 * HOUR_US, 6},
               {64 * HOUR_US, 7},
               {2047 * HOUR_US, 11},
               {2048 * HOUR_US, 12},
               {9000 * HOUR_US, 12}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(aggregate_delay(&(struct aggregate_instant){NOW_US - all[i].us, true}, NOW_US), all[i].delay);
}

/* --- completeness: a world with known delays --- */

#define DAYS 40

/* Half at once, three in ten within a day, two in ten within a week; hours. */
static double random_delay(uint64_t *random)
{
    double part = test_roll(random, 1000000) / 1e6, within = test_roll(random, 1000000) / 1e6;
    return part < 0.5 ? 0.1 : part < 0.8 ? 24 * within : 168 * within;
}

/* The arrivals so far in a world of `a_day` events a day; *true_share: of each day. */
static size_t world(struct arrivals days[DAYS], double true_share[DAYS], int a_day, uint64_t *random)
{
    memset(days, 0, DAYS * sizeof *days);
    for (int d = 0; d < DAYS; d++) {
        int happened = 0, came = 0;
        days[d].day = clock_day(NOW_US) - DAYS + 1 + d;
        for (int i = 0; i < a_day; i++) {
            int64_t at_us = days[d].day * DAY_US + (int64_t)(test_roll(random, 1000000) / 1e6 * DAY_US);
            int64_t received_us = at_us + (int64_t)(random_delay(random) * HOUR_US);
            happened += at_us <= NOW_US;
            if (received_us > NOW_US)
                continue;
            came++;
            days[d].events[aggregate_delay(&(struct aggregate_instant){at_us, true}, received_us)]++;
        }
        true_share[d] = (double)came / happened;
    }
    return DAYS;
}

static void the_share_that_came_is_estimated_without_knowing_what_is_missing(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    struct arrivals days[DAYS];
    double true_share[DAYS], worst = 0;
    struct completeness completeness = completeness_of(days, world(days, true_share, 3000, &random), NOW_US);
    assert_true(completeness.known);
    for (int d = 0; d < DAYS; d++)
        worst = fmax(worst, fabs(completeness_share(&completeness, days[d].day, NOW_US) - true_share[d]));
    print_message("today %.3f, truly %.3f; yesterday %.3f, truly %.3f; worst difference %.3f\n",
                  completeness_share(&completeness, days[DAYS - 1].day, NOW_US), true_share[DAYS - 1],
                  completeness_share(&completeness, days[DAYS - 2].day, NOW_US), true_share[DAYS - 2], worst);
    assert_true(true_share[DAYS - 1] < 0.75 && true_share[DAYS - 2] < 0.88);
    assert_true(worst < 0.04);
}

static void a_young_app_tells_nothing(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    struct arrivals days[DAYS];
    double true_share[DAYS];
    size_t count = world(days, true_share, 500, &random);
    /* Its last five days, however many events they had. */
    struct completeness young = completeness_of(days + count - 5, 5, NOW_US);
    assert_true(!young.known && completeness_share(&young, days[count - 1].day, NOW_US) == 1);
    struct completeness none = completeness_of(NULL, 0, NOW_US);
    assert_true(!none.known && completeness_share(&none, 20700, NOW_US) == 1);
    /* A day that has not begun. */
    struct completeness all = completeness_of(days, count, NOW_US);
    assert_true(all.known && completeness_share(&all, days[count - 1].day + 1, NOW_US) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_that_can_be_is_believed),
        cmocka_unit_test(a_time_that_cannot_be_is_not),
        cmocka_unit_test(the_clocks_error_is_taken_off),
        cmocka_unit_test(every_kind_has_its_own_time),
        cmocka_unit_test(counters_are_of_the_hour_it_happened_in),
        cmocka_unit_test(delays_go_by_doubling_hours),
        cmocka_unit_test(the_share_that_came_is_estimated_without_knowing_what_is_missing),
        cmocka_unit_test(a_young_app_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
