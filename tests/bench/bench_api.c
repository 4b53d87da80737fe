/*
 * bench_api.c - measures the API calls that must stay fast, on 200,000 events of 2,000 issues and 30,000 devices in 14
 * days, or on as many events as the argument says.
 *
 * Each call is compared with a floor, the time that PostgreSQL alone needs for the unavoidable part. A list by impact
 * must read and add up the hourly counters once (nearly one for each hour, issue, version and slot, so nearly one for
 * each event); a count of devices must read the sketch of each issue and day once.
 *
 *   issue list    sum the hourly counters by issue, and read the sketches of all issues and days
 *   overview      sum the hourly counters by version and by issue, and read the sketches
 *   issue         read the cells of the issue, and of the app, once
 *   flame         read and decode the stacks of 2,000 reports
 *
 * Prints medians of several rounds in milliseconds of processor time, of the server's thread and its PostgreSQL backend
 * together. Since nothing runs in parallel, that is the duration on an idle machine. Ends with 1 if a call needs more
 * than its limit times its floor.
 */
#include "api/api.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/resolved.h"
#include "postgres/migrate.h"
#include "pg/pg.h"
#include "rows/rollup.h"
#include "support/pgtest.h"
#include "document/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS        7
#define LIMIT         3.0
#define LIMIT_DEVICES 5.0 /* four times the groups on a page, ordered by devices */
#define HANGS         200000
#define DEPTH         40
#define LEAVES        60

static const char fill_sql[] =
    "SELECT setseed(0.5);"
    "INSERT INTO app VALUES (1, 'redis', 'Redis');"
    "INSERT INTO version (app_id, version, first_seen)"
    " SELECT 1, '7.0.' || g, now() - interval '20 days' + g * interval '1 day' FROM generate_series(1, 12) g;"
    "INSERT INTO issue (app_id, feature_key, caller1, caller1_image, caller2, caller2_image, category, reason,"
    " rules_version, first_seen, first_version_id) SELECT 1, decode(md5(g::text), 'hex'), 'caller1_' || g / 3, "
    "'redis-server',"
    " 'caller2_' || g, 'redis-server', (ARRAY['hang', 'launch', 'background', 'killed'])[1 + g %% 4],"
    " (ARRAY['cpu', 'io', 'lock'])[1 + g %% 3], 1, now() - interval '15 days', 1 FROM generate_series(1, 2000) g;"
    "INSERT INTO event (slot, day, report_id, app_id, version_id, issue_id, received_at, occurred_at, duration_ms, "
    "waited_ms,"
    " category, reason, open, launch, weight, install, os, os_version, arch, model, process_name, sample_count,"
    " frame_count, unresolved_count, rules_version) SELECT (g %% 64)::smallint, (t AT TIME ZONE 'UTC')::date, "
    "gen_random_uuid(), 1, 1 + (v * "
    "11)::int,"
    " 1 + (power(i, 3) * 1999)::int, t, t - interval '5 s', (1000 * exp(d * 3))::bigint, (1000 * exp(d * 3))::bigint, "
    "'hang', 'cpu', false, false, 1,"
    " decode(md5((n * 30000)::int::text), 'hex'), 'linux', 'debian 12', 'x86_64', 'KVM' || (m * 20)::int, "
    "'redis-server',"
    " 20, 40, 1, 1 FROM (SELECT g, now() - random() * interval '14 days' AS t, random() AS v, random() AS i, random() "
    "AS d,"
    " random() AS n, random() AS m FROM generate_series(1, %ld) g) x;"
    "INSERT INTO issue_hour (slot, hour, app_id, issue_id, version_id, reports, events, waited_ms, longest_ms, last_at)"
    " SELECT slot, date_trunc('hour', received_at, 'UTC'), app_id, issue_id, version_id, "
    "count(*),"
    " sum(weight), sum(weight * duration_ms), max(duration_ms), max(received_at) FROM event GROUP BY 1, 2, 3, 4, 5;"
    "INSERT INTO version_hour SELECT slot, date_trunc('hour', received_at, 'UTC'), h.app_id, version_id, i.category, "
    "count(*),"
    " sum(weight), sum(weight * duration_ms), max(duration_ms) FROM event h JOIN issue i USING (issue_id)"
    " GROUP BY 1, 2, 3, 4, 5;";

#define DEVICES "(SELECT sum(length(devices)) FROM rollup WHERE app_id = 1 AND issue_id <> 0 AND hours = 24)"
#define ISSUES                                                                                                         \
    "(SELECT count(*) FROM (SELECT issue_id, sum(reports), sum(events), sum(waited_ms), max(longest_ms), max(last_at)" \
    " FROM issue_hour WHERE app_id = 1 GROUP BY 1) a)"
#define VERSIONS                                                                                                     \
    "(SELECT count(*) FROM (SELECT version_id, category, sum(reports), sum(events), sum(waited_ms), max(longest_ms)" \
    " FROM version_hour WHERE app_id = 1 GROUP BY 1, 2) b)"
