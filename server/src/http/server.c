/*
 * server.c - libmicrohttpd's daemon: two epoll threads on one socket; started, quiesced, stopped.
 */
#include "http/inside.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/scope.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define NETWORK_THREADS  2
#define CONNECTION_BYTES (32 * 1024) /* libmicrohttpd zeroes it for each request: more costs time */

static int listen_on(int *fd_out, uint16_t *port_out, const char *address, uint16_t port)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    bool is_v6 = inet_pton(AF_INET6, address, &v6.sin6_addr) == 1;
    if (!is_v6 && inet_pton(AF_INET, address, &v4.sin_addr) != 1) {
        errno = EINVAL;
        return MIRE_FAULT_SYSTEM;
    }
    struct sockaddr *name = is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
    socklen_t len = is_v6 ? sizeof v6 : sizeof v4;
    int on = 1;
    int fd = socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return MIRE_FAULT_SYSTEM;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, name, len) || listen(fd, 1024) || getsockname(fd, name, &len)) {
        int error = errno;
        close(fd);
        errno = error;
        return MIRE_FAULT_SYSTEM;
    }
    *port_out = ntohs(is_v6 ? v6.sin6_port : v4.sin_port);
    *fd_out = fd;
    return 0;
}

static int start_daemon(struct http_server *server, int fd)
{
    const struct http_options *options = &server->options;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    server->daemon = MHD_start_daemon(flags, 0, NULL, NULL, exchange_go_on, server, MHD_OPTION_LISTEN_SOCKET, fd,
                                      MHD_OPTION_URI_LOG_CALLBACK, exchange_begin, server, MHD_OPTION_NOTIFY_COMPLETED,
                                      exchange_completed, server, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                      (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_LIMIT, options->connections_max,
                                      MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)options->idle_s,
                                      MHD_OPTION_THREAD_POOL_SIZE, (unsigned)NETWORK_THREADS, MHD_OPTION_END);
    return server->daemon ? 0 : MIRE_FAULT_SYSTEM;
}

static void server_free(struct http_server *server)
{
    free(server->counts);
    free(server);
}

static int start_handlers(struct http_server *server)
{
    int rc = handlers_start(&server->slow, 1);
    if (rc)
        return rc;
    rc = handlers_start(&server->handlers, server->options.handler_threads);
    if (rc)
        handlers_stop(&server->slow);
    return rc;
}

/* Those first that hand over to the slow one. */
static void stop_handlers(struct http_server *server)
{
    handlers_stop(&server->handlers);
    handlers_stop(&server->slow);
}

int http_start(struct http_server **out, const struct http_options *options)
{
    int fd = -1;
    struct http_server *server = calloc(1, sizeof *server);
    if (!server)
        return MIRE_FAULT_MEMORY;
    server->options = *options;
    for (size_t t = 0; t < options->table_count; t++)
        server->route_count += options->tables[t].count;
    server->counts = calloc(server->route_count + 1, sizeof *server->counts);
    int rc = server->counts ? start_handlers(server) : MIRE_FAULT_MEMORY;
    if (rc) {
        server_free(server);
        return rc;
    }
    rc = drain_start(&server->drain);
    if (rc) {
        stop_handlers(server);
        server_free(server);
        return rc;
    }
    rc = listen_on(&fd, &server->port, options->address, options->port);
    if (!rc)
        rc = start_daemon(server, fd);
    if (rc) {
        log_event(options->log, MIRE_LOG_ERROR, "http.cannot_listen", LOG_TEXT("address", options->address),
                  LOG_NUMBER("port", options->port), LOG_TEXT("why", strerror(errno)));
        close_fd(&fd);
        drain_stop(&server->drain);
        stop_handlers(server);
        server_free(server);
        return rc;
    }
    *out = server;
    return 0;
}

uint16_t http_port(const struct http_server *server)
{
    return server->port;
}

bool http_stop(struct http_server *server, int patience_ms)
{
    if (!server)
        return true;
    uint64_t until = clock_mono_ns() + (uint64_t)patience_ms * 1000000u;
    atomic_store(&server->stopping, true);
    int fd = MHD_quiesce_daemon(server->daemon);
    close_fd(&fd);
    while (atomic_load(&server->active) > 0 && clock_mono_ns() < until)
        usleep(5000);
    if (atomic_load(&server->active) > 0) {
        log_event(server->options.log, MIRE_LOG_WARN, "http.abandoned", LOG_NUMBER("requests", server->active));
        return false;
    }
    stop_handlers(server);
    MHD_stop_daemon(server->daemon);
    drain_stop(&server->drain);
    server_free(server);
    return true;
}
