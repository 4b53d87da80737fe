/*
 * slow_disk.c - an app linked with libmire whose disk takes long once: the first sync lasts SYNC_MS.
 *
 *     slow_disk STORE SYNC_MS HANGS WAY
 *
 * Its loop hangs HANGS times, each time in another function, with a short wait in between: the later ones begin and end
 * while the report of the first is being written. Prints a line for each: its begin and end by CLOCK_MONOTONIC, in ns.
 * WAY is its end: stop (mire_stop), exit or kill (SIGKILL).
 */
#include <mire/mire.h>

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HANG_MS 500
#define WAIT_MS 60

static _Atomic long sync_ms;
static volatile int sink;

static unsigned long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec;
}

/* libmire calls these two instead of the C library's. */
static long sync_slowly(long number, int fd)
{
    long ms = atomic_exchange(&sync_ms, 0);
    struct timespec length = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&length, NULL);
    return syscall(number, fd);
}

int fsync(int fd)
{
    return (int)sync_slowly(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return (int)sync_slowly(SYS_fdatasync, fd);
}

#define HANG(n)                                                      \
    static void __attribute__((noinline)) hang_##n(void)             \
    {                                                                \
        unsigned long long end_ns = now_ns() + HANG_MS * 1000000ull; \
                                                                     \
        while (now_ns() < end_ns)                                    \
            sink += n;                                               \
    }
HANG(1)
HANG(2)
HANG(3)
HANG(4)
HANG(5)
HANG(6)

static void (*const hangs[])(void) = {hang_1, hang_2, hang_3, hang_4, hang_5, hang_6};

static int start(const char *store)
{
    mire_options *options = mire_options_new();
    int failed;

    mire_options_set_app(options, "slow-disk", "1");
    mire_options_set_store(options, store);
    mire_options_set_threshold_ms(options, 300);
    mire_options_set_number(options, "period_ms", 20);
    failed = mire_start(options);
    mire_options_free(options);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc != 5 || start(argv[1]) != 0)
        return 2;
    poll(NULL, 0, WAIT_MS);
    poll(NULL, 0, WAIT_MS);
    atomic_store(&sync_ms, atol(argv[2]));
    for (int i = 0; i < atoi(argv[3]) && i < (int)(sizeof(hangs) / sizeof(hangs[0])); i++) {
        unsigned long long begin_ns = now_ns();

        hangs[i]();
        printf("%llu %llu\n", begin_ns, now_ns());
        poll(NULL, 0, WAIT_MS);
        poll(NULL, 0, WAIT_MS);
    }
    fflush(stdout);
    if (strcmp(argv[4], "kill") == 0)
        raise(SIGKILL);
    return strcmp(argv[4], "stop") == 0 ? mire_stop(NULL) != 0 : 0;
}
