/* test_ring.c - the ring compared with a naive twin, and the blackbox as read by its reader. */
#include "ring/blackbox.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <string.h>

#include <cmocka.h>

static struct blackbox box; /* some 1.5 MB: not for the stack */

static void push(struct ring *ring, uint64_t t_ns, uint64_t weight_ns)
{
    struct sample *sample = mire__ring_reserve(ring);

    sample->t_ns = t_ns;
    sample->depth = 1;
    sample->pc[0] = t_ns * 3;
    mire__ring_append(ring, weight_ns);
}

static void ring_keeps_what_fits(void **state)
{
    (void)state;
    uint64_t weight = 0;

    mire__ring_reset(&box.lanes[0].ring, 7);
    assert_int_equal(mire__ring_count(&box.lanes[0].ring), 0);
    assert_null(mire__ring_at(&weight, &box.lanes[0].ring, 0));
    for (uint64_t i = 0; i < MIRE_RING_SAMPLES; i++)
        push(&box.lanes[0].ring, i, i + 1);
    assert_int_equal(mire__ring_count(&box.lanes[0].ring), MIRE_RING_SAMPLES);
    for (uint32_t i = 0; i < MIRE_RING_SAMPLES; i++) {
        assert_int_equal(mire__ring_at(&weight, &box.lanes[0].ring, i)->t_ns, i);
        assert_int_equal(weight, i + 1);
    }
    assert_null(mire__ring_at(NULL, &box.lanes[0].ring, MIRE_RING_SAMPLES));
}

struct twin_sample {
    uint64_t t_ns, weight_ns;
};

/* The twin keeps every sample with its cumulated weight. The ring's samples must be an ordered subset, and each weight
 * the sum of whole neighbours. */
static void assert_covers(const struct ring *ring, const struct twin_sample *all, uint32_t all_count)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < mire__ring_count(ring); i++) {
        uint64_t weight = 0, sum = 0;
        const struct sample *sample = mire__ring_at(&weight, ring, i);
        bool inside = false;

        assert_non_null(sample);
        assert_int_equal(sample->pc[0], sample->t_ns * 3);
        while (sum < weight) {
            assert_true(next < all_count);
            inside |= all[next].t_ns == sample->t_ns;
            sum += all[next++].weight_ns;
        }
        assert_int_equal(sum, weight);
        assert_true(inside);
    }
    assert_int_equal(next, all_count);
}

static void ring_thins_like_its_naive_twin(void **state)
{
    (void)state;
    unsigned seed = test_seed();
    static struct twin_sample all[8 * MIRE_RING_SAMPLES];

    srandom(seed);
    for (int round = 0; round < 20; round++) {
        uint32_t count = (uint32_t)random() % MIRE_COUNT(all);
        uint64_t t_ns = 1;

        mire__ring_reset(&box.lanes[0].ring, (uint64_t)random());
        for (uint32_t i = 0; i < count; i++) {
            all[i].t_ns = t_ns += (uint64_t)random() % 1000 + 1;
            all[i].weight_ns = (uint64_t)random() % 1000 + 1;
            push(&box.lanes[0].ring, all[i].t_ns, all[i].weight_ns);
            if (random() % 64 == 0)
                assert_covers(&box.lanes[0].ring, all, i + 1);
        }
        assert_covers(&box.lanes[0].ring, all, count);
    }
}

static void thinning_favours_no_neighbour(void **state)
{
    (void)state;
    uint32_t odd = 0, total = 0;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        mire__ring_reset(&box.lanes[0].ring, seed * 0x9e3779b97f4a7c15ull);
        for (uint64_t i = 0; i <= MIRE_RING_SAMPLES; i++)
            push(&box.lanes[0].ring, i, 1);
        for (uint32_t i = 0; i < MIRE_RING_SAMPLES / 2; i++, total++)
            odd += mire__ring_at(NULL, &box.lanes[0].ring, i)->t_ns & 1;
    }
    assert_in_range(odd, total * 45 / 100, total * 55 / 100);
}

