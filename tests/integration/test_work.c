/*
 * Reports through a real PostgreSQL: their stored rows. Each counts once in spite of crashes on the way.
 */
#include "base/clock.h"
#include "base/log.h"
#include "inbox/inbox.h"
#include "model/resolved.h"
#include "support/pgtest.h"
#include "support/rolluptest.h"
#include "pipeline/journal.h"
#include "pipeline/stages.h"
#include "pipeline/work.h"
#include "document/document.h"
#include "rows/idle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct log quiet = {.fd = 2, .least = MIRE_LOG_OFF};

static char *vector(size_t *len_out)
{
    FILE *file = fopen(MIRE_SOURCE_DIR "/schema/wire/vectors/valid/every-field/report.json", "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    *len_out = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

/* Put a report of that version, of 6 letters, into the inbox; with `spoil` it is unreadable. Returns its id. */
static struct uuid put_version(struct pg *pg, const char *version, bool spoil)
{
    size_t len;
    char *body = vector(&len);
    struct uuid id;
    char text[MIRE_UUID_TEXT];
    uuid_make(&id, clock_wall_us());
    uuid_format(text, &id);
    char *at = strstr(body, "019aa1b2-c3d4-7e5f-8a6b-0123456789ab");
    assert_non_null(at);
    memcpy(at, text, 36);
    at = strstr(body, "8.0.38");
    assert_non_null(at);
    memcpy(at, version, 6);
    if (spoil)
        body[0] = '}';
    struct inbox_row row = {
        .report_id = id, .app_id = 1, .format = "mire", .encoding = "identity", .body = body, .body_len = len};
    assert_int_equal(inbox_store_batch(pg, &row, 1), 0);
    free(body);
    return id;
}

static struct uuid put(struct pg *pg, bool spoil)
{
    return put_version(pg, "8.0.38", spoil);
}

static struct work *start(struct pg *pg, struct inbox_wakeup *wakeup)
{
    struct work *work;
    struct work_options options = MIRE_WORK_OPTIONS_INIT;
    options.by_slot = pgtest_on_citus();
    options.pg = pg;
    options.log = &quiet;
    options.wakeup = wakeup;
    assert_int_equal(work_start(&work, &options), 0);
    return work;
}

/* Wait until nothing in the inbox is due. */
static void drain(struct pg *pg)
{
    pgtest_until_none(pg, "SELECT count(*) FROM inbox WHERE not_before <= now()", NULL);
}

/* While upkeep archives idle issues of the app, a report waits for its issue; the lock is that of the app alone. */
static void a_report_waits_for_the_archive(void **state)
{
    (void)state;
    struct pg *pg = pgtest_mapview();
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_idle_alone(tx, 2), 0);
    struct work *work = start(pg, NULL);
    put(pg, false);
    drain(pg);
    assert_int_equal(rows_idle_alone(tx, 1), 0);
    put(pg, false);
    pgtest_until_none(
        pg, "SELECT (NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted))::integer", NULL);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event"), 1);
    assert_int_equal(pg_commit(&tx), 0);
    drain(pg);
    work_stop(work);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event"), 2);
    pg_close(pg);
}

static void a_report_becomes_rows(void **state)
{
    (void)state;
    struct pg *pg = pgtest_mapview();
    struct uuid id = put(pg, false);
    struct work *work = start(pg, NULL);
    drain(pg);
    work_stop(work);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM inbox"), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM dead_letter"), 0);
    assert_int_equal(
        pgtest_number(pg, "SELECT count(*) FROM event JOIN version USING (app_id, version_id) JOIN issue USING (app_id,"
                          " issue_id) WHERE version = '8.0.38' AND build = '1042' AND duration_ms = 3012 AND NOT open"
                          " AND weight = 4 AND sample_count = 3 AND frame_count = 4 AND unresolved_count = 4"
                          " AND process_name = 'mapview' AND os_version = '6.1.0-47' AND foreground AND NOT launch"
                          " AND thread_count = 4 AND suppressed = 4 AND suppressed_ms = 11020"
                          " AND holder = 'worker in mapview+0x1000'"
                          " AND occurred_at = to_timestamp(1763685118.456)"),
        1);
    assert_int_equal(
        pgtest_number(pg, "SELECT count(*) FROM issue WHERE caller1 = 'mapview+0x1843' AND caller1_image = 'mapview'"
                          " AND caller2 = 'mapview+0x1843' AND category = 'hang' AND first_version_id IS NOT NULL"),
        1);
    assert_int_equal(
        pgtest_number(pg, "SELECT count(*) FROM version_hour WHERE reports = 1 AND events = 20 AND waited_ms = 56128"
                          " AND longest_ms = 3012 AND hour = date_trunc('hour', hour)"),
        1);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue_hour WHERE reports = 1 AND events = 20"), 1);
    assert_int_equal(pgtest_number(pg, "SELECT sum(turns)::bigint FROM turn_hour"), 4 * (17 + 4 + 1));
    assert_int_equal(pgtest_number(pg, "SELECT turns::bigint FROM turn_hour WHERE from_ms = 250"), 4 * 17);

    struct pg_tx *tx = NULL;
    struct pg_rows *rows = NULL;
    struct arena arena;
    struct resolved doc;
    arena_init(&arena, 64 << 20);
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
    assert_int_equal(pg_query(&rows, tx, "SELECT document FROM event_stack WHERE report_id = $1", PG_UUID(&id)), 0);
    struct pg_bytes document = pg_bytes(rows, 0, 0);
    assert_int_equal(resolved_decode(&doc, &arena, document.bytes, document.len), 0);
    assert_int_equal(doc.sample_count, 3);
    assert_int_equal(doc.hot.run, 2);
    assert_int_equal(doc.hot.depth, 3);
    assert_int_equal(doc.hot.repeat[2], 3);
    assert_int_equal(doc.hot.caller1, 1);
    assert_int_equal(doc.thread.cpu_ms.value, 12);
    pg_rows_free(&rows);
    pg_end(&tx);
    arena_fini(&arena);
    pg_close(pg);
}

