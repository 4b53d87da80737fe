/*
 * test_core.c - the public functions: every result code, and the store after a start, a stop, an exit, a kill and a fork.
 */
#include "mire/mire.h"

#include "core/core.h"
#include "core/options.h"
#include "mire/ping.h"
#include "store/store.h"
#include "support/scratch.h"
#include "support/watched.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <linux/magic.h>
#include <signal.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

static void err_has_a_name_and_a_text_for_every_code(void **state)
{
    (void)state;
    for (int code = MIRE_OK; code >= MIRE_E_FORMAT; code--) {
        assert_memory_equal(mire_err_name(code), code ? "MIRE_E_" : "MIRE_OK", 7);
        assert_string_not_equal(mire_err_name(code), "MIRE_E_UNKNOWN");
        assert_string_not_equal(mire_err_text(code), "unknown error");
    }
    assert_string_equal(mire_err_name(1), "MIRE_E_UNKNOWN");
    assert_string_equal(mire_err_name(-99), "MIRE_E_UNKNOWN");
    assert_string_equal(mire_err_text(-99), "unknown error");
    assert_string_equal(mire_err_name(MIRE_E_FORMAT), "MIRE_E_FORMAT");
    assert_string_equal(mire_version(), MIRE_VERSION);
}

static int queue_nothing(void *unused, uint64_t token)
{
    (void)unused;
    (void)token;
    return 0;
}

static void calls_do_nothing_without_a_start(void **state)
{
    (void)state;
    assert_int_equal(mire_stop(NULL), MIRE_E_STATE);
    assert_int_equal(mire_flush(0), MIRE_E_STATE);
    assert_int_equal(mire_flush(600001), MIRE_E_RANGE);
    assert_int_equal(mire_watch_thread(NULL), MIRE_E_STATE);
    assert_int_equal(mire_unwatch_thread(), MIRE_E_STATE);
    assert_int_equal(mire_set_number("foreground_ms", 500), MIRE_E_STATE);
    assert_int_equal(mire_set_number(NULL, 500), MIRE_E_ARG);
    mire_loop_enter();
    mire_loop_leave();
    mire_loop_set_waits(MIRE_WAITS_MARKED);
    assert_int_equal(mire_ping_start(queue_nothing, NULL, 0), MIRE_E_STATE);
    assert_int_equal(mire_ping_stop(), MIRE_E_STATE);
    mire_ping_answer(16);
}

static void start_says_why_it_fails_and_can_be_repeated(void **state)
{
    mire_options *options = mire_options_new();

    assert_int_equal(mire_start(NULL), MIRE_E_ARG);
    assert_int_equal(mire_start(options), MIRE_E_ARG);
    mire_options_set_app(options, "test", "1");
    mire_options_set_store(options, "/proc/nowhere");
    assert_int_equal(mire_start(options), MIRE_E_STORE);
    mire_options_free(options);
    assert_int_equal(mire_stop(NULL), MIRE_E_STATE);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(start(*state), MIRE_OK);
        assert_int_equal(start(*state), MIRE_E_STATE);
        assert_int_equal(mire_flush(0), MIRE_OK);
        assert_int_equal(mire_stop(NULL), MIRE_OK);
    }
}

static void start_from_environment_needs_an_app(void **state)
{
    unsetenv("MIRE_APP");
    assert_int_equal(mire__core_start_from_environment(true, 0), MIRE_E_ARG);
    setenv("MIRE_APP", "test", 1);
    setenv("MIRE_APP_VERSION", "1", 1);
    setenv("MIRE_STORE", *state, 1);
    setenv("MIRE_THRESHOLD_MS", "12x", 1);
#ifdef __SANITIZE_THREAD__
    setenv("MIRE_MEMORY", "off", 1); /* its runtime allocates in a new thread before it knows of that thread */
#endif
    assert_int_equal(mire__core_start_from_environment(true, 0), MIRE_OK);
    assert_int_equal(mire__core_start_from_environment(true, 0), MIRE_E_STATE);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
}

static void hang_is_sealed_when_it_ends_and_waits_without_a_server(void **state)
{
    assert_int_equal(start(*state), MIRE_OK);
    idle_ms(10);
    busy_ms(HANG_MS);
    assert_sealed(*state, 1, idle_nap);
    assert_int_equal(mire_flush(20), MIRE_E_TIMEOUT);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
    assert_int_equal(sealed(*state), 1);
}

static void hang_is_sealed_by_stop_while_it_goes_on(void **state)
{
    assert_int_equal(start(*state), MIRE_OK);
    idle_ms(10);
    busy_ms(HANG_MS);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
    assert_int_equal(sealed(*state), 1);
}