static void a_damaged_ring_gives_nothing(void **state)
{
    (void)state;
    mire__ring_reset(&box.lanes[0].ring, 1);
    push(&box.lanes[0].ring, 5, 5);
    box.lanes[0].ring.views[0].entries[0].slot = MIRE_RING_SAMPLES;
    assert_null(mire__ring_at(NULL, &box.lanes[0].ring, 0));
    box.lanes[0].ring.views[0].entries[0].slot = 0;
    box.lanes[0].ring.slots[0].depth = MIRE_DEPTH_MAX + 1;
    assert_null(mire__ring_at(NULL, &box.lanes[0].ring, 0));
    atomic_store(&box.lanes[0].ring.views[0].count, MIRE_RING_SAMPLES + 1);
    assert_int_equal(mire__ring_count(&box.lanes[0].ring), 0);
}

static void blackbox_is_known_by_its_header(void **state)
{
    (void)state;
    struct blackbox_facts facts = {.pid = 7};

    memset(&box, 0, sizeof(box));
    assert_int_equal(mire__blackbox_check(&box, sizeof(box)), MIRE_E_FORMAT);
    mire__blackbox_init(&box, &facts);
    assert_int_equal(mire__blackbox_check(&box, sizeof(box)), MIRE_OK);
    assert_int_equal(mire__blackbox_check(&box, sizeof(box) - 1), MIRE_E_FORMAT);
    box.version = 1; /* an older one */
    assert_int_equal(mire__blackbox_check(&box, sizeof(box)), MIRE_E_FORMAT);
}

static void blackbox_finds_the_latest_image(void **state)
{
    (void)state;
    struct blackbox_facts facts = {.pid = 7};
    struct image first = {.start = 0x1000, .end = 0x3000}, second = {.start = 0x2000, .end = 0x4000};

    memset(&box, 0, sizeof(box));
    mire__blackbox_init(&box, &facts);
    assert_int_equal(mire__blackbox_add_image(&box, &first, "/lib/a.so"), MIRE_OK);
    assert_int_equal(mire__blackbox_add_image(&box, &second, "/lib/b.so"), MIRE_OK);
    assert_int_equal(mire__blackbox_find_image(&box, 0x1fff), 0);
    assert_int_equal(mire__blackbox_find_image(&box, 0x2000), 1);
    assert_int_equal(mire__blackbox_find_image(&box, 0x4000), -1);
    assert_string_equal(mire__blackbox_image_path(&box, 1), "/lib/b.so");
    for (uint32_t i = 2; i < MIRE_IMAGES_MAX; i++)
        assert_int_equal(mire__blackbox_add_image(&box, &first, "x"), MIRE_OK);
    assert_int_equal(mire__blackbox_add_image(&box, &first, "x"), MIRE_E_FULL);
    mire__blackbox_clear_images(&box);
    assert_int_equal(mire__blackbox_image_count(&box), 0);
}

static void a_hang_counts_without_the_time_it_was_stopped(void **state)
{
    (void)state;
    struct event hang = {
        .state = MIRE_EVENT_OPEN, .begin_ns = 10, .last_seen_ns = 10 + 2000 * MIRE_NS_PER_MS, .threshold_ms = 2000};

    assert_true(mire__event_counts(&hang));
    hang.threshold_ms = 2001;
    assert_false(mire__event_counts(&hang));
    hang.threshold_ms = 2000;
    hang.late_ns = 1;
    assert_false(mire__event_counts(&hang));
    hang.state = MIRE_EVENT_ENDED;
    hang.end_ns = hang.last_seen_ns + 1;
    assert_true(mire__event_counts(&hang));
    hang.launch = hang.exited = 1;
    assert_false(mire__event_counts(&hang));
    hang.gate = MIRE_GATE_POLL;
    assert_true(mire__event_counts(&hang));
    hang.state = MIRE_EVENT_NONE;
    assert_false(mire__event_counts(&hang));
}

