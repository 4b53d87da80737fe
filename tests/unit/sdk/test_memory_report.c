/* Contents of a memory report: categories, stacks, growth, the process. */
#include "report/memory.h"

#include "report/areas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/memory_json.h"

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
    /* the blocks, the mapping, and the memory of the tables */
    assert_true(strtod(at + strlen("\"explained_bytes\":"), NULL) >= 3000096 + 2097152);
    free(text);
    heaps_free(heaps);
}

/* Gauges of the app follow the rows of the tables, and are in no sum. */
static void gauges_are_rows_of_their_own(void **state)
{
    struct heaps *heaps = heaps_new(8 * MIB, MIRE_HEAP_EXACT);
    struct memory_said said = saying("demand");
    struct context *app = calloc(1, sizeof(*app)), *copy = calloc(1, sizeof(*copy));
    double before[64], after[64], kinds[64];
    char *text = json_of(heaps, &said);
    size_t rows = column_of(before, 64, text, "categories", "live_bytes"), count;

    (void)state;
    assert_true(mire__context_as_set_gauge(app, "Java heap", 1, 0));
    assert_true(mire__context_as_set_gauge(app, "Threads", 0, 31));
    assert_true(mire__context_as_set_gauge(app, "Java heap", 64 * MIB, 0));
    mire__context_copy(copy, app);
    said.app = copy;
    free(text);
    text = json_of(heaps, &said);
    count = column_of(after, 64, text, "categories", "live_bytes");
    assert_int_equal(count, rows + 2);
    assert_int_equal(column_of(kinds, 64, text, "categories", "kind"), count);
    assert_true(after[rows] == 64 * MIB && after[rows + 1] == 0);
    assert_true(kinds[rows] == 4 && kinds[rows + 1] == 4);
    assert_int_equal(column_of(after, 64, text, "categories", "live_count"), count);
    assert_true(after[rows + 1] == 31);
    assert_has(text, "\"Java heap\",\"Threads\"");
    assert_has(text, "\"live_bytes\":0,"); /* the sum */
    for (uint32_t i = 2; i < MIRE_GAUGES_MAX; i++)
        assert_true(mire__context_as_set_gauge(app, (char[]){(char)('a' + i), '\0'}, i, 0));
    assert_false(mire__context_as_set_gauge(app, "one more", 1, 0));
    free(text);
    free(copy);
    free(app);
    heaps_free(heaps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_alive_is_told_by_category_and_stack),
        cmocka_unit_test(totals_and_peaks_are_told_where_they_are_exact),
        cmocka_unit_test(growth_is_counted_from_the_runs_last_snapshot),
        cmocka_unit_test(stacks_are_told_of_the_largest_categories_and_of_objects),
        cmocka_unit_test(gauges_are_rows_of_their_own),
        cmocka_unit_test(footprint_limit_and_trail_stand_in_it_and_what_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
