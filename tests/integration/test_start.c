/*
 * test_start.c - mired listens before its database answers, says so, and becomes healthy by itself.
 */
#include "support/httptest.h"
#include "support/miredtest.h"
#include "support/pgtest.h"

#include "base/clock.h"
#include "rows/key.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_S 60

static struct miredtest mired;
static char key[MIRE_KEY_TEXT] = "mk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

static int setup(void **state)
{
    static int count;
    (void)state;
    mired = (struct miredtest){.pid = -1};
    snprintf(mired.dir, sizeof mired.dir, "/tmp/mire-start-%d-%d", (int)getpid(), ++count);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    miredtest_end(&mired, SIGTERM);
    miredtest_remove(&mired);
    return 0;
}

static int get(struct httptest *http, const char *path)
{
    char head[128];
    snprintf(head, sizeof head, "GET %s HTTP/1.1\r\nHost: localhost\r\n", path);
    if (http->fd < 0)
        assert_int_equal(httptest_open(http, mired.port), 0);
    return httptest_send(http, head, NULL, 0);
}

static int report(struct httptest *http)
{
    struct uuid id;
    char body[4096];
    if (http->fd < 0)
        assert_int_equal(httptest_open(http, mired.port), 0);
    return httptest_report(http, key, body, miredtest_report(body, sizeof body, &id));
}

static void assert_waits(struct httptest *http)
{
    assert_int_equal(get(http, "/healthz"), 503);
    assert_int_equal(report(http), 503);
    assert_non_null(strstr(http->headers, "Retry-After: "));
    assert_int_equal(get(http, "/api/v1/apps"), 503);
    assert_int_equal(get(http, "/metrics"), 200);
    assert_non_null(strstr(http->body, "mire_database_up 0"));
}

static void await_health(struct httptest *http)
{
    for (int tick = 0; get(http, "/healthz") != 200 && tick < PATIENCE_S * 50; tick++)
        usleep(20000);
    assert_int_equal(http->status, 200);
}

/* SIGTERM ends it with status 0, and not only when what it waits for comes: that would be never. */
static void assert_ends(void)
{
    uint64_t begun = clock_mono_ns();
    int status = miredtest_end(&mired, SIGTERM);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(clock_mono_ns() - begun < PATIENCE_S * UINT64_C(1000000000));
}

static void an_external_database_may_come_later(void **state)
{
    struct httptest http = {.fd = -1};
    char url[96], page[96];
    snprintf(url, sizeof url, "host=/tmp/mire-pg-%d user=mire dbname=postgres", (int)getpid());
    mkdir(mired.dir, 0755);
    snprintf(page, sizeof page, "%s/index.html", mired.dir);
    FILE *file = fopen(page, "w");
    assert_non_null(file);
    fputs("<!doctype html><title>Mire</title>", file);
    fclose(file);
    const char *const flags[] = {"--database-url", url, "--web-dir", mired.dir, NULL};
    assert_int_equal(miredtest_spawn(&mired, flags), 0);
    assert_int_equal(miredtest_listening(&mired), 0);
    assert_waits(&http);
    assert_int_equal(get(&http, "/"), 200);
    assert_non_null(strstr(http.body, "<title>Mire</title>"));
    usleep(1500000);
    assert_waits(&http);
    assert_int_equal(pgtest_start(state), 0);
    await_health(&http);
    struct pg *pg = NULL;
    struct pg_options options = {.conninfo = url, .connections = 1, .wait_ms = 5000};
    assert_int_equal(pg_open(&pg, &options), 0);
    assert_int_equal(rows_key_create(key, pg, "start", "ingest", ""), 0);
    pg_close(pg);
    assert_int_equal(report(&http), 202);
    httptest_close(&http);
    assert_ends();
}

/* Uses the PostgreSQL server of the test before. */
static void migrations_wait_for_their_turn(void **state)
{
    (void)state;
    struct httptest http = {.fd = -1};
    struct pg *pg = pgtest_database(1);
    struct pg_tx *tx = NULL;
    const char *const flags[] = {"--database-url", pgtest_database_conninfo(), NULL};
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_query(NULL, tx, "SELECT pg_advisory_xact_lock(7117, 1)"), 0);
    assert_int_equal(miredtest_spawn(&mired, flags), 0);
    assert_int_equal(miredtest_listening(&mired), 0);
    usleep(500000);
    assert_waits(&http);
    assert_int_equal(pg_commit(&tx), 0);
    await_health(&http);
    pg_close(pg);
    httptest_close(&http);
    assert_ends();
}

static void a_stop_while_migrations_wait_is_prompt(void **state)
{
    (void)state;
    struct pg *pg = pgtest_database(1);
    struct pg_tx *tx = NULL;
    const char *const flags[] = {"--database-url", pgtest_database_conninfo(), NULL};
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_query(NULL, tx, "SELECT pg_advisory_xact_lock(7117, 1)"), 0);
    assert_int_equal(miredtest_spawn(&mired, flags), 0);
    assert_int_equal(miredtest_listening(&mired), 0);
    usleep(300000);
    assert_ends();
    pg_end(&tx);
    pg_close(pg);
}

static void a_stop_while_the_database_is_away_is_prompt(void **state)
{
    (void)state;
    const char *const flags[] = {"--database-url", "host=/tmp/mire-nobody-listens-here", NULL};
    assert_int_equal(miredtest_spawn(&mired, flags), 0);
    assert_int_equal(miredtest_listening(&mired), 0);
    usleep(300000);
    assert_ends();
}

/* Returns true if the command line of this process names the test's directory. */
static bool is_ours(const char *pid)
{
    char path[288], line[4096];
    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    FILE *file = fopen(path, "r");
    size_t len = file ? fread(line, 1, sizeof line, file) : 0;
    if (file)
        fclose(file);
    return memmem(line, len, mired.dir, strlen(mired.dir)) != NULL;
}

static int processes(void)
{
    int count = 0;
    DIR *proc = opendir("/proc");
    for (const struct dirent *entry; proc && (entry = readdir(proc));)
        count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && is_ours(entry->d_name);
    if (proc)
        closedir(proc);
    return count;
}

/* If it is stopped anywhere in its first start, no process is left, and the next start succeeds. */
static void a_stop_during_the_first_start_leaves_no_process(void **state)
{
    (void)state;
    struct httptest http = {.fd = -1};
    for (int round = 0; round < 4; round++) {
        char log_path[96];
        assert_int_equal(miredtest_spawn(&mired, NULL), 0);
        assert_int_equal(miredtest_listening(&mired), 0);
        usleep((useconds_t)round * 250000);
        assert_ends();
        assert_int_equal(processes(), 0);
        snprintf(log_path, sizeof log_path, "%s.log", mired.dir);
        unlink(log_path);
    }
    assert_int_equal(miredtest_spawn(&mired, NULL), 0);
    assert_int_equal(miredtest_listening(&mired), 0);
    await_health(&http);
    httptest_close(&http);
    assert_ends();
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_external_database_may_come_later),
        CASE(migrations_wait_for_their_turn),
        CASE(a_stop_while_migrations_wait_is_prompt),
        CASE(a_stop_while_the_database_is_away_is_prompt),
        CASE(a_stop_during_the_first_start_leaves_no_process),
    };
    return cmocka_run_group_tests(tests, NULL, pgtest_stop);
}
