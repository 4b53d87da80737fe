/* test_runs.c - ended runs: judged once and recorded, their hangs sealed with the verdict, their files deleted. */
#include "exit/evidence.h"
#include "platform/platform.h"
#include "report/report.h"
#include "store/disk.h"
#include "store/ends.h"
#include "store/runs.h"
#include "support/boxes.h"
#include "support/scratch.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "support/stores.h"

#define NOW 1763685100000u
#define S   MIRE_NS_PER_S

static struct evidence_start start_of(uint32_t pid)
{
    struct evidence_start start = {.pid = pid, .wall_ms = NOW - 60000, .boot_ns = mire__boot_now_ns()};

    mire__file_read(start.boot_id, sizeof(start.boot_id), "/proc/sys/kernel/random/boot_id");
    start.boot_id[36] = '\0';
    mire__text_copy(start.app_version, sizeof(start.app_version), "8.0.38");
    mire__text_copy(start.process_name, sizeof(start.process_name), "mapview");
    return start;
}

static struct report_finder finder(const struct evidence_start *next)
{
    return (struct report_finder){.now_ms = NOW, .next = next};
}

static void put(struct store *store, const char *run, const char *suffix, const void *bytes, size_t size)
{
    char path[MIRE_STORE_PATH_MAX];
    FILE *file;

    assert_true(mire__store_run_path(path, store, run, suffix));
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static bool is_there(struct store *store, const char *run, const char *suffix)
{
    char path[MIRE_STORE_PATH_MAX];

    return mire__store_run_path(path, store, run, suffix) && access(path, F_OK) == 0;
}

/* A dead process with evidence in the store, and a blackbox if `boxed`, whose hang has that state. */
static void leave_run_of(struct store *store, char run[MIRE_STORE_RUN_BYTES], bool boxed, enum mire__event_state hang)
{
    struct evidence evidence;
    struct evidence_start start = start_of(4194303);
    struct blackbox *box;
    struct event record;

    mire__store_run_name(run);
    memset(&evidence, 0, sizeof(evidence));
    mire__evidence_init(&evidence, &start);
    put(store, run, MIRE_STORE_EXIT, &evidence, sizeof(evidence));
    if (!boxed)
        return;
    box = box_new();
    mire__text_copy(box->facts.boot_id, sizeof(box->facts.boot_id), start.boot_id);
    box->facts.pid = start.pid;
    mire__blackbox_event(&record, box, 0);
    record.state = hang;
    mire__blackbox_set_event(box, 0, &record);
    put(store, run, MIRE_STORE_BOX, box, sizeof(*box));
    free(box);
}

static void leave_run(struct store *store, char run[MIRE_STORE_RUN_BYTES], enum mire__event_state hang)
{
    leave_run_of(store, run, hang != MIRE_EVENT_NONE, hang);
}

/* Watched, and nothing hung. */
static void leave_run_idle(struct store *store, char run[MIRE_STORE_RUN_BYTES])
{
    leave_run_of(store, run, true, MIRE_EVENT_NONE);
}

static size_t recover(struct store *store)
{
    const struct report_finder next = finder(NULL);

    return mire__report_recover(store, &next);
}

static void assert_remembered(struct store *store, const char *run, const char *verdict)
{
    struct store_end ends[4];

    assert_int_equal(mire__store_ends(ends, 4, store), 1);
    assert_string_equal(ends[0].run, run);
    assert_string_equal(ends[0].verdict, verdict);
    assert_string_equal(ends[0].process, "mapview");
    assert_false(ends[0].told);
}

/* The text of the only sealed report; free() it. */
static char *sealed_text(struct store *store)
{
    struct store_item item;
    unsigned long long plain;
    size_t size;
    void *body;
    char *text;

    assert_int_equal(mire__store_list(&item, 1, store), 1);
    assert_int_equal(mire__store_get(&body, &size, store, item.id), MIRE_OK);
    plain = ZSTD_getFrameContentSize(body, size);
    text = calloc(1, plain + 1);
    assert_int_equal(ZSTD_decompress(text, plain, body, size), plain);
    free(body);
    return text;
}

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

#define ANR "----- pid 4711 at 2026-05-04 10:11:12.500000000+0000 -----\n"

static size_t asked;

/* The context is the run that has a trace. */
static size_t read_trace(void *context, const char *run, void *out, size_t cap)
{
    asked++;
    assert_true(cap > sizeof(ANR));
    if (strcmp(run, context) != 0)
        return 0;
    memcpy(out, ANR, sizeof(ANR) - 1);
    return sizeof(ANR) - 1;
}

/* Recover with a record of that run's end; the text of the sealed report, NULL if there is none. */
static char *recover_with_trace(struct store *store, const char *run, enum mire_end end, int status)
{
    struct report_witness witness = {.end = end, .status = (uint32_t)status};
    struct report_finder next = finder(NULL);

    mire__text_copy(witness.run, sizeof(witness.run), run);
    next.witnesses = &witness;
    next.witness_count = 1;
    next.read_trace = read_trace;
    next.trace_context = (void *)(uintptr_t)run;
    asked = 0;
    return mire__report_recover(store, &next) == 1 ? sealed_text(store) : NULL;
}

static const char anr_hex[] = "\"trace\":\"2d2d2d2d2d207069642034373131206174";

static void the_systems_trace_goes_with_the_hang_that_ended_the_run(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES], *text;

    leave_run(store, run, MIRE_EVENT_OPEN);
    text = recover_with_trace(store, run, MIRE_END_HANG, 0);
    assert_non_null(text);
    assert_int_equal(asked, 1);
    assert_non_null(strstr(text, anr_hex));
    assert_non_null(strstr(text, "\"duration_ms\":3000"));
    free(text);
    mire__store_close(store);
}

