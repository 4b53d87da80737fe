/* test_load.c - amounts over a window, frames, and the governor; time is always an argument. */
#include "capture/frames.h"
#include "capture/governor.h"
#include "capture/load.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define MS MIRE_NS_PER_MS
#define S  MIRE_NS_PER_S

static const struct load_limit limit = {.window_ns = 5 * S, .amount = 4 * S, .least_ns = 4 * S};
static struct load load;
static uint64_t grown, within_ns;

static enum mire__load read_at(uint64_t now_ns, uint64_t amount)
{
    return mire__load_read(&grown, &within_ns, &load, &limit, now_ns, amount);
}

static int setup_load(void **state)
{
    (void)state;
    mire__load_reset(&load);
    return 0;
}

static void a_load_is_near_before_it_is_over(void **state)
{
    enum mire__load got = MIRE_LOAD_BELOW;
    uint64_t near_ns = 0, over_ns = 0;

    (void)state;
    for (uint64_t t = 0; t <= 5 * S; t += 100 * MS) {
        got = read_at(10 * S + t, t); /* one whole processor */
        near_ns = got == MIRE_LOAD_NEAR && !near_ns ? t : near_ns;
        over_ns = got == MIRE_LOAD_OVER && !over_ns ? t : over_ns;
    }
    assert_int_equal(near_ns, 2 * S);
    assert_int_equal(over_ns, 4 * S);
    assert_int_equal(got, MIRE_LOAD_OVER);
}

static void a_load_under_the_limit_is_never_over(void **state)
{
    (void)state;
    for (uint64_t t = 0; t < 60 * S; t += 100 * MS)
        assert_int_not_equal(read_at(10 * S + t, t * 79 / 100), MIRE_LOAD_OVER);
}

static void a_burst_on_many_processors_is_not_over(void **state)
{
    (void)state;
    read_at(S, 0);
    assert_int_equal(read_at(S + 500 * MS, 8 * S), MIRE_LOAD_NEAR);
    assert_int_equal(grown, 8 * S);
    assert_int_equal(within_ns, 500 * MS);
    assert_int_equal(read_at(8 * S, 8 * S), MIRE_LOAD_BELOW);
}

static void without_a_limit_nothing_is_over(void **state)
{
    const struct load_limit none = {.window_ns = S};

    (void)state;
    mire__load_read(&grown, &within_ns, &load, &none, S, 0);
    assert_int_equal(mire__load_read(&grown, &within_ns, &load, &none, S + 1, UINT64_MAX), MIRE_LOAD_BELOW);
}

/* The twin keeps every reading. Any load that the window reports must have happened, and any load that happened with
 * one part of the window to spare must be reported. */
static void a_load_is_that_of_its_naive_twin(void **state)
{
    static struct load_reading all[2000];
    unsigned seed = test_seed();
    uint64_t now_ns = S, amount = 0, part_ns = limit.window_ns / 16;
    uint32_t said = 0;

    (void)state;
    srandom(seed);
    for (uint32_t i = 0; i < MIRE_COUNT(all); i++) {
        uint64_t step_ns = (uint64_t)(random() % 100 == 0 ? random() % 7000 : random() % 200) * MS, surely = 0;
        enum mire__load got;
        bool happened = false;

        now_ns += step_ns;
        amount += step_ns / 100 * (uint64_t)(60 + random() % (i % 200 < 100 ? 30 : 60));
        all[i] = (struct load_reading){now_ns, amount};
        got = read_at(now_ns, amount);
        for (uint32_t j = 0; j <= i; j++) {
            happened |= all[j].amount == amount - grown && all[j].at_ns == now_ns - within_ns;
            if (all[j].at_ns + limit.window_ns >= now_ns + 2 * part_ns && amount - all[j].amount > surely)
                surely = amount - all[j].amount;
        }
        assert_true(happened && within_ns <= limit.window_ns);
        assert_true(grown >= surely);
        if (got == MIRE_LOAD_OVER)
            assert_true(grown >= limit.amount && within_ns >= limit.least_ns);
        said += got == MIRE_LOAD_OVER;
    }
    assert_in_range(said, 1, MIRE_COUNT(all) - 1);
}

static struct capture_settings settings = MIRE_SETTINGS_INIT;
static struct governor governor;

