/* test_asking.c - pings of a lane: posts, answers, and the end of asking. */
#include "capture/asking.h"
#include "platform/platform.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { LANE = 3, PATIENCE_MS = 1000 };
#define MS(value) ((uint64_t)(value)*MIRE_NS_PER_MS)

static _Atomic uint32_t wake;
static struct {
    _Atomic unsigned calls;
    uint64_t token;
    int answer;
} queue;

static int take(void *context, uint64_t token)
{
    assert_ptr_equal(context, &queue);
    queue.token = token;
    atomic_fetch_add(&queue.calls, 1);
    return queue.answer;
}

static struct check check;
static uint64_t number;
static struct asking asking;

static int fresh(void **state)
{
    (void)state;
    mire__asking_reset();
    memset(&queue, 0, sizeof(queue));
    memset(&asking, 0, sizeof(asking));
    number = LANE;
    check = (struct check){.settings = MIRE_SETTINGS_INIT, .wake = &wake, .now_ns = mire__now_ns()};
    atomic_store(&wake, 0);
    return 0;
}

/* A look after_ms later. Posts are stamped by the real clock, so simulated time must not run ahead of it. */
static struct loop_response look(unsigned after_ms)
{
    struct loop_response response;

    check.now_ns = mire__now_ns() + MS(after_ms);
    mire__asking_look(&response, &asking, &check, LANE, 0, MS(PATIENCE_MS));
    return response;
}

static void nobody_is_asked_without_a_start(void **state)
{
    (void)state;
    struct loop_response response = look(0);

    assert_true(response.next_ns == UINT64_MAX);
    assert_int_equal(response.waiting_ns, 0);
    assert_int_equal(mire__asking_stop(number), MIRE_E_STATE);
}

static void the_interval_is_a_quarter_of_the_threshold_unless_given(void **state)
{
    (void)state;
    assert_int_equal(mire__asking_start(&number, LANE, take, &queue, 0), MIRE_OK);
    assert_int_equal(mire__asking_start(&number, LANE, take, &queue, 0), MIRE_E_STATE);
    assert_in_range((look(0).next_ns - check.now_ns) / MIRE_NS_PER_MS, 500, 1500);
    assert_int_equal(mire__asking_stop(number), MIRE_OK);
    assert_int_equal(mire__asking_start(&number, LANE, take, &queue, 70), MIRE_OK);
    assert_in_range((look(0).next_ns - check.now_ns) / MIRE_NS_PER_MS, 70, 499);
}

static void one_token_at_a_time_and_the_next_when_it_is_answered(void **state)
{
    (void)state;
    struct loop_response response;
    uint64_t first;

    mire__asking_start(&number, LANE, take, &queue, 500);
    look(0);
    assert_int_equal(queue.calls, 1);
    first = queue.token;
    response = look(3000);
    assert_int_equal(queue.calls, 1);
    assert_in_range(response.waiting_ns / MIRE_NS_PER_MS, 3000, 4999);
    assert_true(response.next_ns == UINT64_MAX); /* the answer wakes */
    mire__asking_as_answer(first + 16);          /* not yet posted */
    assert_int_equal(wake, 0);
    mire__asking_as_answer(first);
    assert_int_equal(wake, 1);
    response = look(3000);
    assert_true(response.answered_ns != 0 && response.answered_ns <= mire__now_ns());
    assert_int_equal(queue.calls, 2);
    assert_true(queue.token != first);
}

static void an_answer_in_time_wakes_nobody(void **state)
{
    (void)state;
    mire__asking_start(&number, LANE, take, &queue, 500);
    look(0);
    mire__asking_as_answer(queue.token);
    assert_int_equal(wake, 0);
    assert_true(look(100).answered_ns != 0);
    assert_int_equal(look(200).waiting_ns, 0);
    assert_int_equal(queue.calls, 1);
}

