/* What a memory report tells of tables: all that is alive, who asked for the most of it, how it grew, how sure that is.
 */
#include "report/memory.h"

#include "heap/classes.h"
#include "heap/mappings.h"
#include "heapread/weight.h"
#include "report/areas.h"
#include "support/boxes.h"
#include "support/heaps.h"
#include "support/scratch.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>
#include <cmocka.h>

#define EXE  UINT64_C(0x555555554000)
#define LIB  UINT64_C(0x7ffff7dc0000)
#define MAIN (EXE + 0x1000)
#define LOAD (EXE + 0x2000)
#define DRAW (EXE + 0x3000)
#define GLUE (LIB + 0x4000)
#define MIB  ((uint64_t)1 << 20)
#define S    MIRE_NS_PER_S

static struct blackbox_facts facts;

static struct memory_said saying(const char *trigger)
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

static char *json_of(const struct heaps *heaps, const struct memory_said *said)
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

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part))
        return;
    fprintf(stderr, "%s\n", text); /* fail_msg would cut it */
    fail_msg("no %s", part);
}

/* The numbers of a column of a table: "categories", "live_bytes". Returns how many. */
static size_t column_of(double *out, size_t cap, const char *text, const char *table, const char *column)
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
static struct heaps *a_process(void)
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

static void all_that_is_alive_is_told_by_category_and_stack(void **state)
{
    struct heaps *heaps = a_process();
    struct memory_said said = saying("demand");
    char *text = json_of(heaps, &said);

    (void)state;
    assert_has(text, "\"kind\":\"memory\"");
    assert_has(text, "\"trigger\":\"demand\",\"taken_ns\":65000000000,\"mode\":\"exact\"");
    assert_has(text, "\"live_bytes\":3000096,\"live_count\":5,\"mapped_bytes\":2097152");
    assert_has(text, "\"categories\":{\"name\":[\"Malloc 1 MiB\",\"VM: anonymous\",\"Malloc 48\",\"MapTile\"");
    assert_has(text, "\"kind\":[0,1,0,2");
    assert_has(text, "\"live_count\":[3,1,1,1");
    assert_has(text, "\"live_bytes\":[3000000,2097152,48,48");
    assert_has(text, "\"stack_count\":[2,1,1,1");
    /* most bytes first: twice load, the mapping, draw, and the two small ones */
    assert_has(text, "\"stacks\":{\"category\":[1,0,0,2,3],\"node\":[3,3,4,4,4],\"count\":[1,2,1,1,1],"
                     "\"bytes\":[2097152,2000000,1000000,48,48]}");
    assert_has(text, "\"name\":\"/usr/lib/libglue.so\",\"id\":\"abcd010203");
    assert_has(text, "\"nodes\":{\"up\":[1,1,1,3],");
    free(text);
    heaps_free(heaps);
}

static void totals_and_peaks_are_told_where_they_are_exact(void **state)
{
    struct heaps *heaps = a_process();
    struct memory_said said = saying("demand");
    double live[16], total[16], peak[16];
    size_t count;
    char *text = json_of(heaps, &said);

    (void)state;
    count = column_of(live, 16, text, "categories", "live_bytes");
    assert_int_equal(column_of(total, 16, text, "categories", "total_bytes"), count);
    assert_int_equal(column_of(peak, 16, text, "categories", "peak_bytes"), count);
    for (size_t i = 0; i < count; i++) {
        assert_true(total[i] >= live[i]);
        assert_true(peak[i] >= live[i]);
    }
    assert_int_equal(count, 5); /* "Malloc 64" has nothing alive, but had */
    assert_true(live[4] == 0 && total[4] == 64);
    free(text);
    heaps_free(heaps);
}

static void growth_is_counted_from_the_runs_last_snapshot(void **state)
{
    struct heaps *heaps = a_process();
    struct memory_extra *extra = mire__heap_extra(&heaps->heap, MIRE_HEAP_EXTRA_BYTES);
    struct memory_said said = saying("baseline");
    char *text;

    (void)state;
    assert_non_null(extra);
    mire__extra_begin(extra, &facts);
    said.extra = extra;
    text = json_of(heaps, &said);
    assert_null(strstr(text, "grown"));
    free(text);
    assert_true(heaps_clear(heaps, 0x10000000));
    assert_true(heaps_set(heaps, 0x80000000, 48, heaps_stack(heaps, 2, MAIN, DRAW)));
    said = saying("demand");
    said.taken_ns = 95 * S;
    text = json_of(heaps, &said);
    assert_has(text, "\"grown_ms\":30000");
    assert_has(text, "\"live_bytes\":[2097152,2000000,96,48");
    assert_has(text, "\"grown_count\":[0,-1,1,0");
    assert_has(text, "\"grown_bytes\":[0,-1000000,48,0");
    assert_has(text, "\"bytes\":[2097152,1000000,1000000,96,48],\"grown_count\":[0,-1,0,1,0],"
                     "\"grown_bytes\":[0,-1000000,0,48,0]");
    free(text);
    heaps_free(heaps);
}