/* Spend `ppm` of the time at shift 0, and proportionally less with a longer period. Returns the last shift. */
static uint32_t spend(uint64_t *now_ns, uint64_t *spent_ns, uint64_t seconds, uint64_t ppm)
{
    uint32_t shift = governor.shift;

    for (uint64_t end_ns = *now_ns + seconds * S; *now_ns < end_ns;) {
        *now_ns += 50 * MS;
        *spent_ns += 50 * ppm >> shift;
        shift = mire__governor_shift(&governor, *now_ns, *spent_ns, &settings);
    }
    return shift;
}

static int setup_governor(void **state)
{
    (void)state;
    memset(&governor, 0, sizeof(governor));
    return 0;
}

static void what_is_within_the_budget_is_left_alone(void **state)
{
    uint64_t now_ns = S, spent_ns = 7 * S; /* time before the first look is not counted */

    (void)state;
    assert_int_equal(spend(&now_ns, &spent_ns, 600, settings.budget_ppm), 0);
    assert_int_equal(governor.raised_count, 0);
}

static void a_burst_within_the_minutes_budget_is_free(void **state)
{
    uint64_t now_ns = S, spent_ns = 0;

    (void)state;
    assert_int_equal(spend(&now_ns, &spent_ns, 25, 2 * settings.budget_ppm), 0);
    assert_int_equal(spend(&now_ns, &spent_ns, 90, 0), 0);
    assert_int_equal(spend(&now_ns, &spent_ns, 25, 2 * settings.budget_ppm), 0);
}

static void twice_the_budget_is_halved_when_the_minutes_is_spent(void **state)
{
    uint64_t now_ns = S, spent_ns = 0;

    (void)state;
    assert_int_equal(spend(&now_ns, &spent_ns, 70, 2 * settings.budget_ppm), 1);
    assert_int_equal(governor.raised_count, 1);
}

static void over_a_long_time_the_budget_is_kept(void **state)
{
    static const uint64_t loads[] = {2, 3, 4, 10, 30};

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(loads); i++) {
        uint64_t now_ns = S, spent_ns = 0;

        setup_governor(state);
        spend(&now_ns, &spent_ns, 3600, loads[i] * settings.budget_ppm);
        assert_true(spent_ns < 3600 * S / 1000000 * settings.budget_ppm * 115 / 100);
        assert_true(governor.raised_count > 0);
    }
}

static void the_peak_lowers_the_rate_within_a_second(void **state)
{
    uint64_t now_ns = S, spent_ns = 0;

    (void)state;
    assert_int_equal(spend(&now_ns, &spent_ns, 2, 2 * settings.budget_peak_ppm), 1);
    assert_int_equal(spend(&now_ns, &spent_ns, 30, 1000000), MIRE_GOVERNOR_SHIFT_MAX);
}

static void the_rate_comes_back_when_the_debt_is_paid(void **state)
{
    uint64_t now_ns = S, spent_ns = 0;

    (void)state;
    assert_true(spend(&now_ns, &spent_ns, 10, 4 * settings.budget_peak_ppm) > 0);
    now_ns += 600 * S; /* nothing happened: it was not even asked */
    assert_int_equal(spend(&now_ns, &spent_ns, 2, 0), 0);
}

#define FRAME_NS 16666667u

static struct frames frames;

static int setup_frames(void **state)
{
    (void)state;
    memset(&frames, 0, sizeof(frames));
    return 0;
}

static void smooth_frames_drop_none(void **state)
{
    uint64_t now_ns = S;
    bool over = false;

    (void)state;
    for (uint32_t i = 0; i < 600 && !over; i++) {
        now_ns += FRAME_NS + (i % 2 ? 4 * MS : 0) - (i % 2 ? 0 : 4 * MS); /* jitter */
        over = mire__frames_tick(&frames, now_ns, FRAME_NS);
    }
    assert_int_equal(frames.dropped, 0);
    assert_int_equal(frames.longest_ns, FRAME_NS + 4 * MS);
}

static void a_window_is_over_after_its_time_and_the_next_goes_on(void **state)
{
    uint64_t now_ns = S;
    uint32_t windows = 0, ticks = 0;

    (void)state;
    for (uint32_t i = 0; i < 1801; i++, now_ns += FRAME_NS) {
        if (!mire__frames_tick(&frames, now_ns, FRAME_NS))
            continue;
        windows++;
        ticks += frames.ticks;
        mire__frames_begin(&frames, now_ns, false);
    }
    assert_int_equal(windows, 3);
    assert_int_equal(ticks + frames.ticks, 1801);
    assert_int_equal(frames.dropped, 0);
}

