/* test_rate_limiter.c - sent and suppressed events; time is an argument, and a naive twin replays all. */
#include "capture/rate_limiter.h"
#include "support/scratch.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define UNIT_NS (60 * MIRE_NS_PER_S)
#define WALL_MS 1700000000000u
#define DAY_MS  86400000u

static struct rate_limiter limiter;
static struct capture_settings settings;
static struct stack_signature signature;
static struct store *store;
static uint64_t now_ns;

static int setup(void **state)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;

    if (scratch_new(state) != 0 || mire__store_open(&store, *state, &caps) != MIRE_OK)
        return -1;
    memset(&limiter, 0, sizeof(limiter));
    settings = (struct capture_settings)MIRE_SETTINGS_INIT;
    now_ns = MIRE_NS_PER_S;
    return 0;
}

static int teardown(void **state)
{
    mire__store_close(store);
    return scratch_free(state);
}

/* The signature of main and one more function. */
static const struct stack_signature *signature_of(uint64_t function)
{
    signature = (struct stack_signature){
        .sure = 2, .depth = 2, .deepest = 9, .functions = {{0x1000, 7, 1}, {0x2000 + function * 64, 7, 1}}};
    return &signature;
}

static struct event hang_of(uint32_t trigger, uint64_t duration_ms)
{
    return (struct event){
        .state = MIRE_EVENT_ENDED, .trigger = trigger, .begin_ns = 5, .end_ns = 5 + duration_ms * MIRE_NS_PER_MS};
}

static struct suppressed_fact held;

static enum mire__verdict judge_at(uint32_t trigger, uint64_t function, uint64_t duration_ms, uint64_t wall_ms)
{
    struct event hang = hang_of(trigger, duration_ms);

    return mire__rate_limiter_judge(&held, &limiter, store, &hang, signature_of(function), now_ns, wall_ms, &settings);
}

static enum mire__verdict judge(uint64_t function, uint64_t duration_ms)
{
    return judge_at(MIRE_TRIGGER_BUSY, function, duration_ms, WALL_MS);
}

static uint64_t dropped(enum store_reason reason)
{
    uint64_t counts[MIRE_DROP_REASONS];

    mire__store_drops(counts, store);
    return counts[reason];
}

static void the_first_of_a_stack_is_sent_and_the_next_counted(void **state)
{
    (void)state;
    assert_int_equal(judge(1, 3000), MIRE_VERDICT_SEND);
    assert_int_equal(judge(1, 3000), MIRE_VERDICT_SUPPRESSED);
    assert_int_equal(judge(1, 2500), MIRE_VERDICT_SUPPRESSED);
    assert_int_equal(dropped(MIRE_DROP_SUPPRESSED), 2);
    assert_int_equal(judge(2, 3000), MIRE_VERDICT_SEND);
    assert_int_equal(held.count, 0);
    now_ns += UNIT_NS;
    assert_int_equal(judge(1, 3000), MIRE_VERDICT_SEND);
    assert_int_equal(held.count, 2);
    assert_int_equal(held.duration_ms, 5500);
}

static void the_wait_grows_along_the_fibonacci_numbers(void **state)
{
    static const uint32_t waits[] = {1, 1, 2, 3, 5, 8, 13, 21, 34};

    (void)state;
    settings.daily_cap = 1000;
    assert_int_equal(judge(1, 3000), MIRE_VERDICT_SEND);
    for (size_t i = 0; i < MIRE_COUNT(waits); i++) {
        uint64_t sent_ns = now_ns;

        now_ns = sent_ns + waits[i] * UNIT_NS - 1;
        assert_int_equal(judge(1, 3000), MIRE_VERDICT_SUPPRESSED);
        now_ns = sent_ns + waits[i] * UNIT_NS;
        assert_int_equal(judge(1, 3000), MIRE_VERDICT_SEND);
    }
}

static void a_wait_without_one_begins_anew(void **state)
{
    (void)state;
    settings.daily_cap = 1000;
    judge(1, 3000);
    for (int i = 0; i < 6; i++) { /* until it waits 13 units */
        judge(1, 3000);
        now_ns += 13 * UNIT_NS;
        judge(1, 3000);
    }
    assert_int_equal(limiter.stacks[0].wait, 13);
    now_ns += 13 * UNIT_NS;
    assert_int_equal(judge(1, 3000), MIRE_VERDICT_SEND);
    now_ns += UNIT_NS;
    assert_int_equal(judge(1, 3000), MIRE_VERDICT_SEND);
}

static void other_stacks_between_do_not_defeat_it(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        for (uint64_t function = 0; function < MIRE_RATE_LIMITER_STACKS; function++)
            assert_int_equal(judge(function, 3000), i == 0 ? MIRE_VERDICT_SEND : MIRE_VERDICT_SUPPRESSED);
}