static void installation_outside_the_sample_watches_nothing(void **state)
{
    mire_options *options = options_for(*state);

    mire_options_set_sampling(options, 0);
    assert_int_equal(mire_start(options), MIRE_OK);
    mire_options_free(options);
    idle_ms(10);
    busy_ms(HANG_MS);
    idle_ms(50);
    assert_int_equal(mire_flush(0), MIRE_OK);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
    assert_int_equal(sealed(*state), 0);
}

/* In a process of its own, which can be killed, exit and fork. Returns its wait status. */
static int in_child(const char *dir, void (*act)(void))
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        if (start(dir) != MIRE_OK)
            _exit(99);
        idle_ms(10);
        act();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void hang_and_be_killed(void)
{
    busy_ms(HANG_MS);
    raise(SIGKILL);
}

static void hang_and_exit(void)
{
    busy_ms(HANG_MS);
    exit(5);
}

static void fork_and_hang(void)
{
    int status;

    if (fork() == 0) {
        busy_ms(HANG_MS); /* not watched yet */
        idle_ms(10);
        busy_ms(HANG_MS);
        idle_ms(100);
        exit(0);
    }
    /* Waiting for a child is no waiting call: it would be the parent's hang. */
    while (waitpid(-1, &status, WNOHANG) == 0)
        idle_ms(10);
    exit(0);
}

static void killed_process_is_reported_by_the_next_start(void **state)
{
    assert_int_equal(in_child(*state, hang_and_be_killed), SIGKILL);
    assert_int_equal(sealed(*state), 0);
    assert_int_equal(start(*state), MIRE_OK);
    assert_sealed(*state, 1, idle_nap);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
    assert_int_equal(sealed(*state), 1);
}

static void exit_seals_a_hang_that_goes_on(void **state)
{
    assert_int_equal(WEXITSTATUS(in_child(*state, hang_and_exit)), 5);
    assert_int_equal(sealed(*state), 1);
}

#ifdef __GLIBC__
/* Counts freed small blocks, which the allocator merges when a large one is requested. */
static struct {
    size_t before;
    bool watched;
} small;

static void note_small_blocks(void)
{
    small.before = mallinfo2().fsmblks;
    small.watched = true;
}

/* After all handlers of exit. */
__attribute__((destructor)) static void look_at_small_blocks(void)
{
    if (small.watched)
        _exit(small.before > 0 && mallinfo2().fsmblks < small.before ? 1 : 0);
}

static void free_much_and_exit(void)
{
    static void *blocks[4096];

    for (size_t i = 0; i < MIRE_COUNT(blocks); i++)
        blocks[i] = malloc(40);
    for (size_t i = 0; i < MIRE_COUNT(blocks); i++)
        free(blocks[i]);
    atexit(note_small_blocks); /* runs before handlers registered earlier */
    exit(0);
}

static void exit_leaves_the_session_to_the_next_start_and_the_heap_as_it_is(void **state)
{
    static const char given[] =
        "{\"mire_rollout\":1,\"version\":1,\"plugins\":{\"session\":{\"ppm\":1000000},"
        "\"hang\":{\"ppm\":1000000},\"memory\":{\"ppm\":1000000,\"parameters\":{\"mode\":\"exact\"}}}}";
    struct store *store;

#ifdef __SANITIZE_THREAD__
    skip(); /* as above: it watches the heap */
#endif
    assert_int_equal(mire__store_open(&store, *state, &(struct store_caps)MIRE_STORE_CAPS_INIT), MIRE_OK);
    assert_int_equal(mire__store_set_rollout(store, "", given, strlen(given)), MIRE_OK);
    mire__store_close(store);
    assert_int_equal(WEXITSTATUS(in_child(*state, free_much_and_exit)), 0);
    assert_int_equal(sealed(*state), 0);
    assert_int_equal(start(*state), MIRE_OK);
    assert_sealed(*state, 1, idle_nap);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
    assert_int_equal(sealed(*state), 2); /* and its own: it is stopped, and the process goes on */
}
#endif

/* Starts, signals readiness, and runs without a wait until it is killed. */
static void idle_until_killed(const char *dir, int ready)
{
    if (start(dir) != MIRE_OK)
        _exit(1);
    idle_ms(10);
    if (write(ready, "x", 1) != 1)
        _exit(1);
    idle_ms(600000);
    _exit(1);
}

/* The length of the only session record. */
static double session_s(const char *dir)
{
    static char text[65536];
    const char *at;
    struct store_item item;
    struct store *store;
    void *body;
    size_t size;

    assert_int_equal(mire__store_open(&store, dir, &(struct store_caps)MIRE_STORE_CAPS_INIT), MIRE_OK);
    assert_int_equal(mire__store_list(&item, 1, store), 1);
    assert_int_equal(mire__store_get(&body, &size, store, item.id), MIRE_OK);
    assert_false(ZSTD_isError(ZSTD_decompress(text, sizeof(text) - 1, body, size)));
    free(body);
    mire__store_close(store);
    at = strstr(text, "\"duration_ms\":");
    assert_non_null(at);
    return strtod(strchr(at, ':') + 1, NULL) / 1000;
}

