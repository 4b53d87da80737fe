/* test_gate.c - when the gate sees a thread as busy or idle. */
#include "gate/gate.h"
#include "gate/hooks.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static _Atomic uint32_t wake;
static _Atomic uint64_t left_ns;

static uint64_t turn(void)
{
    struct gate_view view;

    return mire__gate_look(&view, 0) ? view.turn : 0;
}

static const char names[][MIRE_GATE_NAME_BYTES] = {"painter"};
static int started_in_child;

static void note_child(void *context)
{
    started_in_child += *(int *)context;
}

static int open_gate(void **state)
{
    static int one = 1;
    const struct gate_options options = {
        .wake = &wake, .left_ns = &left_ns, .on_child = note_child, .context = &one, .names = names, .names_count = 1};

    (void)state;
    mire__hooks_bind(RTLD_DEFAULT);
    mire__gate_open(&options);
    assert_int_equal(mire__gate_enter(0, NULL), 0);
    atomic_store(&wake, 0);
    return 0;
}

static int close_gate(void **state)
{
    (void)state;
    mire__gate_stop();
    return 0;
}

static void busy_until_the_first_wait_then_a_turn_each(void **state)
{
    (void)state;
    struct gate_view view;
    uint64_t first = turn();

    mire__gate_look(&view, 0);
    assert_int_equal(view.turn & 1, 1);
    assert_int_equal(view.kind, 0);
    errno = 77;
    assert_int_equal(mire__hook_poll(NULL, 0, 0), 0);
    assert_int_equal(errno, 77);
    mire__gate_look(&view, 0);
    assert_int_equal(view.turn, first + 2);
    assert_int_equal(view.kind, 1);
    assert_int_equal(view.begun_turn, 0);
    assert_int_equal(mire__hook_poll(NULL, 0, 1), 0);
    assert_int_equal(turn(), first + 4);
}

static void the_answer_and_errno_are_the_calls_own(void **state)
{
    (void)state;
    assert_int_equal(mire__hook_epoll_wait(-1, NULL, 1, 0), -1);
    assert_true(errno == EBADF || errno == EINVAL || errno == EFAULT);
}

static void a_parked_checker_is_woken_by_the_next_turn(void **state)
{
    (void)state;
    assert_int_equal(mire__gate_park(1), 1);
    mire__gate_as_wait_begin(MIRE_WAITS_ALL, MIRE_WAIT_LONG, MIRE_CALL_HERE);
    assert_int_equal(mire__gate_park(1), 0);
    assert_int_equal(wake, 0);
    mire__gate_as_wait_end(false);
    assert_int_equal(wake, 1);
}

static void the_end_of_a_watched_turn_is_timed(void **state)
{
    (void)state;
    struct gate_view view;
    uint64_t now = turn(), before = mire__now_ns();

    assert_true(mire__gate_watch_end(0, now));
    assert_false(mire__gate_watch_end(0, now - 2));
    assert_true(mire__gate_watch_end(0, now));
    mire__gate_as_wait_begin(MIRE_WAITS_ALL, MIRE_WAIT_LONG, MIRE_CALL_HERE);
    assert_int_equal(wake, 1);
    mire__gate_look(&view, 0);
    assert_int_equal(view.ended_turn, now);
    assert_true(view.end_ns >= before && view.end_ns <= mire__now_ns());
    assert_false(mire__gate_watch_end(0, now));
}

static void *poll_elsewhere(void *unused)
{
    mire__hook_poll(NULL, 0, 0);
    mire__gate_as_mark_enter();
    return unused;
}

static void other_threads_do_not_count(void **state)
{
    (void)state;
    pthread_t thread;
    uint64_t before = turn();

    pthread_create(&thread, NULL, poll_elsewhere, NULL);
    pthread_join(thread, NULL);
    assert_int_equal(turn(), before);
}

/* ---- further threads ---- */

static struct {
    int lane, again;
    uint32_t tid;
    struct gate_view before, after;
    bool exited, exited_again;
} further;