static void stacks_are_told_of_the_largest_categories_and_of_objects(void **state)
{
    struct heaps *heaps = heaps_new(8 * MIB, MIRE_HEAP_EXACT);
    struct memory_said said = saying("demand");
    double category[64];
    size_t count;
    char *text;

    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t node = heaps_stack(heaps, 2, MAIN, LOAD + 16 * i);

        assert_true(heaps_set(heaps, 0x10000000 + i * MIB, 100000, node));
        assert_true(heaps_set(heaps, 0x20000000 + i * MIB, 40, node));
        assert_true(heaps_set(heaps, 0x30000000 + i * MIB, 30, node));
        assert_true(mire__block_as_tag(&heaps->heap, heaps->slot, 0x30000000 + i * MIB,
                                       mire__classes_as_find(&heaps->heap, "MapTile")));
    }
    said.caps = (struct memory_caps){.top = 1, .objects = 1, .each = 5, .stacks = 100};
    text = json_of(heaps, &said);
    count = column_of(category, 64, text, "stacks", "category");
    assert_int_equal(count, 10); /* none of "Malloc 48", five of the two others */
    for (size_t i = 0; i < count; i++)
        assert_true(category[i] == (i < 5 ? 0 : 2));
    assert_has(text, "\"stack_count\":[20,20,20");
    free(text);
    said.caps.stacks = 3;
    text = json_of(heaps, &said);
    assert_int_equal(column_of(category, 64, text, "stacks", "category"), 3);
    free(text);
    heaps_free(heaps);
}

static void footprint_limit_and_trail_stand_in_it_and_what_is_explained(void **state)
{
    struct heaps *heaps = a_process();
    struct memory_said said = saying("footprint");
    const struct trail_row rows[2] = {
        {.boot_ns = 8 * S,
         .footprint_bytes = 1 * MIB,
         .used_bytes = 20 * MIB,
         .limit_bytes = 64 * MIB,
         .available_bytes = 30 * MIB},
        {.boot_ns = 67 * S,
         .footprint_bytes = 10 * MIB,
         .used_bytes = 60 * MIB,
         .limit_bytes = 64 * MIB,
         .available_bytes = 30 * MIB},
    };
    char *text, *at;

    (void)state;
    said.trail = rows;
    said.trail_rows = 2;
    said.footprint_peak_bytes = 11 * MIB;
    said.threshold_bytes = 10 * MIB;
    text = json_of(heaps, &said);
    assert_has(text, "\"footprint_bytes\":10485760,\"footprint_from\":\"look\",\"footprint_peak_bytes\":11534336,"
                     "\"limit_bytes\":67108864,"
                     "\"limit_used_bytes\":62914560,\"threshold_bytes\":10485760");
    assert_has(text, "\"trail\":{\"at_ms\":[1000,60000],\"footprint_bytes\":[1048576,10485760],"
                     "\"available_bytes\":[31457280,4194304]}");
    at = strstr(text, "\"explained_bytes\":");
    assert_non_null(at);
    /* the blocks, the mapping, and what the tables take themselves */
    assert_true(strtod(at + strlen("\"explained_bytes\":"), NULL) >= 3000096 + 2097152);
    free(text);
    heaps_free(heaps);
}

static double number_of(const char *text, const char *key)
{
    char quoted[64];
    const char *at;

    snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    at = strstr(text, quoted);
    assert_non_null(at);
    return strtod(at + strlen(quoted), NULL);
}

/* Half of any mapping lies in memory. */
static uint64_t half_of(const struct residence *residence, uint64_t address, uint64_t size_bytes, bool of_file)
{
    (void)residence;
    (void)address;
    (void)of_file;
    return size_bytes / 2;
}

