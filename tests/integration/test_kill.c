/*
 * test_kill.c - SIGKILL of any process while reports arrive: each report that was answered 202 is in the table exactly
 * once.
 */
#include "support/httptest.h"
#include "support/miredtest.h"

#include "rows/key.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CLIENTS    6
#define PER_CLIENT 20000
#define BATCH      8 /* reports of each client before and after each kill */
#define STOPPED_MS 400
#define PATIENCE_S 30
#define PACE_US    10000 /* a client rests after each report, so that the workers can keep up on a small machine */

static struct miredtest mired;
static char key[MIRE_KEY_TEXT];

struct client {
    pthread_t thread;
    struct uuid *accepted;
    _Atomic size_t count; /* its own thread adds */
};

static struct client clients[CLIENTS];
static int running; /* clients whose threads are to be joined */
static _Atomic bool loading;
static _Atomic int port; /* of mired as it is now */

/* Send reports until stopped; a report that is not answered 202 is sent again under its id, as a device does. */
static void *send_reports(void *context)
{
    struct client *client = context;
    struct httptest *http = calloc(1, sizeof *http);
    struct uuid id;
    char body[4096];
    size_t len = 0;
    http->fd = -1;
    while (loading && client->count < PER_CLIENT) {
        if (http->fd < 0 && httptest_open(http, (uint16_t)port)) {
            usleep(20000);
            continue;
        }
        if (!len)
            len = miredtest_report(body, sizeof body, &id);
        if (httptest_report(http, key, body, len) == 202) {
            client->accepted[client->count] = id;
            client->count++;
            len = 0;
            usleep(PACE_US);
        }
    }
    httptest_close(http);
    free(http);
    return NULL;
}

static void end_load(void)
{
    loading = false;
    while (running > 0)
        pthread_join(clients[--running].thread, NULL);
}

/* Wait until each client's batch of reports is accepted; the patience is for each of them. */
static void await_batch(void)
{
    for (int i = 0; i < CLIENTS; i++) {
        size_t before = clients[i].count;
        for (int tick = 0; clients[i].count < before + BATCH && tick < PATIENCE_S * 50; tick++)
            usleep(20000);
        assert_true(clients[i].count >= before + BATCH);
    }
}

static void begin_load(void)
{
    loading = true;
    port = mired.port;
    while (running < CLIENTS) {
        struct client *client = &clients[running];
        client->count = 0;
        assert_int_equal(pthread_create(&client->thread, NULL, send_reports, client), 0);
        running++;
    }
    await_batch();
}

/*
 * Wait until the database accepts new connections and reports arrive again. Backends of a killed postmaster go on for a
 * moment, so arriving reports do not prove that there is a new one.
 */
static void await_recovery(void)
{
    struct pg *pg = miredtest_pg(&mired);
    int rc = pg_ping(pg);
    for (int tick = 0; rc && tick < PATIENCE_S * 50; tick++) {
        usleep(20000);
        rc = pg_ping(pg);
    }
    pg_close(pg);
    assert_int_equal(rc, 0);
    await_batch();
}

static void end_load_and_count(void)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    end_load();
    struct pg *pg = miredtest_pg(&mired);
    int rc = pg_begin(&tx, pg, MIRE_PG_READ);
    for (int tick = 0; rc && tick < PATIENCE_S * 50; tick++) { /* the postmaster may notice a killed backend only now */
        usleep(20000);
        rc = pg_begin(&tx, pg, MIRE_PG_READ);
    }
    assert_int_equal(rc, 0);
    for (int i = 0; i < CLIENTS; i++) {
        MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
        assert_int_equal(pg_query(&rows, tx,
                                  "SELECT count(*), count(DISTINCT report_id) FROM report WHERE report_id = ANY($1)",
                                  PG_UUIDS(clients[i].accepted, clients[i].count)),
                         0);
        assert_int_equal(pg_int(rows, 0, 0), clients[i].count);
        assert_int_equal(pg_int(rows, 0, 1), clients[i].count);
    }
    pg_end(&tx);
    pg_close(pg);
}

/* Every stored report was processed, and every counter counts it once. The inbox may take its time to become empty. */
static void assert_counted_once(void)
{
    struct pg *pg = miredtest_pg(&mired);
    int64_t waiting = -1, reports = -1, events = -2, by_version = -3, by_issue = -4;
    int64_t before = INT64_MAX;
    for (int tick = 0; waiting && tick < PATIENCE_S * 10; tick++) { /* the patience restarts while the inbox shrinks */
        MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
        MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
        usleep(100000);
        if (pg_begin(&tx, pg, MIRE_PG_READ) ||
            pg_query(&rows, tx,
                     "SELECT (SELECT count(*) FROM inbox), (SELECT count(*) FROM report), (SELECT count(*) FROM event),"
                     " (SELECT coalesce(sum(reports), 0)::int8 FROM version_hour),"
                     " (SELECT coalesce(sum(reports), 0)::int8 FROM issue_hour)"))
            continue;
        waiting = pg_int(rows, 0, 0);
        tick = waiting < before ? 0 : tick;
        before = waiting < before ? waiting : before;
        reports = pg_int(rows, 0, 1);
        events = pg_int(rows, 0, 2);
        by_version = pg_int(rows, 0, 3);
        by_issue = pg_int(rows, 0, 4);
    }
    pg_close(pg);
    assert_int_equal(waiting, 0);
    assert_int_equal(events, reports);
    assert_int_equal(by_version, reports);
    assert_int_equal(by_issue, reports);
}

