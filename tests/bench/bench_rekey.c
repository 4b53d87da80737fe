/*
 * bench_rekey.c - rules change under 200,000 stored reports, or as many as the first argument says. 10,000 are taken in as
 * bench_work.c does; the others are copies of them.
 *
 *     preview      of a draft, from the question until its job is done                --> seconds
 *     move         the draft holds; all reports are derived again                     --> reports a second
 *     CPU          of this process, which does nothing else meanwhile, and of PostgreSQL --> per report
 *     reader       one report and its stacks, by its key, every 20 ms                 --> 95 of 100 take at most so long
 *
 * The draft passes over the functions of one of the app's three modules, so the reports with a trunk there move. At the
 * end every counter is compared with a count of the rows. The result is 1 if a counter differs, or if a figure is above its
 * limit.
 */
#include "cost.h"
#include "lag.h"
#include "bench/verdict.h"
#include "support/pgtest.h"
#include "support/seed.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/spare.h"
#include "inbox/inbox.h"
#include "pipeline/work.h"
#include "rekey/rekey.h"
#include "rows/document.h"
#include "rows/rekey.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#define REPORTS 200000
#define TAKEN   10000
#define BATCH   100
#define READS   200000

static const struct log quiet = {.fd = 2, .least = MIRE_LOG_WARN};
static const char draft[] = "container lib2.so *\n";

/* --- the stored reports --- */

static void fill(struct pg *pg, long count)
{
    static struct inbox_row rows[BATCH];
    static char bodies[BATCH][65536];
    struct text json = {0};
    uint64_t random = test_seed();

    for (long i = 0; i < count;) {
        size_t n = 0;
        for (; n < BATCH && i < count; n++, i++) {
            struct uuid id;
            int64_t now_us = clock_wall_us();
            uuid_make(&id, now_us);
            json.len = 0;
            lag_report(&json, &id, now_us - (int64_t)test_roll(&random, 6 * 86400) * 1000000, LAG_EVENT, &random);
            size_t len = ZSTD_compress(bodies[n], sizeof bodies[n], json.bytes, json.len, 3);
            must(text_failed(&json) || ZSTD_isError(len) ? MIRE_FAULT_MEMORY : 0, "report");
            rows[n] = (struct inbox_row){.report_id = id,
                                         .app_id = 1,
                                         .format = "mire",
                                         .encoding = "zstd",
                                         .body = bodies[n],
                                         .body_len = len,
                                         .clock_known = true};
        }
        must(inbox_store_batch(pg, rows, n), "store");
    }
    text_fini(&json);
}

/* Copies of all reports, and of what is counted of them. */
static void multiply(struct pg *pg, long times)
{
    static const char *const tables[] = {"report", "event", "event_stack"};
    char sql[700];

    for (size_t i = 0; times > 0 && i < sizeof tables / sizeof *tables; i++) {
        snprintf(sql, sizeof sql,
                 "CREATE TABLE copies AS SELECT t.*, n FROM %s t CROSS JOIN generate_series(1, %ld) n;"
                 "UPDATE copies SET report_id = md5(n || report_id::text)::uuid; ALTER TABLE copies DROP n;"
                 "INSERT INTO %s SELECT * FROM copies; DROP TABLE copies",
                 tables[i], times, tables[i]);
        struct pg_tx *tx;
        must(pg_begin(&tx, pg, MIRE_PG_EACH), "begin");
        must(pg_script(tx, sql), tables[i]);
        pg_end(&tx);
    }
    snprintf(sql, sizeof sql,
             "UPDATE issue_hour SET reports = reports * %ld, events = events * %ld, waited_ms = waited_ms * %ld",
             times + 1, times + 1, times + 1);
    pgtest_run(pg, sql);
    snprintf(sql, sizeof sql,
             "UPDATE version_hour SET reports = reports * %ld, events = events * %ld, waited_ms = waited_ms * %ld",
             times + 1, times + 1, times + 1);
    pgtest_run(pg, sql);
    pgtest_run(pg, "ANALYZE");
}

/* --- a reader --- */

struct reader {
    struct pg *pg;
    pthread_t thread;
    _Atomic bool stopping; /* written by the owner, read by the thread; relaxed */
    double ms[READS];
    size_t count;
};

static void *read_on(void *argument)
{
    struct reader *reader = argument;

    while (!atomic_load_explicit(&reader->stopping, memory_order_relaxed) && reader->count < READS) {
        uint64_t begun = clock_mono_ns();
        (void)pgtest_number(reader->pg,
                            "SELECT octet_length(s.document) FROM report r JOIN event e USING (slot, day, report_id)"
                            " JOIN event_stack s USING (slot, day, report_id) WHERE r.slot = 7"
                            " ORDER BY r.slot, r.day, r.report_id LIMIT 1");
        reader->ms[reader->count++] = (double)(clock_mono_ns() - begun) / 1e6;
        usleep(20000);
    }
    return NULL;
}