static void a_gap_drops_the_frames_that_fit_in_it(void **state)
{
    static const struct {
        uint64_t gap_ns;
        uint32_t dropped;
    } gaps[] = {{FRAME_NS, 0}, {FRAME_NS * 14 / 10, 0}, {2 * FRAME_NS, 1}, {3 * FRAME_NS, 2}, {700 * MS, 41}};

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(gaps); i++) {
        setup_frames(state);
        mire__frames_tick(&frames, S, FRAME_NS);
        mire__frames_tick(&frames, S + gaps[i].gap_ns, FRAME_NS);
        assert_int_equal(frames.dropped, gaps[i].dropped);
        assert_int_equal(frames.longest_ns, gaps[i].gap_ns);
    }
}

static void a_pause_is_no_jank_but_in_a_scene_every_gap_counts(void **state)
{
    (void)state;
    mire__frames_tick(&frames, S, FRAME_NS);
    mire__frames_pause(&frames);
    mire__frames_tick(&frames, S + 900 * MS, FRAME_NS);
    mire__frames_tick(&frames, S + 4 * S, FRAME_NS);
    assert_int_equal(frames.dropped, 0);
    assert_int_equal(frames.ticks, 3);
    mire__frames_begin(&frames, 10 * S, true);
    assert_false(mire__frames_tick(&frames, 12 * S, FRAME_NS)); /* the first frame came late */
    assert_int_equal(frames.dropped, 119);
    assert_int_equal(frames.longest_ns, 2 * S);
    mire__frames_pause(&frames);
    assert_false(mire__frames_tick(&frames, 40 * S, FRAME_NS));
    assert_int_equal(frames.dropped, 119);
}

static void a_scene_that_ends_in_a_gap_counts_it(void **state)
{
    (void)state;
    mire__frames_begin(&frames, S, true);
    mire__frames_tick(&frames, S + FRAME_NS, FRAME_NS);
    mire__frames_end(&frames, S + 4 * FRAME_NS, FRAME_NS);
    assert_int_equal(frames.dropped, 2);
    mire__frames_pause(&frames);
    mire__frames_end(&frames, 9 * S, FRAME_NS);
    assert_int_equal(frames.dropped, 2);
    assert_int_equal(frames.ticks, 1);
}

static void time_that_goes_back_drops_nothing(void **state)
{
    (void)state;
    mire__frames_tick(&frames, 5 * S, FRAME_NS);
    mire__frames_tick(&frames, S, FRAME_NS);
    mire__frames_tick(&frames, 5 * S + FRAME_NS, FRAME_NS);
    assert_int_equal(frames.dropped, 0);
    assert_int_equal(frames.ticks, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_load_is_near_before_it_is_over, setup_load),
        cmocka_unit_test_setup(a_load_under_the_limit_is_never_over, setup_load),
        cmocka_unit_test_setup(a_burst_on_many_processors_is_not_over, setup_load),
        cmocka_unit_test_setup(without_a_limit_nothing_is_over, setup_load),
        cmocka_unit_test_setup(a_load_is_that_of_its_naive_twin, setup_load),
        cmocka_unit_test_setup(what_is_within_the_budget_is_left_alone, setup_governor),
        cmocka_unit_test_setup(a_burst_within_the_minutes_budget_is_free, setup_governor),
        cmocka_unit_test_setup(twice_the_budget_is_halved_when_the_minutes_is_spent, setup_governor),
        cmocka_unit_test_setup(over_a_long_time_the_budget_is_kept, setup_governor),
        cmocka_unit_test_setup(the_peak_lowers_the_rate_within_a_second, setup_governor),
        cmocka_unit_test_setup(the_rate_comes_back_when_the_debt_is_paid, setup_governor),
        cmocka_unit_test_setup(smooth_frames_drop_none, setup_frames),
        cmocka_unit_test_setup(a_window_is_over_after_its_time_and_the_next_goes_on, setup_frames),
        cmocka_unit_test_setup(a_gap_drops_the_frames_that_fit_in_it, setup_frames),
        cmocka_unit_test_setup(a_pause_is_no_jank_but_in_a_scene_every_gap_counts, setup_frames),
        cmocka_unit_test_setup(a_scene_that_ends_in_a_gap_counts_it, setup_frames),
        cmocka_unit_test_setup(time_that_goes_back_drops_nothing, setup_frames),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
