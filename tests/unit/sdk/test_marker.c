/* test_marker.c - traces of signals. Each case really ends a forked child; the parent reads its trace. */
#include "exit/marker.h"

#include "exit/evidence.h"
#include "exit/run.h"
#include "mire/exit.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/stores.h"

#define BOTH (MIRE_SIGNALS_CRASH | MIRE_SIGNALS_QUIT)

/* The trace of a child. */
struct trace {
    int status;
    bool crash_file;
    struct evidence evidence;
};

static volatile int *volatile nowhere = (volatile int *)8;

/* A child without cmocka's handlers and without ignored signals. */
static pid_t fork_plain(void)
{
    pid_t child = fork();

    for (int number = 1; child == 0 && number < SIGRTMIN; number++)
        signal(number, SIG_DFL);
    return child;
}

/* In the child. */
static void start(const char *dir, unsigned which)
{
    const struct evidence_start begun = {.pid = (uint32_t)getpid()};
    char path[MIRE_STORE_PATH_MAX];
    struct store *store = store_default(dir);

    if (mire__run_open(store, &begun, MIRE_GROUND_UNKNOWN) != MIRE_OK ||
        !mire__store_run_path(path, store, mire__run_id(), MIRE_STORE_CRASH))
        _exit(90);
    mire__marker_start(path, which, NULL);
}

static bool take(void *context, const struct store_run *run)
{
    struct trace *trace = context;
    uint32_t rows;

    trace->crash_file = run->crash_file;
    assert_int_equal(mire__evidence_read(&trace->evidence, &rows, run->evidence, run->size), MIRE_OK);
    return true;
}

static struct trace after_child(const char *dir, void (*end)(const char *dir))
{
    struct trace trace = {.status = 0};
    struct store *store;
    pid_t child = fork_plain();

    if (child == 0) {
        end(dir);
        _exit(91);
    }
    assert_int_equal(waitpid(child, &trace.status, 0), child);
    store = store_default(dir);
    mire__store_runs_recover(store, take, &trace);
    mire__store_close(store);
    assert_int_equal(trace.evidence.start.pid, child);
    return trace;
}

static void assert_crash(const struct trace *trace, int signal, int status, uint32_t depth)
{
    assert_true(trace->crash_file);
    assert_int_equal(atomic_load(&trace->evidence.crash.signal), signal);
    assert_int_equal(atomic_load(&trace->evidence.crash.depth), depth);
    assert_int_equal(trace->status & 0x7f, status);
}

static void crash_plainly(const char *dir)
{
    start(dir, BOTH);
    *nowhere = 1;
}

static void a_fault_leaves_a_file_and_a_mark_and_ends_as_ever(void **state)
{
    struct trace trace = after_child(*state, crash_plainly);

    assert_crash(&trace, SIGSEGV, SIGSEGV, 1);
    assert_int_equal(trace.evidence.crash.code, SEGV_MAPERR);
    assert_int_equal(trace.evidence.crash.address, 8);
    assert_int_equal(trace.evidence.crash.sender, 0);
}

static void abort_plainly(const char *dir)
{
    start(dir, BOTH);
    abort();
}

static void an_abort_is_its_own(void **state)
{
    struct trace trace = after_child(*state, abort_plainly);

    assert_crash(&trace, SIGABRT, SIGABRT, 1);
    assert_int_equal(trace.evidence.crash.sender, trace.evidence.start.pid);
}

static void raise_each(const char *dir)
{
    static const int numbers[] = {SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};

    for (size_t i = 0; i < MIRE_COUNT(numbers); i++) {
        int status;
        pid_t child = fork();

        if (child == 0) {
            start(dir, BOTH);
            raise(numbers[i]);
            _exit(92);
        }
        if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != numbers[i])
            _exit(93);
    }
    start(dir, BOTH);
    raise(SIGBUS);
}

static void every_crash_signal_ends_the_process_by_itself(void **state)
{
    struct trace trace = {.status = 0};
    struct store *store;
    int status;
    pid_t child = fork_plain();

    if (child == 0)
        raise_each(*state);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    store = store_default(*state);
    mire__store_runs_recover(store, take, &trace); /* six runs; each has its file */
    mire__store_close(store);
    assert_true(trace.crash_file);
}

static void note_and_exit(int number)
{
    _exit(number == SIGSEGV ? 17 : 94);
}

static void crash_with_handler(const char *dir)
{
    signal(SIGSEGV, note_and_exit);
    start(dir, BOTH);
    *nowhere = 1;
}