/* What of a category counts in the footprint; -1: there is no such category. */
static double resident_of(const char *text, const char *name)
{
    double bytes[32];
    size_t count = column_of(bytes, 32, text, "categories", "resident_bytes"), i = 0;
    const char *at = strstr(text, "\"categories\":{\"name\":[");

    assert_non_null(at);
    for (at = strchr(at, '[') + 1; i < count; i++) {
        size_t length = strcspn(at + 1, "\"");

        if (length == strlen(name) && strncmp(at + 1, name, length) == 0)
            return bytes[i];
        at += length + 3;
    }
    return -1;
}

/* The rows, but of what only holds blocks, are the footprint. */
static void assert_rows_add_up(const char *text)
{
    double bytes[32], sum = 0, footprint = number_of(text, "footprint_bytes");
    size_t count = column_of(bytes, 32, text, "categories", "resident_bytes");

    for (size_t i = 0; i < count; i++)
        sum += bytes[i];
    for (int i = 0; i < 2; i++) {
        double holds = resident_of(text, i ? "VM: brk" : "VM: allocator");

        sum -= holds > 0 ? holds : 0;
    }
    if (fabs(sum - footprint) > 16)
        fail_msg("rows are %.0f, the footprint %.0f: %s", sum, footprint, text);
    assert_true(fabs(footprint - resident_of(text, "Not explained") - number_of(text, "explained_bytes")) <= 16 ||
                resident_of(text, "Not explained") < 0);
}

/* Of the 2 MiB that were looked at half were in memory; the 1 MiB that came later is taken to be. */
static void mappings_of_a_dead_run_count_as_when_they_were_looked_at_last(void **state)
{
    struct heaps *heaps = a_process();
    struct memory_said said = saying("foom");
    const struct trail_row row = {.boot_ns = 8 * S, .footprint_bytes = 100 * MIB};
    struct heap_reader *reader = malloc(sizeof(*reader));
    char *text;

    (void)state;
    said.trail = &row;
    said.trail_rows = 1;
    text = json_of(heaps, &said);
    assert_true(resident_of(text, "VM: anonymous") == 2 * MIB); /* nobody has looked */
    assert_rows_add_up(text);
    free(text);
    mire__extra_begin(mire__heap_extra(&heaps->heap, MIRE_HEAP_EXTRA_BYTES), said.facts);
    said.extra = mire__heap_extra(&heaps->heap, MIRE_HEAP_EXTRA_BYTES);
    said.resident = half_of;
    assert_int_equal(mire__read_open(reader, heaps->memory, heaps->bytes), MIRE_READ_OK);
    mire__memory_look_at_mappings(reader, &said);
    free(reader);
    said.resident = NULL;
    said.extra = NULL;
    text = json_of(heaps, &said);
    assert_true(resident_of(text, "VM: anonymous") == 1 * MIB);
    assert_rows_add_up(text);
    free(text);
    assert_true(mire__mappings_as_map(&heaps->heap, 0x70800000, MIB, MIRE_KIND_ANONYMOUS, 0));
    text = json_of(heaps, &said);
    assert_true(resident_of(text, "VM: anonymous") == 2 * MIB && resident_of(text, "Malloc 1 MiB") == 3000000);
    assert_rows_add_up(text);
    free(text);
    assert_true(mire__mappings_as_unmap(&heaps->heap, 0x70000000, 2 * MIB));
    assert_true(mire__mappings_as_unmap(&heaps->heap, 0x70800000, MIB / 2));
    text = json_of(heaps, &said);
    assert_true(resident_of(text, "VM: anonymous") == 524288);
    assert_rows_add_up(text);
    free(text);
    heaps_free(heaps);
}

/* 142 MiB in small blocks, and 64 MiB in a large one. */
static struct heaps *a_fast_leak(bool large)
{
    struct heaps *heaps = heaps_new(8 * MIB, MIRE_HEAP_EXACT);
    uint32_t load = heaps_stack(heaps, 2, MAIN, LOAD);

    heaps_image(heaps, EXE, 0x100000, "/usr/bin/mapview");
    for (uint64_t i = 0; i < 142 * MIB / 4096; i++)
        assert_true(heaps_set(heaps, 0x10000000 + i * 4112, 4096, load));
    if (large)
        assert_true(heaps_set(heaps, 0x70000000, 64 * MIB, load));
    return heaps;
}

