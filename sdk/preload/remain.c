/*
 * remain.c - see remain.h.
 */
#include "preload/remain.h"

#include "platform/platform.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIST_BYTES 1024
#define LOOK_MS    20
#define STILL      10 /* looks without a change: 200 ms */
#define LOOKS_MAX  150

void remain_prepare(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* The children's process numbers, as text; "" if there are none. */
static void list(char out[LIST_BYTES])
{
    char path[64];

    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    snprintf(path, sizeof(path), "/proc/self/task/%u/children", mire__pid());
    if (mire__file_read(out, LIST_BYTES, path) < 0)
        out[0] = '\0';
}

static void open_all(struct remain *remain, char *numbers)
{
    for (char *end; remain->count < MIRE_REMAIN_MAX; numbers = end) {
        long pid = strtol(numbers, &end, 10);
        if (end == numbers)
            return;
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (fd >= 0)
            remain->fds[remain->count++] = fd;
    }
}

bool remain_find(struct remain *remain)
{
    char before[LIST_BYTES], now[LIST_BYTES];
    int still = 0;

    remain->count = 0;
    list(now);
    for (int i = 0; now[0] && still < STILL && i < LOOKS_MAX; i++) {
        memcpy(before, now, sizeof(before));
        poll(NULL, 0, LOOK_MS);
        list(now);
        still = strcmp(before, now) == 0 ? still + 1 : 0;
    }
    open_all(remain, now);
    return remain->count > 0;
}

bool remain_in_background(void)
{
    int fd;

    if (fork() != 0)
        return false;
    setsid();
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < 3; i++)
        dup2(fd, i);
    if (fd > 2)
        close(fd);
    return chdir("/") == 0;
}

void remain_wait(struct remain *remain)
{
    for (size_t i = 0; i < remain->count; i++) {
        struct pollfd one = {.fd = remain->fds[i], .events = POLLIN};
        while (poll(&one, 1, -1) < 0) {
        }
        close(remain->fds[i]);
    }
    remain->count = 0;
}
