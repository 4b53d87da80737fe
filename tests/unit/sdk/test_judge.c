/* test_judge.c - reading evidence back: its trail, and the signs found in it. */
#include "exit/judge.h"

#include "exit/trail.h"
#include "ring/event.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MIB       (UINT64_C(1) << 20)
#define S         MIRE_NS_PER_S
#define BOOT      "01234567-89ab-4cde-8f01-23456789abcd"
#define BIT(name) MIRE_SIGN_BIT(name)

/* A run begun 1000 s after boot, last seen 60 s later, and judged another second later. */
struct run {
    struct evidence file; /* as on disk */
    struct exit_after after;
};

static void add_row(struct run *run, uint64_t boot_ns, uint64_t footprint)
{
    struct trail_row row = {.boot_ns = boot_ns,
                            .footprint_bytes = footprint,
                            .used_bytes = footprint + MIB,
                            .limit_bytes = 64 * MIB,
                            .limit = MIRE_LIMIT_CGROUP,
                            .thread_count = 3,
                            .oom = {.cgroup_known = 1, .system_known = 1}};

    mire__trail_add(&run->file, &row);
}

static struct trail_row *newest(struct run *run)
{
    struct trail_row *row = &run->file.trail[0];

    for (uint32_t i = 1; i < MIRE_TRAIL_ROWS; i++)
        if (run->file.trail[i].boot_ns > row->boot_ns)
            row = &run->file.trail[i];
    return row;
}

static struct run begin(void)
{
    struct evidence_start start = {.pid = 4711,
                                   .oom = {.cgroup_known = 1, .system_known = 1},
                                   .wall_ms = 1763685000000,
                                   .boot_ns = 1000 * S,
                                   .boot_id = BOOT,
                                   .app_version = "8.0.38",
                                   .app_build = "b1",
                                   .os_version = "12",
                                   .os_build = "6.1 #1",
                                   .process_name = "mapview"};
    struct run run = {.after = {.boot_id = BOOT,
                                .now_boot_ns = 1061 * S,
                                .oom = {.cgroup_known = 1, .system_known = 1},
                                .next_start = true,
                                .app_version = "8.0.38",
                                .app_build = "b1",
                                .process_name = "mapview",
                                .os_version = "12",
                                .os_build = "6.1 #1"}};

    mire__evidence_init(&run.file, &start);
    atomic_store(&run.file.ground, 1000 * S / 1000 << 2 | MIRE_GROUND_FORE);
    add_row(&run, 1000 * S, 10 * MIB);
    add_row(&run, 1060 * S, 11 * MIB);
    return run;
}

static uint64_t signs(const struct run *run)
{
    struct evidence evidence;
    uint32_t rows;

    assert_int_equal(mire__evidence_read(&evidence, &rows, &run->file, sizeof(run->file)), MIRE_OK);
    return mire__exit_signs(&evidence, rows, &run->after);
}

static void assert_signs(const struct run *run, uint64_t there, uint64_t not_there)
{
    uint64_t found = signs(run);

    for (int i = 0; i < MIRE_SIGN_COUNT; i++) {
        if (there >> i & 1 && !(found >> i & 1))
            fail_msg("%s is missing", mire__sign_name(i));
        if (not_there >> i & 1 && found >> i & 1)
            fail_msg("%s is there", mire__sign_name(i));
    }
}

static void a_plain_kill_has_the_signs_of_its_state_alone(void **state)
{
    struct run run = begin();

    (void)state;
    assert_int_equal(signs(&run),
                     BIT(APP_SAME) | BIT(BOOT_SAME) | BIT(FOREGROUND) | BIT(OOM_NOT_COUNTED) | BIT(FAR_FROM_LIMIT));
}

static void what_the_program_did_itself_is_seen(void **state)
{
    struct run run = begin();

    (void)state;
    atomic_store(&run.file.stopped_ns, 1060 * S);
    atomic_store(&run.file.left, MIRE_LEFT_EXIT);
    atomic_store(&run.file.quit, MIRE_QUIT_SESSION);
    atomic_store(&run.file.quit_signal, SIGTERM);
    run.after.runs = true;
    assert_signs(&run, BIT(STOPPED) | BIT(EXITED) | BIT(QUIT_ANNOUNCED) | BIT(QUIT_SIGNAL) | BIT(EXECUTED), 0);
    atomic_store(&run.file.left, MIRE_LEFT_EXEC);
    run.after.runs = false;
    assert_signs(&run, BIT(EXECUTED), BIT(EXITED));
    atomic_store(&run.file.left, MIRE_LEFT_ABORT);
    assert_signs(&run, BIT(ABORT_CALLED), BIT(EXECUTED) | BIT(EXITED));
}

