/*
 * test_hostile.c - mired with clients that are slow, greedy, broken or gone: raw sockets, the responses and their
 * times.
 */
#include "support/httptest.h"
#include "support/miredtest.h"

#include "base/clock.h"
#include "rows/key.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND     UINT64_C(1000000000)
#define UNKNOWN    "mk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define PATIENCE_S 50 /* less than the defaults of idle_s and request_s, and much more than what is set here */
#define CONNECTED  32 /* connections_max of the mired under test */

static struct miredtest mired;
static struct pg *pg;
static char key[MIRE_KEY_TEXT];
static struct httptest http = {.fd = -1};

static int start(void **state)
{
    (void)state;
    const char *const flags[] = {"--idle-s", "2", "--connections-max", "32", "--bodies-max-mb", "8", "--headers-s",
                                 "2",        NULL};
    snprintf(mired.dir, sizeof mired.dir, "/tmp/mire-hostile-%d", (int)getpid());
    if (miredtest_start(&mired, flags))
        return -1;
    pg = miredtest_pg(&mired);
    return rows_key_create(key, pg, "hostile", "ingest", "");
}

static int stop(void **state)
{
    (void)state;
    pg_close(pg);
    int status = miredtest_end(&mired, SIGTERM);
    miredtest_remove(&mired);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
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

static void say(const char *text)
{
    assert_int_equal(send(http.fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Read until the server closes or is silent for `silence_ms`. Returns the time that took. */
static uint64_t listen_to(char *out, size_t room, int silence_ms)
{
    struct timeval patience = {silence_ms / 1000, silence_ms % 1000 * 1000};
    uint64_t begun = clock_mono_ns();
    size_t len = 0;
    ssize_t got = 1;
    setsockopt(http.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while (got > 0 && len < room - 1) {
        got = recv(http.fd, out + len, room - 1 - len, 0);
        len += got > 0 ? (size_t)got : 0;
    }
    out[len] = '\0';
    return clock_mono_ns() - begun;
}

static void report_head(char out[512], const char *token, const char *more)
{
    snprintf(out, 512, "POST /api/v1/reports HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n", token,
             more);
}

/* Headers without a body get this status at once, and the connection is closed. */
static void assert_refused_at_once(const char *token, const char *more, const char *status)
{
    char head[512], answer[4096];
    httptest_close(&http);
    assert_int_equal(httptest_open(&http, mired.port), 0);
    report_head(head, token, more);
    say(head);
    assert_true(listen_to(answer, sizeof answer, 1500) < SECOND);
    assert_memory_equal(answer, status, strlen(status));
    assert_non_null(strcasestr(answer, "\r\nConnection: close"));
}

static void headers_alone_are_judged_before_the_body(void **state)
{
    (void)state;
    assert_refused_at_once("nonsense", "Content-Type: application/json\r\nContent-Length: 4000000\r\n", "HTTP/1.1 401");
    for (int i = 0; i < 2; i++) /* asks the database, then the cache */
        assert_refused_at_once(UNKNOWN, "Content-Type: application/json\r\nContent-Length: 4000000\r\n",
                               "HTTP/1.1 401");
    assert_refused_at_once(key, "Content-Type: application/json\r\nContent-Encoding: lzma\r\nContent-Length: 9\r\n",
                           "HTTP/1.1 415");
    assert_refused_at_once(key, "Content-Type: application/json\r\nContent-Length: 5000000000\r\n", "HTTP/1.1 413");
    assert_refused_at_once(key, "Content-Type: application/json\r\nTransfer-Encoding: gzip, chunked\r\n",
                           "HTTP/1.1 501");
}

static void who_asks_before_sending_is_answered_first(void **state)
{
    (void)state;
    struct uuid id;
    char head[512], more[128], answer[4096], body[4096];
    size_t len = miredtest_report(body, sizeof body, &id);
    snprintf(more, sizeof more, "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %zu\r\n",
             len);
    assert_refused_at_once(UNKNOWN, more, "HTTP/1.1 401");
    httptest_close(&http);
    assert_int_equal(httptest_open(&http, mired.port), 0);
    report_head(head, key, more);
    say(head);
    listen_to(answer, sizeof answer, 500);
    assert_string_equal(answer, "HTTP/1.1 100 Continue\r\n\r\n");
    say(body);
    listen_to(answer, sizeof answer, 500);
    assert_memory_equal(answer, "HTTP/1.1 202", 12);
}

/* The response must not be lost because the client was still sending. */
static void a_refused_client_that_keeps_sending_sees_why(void **state)
{
    (void)state;
    size_t len = 4u << 20;
    char *body = calloc(1, len);
    for (int i = 0; i < 10; i++) {
        if (http.fd < 0)
            assert_int_equal(httptest_open(&http, mired.port), 0);
        assert_int_equal(httptest_report(&http, UNKNOWN, body, len), 401);
    }
    free(body);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    struct uuid id;
    char head[512], more[128], body[4096], answer[8192];
    size_t len = miredtest_report(body, sizeof body, &id);
    snprintf(more, sizeof more, "Content-Type: application/json\r\nContent-Length: %zu\r\n", len);
    report_head(head, key, more);
    char *all = NULL;
    assert_true(asprintf(&all,
                         "%s%sGET /api/v1/nowhere HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost: "
                         "localhost\r\n\r\n",
                         head, body) > 0);
    say(all);
    free(all);
    listen_to(answer, sizeof answer, 800);
    const char *first = strstr(answer, "HTTP/1.1 202"), *second = strstr(answer, "HTTP/1.1 404"),
               *third = strstr(answer, "HTTP/1.1 200");
    assert_true(first == answer && second > first && third > second);
}

static void assert_answer(const char *text, size_t len, const char *status)
{
    char answer[4096];
    httptest_close(&http);
    assert_int_equal(httptest_open(&http, mired.port), 0);
    assert_int_equal(send(http.fd, text, len, MSG_NOSIGNAL), len);
    listen_to(answer, sizeof answer, 500);
    assert_memory_equal(answer, status, strlen(status));
}

static void broken_requests_are_named(void **state)
{
    (void)state;
    static const char nul[] = "GET /a\0b HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const char *const bad[] = {"/%00", "/%zz", "/..%2fetc/passwd", "/a/%2e%2e/b", "/?a=%0"};
    char *big = malloc(60000), head[128];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(head, sizeof head, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", bad[i]);
        assert_answer(head, strlen(head), "HTTP/1.1 400");
    }
    assert_answer(nul, sizeof nul - 1, "HTTP/1.1 400");
    int len = sprintf(big, "GET /?%9000d HTTP/1.1\r\nHost: localhost\r\n\r\n", 0);
    for (char *at = big + 6; *at == ' '; at++)
        *at = 'a';
    assert_answer(big, (size_t)len, "HTTP/1.1 414");
    len = sprintf(big, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: %040000d\r\n\r\n", 0);
    assert_answer(big, (size_t)len, "HTTP/1.1 431");
    static const char brew[] = "BREW /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_answer(brew, sizeof brew - 1, "HTTP/1.1 405");
    free(big);
}

static void a_silent_client_is_cut_off(void **state)
{
    (void)state;
    char head[512], answer[4096];
    say("POST /api/v1/rep");
    assert_true(listen_to(answer, sizeof answer, 9000) < 9 * SECOND); /* the default of headers_s is 10 */
    httptest_close(&http);
    assert_int_equal(httptest_open(&http, mired.port), 0);
    report_head(head, key, "Content-Type: application/json\r\nContent-Length: 9000\r\n");
    say(head);
    say("{\"");
    assert_true(listen_to(answer, sizeof answer, PATIENCE_S * 1000) < PATIENCE_S * SECOND);
}

static void a_body_that_drips_is_cut_off(void **state)
{
    (void)state;
    char head[512];
    uint64_t begun = clock_mono_ns();
    report_head(head, key, "Content-Type: application/json\r\nContent-Length: 9000\r\n");
    say(head);
    while (send(http.fd, " ", 1, MSG_NOSIGNAL) == 1 && clock_mono_ns() - begun < PATIENCE_S * SECOND)
        usleep(200000);
    assert_true(clock_mono_ns() - begun < PATIENCE_S * SECOND);
}

/* Announce a report of 4 MiB, wait for permission, and send `len` bytes. Returns the status; 100: none yet. */
static int send_part(struct httptest *client, size_t len)
{
    char head[512], answer[4096], *body = calloc(1, len + 1);
    struct timeval patience = {20, 0}, soon = {0, 100000};
    assert_int_equal(httptest_open(client, mired.port), 0);
    setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    report_head(head, key, "Expect: 100-continue\r\nContent-Length: 4194304\r\n");
    assert_int_equal(send(client->fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
    ssize_t got = recv(client->fd, answer, sizeof answer - 1, 0);
    assert_true(got > 12 && !memcmp(answer, "HTTP/1.1 100", 12));
    for (size_t sent = 0; sent < len;) {
        ssize_t step = send(client->fd, body + sent, len - sent, MSG_NOSIGNAL);
        if (step <= 0)
            break;
        sent += (size_t)step;
    }
    free(body);
    setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    got = recv(client->fd, answer, sizeof answer - 1, 0);
    answer[got > 0 ? got : 0] = '\0';
    return got > 12 ? atoi(answer + 9) : 100;
}

/* bodies_max_mb is 8 here. Bytes count when they arrive, so clients that only announce take no room from others. */
static void bodies_count_as_they_come(void **state)
{
    (void)state;
    struct httptest announced[8], full[3];
    int status = 0;
    for (int i = 0; i < 8; i++)
        assert_int_equal(send_part(&announced[i], 0), 100);
    for (int tick = 0; tick < 50 && status != 503; tick++) { /* a busy machine may cut off the first for idling */
        for (int i = 0; i < 3; i++)
            status = send_part(&full[i], (4u << 20) - 1); /* a little less than all, so that it stays open */
        for (int i = 0; i < 3; i++)
            httptest_close(&full[i]);
    }
    assert_int_equal(status, 503);
    for (int i = 0; i < 8; i++)
        httptest_close(&announced[i]);
    for (int tick = 0; tick < PATIENCE_S * 20; tick++) { /* leaving clients make room */
        struct httptest client;
        status = send_part(&client, (4u << 20) - 1);
        httptest_close(&client);
        if (status == 100)
            break;
        usleep(50000);
    }
    assert_int_equal(status, 100);
}

/* More clients than connections: the others are refused, leaving clients make room, and nothing breaks. */
static void too_many_clients_are_turned_away(void **state)
{
    (void)state;
    struct httptest *many = calloc(3 * CONNECTED, sizeof *many);
    for (int i = 0; i < 3 * CONNECTED; i++)
        assert_int_equal(httptest_open(&many[i], mired.port), 0);
    for (int i = 0; i < 3 * CONNECTED; i++)
        httptest_close(&many[i]);
    free(many);
    for (int tick = 0; tick < PATIENCE_S * 20; tick++) {
        httptest_close(&http);
        if (!httptest_open(&http, mired.port) &&
            httptest_send(&http, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", NULL, 0) == 200)
            break;
        usleep(50000);
    }
    assert_int_equal(http.status, 200);
}

static int64_t stored(void)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
    assert_int_equal(pg_query(&rows, tx, "SELECT count(*) FROM report"), 0);
    return pg_int(rows, 0, 0);
}

/* Clients that hang up while their report is being stored: the reports stay, and no memory leaks. */
static void a_client_that_left_does_no_harm(void **state)
{
    (void)state;
    int64_t before = stored();
    for (int i = 0; i < 50; i++) {
        struct uuid id;
        char head[512], more[128], body[4096];
        size_t len = miredtest_report(body, sizeof body, &id);
        snprintf(more, sizeof more, "Content-Type: application/json\r\nContent-Length: %zu\r\n", len);
        report_head(head, key, more);
        say(head);
        say(body);
        struct linger reset = {1, 0};
        if (i % 2)
            setsockopt(http.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        usleep(i % 3 * 500u);
        httptest_close(&http);
        assert_int_equal(httptest_open(&http, mired.port), 0);
    }
    assert_int_equal(httptest_send(&http, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n", NULL, 0), 200);
    for (int tick = 0; !strstr(http.body, "\nmire_http_bodies_bytes 0\n") && tick < PATIENCE_S * 20; tick++) {
        usleep(50000);
        assert_int_equal(httptest_send(&http, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n", NULL, 0), 200);
    }
    assert_non_null(strstr(http.body, "\nmire_http_bodies_bytes 0\n"));
    assert_true(stored() >= before + 25);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, connected, closed)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(headers_alone_are_judged_before_the_body),
        CASE(who_asks_before_sending_is_answered_first),
        CASE(a_refused_client_that_keeps_sending_sees_why),
        CASE(pipelined_requests_are_answered_in_order),
        CASE(broken_requests_are_named),
        CASE(a_silent_client_is_cut_off),
        CASE(a_body_that_drips_is_cut_off),
        CASE(bodies_count_as_they_come),
        CASE(too_many_clients_are_turned_away),
        CASE(a_client_that_left_does_no_harm),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
