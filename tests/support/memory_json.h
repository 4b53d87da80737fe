/*
 * memory_json.h - memory tables of a process, and checks of their report's text. For one test program.
 */
#ifndef TESTS_SUPPORT_MEMORY_JSON_H
#define TESTS_SUPPORT_MEMORY_JSON_H

#include "heap/classes.h"
#include "heap/mappings.h"
#include "report/memory.h"
#include "support/boxes.h"
#include "support/heaps.h"

#define EXE  UINT64_C(0x555555554000)
#define LIB  UINT64_C(0x7ffff7dc0000)
#define MAIN (EXE + 0x1000)
#define LOAD (EXE + 0x2000)
#define DRAW (EXE + 0x3000)
#define GLUE (LIB + 0x4000)
#define MIB  ((uint64_t)1 << 20)
#define S    MIRE_NS_PER_S

static struct blackbox_facts facts;

static inline struct memory_said saying(const char *trigger)
{
    facts = box_facts();
    facts.start_boot_ns = 7 * S;
    return (struct memory_said){.trigger = trigger,
                                .id = "019aa1b2-c3d4-7e5f-8a6b-0123456789ab",
                                .facts = &facts,
                                .taken_ns = 65 * S,
                                .ground = MIRE_GROUND_UNKNOWN,
                                .caps = MIRE_MEMORY_CAPS_INIT};
}

static __attribute__((noinline, unused)) char *json_of(const struct heaps *heaps, const struct memory_said *said)
{
    struct heap_reader *reader = malloc(sizeof(*reader));
    char *text;
    size_t size;

    assert_int_equal(mire__read_open(reader, heaps->memory, heaps->bytes), MIRE_READ_OK);
    assert_int_equal(mire__memory_json(&text, &size, reader, said), MIRE_OK);
    text = realloc(text, size + 1);
    text[size] = '\0';
    free(reader);
    return text;
}

static inline void assert_has(const char *text, const char *part)
{
    if (strstr(text, part))
        return;
    fprintf(stderr, "%s\n", text); /* fail_msg would cut it */
    fail_msg("no %s", part);
}

/* Get the numbers in a column of a table: "categories", "live_bytes". Returns their number. */
static inline size_t column_of(double *out, size_t cap, const char *text, const char *table, const char *column)
{
    char key[64];
    const char *at;
    size_t count = 0;

    snprintf(key, sizeof(key), "\"%s\":{", table);
    at = strstr(text, key);
    assert_non_null(at);
    snprintf(key, sizeof(key), "\"%s\":[", column);
    at = strstr(at, key);
    assert_non_null(at);
    for (at += strlen(key); *at != ']' && count < cap; at += *at == ',') {
        char *end;
        out[count++] = strtod(at, &end);
        at = end;
    }
    return count;
}

/* Two stacks that load, one that draws, a tagged block, a mapping. */
static inline struct heaps *a_process(void)
{
    struct heaps *heaps = heaps_new(8 * MIB, MIRE_HEAP_EXACT);
    uint32_t load, draw;

    heaps_image(heaps, EXE, 0x100000, "/usr/bin/mapview");
    heaps_image(heaps, LIB, 0x100000, "/usr/lib/libglue.so");
    load = heaps_stack(heaps, 3, MAIN, LOAD, GLUE);
    draw = heaps_stack(heaps, 2, MAIN, DRAW);
    assert_true(heaps_set(heaps, 0x10000000, 1000000, load));
    assert_true(heaps_set(heaps, 0x20000000, 1000000, load));
    assert_true(heaps_set(heaps, 0x30000000, 1000000, draw));
    assert_true(heaps_set(heaps, 0x40000000, 48, draw));
    assert_true(heaps_set(heaps, 0x50000000, 48, draw));
    assert_true(heaps_set(heaps, 0x60000000, 64, load));
    assert_true(heaps_clear(heaps, 0x60000000));
    assert_true(
        mire__block_as_tag(&heaps->heap, heaps->slot, 0x50000000, mire__classes_as_find(&heaps->heap, "MapTile")));
    assert_true(mire__mappings_as_map(&heaps->heap, 0x70000000, 2 * MIB, MIRE_KIND_ANONYMOUS, load));
    return heaps;
}

static inline double number_of(const char *text, const char *key)
{
    char quoted[64];
    const char *at;

    snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    at = strstr(text, quoted);
    assert_non_null(at);
    return strtod(at + strlen(quoted), NULL);
}

#endif
