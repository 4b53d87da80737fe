/*
 * Standing sums in a real PostgreSQL, under random changes of the counters: what a page reads is what SQL counts over all
 * hours, before the changes are merged, after it, and while a merger is killed.
 */
#include "support/pgtest.h"
#include "support/rolluptest.h"
#include "support/standingtest.h"

#include "base/arena.h"
#include "base/clock.h"
#include "rows/counters.h"
#include "rows/counters_take.h"
#include "rows/issues.h"
#include "rows/rollup.h"
#include "rows/totals.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define HOUR_US  3600000000ll
#define ISSUES   30
#define VERSIONS 6
#define DAYS     50
#define REPORTS  4000

static const char *const kinds[] = {"hang", "launch", "foom"};

static struct hour_row stored[REPORTS];
static size_t stored_count;

static int64_t below(int64_t most)
{
    return random() % most;
}

static struct pg *database_of(int connections)
{
    struct pg *pg = pgtest_database(connections);
    pgtest_run(pg, "INSERT INTO app (app_id, slug, name) VALUES (1, 'a', 'A'), (2, 'b', 'B')");
    pgtest_run(pg, "INSERT INTO version (version_id, app_id, version, first_seen) SELECT n, 1, '1.' || n, now()"
                   " FROM generate_series(1, 6) n");
    pgtest_run(pg, "INSERT INTO issue (issue_id, app_id, feature_key, caller1, caller1_image, caller2, caller2_image,"
                   " category, reason, rules_version, first_seen, first_version_id)"
                   " SELECT g, 1, decode(md5(g::text), 'hex'), 'f' || g, 'x', 'g', 'x', (ARRAY['hang', 'launch', "
                   "'foom'])[1 + g % 3],"
                   " 'cpu', 1, now(), 1 FROM generate_series(1, 30) g");
    stored_count = 0;
    return pg;
}

static struct pg *database(void)
{
    return database_of(4);
}

static struct hour_row report(void)
{
    int64_t now_us = clock_wall_us(),
            at_us = now_us - (int64_t)((double)below(1000) / 1000 * (double)below(DAYS * 24)) * HOUR_US;
    int64_t issue = 1 + below(ISSUES), ms = below(60000);
    struct hour_row hour = {.reports = 1,
                            .hour_us = at_us - at_us % HOUR_US,
                            .app_id = 1,
                            .version_id = 1 + below(VERSIONS),
                            .issue_id = issue,
                            .tree = (int32_t)below(2),
                            .category = kinds[issue % 3],
                            .events = below(2) ? 1 : 2.5,
                            .waited_ms = (double)ms * 1.5,
                            .above_bytes = (double)below(1ll << 40),
                            .longest_ms = ms,
                            .most_bytes = below(1000),
                            .last_us = at_us};
    hour.turns[below(MIRE_TURN_BUCKETS)] = (double)(1 + below(9));
    return hour;
}

static void add(struct pg *pg, size_t count)
{
    struct arena arena;
    struct pg_tx *tx;

    assert_true(stored_count + count <= REPORTS);
    arena_init(&arena, 64u << 20);
    for (size_t i = 0; i < count; i++)
        stored[stored_count + i] = report();
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_hours_add(tx, &arena, &stored[stored_count], count), 0);
    assert_int_equal(pg_commit(&tx), 0);
    stored_count += count;
    arena_fini(&arena);
}

static void take(struct pg *pg, size_t count)
{
    struct arena arena;
    struct pg_tx *tx;

    for (size_t i = 0; i < count; i++) { /* to the end of the list */
        size_t at = (size_t)below((int64_t)(stored_count - i)), last = stored_count - 1 - i;
        struct hour_row swap = stored[at];
        stored[at] = stored[last];
        stored[last] = swap;
    }
    stored_count -= count;
    arena_init(&arena, 64u << 20);
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_hours_take(tx, &arena, &stored[stored_count], count), 0);
    assert_int_equal(pg_commit(&tx), 0);
    arena_fini(&arena);
}

/* --- pages --- */

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-6 * (1 + fabs(y));
}

/* Sums of the counters in a view. */
static struct pg_rows *count(struct pg_tx *tx, const char *sql, const struct view *view)
{
    struct pg_rows *rows;
    assert_int_equal(pg_query(&rows, tx, sql, PG_TIME(view->span.from_s * 1000000), PG_TIME(view->span.to_s * 1000000),
                              PG_TEXTS(view->version.with, view->version.with_count),
                              PG_TEXTS(view->version.without, view->version.without_count)),
                     0);
    return rows;
}
#define IN_VIEW                                                                                                  \
    " WHERE t.app_id = 1 AND hour >= $1 AND hour < $2 AND t.version_id IN (SELECT version_id FROM version WHERE" \
    " (cardinality($3::text[]) = 0 OR version = ANY ($3)) AND version <> ALL ($4::text[]))"