static void the_guess_follows_from_the_facts(void **state)
{
    (void)state;
    struct event hang = {.state = MIRE_EVENT_ENDED, .foreground = MIRE_GROUND_UNKNOWN};

    assert_int_equal(mire__event_guess(&hang), MIRE_GUESS_FOREGROUND_BLOCK);
    hang.foreground = MIRE_GROUND_BACK;
    assert_int_equal(mire__event_guess(&hang), MIRE_GUESS_BACKGROUND_BLOCK);
    hang.launch = 1;
    assert_int_equal(mire__event_guess(&hang), MIRE_GUESS_LAUNCH_BLOCK);
    hang.process.thread_count = 65;
    assert_int_equal(mire__event_guess(&hang), MIRE_GUESS_BLOCKED_MANY_THREADS);
    hang.state = MIRE_EVENT_OPEN;
    assert_int_equal(mire__event_guess(&hang), MIRE_GUESS_BLOCKED_MANY_THREADS); /* in the background nobody notices */
    hang.foreground = MIRE_GROUND_FORE;
    assert_int_equal(mire__event_guess(&hang), MIRE_GUESS_BLOCKED_AND_KILLED);
    hang.trigger = MIRE_TRIGGER_CPU;
    assert_int_equal(mire__event_guess(&hang), MIRE_GUESS_CPU_HIGH);
    hang.trigger = MIRE_TRIGGER_TEST;
    assert_int_equal(mire__event_guess(&hang), MIRE_GUESS_TEST);
}

static void turns_are_counted_by_their_length(void **state)
{
    (void)state;
    static struct blackbox own;

    mire__blackbox_count_micro(&own, MIRE_MICRO_NS - 1);
    mire__blackbox_count_micro(&own, MIRE_MICRO_NS);
    mire__blackbox_count_micro(&own, 2 * MIRE_MICRO_NS - 1);
    mire__blackbox_count_micro(&own, 2 * MIRE_MICRO_NS);
    mire__blackbox_count_micro(&own, 3600 * MIRE_NS_PER_S);
    assert_int_equal(own.micro.count[0], 2);
    assert_int_equal(own.micro.count[1], 1);
    assert_int_equal(own.micro.count[MIRE_MICRO_BUCKETS - 1], 1);
}

static void lanes_are_apart(void **state)
{
    (void)state;
    static struct blackbox own;
    struct event hang = {.state = MIRE_EVENT_OPEN, .tid = 7};

    assert_false(mire__blackbox_any_event(&own));
    mire__blackbox_set_event(&own, MIRE_LANE_PROCESS, &hang);
    assert_true(mire__blackbox_any_event(&own));
    mire__blackbox_event(&hang, &own, 0);
    assert_int_equal(hang.state, MIRE_EVENT_NONE);
    mire__blackbox_event(&hang, &own, MIRE_LANE_PROCESS);
    assert_int_equal(hang.tid, 7);
    atomic_store(&own.lanes[1].other_count, 3);
    own.lanes[1].others[2].sample.depth = MIRE_DEPTH_MAX + 1;
    assert_int_equal(mire__blackbox_other_count(&own, 1), 2);
    atomic_store(&own.lanes[1].other_count, MIRE_OTHERS_MAX + 1);
    own.lanes[1].others[2].sample.depth = 0;
    assert_int_equal(mire__blackbox_other_count(&own, 1), 0);
}

static void an_ended_event_moves_with_all_in_its_lane(void **state)
{
    (void)state;
    struct blackbox *own = calloc(1, sizeof(*own));
    const struct sample wait = {.depth = 2, .pc = {11, 12}};
    struct event hang = {.state = MIRE_EVENT_ENDED, .tid = 7, .end_ns = 9};
    struct lane *lane;
    uint64_t weight_ns;

    assert_non_null(own);
    lane = &own->lanes[2];
    mire__ring_reset(&lane->ring, 1);
    for (uint64_t i = 0; i < MIRE_RING_SAMPLES + 10u; i++) /* it is thinned once */
        push(&lane->ring, i, 1);
    lane->others[0].tid = 8;
    atomic_store(&lane->other_count, 1);
    mire__blackbox_set_wait(own, 2, 1, &wait);
    mire__blackbox_set_event(own, 2, &hang);
    mire__blackbox_move(own, MIRE_LANE_WAITING, 2);
    assert_true(mire__blackbox_is_ended(own, MIRE_LANE_WAITING));

    struct lane *moved = &own->lanes[MIRE_LANE_WAITING];
    assert_int_equal(mire__ring_count(&moved->ring), mire__ring_count(&lane->ring));
    assert_int_equal(moved->ring.thinned_count, 1);
    for (uint32_t i = 0; i < mire__ring_count(&lane->ring); i++) {
        uint64_t t_ns = mire__ring_at(&weight_ns, &moved->ring, i)->t_ns, before_ns = weight_ns;

        assert_int_equal(mire__ring_at(&weight_ns, &lane->ring, i)->t_ns, t_ns);
        assert_int_equal(weight_ns, before_ns);
    }
    assert_int_equal(mire__blackbox_other_count(own, MIRE_LANE_WAITING), 1);
    assert_int_equal(moved->others[0].tid, 8);
    assert_null(mire__blackbox_wait(own, MIRE_LANE_WAITING, 0));
    assert_int_equal(mire__blackbox_wait(own, MIRE_LANE_WAITING, 1)->pc[1], 12);
    mire__blackbox_event(&hang, own, MIRE_LANE_WAITING);
    assert_true(hang.tid == 7 && hang.end_ns == 9);
    mire__blackbox_clear(own, MIRE_LANE_WAITING);
    assert_false(mire__blackbox_is_ended(own, MIRE_LANE_WAITING));
    assert_null(mire__blackbox_wait(own, MIRE_LANE_WAITING, 1));
    assert_true(mire__blackbox_is_ended(own, 2));
    free(own);
}

