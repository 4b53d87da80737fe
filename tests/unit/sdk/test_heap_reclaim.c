/* test_heap_reclaim.c - full tables: remaining blocks, their weights, and threads that run meanwhile. */
#include "heap/classes.h"
#include "heap/reclaim.h"
#include "heapread/read.h"
#include "heapread/weight.h"
#include "support/heaps.h"
#include "support/seed.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "support/emulator.h"

#define UNADVISED "qemu-user says yes to madvise, and gives no page back"

#define BASE UINT64_C(0x7f0000000000)

static uint64_t random_state;

static uint32_t roll(uint32_t below)
{
    return test_roll(&random_state, below);
}

static void keep(struct heaps *heaps, struct heap_reclaimed *kept)
{
    mire__slot_as_leave(heaps->slot);
    mire__heap_reclaim(kept, &heaps->heap, 1, random_state++);
    assert_true(mire__slot_as_enter(heaps->slot));
}

static struct heap_reader *read_tables(const struct heaps *heaps)
{
    static struct heap_reader reader;

    assert_int_equal(mire__read_open(&reader, heaps->memory, heaps->bytes), MIRE_READ_OK);
    return &reader;
}

/* Sums of the reader over blocks whose size follows from their address. */
struct estimate {
    double count, bytes, count_variance, bytes_variance;
    uint64_t certain, seen, wrong;
    uint64_t (*size_of)(uint64_t address);
};

static bool estimate_block(void *context, const struct heap_live *live)
{
    struct estimate *e = context;
    double p = live->chance, size = (double)live->size;

    e->seen++;
    e->certain += p == 1;
    e->wrong += e->size_of(live->address) != live->size;
    e->count += 1 / p;
    e->bytes += size / p;
    e->count_variance += (1 - p) / (p * p);
    e->bytes_variance += size * size * (1 - p) / (p * p);
    return true;
}

static struct estimate estimate(const struct heaps *heaps, uint64_t (*size_of)(uint64_t address))
{
    struct estimate e = {.size_of = size_of};

    assert_int_equal(mire__read_blocks(read_tables(heaps), estimate_block, &e), 0);
    assert_int_equal(e.wrong, 0);
    return e;
}

/* Within five standard errors: by chance outside in one of two million runs. */
static void assert_near(double estimate, double variance, double truth)
{
    if (fabs(estimate - truth) > 5 * sqrt(variance) + 1)
        print_message("%g, not %g +- %g\n", estimate, truth, sqrt(variance));
    assert_true(fabs(estimate - truth) <= 5 * sqrt(variance) + 1);
}

static uint64_t mixed_size(uint64_t address)
{
    uint64_t at = (address - BASE) >> 13;

    return at % 100 == 0 ? 6000000 : at % 2 == 0 ? 20000 + at % 7000 : 16 + at % 200;
}

static void full_tables_are_thinned_without_bias(void **state)
{
    enum { BLOCKS = 800000, TAGGED = 100 };
    struct heaps *heaps = heaps_new(MIRE_HEAP_BUDGET_MIN, MIRE_HEAP_EXACT);
    uint32_t class = mire__classes_as_find(&heaps->heap, "UIImage");
    uint32_t stack = heaps_stack(heaps, 1, UINT64_C(0x401000)), presses = 0, big = 0;
    double truth_bytes = 0;
    struct heap_reclaimed kept;
    struct heap_facts facts;
    struct estimate e;

    (void)state;
    skip_if_emulated(UNADVISED);
    random_state = test_seed();
    for (uint64_t i = 0; i < BLOCKS; i++) {
        uint64_t address = BASE + (i << 13), size = mixed_size(address);
        uint32_t interval = mire__heap_as_interval(&heaps->heap);
        bool drawn = (double)roll(1u << 30) * 0x1p-30 <
                     mire__draw_chance(size, mire__heap_as_interval_bytes(&heaps->heap, interval));

        truth_bytes += (double)size;
        if (mire__heap_as_mode(&heaps->heap) == MIRE_HEAP_EXACT)
            assert_true(heaps_set(heaps, address, size, stack));
        else if (size >= mire__heap_as_certain_bytes(&heaps->heap, interval))
            assert_true(mire__block_as_sample(&heaps->heap, heaps->slot, address, size, stack, 0));
        else if (drawn)
            assert_true(mire__block_as_sample(&heaps->heap, heaps->slot, address, size, stack, interval));
        big += size > 5000000;
        if (i < TAGGED)
            assert_true(mire__block_as_tag(&heaps->heap, heaps->slot, address, class));
        if (heaps->heap.pressed) {
            keep(heaps, &kept);
            assert_true(kept.degraded);
            presses++;
        }
    }
    assert_true(presses > 1);
    assert_true(heaps->heap.header->claimed_most_bytes <= MIRE_HEAP_BUDGET_MIN);
    e = estimate(heaps, mixed_size);
    assert_true(e.seen < BLOCKS / 4);
    assert_near(e.count, e.count_variance, BLOCKS);
    assert_near(e.bytes, e.bytes_variance, truth_bytes);
    assert_true(e.certain >= big + TAGGED - 1); /* the first tagged one is big as well */
    mire__read_facts(&facts, read_tables(heaps));
    assert_int_equal(facts.mode, MIRE_HEAP_SAMPLED);
    assert_int_equal(facts.asked_mode, MIRE_HEAP_EXACT);
    assert_int_equal(facts.degrade_count, presses);
    assert_int_equal(facts.drops[MIRE_HEAP_DROP_FULL], 0);
    assert_int_equal(mire__heap_set_mode(&heaps->heap, MIRE_HEAP_EXACT, 0), MIRE_E_STATE);
    for (uint64_t i = 0; i < BLOCKS; i++)
        heaps_clear(heaps, BASE + (i << 13));
    assert_int_equal(estimate(heaps, mixed_size).seen, 0);
    heaps_fill(heaps);
    keep(heaps, &kept);
    assert_int_equal(heaps->heap.header->segments_used - heaps->heap.block_spare.count, 1); /* joined again */
    heaps_free(heaps);
}

