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

#define LIST_BYTES    1024
#define LOOK_MS       20
#define LOOK_AGAIN_MS 1000
#define STILL         10 /* looks without a change: 200 ms */
#define LOOKS_MAX     150

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

static void open_all(struct remain *remain, const struct store *store, char *numbers)
{
    points_look(&remain->points, store);
    for (char *end; remain->count < MIRE_REMAIN_MAX; numbers = end) {
        struct remain_process *process = &remain->processes[remain->count];

        process->pid = (uint32_t)strtol(numbers, &end, 10);
        if (end == numbers)
            return;
        process->point = points_judge(&remain->points, process->pid);
        process->fd = process->point == POINT_STRANGER ? -1 : (int)syscall(SYS_pidfd_open, process->pid, 0);
        remain->count += process->fd >= 0;
    }
}

bool remain_find(struct remain *remain, const struct store *store, const char *session, const char *path)
{
    char before[LIST_BYTES], now[LIST_BYTES];
    int still = 0;

    remain->count = 0;
    list(now);
    if (!now[0])
        return false;
    for (int i = 0; now[0] && still < STILL && i < LOOKS_MAX; i++) {
        memcpy(before, now, sizeof(before));
        poll(NULL, 0, LOOK_MS);
        list(now);
        still = strcmp(before, now) == 0 ? still + 1 : 0;
    }
    points_open(&remain->points, store, session, path);
    open_all(remain, store, now);
    return remain->count > 0;
}

uint32_t remain_first(const struct remain *remain)
{
    for (size_t i = 0; i < remain->count; i++)
        if (remain->processes[i].point == POINT_SERVICE)
            return remain->processes[i].pid;
    return remain->count > 0 ? remain->processes[0].pid : 0;
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

static void drop(struct remain *remain, size_t at)
{
    close(remain->processes[at].fd);
    remain->processes[at] = remain->processes[--remain->count];
}

/* Returns whether one is not known yet to be the program's point, or not. */
static bool judge_again(struct remain *remain, const struct store *store)
{
    bool unknown = false;

    points_look(&remain->points, store);
    for (size_t i = 0; i < remain->count; i++) {
        struct remain_process *process = &remain->processes[i];

        if (process->point == POINT_UNKNOWN)
            process->point = points_judge(&remain->points, process->pid);
        unknown |= process->point == POINT_UNKNOWN;
    }
    return unknown;
}

static void drop_unknown(struct remain *remain)
{
    for (size_t i = remain->count; i-- > 0;)
        if (remain->processes[i].point == POINT_UNKNOWN)
            drop(remain, i);
}

/* Wait until one ends, or for that time; negative: without limit. */
static void wait_for_one(struct remain *remain, int wait_ms)
{
    struct pollfd fds[MIRE_REMAIN_MAX];

    for (size_t i = 0; i < remain->count; i++)
        fds[i] = (struct pollfd){.fd = remain->processes[i].fd, .events = POLLIN};
    if (poll(fds, remain->count, wait_ms) <= 0)
        return;
    for (size_t i = remain->count; i-- > 0;)
        if (fds[i].revents)
            drop(remain, i);
}

void remain_wait(struct remain *remain, const struct store *store)
{
    uint64_t until_ns = mire__now_ns() + MIRE_REMAIN_S * MIRE_NS_PER_S;
    bool unknown = true;

    while (remain->count > 0) {
        unknown = unknown && judge_again(remain, store);
        if (unknown && mire__now_ns() >= until_ns)
            drop_unknown(remain);
        if (remain->count > 0)
            wait_for_one(remain, unknown ? LOOK_AGAIN_MS : -1);
    }
}