static void a_hang_ends_with_the_program_that_ends_itself(void **state)
{
    (void)state;
    struct blackbox *own = calloc(1, sizeof(*own));
    struct event hang = {.state = MIRE_EVENT_OPEN, .begin_ns = 1000, .last_seen_ns = 2000};

    assert_non_null(own);
    mire__blackbox_set_event(own, 0, &hang);
    atomic_store(&own->left_ns, 2500);
    mire__blackbox_event(&hang, own, 0);
    assert_int_equal(hang.state, MIRE_EVENT_ENDED);
    assert_int_equal(hang.exited, 1);
    assert_int_equal(hang.end_ns, 2500);
    hang = (struct event){.state = MIRE_EVENT_NONE};
    mire__blackbox_set_event(own, 0, &hang);
    mire__blackbox_event(&hang, own, 0);
    assert_int_equal(hang.state, MIRE_EVENT_NONE);
    free(own);
}

/* The pages of a lane without disk cannot be read here: a read ends the child. */
static void a_lane_without_disk_is_not_looked_at(void **state)
{
    const size_t page = 4096, from = (offsetof(struct blackbox, lanes[1]) + page - 1) & ~(page - 1),
                 to = offsetof(struct blackbox, lanes[MIRE_LANE_PROCESS]) & ~(page - 1);
    char *memory = mmap(NULL, sizeof(struct blackbox), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct blackbox *own = (struct blackbox *)(void *)memory;
    struct event hang = {.state = MIRE_EVENT_OPEN};

    (void)state;
    assert_ptr_not_equal(memory, MAP_FAILED);
    mire__blackbox_unreserve(own, 1, MIRE_LANE_PROCESS - 1);
    assert_int_equal(mprotect(memory + from, to - from, PROT_NONE), 0);
    assert_false(mire__blackbox_any_event(own));
    for (uint32_t lane = 1; lane < MIRE_LANE_PROCESS; lane++) {
        mire__blackbox_event(&hang, own, lane);
        assert_int_equal(hang.state, MIRE_EVENT_NONE);
        assert_false(mire__blackbox_is_open(own, lane));
    }
    assert_int_equal(mprotect(memory + from, to - from, PROT_READ | PROT_WRITE), 0);
    mire__blackbox_has(own, 2);
    hang = (struct event){.state = MIRE_EVENT_OPEN};
    mire__blackbox_set_event(own, 2, &hang);
    assert_true(mire__blackbox_is_open(own, 2) && mire__blackbox_any_event(own));
    assert_false(mire__blackbox_is_open(own, 3));
    munmap(memory, sizeof(struct blackbox));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_keeps_what_fits),
        cmocka_unit_test(ring_thins_like_its_naive_twin),
        cmocka_unit_test(thinning_favours_no_neighbour),
        cmocka_unit_test(a_damaged_ring_gives_nothing),
        cmocka_unit_test(blackbox_is_known_by_its_header),
        cmocka_unit_test(blackbox_finds_the_latest_image),
        cmocka_unit_test(a_hang_counts_without_the_time_it_was_stopped),
        cmocka_unit_test(the_guess_follows_from_the_facts),
        cmocka_unit_test(turns_are_counted_by_their_length),
        cmocka_unit_test(lanes_are_apart),
        cmocka_unit_test(an_ended_event_moves_with_all_in_its_lane),
        cmocka_unit_test(a_lane_without_disk_is_not_looked_at),
        cmocka_unit_test(a_hang_ends_with_the_program_that_ends_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
