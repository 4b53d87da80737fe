/* Rollups compared with a naive twin that keeps every event; the error of distinct counts; and damaged bytes. */
#include "rollup/cell.h"
#include "rollup/delta.h"
#include "rollup/pack.h"

#include "base/fault.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;
static uint64_t state = 20261127;

static uint64_t dice(uint64_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % below;
}

static int setup(void **unused)
{
    (void)unused;
    arena_init(&arena, 1024u << 20);
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    arena_fini(&arena);
    return 0;
}

/* --- distinct installations --- */

static void install_of(uint8_t out[16], uint64_t number)
{
    memset(out, 0, 16);
    memcpy(out, &number, sizeof number);
}

static void few_installations_are_counted_exactly(void **unused)
{
    struct distinct d = {0};
    uint8_t install[16];
    (void)unused;
    for (uint64_t i = 0; i < MIRE_DISTINCT_EXACT; i++)
        for (int again = 0; again < 3; again++) {
            install_of(install, i * 77);
            assert_int_equal(distinct_add(&d, &arena, distinct_hash(install)), 0);
            assert_true(distinct_count(&d) == (double)(i + 1));
        }
    assert_null(d.registers);
    install_of(install, 1);
    assert_int_equal(distinct_add(&d, &arena, distinct_hash(install)), 0);
    assert_non_null(d.registers);
    assert_true(fabs(distinct_count(&d) - 257) < 257 * 0.1);
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of `count` installations, each on one to three days, in sketches of the days that are merged. */
static double error_of(uint64_t count, uint64_t seed)
{
    struct distinct days[3], all = {0};
    uint8_t install[16];
    memset(days, 0, sizeof days);
    for (uint64_t i = 0; i < count; i++) {
        install_of(install, seed << 40 | i);
        uint32_t hash = distinct_hash(install);
        for (uint64_t day = 0; day < 3; day++)
            if (day == 0 || (i + day) % 3 == 0)
                (void)distinct_add(&days[day], &arena, hash);
    }
    for (size_t day = 0; day < 3; day++)
        (void)distinct_merge(&all, &arena, &days[day]);
    return fabs(distinct_count(&all) / (double)count - 1);
}

static void the_error_of_many_installations_is_below_five_percent(void **unused)
{
    enum { ROUNDS = 400 };
    static const uint64_t counts[] = {1000, 3000, 10000, 30000, 100000};
    double errors[ROUNDS];
    (void)unused;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (uint64_t round = 0; round < ROUNDS; round++) {
            arena_reset(&arena);
            errors[round] = error_of(counts[i], i * ROUNDS + round + 1);
        }
        qsort(errors, ROUNDS, sizeof *errors, rising);
        printf("%6d installations: p95 of the error %.2f %%\n", (int)counts[i], errors[ROUNDS * 95 / 100 - 1] * 100);
        assert_true(errors[ROUNDS * 95 / 100 - 1] <= 0.05);
    }
}

/* Two sets of `count` installations, which have every third in common. */
static double shared_of(uint64_t count, uint64_t seed)
{
    struct distinct sets[2];
    uint8_t install[16];
    double shared;
    memset(sets, 0, sizeof sets);
    for (uint64_t i = 0; i < 2 * count; i++) {
        install_of(install, seed << 40 | i / 2);
        if (i % 2 && (i / 2) % 3)
            install[15] ^= 0x80; /* another one */
        (void)distinct_add(&sets[i % 2], &arena, distinct_hash(install));
    }
    assert_int_equal(distinct_shared(&shared, &arena, &sets[0], &sets[1]), 0);
    return shared;
}

static void what_two_sets_share_is_told(void **unused)
{
    double sum = 0, worst = 0;
    (void)unused;
    arena_reset(&arena);
    for (uint64_t count = 1; count <= 250; count += 83)
        assert_true(shared_of(count, count) == (double)((count + 2) / 3));
    for (uint64_t seed = 1; seed <= 40; seed++) {
        arena_reset(&arena);
        double error = shared_of(9000, seed) / 3000 - 1;
        sum += error;
        worst = fmax(worst, fabs(error));
    }
    printf("3,000 of 9,000 shared: off by %.1f %% on average, by %.1f %% at most\n", 100 * sum / 40, 100 * worst);
    assert_true(fabs(sum / 40) < 0.05 && worst < 0.5);
}

