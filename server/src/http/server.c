/*
 * server.c - the listening socket and the threads behind it: started, quiesced, stopped.
 */
#include "http/inside.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/scope.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

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

static void stop_loops(struct http_server *server, size_t count)
{
    while (count--)
        loop_stop(&server->loops[count]);
}

static int start_loops(struct http_server *server)
{
    for (size_t i = 0; i < MIRE_HTTP_LOOPS; i++) {
        int rc = loop_start(&server->loops[i], server);
        if (rc) {
            stop_loops(server, i);
            return rc;
        }
    }
    return 0;
}

static void server_free(struct http_server *server)
{
    close_fd(&server->listen_fd);
    close_fd(&server->spare_fd);
    peers_stop(&server->peers);
    free(server->counts);
    free(server);
}

static struct http_server *server_new(const struct http_options *options)
{
    struct http_server *server = calloc(1, sizeof *server);
    if (!server)
        return NULL;
    server->options = *options;
    server->listen_fd = -1;
    server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (size_t t = 0; t < options->table_count; t++)
        server->route_count += options->tables[t].count;
    server->counts = calloc(server->route_count + 1, sizeof *server->counts);
    if (!peers_start(&server->peers) && server->counts)
        return server;
    server_free(server);
    return NULL;
}

static int listen_and_serve(struct http_server *server)
{
    const struct http_options *options = &server->options;
    struct epoll_event coming = {.events = EPOLLIN, .data.ptr = server};
    int rc = listen_on(&server->listen_fd, &server->port, options->address, options->port);
    if (!rc)
        rc = start_loops(server);
    if (rc || !epoll_ctl(server->loops[0].epoll_fd, EPOLL_CTL_ADD, server->listen_fd, &coming))
        return rc;
    stop_loops(server, MIRE_HTTP_LOOPS);
    return MIRE_FAULT_SYSTEM;
}

int http_start(struct http_server **out, const struct http_options *options)
{
    struct http_server *server = server_new(options);
    if (!server)
        return MIRE_FAULT_MEMORY;
    int rc = lanes_start(server);
    if (rc) {
        server_free(server);
        return rc;
    }
    rc = listen_and_serve(server);
    if (rc) {
        log_event(options->log, MIRE_LOG_ERROR, "http.cannot_listen", LOG_TEXT("address", options->address),
                  LOG_NUMBER("port", options->port), LOG_TEXT("why", strerror(errno)));
        lanes_stop(server);
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
    epoll_ctl(server->loops[0].epoll_fd, EPOLL_CTL_DEL, server->listen_fd, NULL);
    shutdown(server->listen_fd, SHUT_RDWR); /* those that wait to be accepted are told */
    while (atomic_load(&server->active) > 0 && clock_mono_ns() < until)
        usleep(5000);
    if (atomic_load(&server->active) > 0) {
        log_event(server->options.log, MIRE_LOG_WARN, "http.abandoned", LOG_NUMBER("requests", server->active));
        return false;
    }
    lanes_stop(server);
    stop_loops(server, MIRE_HTTP_LOOPS);
    server_free(server);
    return true;
}