static void a_drift_of_two_instructions_does_not_defeat_it(void **state)
{
    struct event hang = hang_of(MIRE_TRIGGER_BUSY, 3000);
    uint64_t number;

    (void)state;
    signature_of(1);
    signature.functions[1].known = 0;
    signature.functions[1].at = 0x201d;
    assert_int_equal(mire__rate_limiter_wait(&number, &limiter, &hang, &signature, now_ns, &settings),
                     MIRE_VERDICT_SEND);
    signature.functions[1].at += 7; /* past a multiple of 32 */
    assert_int_equal(mire__rate_limiter_wait(&number, &limiter, &hang, &signature, now_ns, &settings),
                     MIRE_VERDICT_SUPPRESSED);
}

static void one_twice_as_long_as_any_sent_is_sent(void **state)
{
    (void)state;
    assert_int_equal(judge(1, 3000), MIRE_VERDICT_SEND);
    assert_int_equal(judge(1, 5999), MIRE_VERDICT_SUPPRESSED);
    assert_int_equal(judge(1, 6000), MIRE_VERDICT_SEND);
    assert_int_equal(held.count, 1);
    assert_int_equal(judge(1, 6000), MIRE_VERDICT_SUPPRESSED);
}

static void a_launch_is_not_the_same_as_a_later_turn(void **state)
{
    struct event launch = hang_of(MIRE_TRIGGER_BUSY, 3000);
    uint64_t number;

    (void)state;
    assert_int_equal(judge(1, 3000), MIRE_VERDICT_SEND);
    launch.launch = 1;
    assert_int_equal(mire__rate_limiter_wait(&number, &limiter, &launch, &signature, now_ns, &settings),
                     MIRE_VERDICT_SEND);
    assert_int_equal(judge_at(MIRE_TRIGGER_CPU, 1, 3000, WALL_MS), MIRE_VERDICT_SEND);
}

static void the_daily_cap_holds_over_restarts_and_ends_with_the_day(void **state)
{
    (void)state;
    settings.daily_cap = 3;
    for (uint32_t i = 0; i < 5; i++) {
        memset(&limiter, 0, sizeof(limiter)); /* another process */
        assert_int_equal(judge(1, 3000), i < 3 ? MIRE_VERDICT_SEND : MIRE_VERDICT_DAILY);
    }
    assert_int_equal(dropped(MIRE_DROP_DAILY), 2);
    memset(&limiter, 0, sizeof(limiter));
    assert_int_equal(judge_at(MIRE_TRIGGER_BUSY, 1, 3000, WALL_MS + DAY_MS), MIRE_VERDICT_SEND);
    assert_int_equal(held.count, 2);
}

static void of_stacks_too_short_to_mean_anything_the_first_is_sent(void **state)
{
    struct event hang = hang_of(MIRE_TRIGGER_BUSY, 3000);

    (void)state;
    settings.suppress_ms = 0;
    for (uint32_t i = 0; i < 3; i++) {
        signature_of(1);
        signature.deepest = settings.depth_least - 1;
        assert_int_equal(
            mire__rate_limiter_judge(&held, &limiter, store, &hang, &signature, now_ns, WALL_MS, &settings),
            i == 0 ? MIRE_VERDICT_SEND : MIRE_VERDICT_SHORT);
    }
    assert_int_equal(dropped(MIRE_DROP_SHORT), 2);
}

static void stacks_of_which_nothing_is_known_are_never_the_same(void **state)
{
    struct event hang = hang_of(MIRE_TRIGGER_BUSY, 3000);
    uint64_t number;

    (void)state;
    signature = (struct stack_signature){.deepest = 9};
    for (int i = 0; i < 3; i++)
        assert_int_equal(mire__rate_limiter_wait(&number, &limiter, &hang, &signature, now_ns, &settings),
                         MIRE_VERDICT_SEND);
}

/* Five hangs in a day, none with a stack: they may differ. */
static void hangs_without_a_stack_are_not_one_report_a_day(void **state)
{
    (void)state;
    signature = (struct stack_signature){0};
    for (uint32_t i = 0; i < 2 * settings.daily_cap; i++) {
        struct event hang = hang_of(MIRE_TRIGGER_BUSY, i % 2 ? 800 : 9000);

        assert_int_equal(
            mire__rate_limiter_judge(&held, &limiter, store, &hang, &signature, now_ns, WALL_MS, &settings),
            MIRE_VERDICT_SEND);
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct event hang = hang_of(MIRE_TRIGGER_BUSY, i % 2 ? 800 : 9000);

        assert_int_equal(
            mire__rate_limiter_judge(&held, &limiter, store, &hang, &signature, now_ns, WALL_MS, &settings),
            MIRE_VERDICT_DAILY);
    }
}

