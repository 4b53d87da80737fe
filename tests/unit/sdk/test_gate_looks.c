/* test_gate_looks.c - which waits end a turn: looks and questions inside the work, and those of the loop. */
#include "gate/gate.h"
#include "gate/hooks.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static _Atomic uint32_t wake;

static uint64_t turn(void)
{
    struct gate_view view;

    return mire__gate_look(&view, 0) ? view.turn : 0;
}

static int open_gate(void **state)
{
    const struct gate_options options = {.wake = &wake};

    (void)state;
    mire__hooks_bind(RTLD_DEFAULT);
    mire__gate_open(&options);
    assert_int_equal(mire__gate_enter(0, NULL), 0);
    return 0;
}

static int close_gate(void **state)
{
    (void)state;
    mire__gate_stop();
    return 0;
}

/* Every wait of a test is made at this call site; the stack depth identifies the caller. */
static __attribute__((noinline)) int wait_here(int timeout_ms)
{
    return mire__hook_poll(NULL, 0, timeout_ms);
}

/* The same with `depth` more frames. */
static __attribute__((noinline)) int wait_deeper(int depth, int timeout_ms)
{
    volatile char frame[64];
    int answer;

    frame[0] = (char)depth;
    answer = depth ? wait_deeper(depth - 1, timeout_ms) : wait_here(timeout_ms);
    frame[1] = frame[0];
    return answer;
}

static void a_look_from_inside_the_work_is_no_turn(void **state)
{
    (void)state;
    struct gate_call calls[MIRE_KNOWN_CALLS];
    uint64_t counts[MIRE_KNOWN_CALLS], before;

    before = turn();
    wait_deeper(3, 0); /* nothing has slept yet: a game's loop may lie anywhere */
    assert_int_equal(turn(), before + 2);
    assert_int_equal(mire__gate_calls(calls, counts, 0), 0);
    wait_deeper(2, 5);
    assert_int_equal(mire__gate_calls(calls, counts, 0), 1);
    before = turn();
    for (int i = 0; i < 100; i++) {
        wait_deeper(3, 0);
        wait_deeper(4, MIRE_WAIT_SHORT_MS);
    }
    assert_int_equal(turn(), before);
    wait_deeper(2, 0); /* the loop's own call */
    assert_int_equal(turn(), before + 2);
    wait_deeper(1, 0); /* further out than it */
    assert_int_equal(turn(), before + 4);
    assert_int_equal(mire__gate_calls(calls, counts, 0), 1);
    assert_true(counts[0] >= 2);
}

static __attribute__((noinline)) int look_for(int fd, int timeout_ms)
{
    struct pollfd key = {.fd = fd, .events = POLLIN};
    volatile char frame[256];
    int answer;

    frame[0] = 0;
    answer = mire__hook_poll(&key, 1, timeout_ms);
    frame[1] = frame[0];
    return answer;
}

static void a_key_that_is_there_ends_no_work(void **state)
{
    (void)state;
    uint64_t before;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "k", 1), 1);
    assert_int_equal(mire__hook_poll(NULL, 0, 5), 0);
    before = turn();
    assert_int_equal(look_for(ends[0], 0), 1);
    assert_int_equal(look_for(ends[0], 1), 1);
    assert_int_equal(turn(), before);
    close(ends[0]);
    close(ends[1]);
}

static __attribute__((noinline)) void ask(int fd, int times, uint64_t turns)
{
    uint64_t before = turn();

    for (int i = 0; i < times; i++)
        assert_int_equal(look_for(fd, -1), 1);
    assert_int_equal(turn(), before + 2 * turns);
}