static void a_run_without_an_open_event_gets_one_for_its_trace(void **state)
{
    static const struct ending {
        enum mire_end end;
        int status;
        const char *trigger, *verdict;
    } endings[] = {{MIRE_END_HANG, 0, "\"trigger\":\"busy\"", "\"verdict\":\"watchdog_kill\""},
                   {MIRE_END_SIGNAL, SIGSEGV, "\"trigger\":\"crash\"", "\"verdict\":\"crash\""},
                   {MIRE_END_SIGNAL, SIGABRT, "\"trigger\":\"crash\"", "\"verdict\":\"abort\""}};

    for (size_t i = 0; i < 3; i++) {
        struct store *store = store_default(*state);
        char run[MIRE_STORE_RUN_BYTES], *text;
        struct store_item item;

        leave_run_idle(store, run);
        text = recover_with_trace(store, run, endings[i].end, endings[i].status);
        assert_non_null(text);
        assert_non_null(strstr(text, anr_hex));
        assert_non_null(strstr(text, endings[i].trigger));
        assert_non_null(strstr(text, endings[i].verdict));
        assert_int_equal(mire__store_list(&item, 1, store), 1);
        assert_int_equal(item.id[14], '7');
        free(text);
        mire__store_done(store, item.id);
        mire__store_close(store);
    }
}

/* A run that is idle when it is killed, so long after a hang of 3 s. */
static void leave_run_after_hang(struct store *store, char run[MIRE_STORE_RUN_BYTES], uint64_t after_ms)
{
    struct blackbox *box;
    struct event event;

    leave_run_idle(store, run);
    box = box_new();
    mire__file_read(box->facts.boot_id, 37, "/proc/sys/kernel/random/boot_id");
    box->facts.pid = 4194303;
    mire__blackbox_event(&event, box, 0);
    mire__text_copy(event.message, sizeof(event.message), "com.example.Cart lambda");
    mire__blackbox_set_event(box, 0, &event);
    atomic_store(&box->session.seen_ns, event.end_ns + after_ms * MIRE_NS_PER_MS);
    memset(&event, 0, sizeof(event));
    mire__blackbox_set_event(box, 0, &event);
    put(store, run, MIRE_STORE_BOX, box, sizeof(*box));
    free(box);
}

static void the_slow_message_before_a_late_trace_is_named(void **state)
{
    struct store *store = store_default(*state);
    struct store_item item;
    char run[MIRE_STORE_RUN_BYTES], *text;

    leave_run_after_hang(store, run, 700);
    text = recover_with_trace(store, run, MIRE_END_HANG, 0);
    assert_non_null(text);
    assert_non_null(
        strstr(text, "\"notes\":[\"the slow message before: com.example.Cart lambda, 3000 ms, over 700 ms before"));
    free(text);
    assert_int_equal(mire__store_list(&item, 1, store), 1);
    mire__store_done(store, item.id);
    leave_run_after_hang(store, run, 31000);
    text = recover_with_trace(store, run, MIRE_END_HANG, 0);
    assert_non_null(text);
    assert_null(strstr(text, "\"notes\""));
    free(text);
    mire__store_close(store);
}

static void only_hangs_and_crashes_have_traces(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES];

    leave_run_idle(store, run);
    assert_null(recover_with_trace(store, run, MIRE_END_LOW_MEMORY, 0));
    assert_int_equal(asked, 0);
    leave_run_idle(store, run);
    assert_null(recover_with_trace(store, "of another run", MIRE_END_HANG, 0));
    assert_int_equal(asked, 0);
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

