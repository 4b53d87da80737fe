/*
 * test_wire.c - heads of requests: which are taken, and which are refused.
 */
#include "http/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BAD_BYTES (-1)
#define MORE      (-2)
#define ROOM      64

static struct wire_head head;
static struct http_pair headers[ROOM];
static char *bytes;

/* The outcome of a complete head: BAD_BYTES, MORE, or the result of wire_parse. */
static int take(const char *text, size_t len)
{
    const char *why = NULL;
    size_t seen = 0;
    free(bytes);
    bytes = malloc(len + 1); /* no NUL behind it: a read beyond the end is found */
    memcpy(bytes, text, len);
    enum wire_outcome found = wire_scan(&seen, bytes, len);
    if (found != MIRE_WIRE_WHOLE)
        return found == MIRE_WIRE_BAD ? BAD_BYTES : MORE;
    int status = wire_parse(&head, &why, headers, ROOM, bytes, seen);
    assert_true(!status == !why);
    return status;
}

#define TAKE(text) take(text, sizeof(text) - 1)
#define LINE       "GET / HTTP/1.1\r\n"
#define HOST       "Host: a\r\n"

static void a_good_head_is_cut_into_its_parts(void **state)
{
    (void)state;
    assert_int_equal(TAKE("PUT /a?b=c HTTP/1.1\r\nHost: a.b:80\r\nContent-Length:  12 \r\nX: \t\r\n\r\n"), 0);
    assert_string_equal(head.method, "PUT");
    assert_string_equal(head.target, "/a?b=c");
    assert_string_equal(head.host, "a.b:80");
    assert_true(head.has_length);
    assert_int_equal(head.length, 12);
    assert_int_equal(head.header_count, 3);
    assert_string_equal(head.headers[2].name, "X");
    assert_string_equal(head.headers[2].value, "");
    assert_false(head.is_last);
    assert_int_equal(TAKE(LINE HOST "Connection: keep-alive, Close\r\nExpect: 100-Continue\r\n\r\n"), 0);
    assert_true(head.is_last && head.is_expected);
    assert_int_equal(TAKE("GET / HTTP/1.0\r\n\r\n"), 0);
    assert_true(head.is_last);
    assert_null(head.host);
    assert_int_equal(TAKE(LINE "Host: [::1]:7117\r\nTransfer-Encoding: chunked\r\n\r\n"), 0);
    assert_true(head.is_chunked);
}

static void bytes_that_http_does_not_allow_are_refused_as_they_come(void **state)
{
    (void)state;
    assert_int_equal(TAKE("GET / HTTP/1.1\nHost: a\n\n"), BAD_BYTES);
    assert_int_equal(TAKE(LINE "Host: a\n\r\n"), BAD_BYTES);
    assert_int_equal(TAKE(LINE "Host: a\r\r\n\r\n"), BAD_BYTES);
    assert_int_equal(TAKE(LINE "Host: a\rX: b\r\n\r\n"), BAD_BYTES);
    assert_int_equal(TAKE("GET /\0 HTTP/1.1\r\n"), BAD_BYTES);
    assert_int_equal(TAKE(LINE "X: a\0b\r\n"), BAD_BYTES);
    assert_int_equal(TAKE(LINE "X: \x01\r\n"), BAD_BYTES);
    assert_int_equal(TAKE(LINE "X: \x7f\r\n"), BAD_BYTES);
    assert_int_equal(TAKE("\x16\x03\x01"), BAD_BYTES); /* the begin of TLS */
    assert_int_equal(TAKE("\r\n" LINE HOST "\r\n"), BAD_BYTES);
}

