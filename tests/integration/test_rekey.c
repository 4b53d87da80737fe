/*
 * Stored reports whose debug file arrives late, through a real PostgreSQL. The reports' program is this test, and its
 * own executable is the debug file.
 */
#include "base/clock.h"
#include "base/log.h"
#include "inbox/inbox.h"
#include "rows/apps.h"
#include "rows/rekey.h"
#include "rows/rekey_due.h"
#include "support/late.h"
#include "support/pgtest.h"
#include "support/rolluptest.h"
#include "pipeline/work.h"
#include "rekey/rekey.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct log quiet = {.fd = 2, .least = MIRE_LOG_OFF};

/* A report of a hang in planted_culprit + at, called by planted_scene. */
static void put_report(struct pg *pg, unsigned at, uint32_t duration_ms)
{
    char body[4096], id[MIRE_UUID_TEXT];
    struct uuid uuid;
    uuid_make(&uuid, clock_wall_us());
    uuid_format(id, &uuid);
    int len =
        snprintf(body, sizeof body,
                 "{\"mire\":1,\"id\":\"%s\",\"kind\":\"event\",\"app\":{\"name\":\"a\",\"version\":\"1\"},"
                 "\"device\":{\"install\":\"00112233445566778899aabbccddeeff\",\"os\":\"linux\",\"arch\":\"x86_64\"},"
                 "\"process\":{\"pid\":1,\"name\":\"a\"},"
                 "\"images\":[{\"name\":\"/opt/a/late\",\"id\":\"%s\",\"arch\":\"x86_64\",\"load\":4096}],"
                 "\"frames\":{\"image\":[0,0],\"offset\":[%llu,%llu]},\"nodes\":{\"up\":[1,1],\"frame\":[1,0]},"
                 "\"event\":{\"begin_ns\":0,\"duration_ms\":%u,\"threshold_ms\":1000,\"open\":false,"
                 "\"samples\":{\"at_ms\":[1000],\"weight_ms\":[1000],\"node\":[2]}}}",
                 id, late_build(), (unsigned long long)late_offset(planted_culprit, at),
                 (unsigned long long)late_offset(planted_scene, 6), duration_ms);
    struct inbox_row row = {.report_id = uuid,
                            .app_id = 1,
                            .format = "mire",
                            .encoding = "identity",
                            .body = body,
                            .body_len = (size_t)len};
    assert_int_equal(inbox_store_batch(pg, &row, 1), 0);
}

static void run(struct pg *pg, const char *sql)
{
    struct pg_tx *tx = NULL;
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_query(NULL, tx, sql), 0);
    assert_int_equal(pg_commit(&tx), 0);
}

/* --- the state of one test --- */

struct world {
    struct pg *pg;
    struct work *work;
    char cache[64];
    struct work_options options;
};

static void start(struct world *world)
{
    assert_int_equal(work_start(&world->work, &world->options), 0);
    assert_int_equal(rekey_start(world->work), 0);
}

static void stop(struct world *world)
{
    work_stop(world->work);
    world->work = NULL;
}

static struct world *world_new(void)
{
    struct world *world = calloc(1, sizeof *world);
    world->pg = pgtest_database(12);
    run(world->pg, "INSERT INTO app (app_id, slug, name) VALUES (1, 'late', 'Late')");
    snprintf(world->cache, sizeof world->cache, "/tmp/mire-rekey-XXXXXX");
    assert_non_null(mkdtemp(world->cache));
    world->options = (struct work_options){
        .pg = world->pg, .log = &quiet, .threads = 2, .cache_dir = world->cache, .by_slot = pgtest_on_citus()};
    return world;
}

static void world_free(struct world *world)
{
    char command[128];
    stop(world);
    pg_close(world->pg);
    snprintf(command, sizeof command, "rm -rf %s", world->cache);
    assert_int_equal(system(command), 0);
    free(world);
}

/* Wait until a query returns 0. */
static void await_zero(struct world *world, const char *sql)
{
    for (int i = 0; pgtest_number(world->pg, sql) > 0; i++) {
        assert_true(i < 3000);
        usleep(20000);
    }
}

static void await_inbox(struct world *world)
{
    await_zero(world, "SELECT count(*) FROM inbox");
}

/* Wait until all arrivals have been derived again and every job has ended. */
static void await_jobs(struct world *world)
{
    await_zero(world, "SELECT (SELECT count(*) FROM symbol_arrival) + (SELECT count(*) FROM rekey_queue)"
                      " + (SELECT count(*) FROM rekey_job WHERE state IN ('queueing', 'running'))");
}

