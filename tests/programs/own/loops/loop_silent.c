/* loop_silent.c - a loop around poll that then waits in another call: to the gate it seems idle. */
#include "planted.h"

#include <mire/ping.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int post(void *fd, uint64_t token)
{
    return write(*(int *)fd, &token, sizeof(token)) == sizeof(token) ? 0 : -1;
}

static void serve_until(uint64_t end_ns, int fd)
{
    struct pollfd queue = {.fd = fd, .events = POLLIN};
    uint64_t now_ns, token;

    while ((now_ns = planted_now_ns()) < end_ns) {
        if (poll(&queue, 1, (int)((end_ns - now_ns) / 1000000) + 1) == 1 && read(fd, &token, sizeof(token)) > 0)
            mire_ping_answer(token);
    }
}

int main(int argc, char **argv)
{
    int fd = eventfd(0, EFD_CLOEXEC);

    (void)argc;
    planted_start(argv);
    planted_expect(mire_ping_start(post, &fd, PING_MS));
    serve_until(planted_now_ns() + IDLE_MS * 1000000ull, fd);
    planted_hang_waiting();
    serve_until(planted_now_ns() + REST_MS * 1000000ull, fd);
    planted_expect(mire_ping_stop());
    return 0;
}
