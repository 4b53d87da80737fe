/*
 * loop.c - a network thread: waits for events, and runs its connections until each has to wait again.
 *
 * Events are edge-triggered: a connection keeps the kernel's last answer in may_read and may_write, and its
 * registration never changes. Invariants: only the loop's own thread touches its connections, and an ended connection
 * is freed after the current events, which may still name it.
 */
#include "http/inside.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/scope.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define EVENTS   64
#define SWEEP_MS 250 /* between two checks of the time limits of all connections */

static void wake(struct loop *loop)
{
    eventfd_write(loop->wake_fd, 1);
}

void exchange_finish(struct request *request)
{
    struct exchange *exchange = (struct exchange *)request;
    struct loop *loop = exchange->connection->loop;
    pthread_mutex_lock(&loop->mutex);
    bool is_first = !loop->finished;
    exchange->next = loop->finished;
    loop->finished = exchange;
    if (is_first)
        wake(loop); /* under the mutex: after its release the loop may end */
    pthread_mutex_unlock(&loop->mutex);
}

void loop_again(struct loop *loop, struct http_connection *connection)
{
    if (connection->is_again)
        return;
    connection->is_again = true;
    connection->again = loop->again;
    loop->again = connection;
}

/* A connection that was accepted for this loop. */
static void adopt(struct loop *loop, struct http_connection *connection)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = connection};
    connection->next = loop->first;
    connection->link = &loop->first;
    if (loop->first)
        loop->first->link = &connection->next;
    loop->first = connection;
    connection->since_ns = connection->moved_ns = loop->now_ns;
    if (!accept_make_room(loop, connection))
        connection_end(connection, MIRE_CUT_FULL);
    else if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, connection->fd, &event))
        connection_end(connection, MIRE_CUT_FILES);
}

/* Take the work that other threads left. True: end the loop. */
static bool take_in(struct loop *loop)
{
    eventfd_t woken;
    eventfd_read(loop->wake_fd, &woken);
    pthread_mutex_lock(&loop->mutex);
    struct http_connection *coming = loop->coming;
    struct exchange *finished = loop->finished;
    bool stopping = loop->stopping;
    loop->coming = NULL;
    loop->coming_last = &loop->coming;
    loop->finished = NULL;
    pthread_mutex_unlock(&loop->mutex);
    while (coming) {
        struct http_connection *connection = coming;
        coming = connection->next;
        adopt(loop, connection);
    }
    if (atomic_exchange(&loop->server->accept_waits, false))
        accept_listen(loop->server, true);
    while (finished) {
        struct exchange *exchange = finished;
        finished = exchange->next;
        connection_resume(exchange->connection);
    }
    return stopping;
}

static void take_event(const struct epoll_event *event)
{
    struct http_connection *connection = event->data.ptr;
    if (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        connection->is_hung_up = true;
    if (event->events & EPOLLIN || connection->is_hung_up)
        connection->may_read = true;
    if (event->events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
        connection->may_write = true;
    if (connection->tls)
        connection->may_read = connection->may_write = true;
    connection_run(connection);
}

static void run_again(struct loop *loop)
{
    struct http_connection *list = loop->again;
    loop->again = NULL;
    while (list) {
        struct http_connection *connection = list;
        list = connection->again;
        connection->is_again = false;
        connection_run(connection);
    }
}

/* One that still is in the list of those that have to do is freed when it has left it. */
static void free_ended(struct loop *loop)
{
    struct http_connection *connection = loop->ended, *next;
    loop->ended = NULL;
    for (; connection; connection = next) {
        next = connection->next;
        if (!connection->is_again) {
            free(connection);
            continue;
        }
        connection->next = loop->ended;
        loop->ended = connection;
    }
}

static void sweep(struct loop *loop)
{
    struct http_connection *next;
    for (struct http_connection *connection = loop->first; connection; connection = next) {
        next = connection->next;
        connection_check_time(connection);
    }
}

static void *run(void *context)
{
    struct loop *loop = context;
    struct epoll_event events[EVENTS];
    uint64_t swept_ns = 0;
    bool stopping = false;
    while (!stopping) {
        int count = epoll_wait(loop->epoll_fd, events, EVENTS, loop->again ? 0 : SWEEP_MS);
        loop->now_ns = clock_mono_ns();
        run_again(loop);
        for (int i = 0; i < count; i++)
            if (events[i].data.ptr == loop)
                stopping = take_in(loop);
            else if (events[i].data.ptr == loop->server)
                accept_all(loop->server);
            else
                take_event(&events[i]);
        if (loop->now_ns - swept_ns >= SWEEP_MS * UINT64_C(1000000)) {
            sweep(loop);
            swept_ns = loop->now_ns;
        }
        free_ended(loop);
    }
    take_in(loop);
    loop->again = NULL;
    for (struct http_connection *one = loop->first; one; one = one->next)
        one->is_again = false;
    for (struct http_connection *one = loop->ended; one; one = one->next)
        one->is_again = false;
    while (loop->first)
        connection_end(loop->first, MIRE_CUTS);
    free_ended(loop);
    return NULL;
}

int loop_start(struct loop *loop, struct http_server *server)
{
    struct epoll_event woken = {.events = EPOLLIN, .data.ptr = loop};
    loop->server = server;
    loop->coming_last = &loop->coming;
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop->now_ns = clock_mono_ns();
    pthread_mutex_init(&loop->mutex, NULL);
    if (loop->epoll_fd >= 0 && loop->wake_fd >= 0 && !epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &woken) &&
        !pthread_create(&loop->thread, NULL, run, loop))
        return 0;
    close_fd(&loop->epoll_fd);
    close_fd(&loop->wake_fd);
    pthread_mutex_destroy(&loop->mutex);
    return MIRE_FAULT_SYSTEM;
}

void loop_stop(struct loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    loop->stopping = true;
    wake(loop);
    pthread_mutex_unlock(&loop->mutex);
    pthread_join(loop->thread, NULL);
    close_fd(&loop->epoll_fd);
    close_fd(&loop->wake_fd);
    pthread_mutex_destroy(&loop->mutex);
}
