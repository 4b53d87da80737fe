/*
 * test_door.c - mired's door from outside: every refusal, and that a report comes in once.
 */
#include "support/httptest.h"
#include "support/miredtest.h"

#include "rows/key.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct miredtest mired;
static struct pg *pg;
static char key[MIRE_KEY_TEXT];
static struct httptest http;

static int start(void **state)
{
    (void)state;
    snprintf(mired.dir, sizeof mired.dir, "/tmp/mire-door-%d", (int)getpid());
    if (miredtest_start(&mired, NULL))
        return -1;
    pg = miredtest_pg(&mired);
    return rows_key_create(key, pg, "door", "ingest", "");
}

static int stop(void **state)
{
    (void)state;
    pg_close(pg);
    int status = miredtest_end(&mired, SIGTERM);
    int rc = !WIFEXITED(status) || WEXITSTATUS(status) != 0 || miredtest_postmaster(&mired) != -1;
    miredtest_remove(&mired);
    return rc;
}

static int connected(void **state)
{
    (void)state;
    return httptest_open(&http, mired.port);
}

static int closed(void **state)
{
    (void)state;
    httptest_close(&http);
    return 0;
}

static int64_t count(const char *table, const struct uuid *id)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE report_id = $1", table);
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
    assert_int_equal(pg_query(&rows, tx, sql, PG_UUID(id)), 0);
    return pg_int(rows, 0, 0);
}

static void a_report_comes_in_once_however_often_it_is_sent(void **state)
{
    (void)state;
    struct uuid id;
    char body[4096], text[MIRE_UUID_TEXT];
    size_t len = miredtest_report(body, sizeof body, &id);
    uuid_format(text, &id);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(httptest_report(&http, key, body, len), 202);
        assert_non_null(strstr(http.body, text));
    }
    assert_int_equal(count("report", &id), 1);
}

static void an_unknown_key_is_401(void **state)
{
    (void)state;
    char other[MIRE_KEY_TEXT];
    key_make(other);
    assert_int_equal(httptest_report(&http, other, "{}", 2), 401);
    assert_non_null(strstr(http.headers, "WWW-Authenticate: Bearer"));
    assert_non_null(strstr(http.body, "\"request_id\":\""));
    assert_int_equal(httptest_open(&http, mired.port), 0); /* refused before its body, which closes the connection */
    assert_int_equal(httptest_report(&http, "nonsense", "{}", 2), 401);
}

static void a_body_that_is_no_json_is_400_with_its_position(void **state)
{
    (void)state;
    assert_int_equal(httptest_report(&http, key, "{\"a\":", 5), 400);
    assert_non_null(strstr(http.body, "\"position\":5"));
}

static void a_body_that_breaks_the_schema_is_422_with_the_path(void **state)
{
    (void)state;
    struct uuid id;
    char body[4096];
    miredtest_report(body, sizeof body, &id);
    memcpy(strstr(body, "\"id\""), "\"iD\"", 4);
    assert_int_equal(httptest_report(&http, key, body, strlen(body)), 422);
    assert_non_null(strstr(http.body, "\"path\":\""));
}

static void bad_zstd_is_400(void **state)
{
    (void)state;
    char head[512];
    snprintf(head, sizeof head,
             "POST /api/v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Encoding: "
             "zstd\r\n"
             "Authorization: Bearer %s\r\n",
             key);
    assert_int_equal(httptest_send(&http, head, "not zstd", 8), 400);
}

static void zstd_that_is_not_announced_is_400_with_a_hint(void **state)
{
    (void)state;
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x02, 0x11, 0x00, 0x00, '{', '}'};
    assert_int_equal(httptest_report(&http, key, frame, sizeof frame), 400);
    assert_non_null(strstr(http.body, "send Content-Encoding: zstd"));
}

/* The answer's status to a report's head with these lines in it, and no body. */
static int ask_with(const char *lines)
{
    char head[1024];
    snprintf(head, sizeof head, "POST /api/v1/reports HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s",
             key, lines);
    httptest_close(&http);
    assert_int_equal(httptest_open(&http, mired.port), 0);
    return httptest_send(&http, head, NULL, 0);
}