/* The last look saw 316 KiB; the process grew to 142 MiB in the 0.3 s that it had left. */
static void the_last_look_is_not_the_footprint_of_a_process_that_grew_after_it(void **state)
{
    struct heaps *heaps = a_fast_leak(false);
    struct memory_said said = saying("foom");
    const struct trail_row row = {.boot_ns = 8 * S, .footprint_bytes = 316 << 10};
    struct exit_end end = {.looked_peak_bytes = 316 << 10, .trail_rows = 1};
    char *text;

    (void)state;
    said.trail = &row;
    said.trail_rows = 1;
    said.end = &end;
    text = json_of(heaps, &said); /* nobody waited for it: the tables know better */
    assert_has(text, "\"footprint_from\":\"tables\"");
    assert_true(number_of(text, "footprint_bytes") >= 142 * MIB && number_of(text, "footprint_bytes") < 146 * MIB);
    assert_rows_add_up(text);
    assert_has(text, "\"at_ms\":[1000,"); /* and the way there ends where it ended */
    free(text);
    end.parent_peak_bytes = 155 * MIB;
    end.file_bytes = 5 * MIB;
    text = json_of(heaps, &said);
    assert_has(text, "\"footprint_bytes\":157286400,\"footprint_from\":\"exit\"");
    assert_true(resident_of(text, "Malloc 4 KiB") == 142 * MIB);
    assert_true(resident_of(text, "Not explained") > 5 * MIB);
    assert_true(resident_of(text, "Allocator's own and free") >= 142 * MIB / 4096 * 16);
    assert_rows_add_up(text);
    free(text);
    heaps_free(heaps);
}

static void what_a_dead_process_never_touched_gives_way_to_what_it_can_have_held(void **state)
{
    struct heaps *heaps = a_fast_leak(true);
    struct memory_said said = saying("foom");
    const struct trail_row row = {.boot_ns = 8 * S, .footprint_bytes = 316 << 10};
    struct exit_end end = {.looked_peak_bytes = 316 << 10, .trail_rows = 1, .parent_peak_bytes = 150 * MIB};
    char *text;

    (void)state;
    said.trail = &row;
    said.trail_rows = 1;
    said.end = &end;
    text = json_of(heaps, &said);
    assert_true(number_of(text, "footprint_bytes") == 150 * MIB);
    assert_true(resident_of(text, "Malloc 4 KiB") == 142 * MIB); /* small blocks were written to */
    assert_true(resident_of(text, "Malloc 64 MiB") < 9 * MIB);
    assert_rows_add_up(text);
    free(text);
    heaps_free(heaps);
}

/* A process that was large and is small again: its largest resident set says nothing of its end. */
static void an_old_peak_is_not_the_footprint(void **state)
{
    struct heaps *heaps = a_process();
    struct memory_said said = saying("foom");
    const struct trail_row rows[2] = {{.boot_ns = 8 * S, .footprint_bytes = 90 * MIB},
                                      {.boot_ns = 9 * S, .footprint_bytes = 20 * MIB}};
    struct exit_end end = {.looked_peak_bytes = 90 * MIB, .parent_peak_bytes = 92 * MIB, .trail_rows = 2};
    char *text;

    (void)state;
    said.trail = rows;
    said.trail_rows = 2;
    said.end = &end;
    text = json_of(heaps, &said);
    assert_has(text, "\"footprint_bytes\":20971520,\"footprint_from\":\"look\"");
    assert_rows_add_up(text);
    free(text);
    heaps_free(heaps);
}

/*
 * The break holds half a MiB more than the blocks in it; the program mapped 2 MiB, of which it has touched 1; a library
 * has written to 64 KiB.
 */