/* --- cells against a twin that keeps every event --- */

#define MOST 1200

static const char *const texts[] = {"", "1.0", "1.1", "2.0", "Pixel 7", "x86_64", "a\xc3\xa9", "zz"};

static struct cell_event random_event(void)
{
    struct cell_event event = {.occurred_us = (int64_t)(1700000000000000 + dice(1u << 30)),
                               .device = (uint32_t)dice(400) * 2654435761u,
                               .weight = 1 + (double)dice(9) / 2,
                               .events = dice(3) ? 1 : (double)dice(1000) / 7,
                               .length_ms = dice(1u << (1 + dice(20)))};
    event.waited_ms = event.events * (double)event.length_ms;
    event.longest_ms = event.length_ms;
    for (size_t i = 0; i < MIRE_CELL_COUNTS; i++)
        event.counts[i] = dice(2);
    for (size_t i = 0; i < MIRE_FACET_COUNT; i++)
        event.values[i] = dice(4) ? texts[dice(sizeof texts / sizeof *texts)] : NULL;
    return event;
}

static bool has(const struct cell_event *event, int facet, const char *text)
{
    return facet < 0 || (event->values[facet] && !strcmp(event->values[facet], text));
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

/* The figures of those events that have the value; facet -1: of all. */
static void check_sums(const struct cell_sums *sums, const struct cell_event *events, size_t count, int facet,
                       const char *text)
{
    static uint32_t devices[MOST];
    uint64_t bins[MIRE_SKETCH_BINS] = {0}, reports = 0, longest = 0;
    size_t device_count = 0;
    double all = 0, waited = 0, weight = 0;

    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        if (!has(&events[i], facet, text))
            continue;
        reports++;
        all += events[i].events;
        weight += events[i].weight;
        waited += events[i].waited_ms;
        longest = events[i].longest_ms > longest ? events[i].longest_ms : longest;
        bins[sketch_bin_of(events[i].length_ms)]++;
        while (k < device_count && devices[k] != events[i].device)
            k++;
        if (k == device_count)
            devices[device_count++] = events[i].device;
    }
    assert_int_equal(sums ? sums->reports : 0, reports);
    if (!sums)
        return;
    assert_true(is_near(sums->weight, weight));
    assert_true(is_near(sums->events, all) && is_near(sums->waited_ms, waited));
    assert_int_equal(sums->longest_ms, longest);
    for (size_t i = 0; i < sums->lengths.count; i++)
        assert_int_equal(sums->lengths.bins[i].weight, bins[sums->lengths.bins[i].bin]);
    double given = distinct_count(&sums->devices);
    assert_true(device_count <= MIRE_DISTINCT_EXACT ? given == (double)device_count
                                                    : fabs(given / (double)device_count - 1) < 0.15);
}

static void check(const struct cell *cell, const struct cell_event *events, size_t count)
{
    check_sums(&cell->all, events, count, -1, "");
    for (int facet = 0; facet < MIRE_FACET_COUNT; facet++)
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            check_sums(cell_find(cell, (enum cell_facet)facet, texts[i]), events, count, facet, texts[i]);
    for (size_t k = 0; k < MIRE_CELL_COUNTS; k++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += events[i].counts[k];
        assert_int_equal(cell->counts[k], sum);
    }
    for (size_t i = 0; i < cell->value_count; i++) {
        const struct cell_value *value = &cell->values[i];
        int64_t oldest_us = INT64_MAX, newest_us = 0;
        for (size_t k = 0; k < count; k++) {
            if (value->facet != MIRE_FACET_VERSION || !has(&events[k], MIRE_FACET_VERSION, value->text))
                continue;
            oldest_us = events[k].occurred_us < oldest_us ? events[k].occurred_us : oldest_us;
            newest_us = events[k].occurred_us > newest_us ? events[k].occurred_us : newest_us;
        }
        assert_int_equal(value->oldest_us, newest_us ? oldest_us : 0);
        assert_int_equal(value->newest_us, newest_us);
    }
    for (size_t i = 0; i < count; i++)
        assert_true(cell->oldest_us <= events[i].occurred_us && events[i].occurred_us <= cell->newest_us);
}