/* The counters of issues match the events: every sum over issue_hour is compared with the events. */
static void assert_counters_hold(struct world *world)
{
    assert_int_equal(
        pgtest_number(world->pg, "SELECT count(*) FROM (SELECT app_id, issue_id, version_id, count(*) AS reports,"
                                 " sum(weight * (1 + suppressed)) AS events, max(waited_ms) AS longest,"
                                 " max(received_at) AS last FROM event GROUP BY 1, 2, 3) h FULL JOIN (SELECT app_id,"
                                 " issue_id, version_id, sum(reports) AS reports, sum(events) AS events,"
                                 " max(longest_ms) AS longest, max(last_at) AS last FROM issue_hour GROUP BY 1, 2, 3) c"
                                 " USING (app_id, issue_id, version_id) WHERE h.reports IS DISTINCT FROM c.reports OR"
                                 " h.events IS DISTINCT FROM c.events OR h.longest IS DISTINCT FROM c.longest OR"
                                 " h.last IS DISTINCT FROM c.last"),
        0);
    assert_int_equal(
        pgtest_number(world->pg, "SELECT (SELECT sum(reports) FROM version_hour) - (SELECT count(*) FROM event)"), 0);
    rolluptest_check(world->pg);
}

#define IS_NAMED "caller1 = 'planted_culprit' AND caller2 = 'planted_scene' AND NOT unnamed AND gone_to IS NULL"

/* --- tests --- */

static void an_issue_of_addresses_keeps_number_state_and_first_seen(void **state)
{
    (void)state;
    struct world *world = world_new();
    put_report(world->pg, 1, 3000);
    put_report(world->pg, 1, 5000);
    start(world);
    await_inbox(world);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM issue WHERE unnamed AND caller1 LIKE 'late+0x%'"),
                     1);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM missing_debug_file WHERE had = 'none'"), 2);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM image WHERE name = 'late' AND arch = 'x86_64'"), 1);
    run(world->pg, "UPDATE issue SET state = 'ignored', first_seen = '2026-01-02'");
    int64_t number = pgtest_number(world->pg, "SELECT issue_id FROM issue");
    late_arrive(world->pg);
    await_jobs(world);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM issue"), 1);
    assert_int_equal(pgtest_number(world->pg, "SELECT issue_id FROM issue WHERE " IS_NAMED " AND state = 'ignored'"
                                              " AND first_seen = '2026-01-02'"),
                     number);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM event WHERE unresolved_count = 0"), 2);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM missing_debug_file"), 0);
    assert_int_equal(pgtest_number(world->pg, "SELECT queued FROM rekey_job WHERE state = 'done'"), 2);
    assert_counters_hold(world);
    world_free(world);
}

static void issues_of_one_function_become_one(void **state)
{
    (void)state;
    struct world *world = world_new();
    put_report(world->pg, 0, 3000);
    put_report(world->pg, 1, 4000);
    put_report(world->pg, 1, 7000);
    put_report(world->pg, 1, 5000);
    start(world);
    await_inbox(world);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM issue WHERE unnamed"), 2);
    run(world->pg, "UPDATE issue SET state = 'resolved' WHERE issue_id ="
                   " (SELECT issue_id FROM event GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)");
    run(world->pg, "UPDATE issue SET first_seen = '2026-01-02' WHERE state = 'open'");
    late_arrive(world->pg);
    await_jobs(world);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM issue WHERE " IS_NAMED " AND state = 'resolved'"
                                              " AND first_seen = '2026-01-02'"),
                     1);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM issue g JOIN issue n ON n.issue_id = g.gone_to"
                                              " AND n.gone_to IS NULL"),
                     1);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(DISTINCT issue_id) FROM event"), 1);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(DISTINCT issue_id) FROM issue_hour"), 1);
    assert_counters_hold(world);
    struct pg_tx *tx = NULL;
    int64_t gone = pgtest_number(world->pg, "SELECT issue_id FROM issue WHERE gone_to IS NOT NULL"), now = gone;
    assert_int_equal(pg_begin(&tx, world->pg, MIRE_PG_READ), 0);
    assert_int_equal(rows_issue_now_read(&now, tx), 0);
    pg_end(&tx);
    assert_int_equal(now, pgtest_number(world->pg, "SELECT issue_id FROM issue WHERE gone_to IS NULL"));
    world_free(world);
}