/* The interval was raised because of the shadow entries' memory; if they stayed it would be raised again. */
static void what_was_thinned_is_given_back_at_once(void **state)
{
    struct heaps *heaps = heaps_new(4u << 20, MIRE_HEAP_EXACT);
    struct heap_reclaimed kept;
    uint64_t i = 0;

    (void)state;
    skip_if_emulated(UNADVISED);
    for (uint32_t round = 0; round < 3; round++) { /* the pages are known to be dense */
        for (uint64_t end = i + 100000; i < end; i++)
            assert_true(heaps_set(heaps, BASE + i * 64, 50, 0));
        keep(heaps, &kept);
        assert_false(kept.degraded);
    }
    while (!heaps->heap.pressed)
        assert_true(heaps_set(heaps, BASE + i++ * 64, 50, 0));
    keep(heaps, &kept);
    assert_true(kept.degraded);
    assert_true(heaps->heap.header->claimed_bytes < heaps->heap.budget_bytes / 4 || heaps->heap.holds_pages);
    assert_int_equal(heaps->heap.header->shadow_pages_used, heaps->heap.shadow_spare.count);
    heaps_free(heaps);
}

/* The library needs some 3 MB beside the tables: with them the default budget stays within 20 MB. */
static void full_tables_leave_room_for_the_library(void **state)
{
    const uint64_t budget = 20u << 20, most = 20000000 - 3000000, step = 20000;
    struct heaps *heaps = heaps_new(budget, MIRE_HEAP_EXACT);
    uint64_t before = 0;

    (void)state;
    for (uint64_t i = 0; !heaps->heap.pressed; i++) {
        before = heaps->heap.header->claimed_bytes;
        assert_true(before <= most);
        assert_true(heaps_set(heaps, BASE + i * step, 5000, 0));
    }
    assert_true(before > budget / 4 * 3); /* and no earlier than it must be */
    heaps_free(heaps);
}

static void the_mode_is_switched_while_it_runs(void **state)
{
    struct heaps *heaps = heaps_new(4u << 20, MIRE_HEAP_EXACT);
    struct heap_facts facts;
    struct estimate e;

    (void)state;
    for (uint64_t i = 0; i < 10; i++)
        assert_true(heaps_set(heaps, BASE + (i << 13), mixed_size(BASE + (i << 13)), 0));
    assert_int_equal(mire__heap_set_mode(&heaps->heap, MIRE_HEAP_SAMPLED, 0), MIRE_E_RANGE);
    assert_int_equal(mire__heap_set_mode(&heaps->heap, MIRE_HEAP_SAMPLED, 4096), MIRE_OK);
    assert_true(mire__block_as_sample(&heaps->heap, heaps->slot, BASE + (11u << 13), mixed_size(BASE + (11u << 13)), 0,
                                      mire__heap_as_interval(&heaps->heap)));
    e = estimate(heaps, mixed_size);
    assert_int_equal(e.certain, 10);
    assert_int_equal(e.seen, 11);
    assert_int_equal(mire__heap_set_mode(&heaps->heap, MIRE_HEAP_SAMPLED, 8192), MIRE_OK); /* present blocks stay */
    assert_true(estimate(heaps, mixed_size).count == e.count);
    for (uint64_t i = 0; i < 40; i++)
        mire__heap_set_mode(&heaps->heap, MIRE_HEAP_SAMPLED, 1000 + i);
    assert_int_equal(mire__heap_set_mode(&heaps->heap, MIRE_HEAP_SAMPLED, 9999), MIRE_E_FULL);
    assert_int_equal(mire__heap_set_mode(&heaps->heap, MIRE_HEAP_EXACT, 0), MIRE_OK);
    mire__read_facts(&facts, read_tables(heaps));
    assert_int_equal(facts.mode, MIRE_HEAP_EXACT);
    assert_int_equal(facts.interval_bytes, 0);
    assert_true(facts.inexact_ns > 0);
    heaps_free(heaps);
}