static void a_report_worked_on_twice_counts_once(void **state)
{
    (void)state;
    struct pg *pg = pgtest_mapview();
    (void)put(pg, false);
    struct work *work = start(pg, NULL);
    drain(pg);
    pgtest_run(pg, "INSERT INTO inbox (slot, day, report_id, app_id) SELECT slot, day, report_id, app_id FROM report");
    drain(pg);
    work_stop(work);
    assert_int_equal(pgtest_number(pg, "SELECT sum(reports)::int8 FROM version_hour"), 1);
    assert_int_equal(pgtest_number(pg, "SELECT sum(reports)::int8 FROM issue_hour"), 1);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM rollup_delta"), 1);
    rolluptest_check(pg);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM rollup"), 2);
    pg_close(pg);
}

static void an_unreadable_report_goes_aside_and_blocks_nobody(void **state)
{
    (void)state;
    struct pg *pg = pgtest_mapview();
    (void)put(pg, true);
    (void)put(pg, false);
    struct inbox_wakeup *wakeup;
    assert_int_equal(inbox_wakeup_new(&wakeup), 0);
    struct work *work = start(pg, wakeup);
    inbox_wake(wakeup);
    drain(pg);
    work_stop(work);
    inbox_wakeup_free(wakeup);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event"), 1);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM inbox"), 0);
    assert_int_equal(
        pgtest_number(pg, "SELECT count(*) FROM dead_letter WHERE stage = 'decode' AND reason LIKE 'byte %'"), 1);
    pg_close(pg);
}

static void a_report_that_keeps_failing_is_given_up_after_its_attempts(void **state)
{
    (void)state;
    struct pg *pg = pgtest_mapview();
    (void)put(pg, false);
    pgtest_run(pg, "ALTER TABLE event ADD CONSTRAINT nothing_fits CHECK (duration_ms < 0)");
    struct work *work = start(pg, NULL);
    pgtest_until_none(pg, "SELECT 1 - count(*) FROM dead_letter WHERE stage = 'aggregate'",
                      "UPDATE inbox SET not_before = now() - interval '1 s'");
    work_stop(work);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM inbox"), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue"), 0); /* rolled back with the rest */
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM dead_letter WHERE reason LIKE '%nothing_fits%'"), 1);
    pg_close(pg);
}

static void many_workers_count_each_report_once(void **state)
{
    (void)state;
    enum { REPORTS = 200 };
    struct pg *pg = pgtest_mapview();
    for (int i = 0; i < REPORTS; i++)
        (void)put(pg, false);
    struct work *one = start(pg, NULL);
    struct work *two = start(pg, NULL);
    drain(pg);
    work_stop(one);
    work_stop(two);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event"), REPORTS);
    assert_int_equal(pgtest_number(pg, "SELECT sum(reports)::int8 FROM issue_hour"), REPORTS);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue"), 1);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM version"), 1);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM dead_letter"), 0);
    pg_close(pg);
}