#define SUMS "sum(reports)::bigint, sum(events), sum(waited_ms), max(longest_ms)"

static void compare(const struct totals *given, const struct pg_rows *rows, size_t row, int column, bool extremes)
{
    assert_true(given->reports == pg_int(rows, row, column));
    assert_true(near(given->events, pg_real(rows, row, column + 1)));
    assert_true(near(given->waited_ms, pg_real(rows, row, column + 2)));
    if (extremes)
        assert_true(given->longest_ms == pg_int(rows, row, column + 3));
}

static void compare_list(struct pg_tx *tx, struct arena *arena, const struct view *view, bool extremes)
{
    struct pg_rows *rows = count(tx,
                                 "SELECT issue_id, " SUMS
                                 ", max(last_at), min(version_id), max(version_id), min(hour) FROM issue_hour t" IN_VIEW
                                 " AND reports > 0 GROUP BY 1 ORDER BY 1",
                                 view);
    size_t found = pg_row_count(rows), summary_count;
    const struct group_order order = {.by = ROWS_BY_CALLER1, .sort = ROWS_SORT_TITLE, .limit = 100};
    struct issue_summary *summaries;
    struct group_page page;
    int64_t issues[ISSUES];

    assert_int_equal(rows_groups_read(&page, tx, arena, view, &order), 0);
    assert_int_equal(page.issues_total, found);
    for (size_t i = 0; i < found; i++) {
        size_t k = 0;
        issues[i] = pg_int(rows, i, 0);
        while (k < page.count && page.groups[k].issues[0] != issues[i])
            k++;
        assert_true(k < page.count);
        compare(&page.groups[k].totals, rows, i, 1, extremes);
        if (extremes)
            assert_true(page.groups[k].last_us == pg_time(rows, i, 5));
    }
    assert_int_equal(rows_summaries_read(&summaries, &summary_count, tx, arena, view, issues, found), 0);
    assert_int_equal(summary_count, found);
    for (size_t i = 0; i < found; i++) {
        double trend = 0;
        for (int part = 0; part < MIRE_TREND_PARTS; part++)
            trend += summaries[i].trend[part];
        compare(&summaries[i].totals, rows, i, 1, extremes);
        assert_true(near(trend, pg_real(rows, i, 2)));
        if (!extremes)
            continue;
        assert_int_equal(summaries[i].last_version[2] - '0', pg_int(rows, i, 7)); /* all are first seen in 1.1 */
        assert_true(summaries[i].first_hour_us == pg_time(rows, i, 8));
    }
    pg_rows_free(&rows);
}

static void compare_sums(struct pg_tx *tx, struct arena *arena, const struct view *view, bool extremes)
{
    int bucket_s = view->span.to_s - view->span.from_s <= 73 * 3600 ? 3600 : 86400;
    struct pg_rows *all = count(tx, "SELECT " SUMS " FROM version_hour t" IN_VIEW, view);
    struct pg_rows *versions =
        count(tx,
              "SELECT version, " SUMS " FROM version_hour t JOIN version USING (version_id)" IN_VIEW
              " AND reports > 0 GROUP BY 1",
              view);
    struct pg_rows *points =
        count(tx,
              bucket_s == 3600 ? "SELECT sum(events), count(DISTINCT (version_id, hour)) FROM version_hour t" IN_VIEW
                                 " AND reports > 0"
                               : "SELECT sum(events), count(DISTINCT (version_id, date_trunc('day', hour, 'UTC'))) "
                                 "FROM version_hour t" IN_VIEW " AND reports > 0",
              view);
    struct pg_rows *turns =
        count(tx, "SELECT from_ms, sum(turns) FROM turn_hour t" IN_VIEW " GROUP BY 1 ORDER BY 1", view);
    struct turn *given;
    struct sums sums;
    size_t turn_count;
    double events = 0;

    assert_int_equal(rows_sums_read(&sums, tx, arena, view, bucket_s), 0);
    if (sums.totals.reports)
        compare(&sums.totals, all, 0, 0, extremes);
    assert_int_equal(sums.version_count, pg_row_count(versions));
    for (size_t i = 0; i < sums.version_count; i++)
        for (size_t k = 0; k < sums.version_count; k++)
            if (!strcmp(sums.versions[i].version, pg_text(versions, k, 0)))
                compare(&sums.versions[i].totals, versions, k, 1, extremes);
    for (size_t i = 0; i < sums.point_count; i++)
        events += sums.points[i].events;
    assert_true(near(events, pg_real(points, 0, 0)));
    assert_int_equal(sums.point_count, pg_int(points, 0, 1));
    assert_int_equal(rows_turns_read(&given, &turn_count, tx, arena, view), 0);
    assert_int_equal(turn_count, pg_row_count(turns));
    for (size_t i = 0; i < turn_count; i++)
        assert_true(given[i].from_ms == pg_int(turns, i, 0) && near(given[i].turns, pg_real(turns, i, 1)));
    pg_rows_free(&all);
    pg_rows_free(&versions);
    pg_rows_free(&points);
    pg_rows_free(&turns);
}