static void chances_are_those_of_the_exponential(void **state)
{
    (void)state;
    for (double size = 1; size < 1e15; size *= 1.7) {
        for (double interval = 2; interval < 1e12; interval *= 3.1) {
            double p = mire__draw_chance((uint64_t)size, (uint64_t)interval);
            double expected = -expm1(-floor(size) / floor(interval));

            assert_true(fabs(p - expected) <= 1e-14 * expected);
        }
    }
    assert_true(mire__draw_chance(0, 100) == mire__draw_chance(1, 100));
    assert_true(mire__draw_chance(5, 1) == 1);
    assert_true(mire__draw_chance(5, 0) == 1);
}

static void too_small_a_budget_is_refused(void **state)
{
    struct heap_options options = MIRE_HEAP_OPTIONS_INIT;
    static struct heap heap;

    (void)state;
    options.budget_bytes = MIRE_HEAP_BUDGET_MIN - 4096;
    assert_int_equal(mire__heap_open(&heap, NULL, &options), MIRE_E_RANGE);
    options.budget_bytes = (uint64_t)MIRE_HEAP_BUDGET_MAX + 4096;
    assert_int_equal(mire__heap_open(&heap, NULL, &options), MIRE_E_RANGE);
    options.budget_bytes = 4097 * 4096u + 1;
    assert_int_equal(mire__heap_open(&heap, NULL, &options), MIRE_E_RANGE);
}

/* ---- threads ---- */

#define THREADS 4u
#define EACH    2048u /* addresses of one thread's arena */

struct worker {
    struct heaps *heaps;
    uint64_t random;
    uint32_t index, steps;
    uint8_t live[EACH];
    struct worker *neighbour;    /* frees the blocks handed over */
    _Atomic uint64_t handed[64]; /* by this worker, to the neighbour; 0: place is free */
    bool wrong, mode_fixed;
};

/* Blocks in the first half of an arena are close together, two in each shadow entry. */
static uint64_t address_in(uint32_t arena, uint32_t at)
{
    return BASE + ((uint64_t)arena << 32) + (at < EACH / 2 ? at * UINT64_C(16) : (1u << 20) + at * UINT64_C(160));
}

static uint64_t small_size(uint64_t address)
{
    if ((address & UINT32_MAX) < 1u << 20)
        return (address >> 4) % 17;
    return (address >> 6) % 7 == 0 ? 2000 : 8 + (address >> 6) % 100;
}

/* Take over the neighbour's blocks, and free them. */
static void take_over(struct worker *worker, struct heap_slot *slot)
{
    struct live_block was;

    for (uint32_t i = 0; i < MIRE_COUNT(worker->neighbour->handed); i++) {
        uint64_t address = atomic_exchange(&worker->neighbour->handed[i], 0);

        if (address && !mire__block_as_clear(&was, &worker->heaps->heap, slot, address))
            worker->wrong |= worker->mode_fixed;
    }
}

static void one_step(struct worker *worker, struct heap_slot *slot)
{
    uint32_t at = test_roll(&worker->random, EACH), to = test_roll(&worker->random, MIRE_COUNT(worker->handed));
    uint64_t address = address_in(worker->index, at), none = 0;
    uint64_t frames[3] = {0x401000 + at % 61, 0x402000 + at % 7, 0x403000};
    struct live_block was;
    uint32_t nodes[3];

    if (!mire__slot_as_enter(slot)) {
        worker->wrong = true;
        return;
    }
    if (worker->live[at] == 0) {
        mire__nodes_as_push(nodes, &worker->heaps->heap, MIRE_NODE_ROOT, frames, 3);
        worker->live[at] = mire__block_as_set(&worker->heaps->heap, slot, address, small_size(address), nodes[0]);
        worker->wrong |= worker->live[at] == 0;
    } else {
        worker->live[at] = 0;
        if (!mire__block_as_clear(&was, &worker->heaps->heap, slot, address))
            worker->wrong |= worker->mode_fixed;
        else
            worker->wrong |= was.size != small_size(address);
    }
    /* A further block, which the neighbour frees. */
    address = BASE + ((uint64_t)(worker->index + 16) << 32) + (1u << 20) + (uint64_t)worker->steps * 160;
    if (worker->steps % 4 == 0 && atomic_load(&worker->handed[to]) == 0 &&
        mire__block_as_set(&worker->heaps->heap, slot, address, small_size(address), 0) &&
        !atomic_compare_exchange_strong(&worker->handed[to], &none, address))
        worker->wrong = true;
    if (worker->steps % 16 == 0)
        take_over(worker, slot);
    mire__slot_as_leave(slot);
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct heap_slot *slot = mire__slot_as_take(&worker->heaps->heap, worker->index + 2);

    for (worker->steps = 0; slot && worker->steps < 60000; worker->steps++)
        one_step(worker, slot);
    if (slot)
        mire__slot_as_give(&worker->heaps->heap, slot);
    else
        worker->wrong = true;
    return NULL;
}