static void rows_of_a_living_process_add_up_to_its_footprint(void **state)
{
    struct heaps *heaps = heaps_new(8 * MIB, MIRE_HEAP_EXACT);
    uint32_t load = heaps_stack(heaps, 2, MAIN, LOAD);
    struct memory_said said = saying("demand");
    struct area list[] = {
        {.start = 0x10000000, .end = 0x10000000 + 4 * MIB, .held_bytes = 3 * MIB / 2, .of = AREA_HEAP},
        {.start = 0x70000000, .end = 0x70000000 + 2 * MIB, .held_bytes = MIB},
        {.start = EXE, .end = EXE + MIB, .held_bytes = 64 << 10, .of = AREA_LIBRARY},
        {.start = 0x7f0000000000, .end = 0x7f0000000000 + MIB, .held_bytes = 32 << 10, .of = AREA_OWN},
        {.start = 0x7f8000001000, .end = 0x7f8000001000 + MIB, .held_bytes = 16 << 10},
        {.start = 0x7ff000000000, .end = 0x7ff000000000 + MIB, .held_bytes = 8 << 10, .of = AREA_STACK}};
    struct areas areas = {.list = list, .count = 6, .residence = {-1}};
    char *text;

    (void)state;
    for (size_t i = 0; i < areas.count; i++)
        areas.held_bytes += list[i].held_bytes;
    for (uint64_t i = 0; i < 1024; i++)
        assert_true(heaps_set(heaps, 0x10000000 + i * 1040, 1024, load));
    assert_true(mire__mappings_as_map(&heaps->heap, 0x70000000, 2 * MIB, MIRE_KIND_ANONYMOUS, load));
    said.areas = &areas;
    text = json_of(heaps, &said);
    assert_has(text, "\"footprint_from\":\"now\"");
    assert_true(number_of(text, "footprint_bytes") == (double)areas.held_bytes);
    assert_true(resident_of(text, "Malloc 1 KiB") == MIB);
    assert_true(resident_of(text, "Allocator's own and free") == MIB / 2);
    assert_true(resident_of(text, "VM: anonymous") == MIB);
    assert_true(resident_of(text, "VM: stack") == 8 << 10);
    assert_true(resident_of(text, "Libraries") == 64 << 10 && resident_of(text, "Mire") == 32 << 10);
    assert_true(resident_of(text, "Not explained") == 16 << 10);
    assert_rows_add_up(text);
    free(text);
    /* More blocks than the break can hold, by an estimate: they are no more than it. */
    list[0].held_bytes = MIB / 2;
    areas.held_bytes -= MIB;
    text = json_of(heaps, &said);
    assert_true(resident_of(text, "Malloc 1 KiB") < MIB);
    assert_rows_add_up(text);
    free(text);
    heaps_free(heaps);
}

/* What a program holds: `count` blocks of one size class, of `least` bytes and up to `more` beyond. */
struct holding {
    uint32_t count, least, more;
};

/*
 * One run of it, sampled. half is 0 if nothing was drawn: then nothing is stated but of the whole, that it lies within
 * half_all.
 */
static void sampled_run(double *estimate, double *half, double *half_all, double *truth, const struct holding *holding,
                        unsigned seed)
{
    const uint64_t interval = 64 << 10;
    struct heaps *heaps = heaps_new_at(8 * MIB, MIRE_HEAP_SAMPLED, interval);
    uint32_t node = heaps_stack(heaps, 2, MAIN, LOAD), index = mire__heap_as_interval(&heaps->heap);
    struct memory_said said = saying("demand");
    double bytes[64], error[64], of_stack[2];
    size_t count;
    char *text;

    *truth = *estimate = *half = 0;
    srand48(seed);
    for (uint32_t i = 0; i < holding->count; i++) {
        uint64_t size = holding->least + (uint64_t)(lrand48() % (holding->more + 1));

        *truth += (double)size;
        if (drand48() < mire__draw_chance(size, interval))
            assert_true(mire__block_as_sample(&heaps->heap, heaps->slot, 0x10000000 + i * 0x10000, size, node, index));
    }
    text = json_of(heaps, &said);
    assert_has(text, "\"mode\":\"sampled\",\"interval_bytes\":65536");
    assert_null(strstr(text, "peak_bytes\":["));
    count = column_of(bytes, 64, text, "categories", "live_bytes");
    assert_int_equal(column_of(error, 64, text, "categories", "error_bytes"), count);
    if (count > 0) {
        *estimate = bytes[0];
        *half = error[0];
        /* there is one stack of one category */
        assert_int_equal(column_of(of_stack, 2, text, "stacks", "error_bytes"), 1);
        assert_true(of_stack[0] == *half);
        assert_int_equal(column_of(error, 64, text, "categories", "error_count"), 1);
        assert_int_equal(column_of(of_stack, 2, text, "stacks", "error_count"), 1);
        assert_true(of_stack[0] == error[0]);
    }
    *half_all = number_of(text, "error_bytes");
    assert_true(*half_all >= *half && *half_all < *half + 4 * interval); /* small blocks may be missing */
    assert_true(number_of(text, "live_bytes") == *estimate);
    assert_true(number_of(text, "error_count") >= (double)interval / 16);
    free(text);
    heaps_free(heaps);
}

