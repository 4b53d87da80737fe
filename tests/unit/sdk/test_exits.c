/* test_exits.c - the evidence of a watched process: by the public functions, in children that really end. */
#include "core/facts.h"
#include "exit/trail.h"
#include "mire/exit.h"
#include "platform/platform.h"
#include "report/report.h"
#include "store/ends.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <dirent.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

/* The evidence of a child, before it is judged. */
struct left {
    int runs;
    struct evidence evidence;
    uint32_t rows;
};

static void start(const char *dir, unsigned signals)
{
    mire_options *options = mire_options_new();

    mire_options_set_app(options, "mapview", "8.0.38");
    mire_options_set_store(options, dir);
    mire_options_set_signals(options, signals);
    if (mire_start(options) != MIRE_OK)
        _exit(90);
    mire_options_free(options);
}

static void idle_ms(int ms)
{
    uint64_t end_ns = mire__now_ns() + (uint64_t)ms * MIRE_NS_PER_MS;

    while (mire__now_ns() < end_ns)
        poll(NULL, 0, 20);
}

static bool take(void *context, const struct store_run *run)
{
    struct left *left = context;

    left->runs++;
    assert_int_equal(mire__evidence_read(&left->evidence, &left->rows, run->evidence, run->size), MIRE_OK);
    return false;
}

static struct left after_child(const char *dir, void (*live)(const char *dir), int *status)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct left left = {0};
    struct store *store;
    pid_t child = fork();

    for (int number = 1; child == 0 && number < SIGRTMIN; number++)
        signal(number, SIG_DFL);
    if (child == 0) {
        live(dir);
        _exit(91);
    }
    assert_int_equal(waitpid(child, status, 0), child);
    assert_int_equal(mire__store_open(&store, dir, &caps), MIRE_OK);
    mire__store_runs_recover(store, take, &left);
    mire__store_close(store);
    return left;
}

static void start_and_exit(const char *dir)
{
    start(dir, 3);
    exit(0);
}

static void an_exit_is_a_clean_stop(void **state)
{
    int status;
    struct left left = after_child(*state, start_and_exit, &status);

    assert_int_equal(status, 0);
    assert_int_equal(left.runs, 1);
    assert_int_not_equal(atomic_load(&left.evidence.stopped_ns), 0);
    assert_string_equal(left.evidence.start.app_version, "8.0.38");
    assert_string_not_equal(left.evidence.start.os_build, "");
    assert_int_not_equal(left.evidence.start.start_ticks, 0);
}

static void tell_all(const char *dir)
{
    mire_set_foreground(1); /* before the start: kept */
    start(dir, 3);
    idle_ms(50);
    mire_set_quit(MIRE_QUIT_SESSION);
    _exit(5);
}

static void what_the_app_tells_is_noted(void **state)
{
    int status;
    struct left left = after_child(*state, tell_all, &status);

    assert_int_equal(WEXITSTATUS(status), 5);
    assert_int_equal(atomic_load(&left.evidence.ground) & 3, MIRE_GROUND_FORE);
    assert_int_equal(atomic_load(&left.evidence.quit), MIRE_QUIT_SESSION);
    assert_int_equal(atomic_load(&left.evidence.left), MIRE_LEFT_EXIT);
    assert_int_equal(atomic_load(&left.evidence.stopped_ns), 0);
}

static void grow_and_die(const char *dir)
{
    start(dir, 3);
    for (int i = 0; i < 80; i++) {
        char *memory = malloc(MIB);

        for (int k = 0; k < 100; k++) /* each page often, so that it takes processor time */
            memset(memory, k, MIB);
        idle_ms(20);
    }
    raise(SIGKILL);
}

static void the_trail_follows_a_process_that_works(void **state)
{
    int status;
    struct left left = after_child(*state, grow_and_die, &status);
    const struct trail_row *rows = left.evidence.trail;

    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_true(left.rows >= 3);
    assert_true(rows[left.rows - 1].footprint_bytes >= rows[0].footprint_bytes + 20 * MIB);
    assert_true(rows[left.rows - 1].thread_count >= 3 && rows[left.rows - 1].fd_count >= 3);
    assert_int_equal(atomic_load(&left.evidence.footprint_peak_bytes), rows[left.rows - 1].footprint_bytes);
}

static void idle_for_long(const char *dir)
{
    start(dir, 3);
    poll(NULL, 0, 2000);
    raise(SIGKILL);
}

/* One look at the start, and more only while the look itself makes the process grow. */
static void a_process_that_idles_is_left_alone(void **state)
{
    int status;
    struct left left = after_child(*state, idle_for_long, &status);

    assert_in_range(left.rows, 1, 6);
    for (uint32_t i = 0; i < left.rows; i++) {
        uint64_t at_ns = left.evidence.trail[i].boot_ns - left.evidence.start.boot_ns;

        assert_false(at_ns > MIRE_NS_PER_S && at_ns < 1900 * MIRE_NS_PER_MS); /* then the wait is over */
    }
}

static void become_foreground(const char *dir)
{
    start(dir, 3);
    idle_ms(300);
    mire_set_foreground(1);
    idle_ms(1400);
    raise(SIGKILL);
}

static void a_new_foreground_is_seen_to_last(void **state)
{
    int status;
    struct left left = after_child(*state, become_foreground, &status);
    uint64_t since_ns = (atomic_load(&left.evidence.ground) >> 2) * 1000;

    assert_true(left.rows >= 2);
    assert_true(left.evidence.trail[left.rows - 1].boot_ns >= since_ns + MIRE_NS_PER_S);
}