static void counters_of_reports_that_are_gone_follow(void **state)
{
    (void)state;
    struct world *world = world_new();
    put_report(world->pg, 0, 3000);
    put_report(world->pg, 1, 4000);
    start(world);
    await_inbox(world);
    /* Each issue had one more report, which retention dropped since; its counters stay. */
    run(world->pg,
        "INSERT INTO issue_hour (slot, hour, app_id, issue_id, version_id, reports, events, waited_ms, longest_ms,"
        " last_at) SELECT 5, '2026-01-01', 1, issue_id, 1, 1, 1, 9000, 9000, '2026-01-01' FROM issue");
    late_arrive(world->pg);
    await_jobs(world);
    assert_int_equal(pgtest_number(world->pg,
                                   "SELECT sum(reports)::bigint FROM issue_hour JOIN issue USING (issue_id)"
                                   " WHERE hour = '2026-01-01' AND " IS_NAMED " HAVING sum(waited_ms) = 18000"),
                     2);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(DISTINCT issue_id) FROM issue_hour"), 1);
    world_free(world);
}

static void a_report_with_all_debug_files_is_left_alone(void **state)
{
    (void)state;
    struct world *world = world_new();
    put_report(world->pg, 1, 3000);
    start(world);
    await_inbox(world);
    run(world->pg, "UPDATE missing_set SET build_id = '\\x1234'");
    late_arrive(world->pg);
    await_jobs(world);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM rekey_job"), 0);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM issue WHERE unnamed"), 1);
    put_report(world->pg, 1, 3000); /* a new report uses the file at once */
    await_inbox(world);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM issue WHERE " IS_NAMED), 1);
    world_free(world);
}

static void a_preview_counts_and_changes_nothing(void **state)
{
    (void)state;
    struct world *world = world_new();
    struct pg_tx *tx = NULL;
    struct pg_rows *rows = NULL;
    struct rekey_job job;
    int64_t number;
    put_report(world->pg, 0, 3000);
    put_report(world->pg, 1, 4000);
    start(world);
    await_inbox(world);
    run(world->pg, "DELETE FROM report_missing"); /* so that the file alone moves nothing */
    late_arrive(world->pg);
    await_jobs(world);
    struct rekey_ask ask = {.app_id = 1, .cause = "key", .detail = "to see", .preview = true};
    assert_int_equal(pg_begin(&tx, world->pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_rekey_ask(&number, tx, &ask), 0);
    assert_int_equal(pg_commit(&tx), 0);
    await_jobs(world);
    assert_int_equal(pg_begin(&tx, world->pg, MIRE_PG_READ), 0);
    assert_int_equal(rows_rekey_job(&rows, tx, number), 0);
    assert_int_equal(pg_row_count(rows), 1);
    rows_rekey_read(&job, rows, 0);
    assert_string_equal(job.state, "done");
    assert_int_equal(job.queued, 2);
    assert_int_equal(job.exemplars, 2);
    assert_int_equal(job.done, 2);
    assert_int_equal(job.moved, 2);
    assert_int_equal(job.issues_new, 1);
    assert_int_equal(job.issues_gone, 2);
    pg_rows_free(&rows);
    assert_int_equal(rows_rekey_flows(&rows, tx, number, 10), 0);
    assert_int_equal(pg_row_count(rows), 2);
    pg_rows_free(&rows);
    pg_end(&tx);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM issue WHERE unnamed"), 2);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM event WHERE unresolved_count = 2"), 2);
    ask.preview = false;
    assert_int_equal(pg_begin(&tx, world->pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_rekey_ask(&number, tx, &ask), 0);
    assert_int_equal(pg_commit(&tx), 0);
    await_jobs(world);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM issue WHERE " IS_NAMED), 1);
    assert_counters_hold(world);
    world_free(world);
}

/* Copies of all stored reports, each so often. */
static void multiply(struct pg *pg, int times)
{
    static const char *const tables[] = {"report", "event", "event_stack"};
    char sql[400];

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        snprintf(sql, sizeof sql,
                 "INSERT INTO %s SELECT (jsonb_populate_record(t, jsonb_build_object('report_id',"
                 " md5(n || t.report_id::text)::uuid))).* FROM %s t CROSS JOIN generate_series(1, %d) n",
                 tables[i], tables[i], times);
        run(pg, sql);
    }
}

