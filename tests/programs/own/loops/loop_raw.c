/* loop_raw.c - a loop around one waiting system call, selected by argv[2]. */
#define _GNU_SOURCE
#include "planted.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

static int epoll;

static void wait_once(const char *call, long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    struct timeval left_us = {ms / 1000, ms % 1000 * 1000};
    struct epoll_event event;

    if (strcmp(call, "poll") == 0)
        poll(NULL, 0, (int)ms);
    else if (strcmp(call, "ppoll") == 0)
        ppoll(NULL, 0, &left, NULL);
    else if (strcmp(call, "select") == 0)
        select(0, NULL, NULL, NULL, &left_us);
    else if (strcmp(call, "pselect") == 0)
        pselect(0, NULL, NULL, NULL, &left, NULL);
    else if (strcmp(call, "epoll_wait") == 0)
        epoll_wait(epoll, &event, 1, (int)ms);
    else if (strcmp(call, "epoll_pwait") == 0)
        epoll_pwait(epoll, &event, 1, (int)ms, NULL);
    else if (strcmp(call, "epoll_pwait2") == 0)
        epoll_pwait2(epoll, &event, 1, &left, NULL);
    else
        abort();
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    planted_start(argv);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    wait_once(argv[2], IDLE_MS);
    planted_hang();
    wait_once(argv[2], REST_MS);
    return 0;
}
