/*
 * httptest.c - a plain HTTP/1.1 client; responses must have Content-Length.
 */
#include "support/httptest.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

int httptest_open(struct httptest *http, uint16_t port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct timeval patience = {20, 0};
    int on = 1;
    http->port = port;
    http->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(http->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(http->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!connect(http->fd, (struct sockaddr *)&name, sizeof name))
        return 0;
    httptest_close(http);
    return -1;
}

void httptest_close(struct httptest *http)
{
    if (http->fd >= 0)
        close(http->fd);
    http->fd = -1;
}

static int send_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len) {
        ssize_t sent = send(fd, at, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return -1;
        at += sent;
        len -= (size_t)sent;
    }
    return 0;
}

/* Read up to the empty line, byte by byte, since the body follows. */
static int read_headers(struct httptest *http)
{
    size_t len = 0;
    while (len < sizeof http->headers - 1) {
        if (recv(http->fd, &http->headers[len], 1, 0) != 1)
            return -1;
        http->headers[++len] = '\0';
        if (len >= 4 && !memcmp(&http->headers[len - 4], "\r\n\r\n", 4))
            return 0;
    }
    return -1;
}

static int read_body(struct httptest *http, int has_body)
{
    const char *length = strcasestr(http->headers, "\r\nContent-Length:");
    size_t len = length && has_body ? strtoul(length + 17, NULL, 10) : 0;
    size_t got = 0;
    while (got < len && got < sizeof http->body - 1) {
        ssize_t step = recv(http->fd, http->body + got,
                            len - got < sizeof http->body - 1 - got ? len - got : sizeof http->body - 1 - got, 0);
        if (step <= 0)
            return -1;
        got += (size_t)step;
    }
    http->body[got] = '\0';
    return 0;
}

int httptest_send(struct httptest *http, const char *head, const void *body, size_t len)
{
    char end[64] = "\r\n";
    if (body)
        snprintf(end, sizeof end, "Content-Length: %zu\r\n\r\n", len);
    http->status = -1;
    if (http->fd < 0 || send_all(http->fd, head, strlen(head)) || send_all(http->fd, end, strlen(end)) ||
        (body && send_all(http->fd, body, len)) || read_headers(http) ||
        read_body(http, strncmp(head, "HEAD", 4) != 0)) {
        httptest_close(http);
        return -1;
    }
    if (sscanf(http->headers, "HTTP/1.1 %d", &http->status) != 1)
        return -1;
    if (strcasestr(http->headers, "\r\nConnection: close"))
        httptest_close(http);
    return http->status;
}

int httptest_report(struct httptest *http, const char *key, const void *body, size_t len)
{
    char head[512];
    snprintf(head, sizeof head,
             "POST /api/v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
             "Authorization: Bearer %s\r\n",
             key);
    return httptest_send(http, head, body, len);
}
