/*
 * bench_ingest.c - measures the cost of making a report durable: group commit compared with one commit for each report.
 * Also measures the delay of a report at a low rate, beside the floor of one row stored by one connection.
 *
 * A child process keeps 64 connections busy (closed loop, keep-alive); this process is the server; PostgreSQL is real,
 * with fsync. A hang report has 5 KB; a large one or a memory report has 20 to 50 KB. For large reports the disk's
 * bandwidth is most of the cost, so sharing commits gains less. Rounds of both kinds alternate, so that a busy machine
 * slows them alike; the median round counts. Only the id of a report is read before it is stored. CPU is that of the
 * server and of PostgreSQL, without the client.
 */
#include "support/pgtest.h"

#include "base/clock.h"
#include "http/http.h"
#include "inbox/inbox.h"
#include "ingest/ingest.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 64
#define ROUNDS      5
#define ROUND_MS    1000
#define BODY_MOST   51200
#define STEADY      100   /* reports in a steady round */
#define STEADY_US   20000 /* time between two of them */
#define GROUP_WAY   0
#define SINGLE_WAY  1

static const char key[] = "mk_benchbenchbenchbenchbenchbenchbenchbench";

struct measure {
    double rate;   /* reports per second */
    double cpu_us; /* CPU of server and PostgreSQL, per report */
    double wal;    /* bytes per report */
};

/* --- the client, in its own process ------------------------------------------------------------------------------ */

static char request[BODY_MOST + 512];
static size_t body_bytes, request_len, id_at;

static void make_request(void)
{
    int len = snprintf(request, sizeof request,
                       "POST /api/v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       "Authorization: Bearer %.43s\r\nContent-Length: %zu\r\n\r\n{\"id\":\"",
                       key, body_bytes);
    id_at = (size_t)len;
    uint32_t random = 1;
    for (size_t i = id_at + 36; i < id_at - 7 + body_bytes; i++)
        request[i] = (char)((random = random * 1664525 + 1013904223) >> 24);
    request_len = id_at - 7 + body_bytes;
}

static void send_one(int fd)
{
    struct uuid id;
    char text[MIRE_UUID_TEXT];
    uuid_make(&id, clock_wall_us());
    uuid_format(text, &id);
    memcpy(request + id_at, text, sizeof text - 1);
    for (size_t sent = 0; sent < request_len;) {
        ssize_t step = send(fd, request + sent, request_len - sent, MSG_NOSIGNAL);
        if (step <= 0)
            exit(3);
        sent += (size_t)step;
    }
}

static void take_answer(int fd)
{
    char answer[2048];
    ssize_t len = recv(fd, answer, sizeof answer, 0);
    if (len < 12 || memcmp(answer, "HTTP/1.1 202", 12) != 0) {
        fprintf(stderr, "bench: %.*s\n", len > 0 ? (int)len : 0, answer);
        exit(3);
    }
}

static void run_client(uint16_t port, int out)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct epoll_event events[CONNECTIONS];
    uint64_t count = 0;
    int epoll = epoll_create1(0);
    make_request();
    for (int i = 0; i < CONNECTIONS; i++) {
        struct epoll_event event = {.events = EPOLLIN};
        event.data.fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(event.data.fd, (struct sockaddr *)&name, sizeof name) ||
            epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event))
            exit(3);
        send_one(event.data.fd);
    }
    uint64_t until = clock_mono_ns() + ROUND_MS * UINT64_C(1000000);
    while (clock_mono_ns() < until) {
        int ready = epoll_wait(epoll, events, CONNECTIONS, 100);
        for (int i = 0; i < ready; i++, count++) {
            take_answer(events[i].data.fd);
            send_one(events[i].data.fd);
        }
    }
    exit(write(out, &count, sizeof count) == sizeof count ? 0 : 3);
}

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Microseconds from the due time of each report until it was durable, sorted. */
struct waits {
    double us[STEADY];
};