static void the_handler_before_is_called(void **state)
{
    struct trace trace = after_child(*state, crash_with_handler);

    assert_true(WIFEXITED(trace.status));
    assert_int_equal(WEXITSTATUS(trace.status), 17);
    assert_true(trace.crash_file);
}

static void check_and_exit(int number, siginfo_t *info, void *context)
{
    sigset_t mask;

    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    _exit(number == SIGSEGV && info->si_code == SEGV_MAPERR && context && sigismember(&mask, SIGUSR2) ? 18 : 95);
}

static void crash_with_full_handler(const char *dir)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = check_and_exit};

    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGSEGV, &action, NULL);
    start(dir, BOTH);
    *nowhere = 1;
}

static void it_gets_what_the_kernel_would_give_it(void **state)
{
    struct trace trace = after_child(*state, crash_with_full_handler);

    assert_int_equal(WEXITSTATUS(trace.status), 18);
}

static void crash_again(int number)
{
    (void)number;
    raise(SIGFPE);
}

static void crash_a_third_time(int number)
{
    (void)number;
    raise(SIGBUS);
}

static void crash_in_handlers(const char *dir)
{
    signal(SIGSEGV, crash_again);
    signal(SIGFPE, crash_a_third_time);
    signal(SIGBUS, crash_again); /* never called */
    start(dir, BOTH);
    *nowhere = 1;
}

static void the_third_crash_within_another_ends_the_process(void **state)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* it delays signals raised by a handler until the handler returns */
#endif
    struct trace trace = after_child(*state, crash_in_handlers);

    assert_crash(&trace, SIGSEGV, SIGBUS, 3);
}

static void put_default_back(int number)
{
    signal(number, SIG_DFL);
}

static void crash_with_reset(const char *dir)
{
    signal(SIGSEGV, put_default_back);
    start(dir, BOTH);
    *nowhere = 1;
}

static void a_handler_that_gives_up_its_place_repairs_nothing(void **state)
{
    struct trace trace = after_child(*state, crash_with_reset);

    assert_crash(&trace, SIGSEGV, SIGSEGV, 1);
}

static char *guarded;

static void repair(int number)
{
    (void)number;
    mprotect(guarded, 4096, PROT_READ | PROT_WRITE); /* NOLINT(bugprone-signal-handler): a system call, no more */
}

static void be_repaired(const char *dir)
{
    signal(SIGSEGV, repair);
    start(dir, BOTH);
    for (int i = 0; i < 20; i++) {
        guarded = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *guarded = 1;
    }
    _exit(19);
}

static void a_fault_that_is_repaired_leaves_nothing(void **state)
{
    struct trace trace = after_child(*state, be_repaired);

    assert_int_equal(WEXITSTATUS(trace.status), 19);
    assert_false(trace.crash_file);
    assert_int_equal(atomic_load(&trace.evidence.crash.signal), 0);
    assert_int_equal(atomic_load(&trace.evidence.crash.depth), 0);
}

static volatile int deepest = 1 << 30;

static int overflow(int depth)
{
    volatile char frame[4096];

    frame[0] = (char)depth;
    return depth < deepest ? overflow(depth + 1) + frame[0] : 0;
}

static void use_up_the_stack(const char *dir)
{
    start(dir, BOTH);
    overflow(0);
}

static void an_overflow_of_the_stack_is_marked(void **state)
{
    struct trace trace = after_child(*state, use_up_the_stack);

    assert_crash(&trace, SIGSEGV, SIGSEGV, 1);
}

static void crash_without_directory(const char *dir)
{
    char path[512];

    start(dir, BOTH);
    snprintf(path, sizeof(path), "%s/box", dir);
    chmod(path, 0500);
    if (getuid() == 0 && setuid(65534) != 0) /* root needs no permission */
        _exit(96);
    *nowhere = 1;
}

static void where_no_file_can_be_made_there_is_the_mark(void **state)
{
    struct trace trace = {.status = 0};
    char path[512];
    struct store *store;
    int status;
    pid_t child = fork_plain();

    if (child == 0)
        crash_without_directory(*state);
    assert_int_equal(waitpid(child, &status, 0), child);
    snprintf(path, sizeof(path), "%s/box", (char *)*state);
    chmod(path, 0700);
    store = store_default(*state);
    mire__store_runs_recover(store, take, &trace);
    mire__store_close(store);
    assert_false(trace.crash_file);
    assert_int_equal(atomic_load(&trace.evidence.crash.signal), SIGSEGV);
}

static void crash_in_child(const char *dir)
{
    int status;
    pid_t child;

    start(dir, BOTH);
    child = fork();
    if (child == 0)
        *nowhere = 1;
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
        _exit(97);
    _exit(20);
}

