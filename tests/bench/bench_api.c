/*
 * bench_api.c - how long the API takes for the pages of an app with many reports (many.h), while 500 a second come in.
 *
 *     bench_api [CONNINFO]    in a database of its own, or in that one, which is filled if it is empty
 *     HANGS=1000000           events in 30 days
 *
 * A filled database serves again on the same day: `tests/support/pgtest.sh start DIR`, CREATE DATABASE, and CONNINFO.
 *
 * The generator, its merger, the handlers and PostgreSQL share the machine. A call's time is from the parsed request to the
 * answer's text. Prints the median and the 95th percentile of ROUNDS calls of each page, in turn, processor time of a call on
 * the handlers' thread and its PostgreSQL backend, and the rows of tables and indexes that it reads while nothing comes in.
 * Ends with 1 if a 95th percentile is above LIMIT_MS, or rows are above LIMIT_ROWS.
 *
 * The floor of each call is one indexed read of the rows that it returns, or of the cells it must add up.
 */
#include "api/api.h"
#include "bench/many.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/resolved.h"
#include "postgres/migrate.h"
#include "pg/pg.h"
#include "bench/verdict.h"
#include "support/pgtest.h"
#include "document/document.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS     40
#define ROUND_MS   3200 /* at least: two merges, and what waits for them, are among the calls */
#define LIMIT_MS   150.0
#define LIMIT_ROWS 600000
#define HANGS      1000000
#define PER_SECOND 500
#define DEPTH      40
#define LEAVES     60

/* As a server is set up (deploy/scale), but for the size of its memory. */
#define POSTGRES "-c shared_buffers=1GB -c max_wal_size=16GB -c checkpoint_timeout=30min -c wal_compression=lz4"

static char backend_stat[64];

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

