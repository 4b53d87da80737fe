/* Standing sums compared with a naive twin that keeps every hour; spans of hours; and damaged bytes. */
#include "rollup/standing.h"

#include "base/fault.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOUR_US 3600000000ll
#define BEGIN   (489000 * HOUR_US) /* no multiple of the longer spans */
#define HOURS   1200
#define KEYS    40

static struct arena arena;
static uint64_t state = 20261127;

static int64_t dice(int64_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int64_t)((state >> 33) % (uint64_t)below);
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

/* --- spans --- */

static bool is_whole(const struct standing_block *block)
{
    return block->at_us % (block->hours * HOUR_US) == 0;
}

static void spans_cover_each_hour_once(void **unused)
{
    (void)unused;
    for (int round = 0; round < 2000; round++) {
        enum standing_kind kind = (enum standing_kind)dice(MIRE_STANDING_KINDS);
        int16_t most = dice(3) ? INT16_MAX : 1, least = standing_lengths[kind][0];
        int64_t from = BEGIN + (dice(3000) - 1500) * HOUR_US, to = from + (1 + dice(round % 2 ? 40 : 2000)) * HOUR_US;
        size_t count;
        struct standing_block *blocks = standing_blocks(&count, &arena, kind, most, from, to);
        assert_non_null(blocks);
        assert_true(count >= 1);
        int64_t at = blocks[0].at_us;
        assert_true(at <= from && from - at < least * HOUR_US);
        for (size_t i = 0; i < count; i++) {
            assert_true(blocks[i].at_us == at && is_whole(&blocks[i]) && (blocks[i].hours <= most || least > most));
            at += blocks[i].hours * HOUR_US;
        }
        assert_true(at >= to && at - to < least * HOUR_US);
        if (most == INT16_MAX && kind == MIRE_STANDING_ISSUES) /* few, however long the span */
            assert_true(count <= 32 + (size_t)((to - from) / (384 * HOUR_US)));
        arena_reset(&arena);
    }
}

/* --- sums --- */

static struct standing_sums twin[HOURS][KEYS];

static struct standing_sums sums_of(int64_t hour_us)
{
    struct standing_sums sums = {.reports = 1 + dice(3),
                                 .waited_ms = (double)dice(100000) * (dice(2) ? 1 : 0.37),
                                 .above_bytes = dice(4) ? 0 : (double)dice(1ll << 40) * 1.5,
                                 .longest_ms = dice(100000),
                                 .most_bytes = dice(4) ? 0 : dice(1ll << 40),
                                 .first_us = hour_us,
                                 .last_us = hour_us + dice(HOUR_US)};
    sums.events = (double)sums.reports * (dice(2) ? 1 : 3.25);
    return sums;
}

static void twin_add(struct standing_sums *to, const struct standing_sums *more)
{
    bool empty = !to->reports;
    to->reports += more->reports;
    to->events += more->events;
    to->waited_ms += more->waited_ms;
    to->above_bytes += more->above_bytes;
    to->longest_ms = more->longest_ms > to->longest_ms ? more->longest_ms : to->longest_ms;
    to->most_bytes = more->most_bytes > to->most_bytes ? more->most_bytes : to->most_bytes;
    to->first_us = empty || more->first_us < to->first_us ? more->first_us : to->first_us;
    to->last_us = empty || more->last_us > to->last_us ? more->last_us : to->last_us;
}

static void assert_same(const struct standing_sums *given, const struct standing_sums *counted)
{
    assert_true(given->reports == counted->reports);
    assert_true(fabs(given->events - counted->events) < 1e-6 * (1 + counted->events));
    assert_true(fabs(given->waited_ms - counted->waited_ms) < 1e-6 * (1 + counted->waited_ms));
    assert_true(fabs(given->above_bytes - counted->above_bytes) < 1e-6 * (1 + counted->above_bytes));
    assert_true(given->longest_ms == counted->longest_ms && given->most_bytes == counted->most_bytes);
    assert_true(given->first_us == counted->first_us && given->last_us == counted->last_us);
}

static struct standing_key key_of(int number)
{
    return (struct standing_key){.a = number / 2 - 3, .b = number % 2 ? -number : number * 1000ll, .c = number % 3};
}

static int number_of(const struct standing_key *key)
{
    for (int i = 0; i < KEYS; i++) {
        struct standing_key like = key_of(i);
        if (like.a == key->a && like.b == key->b && like.c == key->c)
            return i;
    }
    return -1;
}