static void *enter_and_poll(void *name)
{
    further.lane = mire__gate_enter(0, name);
    further.again = mire__gate_enter(0, "other");
    further.tid = mire__tid();
    mire__gate_look(&further.before, (uint32_t)further.lane);
    mire__hook_poll(NULL, 0, 0);
    mire__gate_look(&further.after, (uint32_t)further.lane);
    further.exited = mire__gate_exit();
    further.exited_again = mire__gate_exit();
    return NULL;
}

static void run(void *(*thread_main)(void *), void *argument)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, thread_main, argument), 0);
    pthread_join(thread, NULL);
}

static void a_thread_that_enters_has_turns_of_its_own(void **state)
{
    (void)state;
    uint64_t mine = turn();
    struct gate_view view;

    run(enter_and_poll, "drawing");
    assert_int_equal(further.lane, 1);
    assert_int_equal(further.again, 1);
    assert_string_equal(mire__gate_name(1), "drawing");
    assert_int_equal(wake, 1); /* the check thread has one more to look at */
    assert_int_equal(further.before.tid, further.tid);
    assert_int_equal(further.after.turn, further.before.turn + 2);
    assert_int_equal(turn(), mine);
    assert_true(further.exited);
    assert_false(further.exited_again);
    assert_false(mire__gate_look(&view, 1));
}

static void *poll_named(void *name)
{
    pthread_setname_np(pthread_self(), name);
    mire__hook_poll(NULL, 0, 0);
    further.tid = mire__tid();
    further.exited = mire__gate_look(&further.after, 1) && further.after.tid == further.tid;
    mire__gate_exit();
    return NULL;
}

static void a_thread_is_watched_by_its_name(void **state)
{
    (void)state;
    run(poll_named, "worker");
    assert_false(further.exited);
    run(poll_named, "painter");
    assert_true(further.exited);
    assert_int_equal(further.after.turn & 1, 1);
    assert_int_equal(further.after.kind, 1);
}

static void *enter_and_end(void *unused)
{
    further.lane = mire__gate_enter(0, NULL);
    return unused;
}

static void lanes_are_few_and_a_gone_threads_is_free_again(void **state)
{
    (void)state;
    for (int lane = 1; lane < MIRE_WATCHED_MAX; lane++) {
        run(enter_and_end, NULL);
        assert_int_equal(further.lane, lane);
    }
    run(enter_and_end, NULL);
    assert_int_equal(further.lane, -1);
    mire__gate_release(3);
    run(enter_and_end, NULL);
    assert_int_equal(further.lane, 3);
    mire__gate_stop();
    run(enter_and_end, NULL);
    assert_int_equal(further.lane, -1); /* not open */
    open_gate(NULL);
    run(enter_and_end, NULL); /* in the place of one that ended after the watch it belonged to */
    assert_int_equal(further.lane, 1);
    for (uint32_t lane = 1; lane < MIRE_WATCHED_MAX; lane++)
        mire__gate_release(lane);
}

static void a_stopped_watch_is_left_at_the_next_pass(void **state)
{
    (void)state;
    struct gate_view view;

    mire__gate_stop();
    assert_false(mire__gate_look(&view, 0));
    mire__hook_poll(NULL, 0, 0);
    assert_false(mire__gate_exit());
    open_gate(NULL);
    assert_true(mire__gate_look(&view, 0));
}

static void a_launch_began_before_the_gate(void **state)
{
    (void)state;
    struct gate_view view;

    mire__gate_exit();
    assert_int_equal(mire__gate_enter(12345, NULL), 0);
    mire__gate_look(&view, 0);
    assert_int_equal(view.begun_turn, view.turn);
    assert_int_equal(view.begun_ns, 12345);
    mire__hook_poll(NULL, 0, 0);
    mire__gate_look(&view, 0);
    assert_int_equal(view.begun_turn, view.turn - 2);
    assert_int_equal(view.ended_turn, view.begun_turn); /* no thread had to ask */
}

