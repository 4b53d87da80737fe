/*
 * bench_late.c - a debug file that arrives late: 200,000 reports are stored, or as many as the argument says. All lack
 * a debug file, and the file that arrives belongs to one in a hundred.
 *
 *     taking in    its reports and as many others, by one worker                      --> per report, the floor
 *     deriving     the file's reports, from its arrival until the end of the job      --> per report, beside the floor
 *     rows read    meanwhile, by scans and through indexes, of the tables that hold all reports
 *
 * The reports came in 14 days; the others are of 500 unknown modules, and all but the first ones are copies made by the
 * database. Ends with 1 if another report was touched or one of the file's was not, if an issue lost its state or first
 * sight, if more than LIMIT rows for each report were read from a table, or if deriving one report costs more than
 * LIMIT_COST times as much as taking one in. With fewer reports the database rightly reads all of them, and waiting is
 * most of the time.
 */
#include "support/late.h"
#include "bench/verdict.h"
#include "support/pgtest.h"

#include "base/clock.h"
#include "base/log.h"
#include "inbox/inbox.h"
#include "postgres/migrate.h"
#include "pipeline/work.h"
#include "rekey/rekey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPORTS    200000
#define ONE_IN     100
#define MODULES    500
#define PLACES     4 /* issues per module */
#define DAYS       14
#define BATCH      500
#define BODY       2048
#define LIMIT      20
#define LIMIT_COST 3.0

static const struct log quiet = {.fd = 2, .least = MIRE_LOG_WARN};

/* Report `i` of those taken in; every other one is of the file. Its id, and so its row, is in one of the days. */
static void put_report(struct inbox_row *row, char *body, long i, long count)
{
    char id[MIRE_UUID_TEXT], build[48];
    const uint64_t day_us = 86400000000;
    struct uuid uuid;
    long other = i % MODULES;
    bool late = i % 2;
    uint64_t at = late ? late_offset(planted_culprit, (unsigned)(i / 2 % PLACES))
                       : 0x1000 + 64 * (uint64_t)(i / MODULES % PLACES);
    uint64_t under = late ? late_offset(planted_scene, 6) : 0x2000;
    uuid_make(&uuid, clock_wall_us() - (uint64_t)(i * DAYS / count) * day_us);
    uuid_format(id, &uuid);
    snprintf(build, sizeof build, "%040lx", other + 1);
    int len = snprintf(body, BODY,
                       "{\"mire\":1,\"id\":\"%s\",\"kind\":\"event\",\"app\":{\"name\":\"a\",\"version\":\"1\"},"
                       "\"device\":{\"install\":\"%032lx\",\"os\":\"linux\",\"arch\":\"x86_64\"},"
                       "\"process\":{\"pid\":1,\"name\":\"a\"},"
                       "\"images\":[{\"name\":\"/opt/a/%s%ld\",\"id\":\"%s\",\"arch\":\"x86_64\",\"load\":4096}],"
                       "\"frames\":{\"image\":[0,0],\"offset\":[%llu,%llu]},\"nodes\":{\"up\":[1,1],\"frame\":[1,0]},"
                       "\"event\":{\"begin_ns\":0,\"duration_ms\":%ld,\"threshold_ms\":1000,\"open\":false,"
                       "\"samples\":{\"at_ms\":[1000],\"weight_ms\":[1000],\"node\":[2]}}}",
                       id, i % 30000, late ? "late" : "lib", late ? 0 : other, late ? late_build() : build,
                       (unsigned long long)at, (unsigned long long)under, 1500 + i % 5000);
    *row = (struct inbox_row){.report_id = uuid,
                              .app_id = 1,
                              .format = "mire",
                              .encoding = "identity",
                              .body = body,
                              .body_len = (size_t)len};
}

static void fill(struct pg *pg, long count)
{
    static struct inbox_row rows[BATCH];
    static char bodies[BATCH][BODY];
    for (long i = 0; i < count;) {
        size_t n = 0;
        for (; n < BATCH && i < count; n++, i++)
            put_report(&rows[n], bodies[n], i, count);
        must(inbox_store_batch(pg, rows, n), "store");
    }
}

/* Seconds until a query returns 0. */
static double await(struct pg *pg, const char *sql)
{
    uint64_t begin = clock_mono_ns();
    while (pgtest_number(pg, sql))
        usleep(10000);
    return (double)(clock_mono_ns() - begin) / 1e9;
}

/* Rows read from a table and its partitions, by scans and through indexes. */
static double rows_read(struct pg *pg, const char *table)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "SELECT ((SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables WHERE relname ~ "
             "'^%s(_other|_[0-9]+)?$')"
             " + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes"
             "  WHERE relname ~ '^%s(_other|_[0-9]+)?$'))::int8",
             table, table);
    return (double)pgtest_number(pg, sql);
}

/* Copies each report that is not of the file so many times, in one table after the other. */
#define COPY(table, times)                                                                              \
    "CREATE TABLE copies AS SELECT t.*, g FROM " table " t JOIN others o USING (slot, day, report_id)," \
    " generate_series(1, " times ") g;"                                                                 \
    "UPDATE copies SET report_id = md5(report_id::text || g)::uuid; ALTER TABLE copies DROP g;"         \
    "INSERT INTO " table " SELECT * FROM copies; DROP TABLE copies;"
#define COPIES(times)                                                                                            \
    "CREATE TABLE others AS SELECT slot, day, report_id FROM missing_debug_file l JOIN image m USING (build_id)" \
    " WHERE m.name LIKE 'lib%%';" COPY("report", times) COPY("event", times) COPY("event_stack", times)          \
        COPY("report_missing", times) "DROP TABLE others;"

