/* Issues and versions without reports for a year, archived or deleted as their app says; every sum stays as it was. */
#include "daemon/idle.h"

#include "base/clock.h"
#include "base/scope.h"
#include "rows/idle.h"
#include "rows/triage.h"
#include "rows/versions.h"
#include "support/pgtest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct log quiet = {.fd = 2, .least = MIRE_LOG_OFF};
static struct pg *pg;

/* Issues that were open, with one counter so many days ago: 11 and 12 long ago, 13 lately, 14 long ago and merged into 13,
 * 15 long ago but touched by a person, 16 long ago with a report that is kept. Version 1 is old, version 2 in use. */
static const char scene_sql[] =
    "INSERT INTO app (app_id, slug, name, idle) VALUES (1, 'a', 'A', 'archive');"
    "INSERT INTO version (version_id, app_id, version, first_seen) VALUES (1, 1, '1.0', now() - interval '900 days'),"
    " (2, 1, '2.0', now() - interval '800 days');"
    "INSERT INTO issue (issue_id, app_id, feature_key, caller1, caller2, category, reason, rules_version, first_seen,"
    " first_version_id) SELECT i, 1, decode(md5(i::text), 'hex'), 'f' || i, 'g', 'hang', 'lock', 1,"
    " now() - interval '800 days', 1 FROM generate_series(11, 16) i;"
    "UPDATE issue SET state_at = now() - interval '3 days' WHERE issue_id = 15;"
    "INSERT INTO issue_alias (app_id, kind, issue_id, into_id, act_id, author, reason)"
    " VALUES (1, 'merge', 14, 13, 1, 'kim', 'same');"
    "INSERT INTO issue_shown (app_id, issue_id, tree, shown_id) VALUES (1, 14, 0, 13), (1, 13, 0, 13);"
    "INSERT INTO issue_tree (app_id, issue_id, tree, first_seen, frames, caller1) SELECT 1, i, 7, now(), 'x', -1 FROM"
    " generate_series(11, 16) i;"
    "INSERT INTO issue_hour (slot, hour, app_id, issue_id, version_id, tree, reports, events, waited_ms, longest_ms,"
    " last_at) SELECT i % 64, date_trunc('hour', now()) - d * interval '1 day', 1, i, v, 7, i, 2 * i, 100, 50, now() -"
    " d * interval '1 day' FROM (VALUES (11, 700, 1), (11, 500, 2), (12, 400, 2), (13, 20, 2), (14, 600, 1),"
    " (15, 600, 1), (16, 600, 1)) s (i, d, v);"
    "INSERT INTO version_hour (slot, hour, app_id, version_id, category, reports, events, waited_ms, longest_ms)"
    " SELECT 3, hour, 1, version_id, 'hang', sum(reports), sum(events), sum(waited_ms), max(longest_ms) FROM issue_hour"
    " GROUP BY hour, version_id;"
    "INSERT INTO event (slot, day, report_id, app_id, version_id, issue_id, received_at, occurred_at, duration_ms,"
    " waited_ms, category, reason, open, launch, weight, install, os, os_version, arch, model, process_name, "
    "sample_count,"
    " frame_count, unresolved_count, rules_version) SELECT 1, current_date - 600, gen_random_uuid(), 1, 1, 16, now() -"
    " interval '600 days', now() - interval '600 days', 1, 1, 'hang', 'lock', false, false, 1, decode(md5('i'), 'hex'),"
    " 'linux', '', '', '', '', 1, 1, 0, 1";

/* Several statements. */
static void run_script(const char *sql)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_script(tx, sql), 0);
    assert_int_equal(pg_commit(&tx), 0);
}

static void scene(const char *idle)
{
    char sql[128];
    pg = pgtest_database(4);
    run_script(scene_sql);
    snprintf(sql, sizeof sql, "UPDATE app SET idle = '%s'", idle);
    pgtest_run(pg, sql);
}

static int64_t number(const char *sql)
{
    return pgtest_number(pg, sql);
}

#define ALL_SUMS                                                                                             \
    "SELECT sum(reports * 1000003 + events * 1009 + waited_ms)::bigint FROM issue_hour WHERE version_id = 1" \
    " OR version_id = 2"

/* The counters by version and hour, and what a page shows of them. */
static void check_sums(int64_t sums)
{
    assert_int_equal(number(ALL_SUMS), sums);
    assert_int_equal(number("SELECT count(*) FROM (SELECT hour, version_id, sum(reports)::bigint, sum(events),"
                            " sum(waited_ms) FROM issue_hour GROUP BY 1, 2 EXCEPT SELECT hour, version_id,"
                            " sum(reports)::bigint, sum(events), sum(waited_ms) FROM version_hour GROUP BY 1, 2) d"),
                     0);
}

