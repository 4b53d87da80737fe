/*
 * bench_foreign.c - the time that decoders of foreign formats take: bytes to a model, without compression. The inputs are
 * made here; ANR dumps are to take 2 ms for 200 KB.
 */
#include "decode/anr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 200

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* A dump of so many bytes: threads of 40 frames, native ones and Java's, as an app of Android has them. */
static size_t make_anr(char *out, size_t room)
{
    size_t len =
        (size_t)sprintf(out, "----- pid 1 at 2024-01-01 00:00:00.000000000+0000 -----\nCmd line: com.example.app\n"
                             "DALVIK THREADS (60):\n");

    for (int thread = 1; len + 8192 < room; thread++) {
        len += (size_t)sprintf(out + len,
                               "\"%s%d\" prio=5 tid=%d Blocked\n  | sysTid=%d nice=0 cgrp=top-app\n  | state=S\n",
                               thread == 1 ? "main" : "worker-", thread, thread, thread);
        for (int i = 0; i < 20; i++)
            len += (size_t)sprintf(out + len,
                                   "  native: #%02d pc 00000000000%05x  /apex/com.android.runtime/lib64/libart.so "
                                   "(art::Thread::Method%d(int)+%d) (BuildId: 00112233445566778899aabbccddeeff)\n",
                                   i, thread % 7 * 4096 + i * 16, i, thread);
        for (int i = 0; i < 20; i++)
            len += (size_t)sprintf(out + len, "  at com.example.app.module%d.Worker%d.step(Worker%d.kt:%d)\n", i,
                                   thread % 9, i, thread % 9 + 10);
        len += (size_t)sprintf(out + len, "  - waiting to lock <0x%08x> (a java.lang.Object) held by thread %d\n\n",
                               thread, thread % 5 + 1);
    }
    return len;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

int main(void)
{
    size_t room = 200000;
    char *text = malloc(room);
    double rounds[ROUNDS];
    struct report report;

    if (!text)
        return 1;
    size_t len = make_anr(text, room);
    for (int i = 0; i < ROUNDS; i++) {
        struct decode_fault fault;
        struct arena arena;

        arena_init(&arena, MIRE_DECODE_ARENA_MAX);
        double begin = now_us();
        if (anr_decode(&report, &arena, &fault, text, len))
            return 1;
        rounds[i] = now_us() - begin;
        arena_fini(&arena);
    }
    qsort(rounds, ROUNDS, sizeof *rounds, by_size);
    printf("ANR dump, %zu bytes: median %.0f us, fastest %.0f us (must be 2000 at most for 200 KB)\n", len,
           rounds[ROUNDS / 2], rounds[0]);
    free(text);
    return 0;
}