static void any_crash_file_means_a_crash(void **state)
{
    struct run run = begin();

    (void)state;
    run.after.crash_file = true;
    assert_signs(&run, BIT(CRASHED), 0);
}

static void a_mark_tells_aborts_from_other_crashes(void **state)
{
    struct run run = begin();
    struct evidence_crash *crash = &run.file.crash;

    (void)state;
    crash->boot_ns = 1060 * S;
    crash->sender = 4711;
    atomic_store(&crash->signal, SIGSEGV);
    assert_signs(&run, BIT(CRASHED), BIT(ABORTED) | BIT(ABORT_SENT));
    atomic_store(&crash->signal, SIGABRT);
    assert_signs(&run, BIT(ABORTED), BIT(CRASHED) | BIT(ABORT_SENT));
    crash->sender = 1;
    assert_signs(&run, BIT(ABORT_SENT), BIT(CRASHED) | BIT(ABORTED));
}

static void life_a_minute_after_the_mark_is_a_crash_survived(void **state)
{
    struct run run = begin();
    struct evidence_crash *crash = &run.file.crash;

    (void)state;
    run.after.crash_file = true;
    crash->boot_ns = 1001 * S;
    atomic_store(&crash->signal, SIGSEGV);
    assert_signs(&run, BIT(CRASHED), BIT(CRASH_SURVIVED));
    crash->boot_ns = 1000 * S;
    assert_signs(&run, BIT(CRASH_SURVIVED), BIT(CRASHED));
}

static void the_wait_status_is_seen_by_its_kind(void **state)
{
    static const struct {
        enum mire__parent parent;
        uint32_t status;
        uint64_t sign;
    } cases[] = {
        {MIRE_PARENT_EXITED, 3, BIT(PARENT_SAW_EXIT)},         {MIRE_PARENT_SIGNALED, SIGKILL, BIT(PARENT_SAW_KILL)},
        {MIRE_PARENT_SIGNALED, SIGBUS, BIT(PARENT_SAW_CRASH)}, {MIRE_PARENT_SIGNALED, SIGABRT, BIT(PARENT_SAW_ABORT)},
        {MIRE_PARENT_SIGNALED, SIGHUP, BIT(PARENT_SAW_QUIT)},  {MIRE_PARENT_SIGNALED, SIGXCPU, BIT(PARENT_SAW_SIGNAL)},
    };
    const uint64_t all = BIT(PARENT_SAW_EXIT) | BIT(PARENT_SAW_KILL) | BIT(PARENT_SAW_CRASH) | BIT(PARENT_SAW_ABORT) |
                         BIT(PARENT_SAW_QUIT) | BIT(PARENT_SAW_SIGNAL);
    struct run run = begin();

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(cases); i++) {
        run.after.parent = cases[i].parent;
        run.after.parent_status = cases[i].status;
        assert_int_equal(signs(&run) & all, cases[i].sign);
    }
}

static void the_systems_record_is_seen_by_its_reason(void **state)
{
    static const uint64_t signs_of[] = {
        [MIRE_END_EXIT] = BIT(PARENT_SAW_EXIT),          [MIRE_END_CRASH] = BIT(SYSTEM_SAW_CRASH),
        [MIRE_END_HANG] = BIT(SYSTEM_SAW_HANG),          [MIRE_END_LOW_MEMORY] = BIT(SYSTEM_SAW_LOW_MEMORY),
        [MIRE_END_MEMORY_LIMIT] = BIT(SYSTEM_SAW_LIMIT), [MIRE_END_USER] = BIT(SYSTEM_SAW_USER),
        [MIRE_END_UPGRADE] = BIT(SYSTEM_SAW_UPGRADE),    [MIRE_END_SYSTEM] = BIT(SYSTEM_SAW_KILL),
    };
    struct run run = begin();
    const uint64_t plain = signs(&run);

    (void)state;
    for (size_t i = MIRE_END_EXIT; i < MIRE_COUNT(signs_of); i++) {
        run.after.system_end = (enum mire_end)i;
        if (i != MIRE_END_SIGNAL)
            assert_int_equal(signs(&run), plain | signs_of[i]);
    }
    run.after.system_end = MIRE_END_SIGNAL;
    run.after.system_status = SIGSEGV;
    assert_int_equal(signs(&run), plain | BIT(PARENT_SAW_CRASH));
    run.after.system_status = SIGABRT;
    assert_int_equal(signs(&run), plain | BIT(PARENT_SAW_ABORT));
    run.after.system_status = SIGKILL;
    assert_int_equal(signs(&run), plain | BIT(PARENT_SAW_KILL));
}