/* Two issues with 1,500 reports each: 2,000 are derived, and stand for all. */
static void exemplars_stand_for_the_reports_of_their_issues(void **state)
{
    (void)state;
    struct world *world = world_new();
    struct pg_tx *tx = NULL;
    struct pg_rows *rows = NULL;
    struct rekey_job job;
    int64_t number;
    put_report(world->pg, 0, 3000);
    put_report(world->pg, 1, 4000);
    start(world);
    await_inbox(world);
    stop(world);
    multiply(world->pg, 1499);
    run(world->pg, "DELETE FROM report_missing");
    late_arrive(world->pg);
    start(world);
    await_jobs(world);
    struct rekey_ask ask = {.app_id = 1, .cause = "key", .detail = "to see", .preview = true};
    assert_int_equal(pg_begin(&tx, world->pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_rekey_ask(&number, tx, &ask), 0);
    assert_int_equal(pg_commit(&tx), 0);
    await_jobs(world);
    assert_int_equal(pg_begin(&tx, world->pg, MIRE_PG_READ), 0);
    assert_int_equal(rows_rekey_job(&rows, tx, number), 0);
    rows_rekey_read(&job, rows, 0);
    assert_string_equal(job.state, "done");
    assert_int_equal(job.exemplars, 2000);
    assert_int_equal(job.queued, 3000);
    assert_int_equal(job.done, 3000);
    assert_int_equal(job.moved, 3000);
    assert_int_equal(job.issues_new, 1);
    assert_int_equal(job.issues_gone, 2);
    pg_rows_free(&rows);
    pg_end(&tx);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM issue WHERE unnamed"), 2);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM event WHERE unresolved_count = 2"), 3000);
    world_free(world);
}

/* Queue a job; get its state, and the number of its reports. */
static int64_t queue(struct pg *pg, char state[16], int64_t number)
{
    struct pg_tx *tx = NULL;
    struct pg_rows *rows = NULL;
    struct rekey_job job;
    struct arena arena;
    arena_init(&arena, 1 << 16);
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_in_range(rows_rekey_queue(tx, &arena), 0, 1);
    assert_int_equal(pg_commit(&tx), 0);
    arena_fini(&arena);
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
    assert_int_equal(rows_rekey_job(&rows, tx, number), 0);
    rows_rekey_read(&job, rows, 0);
    snprintf(state, 16, "%s", job.state);
    pg_rows_free(&rows);
    pg_end(&tx);
    return job.queued;
}

static void a_report_in_hand_when_rules_change_is_not_missed(void **state)
{
    (void)state;
    struct world *world = world_new();
    struct pg_tx *in_hand = NULL, *tx = NULL;
    const struct rekey_ask ask = {.app_id = 1, .cause = "rules"};
    char is[16];
    int64_t number;
    put_report(world->pg, 0, 3000);
    start(world);
    await_inbox(world);
    stop(world);
    /* A worker that read the rules before, and stores its results after they have changed. */
    assert_int_equal(pg_begin(&in_hand, world->pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_query(NULL, in_hand,
                              "INSERT INTO event SELECT (jsonb_populate_record(h, jsonb_build_object('report_id',"
                              " gen_random_uuid()))).* FROM event h"),
                     0);
    assert_int_equal(pg_begin(&tx, world->pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_rekey_ask(&number, tx, &ask), 0);
    assert_int_equal(pg_commit(&tx), 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(queue(world->pg, is, number), 0);
        assert_string_equal(is, "queueing");
    }
    assert_int_equal(pg_commit(&in_hand), 0);
    for (int i = 0; i < 5; i++)
        (void)queue(world->pg, is, number);
    assert_int_equal(queue(world->pg, is, number), 2);
    assert_string_equal(is, "running");
    start(world);
    world_free(world);
}

static void a_report_that_cannot_be_read_any_more_stays(void **state)
{
    (void)state;
    struct world *world = world_new();
    put_report(world->pg, 1, 3000);
    put_report(world->pg, 1, 4000);
    start(world);
    await_inbox(world);
    run(world->pg,
        "UPDATE report SET body = 'x' WHERE report_id = (SELECT report_id FROM event WHERE duration_ms = 3000)");
    late_arrive(world->pg);
    await_jobs(world);
    assert_int_equal(pgtest_number(world->pg, "SELECT sum(failed)::int8 FROM rekey_flow"), 1);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM event WHERE unresolved_count = 0"), 1);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM event"), 2);
    assert_counters_hold(world);
    world_free(world);
}

