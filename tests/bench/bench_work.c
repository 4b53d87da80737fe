/*
 * bench_work.c - the cost of one report from the inbox to its rows. 20,000 reports of 5 to 7 KB, or as many as the
 * first argument says, wait in the inbox, and two workers process them.
 *
 *     CPU          of this process, which does nothing else meanwhile, and of PostgreSQL's processes    --> per report
 *     statements   sent to PostgreSQL, BEGIN and COMMIT included                                        --> per report
 *     WAL          written meanwhile                                                                    --> per report
 *     disk         of the tables afterwards, with indexes                                               --> per report
 *
 * With the second argument `session` or `memory` all reports are session records, or memory reports, which have limits of
 * their own or none (deploy/scale/plan.py has the figures of the first two).
 *
 * The floor is the work of PostgreSQL that no design avoids: storing the rows of event, event_stack and session once
 * more, in one statement each. The reports have 300 issues by Zipf's law, 5 versions and 10 modules without a debug
 * file, and are of the last six days, most of the last one (lag.h); one in fifty is a session record. At the end every counter is compared with a
 * count of the rows. The result is 1 if a counter differs, or if a figure is above its limit.
 */
#include "cost.h"
#include "lag.h"
#include "bench/verdict.h"
#include "support/pgtest.h"
#include "support/seed.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/spare.h"
#include "base/text.h"
#include "decode/decode.h"
#include "inbox/inbox.h"
#include "pipeline/work.h"
#include "rows/rollup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#define REPORTS  20000
#define FIRST    2000 /* worked before the measurement */
#define BATCH    100
#define SESSIONS 50 /* one report in so many is a session record, unless all are of one kind */

static const struct log quiet = {.fd = 2, .least = MIRE_LOG_WARN};
static const char *only = ""; /* the kind of all reports */
static double checked_s;      /* CPU of the door's checks */

static void tell(const char *what, double value, const char *unit)
{
    printf("%-44s %10.2f %s\n", what, value, unit);
}

static double thread_cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The check that ingest makes before it stores a body. */
static void check_at_door(const struct inbox_row *row)
{
    struct decode_fault fault;
    char id[37];
    double begun = thread_cpu_s();
    enum decode_outcome outcome = decode_check(id, &fault, row->format, row->encoding, row->body, row->body_len);

    checked_s += thread_cpu_s() - begun;
    must(outcome ? MIRE_FAULT_BROKEN : 0, "check");
}

static enum lag_kind kind_of(long i)
{
    if (only[0])
        return !strcmp(only, "memory") ? LAG_MEMORY : LAG_SESSION;
    return i % SESSIONS ? LAG_EVENT : LAG_SESSION;
}

/* Wait in the inbox. Returns the bytes of the bodies. */
static double fill(struct pg *pg, long count)
{
    static struct inbox_row rows[BATCH];
    static char bodies[BATCH][65536];
    struct text json = {0};
    uint64_t random = test_seed() + (uint64_t)count;
    double bytes = 0;

    for (long i = 0; i < count;) {
        size_t n = 0;
        for (; n < BATCH && i < count; n++, i++) {
            struct uuid id;
            int64_t now_us = clock_wall_us();
            uuid_make(&id, now_us);
            json.len = 0;
            lag_report(&json, &id, lag_time(now_us, &random), kind_of(i), &random);
            size_t len = ZSTD_compress(bodies[n], sizeof bodies[n], json.bytes, json.len, 3);
            must(text_failed(&json) || ZSTD_isError(len) ? MIRE_FAULT_MEMORY : 0, "report");
            rows[n] = (struct inbox_row){.report_id = id,
                                         .app_id = 1,
                                         .format = "mire",
                                         .encoding = "zstd",
                                         .body = bodies[n],
                                         .body_len = len,
                                         .clock_known = true};
            bytes += (double)len;
            check_at_door(&rows[n]);
        }
        must(inbox_store_batch(pg, rows, n), "store");
    }
    text_fini(&json);
    return bytes;
}

/* --- what it costs --- */

/* The rows of each table once more, by one statement each. */
static void floors(struct pg *pg, double reports)
{
    double cpu = cost_postgres_s(), wal = cost_wal(pg);

    pgtest_run(pg, "CREATE TABLE event_again (LIKE event INCLUDING ALL)");
    pgtest_run(pg, "CREATE TABLE stack_again (LIKE event_stack INCLUDING ALL)");
    pgtest_run(pg, "CREATE TABLE session_again (LIKE session INCLUDING ALL)");
    pgtest_run(pg, "INSERT INTO event_again SELECT * FROM event");
    pgtest_run(pg, "INSERT INTO stack_again SELECT * FROM event_stack");
    pgtest_run(pg, "INSERT INTO session_again SELECT * FROM session");
    tell("floor: CPU of PostgreSQL, a report", (cost_postgres_s() - cpu) / reports * 1000, "ms");
    tell("floor: WAL, a report", (cost_wal(pg) - wal) / reports / 1000, "KB");
}