static void a_crash_of_a_forked_child_is_not_the_parents(void **state)
{
    struct trace trace = after_child(*state, crash_in_child);

    assert_int_equal(WEXITSTATUS(trace.status), 20);
    assert_false(trace.crash_file);
    assert_int_equal(atomic_load(&trace.evidence.crash.signal), 0);
}

static void be_told_to_end(const char *dir)
{
    start(dir, BOTH);
    raise(SIGTERM);
}

static void a_signal_that_quits_is_noted_and_ends_the_process(void **state)
{
    struct trace trace = after_child(*state, be_told_to_end);

    assert_int_equal(trace.status & 0x7f, SIGTERM);
    assert_int_equal(atomic_load(&trace.evidence.quit_signal), SIGTERM);
    assert_int_equal(atomic_load(&trace.evidence.quit_sender), trace.evidence.start.pid);
    assert_false(trace.crash_file);
}

static void say_goodbye(int number)
{
    (void)number;
    _exit(21);
}

static void have_own_handlers(const char *dir)
{
    signal(SIGTERM, say_goodbye);
    signal(SIGHUP, SIG_IGN);
    start(dir, BOTH);
    raise(SIGHUP);
    raise(SIGTERM);
}

static void quits_that_the_app_handles_or_ignores_are_left_alone(void **state)
{
    struct trace trace = after_child(*state, have_own_handlers);

    assert_int_equal(WEXITSTATUS(trace.status), 21);
    assert_int_equal(atomic_load(&trace.evidence.quit_signal), 0);
}

static void mark_crashes_only(const char *dir)
{
    struct sigaction now;

    start(dir, MIRE_SIGNALS_CRASH);
    sigaction(SIGTERM, NULL, &now);
    _exit(now.sa_handler == SIG_DFL ? 22 : 98);
}

static void signals_that_are_not_wanted_are_not_handled(void **state)
{
    struct trace trace = after_child(*state, mark_crashes_only);

    assert_int_equal(WEXITSTATUS(trace.status), 22);
}

static void stop_and_look(const char *dir)
{
    struct sigaction now;

    signal(SIGBUS, say_goodbye);
    start(dir, BOTH);
    if (mire__marker_foreign() != 0)
        _exit(99);
    signal(SIGFPE, say_goodbye); /* takes our place */
    if (mire__marker_foreign() != 1u << 3)
        _exit(100);
    mire__marker_stop();
    sigaction(SIGBUS, NULL, &now);
    if (now.sa_handler != say_goodbye)
        _exit(101);
    sigaction(SIGFPE, NULL, &now);
    if (now.sa_handler != say_goodbye)
        _exit(102);
    sigaction(SIGSEGV, NULL, &now);
    _exit(now.sa_handler == SIG_DFL ? 23 : 103);
}

static void whoever_takes_our_place_is_noticed_and_stays(void **state)
{
    struct trace trace = after_child(*state, stop_and_look);

    assert_int_equal(WEXITSTATUS(trace.status), 23);
}

static void start_twice(const char *dir)
{
    start(dir, BOTH);
    mire__run_stop();
    mire__marker_stop();
    start(dir, BOTH);
    *nowhere = 1;
}

static void a_run_goes_on_when_it_is_started_again(void **state)
{
    struct trace trace = after_child(*state, start_twice);

    assert_crash(&trace, SIGSEGV, SIGSEGV, 1);
    assert_int_equal(atomic_load(&trace.evidence.stopped_ns), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_fault_leaves_a_file_and_a_mark_and_ends_as_ever),
        CASE(an_abort_is_its_own),
        CASE(every_crash_signal_ends_the_process_by_itself),
        CASE(the_handler_before_is_called),
        CASE(it_gets_what_the_kernel_would_give_it),
        CASE(the_third_crash_within_another_ends_the_process),
        CASE(a_handler_that_gives_up_its_place_repairs_nothing),
        CASE(a_fault_that_is_repaired_leaves_nothing),
        CASE(an_overflow_of_the_stack_is_marked),
        CASE(where_no_file_can_be_made_there_is_the_mark),
        CASE(a_crash_of_a_forked_child_is_not_the_parents),
        CASE(a_signal_that_quits_is_noted_and_ends_the_process),
        CASE(quits_that_the_app_handles_or_ignores_are_left_alone),
        CASE(signals_that_are_not_wanted_are_not_handled),
        CASE(whoever_takes_our_place_is_noticed_and_stays),
        CASE(a_run_goes_on_when_it_is_started_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
