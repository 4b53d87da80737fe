/* Rows of a memory report add up to the footprint, for a live process and a dead one. */
#include "report/memory.h"

#include "report/areas.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/memory_json.h"

/* Half of any mapping is resident. */
static uint64_t half_of(const struct residence *residence, uint64_t address, uint64_t size_bytes, bool of_file)
{
    (void)residence;
    (void)address;
    (void)of_file;
    return size_bytes / 2;
}

/* The part of a category in the footprint; -1: no such category. */
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

/* The rows, except those that only contain blocks, add up to the footprint. */
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

/* Of the 2 MiB at the last look half was resident; the 1 MiB mapped later counts as resident. */
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
    assert_true(resident_of(text, "VM: anonymous") == 2 * MIB); /* no look yet */
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

/* At the last look the process had 316 KiB; it grew to 142 MiB in its last 0.3 s. */
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
    text = json_of(heaps, &said); /* no parent waited for it: the tables are more exact */
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

/* A process that was large and is small again: its peak resident set does not show its end. */
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
 * The break has half a MiB more than the blocks in it; the program mapped 2 MiB and touched 1; a library wrote to 64
 * KiB.
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
    /* More blocks than fit into the break, by an estimate: they are limited to it. */
    list[0].held_bytes = MIB / 2;
    areas.held_bytes -= MIB;
    text = json_of(heaps, &said);
    assert_true(resident_of(text, "Malloc 1 KiB") < MIB);
    assert_rows_add_up(text);
    free(text);
    heaps_free(heaps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_of_a_dead_run_count_as_when_they_were_looked_at_last),
        cmocka_unit_test(the_last_look_is_not_the_footprint_of_a_process_that_grew_after_it),
        cmocka_unit_test(what_a_dead_process_never_touched_gives_way_to_what_it_can_have_held),
        cmocka_unit_test(an_old_peak_is_not_the_footprint),
        cmocka_unit_test(rows_of_a_living_process_add_up_to_its_footprint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