/* Start a writer that runs until its pipe is closed. Returns the pipe, and the process in *writer_out. */
static int begin_aside(pid_t *writer_out, const char *dir)
{
    char path[512], aside[MIRE_STORE_PATH_MAX];
    int ready[2], end[2];
    char byte;

    assert_int_equal(pipe(ready) | pipe(end), 0);
    snprintf(path, sizeof(path), "%s/ends", dir);
    *writer_out = fork();
    if (*writer_out == 0) {
        close(end[1]);
        if (mire__disk_create_aside(aside, path, O_WRONLY) < 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        _exit((int)read(end[0], &byte, 1));
    }
    close(end[0]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return end[1];
}

static size_t count_asides(const char *dir)
{
    DIR *open = opendir(dir);
    size_t count = 0;

    for (struct dirent *entry; (entry = readdir(open));)
        count += strstr(entry->d_name, ".new") != NULL;
    closedir(open);
    return count;
}

static void an_aside_is_swept_once_its_writer_has_ended(void **state)
{
    struct store *store = store_default(*state);
    pid_t writer;
    int end = begin_aside(&writer, *state);

    recover(store);
    assert_int_equal(count_asides(*state), 1);
    close(end);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    recover(store);
    assert_int_equal(count_asides(*state), 0);
    mire__store_close(store);
}

/* Sweepers run all the time, and every write succeeds. */
static void a_write_survives_those_that_sweep(void **state)
{
    struct store *store = store_default(*state);
    const struct disk_part part = {"text", 4};
    pid_t sweepers[2];
    char path[512], text[8];

    for (size_t i = 0; i < 2; i++) {
        sweepers[i] = fork();
        if (sweepers[i] == 0)
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves none behind */
        while (sweepers[i] == 0)
            recover(store);
    }
    snprintf(path, sizeof(path), "%s/text", (char *)*state);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(mire__disk_write(path, &part, 1, i % 2 ? MIRE_DISK_EXCLUSIVE : 0), MIRE_OK);
        assert_int_equal(mire__disk_read(text, sizeof(text), path), 4);
    }
    for (size_t i = 0; i < 2; i++) {
        kill(sweepers[i], SIGKILL);
        waitpid(sweepers[i], NULL, 0);
    }
    mire__store_close(store);
}

static struct store_end end_number(uint32_t number)
{
    struct store_end end = {.verdict = "foom", .confidence_ppm = number, .process = "a process  with blanks"};

    snprintf(end.run, sizeof(end.run), "%032x", number);
    return end;
}

static void the_last_ends_are_remembered_once_each(void **state)
{
    struct store *store = store_default(*state);
    struct store_end ends[MIRE_STORE_ENDS + 2];

    for (uint32_t i = 0; i < MIRE_STORE_ENDS + 5; i++) {
        struct store_end end = end_number(i);

        assert_int_equal(mire__store_end_add(store, &end), MIRE_OK);
        assert_int_equal(mire__store_end_add(store, &end), MIRE_OK);
    }
    assert_int_equal(mire__store_ends(ends, MIRE_STORE_ENDS + 2, store), MIRE_STORE_ENDS);
    assert_int_equal(ends[0].confidence_ppm, 5);
    assert_string_equal(ends[0].process, "a process  with blanks");
    assert_int_equal(mire__store_ends(ends, 2, store), 2);
    assert_int_equal(ends[1].confidence_ppm, MIRE_STORE_ENDS + 4);
    mire__store_close(store);
}

static void an_end_is_told_once(void **state)
{
    struct store *store = store_default(*state);
    struct store_end end = end_number(3), ends[2];

    assert_int_equal(mire__store_end_add(store, &end), MIRE_OK);
    assert_int_equal(mire__store_end_told(store, end.run), MIRE_OK);
    assert_int_equal(mire__store_end_add(store, &end), MIRE_OK); /* judged again, it stays reported */
    assert_int_equal(mire__store_ends(ends, 2, store), 1);
    assert_true(ends[0].told);
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

static void of_the_first_version_a_line_that_cannot_be_read_is_left_out(void **state)
{
    struct store *store = store_default(*state);
    struct store_end ends[4];
    char path[MIRE_STORE_PATH_MAX];
    FILE *file;

    snprintf(path, sizeof(path), "%s/ends", (char *)*state);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("00000000000000000000000000000003 0 foom 900000 1 2 map view\n12 0 foom 1 2 3 short\nnonsense\n\n"
          "00000000000000000000000000000004 0 foom x\n",
          file);
    fclose(file);
    assert_int_equal(mire__store_ends(ends, 4, store), 1);
    assert_string_equal(ends[0].process, "map view");
    mire__store_close(store);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_systems_record_is_matched_by_the_runs_name),
        CASE(the_systems_trace_goes_with_the_hang_that_ended_the_run),
        CASE(a_run_without_an_open_event_gets_one_for_its_trace),
        CASE(the_slow_message_before_a_late_trace_is_named),
        CASE(only_hangs_and_crashes_have_traces),
        CASE(a_run_killed_while_stuck_is_told_with_its_hang),
        CASE(a_hang_of_a_run_that_crashed_is_not_blocked_and_killed),
        CASE(a_run_without_a_blackbox_is_remembered),
        CASE(what_the_parent_knows_is_of_its_child_alone),
        CASE(a_run_of_an_older_version_is_read_and_told),
        CASE(a_finder_that_leaves_takes_one_run),
        CASE(a_run_that_is_alive_is_left_alone),
        CASE(evidence_that_cannot_be_read_is_counted_and_its_blackbox_told),
        CASE(what_cannot_be_remembered_is_judged_again),
        CASE(many_at_once_judge_each_run_once),
        CASE(an_aside_is_swept_once_its_writer_has_ended),
        CASE(a_write_survives_those_that_sweep),
        CASE(the_last_ends_are_remembered_once_each),
        CASE(an_end_is_told_once),
        CASE(dead_runs_that_cannot_be_told_are_not_kept_for_ever),
        CASE(of_the_first_version_a_line_that_cannot_be_read_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