/* --- whether it is right --- */

#define DIFFERS(counter, key, ours, theirs)                                  \
    "SELECT count(*) FROM (" theirs ") t FULL JOIN (" ours ") o USING (" key \
    ") WHERE (t.n, t.m) IS DISTINCT FROM (o.n, o.m)"

static void check(struct pg *pg, long count)
{
    static const struct {
        const char *what, *sql;
    } all[] = {
        {"hours of issues that differ from their events",
         DIFFERS(issue_hour, "hour, issue_id, version_id, tree",
                 "SELECT hour, issue_id, version_id, tree, sum(reports) AS n, sum(events) AS m FROM issue_hour GROUP "
                 "BY 1, 2, 3, 4",
                 "SELECT date_trunc('hour', occurred_at, 'UTC') AS hour, issue_id, version_id, tree, count(*) AS n,"
                 " sum(weight * (1 + suppressed)) AS m FROM event GROUP BY 1, 2, 3, 4")},
        {"hours of versions that differ from their events",
         DIFFERS(version_hour, "hour, version_id, category",
                 "SELECT hour, version_id, category, sum(reports) AS n, sum(waited_ms) AS m FROM version_hour GROUP BY "
                 "1, 2, 3",
                 "SELECT date_trunc('hour', occurred_at, 'UTC') AS hour, version_id, category, count(*) AS n,"
                 " sum(weight * waited_ms) AS m FROM event GROUP BY 1, 2, 3")},
        {"days of sessions that differ from their records",
         DIFFERS(session_day, "day, version_id",
                 "SELECT day, version_id, sum(records) AS n, sum(sessions) AS m FROM session_day GROUP BY 1, 2",
                 "SELECT (occurred_at AT TIME ZONE 'UTC')::date AS day, version_id, count(*) AS n, sum(weight) AS m"
                 " FROM session GROUP BY 1, 2")},
        {"days of arrivals that differ from their events",
         "SELECT abs((SELECT sum(events) FROM arrival_day) - (SELECT sum(weight) FROM event) - (SELECT sum(weight) FROM"
         " session))::bigint"},
        {"reports that are dead letters", "SELECT count(*) FROM dead_letter"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        say(all[i].what, (double)pgtest_number(pg, all[i].sql), "", 0);
    say("reports without a row",
        (double)(count - pgtest_number(pg, "SELECT (SELECT count(*) FROM event) + (SELECT count(*) FROM session)")), "",
        0);
}

/* Work until the inbox is empty. */
static void work_all(struct pg *pg, const struct work_options *options)
{
    struct work *work;

    must(work_start(&work, options), "work");
    while (pgtest_number(pg, "SELECT count(*) FROM (SELECT FROM inbox LIMIT 1) i"))
        usleep(50000);
    work_stop(work);
}

/* Of one of the tables, with indexes, now that they have no dead rows. */
static void say_disk(struct pg *pg, const char *what, const char *tables, double reports)
{
    char sql[512];

    snprintf(sql, sizeof sql,
             "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class WHERE relkind = 'r'"
             " AND relnamespace = 'public'::regnamespace AND relname ~ '%s'",
             tables);
    tell(what, (double)pgtest_number(pg, sql) / reports / 1000, "KB");
}

static void disks(struct pg *pg, double reports)
{
    struct pg_tx *tx;

    must(pg_begin(&tx, pg, MIRE_PG_EACH), "begin");
    must(pg_script(tx, "VACUUM FULL"), "vacuum");
    pg_end(&tx);
    say_disk(pg, "disk of report, a report", "^report_[0-9]", reports);
    say_disk(pg, "disk of event and event_stack, a report", "^event_", reports);
    say_disk(pg, "disk of missing debug files, a report", "^report_missing_", reports);
    say_disk(pg, "disk of session, a report", "^session_(other|[0-9]+)$", reports);
    say_disk(pg, "disk of counters, a report", "_hour$|_day$", reports);
    say_disk(pg, "disk of cells, a report", "^rollup$", reports);
    say_disk(pg, "disk of standing sums, a report", "^standing$", reports);
}

struct spent {
    double own, postgres, wal; /* seconds, seconds, bytes */
};

static struct spent spent_now(struct pg *pg)
{
    return (struct spent){cost_own_s(), cost_postgres_s(), cost_wal(pg)};
}

static struct spent spent_since(const struct spent *then, struct pg *pg)
{
    struct spent now = spent_now(pg);
    return (struct spent){now.own - then->own, now.postgres - then->postgres, now.wal - then->wal};
}

static struct spent put(struct pg *pg, long count)
{
    double n = (double)count;
    struct spent then = spent_now(pg);

    checked_s = 0;
    double bytes = fill(pg, count);
    struct spent spent = spent_since(&then, pg);
    spent.own = checked_s; /* the rest is the generator's */
    tell("receiving: CPU of the check, a report", checked_s / n * 1000, "ms");
    tell("size of a body, as sent", bytes / n / 1000, "KB");
    tell("receiving: CPU of PostgreSQL, a report", spent.postgres / n * 1000, "ms");
    tell("receiving: WAL, a report", spent.wal / n / 1000, "KB");
    return spent;
}

static struct spent work(struct pg *pg, const struct work_options *options, long count)
{
    double n = (double)count;
    uint64_t statements = pg_statements(options->pg), begun_ns = clock_mono_ns();
    struct spent then = spent_now(pg);

    work_all(pg, options);
    double seconds = (double)(clock_mono_ns() - begun_ns) / 1e9;
    struct spent spent = spent_since(&then, pg);
    statements = pg_statements(options->pg) - statements;
    printf("%ld reports in %.1f s: %.0f a second\n", count, seconds, n / seconds);
    if (!strcmp(only, "memory"))
        say("time, a report", seconds / n * 1000, "ms", 10); /* 100 a second */
    tell("working: CPU of the workers, a report", spent.own / n * 1000, "ms");
    tell("working: CPU of PostgreSQL, a report", spent.postgres / n * 1000, "ms");
    tell("working: WAL, a report", spent.wal / n / 1000, "KB");
    say("statements, a report", (double)statements / n, "", only[0] ? INFINITY : 0.2);
    return spent;
}

/* What the merger does once a minute. */
static void merge_all(struct pg *pg)
{
    for (bool more = true; more;)
        must(rows_rollups_merge(&more, pg, clock_wall_us()), "merge");
}

static struct spent merge(struct pg *pg, long count)
{
    double n = (double)count;
    struct spent then = spent_now(pg);

    merge_all(pg);
    struct spent spent = spent_since(&then, pg);
    tell("merging: CPU of the merger, a report", spent.own / n * 1000, "ms");
    tell("merging: CPU of PostgreSQL, a report", spent.postgres / n * 1000, "ms");
    tell("merging: WAL, a report", spent.wal / n / 1000, "KB");
    return spent;
}

static void measure(struct pg *pg, const struct work_options *options, long count)
{
    double n = (double)count, most = !only[0] ? 1 : INFINITY;
    struct spent put_in = put(pg, count), worked = work(pg, options, count), merged = merge(pg, count);
    double own = put_in.own + worked.own, postgres = put_in.postgres + worked.postgres,
           rollups = merged.own + merged.postgres;

    say("CPU of all, a report", (own + postgres + rollups) / n * 1000, "ms", 0.8 * most);
    say("CPU of PostgreSQL, without the merger", postgres / n * 1000, "ms", 0.2 * most);
    say("CPU of the merger and its PostgreSQL", rollups / n * 1000, "ms", 0.015 * most);
    say("WAL, a report", (put_in.wal + worked.wal + merged.wal) / n / 1000, "KB", 19 * most);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : REPORTS;
    struct work_options options = MIRE_WORK_OPTIONS_INIT;
    only = argc > 2 ? argv[2] : "";
    struct pg_options own = {.connections = 8, .wait_ms = 5000, .log = &quiet};

    spare_keep(); /* as mired does */
    if (pgtest_start(NULL))
        return 2;
    struct pg *pg = pgtest_database(8);
    own.conninfo = pgtest_database_conninfo();
    must(pg_open(&options.pg, &own), "pool");
    pgtest_run(pg, "INSERT INTO app (app_id, slug, name) VALUES (1, 'a', 'A')");
    options.log = &quiet;
    options.keep_days = 90;
    (void)fill(pg, FIRST); /* opens the issues */
    work_all(pg, &options);
    merge_all(pg);
    measure(pg, &options, count);
    disks(pg, (double)(count + FIRST));
    floors(pg, (double)(count + FIRST));
    check(pg, count + FIRST);
    pg_close(options.pg);
    pg_close(pg);
    pgtest_stop(NULL);
    return missed > 0;
}