static void malformed_heads_are_400(void **state)
{
    (void)state;
    static const char *const bad[] = {
        LINE "\r\n",
        LINE HOST HOST "\r\n",
        LINE "Host: a\r\nhost: b\r\n\r\n",
        LINE "Host:\r\n\r\n",
        LINE "Host: a b\r\n\r\n",
        LINE "Host: a, b\r\n\r\n",
        LINE "Host: user@a\r\n\r\n",
        LINE "Host: a:80:80\r\n\r\n",
        LINE "Host: a:x\r\n\r\n",
        LINE "Host: a:123456\r\n\r\n",
        LINE "Host: :80\r\n\r\n",
        LINE "Host: [::1\r\n\r\n",
        LINE "Host: []\r\n\r\n",
        LINE "Host: [::1]x\r\n\r\n",
        LINE HOST "Authorization: Bearer a\r\nAUTHORIZATION: Bearer a\r\n\r\n",
        LINE HOST "Content-Type: a/b\r\nX: y\r\nContent-Type: a/b\r\n\r\n",
        "GET /a#b HTTP/1.1\r\n" HOST "\r\n",
        LINE HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
        LINE HOST "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        LINE HOST "Content-Length: 1, 1\r\n\r\n",
        LINE HOST "Content-Length: +1\r\n\r\n",
        LINE HOST "Content-Length: 0x1\r\n\r\n",
        LINE HOST "Content-Length: -1\r\n\r\n",
        LINE HOST "Content-Length: \r\n\r\n",
        LINE HOST "Content-Length: 99999999999999999999\r\n\r\n",
        LINE HOST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        LINE HOST "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        LINE HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        LINE HOST "Transfer-Encoding: chunked\r\ntransfer-encoding: gzip\r\n\r\n",
        LINE HOST "Transfer-Encoding : chunked\r\n\r\n",
        LINE HOST " folded: a\r\n\r\n",
        LINE HOST "X: a\r\n\tb\r\n\r\n",
        LINE HOST "X : a\r\n\r\n",
        LINE HOST "X\r\n\r\n",
        LINE HOST ": a\r\n\r\n",
        LINE HOST "X(: a\r\n\r\n",
        "GET / HTTP/1.2\r\n" HOST "\r\n",
        "GET / HTTP/2.0\r\n" HOST "\r\n",
        "GET / http/1.1\r\n" HOST "\r\n",
        "GET / HTTP/1.10\r\n" HOST "\r\n",
        "GET / HTTP/1.1 \r\n" HOST "\r\n",
        "GET  / HTTP/1.1\r\n" HOST "\r\n",
        "GET /  HTTP/1.1\r\n" HOST "\r\n",
        "GET\t/ HTTP/1.1\r\n" HOST "\r\n",
        "GET /\r\n" HOST "\r\n",
        "GET / a HTTP/1.1\r\n" HOST "\r\n",
        "GET /\xc3\xa9 HTTP/1.1\r\n" HOST "\r\n",
        "G(T / HTTP/1.1\r\n" HOST "\r\n",
        " GET / HTTP/1.1\r\n" HOST "\r\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int status = take(bad[i], strlen(bad[i]));
        if (status != 400)
            fail_msg("%d for %s", status, bad[i]);
    }
    static const char *const codings[] = {
        "gzip", "gzip, chunked", "chunked, chunked", "chunked, gzip", "identity",     "chunked;q=1",
        "",     "chunked,",      "xchunked",         "\"chunked\"",   "chunked\tgzip"};
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
        char text[128];
        snprintf(text, sizeof text, LINE HOST "Transfer-Encoding: %s\r\n\r\n", codings[i]);
        int status = take(text, strlen(text));
        if (status != 501)
            fail_msg("%d for %s", status, text);
    }
    assert_int_equal(TAKE(LINE HOST "Expect: 200-ok\r\n\r\n"), 417);
}

static void a_65th_header_is_431(void **state)
{
    (void)state;
    char text[4096] = LINE HOST;
    for (int i = 1; i < ROOM; i++)
        strcat(text, "X: y\r\n");
    size_t len = strlen(text);
    strcat(text, "\r\n");
    assert_int_equal(take(text, strlen(text)), 0);
    strcpy(text + len, "X: y\r\n\r\n");
    assert_int_equal(take(text, strlen(text)), 431);
}

/* However it is cut into pieces, the end is found at the same place, and not before it has come. */
static void a_head_may_come_in_pieces(void **state)
{
    (void)state;
    static const char text[] = LINE HOST "X: y\r\n\r\nGET /next";
    size_t whole = strlen(text) - strlen("GET /next");
    for (size_t step = 1; step < sizeof text; step++) {
        size_t seen = 0;
        enum wire_outcome found = MIRE_WIRE_MORE;
        for (size_t len = step; found == MIRE_WIRE_MORE && len < sizeof text + step; len += step) {
            size_t come = len < sizeof text - 1 ? len : sizeof text - 1;
            found = wire_scan(&seen, text, come);
            assert_int_equal(found == MIRE_WIRE_WHOLE, come >= whole);
        }
        assert_int_equal(seen, whole);
    }
    free(bytes);
    bytes = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_head_is_cut_into_its_parts),
        cmocka_unit_test(bytes_that_http_does_not_allow_are_refused_as_they_come),
        cmocka_unit_test(malformed_heads_are_400),
        cmocka_unit_test(a_65th_header_is_431),
        cmocka_unit_test(a_head_may_come_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
