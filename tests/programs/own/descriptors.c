/*
 * descriptors.c - a program that checks the numbers of its descriptors. It ends with 0 if they were right, and
 * otherwise prints the difference to standard error.
 *
 *   lowest US          after US microseconds: close all, then three descriptors are 0, 1 and 2 and stay unchanged
 *   steady MS [N]      for MS milliseconds one thread opens, duplicates and closes, while the first hangs and allocates
 *   fork MS            the same in a forked child, whose thread runs before its first wait
 *   close MS           a thread closes all numbers from 3 to 1023, again and again, while the first hangs and allocates
 *   eof N              N times: a pipe whose writing end is closed is at its end at once
 *   locks              a record lock outlives the first wait of a forked child, and what it does after
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_long rounds;

static long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Writes to a file too, since standard error may be closed. */
static void fail(const char *what, long got, long wanted)
{
    char text[128];
    int length = snprintf(text, sizeof(text), "%s: %ld, not %ld\n", what, got, wanted), fd;
    const char *path = getenv("DESCRIPTORS_FAULTS");

    if (write(2, text, (size_t)length) < 0 && path && (fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600)) >= 0)
        if (write(fd, text, (size_t)length) < 0)
            _exit(8);
    _exit(7);
}

static void expect(const char *what, long got, long wanted)
{
    if (got != wanted)
        fail(what, got, wanted);
}

static void *(*new_code)(void);
static size_t (*new_code_ends)(void *);

/* A hang, with new code and memory for the monitor. */
static void hang(long ms)
{
    long end = now_ms() + ms;
    void *blocks[200];

    if (new_code)
        new_code_ends(new_code());
    while (now_ms() < end) {
        for (int i = 0; i < 200; i++)
            blocks[i] = malloc((size_t)(100 + 4000 * (i % 7)));
        for (int i = 0; i < 200; i++)
            free(blocks[i]);
    }
}

__attribute__((noreturn)) static void *check_numbers(void *unused)
{
    int first = open("/dev/null", O_RDONLY), pair[2];

    (void)unused;
    close(first);
    for (;;) {
        int a = open("/dev/null", O_RDONLY), b = dup(a);

        expect("open", a, first);
        expect("dup", b, first + 1);
        expect("pipe", pipe(pair), 0);
        expect("pipe's reader", pair[0], first + 2);
        expect("pipe's writer", pair[1], first + 3);
        for (int fd = first; fd < first + 4; fd++)
            expect("close", close(fd), 0);
        atomic_fetch_add(&rounds, 1);
    }
}

__attribute__((noreturn)) static void *close_numbers(void *unused)
{
    (void)unused;
    for (;;) {
        for (int fd = 3; fd < 1024; fd++)
            if (close(fd) == 0)
                fail("a number that nobody opened", fd, -1);
        atomic_fetch_add(&rounds, 1);
    }
}

static int run_beside(void *(*beside)(void *), long ms)
{
    long end = now_ms() + ms;
    void *library = dlopen("libzstd.so.1", RTLD_NOW);
    pthread_t thread;

    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    new_code = library ? (void *(*)(void))dlsym(library, "ZSTD_createCCtx") : NULL;
    new_code_ends = library ? (size_t(*)(void *))dlsym(library, "ZSTD_freeCCtx") : NULL;
    expect("pthread_create", pthread_create(&thread, NULL, beside, NULL), 0);
    while (atomic_load(&rounds) == 0)
        ;
    while (now_ms() < end) {
        poll(NULL, 0, 5);
        hang(700);
    }
    poll(NULL, 0, 5);
    printf("%ld rounds\n", atomic_load(&rounds));
    return 0; /* the thread runs until the process ends */
}

static int wait_for(pid_t child)
{
    int status;

    if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 6;
    return WEXITSTATUS(status);
}

static int begin_as_daemon(const char *delay_us)
{
    struct stat null, now;

    usleep((useconds_t)atoi(delay_us));
    for (int i = 0; i < 256; i++)
        close(i);
    expect("open", open("/dev/null", O_RDWR), 0);
    expect("dup", dup(0), 1);
    expect("dup", dup(0), 2);
    poll(NULL, 0, 20);
    stat("/dev/null", &null);
    for (int fd = 0; fd < 3; fd++) {
        expect("fstat", fstat(fd, &now), 0);
        expect("device", (long)now.st_rdev, (long)null.st_rdev);
    }
    expect("open", open("/dev/null", O_RDWR), 3);
    return 0;
}

static int ends_at_once(int times)
{
    struct pollfd reader = {.events = POLLIN};
    char byte;
    int pair[2];

    for (int i = 0; i < times; i++) {
        pid_t child;

        expect("pipe", pipe(pair), 0);
        child = fork();
        if (child == 0) { /* its monitor restarts at this wait, without a copy of the closed writing end */
            poll(NULL, 0, i % 3);
            close(pair[1]);
            expect("read at the end", read(pair[0], &byte, 1), 0);
            _exit(0);
        }
        close(pair[1]);
        expect("child", wait_for(child), 0);
        reader.fd = pair[0];
        expect("poll", poll(&reader, 1, 0), 1);
        expect("hung up", reader.revents & POLLHUP, POLLHUP);
        close(pair[0]);
    }
    return 0;
}

static int is_locked(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    pid_t child = fork();

    if (child == 0)
        _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 1 : 0);
    return wait_for(child);
}

static int keeps_locks(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    char path[] = "/tmp/mire-locks-XXXXXX";
    int fd = mkstemp(path);
    pid_t child;

    unlink(path);
    child = fork();
    if (child == 0) {
        expect("lock", fcntl(fd, F_SETLK, &lock), 0);
        for (int i = 0; i < 3; i++) {
            poll(NULL, 0, 50);
            expect("locked after a wait", is_locked(fd), 1);
            hang(300);
            expect("locked after a hang", is_locked(fd), 1);
        }
        _exit(0);
    }
    return wait_for(child);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    long number = argc > 2 ? atol(argv[2]) : 0;
    pid_t child;

    if (strcmp(mode, "lowest") == 0)
        return begin_as_daemon(argv[2]);
    if (strcmp(mode, "steady") == 0)
        return run_beside(check_numbers, number);
    if (strcmp(mode, "close") == 0)
        return run_beside(close_numbers, number);
    if (strcmp(mode, "eof") == 0)
        return ends_at_once((int)number);
    if (strcmp(mode, "locks") == 0)
        return keeps_locks();
    if (strcmp(mode, "fork") != 0)
        return 2;
    poll(NULL, 0, 20);
    child = fork();
    return child == 0 ? run_beside(check_numbers, number) : wait_for(child);
}