/* The number of versions that the page lists for the days from `from` to `to` ago. */
static int64_t listed(int64_t from, int64_t to)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(arena_fini) struct arena arena;
    struct version_facts *facts;
    size_t count = 0;
    int64_t now_s = clock_wall_us() / 1000000;
    const struct view view = {.app = 1, .span = {now_s - from * 86400, now_s - to * 86400}};
    arena_init(&arena, 1 << 20);
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
    assert_int_equal(rows_version_facts_read(&facts, &count, tx, &arena, &view), 0);
    return (int64_t)count;
}

static void an_archived_issue_waits_for_its_next_report(void **state)
{
    (void)state;
    scene("archive");
    int64_t sums = number(ALL_SUMS);
    for (int round = 0; round < 2; round++) { /* the second changes nothing */
        assert_int_equal(idle_step(pg, &quiet, 365), 0);
        assert_int_equal(number("SELECT count(*) FROM issue WHERE state = 'ignored' AND until_devices = 1"), 3);
        assert_int_equal(number("SELECT count(*) FROM issue WHERE state = 'ignored' AND issue_id IN (11, 12, 16)"), 3);
        assert_int_equal(number("SELECT count(*) FROM issue_act WHERE who = 'mire' AND kind = 'state'"), 3);
        assert_int_equal(number("SELECT sum(version_id * archived::integer)::bigint FROM version"), 1);
    }
    check_sums(sums);
    pgtest_run(pg, "INSERT INTO session_day SELECT 0, current_date - 850, 1, 1, '', 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0,"
                   " 0, 0, 0");
    assert_int_equal(listed(30, 0), 1);
    assert_int_equal(listed(1000, 0), 2);
    assert_int_equal(listed(860, 840), 2); /* sessions alone, and the one in use */
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct triage_report reports[] = {{11, 7, ""}, {11, 7, "1.0"}};
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_triage_seen(tx, &arena, 1, reports, 2), 0);
    assert_int_equal(pg_commit(&tx), 0);
    arena_fini(&arena);
    assert_int_equal(number("SELECT count(*) FROM issue WHERE state = 'open' AND issue_id = 11"), 1);
    assert_int_equal(number("SELECT count(*) FROM issue_act WHERE kind = 'returned' AND body = '1 devices'"), 1);
    pgtest_run(pg, "UPDATE version_hour SET hour = hour + interval '500 days' WHERE version_id = 1");
    assert_int_equal(idle_step(pg, &quiet, 365), 0);
    assert_int_equal(number("SELECT count(*) FROM version WHERE archived"), 0);
    assert_int_equal(number("SELECT count(*) FROM issue WHERE state = 'open' AND issue_id = 11"), 1);
    pg_close(pg);
}

static void *step(void *arg)
{
    (void)arg;
    assert_int_equal(idle_step(pg, &quiet, 365), 0);
    return NULL;
}

/* A worker has looked up issue 11, which is open, and has yet to store its report when upkeep comes. */
static void report_meets_upkeep(void)
{
    struct pg_tx *tx = NULL;
    struct arena arena;
    pthread_t upkeep;
    arena_init(&arena, 1 << 20);
    const struct triage_report report = {11, 7, "2.0"};
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_idle_share(tx, 1), 0);
    assert_int_equal(rows_triage_seen(tx, &arena, 1, &report, 1), 0);
    assert_int_equal(pthread_create(&upkeep, NULL, step, NULL), 0);
    pgtest_until_none(
        pg, "SELECT (NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted))::integer", NULL);
    assert_int_equal(pg_query(NULL, tx,
                              "INSERT INTO issue_hour (slot, hour, app_id, issue_id, version_id, tree, reports, events,"
                              " waited_ms, longest_ms, last_at) VALUES (11, date_trunc('hour', now()), 1, 11, 2, 7, 1,"
                              " 1, 1, 1, now())"),
                     0);
    assert_int_equal(pg_commit(&tx), 0);
    assert_int_equal(pthread_join(upkeep, NULL), 0);
    arena_fini(&arena);
}

static void a_report_on_its_way_keeps_its_issue(void **state)
{
    (void)state;
    scene("archive");
    report_meets_upkeep();
    assert_int_equal(number("SELECT count(*) FROM issue WHERE state = 'open' AND issue_id = 11"), 1);
    assert_int_equal(number("SELECT count(*) FROM issue WHERE state = 'ignored' AND issue_id IN (12, 16)"), 2);
    pg_close(pg);
    scene("delete");
    report_meets_upkeep();
    assert_int_equal(number("SELECT count(*) FROM issue WHERE gone_to IS NULL AND issue_id = 11"), 1);
    assert_int_equal(number("SELECT count(*) FROM issue WHERE gone_to IS NOT NULL AND issue_id = 12"), 1);
    pg_close(pg);
}

