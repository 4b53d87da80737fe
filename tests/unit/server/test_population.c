/* Sketches compared with the numbers themselves, populations with one that saw everything, and damaged ones. */
#include "model/population.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;
static uint64_t state = 20261121;

static uint64_t dice(uint64_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % below;
}

static int setup(void **unused)
{
    (void)unused;
    arena_init(&arena, 256u << 20);
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    arena_fini(&arena);
    return 0;
}

static void bins_rise_with_their_values_and_hold_them(void **unused)
{
    (void)unused;
    for (unsigned shift = 0; shift < 64; shift++)
        for (uint64_t low = 0; low < 17; low++) {
            uint64_t value = (1ull << shift) + (low << shift) / 17;
            uint64_t middle = sketch_bin_value(sketch_bin_of(value));
            uint64_t off = middle > value ? middle - value : value - middle;
            assert_true(sketch_bin_of(value) < MIRE_SKETCH_BINS);
            assert_true(value >= 32 ? off <= value / 32 + 1 : off == 0);
        }
    for (uint32_t bin = 1; bin < MIRE_SKETCH_BINS; bin++) {
        assert_true(sketch_bin_value(bin) > sketch_bin_value(bin - 1));
        assert_int_equal(sketch_bin_of(sketch_bin_value(bin)), bin);
    }
    assert_int_equal(sketch_bin_of(UINT64_MAX), MIRE_SKETCH_BINS - 1);
}

