/* Measures reading one report of some 50 KB: with Jansson, with our reader, and with all of decode. CPU time per
 * document, median of alternating rounds. */
#include "decode/decode.h"
#include "json/json.h"
#include "json/write.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define GOAL_JSON   10.0 /* speed relative to Jansson; below it our own reader would not be worth its code */
#define GOAL_DECODE 3.0  /* with every check of the schema */

enum { ROUNDS = 15, REPEATS = 200 };

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void column(struct json_writer *w, const char *key, unsigned count, uint64_t (*value)(unsigned i))
{
    json_write_open(w, key, '[');
    for (unsigned i = 0; i < count; i++)
        json_write_u64(w, NULL, value(i));
    json_write_close(w, ']');
}

static uint64_t image_of(unsigned i)
{
    return i % 40;
}

static uint64_t offset_of(unsigned i)
{
    return 0x10000 + i * 7919ull;
}

static uint64_t up_of(unsigned i)
{
    return i % 30 ? 1 : i + 1;
}

static uint64_t self(unsigned i)
{
    return i;
}

static uint64_t at_of(unsigned i)
{
    return i * 50ull;
}

static uint64_t fifty(unsigned i)
{
    (void)i;
    return 50;
}

static uint64_t node_of(unsigned i)
{
    return i * 30ull + 30;
}

/* A report like an SDK's: 40 modules, 1200 frames, 2400 nodes, 80 samples of 30 frames. */
static void make_report(struct json_writer *w)
{
    json_write_begin(w);
    json_write_open(w, NULL, '{');
    json_write_u64(w, "mire", 1);
    json_write_text(w, "id", "019aa1b2-c3d4-7e5f-8a6b-0123456789ab");
    json_write_text(w, "kind", "event");
    json_write_open(w, "app", '{');
    json_write_text(w, "name", "mapview");
    json_write_text(w, "version", "8.0.38");
    json_write_close(w, '}');
    json_write_open(w, "device", '{');
    json_write_text(w, "install", "00112233445566778899aabbccddeeff");
    json_write_text(w, "os", "linux");
    json_write_text(w, "arch", "x86_64");
    json_write_close(w, '}');
    json_write_open(w, "process", '{');
    json_write_u64(w, "pid", 1);
    json_write_text(w, "name", "mapview");
    json_write_close(w, '}');
    json_write_open(w, "images", '[');
    for (unsigned i = 0; i < 40; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "name", "/usr/lib/x86_64-linux-gnu/libsomething-with-a-name-2.0.so.0.5600.1");
        json_write_text(w, "id", "0123456789abcdef0123456789abcdef01234567");
        json_write_u64(w, "load", 140737351852032ull + i * 0x200000ull);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    json_write_open(w, "frames", '{');
    column(w, "image", 2400, image_of);
    column(w, "offset", 2400, offset_of);
    json_write_close(w, '}');
    json_write_open(w, "nodes", '{');
    column(w, "up", 2400, up_of);
    column(w, "frame", 2400, self);
    json_write_close(w, '}');
    json_write_open(w, "event", '{');
    json_write_u64(w, "begin_ns", 123456789012);
    json_write_u64(w, "duration_ms", 4000);
    json_write_u64(w, "threshold_ms", 2000);
    json_write_bool(w, "open", false);
    json_write_open(w, "samples", '{');
    column(w, "at_ms", 80, at_of);
    column(w, "weight_ms", 80, fifty);
    column(w, "node", 80, node_of);
    json_write_close(w, '}');
    json_write_close(w, '}');
    json_write_close(w, '}');
}

static void by_jansson(const struct json_writer *w)
{
    json_error_t error;
    json_t *root = json_loadb(w->text, w->len, 0, &error);
    if (!root)
        abort();
    json_decref(root);
}

static struct json tape;

static void by_us(const struct json_writer *w)
{
    struct json_fault fault;
    const struct json_limits limits = MIRE_JSON_LIMITS;
    if (json_read(&tape, &fault, w->text, w->len, &limits))
        abort();
}

static void by_decode(const struct json_writer *w)
{
    char id[37];
    struct decode_fault fault;
    if (decode_check(id, &fault, "mire", "identity", w->text, w->len)) {
        fprintf(stderr, "%s: %s\n", fault.path, fault.text);
        abort();
    }
}

static int say(const char *name, double value, double goal)
{
    printf("%s %.1f x | goal >= %.1f | %s\n", name, value, goal, value >= goal ? "ok" : "short");
    return value < goal;
}

int main(void)
{
    static const struct {
        const char *name;
        void (*read)(const struct json_writer *w);
    } readers[] = {{"Jansson", by_jansson}, {"json", by_us}, {"decode, whole", by_decode}};
    double us[3][ROUNDS];
    struct json_writer w;
    make_report(&w);
    json_init(&tape);
    for (int round = 0; round < ROUNDS; round++) {
        for (int r = 0; r < 3; r++) {
            double begin = cpu_us();
            for (int i = 0; i < REPEATS; i++)
                readers[r].read(&w);
            us[r][round] = (cpu_us() - begin) / REPEATS;
        }
    }
    for (int r = 0; r < 3; r++)
        qsort(us[r], ROUNDS, sizeof us[r][0], compare);
    const double jansson = us[0][ROUNDS / 2];
    printf("report %zu bytes\njansson %.1f us\njson %.1f us\ndecode %.1f us\n", w.len, jansson, us[1][ROUNDS / 2],
           us[2][ROUNDS / 2]);
    int missed = say("json_against_jansson", jansson / us[1][ROUNDS / 2], GOAL_JSON) +
                 say("decode_against_jansson", jansson / us[2][ROUNDS / 2], GOAL_DECODE);
    json_fini(&tape);
    free(w.text);
    return missed ? 1 : 0;
}