static void what_the_app_asks_for_has_its_daily_cap_only_and_a_test_none(void **state)
{
    (void)state;
    settings.daily_cap = 4;
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(judge_at(MIRE_TRIGGER_CALL, 1, 0, WALL_MS), i < 4 ? MIRE_VERDICT_SEND : MIRE_VERDICT_DAILY);
        assert_int_equal(judge_at(MIRE_TRIGGER_TEST, 1, 0, WALL_MS), MIRE_VERDICT_SEND);
    }
}

static void without_suppression_all_are_sent_up_to_the_cap(void **state)
{
    (void)state;
    settings.suppress_ms = 0;
    for (uint32_t i = 0; i < settings.daily_cap + 1; i++)
        assert_int_equal(judge(1, 3000), i < settings.daily_cap ? MIRE_VERDICT_SEND : MIRE_VERDICT_DAILY);
}

static void one_that_could_not_be_stored_is_told_by_the_next(void **state)
{
    struct event hang = hang_of(MIRE_TRIGGER_BUSY, 3000);

    (void)state;
    judge(1, 3000);
    judge(1, 2000);
    now_ns += UNIT_NS;
    assert_int_equal(judge(1, 3000), MIRE_VERDICT_SEND);
    hang.suppressed = held;
    mire__rate_limiter_undo(&limiter, store, &hang, WALL_MS);
    now_ns += UNIT_NS;
    assert_int_equal(judge(1, 3000), MIRE_VERDICT_SEND);
    assert_int_equal(held.count, 2);
    assert_int_equal(held.duration_ms, 5000);
}

/* The twin keeps every hang of every stack, and decides each again from the first on. */
enum { STACKS = 5, EVENTS = 400 };

struct arrival {
    uint64_t at_ns, duration_ns;
    bool sent;
};

static uint64_t fibonacci(uint32_t n)
{
    return n < 2 ? 1 : fibonacci(n - 1) + fibonacci(n - 2);
}

static bool twin_sends(struct arrival *events, uint32_t count)
{
    uint32_t steps = 0, held_count = 0;
    uint64_t sent_ns = 0, longest_ns = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct arrival *event = &events[i];
        bool over = i == 0 || event->at_ns - sent_ns >= fibonacci(steps) * UNIT_NS;

        event->sent = over || event->duration_ns >= 2 * longest_ns;
        if (i > 0 && over)
            steps = held_count > 0 ? steps + 1 : 0;
        held_count = event->sent ? 0 : held_count + 1;
        sent_ns = event->sent ? event->at_ns : sent_ns;
        longest_ns = event->sent && event->duration_ns > longest_ns ? event->duration_ns : longest_ns;
    }
    return events[count - 1].sent;
}

static void waiting_is_that_of_its_naive_twin(void **state)
{
    static struct arrival events[STACKS][EVENTS];
    uint32_t counts[STACKS] = {0}, sent_count = 0;
    unsigned seed = test_seed();

    (void)state;
    srandom(seed);
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint32_t stack = (uint32_t)random() % STACKS;
        struct event hang = hang_of(MIRE_TRIGGER_BUSY, 2000 + (uint64_t)random() % 8000);
        uint64_t number;
        bool sent;

        now_ns += (uint64_t)random() % (random() % 20 == 0 ? 20 : 1) * UNIT_NS + (uint64_t)random() % UNIT_NS;
        events[stack][counts[stack]++] = (struct arrival){now_ns, mire__event_duration_ns(&hang), false};
        sent = mire__rate_limiter_wait(&number, &limiter, &hang, signature_of(stack), now_ns, &settings) ==
               MIRE_VERDICT_SEND;
        assert_int_equal(sent, twin_sends(events[stack], counts[stack]));
        sent_count += sent;
    }
    assert_in_range(sent_count, STACKS + 1, EVENTS - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_of_a_stack_is_sent_and_the_next_counted),
        TEST(the_wait_grows_along_the_fibonacci_numbers),
        TEST(a_wait_without_one_begins_anew),
        TEST(other_stacks_between_do_not_defeat_it),
        TEST(a_drift_of_two_instructions_does_not_defeat_it),
        TEST(one_twice_as_long_as_any_sent_is_sent),
        TEST(a_launch_is_not_the_same_as_a_later_turn),
        TEST(the_daily_cap_holds_over_restarts_and_ends_with_the_day),
        TEST(of_stacks_too_short_to_mean_anything_the_first_is_sent),
        TEST(hangs_without_a_stack_are_not_one_report_a_day),
        TEST(stacks_of_which_nothing_is_known_are_never_the_same),
        TEST(what_the_app_asks_for_has_its_daily_cap_only_and_a_test_none),
        TEST(without_suppression_all_are_sent_up_to_the_cap),
        TEST(one_that_could_not_be_stored_is_told_by_the_next),
        TEST(waiting_is_that_of_its_naive_twin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