static const char list_floor[] = "SELECT " ISSUES ", " DEVICES;
static const char overview_floor[] = "SELECT " ISSUES ", " VERSIONS ", " DEVICES;
static const char issue_floor[] =
    "SELECT sum(length(cell)) FROM rollup WHERE app_id = 1 AND issue_id IN (0, 1) AND hours = 24";
static const char stacks_floor[] = "SELECT document FROM event JOIN event_stack USING (slot, day, report_id)"
                                   " WHERE app_id = 1 AND issue_id = 1 ORDER BY received_at DESC LIMIT 2000";

static char backend_stat[64];

static void must(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "bench-api: %s: %s\n", what, fault_name(rc));
    pgtest_stop(NULL);
    exit(2);
}

/* Make one of a hundred stack documents of an issue: 20 samples under a common trunk of DEPTH frames. */
static void document_make(unsigned char **bytes, size_t *len, unsigned seed)
{
    static struct resolved_location locations[DEPTH + LEAVES];
    static struct resolved_node nodes[DEPTH + LEAVES + 1];
    static char names[DEPTH + LEAVES][64];
    struct report_sample samples[20] = {{0}};
    uint32_t repeat[DEPTH + 1];

    for (uint32_t i = 0; i < DEPTH + LEAVES; i++) {
        uint32_t branch = i < DEPTH ? i : DEPTH + (i * 7919 + seed * 104729) % 5000;
        snprintf(names[i], sizeof names[i], "some_function_of_the_program_%u", branch);
        locations[i] = (struct resolved_location){.function = names[i],
                                                  .image = "redis-server",
                                                  .file = "file.c",
                                                  .line = i,
                                                  .offset = i * 16,
                                                  .named = true,
                                                  .role = MIRE_ROLE_APP};
        nodes[i + 1] = (struct resolved_node){.parent = i <= DEPTH ? i : DEPTH, .location = i};
    }
    for (uint32_t s = 0; s < 20; s++)
        samples[s] =
            (struct report_sample){.at_ms = s * 50, .weight_ms = 50, .node = DEPTH + 1 + (s * 31 + seed) % LEAVES};
    for (size_t i = 0; i <= DEPTH; i++)
        repeat[i] = 20;
    struct resolved doc = {MIRE_RESOLVED_NOTHING,
                           .location_count = DEPTH + LEAVES,
                           .locations = locations,
                           .node_count = DEPTH + LEAVES + 1,
                           .nodes = nodes,
                           .period_ms = 50,
                           .sample_count = 20,
                           .samples = samples,
                           .hot = {.node = DEPTH + 1, .run = 3, .depth = DEPTH + 1, .repeat = repeat}};
    must(resolved_encode(bytes, len, &doc), "encode");
}

static void fill(struct pg *pg, long events)
{
    const struct log log = {.fd = 2, .least = MIRE_LOG_WARN};
    const struct pg_days days = {.today = clock_day(clock_wall_us()), .back = 15, .ahead = 1};
    int made, dropped;
    struct pg_tx *tx;
    char sql[sizeof fill_sql + 24];
    struct pg_bytes documents[100];

    for (unsigned i = 0; i < 100; i++) {
        unsigned char *bytes;
        document_make(&bytes, &documents[i].len, i);
        documents[i].bytes = bytes;
    }
    must(pg_partition(&made, &dropped, pg, &days, &log), "partitions");
    must(pg_begin(&tx, pg, MIRE_PG_EACH), "begin");
    snprintf(sql, sizeof sql, fill_sql, events);
    must(pg_script(tx, sql), "fill");
    must(pg_query(
             NULL, tx,
             "INSERT INTO event_stack SELECT slot, day, report_id, ($1::bytea[])[1 + n % 100] FROM (SELECT slot, day,"
             " report_id, row_number() OVER (ORDER BY received_at) AS n FROM event WHERE issue_id = 1) x",
             PG_BYTESS(documents, 100)),
         "stacks");
    must(pg_script(
             tx,
             "INSERT INTO rollup_due (slot, app_id, issue_id, day) SELECT DISTINCT 0, 1, x,"
             " (occurred_at AT TIME ZONE 'UTC')::date FROM event CROSS JOIN LATERAL (VALUES (issue_id), (0)) v (x)"),
         "rollups");
    pg_end(&tx);
    for (bool more = true; more;)
        must(rows_rollups_merge(&more, pg, clock_wall_us()), "merging");
    must(pg_begin(&tx, pg, MIRE_PG_EACH), "begin");
    must(pg_script(tx, "VACUUM ANALYZE"), "vacuum");
    pg_end(&tx);
}

/* Processor time of this thread and of the backend, so far. */
static double cpu_ms(void)
{
    struct timespec own;
    unsigned long long backend_ns = 0;
    FILE *file = fopen(backend_stat, "r");

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
    must(!file || fscanf(file, "%llu", &backend_ns) != 1, backend_stat);
    fclose(file);
    return (double)own.tv_sec * 1e3 + (double)own.tv_nsec / 1e6 + (double)backend_ns / 1e6;
}

