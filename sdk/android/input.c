/*
 * input.c - see input.h. An event is answered by a message of its own, and several may wait: a window's wait ends when as
 * many answers went as events came, and begins again with each earlier answer. The main thread writes.
 */
#include "android/input.h"

#include <mire/context.h>

#include "patch/patch.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

#define MODULE      "libinput.so"
#define WINDOWS_MAX 16 /* with events that wait */

static struct {
    pthread_t thread;
    _Atomic bool counts;
    struct window {
        int fd; /* in use while events > 0 */
        uint32_t events;
        _Atomic uint64_t since_ns; /* 0: none waits */
    } windows[WINDOWS_MAX];
} input;

static bool is_watched(void)
{
    return atomic_load_explicit(&input.counts, memory_order_acquire) && pthread_equal(pthread_self(), input.thread);
}

/* The window of a socket; otherwise a free row, or NULL. */
static struct window *window_of(int fd)
{
    struct window *spare = NULL;

    for (size_t i = 0; i < WINDOWS_MAX; i++) {
        struct window *window = &input.windows[i];

        if (window->events > 0 && window->fd == fd)
            return window;
        if (window->events == 0)
            spare = window;
    }
    return spare;
}

static void came(int fd)
{
    struct window *window = is_watched() ? window_of(fd) : NULL;

    if (!window)
        return;
    window->fd = fd;
    if (window->events++ == 0)
        atomic_store(&window->since_ns, mire__now_ns());
}

static void answered(int fd)
{
    struct window *window = is_watched() ? window_of(fd) : NULL;
    uint64_t since_ns = window && window->events > 0 ? atomic_load(&window->since_ns) : 0;
    char line[64];
    uint64_t took_ms;

    if (since_ns == 0)
        return;
    took_ms = (mire__now_ns() - since_ns) / MIRE_NS_PER_MS;
    atomic_store(&window->since_ns, --window->events > 0 ? mire__now_ns() : 0);
    if (took_ms < MIRE_INPUT_SLOW_MS)
        return;
    snprintf(line, sizeof(line), "input waited %u ms for its answer", (unsigned)took_ms);
    mire_breadcrumb(line);
}

/* ---- hooks ---- */

static ssize_t on_recv(int fd, void *out, size_t size, int flags);
static ssize_t on_recvfrom(int fd, void *out, size_t size, int flags, void *from, void *from_size);
static ssize_t on_send(int fd, const void *bytes, size_t size, int flags);
static ssize_t on_sendto(int fd, const void *bytes, size_t size, int flags, const void *to, socklen_t to_size);

enum { RECV, RECVFROM, SEND, SENDTO, COUNT };
static struct hook hooks[COUNT] = {[RECV] = {"recv", (void *)on_recv, NULL},
                                   [RECVFROM] = {"recvfrom", (void *)on_recvfrom, NULL},
                                   [SEND] = {"send", (void *)on_send, NULL},
                                   [SENDTO] = {"sendto", (void *)on_sendto, NULL}};

#define REAL(number, result, parameters) ((result(*) parameters)atomic_load(&hooks[number].real))

static ssize_t note(int fd, ssize_t result, void (*given)(int fd))
{
    int saved = errno;

    if (result > 0)
        given(fd);
    errno = saved;
    return result;
}

static ssize_t on_recv(int fd, void *out, size_t size, int flags)
{
    return note(fd, REAL(RECV, ssize_t, (int, void *, size_t, int))(fd, out, size, flags), came);
}

static ssize_t on_recvfrom(int fd, void *out, size_t size, int flags, void *from, void *from_size)
{
    return note(
        fd, REAL(RECVFROM, ssize_t, (int, void *, size_t, int, void *, void *))(fd, out, size, flags, from, from_size),
        came);
}

static ssize_t on_send(int fd, const void *bytes, size_t size, int flags)
{
    return note(fd, REAL(SEND, ssize_t, (int, const void *, size_t, int))(fd, bytes, size, flags), answered);
}

static ssize_t on_sendto(int fd, const void *bytes, size_t size, int flags, const void *to, socklen_t to_size)
{
    return note(fd,
                REAL(SENDTO, ssize_t, (int, const void *, size_t, int, const void *, socklen_t))(fd, bytes, size, flags,
                                                                                                 to, to_size),
                answered);
}

enum mire_err mire__input_open(void)
{
    for (size_t i = 0; i < COUNT; i++)
        if (!atomic_load(&hooks[i].real))
            atomic_store(&hooks[i].real, dlsym(RTLD_DEFAULT, hooks[i].name));
    for (size_t i = 0; i < WINDOWS_MAX; i++) {
        input.windows[i].events = 0;
        atomic_store(&input.windows[i].since_ns, 0);
    }
    input.thread = pthread_self();
    atomic_store(&input.counts, true);
    return mire__patch_add_in(MODULE, hooks, COUNT);
}

void mire__input_close(void)
{
    atomic_store(&input.counts, false);
    mire__patch_remove(hooks);
}

uint32_t mire__input_waits_ms(void)
{
    uint64_t oldest_ns = UINT64_MAX, now_ns = mire__now_ns();

    for (size_t i = 0; i < WINDOWS_MAX; i++) {
        uint64_t since_ns = atomic_load(&input.windows[i].since_ns);

        if (since_ns != 0 && since_ns < oldest_ns)
            oldest_ns = since_ns;
    }
    return oldest_ns < now_ns ? (uint32_t)((now_ns - oldest_ns) / MIRE_NS_PER_MS) : 0;
}