static void a_turns_begin_is_exact(void **state)
{
    (void)state;
    struct ticks_scale scale;
    struct gate_view view;
    uint64_t before_ns, after_ns, begin_ns;

    mire__ticks_scale_init(&scale);
    mire__hook_poll(NULL, 0, 20);
    before_ns = mire__now_ns();
    mire__hook_poll(NULL, 0, 0);
    after_ns = mire__now_ns();
    usleep(250000);
    mire__gate_look(&view, 0);
    begin_ns = mire__ticks_to_ns(&scale, view.since_ticks);
    assert_in_range(begin_ns, before_ns - 100000, after_ns + 100000);
}

static uint64_t turn_in_handler;

static void poll_in_handler(int signal)
{
    (void)signal;
    mire__hook_poll(NULL, 0, 0);
    turn_in_handler = turn();
}

static void a_handler_that_polls_inside_a_wait_is_no_turn(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = poll_in_handler}, before;
    enum mire__wait nested;

    sigaction(SIGUSR1, &action, &before);
    nested = mire__gate_as_wait_begin(MIRE_WAITS_ALL, MIRE_WAIT_LONG, MIRE_CALL_HERE);
    assert_false(nested);
    raise(SIGUSR1);
    assert_int_equal(turn_in_handler & 1, 0);
    mire__gate_as_wait_end(nested);
    assert_int_equal(turn() & 1, 1);
    sigaction(SIGUSR1, &before, NULL);
}

static void a_wait_left_by_longjmp_does_not_blind_the_gate(void **state)
{
    (void)state;
    mire__gate_as_wait_begin(MIRE_WAITS_ALL, MIRE_WAIT_LONG,
                             MIRE_CALL_HERE); /* longjmp leaves a wait that was begun and never ended */
    mire__gate_as_wait_end(mire__gate_as_wait_begin(MIRE_WAITS_ALL, MIRE_WAIT_LONG, MIRE_CALL_HERE));
    assert_int_equal(turn() & 1, 1);
}

static void marks_nest(void **state)
{
    (void)state;
    uint64_t before;

    mire__gate_as_mark_enter();
    before = turn();
    assert_int_equal(before & 1, 1);
    mire__gate_as_mark_enter();
    assert_int_equal(turn() & 1, 1);
    assert_true(turn() > before);
    mire__gate_as_mark_leave();
    assert_int_equal(turn() & 1, 1);
    mire__gate_as_mark_leave();
    assert_int_equal(turn() & 1, 0);
    mire__hook_poll(NULL, 0, 0);
    assert_int_equal(turn() & 1, 1);
    mire__gate_as_mark_leave();
    assert_int_equal(turn() & 1, 0);
}

static void an_accept_that_cannot_wait_is_no_turn(void **state)
{
    (void)state;
    uint64_t before = turn();
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    assert_int_equal(mire__hook_accept(fd, NULL, NULL), -1);
    assert_int_equal(turn(), before);
    close(fd);
}

static void only_the_waits_that_are_the_loops_count(void **state)
{
    (void)state;
    struct epoll_event event;
    int own = epoll_create1(EPOLL_CLOEXEC), other = epoll_create1(EPOLL_CLOEXEC);
    uint64_t before = turn();

    mire__gate_as_set_waits(own);
    assert_int_equal(mire__hook_poll(NULL, 0, 0), 0);
    assert_int_equal(mire__hook_epoll_wait(other, &event, 1, 0), 0);
    assert_int_equal(turn(), before);
    assert_int_equal(mire__hook_epoll_wait(own, &event, 1, 0), 0);
    assert_int_equal(turn(), before + 2);
    mire__gate_as_set_waits(MIRE_WAITS_MARKED);
    assert_int_equal(mire__hook_epoll_wait(own, &event, 1, 0), 0);
    assert_int_equal(turn(), before + 2);
    mire__gate_as_mark_leave();
    assert_int_equal(mire__hook_poll(NULL, 0, 0), 0);
    assert_int_equal(turn() & 1, 0); /* idle it stays, until marked */
    mire__gate_as_mark_enter();
    assert_int_equal(turn(), before + 4);
    mire__gate_as_set_waits(MIRE_WAITS_ALL);
    assert_int_equal(mire__hook_poll(NULL, 0, 0), 0);
    assert_int_equal(turn(), before + 6);
    close(own);
    close(other);
}