/* A worker has a pool of its own, so that its statements are known. */
static struct pg *own_pool(void)
{
    struct pg *pg;
    struct pg_options options = {
        .conninfo = pgtest_database_conninfo(), .connections = 4, .wait_ms = 5000, .log = &quiet};
    assert_int_equal(pg_open(&pg, &options), 0);
    return pg;
}

static void a_report_of_a_batch_costs_a_part_of_a_statement(void **state)
{
    (void)state;
    enum { REPORTS = 400 };
    struct pg *pg = pgtest_mapview(), *own = own_pool();
    for (int i = 0; i < REPORTS; i++)
        (void)put(pg, false);
    struct work *work = start(own, NULL);
    drain(pg);
    work_stop(work);
    assert_int_equal(pgtest_number(pg, "SELECT sum(reports)::int8 FROM issue_hour"), REPORTS);
    assert_in_range(pg_statements(own), 1, REPORTS / 2);
    pg_close(own);
    pg_close(pg);
}

static int be_slow(struct item *item)
{
    (void)item;
    usleep(20000);
    return MIRE_STAGE_DONE;
}

/* A batch ends after two seconds, so no more than 100 slow reports of an app are stored before the next app has its turn. */
static void a_flood_of_one_app_keeps_no_other_waiting(void **state)
{
    (void)state;
    struct pg *pg = pgtest_mapview();
    struct work_options options = MIRE_WORK_OPTIONS_INIT;
    struct stage stages[16] = {{"symbolicate", be_slow}};
    struct work *work;
    options.by_slot = pgtest_on_citus();
    for (int i = 0; i < 300; i++)
        (void)put(pg, false);
    (void)put(pg, false);
    pgtest_run(pg, "INSERT INTO app (app_id, slug, name) VALUES (2, 'other', 'Other')");
    pgtest_run(pg,
               "UPDATE report SET app_id = 2 WHERE report_id = (SELECT report_id FROM inbox ORDER BY not_before DESC"
               " LIMIT 1)");
    pgtest_run(pg, "UPDATE inbox i SET app_id = r.app_id FROM report r WHERE r.report_id = i.report_id");
    memcpy(stages + 1, work_stages, work_stage_count * sizeof *stages);
    options = (struct work_options){.pg = pg, .log = &quiet, .threads = 1, .stages = stages};
    options.stage_count = work_stage_count + 1;
    assert_int_equal(work_start(&work, &options), 0);
    pgtest_until_none(pg, "SELECT 1 - count(*) FROM event WHERE app_id = 2", NULL);
    work_stop(work);
    assert_in_range(pgtest_number(pg, "SELECT count(*) FROM event WHERE app_id = 1 AND xmin::text::bigint <"
                                      " (SELECT xmin::text::bigint FROM event WHERE app_id = 2)"),
                    1, 110);
    pg_close(pg);
}

/* A process that works until it is killed. */
static pid_t worker_process(const struct work_options *base)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    struct pg *pg;
    struct pg_options options = {
        .conninfo = pgtest_database_conninfo(), .connections = 4, .wait_ms = 5000, .log = &quiet};
    struct work_options work_options = *base;
    struct work *work;
    work_options.log = &quiet;
    if (pg_open(&pg, &options))
        _exit(1);
    work_options.pg = pg;
    if (work_start(&work, &work_options))
        _exit(1);
    for (;;)
        pause();
}

/* Remove a directory that contains only files. */
static void remove_dir(const char *path)
{
    char file[512];
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        (void)unlink(file);
    }
    closedir(dir);
    assert_int_equal(rmdir(path), 0);
}

