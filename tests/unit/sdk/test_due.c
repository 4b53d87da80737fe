/* When memory is reported: trouble at once but not too often, health now and then. */
#include "core/due.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define S   MIRE_NS_PER_S
#define MIB ((uint64_t)1 << 20)

static const struct capture_settings normal = MIRE_SETTINGS_INIT;

static struct trail_row footprint(uint64_t bytes)
{
    return (struct trail_row){.footprint_bytes = bytes};
}

static enum memory_due ask(struct due *due, const struct trail_row *row, uint64_t now_ns)
{
    return mire__due(due, row, now_ns, &normal);
}

static void a_healthy_process_is_reported_after_ever_longer_times(void **state)
{
    struct due due = {.start_ns = 100 * S};
    struct trail_row row = footprint(50 * MIB);
    uint64_t baselines[8];
    size_t count = 0;

    (void)state;
    for (uint64_t now_ns = 100 * S; now_ns < 100 * S + 10000 * S; now_ns += S)
        if (ask(&due, &row, now_ns) == MIRE_DUE_BASELINE)
            baselines[count++] = (now_ns - 100 * S) / S;
    assert_int_equal(count, 4);
    assert_int_equal(baselines[0], 600);
    assert_int_equal(baselines[1], 1800);
    assert_int_equal(baselines[2], 4200);
    assert_int_equal(baselines[3], 9000);
}

static void growth_is_counted_from_snapshots_five_minutes_apart(void **state)
{
    struct due due = {.start_ns = 1 * S};
    struct trail_row row = footprint(50 * MIB);

    (void)state;
    assert_int_equal(ask(&due, &row, 300 * S), MIRE_DUE_NOTHING);
    assert_int_equal(ask(&due, &row, 301 * S), MIRE_DUE_SNAPSHOT);
    assert_int_equal(ask(&due, &row, 302 * S), MIRE_DUE_NOTHING);
    mire__due_reported(&due, 500 * S); /* on demand: that was one as well */
    assert_int_equal(ask(&due, &row, 601 * S), MIRE_DUE_BASELINE);
    assert_int_equal(ask(&due, &row, 900 * S), MIRE_DUE_NOTHING); /* 299 s after the baseline's own */
    assert_int_equal(ask(&due, &row, 901 * S), MIRE_DUE_SNAPSHOT);
}

static void a_footprint_beyond_the_threshold_is_reported_again_when_it_grew(void **state)
{
    struct capture_settings settings = normal;
    struct due due = {.start_ns = 1 * S};
    struct trail_row row = footprint(99 * MIB);

    (void)state;
    settings.footprint_kib = 100 * 1024;
    settings.snapshot_ms = 0;
    assert_int_equal(mire__due(&due, &row, 2 * S, &settings), MIRE_DUE_NOTHING);
    row = footprint(100 * MIB);
    assert_int_equal(mire__due(&due, &row, 3 * S, &settings), MIRE_DUE_FOOTPRINT);
    assert_int_equal(mire__due(&due, &row, 1000 * S, &settings),
                     MIRE_DUE_NOTHING); /* no baseline either: it is large */
    row = footprint(125 * MIB);
    assert_int_equal(mire__due(&due, &row, 1001 * S, &settings), MIRE_DUE_FOOTPRINT);
    row = footprint(400 * MIB);
    assert_int_equal(mire__due(&due, &row, 1600 * S, &settings), MIRE_DUE_NOTHING); /* less than ten minutes later */
    assert_int_equal(mire__due(&due, &row, 1601 * S, &settings), MIRE_DUE_FOOTPRINT);
}

static void pressure_is_a_stalling_system_or_a_near_limit(void **state)
{
    struct due due = {.start_ns = 1 * S}, other = {.start_ns = 1 * S};
    struct trail_row row = footprint(50 * MIB);

    (void)state;
    row.pressure_ppm = 99999;
    assert_int_equal(ask(&due, &row, 2 * S), MIRE_DUE_NOTHING);
    row.pressure_ppm = 100000;
    assert_int_equal(ask(&due, &row, 3 * S), MIRE_DUE_PRESSURE);
    assert_int_equal(ask(&due, &row, 602 * S), MIRE_DUE_SNAPSHOT);
    assert_int_equal(ask(&due, &row, 603 * S), MIRE_DUE_PRESSURE);

    row.pressure_ppm = 0;
    row.limit_bytes = 1000;
    row.used_bytes = 949;
    assert_int_equal(ask(&other, &row, 2 * S), MIRE_DUE_NOTHING);
    row.used_bytes = 950;
    assert_int_equal(ask(&other, &row, 3 * S), MIRE_DUE_PRESSURE);
}

static void trouble_without_end_is_not_reported_without_end(void **state)
{
    struct due due = {.start_ns = 1 * S};
    struct trail_row row = footprint(50 * MIB);
    uint32_t count = 0;

    (void)state;
    row.pressure_ppm = 1000000;
    for (uint64_t now_ns = 1 * S; now_ns < 1000000 * S; now_ns += 100 * S)
        count += ask(&due, &row, now_ns) == MIRE_DUE_PRESSURE;
    assert_int_equal(count, MIRE_DUE_RUN_MAX);
}

static void zero_switches_each_off(void **state)
{
    struct capture_settings settings = normal;
    struct due due = {.start_ns = 1 * S};
    struct trail_row row = footprint(UINT64_MAX / 2);

    (void)state;
    settings.footprint_kib = settings.pressure_ppm = settings.baseline_ms = settings.snapshot_ms = 0;
    row.pressure_ppm = 1000000;
    for (uint64_t now_ns = 1 * S; now_ns < 100000 * S; now_ns += 50 * S)
        assert_int_equal(mire__due(&due, &row, now_ns, &settings), MIRE_DUE_NOTHING);
}

static void what_is_reported_has_the_wires_word(void **state)
{
    (void)state;
    assert_string_equal(mire__due_trigger(MIRE_DUE_PRESSURE), "pressure");
    assert_string_equal(mire__due_trigger(MIRE_DUE_FOOTPRINT), "footprint");
    assert_string_equal(mire__due_trigger(MIRE_DUE_BASELINE), "baseline");
    assert_null(mire__due_trigger(MIRE_DUE_SNAPSHOT));
    assert_null(mire__due_trigger(MIRE_DUE_NOTHING));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_healthy_process_is_reported_after_ever_longer_times),
        cmocka_unit_test(growth_is_counted_from_snapshots_five_minutes_apart),
        cmocka_unit_test(a_footprint_beyond_the_threshold_is_reported_again_when_it_grew),
        cmocka_unit_test(pressure_is_a_stalling_system_or_a_near_limit),
        cmocka_unit_test(trouble_without_end_is_not_reported_without_end),
        cmocka_unit_test(zero_switches_each_off),
        cmocka_unit_test(what_is_reported_has_the_wires_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