/* Records the state before: all rows, and the rows of the file. */
static const char before_sql[] =
    "UPDATE issue i SET state = 'ignored'," /* the reports came out of order */
    " first_seen = (SELECT min(received_at) FROM event h WHERE h.app_id = i.app_id AND h.issue_id = i.issue_id);"
    "CREATE TABLE before AS SELECT h.report_id, h.xmin::text AS written, l.report_id IS NOT NULL AS late, h.issue_id,"
    " i.first_seen, i.state FROM event h JOIN issue i ON i.issue_id = h.issue_id"
    " LEFT JOIN (SELECT report_id FROM missing_debug_file l JOIN image m USING (build_id) WHERE m.name LIKE 'late%') l"
    " ON l.report_id = h.report_id;"
    "ANALYZE;";
static const char wrong_sql[] = "SELECT count(*) FROM event h JOIN before b USING (report_id)"
                                " WHERE (h.xmin::text <> b.written) <> b.late";
/* Issues of the file's reports keep their number or lead to another issue; states and first sights are kept. */
static const char lost_sql[] =
    "SELECT count(*) FROM (SELECT coalesce(o.gone_to, o.issue_id) AS now, min(b.first_seen) AS first_seen,"
    " array_agg(DISTINCT b.state) AS states FROM before b JOIN issue o USING (issue_id) WHERE b.late GROUP BY 1) was"
    " JOIN issue i ON i.issue_id = was.now WHERE i.first_seen <> was.first_seen OR i.state <> ALL (was.states)"
    " OR i.caller1 <> 'planted_culprit' OR i.caller2 <> 'planted_scene'";

/* Make the other reports, and record the state. The connection is closed, so that its reads are counted. */
static void prepare(const struct pg_options *options, long copies)
{
    char sql[sizeof COPIES("") + 4 * 20];
    struct pg *pg;
    struct pg_tx *tx;
    snprintf(sql, sizeof sql, COPIES("%ld"), copies, copies, copies, copies);
    must(pg_open(&pg, options), "open");
    must(pg_begin(&tx, pg, MIRE_PG_EACH), "begin");
    must(pg_script(tx, sql), "copies");
    must(pg_script(tx, before_sql), "before");
    pg_end(&tx);
    pg_close(pg);
}

static void measure(long count)
{
    static const char *const tables[] = {"report_missing", "event", "report"};
    struct pg *pg = pgtest_database(4), *working;
    struct pg_days days = {.today = clock_day(clock_wall_us()), .back = DAYS + 1, .ahead = 1};
    struct pg_options options = {.connections = 12, .wait_ms = 5000, .log = &quiet};
    char cache[] = "/tmp/mire-late-XXXXXX", command[64];
    struct work *work;
    long late = count / ONE_IN;
    double read[3];
    int made, dropped;
    must(pg_partition(&made, &dropped, pg, &days, &quiet), "partitions");
    pgtest_run(pg, "INSERT INTO app (app_id, slug, name) VALUES (1, 'late', 'Late')");
    options.conninfo = pgtest_database_conninfo();
    must(pg_open(&working, &options), "open");
    must(mkdtemp(cache) ? 0 : MIRE_FAULT_SYSTEM, "cache");
    struct work_options settings = {.pg = working, .log = &quiet, .threads = 1, .cache_dir = cache};
    fill(pg, 2 * late);
    pgtest_run(pg, "UPDATE report SET received_at = received_at - random() * interval '14 days'");
    must(work_start(&work, &settings), "work");
    must(rekey_start(work), "rekey");
    double taken = await(pg, "SELECT count(*) FROM (SELECT FROM inbox LIMIT 1) i") / (double)(2 * late);
    prepare(&options, count / late - 2);
    for (int i = 0; i < 3; i++)
        read[i] = rows_read(pg, tables[i]);
    late_arrive(pg);
    double derived = await(pg, "SELECT (SELECT count(*) FROM symbol_arrival) + (SELECT count(*) FROM rekey_job"
                               " WHERE state <> 'done') + (SELECT (count(*) = 0)::int FROM rekey_job)");
    work_stop(work);
    pg_close(working); /* rows read are counted at the latest now */
    printf("%ld reports of %d modules in %d days, %ld of the file\n",
           (long)pgtest_number(pg, "SELECT count(*) FROM before"), MODULES + 1, DAYS, late);
    printf("%-44s %12.2f %s\n", "taking in", 1e6 * taken, "us each");
    printf("%-44s %12.2f %s\n", "from the file's arrival to the job's end", derived, "s");
    say("deriving anew, beside taking in", derived / (double)late / taken, "times", LIMIT_COST);
    for (int i = 0; i < 3; i++) {
        char what[64];
        snprintf(what, sizeof what, "rows read of %s", tables[i]);
        say(what, (rows_read(pg, tables[i]) - read[i]) / (double)late, "a report", LIMIT);
    }
    say("reports touched, or not, by mistake", (double)pgtest_number(pg, wrong_sql), "", 0);
    say("reports of the file that are not derived",
        (double)(pgtest_number(pg, "SELECT count(*) FROM before WHERE late") -
                 pgtest_number(pg, "SELECT sum(reports)::int8 FROM rekey_flow WHERE failed = 0")),
        "", 0);
    say("issues without their state or first sight", (double)pgtest_number(pg, lost_sql), "", 0);
    pg_close(pg);
    snprintf(command, sizeof command, "rm -rf %s", cache);
    must(system(command) ? MIRE_FAULT_SYSTEM : 0, "cache");
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : REPORTS;
    if (count < ONE_IN || pgtest_start(NULL)) {
        fprintf(stderr, "bench-late: how many reports? And is PostgreSQL there?\n");
        return 2;
    }
    measure(count);
    pgtest_stop(NULL);
    return missed > 0;
}