static void what_is_told_already_does_not_count_again(void **state)
{
    (void)state;
    struct loop_response response;

    mire__asking_start(&number, LANE, take, &queue, 500);
    look(0);
    mire__asking_reported(&asking, mire__now_ns() + MS(2000));
    response = look(2700);
    assert_in_range(response.waiting_ns / MIRE_NS_PER_MS, 700, 1999);
    assert_int_equal(response.slack_ns, 0);
}

static void a_queue_that_is_full_is_asked_again_an_interval_later(void **state)
{
    (void)state;
    queue.answer = -1;
    mire__asking_start(&number, LANE, take, &queue, 500);
    assert_int_equal(look(0).waiting_ns, 0);
    look(400);
    assert_int_equal(queue.calls, 1);
    look(600);
    assert_int_equal(queue.calls, 2);
    assert_int_equal(look(9000).waiting_ns, 0);
}

static void the_end_of_asking_ends_the_wait(void **state)
{
    (void)state;
    struct loop_response response;

    mire__asking_start(&number, LANE, take, &queue, 500);
    look(0);
    mire__asking_stop(number);
    response = look(5000);
    assert_true(response.answered_ns == check.now_ns);
    assert_int_equal(response.waiting_ns, 0);
    assert_true(response.next_ns == UINT64_MAX);
    mire__asking_start(&number, LANE, take, &queue,
                       500); /* another token: an answer to the earlier one does not count */
    mire__asking_as_answer(queue.token);
    look(5000);
    assert_int_equal(queue.calls, 2);
    assert_true(look(8000).waiting_ns > MS(2000));
}

static void an_asking_of_before_stops_nobody_elses(void **state)
{
    (void)state;
    uint64_t before;

    mire__asking_start(&before, LANE, take, &queue, 500);
    mire__asking_reset();
    mire__asking_start(&number, LANE, take, &queue, 500);
    assert_int_equal(mire__asking_stop(before), MIRE_E_STATE);
    assert_int_equal(mire__asking_stop(number), MIRE_OK);
}

static _Atomic uint32_t posting, go_on;

static int take_long(void *context, uint64_t token)
{
    (void)token;
    atomic_store(&posting, 1);
    mire__futex_wake(&posting);
    while (atomic_load(&go_on) == 0)
        mire__futex_wait(&go_on, 0, UINT64_MAX);
    atomic_store((_Atomic uint32_t *)context, 1);
    return 0;
}

static void *look_once(void *unused)
{
    (void)unused;
    look(0);
    return NULL;
}

static void *let_go(void *unused)
{
    (void)unused;
    atomic_store(&go_on, 1);
    mire__futex_wake(&go_on);
    return NULL;
}

static void stop_waits_until_post_has_returned(void **state)
{
    (void)state;
    static _Atomic uint32_t returned;
    pthread_t looker, releaser;

    mire__asking_start(&number, LANE, take_long, &returned, 500);
    pthread_create(&looker, NULL, look_once, NULL);
    while (atomic_load(&posting) == 0)
        mire__futex_wait(&posting, 0, UINT64_MAX);
    pthread_create(&releaser, NULL, let_go, NULL);
    assert_int_equal(mire__asking_stop(number), MIRE_OK);
    assert_int_equal(returned, 1);
    pthread_join(looker, NULL);
    pthread_join(releaser, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nobody_is_asked_without_a_start, fresh),
        cmocka_unit_test_setup(the_interval_is_a_quarter_of_the_threshold_unless_given, fresh),
        cmocka_unit_test_setup(one_token_at_a_time_and_the_next_when_it_is_answered, fresh),
        cmocka_unit_test_setup(an_answer_in_time_wakes_nobody, fresh),
        cmocka_unit_test_setup(what_is_told_already_does_not_count_again, fresh),
        cmocka_unit_test_setup(a_queue_that_is_full_is_asked_again_an_interval_later, fresh),
        cmocka_unit_test_setup(the_end_of_asking_ends_the_wait, fresh),
        cmocka_unit_test_setup(an_asking_of_before_stops_nobody_elses, fresh),
        cmocka_unit_test_setup(stop_waits_until_post_has_returned, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