/* A person who sets the state of issue 11 meanwhile is not overruled. */
static void a_change_meanwhile_stands(void **state)
{
    (void)state;
    struct pg_tx *tx = NULL;
    pthread_t upkeep;
    int64_t batch;
    const int64_t issue = 11;
    const struct triage_change change = {.app = 1, .who = "kim", .why = "", .state = "resolved", .version = "2.0"};
    scene("archive");
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_triage_set(&batch, tx, &change, &issue, 1), 0);
    assert_int_equal(pthread_create(&upkeep, NULL, step, NULL), 0);
    pgtest_until_none(pg, "SELECT (NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted))::integer", NULL);
    assert_int_equal(pg_commit(&tx), 0);
    assert_int_equal(pthread_join(upkeep, NULL), 0);
    assert_int_equal(number("SELECT count(*) FROM issue WHERE state = 'resolved' AND issue_id = 11"), 1);
    assert_int_equal(number("SELECT count(*) FROM issue WHERE state = 'ignored' AND issue_id IN (12, 16)"), 2);
    pg_close(pg);
}

static void a_deleted_issue_leads_to_other(void **state)
{
    (void)state;
    scene("delete");
    int64_t sums = number(ALL_SUMS);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(idle_step(pg, &quiet, 365), 0);
        assert_int_equal(number("SELECT count(*) FROM issue WHERE gone_to IS NOT NULL"), 2);
        assert_int_equal(
            number("SELECT count(*) FROM issue i JOIN issue o ON o.issue_id = i.gone_to WHERE i.issue_id IN"
                   " (11, 12) AND o.caller1 = 'other' AND o.category = 'hang' AND o.gone_to IS NULL"),
            2);
        assert_int_equal(number("SELECT count(*) FROM issue_tree WHERE issue_id IN (11, 12)"), 0);
        assert_int_equal(number("SELECT count(*) FROM issue_tree"), 4);
        assert_int_equal(number("SELECT count(*) FROM issue_hour WHERE issue_id IN (11, 12)"), 0);
        assert_int_equal(
            number("SELECT sum(reports)::bigint FROM issue_hour JOIN issue USING (issue_id) WHERE caller1 ="
                   " 'other'"),
            34);
        check_sums(sums);
    }
    pg_close(pg);
}

static void a_merged_issue_goes_with_the_issue_it_is_shown_as(void **state)
{
    (void)state;
    scene("delete");
    int64_t sums = number(ALL_SUMS);
    run_script("UPDATE issue_hour SET hour = hour - interval '600 days' WHERE issue_id = 13;"
               "UPDATE version_hour SET hour = hour - interval '600 days' WHERE hour > now() - interval '30 days'");
    assert_int_equal(idle_step(pg, &quiet, 365), 0);
    assert_int_equal(number("SELECT count(DISTINCT gone_to) FROM issue WHERE issue_id BETWEEN 11 AND 14"), 1);
    assert_int_equal(number("SELECT count(*) FROM issue WHERE gone_to IS NOT NULL"), 4);
    check_sums(sums);
    pg_close(pg);
}

static void a_dry_run_tells_and_changes_nothing(void **state)
{
    (void)state;
    char *text = NULL;
    size_t len = 0;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    scene("archive");
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
    assert_int_equal(idle_print(tx, out, 365, 0), 0);
    assert_int_equal(idle_print(tx, out, 1000, 0), 0);
    assert_int_equal(idle_print(tx, out, 1000, 700), 0); /* in 700 days */
    fclose(out);
    pg_end(&tx);
    assert_string_equal(
        text, "a                        archives 3 issues, and archives 1 versions, without reports for 365 days\n"
              "a                        archives 0 issues, and archives 0 versions, without reports for 1000 days\n"
              "a                        archives 3 issues, and archives 1 versions, without reports for 1000 days\n");
    free(text);
    assert_int_equal(number("SELECT count(*) FROM issue WHERE state = 'open'"), 6);
    pgtest_run(pg, "UPDATE app SET idle = 'keep'");
    assert_int_equal(idle_step(pg, &quiet, 365), 0);
    pgtest_run(pg, "UPDATE app SET idle = 'delete'");
    assert_int_equal(idle_step(pg, &quiet, 0), 0); /* the server says never */
    assert_int_equal(number("SELECT count(*) FROM issue WHERE state = 'open' AND gone_to IS NULL"), 6);
    assert_int_equal(number("SELECT count(*) FROM version WHERE archived"), 0);
    pg_close(pg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_archived_issue_waits_for_its_next_report),
        cmocka_unit_test(a_report_on_its_way_keeps_its_issue),
        cmocka_unit_test(a_change_meanwhile_stands),
        cmocka_unit_test(a_deleted_issue_leads_to_other),
        cmocka_unit_test(a_merged_issue_goes_with_the_issue_it_is_shown_as),
        cmocka_unit_test(a_dry_run_tells_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, pgtest_start, pgtest_stop);
}