/* Stacks of the newest reports of the first issue, for its flame graph. */
static void add_stacks(struct pg *pg)
{
    struct pg_bytes documents[100];
    struct pg_tx *tx;

    for (unsigned i = 0; i < 100; i++) {
        unsigned char *bytes;
        document_make(&bytes, &documents[i].len, i);
        documents[i].bytes = bytes;
    }
    must(pg_begin(&tx, pg, MIRE_PG_WRITE), "begin");
    must(pg_query(
             NULL, tx,
             "INSERT INTO event_stack SELECT slot, day, report_id, ($1::bytea[])[1 + n % 100] FROM (SELECT slot, day,"
             " report_id, row_number() OVER (ORDER BY occurred_at) AS n FROM event WHERE app_id = 1 AND issue_id = 1"
             " ORDER BY occurred_at DESC LIMIT 2000) x",
             PG_BYTESS(documents, 100)),
         "stacks");
    must(pg_commit(&tx), "commit");
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

struct page {
    const char *name, *target;
    double wall_ms[ROUNDS], cpu_ms[ROUNDS];
    size_t len;
    long long rows;
};

static double wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void time_answer(struct page *page, int round, struct api *api)
{
    const struct http_table table = {api_routes, api_route_count, api};
    struct arena arena;
    struct reply reply = {0};
    struct request request = {
        .method = MIRE_HTTP_GET, .arena = &arena, .reply = &reply, .grant = {.who = "", .via = "local"}};
    void *context = NULL;
    char allow[64];
    double cpu = cpu_ms(), wall = wall_ms();

    arena_init(&arena, 256u << 20);
    must(request_parse_target(&request, page->target), page->target);
    must(http_route_find(&request, &context, allow, &table, 1), page->target);
    must(http_call(context, &request, &reply), page->target);
    page->cpu_ms[round] = cpu_ms() - cpu;
    page->wall_ms[round] = wall_ms() - wall;
    if (reply.status != 200)
        fprintf(stderr, "bench-api: %s answered %d: %.300s\n", page->target, reply.status, reply.text.bytes);
    must(reply.status != 200, page->target);
    page->len = reply.text.len;
    text_fini(&reply.text);
    arena_fini(&arena);
}

static long long rows_read(struct pg *pg)
{
    struct pg_tx *tx;
    struct pg_rows *rows;

    must(pg_begin(&tx, pg, MIRE_PG_EACH), "begin");
    must(pg_query(NULL, tx, "SELECT pg_stat_force_next_flush()"), "rows read");
    must(pg_query(&rows, tx,
                  "SELECT ((SELECT sum(seq_tup_read) FROM pg_stat_user_tables) +"
                  " (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes))::bigint"),
         "rows read");
    long long read = pg_int(rows, 0, 0);
    pg_rows_free(&rows);
    pg_end(&tx);
    return read;
}

/* Before anything comes in, by the only connection. */
static void count_rows(struct page *page, struct api *api)
{
    long long before = rows_read(api->pg);
    time_answer(page, 0, api);
    page->rows = rows_read(api->pg) - before;
    printf("%s_rows %lld rows | goal <= %d | %s\n", page->name, page->rows, LIMIT_ROWS,
           page->rows <= LIMIT_ROWS ? "ok" : "short");
    fflush(stdout);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int print(struct page *page)
{
    qsort(page->wall_ms, ROUNDS, sizeof *page->wall_ms, by_size);
    qsort(page->cpu_ms, ROUNDS, sizeof *page->cpu_ms, by_size);
    double p95 = page->wall_ms[ROUNDS * 95 / 100];
    printf("%s_cpu %.1f ms\n%s %.1f ms\n%s_size %.1f KiB\n", page->name, page->cpu_ms[ROUNDS / 2], page->name,
           page->wall_ms[ROUNDS / 2], page->name, (double)page->len / 1024);
    printf("%s_p95 %.1f ms | goal <= %.0f | %s\n", page->name, p95, LIMIT_MS, p95 <= LIMIT_MS ? "ok" : "short");
    return p95 > LIMIT_MS || page->rows > LIMIT_ROWS;
}

#define APP "/api/v1/apps/redis"
static struct page pages[] = {
    {.name = "issue_list", .target = APP "/issues?t=30d"},
    {.name = "issue_list_24h", .target = APP "/issues?t=24h"},
    {.name = "issue_list_of_version", .target = APP "/issues?t=30d&v=7.19.5"},
    {.name = "issue_list_by_devices", .target = APP "/issues?t=30d&sort=-devices&limit=200"},
    {.name = "overview", .target = APP "/overview?t=30d"},
    {.name = "rates", .target = APP "/rates?t=30d"},
    {.name = "rates_by_model", .target = APP "/rates?t=30d&by=model"},
    {.name = "facets", .target = APP "/facets?t=30d"},
    {.name = "versions", .target = APP "/versions?t=30d"},
    {.name = "issue", .target = APP "/issues/I-1?t=30d"},
    {.name = "flame", .target = APP "/issues/I-1/flame?t=30d"},
};

/* The tables of a database, filled if there is no app yet. */
static void make_filled(struct pg *pg, struct pg *merger, long events)
{
    struct pg_tx *tx;
    struct pg_rows *rows;
    int applied;

    must(pg_migrate(&applied, pg, pg_migrations, pg_migration_count, &(struct log){.fd = 2, .least = MIRE_LOG_WARN}),
         "tables");
    must(pg_begin(&tx, pg, MIRE_PG_READ), "begin");
    must(pg_query(&rows, tx, "SELECT count(*) FROM app"), "apps");
    bool is_empty = !pg_int(rows, 0, 0);
    pg_rows_free(&rows);
    pg_end(&tx);
    if (!is_empty)
        return;
    many_fill(pg, merger, events);
    add_stacks(pg);
}

static struct pg *open_pool(const char *conninfo)
{
    const struct pg_options options = {.conninfo = conninfo, .connections = 1, .wait_ms = 10000};
    struct pg *pg;

    must(pg_open(&pg, &options), conninfo);
    return pg;
}

/* Each round has one call of each page. */
static void time_rounds(struct api *api)
{
    for (int round = 0; round < ROUNDS; round++) {
        double begun = wall_ms();
        for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
            time_answer(&pages[i], round, api);
        while (wall_ms() - begun < ROUND_MS)
            nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
}

int main(int argc, char **argv)
{
    const char *hangs = getenv("HANGS"), *conninfo = argc > 1 ? argv[1] : NULL;
    long events = hangs ? strtol(hangs, NULL, 10) : HANGS;
    struct many_arrival arrival = {.per_second = PER_SECOND};
    pthread_t thread;
    int slow = 0;

    if (!conninfo) {
        must(setenv("MIRE_PG_OPTIONS", POSTGRES, 0) || pgtest_start(NULL) ? MIRE_FAULT_AWAY : 0, "start");
        struct pg *made = pgtest_database(1);
        pg_close(made);
    }
    const char *at = conninfo ? conninfo : pgtest_database_conninfo();
    struct api api = {.pg = open_pool(at), .now_us = clock_wall_us};
    arrival.pg = open_pool(at);
    make_filled(api.pg, arrival.pg, events);
    find_backend(api.pg);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        count_rows(&pages[i], &api);
    if (pthread_create(&thread, NULL, many_arrive, &arrival))
        must(MIRE_FAULT_MEMORY, "thread");
    time_rounds(&api);
    atomic_store(&arrival.stop, true);
    pthread_join(thread, NULL);
    printf("events %ld reports\nstored_meanwhile %ld reports\n", events, arrival.stored);
    printf("merge %.2f s, each of %d\n", (double)arrival.merge_us / 1e6 / (arrival.merges ? arrival.merges : 1),
           arrival.merges);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        slow += print(&pages[i]);
    pg_close(arrival.pg);
    pg_close(api.pg);
    if (!conninfo)
        pgtest_stop(NULL);
    return slow ? 1 : 0;
}