static void the_first_answer_ends_the_launch_of_a_loop_that_nothing_else_tells_of(void **state)
{
    (void)state;
    struct gate_view view;

    mire__gate_as_answered(); /* no effect: the loop's waits still count */
    assert_int_equal(turn() & 1, 1);
    mire__gate_as_set_waits(MIRE_WAITS_MARKED);
    mire__gate_as_answered();
    assert_true(mire__gate_look(&view, 0));
    assert_int_equal(view.turn & 1, 0);
    assert_int_equal(view.kind, 3);
}

static void a_forked_child_starts_at_its_first_wait(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();

    if (child == 0) {
        bool in_child = mire__gate_in_child() && started_in_child == 0;

        mire__hook_poll(NULL, 0, 0);
        mire__hook_poll(NULL, 0, 0);
        _exit(in_child && started_in_child == 1 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(started_in_child, 0);
    assert_false(mire__gate_in_child());
}

static void a_program_that_ends_itself_says_when(void **state)
{
    (void)state;
    static char *const nothing[] = {NULL};
    int status;
    pid_t child;

    assert_int_equal(mire__hook_execl("/nonexistent", "x", "y", NULL), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(atomic_load(&left_ns), 0); /* it goes on */
    child = vfork();
    if (child == 0) {
        mire__hook_execve("/nonexistent", nothing, nothing); /* NOLINT(clang-analyzer-unix.Vfork): what is tested */
        mire__gate_as_leave(MIRE_LEFT_EXIT);
        mire__hook__exit(atomic_load(&left_ns) == 0 ? 7 : 8);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_int_equal(atomic_load(&left_ns), 0);
    mire__gate_as_leave(MIRE_LEFT_EXIT);
    assert_int_not_equal(atomic_load(&left_ns), 0);
    mire__gate_as_stay();
    assert_int_equal(atomic_load(&left_ns), 0);
    mire__gate_stop();
    mire__gate_as_leave(MIRE_LEFT_EXIT);
    assert_int_equal(atomic_load(&left_ns), 0);
}

static void lists_of_arguments_arrive(void **state)
{
    (void)state;
    static char *const environment[] = {"A=7", NULL};
    int status;
    pid_t child = fork();

    if (child == 0)
        mire__hook_execle("/bin/sh", "sh", "-c", "exit $(($A + $1))", "name", "4", NULL, environment);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 11);
    child = fork();
    if (child == 0)
        mire__hook_execlp("sh", "sh", "-c", "exit $#", "name", "1", "2", "3", NULL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 3);
}

int main(void)
{
#define GATE_TEST(name) cmocka_unit_test_setup_teardown(name, open_gate, close_gate)
    const struct CMUnitTest tests[] = {
        GATE_TEST(busy_until_the_first_wait_then_a_turn_each),
        GATE_TEST(the_answer_and_errno_are_the_calls_own),
        GATE_TEST(a_parked_checker_is_woken_by_the_next_turn),
        GATE_TEST(the_end_of_a_watched_turn_is_timed),
        GATE_TEST(other_threads_do_not_count),
        GATE_TEST(a_thread_that_enters_has_turns_of_its_own),
        GATE_TEST(a_thread_is_watched_by_its_name),
        GATE_TEST(lanes_are_few_and_a_gone_threads_is_free_again),
        GATE_TEST(a_stopped_watch_is_left_at_the_next_pass),
        GATE_TEST(a_launch_began_before_the_gate),
        GATE_TEST(a_turns_begin_is_exact),
        GATE_TEST(a_handler_that_polls_inside_a_wait_is_no_turn),
        GATE_TEST(a_wait_left_by_longjmp_does_not_blind_the_gate),
        GATE_TEST(marks_nest),
        GATE_TEST(an_accept_that_cannot_wait_is_no_turn),
        GATE_TEST(only_the_waits_that_are_the_loops_count),
        GATE_TEST(the_first_answer_ends_the_launch_of_a_loop_that_nothing_else_tells_of),
        GATE_TEST(a_forked_child_starts_at_its_first_wait),
        GATE_TEST(a_program_that_ends_itself_says_when),
        GATE_TEST(lists_of_arguments_arrive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
