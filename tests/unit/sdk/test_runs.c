/* test_runs.c - ended runs: judged once and recorded, their hangs sealed with the verdict, their files deleted. */
#include "support/ended.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

static void the_systems_record_is_matched_by_the_runs_name(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES], *text;
    struct report_witness witnesses[2] = {{.end = MIRE_END_USER}, {.end = MIRE_END_LOW_MEMORY}};
    struct report_finder next = finder(NULL);

    leave_run(store, run, MIRE_EVENT_OPEN);
    mire__store_run_name(witnesses[0].run); /* another run's */
    mire__text_copy(witnesses[1].run, sizeof(witnesses[1].run), run);
    next.witnesses = witnesses;
    next.witness_count = 2;
    assert_int_equal(mire__report_recover(store, &next), 1);
    assert_remembered(store, run, "foom");
    text = sealed_text(store);
    assert_non_null(strstr(text, "\"exit\":{\"verdict\":\"foom\""));
    assert_non_null(strstr(text, "\"system_saw_low_memory\""));
    free(text);
    mire__store_close(store);
}
static void a_run_killed_while_stuck_is_told_with_its_hang(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES], *text;

    leave_run(store, run, MIRE_EVENT_OPEN);
    assert_int_equal(recover(store), 1);
    assert_remembered(store, run, "watchdog_kill");
    text = sealed_text(store);
    assert_non_null(strstr(text, "\"exit\":{\"verdict\":\"watchdog_kill\""));
    assert_non_null(strstr(text, "\"guess\":\"blocked_and_killed\""));
    assert_non_null(strstr(text, "\"stuck_ms\":3000"));
    free(text);
    assert_false(is_there(store, run, MIRE_STORE_EXIT) || is_there(store, run, MIRE_STORE_BOX));
    mire__store_close(store);
}

static void a_run_killed_while_perhaps_idle_is_not_killed_in_a_hang(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES], *text;

    leave_run_unsure(store, run, true, MIRE_EVENT_OPEN, 2000);
    assert_int_equal(recover(store), 1);
    assert_remembered(store, run, "unknown");
    text = sealed_text(store);
    assert_non_null(strstr(text, "\"unsure_ms\":2000"));
    assert_null(strstr(text, "\"stuck_ms\""));
    free(text);
    mire__store_close(store);
}

static void a_hang_of_a_run_that_crashed_is_not_blocked_and_killed(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES], *text;

    leave_run(store, run, MIRE_EVENT_OPEN);
    put(store, run, MIRE_STORE_CRASH, "", 0); /* empty: still a crash */
    assert_int_equal(recover(store), 1);
    assert_remembered(store, run, "crash");
    text = sealed_text(store);
    assert_non_null(strstr(text, "\"guess\":\"foreground_block\""));
    assert_non_null(strstr(text, "\"open\":true"));
    free(text);
    assert_false(is_there(store, run, MIRE_STORE_CRASH));
    mire__store_close(store);
}

static void a_run_without_a_blackbox_is_remembered(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES];

    leave_run(store, run, MIRE_EVENT_NONE);
    put(store, run, MIRE_STORE_CRASH, "", 0);
    assert_int_equal(recover(store), 0);
    assert_remembered(store, run, "crash");
    mire__store_close(store);
}

static void what_the_parent_knows_is_of_its_child_alone(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES];
    struct report_ended ended = {.pid = 4194303, .start_ticks = 7, .killed = true, .status = SIGTERM};
    struct report_finder parent = {.now_ms = NOW, .ended = &ended};
    struct store_end ends[2];

    leave_run(store, run, MIRE_EVENT_NONE);
    mire__report_recover(store, &parent); /* the same number, another process */
    leave_run(store, run, MIRE_EVENT_NONE);
    ended.start_ticks = 0;
    mire__report_recover(store, &parent);
    assert_int_equal(mire__store_ends(ends, 2, store), 2);
    assert_string_not_equal(ends[0].verdict, "user_quit");
    assert_string_equal(ends[1].verdict, "user_quit");
    mire__store_close(store);
}

static void a_run_of_an_older_version_is_read_and_told(void **state)
{
    struct store *store = store_default(*state);
    struct evidence_start next = start_of((uint32_t)getpid());
    struct report_finder upgraded = finder(&next);
    char run[MIRE_STORE_RUN_BYTES], *text;

    leave_run(store, run, MIRE_EVENT_ENDED);
    mire__text_copy(next.app_version, sizeof(next.app_version), "8.0.39");
    assert_int_equal(mire__report_recover(store, &upgraded), 1);
    assert_remembered(store, run, "app_upgraded");
    text = sealed_text(store);
    assert_non_null(strstr(text, "\"version\":\"8.0.38\""));
    free(text);
    mire__store_close(store);
}

static bool leaves(const void *context)
{
    (void)context;
    return true;
}

static void a_finder_that_leaves_takes_one_run(void **state)
{
    struct store *store = store_default(*state);
    struct report_finder leaving = finder(NULL);
    char run[MIRE_STORE_RUN_BYTES];

    leaving.is_leaving = leaves;
    for (int i = 0; i < 3; i++)
        leave_run(store, run, MIRE_EVENT_ENDED);
    assert_int_equal(mire__report_recover(store, &leaving), 1);
    assert_int_equal(mire__report_recover(store, &leaving), 1);
    assert_int_equal(recover(store), 1);
    assert_int_equal(recover(store), 0);
    mire__store_close(store);
}

