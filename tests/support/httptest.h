/*
 * httptest.h - a plain HTTP/1.1 client over one kept-alive connection.
 */
#ifndef MIRE_TESTS_HTTPTEST_H
#define MIRE_TESTS_HTTPTEST_H

#include <stddef.h>
#include <stdint.h>

struct httptest {
    int fd; /* -1: not connected */
    uint16_t port;
    int status;
    char headers[4096]; /* headers of the last response, NUL-terminated */
    char body[65536];   /* first bytes of its body */
};

/* Connect to 127.0.0.1. Returns 0 or -1. */
int httptest_open(struct httptest *http, uint16_t port);
void httptest_close(struct httptest *http);

/*
 * Send one request and read its response. `head` is the request line and headers, each ending in CRLF, without
 * Content-Length and the empty line. A body of `len` bytes follows; NULL: no body and no Content-Length.
 *
 * Returns the status, or -1 if the connection broke.
 */
int httptest_send(struct httptest *http, const char *head, const void *body, size_t len);

/* POST /api/v1/reports with a key and Content-Type. Returns the status or -1. */
int httptest_report(struct httptest *http, const char *key, const void *body, size_t len);

#endif