static void changes_are_those_of_the_next_start(void **state)
{
    struct run run = begin();

    (void)state;
    run.after.app_build = "b2";
    assert_signs(&run, BIT(APP_CHANGED), BIT(APP_SAME));
    run.after.process_name = "helper"; /* another program has another build */
    assert_signs(&run, BIT(APP_SAME), BIT(APP_CHANGED));
    run.after.app_version = "8.0.39";
    assert_signs(&run, BIT(APP_CHANGED), BIT(APP_SAME));
    run.after.next_start = false; /* its parent sees it end: no upgrade comes between */
    assert_signs(&run, BIT(APP_SAME), BIT(APP_CHANGED));
    run.after.os_build = "6.1 #2";
    run.after.boot_id = "f" BOOT;
    assert_signs(&run, BIT(OS_CHANGED) | BIT(BOOT_CHANGED), BIT(BOOT_SAME) | BIT(OOM_NOT_COUNTED));
}

static void what_nobody_knows_has_not_changed(void **state)
{
    struct run run = begin();

    (void)state;
    run.after.app_version = run.after.app_build = run.after.os_version = run.after.os_build = NULL;
    run.after.boot_id = "";
    assert_signs(&run, BIT(APP_SAME), BIT(APP_CHANGED) | BIT(OS_CHANGED) | BIT(BOOT_CHANGED) | BIT(BOOT_SAME));
}

static void the_foreground_counts_when_it_has_lasted_a_second(void **state)
{
    const uint64_t all = BIT(FOREGROUND) | BIT(JUST_FOREGROUND) | BIT(BACKGROUND) | BIT(GROUND_UNKNOWN);
    struct run run = begin();

    (void)state;
    atomic_store(&run.file.ground, 1059500 * UINT64_C(1000) << 2 | MIRE_GROUND_FORE);
    assert_int_equal(signs(&run) & all, BIT(JUST_FOREGROUND));
    run.after.parent = MIRE_PARENT_SIGNALED; /* whose parent knows that it lived until now */
    assert_int_equal(signs(&run) & all, BIT(FOREGROUND));
    atomic_store(&run.file.ground, MIRE_GROUND_BACK);
    assert_int_equal(signs(&run) & all, BIT(BACKGROUND));
    atomic_store(&run.file.ground, MIRE_GROUND_UNKNOWN);
    assert_int_equal(signs(&run) & all, BIT(GROUND_UNKNOWN));
}

static void hangs_are_known_from_the_blackbox_alone(void **state)
{
    struct run run = begin();

    (void)state;
    assert_signs(&run, 0, BIT(STUCK) | BIT(NOT_STUCK));
    run.after.box_read = true;
    assert_signs(&run, BIT(NOT_STUCK), BIT(STUCK));
    run.after.stuck = true;
    assert_signs(&run, BIT(STUCK), BIT(NOT_STUCK));
}

static void only_oom_kills_since_it_was_last_seen_are_its_own(void **state)
{
    struct run run = begin();

    (void)state;
    newest(&run)->oom.cgroup = 2; /* it outlived those */
    run.after.oom.cgroup = 2;
    assert_signs(&run, BIT(OOM_NOT_COUNTED), BIT(OOM_COUNTED));
    run.after.oom.cgroup = 3;
    assert_signs(&run, BIT(OOM_COUNTED), BIT(OOM_NOT_COUNTED));
    run.after.oom.cgroup = 0; /* another cgroup, whose count starts again */
    run.after.oom.system_known = 0;
    assert_signs(&run, 0, BIT(OOM_COUNTED) | BIT(OOM_NOT_COUNTED) | BIT(OOM_COUNTED_ELSEWHERE));
    run.after.oom.system_known = 1;
    run.after.oom.system = 1;
    run.after.oom.cgroup_known = 0;
    assert_signs(&run, BIT(OOM_COUNTED_ELSEWHERE), BIT(OOM_COUNTED) | BIT(OOM_NOT_COUNTED));
}