/* Rows as the tables have them: the bytes of each span of each length. */
struct packed {
    int16_t hours;
    int64_t at_us;
    unsigned char *bytes;
    size_t len;
};
static struct packed rows[4096];
static size_t row_count;

static struct packed *row_at(int16_t hours, int64_t at_us)
{
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].hours == hours && rows[i].at_us == at_us)
            return &rows[i];
    assert_true(row_count < sizeof rows / sizeof *rows);
    rows[row_count] = (struct packed){hours, at_us, NULL, 0};
    return &rows[row_count++];
}

static int add(void *context, const struct standing_key *key, const struct standing_sums *sums)
{
    return standing_add(context, &arena, key, sums);
}

static void row_add(struct packed *row, const struct standing_key *key, const struct standing_sums *sums)
{
    struct standing standing = {0};
    unsigned char *bytes;

    if (row->len)
        assert_int_equal(standing_each(row->bytes, row->len, row->at_us, add, &standing), 0);
    assert_int_equal(standing_add(&standing, &arena, key, sums), 0);
    standing_sort(&standing);
    assert_int_equal(standing_encode(&bytes, &row->len, &arena, &standing, row->at_us), 0);
    free(row->bytes);
    row->bytes = malloc(row->len);
    memcpy(row->bytes, bytes, row->len);
    arena_reset(&arena);
}

/* Add to the row of each length, or take: negative sums whose extremes are nothing. */
static void change(int hour, int number, const struct standing_sums *sums)
{
    int64_t hour_us = BEGIN + hour * HOUR_US;
    struct standing_key key = key_of(number);

    for (const int16_t *hours = standing_lengths[MIRE_STANDING_ISSUES]; *hours; hours++)
        row_add(row_at(*hours, hour_us - hour_us % (*hours * HOUR_US)), &key, sums);
}

static void compare_span(int from, int to, bool extremes)
{
    struct standing given = {0};
    struct standing_sums counted[KEYS];
    size_t count, found = 0;
    struct standing_block *blocks =
        standing_blocks(&count, &arena, MIRE_STANDING_ISSUES, INT16_MAX, BEGIN + from * HOUR_US, BEGIN + to * HOUR_US);

    for (size_t i = 0; i < count; i++) {
        struct packed *row = row_at(blocks[i].hours, blocks[i].at_us);
        if (row->len)
            assert_int_equal(standing_each(row->bytes, row->len, row->at_us, add, &given), 0);
    }
    standing_sort(&given);
    memset(counted, 0, sizeof counted);
    for (int hour = from; hour < to; hour++)
        for (int i = 0; i < KEYS; i++)
            if (twin[hour][i].reports)
                twin_add(&counted[i], &twin[hour][i]);
    for (int i = 0; i < KEYS; i++)
        found += counted[i].reports != 0;
    assert_int_equal(given.count, found);
    for (size_t i = 0; i < given.count; i++) {
        int number = number_of(&given.rows[i].key);
        assert_true(number >= 0);
        if (!extremes) {
            counted[number].longest_ms = given.rows[i].sums.longest_ms;
            counted[number].most_bytes = given.rows[i].sums.most_bytes;
            counted[number].first_us = given.rows[i].sums.first_us;
            counted[number].last_us = given.rows[i].sums.last_us;
        }
        assert_same(&given.rows[i].sums, &counted[number]);
    }
    arena_reset(&arena);
}

static void any_span_is_the_sum_of_its_hours(void **unused)
{
    (void)unused;
    for (int i = 0; i < 6000; i++) {
        int hour = (int)dice(HOURS), number = (int)dice(KEYS);
        struct standing_sums sums = sums_of(BEGIN + hour * HOUR_US);
        change(hour, number, &sums);
        twin_add(&twin[hour][number], &sums);
    }
    for (int i = 0; i < 300; i++) {
        int from = (int)dice(HOURS);
        compare_span(from, from + 1 + (int)dice(HOURS - from), true);
    }
    for (int i = 0; i < 3000; i++) { /* take a whole hour of a key, or a part of it */
        int hour = (int)dice(HOURS), number = (int)dice(KEYS);
        struct standing_sums *of = &twin[hour][number], less = {.first_us = BEGIN + hour * HOUR_US};
        if (!of->reports)
            continue;
        bool all = dice(2) || of->reports == 1;
        less.last_us = less.first_us;
        less.reports = all ? -of->reports : -1;
        less.events = all ? -of->events : -1;
        less.waited_ms = all ? -of->waited_ms : -of->waited_ms / 3;
        less.above_bytes = all ? -of->above_bytes : -of->above_bytes / 3;
        change(hour, number, &less);
        of->reports += less.reports;
        of->events += less.events;
        of->waited_ms += less.waited_ms;
        of->above_bytes += less.above_bytes;
    }
    for (int i = 0; i < 300; i++) {
        int from = (int)dice(HOURS);
        compare_span(from, from + 1 + (int)dice(HOURS - from), false);
    }
    for (size_t i = 0; i < row_count; i++)
        free(rows[i].bytes);
    row_count = 0;
}

