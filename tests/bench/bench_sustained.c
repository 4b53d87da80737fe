/*
 * bench_sustained.c - reports come in at a fixed rate for minutes, and mired stores and processes them meanwhile. The generator, mired and
 * its private PostgreSQL share the machine.
 *
 *     bench_sustained [RATE [SECONDS [memory]]]     1,500 reports a second for 600 seconds
 *
 * SENDERS connections send lag reports (lag.h), or memory reports, each connection at its own times: a late answer delays no other
 * report's time. Once a second the age of the oldest report that waits, and the ages of the oldest change that is in no cell and in no
 * standing sum yet, are read. A page adds waiting changes to cells and sums, so a report is on pages as soon as it is processed.
 *
 *     taken           reports that were answered with 202, a second; the others are counted
 *     answer          95 of 100 answers take at most so long, counted from the time at which the report was to be sent
 *     waits           the age of the oldest report in the inbox, at most
 *     merged          the age of the oldest change outside of cells or standing sums, at most
 *     floor           reports a second that PostgreSQL stores again, by one INSERT of 20,000 rows of `report`, when nothing else comes in
 *     miscounted      the difference between the reports taken and the reports in the counters at the end, when nothing waits
 *
 * The result is 1 if a figure is beyond its goal.
 */
#include "lag.h"
#include "support/miredtest.h"
#include "support/pgtest.h"
#include "support/seed.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define SENDERS  48
#define MODELS   80 /* reports of each sender that it sends again and again, as other events of other installations */
#define BEGIN_S  5  /* until these are made */
#define BODY_MAX 65536
#define SETTLE_S 180 /* after the last report, until nothing waits */
#define BUCKETS  100000

static struct miredtest mired;
static char key[64];
static double rate = 1500;
static long seconds = 600;
static uint64_t seed;
static enum lag_kind kind = LAG_EVENT;
static int64_t begin_us;
static atomic_long taken, refused, broken;
static atomic_long answers[BUCKETS]; /* by milliseconds; the last one: so long or longer */
static int missed;

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench-sustained: %s\n", what);
    miredtest_end(&mired, SIGTERM);
    exit(2);
}

static void say(const char *name, double value, const char *unit, const char *compared, double goal)
{
    bool good = *compared == '>' ? value >= goal : value <= goal;
    printf("%s %.2f %s | goal %s %g | %s\n", name, value, unit, compared, goal, good ? "ok" : "short");
    missed += !good;
}

/* --- the generator --- */

static int connect_to_mired(void)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(mired.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    must(fd >= 0 && !connect(fd, (struct sockaddr *)&at, sizeof at), "mired takes no connection");
    return fd;
}

static bool send_all(int fd, const char *bytes, size_t len)
{
    for (ssize_t n; len; bytes += n, len -= (size_t)n)
        if ((n = send(fd, bytes, len, MSG_NOSIGNAL)) <= 0)
            return false;
    return true;
}

/* Status of one answer whose body has a Content-Length; 0: none came. */
static int read_answer(int fd)
{
    char answer[4096];
    size_t len = 0;

    for (ssize_t n; len < sizeof answer - 1;) {
        if ((n = recv(fd, answer + len, sizeof answer - 1 - len, 0)) <= 0)
            return 0;
        len += (size_t)n;
        answer[len] = '\0';
        const char *body = strstr(answer, "\r\n\r\n"), *given = strcasestr(answer, "\r\nContent-Length:");
        if (body && given && len >= (size_t)(body + 4 - answer) + strtoul(given + 17, NULL, 10))
            return (int)strtol(answer + 9, NULL, 10);
    }
    return 0;
}

/* A device makes and compresses its reports itself. A sender therefore only changes some digits of reports it has, and keeps zstd's
 * memory. */
struct model {
    struct text json;
    char *id, *install, *time; /* in it */
};

static char *behind(const struct text *json, const char *name)
{
    char *found = strstr(json->bytes, name);
    must(found, name);
    return found + strlen(name);
}