/* An idle process does not write, so the kernel's time of the file shows its death. */
static void a_killed_process_was_there_until_its_death(void **state)
{
    static const char given[] = "{\"mire_rollout\":1,\"plugins\":{\"session\":{\"ppm\":1000000}}}";
    uint64_t forked_ns, ready_ns, killed_ns, gone_ns;
    struct statfs where;
    struct store *store;
    double length_s;
    int ends[2];
    pid_t child;
    char byte;

    assert_int_equal(statfs(*state, &where), 0);
    if (where.f_type == TMPFS_MAGIC)
        skip(); /* files in memory have no time of a store to them */
    assert_int_equal(mire__store_open(&store, *state, &(struct store_caps)MIRE_STORE_CAPS_INIT), MIRE_OK);
    assert_int_equal(mire__store_set_rollout(store, "", given, strlen(given)), MIRE_OK);
    mire__store_close(store);
    assert_int_equal(pipe(ends), 0);
    forked_ns = mire__now_ns();
    child = fork();
    if (child == 0)
        idle_until_killed(*state, ends[1]);
    close(ends[1]); /* a child that dies early ends the read below */
    assert_int_equal(read(ends[0], &byte, 1), 1);
    ready_ns = mire__now_ns();
    nanosleep(&(struct timespec){.tv_sec = 4}, NULL);
    killed_ns = mire__now_ns();
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    gone_ns = mire__now_ns();
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL); /* which does not count */
    assert_int_equal(start(*state), MIRE_OK);
    assert_sealed(*state, 1, idle_nap);
    length_s = session_s(*state);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
    assert_true(length_s > (double)(killed_ns - ready_ns) / 1e9 - 0.1);
    assert_true(length_s < (double)(gone_ns - forked_ns) / 1e9 + 0.1);
    close(ends[0]);
}

static void forked_child_is_watched_from_its_first_wait(void **state)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* it cannot start threads in a child of a process with threads */
#endif
    assert_int_equal(in_child(*state, fork_and_hang), 0);
    assert_int_equal(sealed(*state), 1);
}

struct heard {
    _Atomic int level;
};

static void note_level(void *context, enum mire_log_level level, const char *text)
{
    assert_non_null(text);
    ((struct heard *)context)->level = level;
}

static void log_tells_of_a_server_that_is_not_there(void **state)
{
    mire_options *options = options_for(*state);
    struct heard heard = {0};

    mire_options_set_server(options, "http://127.0.0.1:9", "mk_x");
    mire_options_set_log(options, note_level, &heard);
    assert_int_equal(mire_start(options), MIRE_OK);
    mire_options_free(options);
    idle_ms(10);
    busy_ms(HANG_MS);
    for (int ms = 0; ms < PATIENCE_MS && heard.level == 0; ms += 10)
        idle_ms(10);
    assert_int_equal(heard.level, MIRE_LOG_WARNING);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
    assert_int_equal(sealed(*state), 1);
}

struct slow {
    _Atomic bool begun;
};

static void write_slowly(void *context, enum mire_log_level level, const char *text)
{
    (void)level, (void)text;
    ((struct slow *)context)->begun = true;
    busy_ms(5 * HANG_MS);
}

static void a_stop_that_waits_for_our_own_thread_is_no_hang(void **state)
{
    mire_options *options;
    struct slow slow = {false};

    assert_int_equal(in_child(*state, hang_and_be_killed), SIGKILL);
    options = options_for(*state);
    mire_options_set_log(options, write_slowly, &slow); /* messages about recovered reports */
    assert_int_equal(mire_start(options), MIRE_OK);
    mire_options_free(options);
    for (int ms = 0; ms < PATIENCE_MS && !slow.begun; ms += 10)
        idle_ms(10);
    assert_true(slow.begun);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
    assert_int_equal(sealed(*state), 1); /* the killed one's */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(err_has_a_name_and_a_text_for_every_code),
        cmocka_unit_test(calls_do_nothing_without_a_start),
        TEST(start_says_why_it_fails_and_can_be_repeated),
        TEST(start_from_environment_needs_an_app),
        TEST(hang_is_sealed_when_it_ends_and_waits_without_a_server),
        TEST(hang_is_sealed_by_stop_while_it_goes_on),
        TEST(installation_outside_the_sample_watches_nothing),
        TEST(killed_process_is_reported_by_the_next_start),
        TEST(exit_seals_a_hang_that_goes_on),
        TEST(a_killed_process_was_there_until_its_death),
#ifdef __GLIBC__
        TEST(exit_leaves_the_session_to_the_next_start_and_the_heap_as_it_is),
#endif
        TEST(forked_child_is_watched_from_its_first_wait),
        TEST(log_tells_of_a_server_that_is_not_there),
        TEST(a_stop_that_waits_for_our_own_thread_is_no_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
