/*
 * test_roles.c - `mired http` beside `mired work` on one database, and a client's view while the database is away.
 */
#include "support/httptest.h"
#include "support/miredtest.h"
#include "support/pgtest.h"

#include "rows/key.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct pg *pg;
static char key[MIRE_KEY_TEXT];
static struct miredtest http_role = {.role = "http"}, work_role = {.role = "work"};

static int start(void **state)
{
    if (pgtest_start(state))
        return -1;
    pg = pgtest_database(4);
    snprintf(http_role.dir, sizeof http_role.dir, "/tmp/mire-roles-h-%d", (int)getpid());
    snprintf(work_role.dir, sizeof work_role.dir, "/tmp/mire-roles-w-%d", (int)getpid());
    return rows_key_create(key, pg, "roles", "ingest", "");
}

static int stop(void **state)
{
    miredtest_end(&http_role, SIGTERM);
    miredtest_end(&work_role, SIGTERM);
    miredtest_remove(&http_role);
    miredtest_remove(&work_role);
    pg_close(pg);
    return pgtest_stop(state);
}

static void migrating_by_hand_ends_and_finds_nothing_the_second_time(void **state)
{
    (void)state;
    struct miredtest migrate = {.role = "migrate"};
    const char *const flags[] = {"--database-url", pgtest_database_conninfo(), NULL};
    int64_t before = pgtest_number(pg, "SELECT count(*) FROM schema_migration");
    snprintf(migrate.dir, sizeof migrate.dir, "/tmp/mire-roles-m-%d", (int)getpid());
    for (int i = 0; i < 2; i++)
        assert_int_equal(miredtest_run(&migrate, flags), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM schema_migration"), before);
    miredtest_remove(&migrate);
}

static void what_http_takes_in_work_works_on(void **state)
{
    (void)state;
    struct httptest http;
    struct uuid id;
    char body[4096];
    const char *const flags[] = {"--database-url", pgtest_database_conninfo(), NULL};
    assert_int_equal(miredtest_start(&http_role, flags), 0);
    assert_int_equal(httptest_open(&http, http_role.port), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(httptest_report(&http, key, body, miredtest_report(body, sizeof body, &id)), 202);
    httptest_close(&http);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM inbox"), 3);
    assert_int_equal(miredtest_spawn(&work_role, flags), 0);
    for (int tick = 0; pgtest_number(pg, "SELECT count(*) FROM inbox") && tick < 5000; tick++)
        usleep(20000);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM inbox"), 0);
    assert_int_equal(pgtest_number(pg, "SELECT (SELECT count(*) FROM event) + (SELECT count(*) FROM dead_letter)"), 3);
}

static void while_the_database_is_away_the_answer_is_503(void **state)
{
    (void)state;
    struct httptest http;
    struct uuid id;
    char body[4096];
    pgtest_end_server();
    assert_int_equal(httptest_open(&http, http_role.port), 0);
    assert_int_equal(httptest_report(&http, key, body, miredtest_report(body, sizeof body, &id)), 503);
    assert_non_null(strstr(http.headers, "Retry-After: "));
    int status = 200;
    for (int look = 0; status != 503 && look < 5000; look++, usleep(20000)) { /* the database is asked twice a second */
        if (status < 0) { /* an answer came too late for the test: its connection is of no more use */
            httptest_close(&http);
            assert_int_equal(httptest_open(&http, http_role.port), 0);
        }
        status = httptest_send(&http, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", NULL, 0);
    }
    assert_int_equal(status, 503);
    assert_int_equal(httptest_send(&http, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n", NULL, 0), 200);
    assert_non_null(strstr(http.body, "mire_database_up 0"));
    httptest_close(&http);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(migrating_by_hand_ends_and_finds_nothing_the_second_time),
        cmocka_unit_test(what_http_takes_in_work_works_on),
        cmocka_unit_test(while_the_database_is_away_the_answer_is_503),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