static void an_unknown_encoding_is_415(void **state)
{
    (void)state;
    assert_int_equal(ask_with("Content-Encoding: lzma\r\nContent-Length: 2\r\n"), 415);
}

static void an_oversized_body_is_413(void **state)
{
    (void)state;
    size_t len = (4u << 20) + 1;
    char *large = calloc(1, len);
    assert_int_equal(httptest_report(&http, key, large, len), 413);
    free(large);
}

static void a_body_without_length_is_411(void **state)
{
    (void)state;
    assert_int_equal(ask_with(""), 411);
    assert_int_equal(ask_with("Transfer-Encoding: gzip, chunked\r\n"), 501);
}

static void a_wrong_method_or_place_is_told(void **state)
{
    (void)state;
    assert_int_equal(httptest_send(&http, "GET /api/v1/reports HTTP/1.1\r\nHost: localhost\r\n", NULL, 0), 405);
    assert_non_null(strstr(http.headers, "Allow: POST"));
    assert_int_equal(httptest_send(&http, "GET /api/v1/nothing HTTP/1.1\r\nHost: localhost\r\n", NULL, 0), 404);
    assert_non_null(strstr(http.headers, "application/problem+json"));
    assert_int_equal(httptest_send(&http, "GET /a/../../etc HTTP/1.1\r\nHost: localhost\r\n", NULL, 0), 400);
}

static void a_request_id_is_kept_if_it_is_sane(void **state)
{
    (void)state;
    assert_int_equal(
        httptest_send(&http, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: mine-1\r\n", NULL, 0), 200);
    assert_non_null(strstr(http.headers, "X-Request-Id: mine-1\r\n"));
    assert_int_equal(
        httptest_send(&http, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: a\"b\r\n", NULL, 0), 200);
    assert_null(strstr(http.headers, "a\"b"));
}

static void head_answers_without_a_body(void **state)
{
    (void)state;
    assert_int_equal(httptest_send(&http, "HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n", NULL, 0), 200);
    assert_null(strstr(http.headers, "Content-Length: 0"));
    assert_int_equal(httptest_send(&http, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", NULL, 0), 200);
    assert_non_null(strstr(http.body, "\"status\":\"ok\""));
}

static void metrics_tell_what_was_done(void **state)
{
    (void)state;
    assert_int_equal(httptest_send(&http, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n", NULL, 0), 200);
    assert_non_null(
        strstr(http.body, "mire_http_requests_total{method=\"POST\",route=\"/api/v1/reports\",status=\"202\"}"));
    assert_non_null(strstr(http.body, "mire_ingest_store_seconds_count"));
    assert_non_null(strstr(http.body, "mire_database_up 1"));
}

static void a_second_mired_is_kept_off_the_data_directory(void **state)
{
    (void)state;
    struct miredtest second = mired;
    const char *const flags[] = {"--port-file", "/tmp/mire-door-second.port", NULL};
    assert_int_equal(miredtest_start(&second, flags), -1);
    assert_int_equal(httptest_send(&http, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", NULL, 0), 200);
}

#define CONNECTED(test) cmocka_unit_test_setup_teardown(test, connected, closed)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONNECTED(a_report_comes_in_once_however_often_it_is_sent),
        CONNECTED(an_unknown_key_is_401),
        CONNECTED(a_body_that_is_no_json_is_400_with_its_position),
        CONNECTED(a_body_that_breaks_the_schema_is_422_with_the_path),
        CONNECTED(bad_zstd_is_400),
        CONNECTED(zstd_that_is_not_announced_is_400_with_a_hint),
        CONNECTED(an_unknown_encoding_is_415),
        CONNECTED(an_oversized_body_is_413),
        CONNECTED(a_body_without_length_is_411),
        CONNECTED(a_wrong_method_or_place_is_told),
        CONNECTED(a_request_id_is_kept_if_it_is_sane),
        CONNECTED(head_answers_without_a_body),
        CONNECTED(metrics_tell_what_was_done),
        CONNECTED(a_second_mired_is_kept_off_the_data_directory),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