static void wait_until(uint64_t due_ns)
{
    const struct timespec due = {(time_t)(due_ns / 1000000000u), (long)(due_ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

/* Run `act` STEADY times at a fixed rate, independent of its duration. */
static void steadily(struct waits *out, void (*act)(void *context), void *context)
{
    uint64_t due = clock_mono_ns() + STEADY_US * 1000u;
    for (int i = 0; i < STEADY; i++, due += STEADY_US * 1000u) {
        wait_until(due);
        act(context);
        out->us[i] = (double)(clock_mono_ns() - due) / 1000;
    }
    qsort(out->us, STEADY, sizeof *out->us, compare);
}

static void post(void *fd)
{
    send_one(*(int *)fd);
    take_answer(*(int *)fd);
}

static void run_steady_client(uint16_t port, int out)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct waits waits;
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    make_request();
    if (connect(fd, (struct sockaddr *)&name, sizeof name))
        exit(3);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    steadily(&waits, post, &fd);
    exit(write(out, &waits, sizeof waits) == sizeof waits ? 0 : 3);
}

/* --- the server -------------------------------------------------------------------------------------------------- */

static int check(void *context, struct ingest_verdict *out, struct problem *problem, const void *body, size_t len,
                 const char *encoding)
{
    (void)context;
    (void)encoding;
    out->format = "mire";
    problem_set(problem, "bench", "no id");
    return len > 43 && uuid_parse(&out->report_id, (const char *)body + 7, 36) ? MIRE_CHECK_GOOD : MIRE_CHECK_INVALID;
}

static int grant(void *context, struct request *asked, struct reply *reply)
{
    (void)context;
    (void)reply;
    asked->grant.app_id = 1;
    return MIRE_HTTP_ADMITTED;
}

static int store_batch(void *context, const struct inbox_row *rows, size_t count, int64_t *stored_out)
{
    return inbox_store_counted(context, rows, count, stored_out);
}

static void must(int rc, const char *what)
{
    if (rc) {
        fprintf(stderr, "bench: %s failed (%d)\n", what, rc);
        pgtest_stop(NULL);
        exit(2);
    }
}

/* CPU of one process so far, microseconds; -1 if it has another parent. */
static double process_us(const char *pid, int parent)
{
    char path[300], line[1024] = "";
    unsigned long user, kernel;
    int ppid;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    if (file) {
        if (!fgets(line, sizeof line, file))
            line[0] = '\0';
        fclose(file);
    }
    const char *after = strrchr(line, ')');
    if (!after || sscanf(after + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &ppid, &user, &kernel) != 3)
        return -1;
    if (parent && ppid != parent)
        return -1;
    return (double)(user + kernel) * 1e6 / (double)sysconf(_SC_CLK_TCK);
}

/* CPU of this process and all PostgreSQL processes so far, microseconds. */
static double all_us(void)
{
    struct rusage self;
    getrusage(RUSAGE_SELF, &self);
    double sum = (double)(self.ru_utime.tv_sec + self.ru_stime.tv_sec) * 1e6 +
                 (double)(self.ru_utime.tv_usec + self.ru_stime.tv_usec);
    DIR *proc = opendir("/proc");
    for (const struct dirent *entry; proc && (entry = readdir(proc));) {
        double us =
            entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? process_us(entry->d_name, pgtest_postmaster()) : -1;
        sum += us > 0 ? us : 0;
    }
    if (proc)
        closedir(proc);
    return sum;
}

static double wal_bytes(struct pg *pg)
{
    struct pg_tx *tx = NULL;
    struct pg_rows *rows = NULL;
    must(pg_begin(&tx, pg, MIRE_PG_EACH), "begin");
    must(pg_query(&rows, tx, "SELECT (pg_current_wal_lsn() - '0/0')::float8"), "wal");
    double bytes = pg_real(rows, 0, 0);
    pg_rows_free(&rows);
    pg_end(&tx);
    return bytes;
}

static void load(void *answer, size_t size, uint16_t port, void (*client)(uint16_t port, int out))
{
    int ends[2], status = -1;
    must(pipe(ends), "pipe");
    pid_t pid = fork();
    if (pid == 0)
        client(port, ends[1]);
    waitpid(pid, &status, 0);
    must(status || read(ends[0], answer, size) != (ssize_t)size, "client");
    close(ends[0]);
    close(ends[1]);
}

static void start_server(struct ingest **ingest, struct http_server **http, struct pg *pg, int way)
{
    static struct http_table table;
    struct ingest_options options = MIRE_INGEST_OPTIONS_INIT;
    options.needs = (struct ingest_needs){.check = check, .store_context = pg, .store_batch = store_batch};
    options.writers = way == SINGLE_WAY ? 32 : 3;
    options.batch_rows_max = way == SINGLE_WAY ? 1 : MIRE_BATCH_ROWS_MAX;
    must(ingest_start(ingest, &options), "ingest");
    table = (struct http_table){ingest_routes, ingest_route_count, *ingest};
    struct http_options http_options = {.address = "127.0.0.1",
                                        .tables = &table,
                                        .table_count = 1,
                                        .handler_threads = 1,
                                        .check = grant,
                                        .idle_s = 30,
                                        .headers_s = 30,
                                        .request_s = 120,
                                        .bodies_cap_bytes = 256u << 20,
                                        .connections_max = 256};
    must(http_start(http, &http_options), "http");
}

static void stop_server(struct ingest *ingest, struct http_server *http)
{
    must(!http_stop(http, 10000), "stop");
    ingest_stop(ingest);
}

static struct measure run_round(struct pg *pg, int way)
{
    struct ingest *ingest;
    struct http_server *http;
    uint64_t count = 0;
    start_server(&ingest, &http, pg, way);
    double cpu = all_us(), wal = wal_bytes(pg);
    load(&count, sizeof count, http_port(http), run_client);
    struct measure measure = {.rate = (double)count * 1000 / ROUND_MS,
                              .cpu_us = (all_us() - cpu) / (double)count,
                              .wal = (wal_bytes(pg) - wal) / (double)count};
    stop_server(ingest, http);
    return measure;
}

static void store_one(void *pg)
{
    struct inbox_row row = {
        .app_id = 1, .format = "mire", .encoding = "identity", .body = request + id_at - 7, .body_len = body_bytes};
    uuid_make(&row.report_id, clock_wall_us());
    must(inbox_store_batch(pg, &row, 1), "store");
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

static int say(const char *name, size_t kb, double value, const char *unit, bool at_least, double goal)
{
    bool ok = at_least ? value >= goal : value <= goal;
    printf("%s_%zukb %.2f %s | goal %s %.2f | %s\n", name, kb, value, unit, at_least ? ">=" : "<=", goal,
           ok ? "ok" : "short");
    return !ok;
}

struct goal {
    size_t kb;
    double rate_ratio, cpu_ratio; /* group commit relative to one commit per report */
    double cpu_us;
};

static int measure_size(struct pg *pg, const struct goal *goal)
{
    double rate[2][ROUNDS], cpu[2][ROUNDS], wal[ROUNDS], rate_ratio[ROUNDS], cpu_ratio[ROUNDS];
    int shorts = 0;
    body_bytes = goal->kb * 1024;
    run_round(pg, GROUP_WAY); /* warm-up */
    for (int i = 0; i < ROUNDS; i++) {
        struct measure single = run_round(pg, SINGLE_WAY), group = run_round(pg, GROUP_WAY);
        rate[GROUP_WAY][i] = group.rate;
        rate[SINGLE_WAY][i] = single.rate;
        cpu[GROUP_WAY][i] = group.cpu_us;
        cpu[SINGLE_WAY][i] = single.cpu_us;
        wal[i] = group.wal;
        rate_ratio[i] = group.rate / single.rate;
        cpu_ratio[i] = group.cpu_us / single.cpu_us;
    }
    printf("ingest_group_rate_%zukb %.0f reports/s\ningest_single_rate_%zukb %.0f reports/s\n"
           "ingest_single_cpu_%zukb %.1f us/report\n",
           goal->kb, median(rate[GROUP_WAY]), goal->kb, median(rate[SINGLE_WAY]), goal->kb, median(cpu[SINGLE_WAY]));
    shorts += say("ingest_group_rate_over_single", goal->kb, median(rate_ratio), "x", true, goal->rate_ratio);
    shorts += say("ingest_group_cpu_over_single", goal->kb, median(cpu_ratio), "x", false, goal->cpu_ratio);
    shorts += say("ingest_group_cpu", goal->kb, median(cpu[GROUP_WAY]), "us/report", false, goal->cpu_us);
    shorts += say("ingest_wal", goal->kb, median(wal), "bytes/report", false, 1.2 * (double)body_bytes + 600);
    return shorts;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* One client, 50 reports per second: no other report shares its commit. The fastest round of each kind counts. */
static int measure_wait(struct pg *pg, size_t kb)
{
    double floor_us = 1e9, middle_us = 1e9, late_us = 1e9;
    body_bytes = kb * 1024;
    make_request();
    for (int i = 0; i < ROUNDS; i++) {
        struct waits alone, posted;
        struct ingest *ingest;
        struct http_server *http;
        steadily(&alone, store_one, pg);
        start_server(&ingest, &http, pg, GROUP_WAY);
        load(&posted, sizeof posted, http_port(http), run_steady_client);
        stop_server(ingest, http);
        floor_us = lesser(floor_us, alone.us[STEADY / 2]);
        middle_us = lesser(middle_us, posted.us[STEADY / 2]);
        late_us = lesser(late_us, posted.us[STEADY * 95 / 100]);
    }
    printf("ingest_wait_floor_p50_%zukb %.0f us\ningest_wait_p50_%zukb %.0f us\ningest_wait_p95_%zukb %.0f us\n", kb,
           floor_us, kb, middle_us, kb, late_us);
    return say("ingest_wait_over_floor_p50", kb, middle_us - floor_us, "us", false, 250);
}

int main(void)
{
    static const struct goal goals[] = {{5, 1.5, 0.6, 80}, {20, 1.0, 0.85, 200}, {50, 0.9, 0.85, 450}};
    int shorts = 0;
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0); /* otherwise the client process would print the buffer again */
    must(pgtest_start(NULL), "PostgreSQL");
    struct pg *pg = pgtest_database(36);
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        shorts += measure_size(pg, &goals[i]);
    shorts += measure_wait(pg, 5);
    pg_close(pg);
    pgtest_stop(NULL);
    return shorts ? 1 : 0;
}
