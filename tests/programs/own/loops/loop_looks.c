/*
 * loop_looks.c - programs that ask for events without waiting. argv[2]:
 *
 *     keys    a loop that waits; its work looks for a key all the while, and there is one
 *     keys_1  the same, and each look waits for a millisecond
 *     game    frames: each looks for events, draws and sleeps; it never waits for one
 *     dialog  a callback runs a loop of its own deeper in the stack, which waits and looks too, for as long as a
 *             hang, and is none
 *     twice   a function that looks first, and waits only if there is nothing
 *     asks    a loop that waits; its work asks a server now and then, and the answer is there at each wait
 *     selects the same by select, with a time limit
 *     served  a loop deeper in the stack than the wait for its connection; something is there each time it waits
 */
#include "planted.h"

#include <stdbool.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#define STAY __attribute__((noinline))

static int key[2];
static bool selects;

STAY int look(int timeout_ms)
{
    struct pollfd fd = {key[0], POLLIN, 0};

    return poll(&fd, 1, timeout_ms);
}

/* Work for HANG_MS; every part ends with a look for a key that would stop the work. */
STAY void planted_hang_looking(int timeout_ms)
{
    const uint64_t begin_ns = planted_now_ns();

    for (uint64_t part_ns; (part_ns = planted_now_ns()) - begin_ns < HANG_MS * 1000000u;) {
        while (planted_now_ns() - part_ns < (timeout_ms ? 3000000u : 30000u)) {
        }
        look(timeout_ms);
    }
    printf("hung %llu\n", (unsigned long long)(planted_now_ns() - begin_ns));
    fflush(stdout);
}

/* Ends the program if the result is not the key's. */
STAY void wait_for_key(void)
{
    struct timeval timeout = {100, 0};
    fd_set in, out;

    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(key[0], &in);
    if (selects ? select(key[0] + 1, &in, &out, NULL, &timeout) != 1 || !FD_ISSET(key[0], &in) : look(-1) != 1)
        _exit(3);
}

STAY void wait_deeper(int depth)
{
    volatile char room[64];

    room[0] = 0;
    if (depth > 0)
        wait_deeper(depth - 1);
    else
        wait_for_key();
    room[1] = room[0];
}

/* Work for HANG_MS, in eight parts; each waits at another call site. */
STAY void planted_hang_asking(void)
{
    const uint64_t begin_ns = planted_now_ns();

    for (int part = 1; part <= 8; part++) {
        while (planted_now_ns() - begin_ns < part * (HANG_MS * 1000000u / 8)) {
        }
        wait_deeper(part);
    }
    printf("hung %llu\n", (unsigned long long)(planted_now_ns() - begin_ns));
    fflush(stdout);
}

/* Turns of 20 ms, whose wait always finds something. */
STAY void serve(int turns)
{
    while (turns-- > 0) {
        const uint64_t begin_ns = planted_now_ns();

        while (planted_now_ns() - begin_ns < 20000000u) {
        }
        look(-1);
    }
}

/* A nested loop in a frame of its own. */
STAY void run_dialog(void)
{
    volatile char picture[2000];

    picture[0] = 0;
    for (int i = 0; i < 25; i++) {
        look(0);
        look(50);
        look(0);
    }
    picture[1] = picture[0];
}

static void idle(int wait_ms, int times)
{
    while (times-- > 0)
        look(wait_ms);
}

STAY void frames(int count)
{
    const struct timespec rest = {0, 10000000};

    while (count-- > 0) {
        look(0);
        nanosleep(&rest, NULL);
    }
}

STAY void look_twice(int times)
{
    struct pollfd fd = {key[0], POLLIN, 0};

    while (times-- > 0) {
        if (poll(&fd, 1, 0) == 0 && times % 2)
            poll(&fd, 1, 26);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3 || pipe(key) != 0)
        return 2;
    planted_start(argv);
    if (strcmp(argv[2], "game") == 0) {
        frames(IDLE_MS / 10);
        planted_hang();
        frames(REST_MS / 10);
        return 0;
    }
    if (strcmp(argv[2], "twice") == 0) {
        look_twice(100);
        planted_hang();
        look_twice(20);
        return 0;
    }
    idle(IDLE_MS / 13, 13);
    if (strcmp(argv[2], "dialog") == 0) {
        run_dialog();
        idle(100, 3);
        planted_hang();
    } else if (strcmp(argv[2], "asks") == 0 || strcmp(argv[2], "selects") == 0) {
        selects = strcmp(argv[2], "selects") == 0;
        if (write(key[1], "k", 1) != 1)
            return 2;
        planted_hang_asking();
        if (read(key[0], argv[2], 1) != 1)
            return 2;
    } else if (strcmp(argv[2], "served") == 0) {
        if (write(key[1], "k", 1) != 1)
            return 2;
        serve(120);
        planted_hang();
        serve(30);
        return 0;
    } else {
        if (write(key[1], "k", 1) != 1)
            return 2;
        planted_hang_looking(strcmp(argv[2], "keys_1") == 0);
        if (read(key[0], argv[2], 1) != 1)
            return 2;
    }
    idle(REST_MS, 1);
    return 0;
}