/* A thread without a processor for 1 s makes others give up, and they count that. Such a run proves nothing. */
static bool was_starved(const struct heaps *heaps)
{
    static const enum heap_drop given_up[] = {MIRE_HEAP_DROP_BUSY, MIRE_HEAP_DROP_STACK, MIRE_HEAP_DROP_FREE};
    uint64_t count = 0;

    for (uint32_t i = 0; i < MIRE_COUNT(given_up); i++)
        count += heaps->heap.header->drops[given_up[i]];
    if (count > 0)
        print_message("starved: %llu calls gave up\n", (unsigned long long)count);
    return count > 0;
}

/* Run the workers beside a reclaimer; with `degrade` it thins all the time. Returns false if the machine was too
 * busy. */
static bool run_workers(struct worker *workers, struct heaps *heaps, bool degrade)
{
    pthread_t threads[THREADS];
    struct heap_reclaimed kept;

    heaps_fill(heaps);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.heaps = heaps, .random = i + 1, .index = i, .mode_fixed = !degrade};
        workers[i].neighbour = &workers[(i + 1) % THREADS];
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    mire__slot_as_leave(heaps->slot);
    for (uint32_t i = 0; i < 60; i++) {
        if (degrade && i % 10 == 5) {
            mire__heap_set_mode(&heaps->heap, MIRE_HEAP_SAMPLED, 64u << (i / 10));
            atomic_store(&heaps->heap.pressed, 1);
        }
        mire__heap_reclaim(&kept, &heaps->heap, 1, i);
        mire__read_facts(&(struct heap_facts){0}, read_tables(heaps));
        estimate(heaps, small_size);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(mire__slot_as_enter(heaps->slot));
    if (was_starved(heaps))
        return false;
    assert_int_equal(heaps->heap.header->drops[MIRE_HEAP_DROP_OVERLAP], 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_false(workers[i].wrong);
        take_over(&workers[i], heaps->slot);
    }
    return true;
}

static void threads_beside_the_reclaimer_lose_nothing(void **state)
{
    struct heaps *heaps = heaps_new(20u << 20, MIRE_HEAP_EXACT);
    static struct worker workers[THREADS];
    uint64_t live = 0;

    (void)state;
    skip_if_emulated(UNADVISED);
    if (!run_workers(workers, heaps, false))
        skip();
    for (uint32_t i = 0; i < THREADS; i++) {
        for (uint32_t at = 0; at < EACH; at++)
            live += workers[i].live[at];
    }
    assert_int_equal(estimate(heaps, small_size).seen, live);
    heaps_free(heaps);
}

static void blocks_thinned_under_way_leave_no_ghosts(void **state)
{
    struct heaps *heaps = heaps_new(20u << 20, MIRE_HEAP_EXACT);
    static struct worker workers[THREADS];

    (void)state;
    skip_if_emulated(UNADVISED);
    if (!run_workers(workers, heaps, true))
        skip();
    for (uint32_t i = 0; i < THREADS; i++) {
        for (uint32_t at = 0; at < EACH; at++)
            heaps_clear(heaps, address_in(i, at));
    }
    assert_int_equal(estimate(heaps, small_size).seen, 0);
    heaps_free(heaps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_tables_are_thinned_without_bias),
        cmocka_unit_test(what_was_thinned_is_given_back_at_once),
        cmocka_unit_test(full_tables_leave_room_for_the_library),
        cmocka_unit_test(the_mode_is_switched_while_it_runs),
        cmocka_unit_test(chances_are_those_of_the_exponential),
        cmocka_unit_test(too_small_a_budget_is_refused),
        cmocka_unit_test(threads_beside_the_reclaimer_lose_nothing),
        cmocka_unit_test(blocks_thinned_under_way_leave_no_ghosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
