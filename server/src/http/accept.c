/*
 * accept.c - new connections: counted against the limits, and assigned to the network thread with fewer connections.
 *
 * When all connections are in use, a new connection replaces the connection whose client has been silent for the
 * longest time. Therefore a crowd of clients that send nothing, or one byte now and then, only crowds out itself.
 *
 * When more connections are accepted than a network thread can start, further ones wait in the kernel's queue, in their
 * order: closing one there would hit the honest client among them, which comes last.
 */
#include "http/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_GRACE_NS UINT64_C(2000000000) /* an honest body or answer has arrived by then */

static void read_peer(struct http_peer *out, const struct sockaddr_storage *name)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)name;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)name;
    memset(out, 0, sizeof *out);
    if (name->ss_family == AF_INET6) {
        memcpy(out->address, &v6->sin6_addr, 16);
        return;
    }
    memset(out->address + 10, 0xff, 2);
    memcpy(out->address + 12, &v4->sin_addr, 4);
}

static int most_of(const struct http_server *server)
{
    return (int)(server->options.connections_max / MIRE_HTTP_LOOPS);
}

/* The time for which the client has been silent; 0: the server does not wait for the client, or not long enough. */
static uint64_t waited_ns(const struct http_connection *connection)
{
    uint64_t age = connection->loop->now_ns - connection->since_ns;
    bool is_moving = connection->state == MIRE_AT_BODY || connection->state == MIRE_AT_SEND;
    if (connection->state == MIRE_AT_HEAD || connection->state == MIRE_AT_LINGER || (is_moving && age > BODY_GRACE_NS))
        return age + 1;
    return 0;
}

bool accept_make_room(struct loop *loop, const struct http_connection *newcomer)
{
    struct http_connection *victim = NULL;
    if (atomic_load(&loop->count) <= most_of(loop->server)) /* the new connection is counted */
        return true;
    for (struct http_connection *one = loop->first; one; one = one->next) /* newest first */
        if (one != newcomer && waited_ns(one) && (!victim || waited_ns(one) >= waited_ns(victim)))
            victim = one;
    if (!victim)
        return false;
    connection_end(victim, MIRE_CUT_FULL);
    return true;
}

static void give(struct loop *loop, struct http_connection *connection)
{
    pthread_mutex_lock(&loop->mutex);
    connection->next = NULL;
    *loop->coming_last = connection;
    loop->coming_last = &connection->next;
    eventfd_write(loop->wake_fd, 1);
    pthread_mutex_unlock(&loop->mutex);
}

static struct loop *idler(struct http_server *server)
{
    struct loop *best = &server->loops[0];
    for (size_t i = 1; i < MIRE_HTTP_LOOPS; i++)
        if (atomic_load(&server->loops[i].count) < atomic_load(&best->count))
            best = &server->loops[i];
    return best;
}

/* Are more connections accepted than the thread can start? */
static bool is_overfull(const struct loop *loop)
{
    return atomic_load(&loop->count) >= most_of(loop->server) + MIRE_HTTP_COMING_MAX;
}

static void take(struct http_server *server, int fd, const struct http_peer *peer)
{
    int on = 1;
    const struct http_options *options = &server->options;
    bool is_proxy = http_peer_is_among(peer, options->proxies, options->proxy_count);
    unsigned most = is_proxy ? 0 : options->address_connections_max;
    struct loop *loop = idler(server);
    if (!peers_enter(&server->peers, peer, most)) {
        http_cut(server, MIRE_CUT_ADDRESS, peer);
        close(fd);
        return;
    }
    struct http_connection *connection = connection_new(loop, fd, peer);
    if (!connection) {
        peers_leave(&server->peers, peer);
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    atomic_fetch_add(&loop->count, 1);
    give(loop, connection);
}

void accept_listen(struct http_server *server, bool on)
{
    struct epoll_event event = {.events = on ? EPOLLIN : 0, .data.ptr = server};
    epoll_ctl(server->loops[0].epoll_fd, EPOLL_CTL_MOD, server->listen_fd, &event);
}

/*
 * False: wait until a thread has started the accepted connections. Both sides write before they read: the threads write
 * their count, this thread writes `accept_waits`. So at least one side sees the other's write and listens again.
 */
static bool may_accept(struct http_server *server)
{
    if (!is_overfull(idler(server)))
        return true;
    accept_listen(server, false);
    atomic_store(&server->accept_waits, true);
    if (is_overfull(idler(server)) || !atomic_exchange(&server->accept_waits, false))
        return false;
    accept_listen(server, true);
    return true;
}

/* No descriptor is free: accept one connection with the spare descriptor and close it, so that the queue moves on. */
static bool turn_away(struct http_server *server)
{
    static const struct http_peer nobody;
    if (server->spare_fd < 0)
        return false;
    close(server->spare_fd);
    int fd = accept4(server->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    http_cut(server, MIRE_CUT_FILES, &nobody);
    return fd >= 0;
}

void accept_all(struct http_server *server)
{
    bool more = !atomic_load(&server->stopping);
    while (more && may_accept(server)) {
        struct sockaddr_storage name = {0};
        socklen_t len = sizeof name;
        struct http_peer peer;
        int fd = accept4(server->listen_fd, (struct sockaddr *)&name, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            read_peer(&peer, &name);
            take(server, fd, &peer);
        } else if (errno == EMFILE || errno == ENFILE) {
            more = turn_away(server);
        } else {
            more = errno == ECONNABORTED || errno == EINTR;
        }
    }
}