static void a_question_that_is_answered_at_once_ends_no_work(void **state)
{
    (void)state;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "k", 1), 1);
    wait_deeper(0, 5);
    ask(ends[0], 1, 0);
    ask(ends[0], 2, 1); /* the same place again: it may be a loop */
    wait_deeper(0, 5);
    ask(ends[0], 2, 1);
    for (int i = 0; i < 8; i++)
        wait_deeper(0, 0);
    ask(ends[0], 16, 0); /* the turn began where the thread returns to */
    ask(ends[0], 1, 1);
    ask(ends[0], 2, 1); /* this one began deeper */
    for (int i = 0; i < 60; i++)
        wait_deeper(0, 0);
    ask(ends[0], 64, 0); /* that was the loop */
    ask(ends[0], 1, 1);
    assert_int_equal(look_for(ends[0] + 100, 5), 1); /* POLLNVAL is an answer as well */
    close(ends[0]);
    close(ends[1]);
}

/* select's sets and timeout are passed unchanged, also after an extra look. */
static __attribute__((noinline)) void select_deeper(int fd, bool is_there)
{
    struct timeval timeout = {0, 10000};
    volatile char frame[256];
    fd_set in, out;

    frame[0] = 0;
    FD_ZERO(&in);
    FD_SET(fd, &in);
    FD_ZERO(&out);
    assert_int_equal(mire__hook_select(fd + 1, &in, &out, NULL, &timeout), is_there);
    assert_int_equal(FD_ISSET(fd, &in) != 0, is_there);
    assert_int_equal(timeout.tv_sec, 0);
    assert_int_equal(timeout.tv_usec != 0, is_there);
    FD_SET(fd, &in);
    assert_int_equal(mire__hook_pselect(fd + 1, &in, NULL, NULL, &(struct timespec){0, 10000000}, NULL), is_there);
    assert_int_equal(FD_ISSET(fd, &in) != 0, is_there);
    frame[1] = frame[0];
}

static void a_select_asks_first_as_well(void **state)
{
    (void)state;
    uint64_t before;
    int ends[2], pair[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(pair), 0);
    wait_deeper(0, 5);
    before = turn();
    select_deeper(ends[0], false); /* two waits */
    assert_int_equal(turn(), before + 4);
    for (int i = 0; i < 60; i++)
        wait_deeper(0, 0);
    before = turn();
    assert_int_equal(write(pair[1], "k", 1), 1);
    select_deeper(pair[0], true); /* two questions */
    assert_int_equal(turn(), before);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(pair[i]);
    }
}

static void a_loop_inside_a_callback_looks_as_well(void **state)
{
    (void)state;
    struct gate_call calls[MIRE_KNOWN_CALLS];
    uint64_t counts[MIRE_KNOWN_CALLS], before;

    wait_deeper(1, 5);
    wait_deeper(6, 5); /* deeper: a server was asked, and took its time */
    assert_int_equal(mire__gate_calls(calls, counts, 0), 1);
    wait_deeper(6, 25); /* a dialog's: it has rested */
    assert_int_equal(mire__gate_calls(calls, counts, 0), 2);
    assert_true(calls[0].frame > calls[1].frame);
    before = turn();
    wait_deeper(6, 0);
    assert_int_equal(turn(), before + 2);
    wait_deeper(7, 0);
    assert_int_equal(turn(), before + 2);
    wait_deeper(0, 5); /* further out than all: the first row is the outermost */
    assert_int_equal(mire__gate_calls(calls, counts, 0), 3);
    assert_true(calls[0].frame > calls[1].frame && calls[0].frame > calls[2].frame);
    for (int depth = 10; depth < 20; depth++)
        wait_deeper(depth, 25);
    assert_int_equal(mire__gate_calls(calls, counts, 0), MIRE_KNOWN_CALLS);
    before = turn();
    wait_deeper(0, 0); /* the outermost is never replaced */
    assert_int_equal(turn(), before + 2);
}

int main(void)
{
#define GATE_TEST(name) cmocka_unit_test_setup_teardown(name, open_gate, close_gate)
    const struct CMUnitTest tests[] = {
        GATE_TEST(a_look_from_inside_the_work_is_no_turn),           GATE_TEST(a_key_that_is_there_ends_no_work),
        GATE_TEST(a_question_that_is_answered_at_once_ends_no_work), GATE_TEST(a_select_asks_first_as_well),
        GATE_TEST(a_loop_inside_a_callback_looks_as_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