/*
 * Where few blocks are drawn on average, where some are, where many are; where each stands for a few others only; where
 * one may be missing, or hardly any.
 */
static void the_truth_lies_within_the_stated_interval_in_95_of_100_runs(void **state)
{
    static const struct holding holdings[] = {
        {800, 33, 15},      {3000, 33, 15},     {12000, 33, 15},    {50000, 33, 15},    {4, 16385, 16383},
        {40, 16385, 16383}, {12, 262145, 1000}, {60, 400000, 1000}, {12, 500000, 1000},
    };
    enum { RUNS = 400 };

    (void)state;
    for (size_t i = 0; i < sizeof(holdings) / sizeof(holdings[0]); i++) {
        double estimate, half, half_all, truth, sum = 0, squares = 0;
        unsigned within = 0, all_within = 0, told = 0;

        for (unsigned seed = 1; seed <= RUNS; seed++) {
            sampled_run(&estimate, &half, &half_all, &truth, &holdings[i], seed);
            sum += estimate - truth;
            squares += (estimate - truth) * (estimate - truth);
            told += half > 0;
            within += half > 0 && fabs(estimate - truth) <= half;
            all_within += fabs(estimate - truth) <= half_all;
        }
        /* each with a chance of 999 in 1000: the interval is narrow, or is of blocks that are likely to be missing */
        assert_true(holdings[i].least < 500000 || half < 500000);
        printf("%u blocks of %u bytes and more: %u of %u within, all: %u of %u\n", holdings[i].count, holdings[i].least,
               within, told, all_within, RUNS);
        assert_true(told > RUNS / 4);
        assert_true(within * 100 >= told * 95);
        assert_true(all_within * 100 >= RUNS * 95);
        assert_true(fabs(sum) <
                    4 * sqrt(squares)); /* the estimate is not biased: chance is beyond that in 1 of 10,000 */
    }
}

/* ---- dead runs ---- */

#define RUN "0123456789abcdef0123456789abcdef"

static enum mire_err take(struct store *store, const struct blackbox *box, const struct exit_end *end, uint64_t now_ms,
                          bool sealed)
{
    bool was_sealed;
    enum mire_err err = mire__report_memory_of_run(&was_sealed, store, RUN, box, end, now_ms);

    assert_int_equal(was_sealed, sealed);
    return err;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

static struct store *a_dead_run(const char *dir, char path[512])
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct heaps *heaps = a_process();
    struct memory_said said = saying("foom");
    struct store *store;

    assert_int_equal(mire__store_open(&store, dir, &caps), MIRE_OK);
    mire__extra_begin(mire__heap_extra(&heaps->heap, MIRE_HEAP_EXTRA_BYTES), said.facts);
    snprintf(path, 512, "%s/box/" RUN ".heap", dir);
    write_file(path, heaps->memory, heaps->bytes);
    heaps_free(heaps);
    return store;
}

static const struct exit_end *foom(void)
{
    static struct exit_end end = {.verdict = {.verdict = MIRE_EXIT_FOOM, .confidence_ppm = 990000},
                                  .ground = MIRE_GROUND_FORE,
                                  .seen_wall_ms = 1763685118456ull,
                                  .footprint_peak_bytes = 70 * MIB,
                                  .trail_rows = 1};

    end.trail[0] = (struct trail_row){
        .boot_ns = 67 * S, .footprint_bytes = 70 * MIB, .used_bytes = 63 * MIB, .limit_bytes = 64 * MIB};
    return &end;
}

static char *sealed(struct store *store, const char *id)
{
    void *body;
    size_t size;
    char *text = calloc(1, 1 << 20);

    assert_int_equal(mire__store_get(&body, &size, store, id), MIRE_OK);
    assert_false(ZSTD_isError(ZSTD_decompress(text, (1 << 20) - 1, body, size)));
    free(body);
    return text;
}

static void a_run_killed_for_want_of_memory_is_reported_under_one_id(void **state)
{
    char path[512], kept[512];
    struct store *store = a_dead_run(*state, path);
    struct store_item items[4];
    char *text;

    assert_int_equal(take(store, NULL, foom(), 1763685200000ull, true), MIRE_OK);
    assert_int_equal(mire__store_list(items, 4, store), 1);
    text = sealed(store, items[0].id);
    assert_has(text,
               "\"trigger\":\"foom\",\"taken_ns\":65000000000,\"taken_wall_ms\":1763685118456,\"foreground\":true");
    assert_has(text, "\"exit\":{\"verdict\":\"foom\"");
    assert_has(text, "\"app\":{\"name\":\"mapview\"");
    assert_has(text, "\"footprint_bytes\":73400320");
    free(text);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(kept, sizeof(kept), "%s/memory/" RUN ".heap", (char *)*state);
    assert_int_equal(rename(kept, path), 0); /* as if somebody had been killed before it was moved */
    assert_int_equal(take(store, NULL, foom(), 1763685300000ull, true), MIRE_OK);
    assert_int_equal(mire__store_list(items, 4, store), 1);
    mire__store_close(store);
}