static int by_ms(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double p95(struct reader *reader)
{
    qsort(reader->ms, reader->count, sizeof *reader->ms, by_ms);
    return reader->count ? reader->ms[reader->count * 95 / 100] : 0;
}

/* --- the jobs --- */

/* Seconds until the query gives 0. */
static double await(struct pg *pg, const char *sql)
{
    uint64_t begun = clock_mono_ns();
    while (pgtest_number(pg, sql))
        usleep(20000);
    return (double)(clock_mono_ns() - begun) / 1e9;
}

static void ask(struct pg *pg, bool preview)
{
    const struct rekey_ask ask = {.app_id = 1, .cause = "rules", .rules = preview ? draft : NULL, .preview = preview};
    const struct rows_document_version row = {.author = "bench", .reason = "bench", .rules = draft};
    struct pg_tx *tx;
    int64_t job;

    must(pg_begin(&tx, pg, MIRE_PG_WRITE), "begin");
    if (!preview)
        must(rows_document_add(tx, ROWS_DOCUMENT_RULES, 1, 0, &row), "rules");
    must(rows_rekey_ask(&job, tx, &ask), "ask");
    must(pg_commit(&tx), "commit");
}

#define NOT_DONE "SELECT count(*) FROM rekey_job WHERE state <> 'done'"

static void measure(struct pg *pg, double reports)
{
    static struct reader reader;

    ask(pg, true);
    say("preview", await(pg, NOT_DONE), "s", 2);
    printf("%-44s %10ld of %ld\n", "reports that would move",
           (long)pgtest_number(pg, "SELECT sum(reports)::int8 FROM rekey_flow WHERE to_issue_id IS DISTINCT FROM"
                                   " from_issue_id"),
           (long)pgtest_number(pg, "SELECT sum(queued)::int8 FROM rekey_job"));
    reader.pg = pg;
    must(pthread_create(&reader.thread, NULL, read_on, &reader) ? MIRE_FAULT_SYSTEM : 0, "reader");
    double own = cost_own_s(), postgres = cost_postgres_s(), wal = cost_wal(pg);
    ask(pg, false);
    double seconds = await(pg, NOT_DONE);
    own = cost_own_s() - own;
    postgres = cost_postgres_s() - postgres;
    atomic_store_explicit(&reader.stopping, true, memory_order_relaxed);
    pthread_join(reader.thread, NULL);
    printf("%.0f reports in %.1f s: %.0f a second\n", reports, seconds, reports / seconds);
    say("time, a report", seconds / reports * 1000, "ms", 1);
    printf("%-44s %10.2f ms\n", "CPU of the workers, a report", own / reports * 1000);
    printf("%-44s %10.2f ms\n", "CPU of PostgreSQL, a report", postgres / reports * 1000);
    printf("%-44s %10.2f KB\n", "WAL, a report", (cost_wal(pg) - wal) / reports / 1000);
    printf("%-44s %10ld\n", "reports that moved",
           (long)pgtest_number(pg, "SELECT coalesce(sum(reports), 0)::int8 FROM rekey_flow WHERE to_issue_id <>"
                                   " from_issue_id AND job_id = (SELECT max(job_id) FROM rekey_job)"));
    say("a report read meanwhile, 95 of 100", p95(&reader), "ms", 50);
    say("hours of issues that differ from their events",
        (double)pgtest_number(pg,
                              "SELECT count(*) FROM (SELECT date_trunc('hour', occurred_at, 'UTC') AS hour, issue_id,"
                              " version_id, tree, count(*) AS n FROM event GROUP BY 1, 2, 3, 4) t FULL JOIN (SELECT"
                              " hour, issue_id, version_id, tree, sum(reports) AS m FROM issue_hour GROUP BY 1, 2, 3,"
                              " 4) o USING (hour, issue_id, version_id, tree) WHERE n IS DISTINCT FROM m"),
        "", 0);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : REPORTS;
    struct work_options options = MIRE_WORK_OPTIONS_INIT;
    struct pg_options own = {.connections = 10, .wait_ms = 5000, .log = &quiet};
    struct work *work;

    spare_keep(); /* as mired does */
    if (pgtest_start(NULL))
        return 2;
    struct pg *pg = pgtest_database(8);
    own.conninfo = pgtest_database_conninfo();
    must(pg_open(&options.pg, &own), "pool");
    pgtest_run(pg, "INSERT INTO app (app_id, slug, name) VALUES (1, 'a', 'A')");
    options.log = &quiet;
    options.keep_days = 90;
    fill(pg, TAKEN);
    must(work_start(&work, &options), "work");
    (void)await(pg, "SELECT count(*) FROM (SELECT FROM inbox LIMIT 1) i");
    work_stop(work);
    multiply(pg, count / TAKEN - 1);
    must(work_start(&work, &options), "work");
    must(rekey_start(work), "rekey");
    measure(pg, (double)(count / TAKEN * TAKEN));
    work_stop(work);
    pg_close(options.pg);
    pg_close(pg);
    pgtest_stop(NULL);
    return missed > 0;
}
