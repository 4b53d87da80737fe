/* Sums by category and stack: what a naive twin has, and the large ones whatever comes. */
#include "report/tally.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static const struct tally_pair *find(const struct tally *tally, uint32_t category, uint32_t node)
{
    for (uint32_t i = 0; i < tally->pair_count; i++)
        if (tally->pairs[i].category == category && tally->pairs[i].node == node)
            return &tally->pairs[i];
    return NULL;
}

static void sums_are_those_of_a_naive_twin(void **state)
{
    static double count[8][1024], bytes[8][1024];
    unsigned seed = test_seed(), pairs = 0;
    struct tally tally;

    (void)state;
    srand48(seed);
    assert_int_equal(mire__tally_init(&tally), MIRE_OK);
    for (int i = 0; i < 200000; i++) {
        uint32_t category = (uint32_t)lrand48() % 8, node = (uint32_t)(lrand48() % 1024 * (lrand48() % 2));
        double size = (double)(lrand48() % 1000);

        mire__tally_add(&tally, category, node, 1, size);
        pairs += count[category][node] == 0;
        count[category][node]++;
        bytes[category][node] += size;
    }
    mire__tally_close(&tally);
    assert_int_equal(tally.pair_count, pairs);
    assert_false(tally.full);
    for (uint32_t i = 0; i < tally.pair_count; i++) {
        const struct tally_pair *pair = &tally.pairs[i];

        assert_true(pair->count == count[pair->category][pair->node]);
        assert_true(pair->bytes == bytes[pair->category][pair->node]);
        assert_true(i == 0 || tally.pairs[i - 1].bytes >= pair->bytes);
    }
    mire__tally_fini(&tally);
}

static void what_is_large_is_there_whenever_it_comes(void **state)
{
    struct tally tally;
    const struct tally_pair *leak;

    (void)state;
    assert_int_equal(mire__tally_init(&tally), MIRE_OK);
    for (uint32_t i = 1; i <= 3 * MIRE_TALLY_PAIRS_MAX; i++) {
        mire__tally_add(&tally, 3, i, 1, 40 + i % 400); /* millions of stacks, none matters */
        if (i > 2 * MIRE_TALLY_PAIRS_MAX && i % 16 == 0)
            mire__tally_add(&tally, 5, 7, 1, 100000); /* the leak comes last */
    }
    mire__tally_close(&tally);
    assert_true(tally.full);
    assert_true(tally.pair_count <= MIRE_TALLY_PAIRS_MAX);
    leak = find(&tally, 5, 7);
    assert_ptr_equal(leak, &tally.pairs[0]);
    assert_true(leak->count * 16 == MIRE_TALLY_PAIRS_MAX && leak->bytes == leak->count * 100000);
    mire__tally_fini(&tally);
}

static void nothing_counts_for_nothing(void **state)
{
    struct tally tally;

    (void)state;
    assert_int_equal(mire__tally_init(&tally), MIRE_OK);
    mire__tally_add(&tally, 1, 2, 0, 100);
    mire__tally_add(&tally, 1, 2, -1, 100);
    mire__tally_close(&tally);
    assert_int_equal(tally.pair_count, 0);
    mire__tally_fini(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_a_naive_twin),
        cmocka_unit_test(what_is_large_is_there_whenever_it_comes),
        cmocka_unit_test(nothing_counts_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
