/*
 * bench_decode.c - the time that foreign formats take: bytes to a model, as the door and `mire import` read them, and the
 * same bytes into Jansson's tree, where they are JSON. The inputs are made here. CPU time, so that other programs of the
 * machine count little; the fastest of many rounds.
 *
 *     most: a lag report of 50 KB 35 us, KSCrash of 640 KB 6 ms, a memory report of 300 KB 1 ms, an ANR dump of 200 KB 2 ms
 */
#include "base/spare.h"
#include "decode/decode.h"

#include <jansson.h>

#include <stdarg.h>
#include <stdbool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 100
#define ROOM   (1u << 20)

struct made {
    char *text;
    size_t len, want;
};

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

__attribute__((format(printf, 2, 3))) static void add(struct made *made, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    made->len += (size_t)vsnprintf(made->text + made->len, ROOM - made->len, format, args);
    va_end(args);
}

static bool has_room(const struct made *made)
{
    return made->len < made->want;
}

/* ---- inputs ---- */

static void add_images(struct made *made, int count)
{
    add(made, "\"binary_images\":[");
    for (int i = 0; i < count; i++)
        add(made,
            "%s{\"image_addr\":%llu,\"image_vmaddr\":6442450944,\"image_size\":1048576,\"name\":"
            "\"/System/Library/Frameworks/Frame%d.framework/Frame%d\",\"uuid\":\"%08X-0000-4000-8000-00000000%04X\","
            "\"cpu_type\":16777228,\"cpu_subtype\":0,\"major_version\":1,\"minor_version\":0,\"revision_version\":0}",
            i ? "," : "", 6442450944ull + 1048576ull * (unsigned)i, i, i, i * 7 + 1, i);
    add(made, "],");
}

static void add_head(struct made *made, const char *version, const char *time)
{
    add(made,
        "\"report\":{\"version\":\"%s\",\"id\":\"63784EB4-5ACC-4B59-B987-06A1464DDA3B\",\"process_name\":\"Shop\","
        "\"timestamp\":%s,\"type\":\"standard\"},\"system\":{\"system_name\":\"iOS\",\"system_version\":\"17.1\","
        "\"machine\":\"iPhone15,2\",\"cpu_arch\":\"arm64\",\"CFBundleIdentifier\":\"org.example.shop\","
        "\"CFBundleShortVersionString\":\"4.2\",\"CFBundleExecutablePath\":\"/var/A/Shop.app/Shop\","
        "\"device_app_hash\":\"ab\",\"memory\":{\"size\":6000000000,\"usable\":5000000000,\"free\":100000000}},",
        version, time);
}

/* Frames of Matrix at HEAD are addresses alone; those of KSCrash have names. */
static void add_threads(struct made *made, bool named, size_t depth)
{
    add(made, "\"threads\":[");
    for (int thread = 0; has_room(made); thread++) {
        add(made, "%s{\"index\":%d,\"crashed\":%s,\"current_thread\":false,\"backtrace\":{\"skipped\":0,\"contents\":[",
            thread ? "," : "", thread, thread == 1 ? "true" : "false");
        for (size_t i = 0; i < depth; i++) {
            unsigned long long image = 6442450944ull + 1048576ull * ((unsigned)thread * 3 + i) % 150;
            add(made, "%s{\"instruction_addr\":%llu", i ? "," : "", image + 4096 * i + 64);
            if (named)
                add(made,
                    ",\"object_addr\":%llu,\"object_name\":\"Frame%zu\",\"symbol_addr\":%llu,\"symbol_name\":"
                    "\"-[Worker%d step%zu:with:]\"",
                    image, i, image + 4096 * i, thread, i);
            add(made, "}");
        }
        add(made, "]}}");
    }
    add(made, "]");
}

static void make_lag(struct made *made)
{
    add(made, "{");
    add_head(made, "3.2.0", "1700000000");
    add_images(made, 60);
    add(made, "\"crash\":{\"error\":{\"type\":\"user\",\"user_reported\":{\"name\":\"2001\",\"dump_type\":2001}},");
    add_threads(made, false, 40);
    add(made, ",\"threads_profile\":[]}}");
}

static void make_kscrash(struct made *made)
{
    add(made, "{");
    add_head(made, "3.7.0", "1700000000000000");
    add_images(made, 300);
    add(made, "\"crash\":{\"error\":{\"type\":\"signal\",\"signal\":{\"signal\":11,\"name\":\"SIGSEGV\"}},");
    add_threads(made, true, 60);
    add(made, "}}");
}

