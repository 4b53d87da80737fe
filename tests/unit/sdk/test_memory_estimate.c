/* The true value is within the interval of a sampled memory report. */
#include "report/memory.h"

#include "heapread/weight.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/memory_json.h"

/* Blocks of a program: `count` of one size class, of `least` bytes and up to `more` beyond. */
struct holding {
    uint32_t count, least, more;
};

/*
 * One sampled run. half is 0 if no block was drawn: then only the whole has an interval, half_all.
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
 * Cases with few, some and many drawn blocks on average; with weights near 1; with one possibly missing block, or
 * hardly any.
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
        unsigned within = 0, all_within = 0, given = 0;

        for (unsigned seed = 1; seed <= RUNS; seed++) {
            sampled_run(&estimate, &half, &half_all, &truth, &holdings[i], seed);
            sum += estimate - truth;
            squares += (estimate - truth) * (estimate - truth);
            given += half > 0;
            within += half > 0 && fabs(estimate - truth) <= half;
            all_within += fabs(estimate - truth) <= half_all;
        }
        /* each drawn with a chance of 999 in 1000: the interval is narrow, or covers blocks that are likely to be
         * missing */
        assert_true(holdings[i].least < 500000 || half < 500000);
        printf("%u blocks of %u bytes and more: %u of %u within, all: %u of %u\n", holdings[i].count, holdings[i].least,
               within, given, all_within, RUNS);
        assert_true(given > RUNS / 4);
        assert_true(within * 100 >= given * 95);
        assert_true(all_within * 100 >= RUNS * 95);
        assert_true(fabs(sum) <
                    4 * sqrt(squares)); /* the estimate is not biased: chance is beyond that in 1 of 10,000 */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_lies_within_the_stated_interval_in_95_of_100_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
