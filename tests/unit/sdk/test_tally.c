/* Sums by category and stack: those of a naive twin, and the large ones in any order of arrival. */
#include "report/tally.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The index of the pair; pair_count: none. */
static uint32_t find(const struct tally *tally, uint32_t category, uint32_t node)
{
    uint32_t i = 0;

    while (i < tally->pair_count &&
           (mire__tally_at(tally, i)->category != category || mire__tally_at(tally, i)->node != node))
        i++;
    return i;
}

/* Chances are powers of two, so that sums are exact. */
static void sums_are_those_of_a_naive_twin(bool drawn)
{
    static struct twin {
        double count, bytes;
        struct draw_spread spread;
    } twins[8][1024];
    unsigned pairs = 0;
    struct tally tally;

    memset(twins, 0, sizeof(twins));
    srand48(test_seed());
    assert_int_equal(mire__tally_init(&tally, drawn), MIRE_OK);
    for (int i = 0; i < 200000; i++) {
        uint32_t category = (uint32_t)lrand48() % 8, node = (uint32_t)(lrand48() % 1024 * (lrand48() % 2));
        uint64_t size = (uint64_t)lrand48() % 1000;
        double chance = drawn ? 1.0 / (double)(1 << lrand48() % 8) : 1;
        struct twin *twin = &twins[category][node];

        mire__tally_add(&tally, category, node, size, chance);
        pairs += twin->count == 0;
        twin->count += 1 / chance;
        twin->bytes += (double)size / chance;
        mire__draw_add(&twin->spread, size, chance);
    }
    mire__tally_close(&tally);
    assert_int_equal(tally.pair_count, pairs);
    assert_false(tally.full);
    for (uint32_t i = 0; i < tally.pair_count; i++) {
        const struct tally_pair *pair = mire__tally_at(&tally, i);
        const struct twin *twin = &twins[pair->category][pair->node];

        assert_true(pair->count == twin->count && pair->bytes == twin->bytes);
        assert_true(i == 0 || mire__tally_at(&tally, i - 1)->bytes >= pair->bytes);
        if (drawn)
            assert_memory_equal(mire__tally_spread(&tally, i), &twin->spread, sizeof(twin->spread));
        else
            assert_null(mire__tally_spread(&tally, i));
    }
    mire__tally_fini(&tally);
}

static void sums_of_all_blocks_are_those_of_a_naive_twin(void **state)
{
    (void)state;
    sums_are_those_of_a_naive_twin(false);
}

static void sums_of_drawn_blocks_are_those_of_a_naive_twin_and_so_is_how_sure_they_are(void **state)
{
    (void)state;
    sums_are_those_of_a_naive_twin(true);
}

static void what_is_large_is_there_whenever_it_comes(void **state)
{
    (void)state;
    for (int drawn = 0; drawn < 2; drawn++) {
        const uint32_t room = MIRE_TALLY_PAIRS_MAX >> drawn;
        const struct tally_pair *leak;
        struct tally tally;

        assert_int_equal(mire__tally_init(&tally, drawn), MIRE_OK);
        for (uint32_t i = 1; i <= 3 * room; i++) {
            mire__tally_add(&tally, 3, i, 40 + i % 400, 1); /* millions of insignificant stacks */
            if (i > 2 * room && i % 16 == 0)
                mire__tally_add(&tally, 5, 7, 100000, 1); /* the leak comes last */
        }
        mire__tally_close(&tally);
        assert_true(tally.full);
        assert_true(tally.pair_count <= room);
        assert_int_equal(find(&tally, 5, 7), 0);
        leak = mire__tally_at(&tally, 0);
        assert_true(leak->count * 16 == room && leak->bytes == leak->count * 100000);
        mire__tally_fini(&tally);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_all_blocks_are_those_of_a_naive_twin),
        cmocka_unit_test(sums_of_drawn_blocks_are_those_of_a_naive_twin_and_so_is_how_sure_they_are),
        cmocka_unit_test(what_is_large_is_there_whenever_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
