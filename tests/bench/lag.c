/* lag.c - see lag.h. */
#include "lag.h"

#include "support/seed.h"

#include <inttypes.h>

#define ISSUES     300
#define VERSIONS   5
#define IMAGES     10
#define TRUNK      24 /* frames that all samples of a report share */
#define TWIGS      60 /* ways on from there */
#define TWIG       8  /* frames of each */
#define SAMPLES    240
#define CATEGORIES 200
#define HELD       300 /* stacks of a memory report */

/* 1 of n with a share of 1/n, by Zipf's law: small numbers often. */
static uint32_t zipf(uint64_t *random, uint32_t n)
{
    uint32_t bound = 1 + test_roll(random, n);
    return test_roll(random, bound);
}

static void list(struct text *out, const char *name, const int64_t *values, size_t count)
{
    text_printf(out, "\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        text_printf(out, "%s%" PRId64, i ? "," : "", values[i]);
    text_printf(out, "]");
}

/* A trunk that the issue decides, and ways on from it that are the report's own. */
static void add_stacks(struct text *out, uint32_t issue, uint64_t *random)
{
    enum { NODES = TRUNK + TWIGS * TWIG };
    int64_t image[NODES], offset[NODES], found[NODES], up[NODES], frame[NODES];

    for (int i = 0; i < NODES; i++) {
        bool trunk = i < TRUNK;
        int at = trunk ? 0 : (i - TRUNK) % TWIG, twig = trunk ? 0 : (i - TRUNK) / TWIG;
        image[i] = trunk ? i % 3 : (int64_t)test_roll(random, IMAGES);
        offset[i] = trunk ? 4096 + issue * 512 + i * 16 : 65536 + (int64_t)test_roll(random, 400000);
        found[i] = 2;
        up[i] = trunk || at ? 1 : 1 + twig * TWIG;
        frame[i] = i;
    }
    text_printf(out, "\"frames\":{");
    list(out, "image", image, NODES);
    text_printf(out, ",");
    list(out, "offset", offset, NODES);
    text_printf(out, ",");
    list(out, "found", found, NODES);
    text_printf(out, "},\"nodes\":{");
    list(out, "up", up, NODES);
    text_printf(out, ",");
    list(out, "frame", frame, NODES);
    text_printf(out, "},");
}

static void add_event(struct text *out, int64_t at_us, uint64_t *random)
{
    int64_t at[SAMPLES], weight[SAMPLES], node[SAMPLES];

    for (int i = 0; i < SAMPLES; i++) {
        at[i] = 10 + i * 10;
        weight[i] = 10;
        node[i] = i % 5 ? TRUNK : TRUNK + 1 + (int64_t)test_roll(random, TWIGS * TWIG - 1);
    }
    text_printf(out,
                "\"event\":{\"begin_ns\":1,\"begin_wall_ms\":%" PRId64 ",\"duration_ms\":%u,\"threshold_ms\":500,"
                "\"trigger\":\"busy\",\"open\":false,\"foreground\":true,\"samples\":{\"period_ms\":10,",
                at_us / 1000, 2410 + test_roll(random, 900));
    list(out, "at_ms", at, SAMPLES);
    text_printf(out, ",");
    list(out, "weight_ms", weight, SAMPLES);
    text_printf(out, ",");
    list(out, "node", node, SAMPLES);
    text_printf(out, "}}}");
}

static void add_memory(struct text *out, int64_t at_us, uint64_t *random)
{
    int64_t kind[CATEGORIES], count[CATEGORIES], bytes[CATEGORIES], category[HELD], node[HELD], some[HELD], held[HELD];
    int64_t sum = 0;

    for (int i = 0; i < CATEGORIES; i++) {
        kind[i] = 0;
        count[i] = 1 + test_roll(random, 400);
        bytes[i] = count[i] * (i + 1) * 48 * (i == 17 ? 4000 : 1);
        sum += bytes[i];
    }
    for (int i = 0; i < HELD; i++) {
        category[i] = i % CATEGORIES;
        node[i] = TRUNK + 1 + (int64_t)test_roll(random, TWIGS * TWIG - 1);
        some[i] = 1 + count[category[i]] / 4;
        held[i] = bytes[category[i]] / 4;
    }
    text_printf(out,
                "\"memory\":{\"trigger\":\"footprint\",\"taken_ns\":5,\"taken_wall_ms\":%" PRId64
                ",\"foreground\":true,\"mode\":\"exact\",\"footprint_bytes\":%" PRId64 ",\"live_bytes\":%" PRId64
                ",\"live_count\":90000,\"categories\":{\"name\":[",
                at_us / 1000, sum + 50000000, sum);
    for (int i = 0; i < CATEGORIES; i++)
        text_printf(out, "%s\"Malloc %d bytes\"", i ? "," : "", (i + 1) * 48);
    text_printf(out, "],");
    list(out, "kind", kind, CATEGORIES);
    text_printf(out, ",");
    list(out, "live_count", count, CATEGORIES);
    text_printf(out, ",");
    list(out, "live_bytes", bytes, CATEGORIES);
    text_printf(out, "},\"stacks\":{");
    list(out, "category", category, HELD);
    text_printf(out, ",");
    list(out, "node", node, HELD);
    text_printf(out, ",");
    list(out, "count", some, HELD);
    text_printf(out, ",");
    list(out, "bytes", held, HELD);
    text_printf(out, "}}}");
}

static void add_head(struct text *out, const struct uuid *id, const char *kind, uint64_t *random)
{
    char text[MIRE_UUID_TEXT];

    uuid_format(text, id);
    text_printf(
        out,
        "{\"mire\":1,\"id\":\"%s\",\"kind\":\"%s\",\"app\":{\"name\":\"a\",\"version\":\"1.%u\",\"channel\":\"beta\"},"
        "\"device\":{\"install\":\"%032x\",\"os\":\"linux\",\"os_version\":\"6.%u\",\"arch\":\"x86_64\",\"model\":\"m%"
        "u\"},",
        text, kind, zipf(random, VERSIONS), test_roll(random, 30000), zipf(random, 8), zipf(random, 40));
}

int64_t lag_time(int64_t now_us, uint64_t *random)
{
    uint32_t how = test_roll(random, 10);
    uint32_t most_s = how < 5 ? 3600 : how < 9 ? 86400 : 6 * 86400;
    return now_us - (int64_t)test_roll(random, most_s) * 1000000;
}

void lag_report(struct text *out, const struct uuid *id, int64_t at_us, enum lag_kind kind, uint64_t *random)
{
    static const char *const names[] = {"event", "session", "memory"};
    add_head(out, id, names[kind], random);
    if (kind == LAG_SESSION) {
        text_printf(out,
                    "\"session\":{\"begin_wall_ms\":%" PRId64 ",\"duration_ms\":90000,\"on\":[\"hang\",\"session\"]}}",
                    at_us / 1000);
        return;
    }
    text_printf(out, "\"process\":{\"pid\":7,\"name\":\"a\"},\"images\":[");
    for (int i = 0; i < IMAGES; i++)
        text_printf(out,
                    "%s{\"name\":\"/opt/a/lib%d.so\",\"id\":\"%040x\",\"arch\":\"x86_64\",\"load\":4096,\"own\":%s}",
                    i ? "," : "", i, i + 1, i < 3 ? "true" : "false");
    text_printf(out, "],");
    add_stacks(out, zipf(random, ISSUES), random);
    if (kind == LAG_MEMORY)
        add_memory(out, at_us, random);
    else
        add_event(out, at_us, random);
}