static void make_models(struct model models[MODELS], uint64_t *random)
{
    struct uuid id;

    uuid_make(&id, clock_wall_us());
    for (int i = 0; i < MODELS; i++) {
        struct model *model = &models[i];
        model->json = (struct text){0};
        lag_report(&model->json, &id, clock_wall_us(), kind, random);
        must(!text_failed(&model->json), "no memory");
        model->id = behind(&model->json, "\"id\":\"");
        model->install = behind(&model->json, "\"install\":\"");
        model->time = behind(&model->json, "_wall_ms\":");
    }
}

/* The report of a model as another one. */
static void change(struct model *model, uint64_t *random)
{
    int64_t now_us = clock_wall_us();
    char id[MIRE_UUID_TEXT], install[33], time[24];
    struct uuid uuid;

    uuid_make(&uuid, now_us);
    uuid_format(id, &uuid);
    snprintf(install, sizeof install, "%032x", test_roll(random, 30000));
    snprintf(time, sizeof time, "%013lld", (long long)(lag_time(now_us, random) / 1000));
    memcpy(model->id, id, sizeof id - 1);
    memcpy(model->install, install, sizeof install - 1);
    memcpy(model->time, time, strlen(time));
}

static size_t make_request(char *out, struct model models[MODELS], ZSTD_CCtx *zstd, uint64_t *random)
{
    static __thread char body[BODY_MAX];
    struct model *model = &models[test_roll(random, MODELS)];

    change(model, random);
    size_t len = ZSTD_compressCCtx(zstd, body, sizeof body, model->json.bytes, model->json.len, 3);
    must(!ZSTD_isError(len), "no memory");
    int head = snprintf(out, 512,
                        "POST /api/v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        "Content-Encoding: zstd\r\nAuthorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n",
                        key, len);
    memcpy(out + head, body, len);
    return (size_t)head + len;
}

static void count_answer(int status, int64_t due_us)
{
    int64_t ms = (clock_wall_us() - due_us) / 1000;

    atomic_fetch_add(&answers[ms < 0 ? 0 : ms < BUCKETS ? ms : BUCKETS - 1], 1);
    atomic_fetch_add(status == 202 ? &taken : status ? &refused : &broken, 1);
}

static void *send_reports(void *number)
{
    static __thread char request[BODY_MAX + 512];
    struct model models[MODELS];
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    uint64_t random = seed + (uintptr_t)number;
    double step_us = 1e6 * SENDERS / rate, due_us = (double)begin_us + step_us * (double)(uintptr_t)number / SENDERS;
    int fd = connect_to_mired();

    must(zstd, "no memory");
    make_models(models, &random);
    for (; due_us < (double)begin_us + (double)seconds * 1e6; due_us += step_us) {
        size_t len = make_request(request, models, zstd, &random);
        int64_t early_us = (int64_t)due_us - clock_wall_us();
        if (early_us > 0)
            usleep((useconds_t)early_us);
        int status = send_all(fd, request, len) ? read_answer(fd) : 0;
        count_answer(status, (int64_t)due_us);
        if (!status) {
            close(fd);
            fd = connect_to_mired();
        }
    }
    close(fd);
    ZSTD_freeCCtx(zstd);
    for (int i = 0; i < MODELS; i++)
        text_fini(&models[i].json);
    return NULL;
}

/* --- what waits --- */

struct waiting {
    int64_t reports;
    double report_s, merge_s; /* ages of the oldest */
};

static struct waiting look(struct pg *pg)
{
    struct pg_rows *rows;
    struct pg_tx *tx;

    must(!pg_begin(&tx, pg, MIRE_PG_READ), "no transaction");
    must(!pg_query(
             &rows, tx,
             "SELECT (SELECT count(*) FROM inbox), (SELECT extract(epoch FROM coalesce(clock_timestamp() - "
             "min(queued_at), '0'))::float8"
             " FROM inbox), (SELECT extract(epoch FROM coalesce(clock_timestamp() - min(made_at), '0'))::float8 FROM"
             " (SELECT made_at FROM rollup_delta UNION ALL SELECT made_at FROM standing_delta) d)"),
         "no answer about what waits");
    struct waiting found = {pg_int(rows, 0, 0), pg_real(rows, 0, 1), pg_real(rows, 0, 2)};
    pg_rows_free(&rows);
    pg_end(&tx);
    return found;
}