static void nearness_is_that_of_whoever_limits(void **state)
{
    struct run run = begin();

    (void)state;
    newest(&run)->used_bytes = 55 * MIB; /* 86 % */
    assert_signs(&run, BIT(NEAR_LIMIT), BIT(FAR_FROM_LIMIT));
    newest(&run)->limit = MIRE_LIMIT_MACHINE;
    assert_signs(&run, 0, BIT(NEAR_LIMIT) | BIT(FAR_FROM_LIMIT));
    newest(&run)->used_bytes = 61 * MIB;
    assert_signs(&run, BIT(NEAR_LIMIT), 0);
    newest(&run)->limit = MIRE_LIMIT_NONE;
    assert_signs(&run, 0, BIT(NEAR_LIMIT) | BIT(FAR_FROM_LIMIT));
}

static void the_parent_knows_of_growth_after_the_last_look(void **state)
{
    struct run run = begin();

    (void)state;
    run.after.parent_peak_bytes = 63 * MIB;
    assert_signs(&run, BIT(NEAR_LIMIT), BIT(FAR_FROM_LIMIT));
    atomic_store(&run.file.footprint_peak_bytes, 62 * MIB); /* it was there long before, and came back */
    assert_signs(&run, BIT(FAR_FROM_LIMIT), BIT(NEAR_LIMIT));
}

static void pressure_growth_debugger_and_handlers_are_those_of_the_last_look(void **state)
{
    struct run run = begin();

    (void)state;
    newest(&run)->pressure_ppm = 100000;
    newest(&run)->debugger = 1;
    newest(&run)->foreign = 1;
    newest(&run)->footprint_bytes = 20 * MIB;
    assert_signs(&run, BIT(PRESSURE) | BIT(DEBUGGER) | BIT(HANDLERS_REPLACED) | BIT(GREW), 0);
    newest(&run)->footprint_bytes = 12 * MIB;
    assert_signs(&run, 0, BIT(GREW));
}

static void who_comes_late_says_so(void **state)
{
    struct run run = begin();

    (void)state;
    run.after.now_boot_ns = 1659 * S;
    assert_signs(&run, 0, BIT(FOUND_LATE));
    run.after.now_boot_ns = 1660 * S;
    assert_signs(&run, BIT(FOUND_LATE), 0);
    run.after.parent = MIRE_PARENT_SIGNALED;
    assert_signs(&run, 0, BIT(FOUND_LATE));
}

static void the_facts_are_those_of_the_last_look(void **state)
{
    struct run run = begin();
    struct evidence evidence;
    struct exit_end end;
    uint32_t rows;

    (void)state;
    run.after.oom.cgroup = 1;
    run.after.parent = MIRE_PARENT_SIGNALED;
    run.after.parent_status = SIGKILL;
    assert_int_equal(mire__evidence_read(&evidence, &rows, &run.file, sizeof(run.file)), MIRE_OK);
    mire__exit_judge(&end, &evidence, rows, &run.after);
    assert_int_equal(end.verdict.verdict, MIRE_EXIT_FOOM);
    assert_int_equal(end.signal, SIGKILL);
    assert_int_equal(end.footprint_bytes, 11 * MIB);
    assert_int_equal(end.footprint_peak_bytes, 11 * MIB);
    assert_int_equal(end.limit_bytes, 64 * MIB);
    assert_int_equal(end.oom_kills, 1);
    assert_true(end.oom_known);
    assert_int_equal(end.ground, MIRE_GROUND_FORE);
    assert_int_equal(end.ground_ms, 61000);
    assert_int_equal(end.seen_wall_ms, 1763685060000);
    assert_int_equal(end.trail_rows, 2);
    assert_int_equal(end.trail[0].boot_ns, 1000 * S);
}

static void a_full_trail_keeps_its_first_and_its_newest_rows(void **state)
{
    struct run run = begin();
    struct trail_row rows[MIRE_TRAIL_ROWS];
    uint64_t last_ns = 1060 * S;
    uint32_t count;

    (void)state;
    for (int i = 0; i < 5000; i++)
        add_row(&run, last_ns += S, 11 * MIB);
    count = mire__trail_copy(rows, &run.file);
    assert_int_equal(count, MIRE_TRAIL_ROWS);
    assert_int_equal(rows[0].boot_ns, 1000 * S);
    for (uint32_t i = 0; i < MIRE_TRAIL_KEEP; i++)
        assert_int_equal(rows[count - 1 - i].boot_ns, last_ns - i * S);
    for (uint32_t i = 1; i < count; i++) {
        uint64_t gap_ns = rows[i].boot_ns - rows[i - 1].boot_ns, age_ns = last_ns - rows[i].boot_ns;

        assert_true(gap_ns > 0);
        assert_true(gap_ns <= age_ns / 3 + 2 * S); /* further apart the older they are, and no hole */
    }
}