static void killed_anywhere_each_report_counts_once(void **state)
{
    (void)state;
    enum { REPORTS = 120 };
    struct pg *pg = pgtest_mapview();
    char dir[] = "/tmp/mire-work-XXXXXX";
    struct work_options options = MIRE_WORK_OPTIONS_INIT;
    options.by_slot = pgtest_on_citus();
    options.cache_dir = mkdtemp(dir);
    for (int i = 0; i < REPORTS; i++)
        (void)put(pg, false);
    for (int kills = 0; kills < 12; kills++) {
        pid_t pid = worker_process(&options);
        assert_true(pid > 0);
        usleep(30000 + 7000 * (useconds_t)kills);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    struct work *work = start(pg, NULL);
    drain(pg);
    pgtest_until_none(pg, "SELECT count(*) FROM inbox", /* a row whose backend still exists waits some seconds */
                      "UPDATE inbox SET not_before = now()");
    work_stop(work);
    remove_dir(dir);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event"), REPORTS);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event_stack"), REPORTS);
    assert_int_equal(pgtest_number(pg, "SELECT sum(reports)::int8 FROM version_hour"), REPORTS);
    rolluptest_check(pg);
    assert_int_equal(pgtest_number(pg, "SELECT sum(reports)::int8 FROM issue_hour"), REPORTS);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM dead_letter"), 0);
    pg_close(pg);
}

static bool is_poison(const struct item *item)
{
    return !strcmp(item->report.app.version, "poison");
}

/* As the kernel ends a process after an invalid store; a sanitizer would stop the store itself. */
static void die(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

/* Dies as by a broken library. */
static int die_of_report(struct item *item)
{
    if (is_poison(item))
        die();
    return MIRE_STAGE_DONE;
}

static int die_of_debug_file(struct item *item)
{
    if (is_poison(item) && journal_module(item->journal, item->slot, (const uint8_t[]){0xde, 0xad}, 2))
        die();
    return MIRE_STAGE_DONE;
}

/* Put a report into the inbox that kills the poisoned stage. */
static void put_poison(struct pg *pg)
{
    size_t len;
    char *body = vector(&len);
    char text[MIRE_UUID_TEXT];
    struct uuid id;
    uuid_make(&id, clock_wall_us());
    uuid_format(text, &id);
    memcpy(strstr(body, "019aa1b2-c3d4-7e5f-8a6b-0123456789ab"), text, 36);
    memcpy(strstr(body, "8.0.38"), "poison", 6);
    struct inbox_row row = {
        .report_id = id, .app_id = 1, .format = "mire", .encoding = "identity", .body = body, .body_len = len};
    assert_int_equal(inbox_store_batch(pg, &row, 1), 0);
    free(body);
}

static void a_report_that_cannot_be_stored_is_found_among_many(void **state)
{
    (void)state;
    enum { REPORTS = 60 };
    struct pg *pg = pgtest_mapview();
    pgtest_run(pg, "INSERT INTO version (version_id, app_id, version, build, first_seen)"
                   " VALUES (999, 1, 'poison', '1042', now())");
    pgtest_run(pg, "ALTER TABLE event ADD CONSTRAINT no_poison CHECK (version_id <> 999)");
    for (int i = 0; i < REPORTS; i++) {
        if (i == REPORTS / 3)
            put_poison(pg);
        (void)put(pg, false);
    }
    struct work *work = start(pg, NULL);
    pgtest_until_none(pg, "SELECT 1 - count(*) FROM dead_letter",
                      "UPDATE inbox SET not_before = now() - interval '1 s'");
    drain(pg);
    work_stop(work);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM inbox"), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event_stack"), REPORTS);
    assert_int_equal(pgtest_number(pg, "SELECT sum(reports)::int8 FROM issue_hour"), REPORTS);
    assert_int_equal(pgtest_number(pg, "SELECT sum(turns)::int8 FROM turn_hour"), REPORTS * 4 * (17 + 4 + 1));
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM dead_letter WHERE stage = 'aggregate'"
                                       " AND reason LIKE '%no_poison%'"),
                     1);
    pg_close(pg);
}

/* Work in one process after another until the poisoned report is done or given up. Returns the number of deaths. */
static int work_through(struct pg *pg, const struct work_options *given, int (*poison)(struct item *item))
{
    struct work_options options = *given;
    struct stage stages[16];
    char dir[] = "/tmp/mire-work-XXXXXX";
    int deaths = 0;
    stages[0] = work_stages[0];
    stages[1] = (struct stage){"symbolicate", poison};
    memcpy(stages + 2, work_stages + 1, (work_stage_count - 1) * sizeof *stages);
    options.stages = stages;
    options.stage_count = work_stage_count + 1;
    options.cache_dir = mkdtemp(dir);
    while (pgtest_number(pg, "SELECT count(*) FROM inbox")) {
        int status;
        pid_t pid = worker_process(&options);
        assert_true(pid > 0);
        for (int i = 0; waitpid(pid, &status, WNOHANG) == 0; i++) {
            assert_true(i < 12000);
            if (!pgtest_number(pg, "SELECT count(*) FROM inbox"))
                kill(pid, SIGKILL);
            pgtest_run(pg, "UPDATE inbox SET not_before = now()");
            usleep(5000);
        }
        assert_true(WIFSIGNALED(status));
        deaths += WTERMSIG(status) == SIGSEGV;
        assert_true(deaths <= MIRE_INBOX_ATTEMPTS_MAX);
    }
    remove_dir(dir);
    return deaths;
}