/* Reports a second, of those that were stored. */
static double store_again(struct pg *pg)
{
    const long most = 20000;
    long count = taken < most ? taken : most;

    pgtest_run(pg, "CREATE TABLE again (LIKE report INCLUDING ALL)");
    int64_t begun_us = clock_wall_us();
    pgtest_run(pg, "INSERT INTO again SELECT * FROM report LIMIT 20000");
    return (double)count / ((double)(clock_wall_us() - begun_us) / 1e6);
}

static int64_t counted(struct pg *pg)
{
    struct pg_rows *rows;
    struct pg_tx *tx;

    must(!pg_begin(&tx, pg, MIRE_PG_READ), "no transaction");
    must(!pg_query(&rows, tx, "SELECT coalesce(sum(reports), 0)::bigint FROM issue_hour"), "no answer about counters");
    int64_t count = pg_int(rows, 0, 0);
    pg_rows_free(&rows);
    pg_end(&tx);
    return count;
}

static double answer_ms(double share)
{
    long all = 0, seen = 0;

    for (int i = 0; i < BUCKETS; i++)
        all += answers[i];
    for (int i = 0; i < BUCKETS; i++)
        if ((double)(seen += answers[i]) >= share * (double)all)
            return i;
    return BUCKETS;
}

static void make_key(void)
{
    char command[256];

    snprintf(command, sizeof command, MIRE_BINARY_DIR "/server/mire key create a --scope ingest --data-dir %s",
             mired.dir);
    FILE *out = popen(command, "r");
    must(out && fscanf(out, "%63s", key) == 1 && !pclose(out), "no key");
}

int main(int argc, char **argv)
{
    pthread_t senders[SENDERS];
    struct waiting most = {0}, end;

    rate = argc > 1 ? strtod(argv[1], NULL) : rate;
    seconds = argc > 2 ? strtol(argv[2], NULL, 10) : seconds;
    kind = argc > 3 && !strcmp(argv[3], "memory") ? LAG_MEMORY : kind;
    must(rate > 0 && seconds > 0, "a rate and a number of seconds above 0 are expected");
    snprintf(mired.dir, sizeof mired.dir, "/tmp/mire-sustained-%d", (int)getpid());
    must(!miredtest_start(&mired, (const char *const[]){"--log-level", "warn", "--enough-per-issue-day", "0", NULL}),
         "mired does not start");
    make_key();
    struct pg *pg = miredtest_pg(&mired);

    seed = test_seed();
    begin_us = clock_wall_us() + BEGIN_S * 1000000;
    for (uintptr_t i = 0; i < SENDERS; i++)
        must(!pthread_create(&senders[i], NULL, send_reports, (void *)i), "no thread");
    sleep(BEGIN_S);
    for (long second = 0; second < seconds; second++) {
        sleep(1);
        struct waiting now = look(pg);
        most.reports = now.reports > most.reports ? now.reports : most.reports;
        most.report_s = now.report_s > most.report_s ? now.report_s : most.report_s;
        most.merge_s = now.merge_s > most.merge_s ? now.merge_s : most.merge_s;
    }
    for (int i = 0; i < SENDERS; i++)
        pthread_join(senders[i], NULL);
    double took_s = (double)(clock_wall_us() - begin_us) / 1e6;
    for (int i = 0; (end = look(pg)).reports && i < SETTLE_S; i++)
        sleep(1);

    printf("sustained_floor %.0f reports/s\n", store_again(pg));
    say("sustained_taken", (double)taken / took_s, "reports/s", ">=", 0.99 * rate);
    say("sustained_refused", (double)(refused + broken), "reports", "<=", 0);
    printf("sustained_answer_p95 %.0f ms\nsustained_waiting_most %lld reports\n", answer_ms(0.95),
           (long long)most.reports);
    say("sustained_seen_after", most.report_s, "s", "<=", 90);
    say("sustained_merged_after", most.merge_s, "s", "<=", 90);
    say("sustained_miscounted", (double)(labs(taken - counted(pg))), "reports", "<=", 0);
    pg_close(pg);
    miredtest_end(&mired, SIGTERM);
    miredtest_remove(&mired);
    return missed ? 1 : 0;
}