static void other_runs_tables_are_kept_without_a_report(void **state)
{
    char path[512], kept[512];
    struct store *store = a_dead_run(*state, path);
    struct exit_end end = {.verdict = {.verdict = MIRE_EXIT_CRASH}};
    struct store_item items[4];

    assert_int_equal(take(store, NULL, &end, 1, false), MIRE_OK);
    assert_int_equal(mire__store_list(items, 4, store), 0);
    snprintf(kept, sizeof(kept), "%s/memory/" RUN ".heap", (char *)*state);
    assert_int_equal(access(kept, F_OK), 0);
    mire__store_close(store);
}

static void a_file_that_is_none_is_counted_and_goes(void **state)
{
    char path[512];
    struct store *store = a_dead_run(*state, path);
    uint64_t drops[MIRE_DROP_REASONS];
    struct store_item items[4];

    write_file(path, "no tables", 9);
    assert_int_equal(take(store, NULL, foom(), 1, false), MIRE_OK);
    write_file(path, "", 0);
    assert_int_equal(take(store, NULL, foom(), 1, false), MIRE_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    mire__store_drops(drops, store);
    assert_int_equal(drops[MIRE_DROP_BROKEN], 2);
    assert_int_equal(mire__store_list(items, 4, store), 0);
    assert_int_equal(take(store, NULL, foom(), 1, false), MIRE_OK); /* it is gone: so be it */
    mire__store_close(store);
}

static void tables_that_name_no_app_need_the_blackbox(void **state)
{
    char path[512];
    struct store *store = a_dead_run(*state, path);
    struct heaps *heaps = a_process();
    struct blackbox *box = box_new();
    struct store_item items[4];
    uint64_t drops[MIRE_DROP_REASONS];

    write_file(path, heaps->memory, heaps->bytes);
    assert_int_equal(take(store, box, foom(), 1763685200000ull, true), MIRE_OK);
    assert_int_equal(mire__store_list(items, 4, store), 1);
    write_file(path, heaps->memory, heaps->bytes);
    assert_int_equal(take(store, NULL, foom(), 1763685200000ull, false), MIRE_OK);
    mire__store_drops(drops, store);
    assert_int_equal(drops[MIRE_DROP_BROKEN], 1);
    free(box);
    heaps_free(heaps);
    mire__store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_alive_is_told_by_category_and_stack),
        cmocka_unit_test(totals_and_peaks_are_told_where_they_are_exact),
        cmocka_unit_test(growth_is_counted_from_the_runs_last_snapshot),
        cmocka_unit_test(stacks_are_told_of_the_largest_categories_and_of_objects),
        cmocka_unit_test(footprint_limit_and_trail_stand_in_it_and_what_is_explained),
        cmocka_unit_test(mappings_of_a_dead_run_count_as_when_they_were_looked_at_last),
        cmocka_unit_test(the_last_look_is_not_the_footprint_of_a_process_that_grew_after_it),
        cmocka_unit_test(what_a_dead_process_never_touched_gives_way_to_what_it_can_have_held),
        cmocka_unit_test(an_old_peak_is_not_the_footprint),
        cmocka_unit_test(rows_of_a_living_process_add_up_to_its_footprint),
        cmocka_unit_test(the_truth_lies_within_the_stated_interval_in_95_of_100_runs),
        cmocka_unit_test_setup_teardown(a_run_killed_for_want_of_memory_is_reported_under_one_id, scratch_new,
                                        scratch_free),
        cmocka_unit_test_setup_teardown(other_runs_tables_are_kept_without_a_report, scratch_new, scratch_free),
        cmocka_unit_test_setup_teardown(a_file_that_is_none_is_counted_and_goes, scratch_new, scratch_free),
        cmocka_unit_test_setup_teardown(tables_that_name_no_app_need_the_blackbox, scratch_new, scratch_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