static void stop_and_start(const char *dir)
{
    start(dir, 3);
    mire_stop(NULL);
    start(dir, 3);
    raise(SIGKILL);
}

static void a_process_is_one_run_however_often_it_starts(void **state)
{
    int status;
    struct left left = after_child(*state, stop_and_start, &status);

    assert_int_equal(left.runs, 1);
    assert_int_equal(atomic_load(&left.evidence.stopped_ns), 0);
}

static void fork_and_wait(const char *dir)
{
    int status;
    pid_t child;

    start(dir, 3);
    idle_ms(50);
    child = fork();
    if (child == 0) {
        idle_ms(100); /* its first wait restarts the SDK */
        raise(SIGKILL);
    }
    waitpid(child, &status, 0);
    _exit(WIFSIGNALED(status) ? 6 : 92);
}

static void a_forked_child_is_a_run_of_its_own(void **state)
{
    int status;
    struct left left = after_child(*state, fork_and_wait, &status);

    assert_int_equal(WEXITSTATUS(status), 6);
    assert_int_equal(left.runs, 2);
}

static void touch_no_signals(const char *dir)
{
    struct sigaction segv, term;

    start(dir, 0);
    sigaction(SIGSEGV, NULL, &segv);
    sigaction(SIGTERM, NULL, &term);
    _exit(segv.sa_handler == SIG_DFL && term.sa_handler == SIG_DFL ? 7 : 93);
}

static void an_app_may_keep_its_signals(void **state)
{
    int status;

    after_child(*state, touch_no_signals, &status);
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_int_equal(mire_options_set_signals(NULL, 0), MIRE_E_ARG);
}

static void which_signals_has_bounds(void **state)
{
    mire_options *options = mire_options_new();

    (void)state;
    assert_int_equal(mire_options_set_signals(options, 4), MIRE_E_RANGE);
    assert_int_equal(mire_options_set_signals(options, MIRE_SIGNALS_QUIT), MIRE_OK);
    mire_options_free(options);
}

static void ends_of_earlier_runs_have_bounds(void **state)
{
    mire_options *options = mire_options_new();
    const char *run = mire_run();

    (void)state;
    assert_int_equal(strlen(run), 32);
    assert_string_equal(mire_run(), run);
    assert_int_equal(mire_options_add_end(NULL, run, MIRE_END_EXIT, 0), MIRE_E_ARG);
    assert_int_equal(mire_options_add_end(options, NULL, MIRE_END_EXIT, 0), MIRE_E_ARG);
    assert_int_equal(mire_options_add_end(options, "0123", MIRE_END_EXIT, 0), MIRE_E_ARG);
    assert_int_equal(mire_options_add_end(options, "0123456789abcdef0123456789ABCDEF", MIRE_END_EXIT, 0), MIRE_E_ARG);
    assert_int_equal(mire_options_add_end(options, run, MIRE_END_UNKNOWN, 0), MIRE_E_RANGE);
    assert_int_equal(mire_options_add_end(options, run, MIRE_END_SIGNAL, 0), MIRE_E_RANGE);
    assert_int_equal(mire_options_add_end(options, run, MIRE_END_HANG, 9), MIRE_E_RANGE);
    for (int i = 0; i < 16; i++)
        assert_int_equal(mire_options_add_end(options, run, MIRE_END_SIGNAL, 11), MIRE_OK);
    assert_int_equal(mire_options_add_end(options, run, MIRE_END_HANG, 0), MIRE_E_FULL);
    mire_options_free(options);
}

static void crash(const char *dir)
{
    start(dir, 3);
    raise(SIGSEGV);
}

static void the_app_learns_how_its_previous_run_ended(void **state)
{
    struct mire_run_end end = {.seen_wall_ms = 7};
    void (*lives[])(const char *) = {NULL, start_and_exit, crash};
    const char *const verdicts[] = {"", "clean_exit", "crash"};

    assert_int_equal(mire_previous_end(NULL, 0), MIRE_E_ARG);
    assert_int_equal(mire_previous_end(&end, 0), MIRE_E_STATE);
    assert_int_equal(end.seen_wall_ms, 0);
    for (size_t i = 0; i < MIRE_COUNT(lives); i++) {
        uint64_t begin_ms = mire__wall_now_ms();
        pid_t child = lives[i] ? fork() : -1;

        if (child == 0) {
            signal(SIGSEGV, SIG_DFL);
            lives[i](*state);
            _exit(91);
        }
        if (child > 0)
            assert_int_equal(waitpid(child, NULL, 0), child);
        start(*state, 0);
        assert_int_equal(mire_previous_end(&end, 300000), MIRE_OK);
        assert_string_equal(end.verdict, verdicts[i]);
        assert_true(end.verdict[0] ? end.start_wall_ms + 1000 >= begin_ms && end.seen_wall_ms >= end.start_wall_ms
                                   : end.seen_wall_ms == 0);
        assert_int_equal(mire_stop(NULL), MIRE_OK);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_of_earlier_runs_have_bounds),
        CASE(the_app_learns_how_its_previous_run_ended),
        CASE(an_exit_is_a_clean_stop),
        CASE(what_the_app_tells_is_noted),
        CASE(the_trail_follows_a_process_that_works),
        CASE(a_process_that_idles_is_left_alone),
        CASE(a_new_foreground_is_seen_to_last),
        CASE(a_process_is_one_run_however_often_it_starts),
        CASE(a_forked_child_is_a_run_of_its_own),
        CASE(an_app_may_keep_its_signals),
        cmocka_unit_test(which_signals_has_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