/* Through its bytes, which must be the same a second time. */
static struct cell stored(const struct cell *cell)
{
    unsigned char *bytes, *again;
    size_t len, len_again;
    struct cell out;
    assert_int_equal(cell_encode(&bytes, &len, &arena, cell), 0);
    assert_int_equal(cell_decode(&out, &arena, bytes, len), 0);
    assert_int_equal(cell_encode(&again, &len_again, &arena, &out), 0);
    assert_int_equal(len, len_again);
    assert_memory_equal(bytes, again, len);
    return out;
}

/* Events go through deltas into one of three cells, which are stored, read and merged in random order. */
static void cells_say_what_their_events_say(void **unused)
{
    (void)unused;
    for (int round = 0; round < 40; round++) {
        static struct cell_event events[MOST];
        struct cell cells[3], all;
        size_t count = 1 + dice(MOST - 1), order = dice(3);
        arena_reset(&arena);
        memset(cells, 0, sizeof cells);
        memset(&all, 0, sizeof all);
        for (size_t i = 0; i < count; i++) {
            struct cell *to = &cells[dice(3)];
            events[i] = random_event();
            assert_int_equal(cell_add(to, &arena, &events[i]), 0);
            if (!dice(50))
                *to = stored(to);
        }
        for (size_t i = 0; i < 3; i++) {
            struct cell more = stored(&cells[(i + order) % 3]);
            assert_int_equal(cell_merge(&all, &arena, &more), 0);
        }
        all = stored(&all);
        check(&all, events, count);
    }
}

static void values_beyond_the_most_are_the_others(void **unused)
{
    struct cell cell, twice;
    char text[16];
    (void)unused;
    arena_reset(&arena);
    memset(&cell, 0, sizeof cell);
    memset(&twice, 0, sizeof twice);
    for (int i = 0; i < MIRE_CELL_VALUES + 40; i++) {
        struct cell_event event = {.occurred_us = 1, .device = (uint32_t)i, .events = 1};
        snprintf(text, sizeof text, "model %d", i);
        event.values[MIRE_FACET_MODEL] = text;
        event.values[MIRE_FACET_OS] = "linux";
        assert_int_equal(cell_add(&cell, &arena, &event), 0);
    }
    assert_int_equal(cell_find(&cell, MIRE_FACET_MODEL, MIRE_CELL_OTHERS)->reports, 40);
    assert_true(distinct_count(&cell_find(&cell, MIRE_FACET_MODEL, MIRE_CELL_OTHERS)->devices) == 40);
    assert_int_equal(cell_find(&cell, MIRE_FACET_OS, "linux")->reports, MIRE_CELL_VALUES + 40);
    assert_int_equal(cell_merge(&twice, &arena, &cell), 0);
    assert_int_equal(cell_merge(&twice, &arena, &cell), 0);
    assert_int_equal(cell_find(&twice, MIRE_FACET_MODEL, MIRE_CELL_OTHERS)->reports, 80);
}

/* A text that is too long is cut in a cell, which can be stored and read. */
static void long_values_are_cut(void **unused)
{
    struct cell cell;
    char text[2 * MIRE_CELL_TEXT_MAX];
    (void)unused;
    arena_reset(&arena);
    memset(&cell, 0, sizeof cell);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    struct cell_event event = {.occurred_us = 1, .events = 1, .values = {[MIRE_FACET_MODEL] = text}};
    assert_int_equal(cell_add(&cell, &arena, &event), 0);
    assert_int_equal(cell_add(&cell, &arena, &event), 0);
    cell = stored(&cell);
    text[MIRE_CELL_TEXT_MAX] = 0;
    assert_int_equal(cell_find(&cell, MIRE_FACET_MODEL, text)->reports, 2);
}