static void make_memory(struct made *made)
{
    add(made,
        "{\"head\":{\"protocol_ver\":1,\"phone\":\"iPhone15,2\",\"os_ver\":\"17.1\",\"launch_time\":1700000000000,"
        "\"report_time\":1700000100000,\"app_uuid\":\"00112233445566778899aabbccddeeff\"},\n\"items\":[");
    for (int item = 0; has_room(made); item++) {
        add(made,
            "%s{\"tag\":\"iOS_MemStat\",\"info\":\"\",\"scene\":\"\",\"name\":\"Class%d\",\"size\":%d,\"count\":%d,"
            "\"stacks\":[",
            item ? "," : "", item, 4096000 - item, 1000);
        for (int stack = 0; stack < 5; stack++) {
            add(made, "%s{\"caller\":\"00112233445566778899aabbccddeeff@%d\",\"size\":%d,\"count\":%d,\"frames\":[",
                stack ? "," : "", stack, 800000, 200);
            for (int i = 0; i < 20; i++)
                add(made, "%s{\"uuid\":\"%08x445566778899aabbccddeeff\",\"offset\":%d}", i ? "," : "", i % 7,
                    item * 64 + i * 4096);
            add(made, "]}");
        }
        add(made, "]}\n");
    }
    add(made, "]}");
}

/* Threads of 40 frames, native ones and Java's, as an app of Android has them. */
static void make_anr(struct made *made)
{
    add(made,
        "----- pid 1 at 2024-01-01 00:00:00.000000000+0000 -----\nCmd line: com.example.app\nDALVIK THREADS (60):\n");
    for (int thread = 1; has_room(made); thread++) {
        add(made, "\"%s%d\" prio=5 tid=%d Blocked\n  | sysTid=%d nice=0 cgrp=top-app\n  | state=S\n",
            thread == 1 ? "main" : "worker-", thread, thread, thread);
        for (int i = 0; i < 20; i++)
            add(made,
                "  native: #%02d pc 00000000000%05x  /apex/com.android.runtime/lib64/libart.so "
                "(art::Thread::Method%d(int)+%d) "
                "(BuildId: 00112233445566778899aabbccddeeff)\n",
                i, thread % 7 * 4096 + i * 16, i, thread);
        for (int i = 0; i < 20; i++)
            add(made, "  at com.example.app.module%d.Worker%d.step(Worker%d.kt:%d)\n", i, thread % 9, i,
                thread % 9 + 10);
        add(made, "  - waiting to lock <0x%08x> (a java.lang.Object) held by thread %d\n\n", thread, thread % 5 + 1);
    }
}

/* ---- measuring ---- */

static int take(void *context, const struct decode_found *found)
{
    *(size_t *)context += found->report ? found->report->frame_count : 0;
    return 0;
}

/* The fastest round; 0: the input was refused. */
static double decode_us(const struct made *made)
{
    double fastest = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct decode_fault fault;
        size_t frames = 0;
        const struct decode_each each = {.context = &frames, .found = take};
        double begin = now_us();

        if (decode_each_of(&fault, &each, made->text, made->len) || !frames) {
            printf("refused: byte %zu %s %s\n", fault.position, fault.path, fault.text);
            return 0;
        }
        double took = now_us() - begin;
        fastest = i == 0 || took < fastest ? took : fastest;
    }
    return fastest;
}

static double jansson_us(const struct made *made)
{
    double fastest = 0;

    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_us();
        json_t *json = json_loadb(made->text, made->len, 0, NULL);
        double took = now_us() - begin;

        if (!json)
            return 0;
        json_decref(json);
        fastest = i == 0 || took < fastest ? took : fastest;
    }
    return fastest;
}

int main(void)
{
    static const struct {
        const char *name;
        void (*make)(struct made *made);
        size_t bytes;
        double most_us;
    } rows[] = {{"Matrix, lag", make_lag, 50000, 35},
                {"KSCrash", make_kscrash, 640000, 6000},
                {"Matrix, memory", make_memory, 300000, 1000},
                {"Android ANR", make_anr, 200000, 2000}};
    bool refused = false;

    spare_keep();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct made made = {.text = malloc(ROOM), .want = rows[i].bytes - rows[i].bytes / 100};

        if (!made.text)
            return 1;
        rows[i].make(&made);
        double ours = decode_us(&made), others = jansson_us(&made);
        printf("%-15s %7zu bytes  %7.0f us (most: %.0f%s)", rows[i].name, made.len, ours, rows[i].most_us,
               ours > rows[i].most_us ? ", exceeded" : "");
        if (others > 0)
            printf("  Jansson's tree alone %7.0f us, %.1f times", others, others / ours);
        printf("\n");
        refused |= ours <= 0;
        free(made.text);
    }
    return refused ? 1 : 0;
}