static void a_run_that_is_alive_is_left_alone(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES];
    struct store_box file;

    mire__store_run_name(run);
    assert_int_equal(mire__store_box_open(&file, store, run, MIRE_STORE_EXIT, 4096, 4096), MIRE_OK);
    assert_int_equal(recover(store), 0);
    assert_true(is_there(store, run, MIRE_STORE_EXIT));
    mire__store_box_close(&file);
    mire__store_close(store);
}

static void evidence_that_cannot_be_read_is_counted_and_its_blackbox_told(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES], *text;

    leave_run(store, run, MIRE_EVENT_ENDED);
    put(store, run, MIRE_STORE_EXIT, "nonsense", 8);
    assert_int_equal(recover(store), 1);
    text = sealed_text(store);
    assert_non_null(strstr(text, "\"drops\":{\"broken\":1}"));
    assert_null(strstr(text, "\"exit\":{"));
    free(text);
    assert_false(is_there(store, run, MIRE_STORE_EXIT) || is_there(store, run, MIRE_STORE_BOX));
    mire__store_close(store);
}

/* While another process holds the lock nothing is recorded. Everything stays for the next try, which finds the same. */
static void what_cannot_be_remembered_is_judged_again(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES], path[MIRE_STORE_PATH_MAX];
    int lock;

    leave_run(store, run, MIRE_EVENT_OPEN);
    snprintf(path, sizeof(path), "%s/lock", (char *)*state);
    lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_int_equal(recover(store), 0);
    assert_true(is_there(store, run, MIRE_STORE_EXIT) && is_there(store, run, MIRE_STORE_BOX));
    close(lock);
    assert_int_equal(recover(store), 1);
    assert_remembered(store, run, "watchdog_kill");
    mire__store_close(store);
}

static void many_at_once_judge_each_run_once(void **state)
{
    enum { RUNS = 12, JUDGES = 6 };
    struct store *store = store_default(*state);
    struct store_end ends[MIRE_STORE_ENDS];
    char runs[RUNS][MIRE_STORE_RUN_BYTES];

    for (int i = 0; i < RUNS; i++)
        leave_run(store, runs[i], MIRE_EVENT_NONE);
    for (int i = 0; i < JUDGES; i++) {
        if (fork() != 0)
            continue;
        recover(store);
        _exit(0);
    }
    for (int i = 0; i < JUDGES; i++)
        wait(NULL);
    recover(store); /* a process that cannot record leaves the run for later */
    assert_int_equal(mire__store_ends(ends, MIRE_STORE_ENDS, store), RUNS);
    for (int i = 0; i < RUNS; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(ends[i].run, ends[j].run);
    mire__store_close(store);
}
static void dead_runs_that_cannot_be_told_are_not_kept_for_ever(void **state)
{
    struct store *store = store_default(*state);
    const uint64_t day_ms = 86400000, now_ms = (uint64_t)time(NULL) * 1000;
    struct evidence_start start = start_of((uint32_t)getpid());
    uint64_t counts[MIRE_DROP_REASONS];
    char run[MIRE_STORE_RUN_BYTES];
    struct store_box alive;

    for (int i = 0; i < MIRE_STORE_RUNS + 3; i++)
        leave_run(store, run, MIRE_EVENT_ENDED);
    mire__store_run_name(run);
    assert_int_equal(
        mire__store_box_open(&alive, store, run, MIRE_STORE_EXIT, sizeof(struct evidence), sizeof(struct evidence)),
        MIRE_OK);
    mire__evidence_init(alive.memory, &start);
    assert_int_equal(mire__store_runs_enforce(store, now_ms), 3);
    assert_int_equal(mire__store_runs_enforce(store, now_ms), 0);
    assert_int_equal(mire__store_runs_enforce(store, now_ms + 15 * day_ms), MIRE_STORE_RUNS);
    assert_true(is_there(store, run, MIRE_STORE_EXIT)); /* the one that lives */
    mire__store_drops(counts, store);
    assert_int_equal(counts[MIRE_DROP_FULL], 3);
    assert_int_equal(counts[MIRE_DROP_AGE], MIRE_STORE_RUNS);
    mire__store_box_close(&alive);
    mire__store_close(store);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_systems_record_is_matched_by_the_runs_name),
        CASE(a_run_killed_while_stuck_is_told_with_its_hang),
        CASE(a_run_killed_while_perhaps_idle_is_not_killed_in_a_hang),
        CASE(a_hang_of_a_run_that_crashed_is_not_blocked_and_killed),
        CASE(a_run_without_a_blackbox_is_remembered),
        CASE(what_the_parent_knows_is_of_its_child_alone),
        CASE(a_run_of_an_older_version_is_read_and_told),
        CASE(a_finder_that_leaves_takes_one_run),
        CASE(a_run_that_is_alive_is_left_alone),
        CASE(evidence_that_cannot_be_read_is_counted_and_its_blackbox_told),
        CASE(what_cannot_be_remembered_is_judged_again),
        CASE(many_at_once_judge_each_run_once),
        CASE(dead_runs_that_cannot_be_told_are_not_kept_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
