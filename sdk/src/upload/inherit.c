/* inherit.c - see inherit.h. */
#include "upload/inherit.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define NUMBERS 1024

struct numbers {
    uint64_t bits[NUMBERS / 64];
};

static bool has(const struct numbers *numbers, int fd)
{
    return numbers->bits[fd / 64] >> fd % 64 & 1;
}

static void put(struct numbers *numbers, int fd)
{
    numbers->bits[fd / 64] |= 1ull << fd % 64;
}

static void find_open(struct numbers *out)
{
    *out = (struct numbers){{0}};
    for (int fd = 0; fd < NUMBERS; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            put(out, fd);
    }
}

/* Bytes wait to be read at this end of a pair, or at the other one. */
static bool holds_bytes(int fd)
{
    int unread = 0, unsent = 0;

    return (ioctl(fd, FIONREAD, &unread) == 0 && unread > 0) || (ioctl(fd, SIOCOUTQ, &unsent) == 0 && unsent > 0);
}

/* Descriptors that are open now, were not open before, and hold no bytes. */
static void find_new(struct numbers *out, const struct numbers *before)
{
    *out = (struct numbers){{0}};
    for (int fd = 0; fd < NUMBERS; fd++) {
        int flags = has(before, fd) ? -1 : fcntl(fd, F_GETFD);

        if (flags >= 0 && !(flags & FD_CLOEXEC) && !holds_bytes(fd))
            put(out, fd);
    }
}

CURLM *mire__multi_init(void)
{
    struct numbers before, fresh;
    CURLM *multi;

    find_open(&before);
    multi = curl_multi_init();
    if (!multi)
        return NULL;
    find_new(&fresh, &before);
    if (curl_multi_wakeup(multi) != CURLM_OK)
        return multi;
    for (int fd = 0; fd < NUMBERS; fd++) {
        if (has(&fresh, fd) && holds_bytes(fd))
            fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return multi;
}

curl_socket_t mire__socket_open(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)context;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}