/* Random spans, of an hour to all days, with and without versions. */
static void compare_pages(struct pg *pg, bool extremes)
{
    const char *names[] = {"1.1", "1.3", "1.6"};
    struct arena arena;
    struct pg_tx *tx;

    arena_init(&arena, 256u << 20);
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
    for (int i = 0; i < 12; i++) {
        int64_t now_h = clock_wall_us() / HOUR_US + 1, from = now_h - below(DAYS * 24),
                to = from + 1 + below(now_h - from + 1);
        struct view view = {.app = 1, .span = {from * 3600, to * 3600}};
        if (i % 3 == 1)
            view.version = (struct filter){.with = names, .with_count = 1 + (size_t)below(3)};
        if (i % 3 == 2)
            view.version = (struct filter){.without = names, .without_count = 1 + (size_t)below(3)};
        compare_list(tx, &arena, &view, extremes);
        compare_sums(tx, &arena, &view, extremes);
        arena_reset(&arena);
    }
    pg_end(&tx);
    arena_fini(&arena);
}

static void pages_say_what_the_counters_say(void **state)
{
    (void)state;
    struct pg *pg = database();
    for (int round = 0; round < 4; round++) {
        add(pg, 400);
        compare_pages(pg, true);
        rolluptest_merge(pg);
        standingtest_check(pg);
        compare_pages(pg, true);
        add(pg, 50);
        take(pg, 120);
        compare_pages(pg, false); /* the longest is taken back by the merger */
        rolluptest_merge(pg);
        standingtest_check(pg);
        compare_pages(pg, true);
    }
    take(pg, stored_count);
    compare_pages(pg, false);
    rolluptest_merge(pg);
    standingtest_check(pg);
    assert_int_equal(pgtest_number(pg, "SELECT (SELECT count(*) FROM standing) + (SELECT count(*) FROM standing_delta)"
                                       " + (SELECT count(*) FROM standing_due)"),
                     0);
    pg_close(pg);
}

/* A process merges while counters change; it is killed again and again. */
static void a_killed_merger_loses_and_doubles_nothing(void **state)
{
    (void)state;
    struct pg *pg = database();
    char conninfo[512];
    bool more;

    snprintf(conninfo, sizeof conninfo, "%s", pgtest_database_conninfo());
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves none behind */
            struct pg_options options = {.conninfo = conninfo, .connections = 1, .wait_ms = 5000};
            struct pg *own;
            if (!pg_open(&own, &options))
                for (;;)
                    (void)rows_rollups_merge(&more, own, clock_wall_us());
            _exit(1);
        }
        for (int k = 0; k < 3; k++) {
            add(pg, 60);
            if (k)
                take(pg, 25);
        }
        compare_pages(pg, false);
        usleep((useconds_t)(1000 + i * 9000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    /* The backend of the last killed process may still hold the merger's lock. */
    pgtest_until_none(pg, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", NULL);
    rolluptest_merge(pg);
    standingtest_check(pg);
    compare_pages(pg, true);
    pg_close(pg);
}

/* Rows of the sums' table and index that were read, and rows that were written, by all statements so far. */
static int64_t used(struct pg *pg, const char *columns)
{
    char sql[256];

    (void)pgtest_number(pg, "SELECT 0 FROM pg_stat_force_next_flush()");
    snprintf(sql, sizeof sql,
             "SELECT (%s)::bigint FROM pg_stat_user_tables t JOIN pg_stat_user_indexes i USING (relid)"
             " WHERE t.relname = 'standing'",
             columns);
    return pgtest_number(pg, sql);
}

/* Plans are made while PostgreSQL does not know how large the tables are. */
static void a_first_merge_reads_rows_by_key(void **state)
{
    (void)state;
    struct pg *pg = database_of(1);

    pgtest_run(pg, "ALTER TABLE standing SET (autovacuum_enabled = off)");
    for (int i = 0; i < 10; i++) {
        add(pg, 400);
        rolluptest_merge(pg);
    }
    int64_t written = used(pg, "n_tup_ins + n_tup_upd"), read = used(pg, "seq_tup_read + idx_tup_read");
    assert_true(written > 5000);
    assert_in_range(read, 1, 3 * written);
    standingtest_check(pg);
    pg_close(pg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_say_what_the_counters_say),
        cmocka_unit_test(a_first_merge_reads_rows_by_key),
        cmocka_unit_test(a_killed_merger_loses_and_doubles_nothing),
    };
    srandom(20261127);
    return cmocka_run_group_tests(tests, pgtest_start, pgtest_stop);
}
