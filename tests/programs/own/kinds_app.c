/*
 * kinds_app.c - an app that links libmire and causes one kind of event while its loop idles or turns quickly:
 *
 *     kinds_app WHAT MS STORE [NAME=VALUE ...]       settings by mire_options_set_number
 *
 *     asleep   nothing: one wait                     spin     a worker computes, in planted_spin
 *     write    a worker writes, in planted_write     hang     the main thread computes, in planted_spin
 *     read     a worker reads from the disk, in planted_read
 *     capture  mire_capture("noticed"), mire_test(), in planted_call
 *     frames   ticks some 60 frames a second; every fourth takes 120 ms, in planted_draw
 *     again    hangs twice for 600 ms in planted_spin; with MS 0 prints a line, and hangs there for ever
 *     scene    as frames, in the scene "scroll"      smooth   as frames, with none late
 */
#include <mire/mire.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_bool ended;
static volatile unsigned long spun;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Not inlined: reports must name these functions. */
__attribute__((noinline)) static void planted_spin(void)
{
    for (int i = 0; i < 100000; i++)
        spun += (unsigned long)i;
}

__attribute__((noinline)) static void planted_write(FILE *file)
{
    static const char block[1 << 16];

    for (int i = 0; i < 32; i++)
        fwrite(block, 1, sizeof(block), file);
    fflush(file);
    spun++;
}

__attribute__((noinline)) static void planted_read(int fd)
{
    static char block[1 << 16];

    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); /* forces the next read to the disk */
    for (off_t at = 0; pread(fd, block, sizeof(block), at) > 0; at += (off_t)sizeof(block))
        spun++;
}

static void *read_file(void *argument)
{
    static char page[1 << 20];
    char path[] = "/var/tmp/mire-kinds-XXXXXX";
    int fd = mkstemp(path);

    (void)argument;
    unlink(path);
    for (int i = 0; i < 16; i++)
        if (write(fd, page, sizeof(page)) < 0)
            return NULL;
    fsync(fd);
    while (!ended)
        planted_read(fd);
    close(fd);
    return NULL;
}

static void *spin(void *argument)
{
    (void)argument;
    while (!ended)
        planted_spin();
    return NULL;
}

static void *write_file(void *argument)
{
    char path[] = "/var/tmp/mire-kinds-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");

    (void)argument;
    unlink(path);
    while (file && !ended) {
        planted_write(file);
        if (ftell(file) > 8 << 20) { /* truncated before most of it is written to the disk */
            rewind(file);
            if (ftruncate(fd, 0) != 0)
                break;
        }
        usleep(1000);
    }
    if (file)
        fclose(file);
    return NULL;
}

__attribute__((noinline)) static void planted_draw(double seconds)
{
    for (double end_s = now_s() + seconds; now_s() < end_s;)
        spun++;
}

__attribute__((noinline)) static void planted_call(void)
{
    if (mire_capture("noticed") != MIRE_OK || mire_test() != MIRE_OK)
        exit(5);
    spun++;
}

static void draw_frames(double end_s, bool late)
{
    struct timespec now;

    for (int frame = 0; now_s() < end_s; frame++) {
        poll(NULL, 0, 15);
        if (late && frame % 4 == 3)
            planted_draw(0.12);
        clock_gettime(CLOCK_MONOTONIC, &now);
        mire_frame_tick((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    }
}

static void hang_until(double end_s)
{
    poll(NULL, 0, 20);
    while (now_s() < end_s)
        planted_spin();
}

static void hang_again(double end_s)
{
    bool for_ever = end_s < now_s() + 0.01;

    for (int i = 0; i < 2; i++)
        hang_until(now_s() + 0.62);
    poll(NULL, 0, 20);
    if (!for_ever)
        return;
    puts("hangs");
    fflush(stdout);
    hang_until(now_s() + 1000);
}

static void turn(const char *what, double end_s)
{
    if (strcmp(what, "again") == 0)
        hang_again(end_s);
    if (strcmp(what, "capture") == 0) {
        poll(NULL, 0, 50);
        planted_call();
    }
    if (strcmp(what, "scene") == 0)
        mire_scene_begin("scroll");
    if (strcmp(what, "frames") == 0 || strcmp(what, "scene") == 0 || strcmp(what, "smooth") == 0)
        draw_frames(end_s, strcmp(what, "smooth") != 0);
    if (strcmp(what, "scene") == 0)
        mire_scene_end();
    while (strcmp(what, "hang") == 0 && now_s() < end_s - 0.5)
        planted_spin();
    if (strcmp(what, "asleep") == 0)
        poll(NULL, 0, (int)((end_s - now_s()) * 1000));
    while (now_s() < end_s)
        poll(NULL, 0, 100);
}

static void start_thread(pthread_t *thread, const char *what)
{
    if (strcmp(what, "spin") == 0)
        pthread_create(thread, NULL, spin, NULL);
    else if (strcmp(what, "write") == 0)
        pthread_create(thread, NULL, write_file, NULL);
    else if (strcmp(what, "read") == 0)
        pthread_create(thread, NULL, read_file, NULL);
    if (*thread)
        pthread_setname_np(*thread, "worker");
}

int main(int argc, char **argv)
{
    mire_options *options = mire_options_new();
    pthread_t thread = 0;
    if (argc < 4)
        return 2;
    mire_options_set_app(options, "kinds-app", "1");
    mire_options_set_store(options, argv[3]);
    for (int i = 4; i < argc; i++) {
        char *equals = strchr(argv[i], '=');

        *equals = '\0';
        if (mire_options_set_number(options, argv[i], (uint32_t)atoi(equals + 1)) != MIRE_OK)
            return 3;
    }
    if (mire_start(options) != MIRE_OK)
        return 4;
    mire_options_free(options);
    start_thread(&thread, argv[1]);
    turn(argv[1], now_s() + atoi(argv[2]) / 1000.0);
    ended = true;
    if (thread)
        pthread_join(thread, NULL);
    mire_stop(NULL);
    return 0;
}