static void a_report_that_ends_the_process_is_given_up_and_blocks_nobody(void **state)
{
    (void)state;
    enum { REPORTS = 60 };
    struct pg *pg = pgtest_mapview();
    struct work_options options = MIRE_WORK_OPTIONS_INIT;
    options.by_slot = pgtest_on_citus();
    for (int i = 0; i < REPORTS; i++) {
        if (i == REPORTS / 2)
            put_poison(pg);
        (void)put(pg, false);
    }
    assert_int_equal(work_through(pg, &options, die_of_report), MIRE_INBOX_ATTEMPTS_MAX);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event"), REPORTS);
    assert_int_equal(pgtest_number(pg, "SELECT sum(reports)::int8 FROM issue_hour"), REPORTS);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM dead_letter"), 1);
    assert_int_equal(
        pgtest_number(pg, "SELECT count(*) FROM dead_letter WHERE stage = 'symbolicate' AND reason LIKE '%ended%'"), 1);
    pg_close(pg);
}

static void a_debug_file_that_ends_the_process_is_left_alone(void **state)
{
    (void)state;
    struct pg *pg = pgtest_mapview();
    struct work_options options = MIRE_WORK_OPTIONS_INIT;
    options.by_slot = pgtest_on_citus();
    put_poison(pg);
    assert_int_equal(work_through(pg, &options, die_of_debug_file), MIRE_JOURNAL_SUSPECTS);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event"), 1);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM dead_letter"), 0);
    pg_close(pg);
}

/* Two workers have the same new versions in opposite order, and both wait for one in the middle, which a third makes and takes back. */
static void new_versions_are_made_without_a_deadlock(void **state)
{
    (void)state;
    if (pgtest_on_citus())
        skip(); /* the coordinator does not show who waits */
    enum { VERSIONS = 20, EACH = 200 };
    struct pg *pg = pgtest_mapview();
    struct pg_tx *third;
    char version[16];

    for (int i = 0; i < 2 * EACH; i++) {
        snprintf(version, sizeof version, "9.%04d", i < EACH ? i % VERSIONS : VERSIONS - 1 - i % VERSIONS);
        put_version(pg, version, false);
    }
    assert_int_equal(pg_begin(&third, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(
        pg_query(NULL, third,
                 "INSERT INTO version (app_id, version, build, first_seen) VALUES (1, '9.0010', '1042', now())"),
        0);
    struct work *work = start(pg, NULL);
    pgtest_until_none(pg, "SELECT 2 - count(*) FROM pg_locks WHERE NOT granted", NULL);
    pg_end(&third);
    drain(pg);
    work_stop(work);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM version"), VERSIONS);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event"), 2 * EACH);
    assert_int_equal(pgtest_number(pg, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"), 0);
    pg_close(pg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_becomes_rows),
        cmocka_unit_test(new_versions_are_made_without_a_deadlock),
        cmocka_unit_test(a_report_waits_for_the_archive),
        cmocka_unit_test(a_report_worked_on_twice_counts_once),
        cmocka_unit_test(an_unreadable_report_goes_aside_and_blocks_nobody),
        cmocka_unit_test(a_report_that_keeps_failing_is_given_up_after_its_attempts),
        cmocka_unit_test(many_workers_count_each_report_once),
        cmocka_unit_test(a_report_of_a_batch_costs_a_part_of_a_statement),
        cmocka_unit_test(a_flood_of_one_app_keeps_no_other_waiting),
        cmocka_unit_test(a_report_that_cannot_be_stored_is_found_among_many),
        cmocka_unit_test(killed_anywhere_each_report_counts_once),
        cmocka_unit_test(a_report_that_ends_the_process_is_given_up_and_blocks_nobody),
        cmocka_unit_test(a_debug_file_that_ends_the_process_is_left_alone),
    };
    return cmocka_run_group_tests(tests, pgtest_start, pgtest_stop);
}