static void a_delta_gives_its_events_back(void **unused)
{
    static struct delta_entry entries[300];
    struct delta_entry *back;
    unsigned char *bytes;
    size_t len, count;
    char long_text[2 * MIRE_CELL_TEXT_MAX];
    (void)unused;
    arena_reset(&arena);
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    memcpy(long_text + MIRE_CELL_TEXT_MAX - 1, "\xc3\xa9", 2);
    for (size_t i = 0; i < 300; i++)
        entries[i] = (struct delta_entry){(int64_t)dice(1u << 30), (int32_t)(dice(1ull << 31) * 2 - (1u << 31)),
                                          i % 2 ? "lag" : "deadlock", random_event()};
    entries[7].event.values[MIRE_FACET_MODEL] = long_text;
    assert_int_equal(delta_encode(&bytes, &len, &arena, entries, 300), 0);
    assert_int_equal(delta_decode(&back, &count, &arena, bytes, len), 0);
    assert_int_equal(count, 300);
    assert_int_equal(strlen(back[7].event.values[MIRE_FACET_MODEL]), MIRE_CELL_TEXT_MAX - 1);
    back[7].event.values[MIRE_FACET_MODEL] = long_text;
    for (size_t i = 0; i < count; i++) {
        struct cell_event *a = &entries[i].event, *b = &back[i].event;
        assert_true(entries[i].issue_id == back[i].issue_id && entries[i].tree == back[i].tree);
        assert_string_equal(entries[i].category, back[i].category);
        for (size_t k = 0; k < MIRE_FACET_COUNT; k++) {
            assert_int_equal(!a->values[k], !b->values[k]);
            assert_string_equal(a->values[k] ? a->values[k] : "", b->values[k] ? b->values[k] : "");
            b->values[k] = a->values[k];
        }
        assert_memory_equal(a, b, sizeof *a);
    }
    printf("%.1f bytes an event\n", (double)len / 300);
}

/* --- damaged bytes --- */

static void damaged_bytes_are_refused_or_read_as_something(void **unused)
{
    struct cell cell;
    unsigned char *bytes;
    size_t len;
    (void)unused;
    arena_reset(&arena);
    memset(&cell, 0, sizeof cell);
    for (int i = 0; i < 400; i++) {
        struct cell_event event = random_event();
        assert_int_equal(cell_add(&cell, &arena, &event), 0);
    }
    assert_int_equal(cell_encode(&bytes, &len, &arena, &cell), 0);
    for (size_t cut = 0; cut < len; cut += 1 + len / 500) {
        struct cell out;
        assert_int_equal(cell_decode(&out, &arena, bytes, cut), MIRE_FAULT_BROKEN);
        assert_int_equal(out.all.reports, 0);
    }
    for (int round = 0; round < 2000; round++) {
        struct arena small;
        struct cell out;
        unsigned char *damaged = malloc(len);
        memcpy(damaged, bytes, len);
        for (uint64_t i = 0; i <= dice(4); i++)
            damaged[dice(len)] = (unsigned char)dice(256);
        arena_init(&small, 64u << 20);
        if (!cell_decode(&out, &small, damaged, len))
            (void)distinct_count(&out.all.devices);
        arena_fini(&small);
        free(damaged);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_installations_are_counted_exactly),
        cmocka_unit_test(the_error_of_many_installations_is_below_five_percent),
        cmocka_unit_test(what_two_sets_share_is_told),
        cmocka_unit_test(cells_say_what_their_events_say),
        cmocka_unit_test(values_beyond_the_most_are_the_others),
        cmocka_unit_test(long_values_are_cut),
        cmocka_unit_test(a_delta_gives_its_events_back),
        cmocka_unit_test(damaged_bytes_are_refused_or_read_as_something),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