static void find_backend(struct pg *pg)
{
    struct pg_tx *tx;
    struct pg_rows *rows;

    must(pg_begin(&tx, pg, MIRE_PG_READ), "begin");
    must(pg_query(&rows, tx, "SELECT pg_backend_pid()"), "backend");
    snprintf(backend_stat, sizeof backend_stat, "/proc/%lld/schedstat", (long long)pg_int(rows, 0, 0));
    pg_rows_free(&rows);
    pg_end(&tx);
}

static double time_sql(struct pg *pg, const char *sql, bool decode)
{
    struct pg_tx *tx;
    struct pg_rows *rows;
    struct arena arena;
    struct resolved doc;
    double begun_ms = cpu_ms();

    must(pg_begin(&tx, pg, MIRE_PG_READ), "begin");
    must(pg_query(&rows, tx, sql), "floor");
    arena_init(&arena, 64 << 20);
    for (size_t i = 0; decode && i < pg_row_count(rows); i++) {
        struct pg_bytes b = pg_bytes(rows, i, 0);
        arena_reset(&arena);
        must(resolved_decode(&doc, &arena, b.bytes, b.len), "decode");
    }
    arena_fini(&arena);
    pg_rows_free(&rows);
    pg_end(&tx);
    return cpu_ms() - begun_ms;
}

static double time_answer(struct api *api, const char *target, size_t *len)
{
    const struct http_table table = {api_routes, api_route_count, api};
    struct arena arena;
    struct reply reply = {0};
    struct request request = {
        .method = MIRE_HTTP_GET, .arena = &arena, .reply = &reply, .grant = {.who = "", .via = "local"}};
    void *context = NULL;
    char allow[64];
    double begun_ms = cpu_ms();

    arena_init(&arena, 256u << 20);
    must(request_parse_target(&request, target), target);
    must(http_route_find(&request, &context, allow, &table, 1), target);
    must(http_call(context, &request, &reply), target);
    double ms = cpu_ms() - begun_ms;
    if (reply.status != 200)
        fprintf(stderr, "bench-api: %s answered %d: %.300s\n", target, reply.status, reply.text.bytes);
    must(reply.status != 200, target);
    *len = reply.text.len;
    text_fini(&reply.text);
    arena_fini(&arena);
    return ms;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int measure(struct api *api, const char *what, const char *target, const char *floor_sql, bool decode,
                   double limit)
{
    double answers[ROUNDS], floors[ROUNDS];
    size_t len = 0;

    for (int i = 0; i < ROUNDS; i++) {
        floors[i] = time_sql(api->pg, floor_sql, decode);
        answers[i] = time_answer(api, target, &len);
    }
    qsort(answers, ROUNDS, sizeof *answers, by_size);
    qsort(floors, ROUNDS, sizeof *floors, by_size);
    double ratio = answers[ROUNDS / 2] / floors[ROUNDS / 2];
    printf("%s %.1f ms\n%s_floor %.1f ms\n%s_size %.1f KiB\n", what, answers[ROUNDS / 2], what, floors[ROUNDS / 2],
           what, (double)len / 1024);
    printf("%s_over_floor %.2f x | goal <= %.2f | %s\n", what, ratio, limit, ratio <= limit ? "ok" : "short");
    return ratio > limit;
}

int main(int argc, char **argv)
{
    long events = argc > 1 ? strtol(argv[1], NULL, 10) : HANGS;
    int slow = 0;

    must(pgtest_start(NULL), "start");
    struct pg *pg = pgtest_database(1);
    struct api api = {.pg = pg, .now_us = clock_wall_us};
    fill(pg, events);
    find_backend(pg);
    printf("events %ld reports\n", events);
    slow += measure(&api, "issue_list", "/api/v1/apps/redis/issues", list_floor, false, LIMIT);
    slow += measure(&api, "issue_list_of_version", "/api/v1/apps/redis/issues?v=7.0.3", list_floor, false, LIMIT);
    slow += measure(&api, "issue_list_by_devices", "/api/v1/apps/redis/issues?sort=-devices&limit=200", list_floor,
                    false, LIMIT_DEVICES);
    slow += measure(&api, "overview", "/api/v1/apps/redis/overview", overview_floor, false, LIMIT);
    slow += measure(&api, "issue", "/api/v1/apps/redis/issues/I-1", issue_floor, false, LIMIT);
    slow += measure(&api, "flame", "/api/v1/apps/redis/issues/I-1/flame", stacks_floor, true, LIMIT);
    slow += measure(&api, "flame_folded", "/api/v1/apps/redis/issues/I-1/flame?max=500", stacks_floor, true, LIMIT);
    pg_close(pg);
    pgtest_stop(NULL);
    return slow ? 1 : 0;
}