/* Processes that derive reports again are killed again and again, while new reports arrive. */
static void killed_anywhere_every_report_moves_once(void **state)
{
    (void)state;
    enum { REPORTS = 400, KILLS = 6 };
    struct world *world = world_new();
    for (unsigned i = 0; i < REPORTS; i++)
        put_report(world->pg, i % 3, 1000 + i);
    start(world);
    await_inbox(world);
    stop(world);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM issue WHERE unnamed"), 3);
    run(world->pg, "UPDATE issue SET state = 'ignored', first_seen = '2026-01-02'");
    late_arrive(world->pg);
    for (int kill_at = 0; kill_at < KILLS; kill_at++) {
        int64_t left = pgtest_number(world->pg, "SELECT count(*) FROM missing_debug_file");
        pid_t pids[2];
        for (int p = 0; p < 2; p++) {
            pids[p] = fork();
            assert_true(pids[p] >= 0);
            if (pids[p] == 0) {
                struct pg *pg;
                struct work *work;
                struct pg_options options = {
                    .conninfo = pgtest_database_conninfo(), .connections = 6, .wait_ms = 5000, .log = &quiet};
                if (pg_open(&pg, &options))
                    _exit(1);
                world->options.pg = pg;
                if (work_start(&work, &world->options) || rekey_start(work))
                    _exit(1);
                for (;;)
                    pause();
            }
        }
        put_report(world->pg, (unsigned)kill_at % 3, 2000);
        for (int i = 0; i < 3000 && left && pgtest_number(world->pg, "SELECT count(*) FROM missing_debug_file") >= left;
             i++)
            usleep(2000);
        for (int p = 0; p < 2; p++) {
            kill(pids[p], SIGKILL);
            waitpid(pids[p], NULL, 0);
        }
    }
    start(world);
    await_inbox(world);
    await_jobs(world);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM event"), REPORTS + KILLS);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM event WHERE unresolved_count = 0"),
                     REPORTS + KILLS);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM issue WHERE " IS_NAMED " AND state = 'ignored'"
                                              " AND first_seen = '2026-01-02'"),
                     1);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(DISTINCT issue_id) FROM event"), 1);
    assert_counters_hold(world);
    world_free(world);
}

/* PostgreSQL loses a process, so all of them, and with them the commits that were not on the disk. */
static void crash(struct world *world)
{
    struct pg_tx *lost = NULL, *seen = NULL, *tx = NULL;
    struct pg_rows *rows = NULL;
    assert_int_equal(pg_begin(&seen, world->pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_begin(&lost, world->pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_query(&rows, lost, "SELECT pg_backend_pid()"), 0);
    pid_t pid = (pid_t)pg_int(rows, 0, 0);
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    for (int i = 0; i < 3000 && !pg_query(NULL, seen, "SELECT 1"); i++) /* until all are ended */
        usleep(20000);
    pg_rows_free(&rows);
    pg_end(&lost);
    pg_end(&seen);
    for (int i = 0; i < 3000 && pg_begin(&tx, world->pg, MIRE_PG_WRITE); i++)
        usleep(20000);
    assert_non_null(tx);
    pg_end(&tx);
}

static void lost_commits_are_made_again(void **state)
{
    (void)state;
    enum { REPORTS = 400, CRASHES = 3 };
    if (pgtest_on_citus())
        skip(); /* the cluster is not this test's own */
    struct world *world = world_new();
    for (unsigned i = 0; i < REPORTS; i++)
        put_report(world->pg, i % 3, 1000 + i);
    start(world);
    await_inbox(world);
    late_arrive(world->pg);
    for (int n = 0; n < CRASHES; n++) {
        int64_t left = pgtest_number(world->pg, "SELECT count(*) FROM missing_debug_file");
        for (int i = 0; i < 3000 && left && pgtest_number(world->pg, "SELECT count(*) FROM missing_debug_file") >= left;
             i++)
            usleep(2000);
        crash(world);
    }
    await_jobs(world);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(*) FROM event WHERE unresolved_count = 0"), REPORTS);
    assert_int_equal(pgtest_number(world->pg, "SELECT count(DISTINCT issue_id) FROM event"), 1);
    assert_counters_hold(world);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_issue_of_addresses_keeps_number_state_and_first_seen),
        cmocka_unit_test(issues_of_one_function_become_one),
        cmocka_unit_test(counters_of_reports_that_are_gone_follow),
        cmocka_unit_test(a_report_with_all_debug_files_is_left_alone),
        cmocka_unit_test(a_preview_counts_and_changes_nothing),
        cmocka_unit_test(exemplars_stand_for_the_reports_of_their_issues),
        cmocka_unit_test(a_report_in_hand_when_rules_change_is_not_missed),
        cmocka_unit_test(a_report_that_cannot_be_read_any_more_stays),
        cmocka_unit_test(killed_anywhere_every_report_moves_once),
        cmocka_unit_test(lost_commits_are_made_again),
    };
    return cmocka_run_group_tests(tests, pgtest_start, pgtest_stop);
}
