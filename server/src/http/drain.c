/*
 * drain.c - after a refusal that did not wait for the body: swallow what the client still sends.
 *
 * Closing a socket with unread bytes resets the connection, and the client may lose the answer that says why. So the
 * socket is kept a little while, its input thrown away, until the client has closed or patience is over.
 */
#include "http/inside.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/scope.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#define PATIENCE_NS UINT64_C(3000000000)
#define READ_MOST   16 /* pieces from one socket before the others have their turn */

int drain_start(struct drain *drain)
{
    *drain = (struct drain){.wake_fd = eventfd(0, EFD_CLOEXEC)};
    pthread_mutex_init(&drain->mutex, NULL);
    if (drain->wake_fd >= 0 && !pthread_create(&drain->thread, NULL, drain_run, drain))
        return 0;
    close_fd(&drain->wake_fd);
    pthread_mutex_destroy(&drain->mutex);
    return MIRE_FAULT_SYSTEM;
}

void drain_stop(struct drain *drain)
{
    pthread_mutex_lock(&drain->mutex);
    drain->stopping = true;
    pthread_mutex_unlock(&drain->mutex);
    eventfd_write(drain->wake_fd, 1);
    pthread_join(drain->thread, NULL);
    for (size_t i = 0; i < drain->count; i++)
        close(drain->sockets[i].fd);
    close_fd(&drain->wake_fd);
    pthread_mutex_destroy(&drain->mutex);
}

void drain_add(struct drain *drain, int fd)
{
    int copy = dup(fd);
    pthread_mutex_lock(&drain->mutex);
    bool fits = copy >= 0 && drain->count < MIRE_DRAIN_MAX;
    if (fits)
        drain->sockets[drain->count++] = (struct draining){copy, clock_mono_ns() + PATIENCE_NS};
    pthread_mutex_unlock(&drain->mutex);
    if (fits)
        eventfd_write(drain->wake_fd, 1);
    else
        close_fd(&copy);
}

/* Throw away what has come. True: more may come. */
static bool swallow(int fd)
{
    char bytes[16384];
    ssize_t got = 1;
    for (int i = 0; i < READ_MOST && got > 0; i++)
        got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Swallow from each socket; let go of those that are done. */
static void tend(struct drain *drain)
{
    uint64_t now = clock_mono_ns();
    size_t kept = 0;
    for (size_t i = 0; i < drain->count; i++) {
        const struct draining *one = &drain->sockets[i];
        if (now < one->until_ns && swallow(one->fd))
            drain->sockets[kept++] = *one;
        else
            close(one->fd);
    }
    drain->count = kept;
}

void *drain_run(void *context)
{
    struct drain *drain = context;
    struct pollfd fds[1 + MIRE_DRAIN_MAX];
    eventfd_t woken;
    pthread_mutex_lock(&drain->mutex);
    while (!drain->stopping) {
        size_t count = drain->count;
        fds[0] = (struct pollfd){.fd = drain->wake_fd, .events = POLLIN};
        for (size_t i = 0; i < count; i++)
            fds[1 + i] = (struct pollfd){.fd = drain->sockets[i].fd, .events = POLLIN};
        pthread_mutex_unlock(&drain->mutex);
        poll(fds, 1 + count, count ? 500 : -1);
        if (fds[0].revents)
            eventfd_read(drain->wake_fd, &woken);
        pthread_mutex_lock(&drain->mutex);
        tend(drain);
    }
    pthread_mutex_unlock(&drain->mutex);
    return NULL;
}