static int start(void **state)
{
    (void)state;
    snprintf(mired.dir, sizeof mired.dir, "/tmp/mire-kill-%d", (int)getpid());
    for (int i = 0; i < CLIENTS; i++)
        clients[i].accepted = calloc(PER_CLIENT, sizeof *clients[i].accepted);
    if (miredtest_start(&mired, NULL))
        return -1;
    struct pg *pg = miredtest_pg(&mired);
    int rc = rows_key_create(key, pg, "kill", "ingest", "");
    pg_close(pg);
    return rc;
}

/* Also after a failed test: the next one begins with a serving mired and without clients. */
static int settle(void **state)
{
    (void)state;
    end_load();
    if (miredtest_postmaster(&mired) > 1)
        kill(miredtest_postmaster(&mired), SIGCONT);
    return mired.pid > 0 ? 0 : miredtest_start(&mired, NULL);
}

static int stop(void **state)
{
    (void)state;
    miredtest_end(&mired, SIGTERM);
    miredtest_remove(&mired);
    for (int i = 0; i < CLIENTS; i++)
        free(clients[i].accepted);
    return 0;
}

static void a_killed_backend_loses_nothing(void **state)
{
    (void)state;
    struct pg *pg = miredtest_pg(&mired);
    struct pg_tx *tx = NULL;
    struct pg_rows *rows = NULL;
    begin_load();
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_EACH), 0);
    assert_int_equal(pg_query(&rows, tx,
                              "SELECT pid FROM pg_stat_activity WHERE application_name = 'mired'"
                              " AND pid <> pg_backend_pid() ORDER BY state LIMIT 1"),
                     0);
    pid_t backend = pg_row_count(rows) ? (pid_t)pg_int(rows, 0, 0) : 0;
    pg_rows_free(&rows);
    pg_end(&tx);
    pg_close(pg);
    assert_true(backend > 1);
    assert_int_equal(kill(backend, SIGKILL), 0);
    await_recovery();
    end_load_and_count();
}

static void a_killed_postmaster_loses_nothing(void **state)
{
    (void)state;
    begin_load();
    pid_t postmaster = miredtest_postmaster(&mired);
    assert_true(postmaster > 1);
    assert_int_equal(kill(postmaster, SIGKILL), 0);
    await_recovery();
    end_load_and_count();
}

/* New connections wait, existing ones go on; afterwards everything goes on. */
static void a_stopped_postmaster_loses_nothing(void **state)
{
    (void)state;
    begin_load();
    pid_t postmaster = miredtest_postmaster(&mired);
    assert_true(postmaster > 1);
    assert_int_equal(kill(postmaster, SIGSTOP), 0);
    usleep(STOPPED_MS * 1000);
    assert_int_equal(kill(postmaster, SIGCONT), 0);
    await_recovery();
    end_load_and_count();
}

static void mired_ends_though_its_postmaster_is_stopped(void **state)
{
    (void)state;
    begin_load();
    pid_t postmaster = miredtest_postmaster(&mired);
    assert_int_equal(kill(postmaster, SIGSTOP), 0);
    int status = miredtest_end(&mired, SIGTERM);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_not_equal(kill(postmaster, 0), 0);
    assert_int_equal(miredtest_start(&mired, NULL), 0);
    port = mired.port;
    await_recovery();
    end_load_and_count();
}

static void nothing_was_counted_twice(void **state)
{
    (void)state;
    assert_counted_once();
}

static void a_killed_mired_loses_nothing_and_leaves_no_postmaster(void **state)
{
    (void)state;
    begin_load();
    pid_t postmaster = miredtest_postmaster(&mired);
    assert_true(postmaster > 1);
    assert_true(WIFSIGNALED(miredtest_end(&mired, SIGKILL)));
    for (int tick = 0; !kill(postmaster, 0) && tick < PATIENCE_S * 50; tick++)
        usleep(20000);
    assert_int_not_equal(kill(postmaster, 0), 0);
    assert_int_equal(miredtest_start(&mired, NULL), 0);
    port = mired.port;
    await_recovery();
    end_load_and_count();
}

static void a_mired_started_right_after_a_kill_waits_for_the_old_postmaster(void **state)
{
    (void)state;
    begin_load();
    miredtest_end(&mired, SIGKILL);
    assert_int_equal(miredtest_start(&mired, NULL), 0);
    port = mired.port;
    await_recovery();
    end_load_and_count();
}

static void a_stop_under_load_answers_what_it_took(void **state)
{
    (void)state;
    begin_load();
    int status = miredtest_end(&mired, SIGTERM);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(miredtest_postmaster(&mired), -1);
    assert_int_equal(miredtest_start(&mired, NULL), 0);
    port = mired.port;
    await_recovery();
    end_load_and_count();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_killed_backend_loses_nothing, settle),
        cmocka_unit_test_teardown(a_killed_postmaster_loses_nothing, settle),
        cmocka_unit_test_teardown(a_killed_mired_loses_nothing_and_leaves_no_postmaster, settle),
        cmocka_unit_test_teardown(a_mired_started_right_after_a_kill_waits_for_the_old_postmaster, settle),
        cmocka_unit_test_teardown(a_stopped_postmaster_loses_nothing, settle),
        cmocka_unit_test_teardown(mired_ends_though_its_postmaster_is_stopped, settle),
        cmocka_unit_test_teardown(a_stop_under_load_answers_what_it_took, settle),
        cmocka_unit_test(nothing_was_counted_twice),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