static int rising(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void quantiles_are_those_of_the_numbers_to_one_part_in_32(void **unused)
{
    enum { MOST = 3000 };
    static uint64_t values[MOST];
    (void)unused;
    for (int round = 0; round < 60; round++) {
        size_t count = 1 + dice(MOST), zeros = dice(count + 1);
        struct sketch sketch = {0};
        memset(values, 0, sizeof values);
        for (size_t i = zeros; i < count; i++) {
            values[i] = 1 + (dice(1u << 31) << dice(20));
            assert_int_equal(sketch_add(&sketch, &arena, values[i], 1), 0);
        }
        qsort(values, count, sizeof *values, rising);
        for (unsigned percent = 1; percent <= 100; percent++) {
            uint64_t want = values[(count * percent + 99) / 100 - 1];
            uint64_t got = sketch_quantile(&sketch, count, percent);
            uint64_t off = got > want ? got - want : want - got;
            assert_true(off <= want / 32 + (want >= 32));
        }
    }
}

static void nothing_has_quantiles_of_nothing(void **unused)
{
    struct sketch sketch = {0};
    (void)unused;
    assert_int_equal(sketch_quantile(&sketch, 0, 50), 0);
    assert_int_equal(sketch_quantile(&sketch, 7, 50), 0);
    assert_int_equal(sketch_add(&sketch, &arena, 5, 0), 0);
    assert_int_equal(sketch.count, 0);
}

#define CATEGORIES 40

static struct memory_category categories[CATEGORIES];
static struct memory_found found[CATEGORIES];

/* The memory of one process: some of the categories. */
static struct memory process(void)
{
    static const char *const names[] = {"Malloc 48 B", "Malloc 64 B", "VM: stack", "地图", "GtkWidget", ""};
    struct memory memory = {.known = true, .categories = categories, .found = found};
    memory.footprint_bytes = (struct fact){dice(1u << 30), true};
    for (unsigned i = 0; i < 6; i++) {
        if (dice(3) == 0)
            continue;
        size_t at = memory.category_count++;
        categories[at] = (struct memory_category){.name = names[i],
                                                  .kind = (enum memory_kind)(i % MIRE_MEMORY_KIND_COUNT),
                                                  .live_count = dice(1000),
                                                  .held_bytes = dice(1u << 26)};
        found[at] = (struct memory_found){.reason = dice(4) ? MIRE_MEMORY_NOT_SUSPECT : MIRE_MEMORY_GROWS};
        memory.held_bytes += categories[at].held_bytes;
    }
    return memory;
}

static void assert_same(const struct population *a, const struct population *b)
{
    unsigned char *x, *y;
    size_t x_len, y_len;
    assert_int_equal(population_encode(&x, &x_len, a), 0);
    assert_int_equal(population_encode(&y, &y_len, b), 0);
    assert_int_equal(x_len, y_len);
    assert_memory_equal(x, y, x_len);
    free(x);
    free(y);
}

static void however_reports_are_split_they_add_up_to_the_same(void **unused)
{
    struct population whole, parts[5], merged;
    (void)unused;
    population_init(&whole, &arena);
    population_init(&merged, &arena);
    for (int i = 0; i < 5; i++)
        population_init(&parts[i], &arena);
    for (int i = 0; i < 400; i++) {
        struct memory memory = process();
        uint64_t weight = 1 + dice(9);
        assert_int_equal(population_add(&whole, &memory, weight), 0);
        assert_int_equal(population_add(&parts[dice(5)], &memory, weight), 0);
    }
    for (int i = 4; i >= 0; i--)
        assert_int_equal(population_merge(&merged, &parts[i]), 0);
    assert_same(&whole, &merged);
    assert_int_equal(whole.count, 6);
}

static void a_category_few_have_has_a_median_of_zero(void **unused)
{
    struct population population;
    struct memory_category one = {.name = "Tile", .kind = MIRE_MEMORY_OBJECT, .live_count = 10, .held_bytes = 4096};
    struct memory with = {.known = true, .categories = &one, .category_count = 1}, without = {.known = true};
    (void)unused;
    population_init(&population, &arena);
    for (int i = 0; i < 9; i++)
        assert_int_equal(population_add(&population, i < 4 ? &with : &without, 1), 0);
    const struct population_category *tile = population_find(&population, MIRE_MEMORY_OBJECT, "Tile");
    assert_non_null(tile);
    assert_null(population_find(&population, MIRE_MEMORY_HEAP, "Tile"));
    assert_int_equal(sketch_quantile(&tile->objects, population.weight, 50), 0);
    assert_int_equal(sketch_quantile(&tile->objects, population.weight, 90), 10);
}

static void bytes_are_read_back_and_damaged_ones_refused(void **unused)
{
    struct population population, back;
    unsigned char *bytes;
    size_t len;
    (void)unused;
    population_init(&population, &arena);
    for (int i = 0; i < 20; i++) {
        struct memory memory = process();
        assert_int_equal(population_add(&population, &memory, 1), 0);
    }
    assert_int_equal(population_encode(&bytes, &len, &population), 0);
    assert_int_equal(population_decode(&back, &arena, bytes, len), 0);
    assert_same(&population, &back);
    for (size_t cut = 0; cut < len; cut++) {
        assert_int_equal(population_decode(&back, &arena, bytes, cut), -1);
        assert_int_equal(back.count, 0);
    }
    unsigned char *longer = calloc(1, len + 1);
    memcpy(longer, bytes, len);
    assert_int_equal(population_decode(&back, &arena, longer, len + 1), -1);
    for (int i = 0; i < 20000; i++) {
        memcpy(longer, bytes, len);
        longer[dice(len)] = (unsigned char)dice(256);
        if (population_decode(&back, &arena, longer, len) == 0)
            assert_true(back.count <= MIRE_POPULATION_CATEGORIES);
        if (i % 1000 == 0) {
            arena_reset(&arena);
        }
    }
    free(longer);
    free(bytes);
}

static void no_more_categories_are_kept_than_there_is_room_for(void **unused)
{
    struct population population;
    char name[400];
    struct memory_category one = {.name = name, .kind = MIRE_MEMORY_OBJECT, .live_count = 1, .held_bytes = 1};
    struct memory memory = {.known = true, .categories = &one, .category_count = 1};
    (void)unused;
    population_init(&population, &arena);
    for (int i = 0; i < MIRE_POPULATION_CATEGORIES + 50; i++) {
        snprintf(name, sizeof name, "class %d", i);
        assert_int_equal(population_add(&population, &memory, 1), 0);
    }
    assert_int_equal(population.count, MIRE_POPULATION_CATEGORIES);
    assert_int_equal(population.reports, MIRE_POPULATION_CATEGORIES + 50);
}

static void a_long_name_is_cut_between_two_characters(void **unused)
{
    struct population population;
    char name[400];
    struct memory_category one = {.name = name, .kind = MIRE_MEMORY_OBJECT, .live_count = 1, .held_bytes = 1};
    struct memory memory = {.known = true, .categories = &one, .category_count = 1};
    (void)unused;
    memset(name, 'x', 254);
    strcpy(name + 254, "\xe5\x9c\xb0 and more");
    population_init(&population, &arena);
    assert_int_equal(population_add(&population, &memory, 1), 0);
    assert_int_equal(strlen(population.categories[0].name), 254);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(bins_rise_with_their_values_and_hold_them),
        TEST(quantiles_are_those_of_the_numbers_to_one_part_in_32),
        TEST(nothing_has_quantiles_of_nothing),
        TEST(however_reports_are_split_they_add_up_to_the_same),
        TEST(a_category_few_have_has_a_median_of_zero),
        TEST(bytes_are_read_back_and_damaged_ones_refused),
        TEST(no_more_categories_are_kept_than_there_is_room_for),
        TEST(a_long_name_is_cut_between_two_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