static void evidence_of_another_length_is_read_as_far_as_it_goes(void **state)
{
    struct run run = begin();
    struct evidence evidence;
    char longer[sizeof(struct evidence) + 512];
    uint32_t rows;

    (void)state;
    memset(longer, 0x5a, sizeof(longer));
    memcpy(longer, &run.file, sizeof(run.file));
    ((struct evidence *)(void *)longer)->size_bytes = sizeof(longer);
    assert_int_equal(mire__evidence_read(&evidence, &rows, longer, sizeof(longer)), MIRE_OK);
    assert_int_equal(rows, 2);
    run.file.size_bytes = offsetof(struct evidence, trail) + sizeof(struct trail_row);
    assert_int_equal(mire__evidence_read(&evidence, &rows, &run.file, run.file.size_bytes), MIRE_OK);
    assert_int_equal(rows, 1);
}

static void what_is_no_evidence_is_refused(void **state)
{
    struct run run = begin();
    struct evidence evidence;
    uint32_t rows;

    (void)state;
    assert_int_equal(mire__evidence_read(&evidence, &rows, &run.file, 100), MIRE_E_FORMAT);
    run.file.size_bytes = sizeof(run.file) + 1; /* cut */
    assert_int_equal(mire__evidence_read(&evidence, &rows, &run.file, sizeof(run.file)), MIRE_E_FORMAT);
    run = begin();
    run.file.version++;
    assert_int_equal(mire__evidence_read(&evidence, &rows, &run.file, sizeof(run.file)), MIRE_E_FORMAT);
    run = begin();
    run.file.magic = 0; /* killed before it was whole */
    assert_int_equal(mire__evidence_read(&evidence, &rows, &run.file, sizeof(run.file)), MIRE_E_FORMAT);
}

/* Arbitrary bytes in the file: no index out of range, and texts that end. The sanitizers watch. */
static void damaged_evidence_is_judged_all_the_same(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < 300; round++) {
        struct run run = begin();
        struct evidence evidence;
        struct exit_end end;
        uint32_t rows;

        for (size_t i = offsetof(struct evidence, start); i < sizeof(run.file); i++) {
            seed = seed * 1664525u + 1013904223u;
            if (seed >> 29 == 0)
                ((char *)&run.file)[i] = (char)(seed >> 8);
        }
        assert_int_equal(mire__evidence_read(&evidence, &rows, &run.file, sizeof(run.file)), MIRE_OK);
        assert_true(rows <= MIRE_TRAIL_ROWS && strlen(evidence.start.cgroup.dir) < sizeof(evidence.start.cgroup.dir));
        mire__exit_judge(&end, &evidence, rows, &run.after);
        assert_true((unsigned)end.verdict.verdict < MIRE_EXIT_VERDICTS && end.pressure_ppm <= 1000000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_kill_has_the_signs_of_its_state_alone),
        cmocka_unit_test(what_the_program_did_itself_is_seen),
        cmocka_unit_test(any_crash_file_means_a_crash),
        cmocka_unit_test(a_mark_tells_aborts_from_other_crashes),
        cmocka_unit_test(life_a_minute_after_the_mark_is_a_crash_survived),
        cmocka_unit_test(the_wait_status_is_seen_by_its_kind),
        cmocka_unit_test(the_systems_record_is_seen_by_its_reason),
        cmocka_unit_test(changes_are_those_of_the_next_start),
        cmocka_unit_test(what_nobody_knows_has_not_changed),
        cmocka_unit_test(the_foreground_counts_when_it_has_lasted_a_second),
        cmocka_unit_test(hangs_are_known_from_the_blackbox_alone),
        cmocka_unit_test(only_oom_kills_since_it_was_last_seen_are_its_own),
        cmocka_unit_test(nearness_is_that_of_whoever_limits),
        cmocka_unit_test(the_parent_knows_of_growth_after_the_last_look),
        cmocka_unit_test(pressure_growth_debugger_and_handlers_are_those_of_the_last_look),
        cmocka_unit_test(who_comes_late_says_so),
        cmocka_unit_test(the_facts_are_those_of_the_last_look),
        cmocka_unit_test(a_full_trail_keeps_its_first_and_its_newest_rows),
        cmocka_unit_test(evidence_of_another_length_is_read_as_far_as_it_goes),
        cmocka_unit_test(what_is_no_evidence_is_refused),
        cmocka_unit_test(damaged_evidence_is_judged_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