/* --- bytes --- */

static int nothing(void *context, const struct standing_key *key, const struct standing_sums *sums)
{
    (void)key, (void)sums;
    ++*(size_t *)context;
    return 0;
}

static void changes_are_read_as_they_were_written(void **unused)
{
    struct standing_change changes[200], *read;
    unsigned char *bytes;
    size_t len, count;

    (void)unused;
    for (size_t i = 0; i < 200; i++) {
        int64_t hour_us = (dice(4000) - 2000) * HOUR_US;
        changes[i] = (struct standing_change){.kind = (enum standing_kind)dice(3),
                                              .issue = dice(1ll << 40) - (1ll << 39),
                                              .version = dice(1000),
                                              .part = (int32_t)(dice(1ll << 31) - (1 << 30)),
                                              .sums = sums_of(hour_us)};
        changes[i].sums.reports -= dice(9);
        changes[i].sums.events -= (double)dice(9);
        changes[i].sums.waited_ms -= (double)dice(1000000) / 7;
    }
    assert_int_equal(standing_changes_encode(&bytes, &len, &arena, changes, 200), 0);
    assert_int_equal(standing_changes_decode(&read, &count, &arena, bytes, len), 0);
    assert_int_equal(count, 200);
    for (size_t i = 0; i < count; i++) {
        assert_true(read[i].kind == changes[i].kind && read[i].issue == changes[i].issue &&
                    read[i].version == changes[i].version && read[i].part == changes[i].part);
        assert_memory_equal(&read[i].sums, &changes[i].sums, sizeof changes[i].sums);
    }
    for (size_t cut = 0; cut < len; cut++)
        assert_int_equal(standing_changes_decode(&read, &count, &arena, bytes, cut), MIRE_FAULT_BROKEN);
    for (int i = 0; i < 20000; i++) { /* any answer but a crash */
        size_t at = (size_t)dice((int64_t)len);
        unsigned char was = bytes[at];
        bytes[at] = (unsigned char)dice(256);
        (void)standing_changes_decode(&read, &count, &arena, bytes, len);
        bytes[at] = was;
    }
    arena_reset(&arena);
}

static void damaged_rows_are_refused(void **unused)
{
    struct standing standing = {0};
    unsigned char *bytes;
    size_t len, seen = 0;

    (void)unused;
    for (int i = 0; i < KEYS; i++) {
        struct standing_key key = key_of(i);
        struct standing_sums sums = sums_of(BEGIN);
        assert_int_equal(standing_add(&standing, &arena, &key, &sums), 0);
    }
    standing_sort(&standing);
    assert_int_equal(standing_encode(&bytes, &len, &arena, &standing, BEGIN), 0);
    assert_int_equal(standing_each(bytes, len, BEGIN, nothing, &seen), 0);
    assert_int_equal(seen, KEYS);
    for (size_t cut = 0; cut < len; cut++)
        assert_int_equal(standing_each(bytes, cut, BEGIN, nothing, &seen), MIRE_FAULT_BROKEN);
    for (int i = 0; i < 20000; i++) {
        size_t at = (size_t)dice((int64_t)len);
        unsigned char was = bytes[at];
        bytes[at] = (unsigned char)dice(256);
        (void)standing_each(bytes, len, BEGIN, nothing, &seen);
        bytes[at] = was;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(spans_cover_each_hour_once, setup, teardown),
        cmocka_unit_test_setup_teardown(any_span_is_the_sum_of_its_hours, setup, teardown),
        cmocka_unit_test_setup_teardown(changes_are_read_as_they_were_written, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_rows_are_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
