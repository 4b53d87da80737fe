/* Threads, locks and loads in a report, and the function that the device blames. */
#include "report/blame.h"
#include "report/hot.h"
#include "report/report.h"
#include "support/boxes.h"
#include "support/documents.h"
#include "support/scratch.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define MS     MIRE_NS_PER_MS
#define MAIN   (BOX_EXE_LOAD + 0x1000)
#define LOOP   (BOX_EXE_LOAD + 0x2000)
#define RENDER (BOX_EXE_LOAD + 0x3000)
#define TEXT   (BOX_EXE_LOAD + 0x4000)
#define LINES  (BOX_EXE_LOAD + 0x5000)
#define FILLS  (BOX_EXE_LOAD + 0x6000)

static bool says(const struct blackbox *box, const char *part)
{
    char *text = json(box, NULL);
    bool found = strstr(text, part) != NULL;

    free(text);
    return found;
}

static void set(struct blackbox *box, const struct event *hang)
{
    mire__blackbox_set_event(box, 0, hang);
}

static void blame_finds_the_costly_middle(void **state)
{
    static const uint64_t a[] = {TEXT, RENDER, LOOP, MAIN, 0}, b[] = {LINES, RENDER, LOOP, MAIN, 0},
                          c[] = {FILLS, RENDER, LOOP, MAIN, 0}, d[] = {LINES, LOOP, MAIN, 0};
    struct blackbox *box = box_new();
    struct blame blame;

    (void)state;
    box_sample(box, S(1), 100 * MS, a);
    box_sample(box, S(2), 100 * MS, b);
    box_sample(box, S(3), 100 * MS, c);
    box_sample(box, S(4), 20 * MS, d);
    mire__blame_find(&blame, &box->lanes[0].ring, box, NULL);
    assert_int_equal(mire__ring_at(NULL, &box->lanes[0].ring, blame.sample)->pc[blame.frame], RENDER);
    assert_int_equal(blame.share_ppm, 937500);
    assert_says(box, "\"blame\":{\"node\":3,\"share_ppm\":937500}");
    free(box);
}

static void blame_is_on_nobody_when_time_is_spread_from_the_root_on(void **state)
{
    static const uint64_t a[] = {TEXT, 0}, b[] = {LINES, 0}, none[] = {0};
    struct blackbox *box = box_new();
    struct blame blame;

    (void)state;
    mire__blame_find(&blame, &box->lanes[0].ring, box, NULL);
    assert_int_equal(blame.share_ppm, 0);
    box_sample(box, S(1), 50 * MS, a);
    box_sample(box, S(2), 50 * MS, b);
    mire__blame_find(&blame, &box->lanes[0].ring, box, NULL);
    assert_int_equal(blame.share_ppm, 0);
    box_sample(box, S(3), 50 * MS, a);
    mire__blame_find(&blame, &box->lanes[0].ring, box, NULL);
    assert_int_equal(blame.share_ppm, 666666);
    box_sample(box, S(4), 50 * MS, none); /* time without anybody to blame counts as time */
    mire__blame_find(&blame, &box->lanes[0].ring, box, NULL);
    assert_int_equal(blame.share_ppm, 0);
    free(box);
}

static void blame_takes_recursion_as_one_step(void **state)
{
    static const uint64_t a[] = {TEXT, RENDER, RENDER + 4, MAIN, 0}, b[] = {LINES, RENDER, MAIN, 0};
    struct blackbox *box = box_new();
    struct blame blame;

    (void)state;
    box_sample(box, S(1), 50 * MS, a);
    box_sample(box, S(2), 50 * MS, b);
    mire__blame_find(&blame, &box->lanes[0].ring, box, NULL);
    assert_int_equal(mire__ring_at(NULL, &box->lanes[0].ring, blame.sample)->pc[blame.frame] & ~31ull, RENDER);
    assert_int_equal(blame.share_ppm, 1000000);
    free(box);
}

static void blame_is_not_on_main_nor_on_the_loop(void **state)
{
    static const uint64_t start = BOX_EXE_LOAD + 0x100, call = BOX_LIBC_LOAD + 0x27000, begin = BOX_LIBC_LOAD + 0x27100;
    static const uint64_t a[] = {TEXT, MAIN, call, begin, start, 0}, b[] = {LINES, MAIN, call, begin, start, 0},
                          in_loop[] = {TEXT, LOOP, MAIN, 0}, too[] = {LINES, LOOP, MAIN, 0},
                          sorts[] = {TEXT, BOX_LIBC_LOAD + 0x3000, RENDER, MAIN, call, begin, start, 0};
    struct sample wait = {.depth = 3, .pc = {BOX_LIBC_LOAD + 0x5000, LOOP + 8, MAIN}};
    struct blackbox *box = box_new();
    const struct ring *ring = &box->lanes[0].ring;
    struct blame blame;

    (void)state;
    box_sample(box, S(1), 50 * MS, a);
    box_sample(box, S(2), 50 * MS, b);
    mire__blame_find(&blame, ring, box, NULL);
    assert_int_equal(blame.share_ppm, 0);
    assert_false(says(box, "\"blame\""));
    for (int i = 0; i < 4; i++) /* called by the C library too, but not as main is */
        box_sample(box, S(3 + i), 50 * MS, sorts);
    mire__blame_find(&blame, ring, box, NULL);
    assert_int_equal(mire__ring_at(NULL, ring, blame.sample)->pc[blame.frame], TEXT);
    free(box);

    box = box_new();
    ring = &box->lanes[0].ring;
    box_sample(box, S(1), 50 * MS, in_loop);
    box_sample(box, S(2), 50 * MS, too);
    mire__blame_find(&blame, ring, box, NULL);
    assert_int_equal(blame.share_ppm, 1000000);
    mire__blame_find(&blame, ring, box, &wait);
    assert_int_equal(blame.share_ppm, 0);
    for (int i = 0; i < 4; i++)
        box_sample(box, S(3 + i), 50 * MS, in_loop);
    mire__blame_find(&blame, ring, box, &wait);
    assert_int_equal(mire__ring_at(NULL, ring, blame.sample)->pc[blame.frame], TEXT);
    free(box);
}

/* The twin: adds up the time of every function at every level. */
static void blame_is_equal_to_a_naive_twin(void **state)
{
    enum { SAMPLES = 60, DEPTH = 6 };
    unsigned seed = test_seed();

    (void)state;
    srand(seed);
    for (int round = 0; round < 200; round++) {
        struct blackbox *box = box_new();
        uint64_t stacks[SAMPLES][DEPTH + 1] = {{0}};
        uint64_t weights[SAMPLES], total = 0, held = 0;
        uint32_t depth = 0;
        bool on[SAMPLES];
        struct blame blame;

        for (int i = 0; i < SAMPLES; i++) { /* outermost first; the functions of all levels differ */
            uint32_t frames = 1 + (uint32_t)rand() % DEPTH;
            uint64_t pc[DEPTH + 1] = {0};

            for (uint32_t k = 0; k < frames; k++)
                stacks[i][k] = MAIN + k * 0x10000 + (uint64_t)(rand() % 8 == 0) * 0x100;
            for (uint32_t k = 0; k < frames; k++)
                pc[k] = stacks[i][frames - 1 - k];
            weights[i] = (1 + (uint64_t)rand() % 9) * MS;
            total += weights[i];
            on[i] = true;
            box_sample(box, S(i), weights[i], pc);
        }
        for (uint64_t best = 1; best; depth += best > 0) {
            uint64_t function = 0;

            best = 0;
            for (int i = 0; i < SAMPLES; i++) {
                uint64_t sum = 0;
                for (int k = 0; k < SAMPLES; k++)
                    sum += on[i] && on[k] && stacks[i][depth] && stacks[k][depth] == stacks[i][depth] ? weights[k] : 0;
                if (sum * 100 >= total * MIRE_BLAME_PERCENT) {
                    best = sum;
                    function = stacks[i][depth];
                }
            }
            for (int i = 0; i < SAMPLES; i++)
                on[i] &= best && stacks[i][depth] == function;
            held = best ? best : held;
        }
        mire__blame_find(&blame, &box->lanes[0].ring, box, NULL);
        if (depth == 0) {
            assert_int_equal(blame.share_ppm, 0);
        } else {
            const struct sample *sample = mire__ring_at(NULL, &box->lanes[0].ring, blame.sample);
            assert_int_equal(sample->depth - blame.frame, depth);
            assert_in_range(blame.share_ppm, held * 1000000 / total - 1, held * 1000000 / total + 1);
        }
        free(box);
    }
}

static void hot_is_of_the_lanes_own_thread(void **state)
{
    static const uint64_t a[] = {TEXT, MAIN, 0}, b[] = {LINES, MAIN, 0};
    struct blackbox *box = box_new();
    struct hot hot;

    (void)state;
    box_sample(box, S(1), MS, a);
    box_sample_of(box, 9, S(2), MS, b);
    box_sample_of(box, 9, S(3), MS, b);
    box_sample_of(box, 4711, S(4), MS, a);
    mire__hot_find(&hot, &box->lanes[0].ring, 4711);
    assert_int_equal(hot.sample, 3);
    assert_int_equal(hot.run, 2);
    assert_int_equal(hot.repeat[1], 2);
    free(box);
}

static void samples_of_other_threads_name_them(void **state)
{
    static const uint64_t a[] = {TEXT, MAIN, 0}, b[] = {LINES, LOOP, 0};
    struct blackbox *box = box_new();

    (void)state;
    box_sample_of(box, 20, S(1), MS, b);
    box_sample_of(box, 0, S(2), MS, a);
    box_sample_of(box, 21, S(3), MS, a);
    box_sample_of(box, 20, S(4), MS, b);
    assert_says(box, "\"thread\":[1,0,2,1]");
    assert_says(box, "\"threads\":[{\"tid\":20,\"role\":\"other\",\"node\":2,\"state\":\"S\",\"syscall\":35},"
                     "{\"tid\":21,\"role\":\"other\",\"node\":4,\"state\":\"S\",\"syscall\":35}]");
    free(box);
}

static void threads_taken_along_come_first_and_once(void **state)
{
    static const uint64_t a[] = {TEXT, MAIN, 0}, b[] = {LINES, LOOP, 0};
    struct blackbox *box = box_new();
    struct other *others = box->lanes[0].others;

    (void)state;
    others[0] = (struct other){.tid = 30, .role = MIRE_ROLE_OWNER, .name = "writer", .cpu_ns = 1499999};
    others[1] = (struct other){.tid = 31, .role = MIRE_ROLE_BUSY, .name = "codec", .cpu_ns = 900 * MS};
    box_stack(&others[0].sample, S(5), 30, b);
    others[1].sample.syscall = -1; /* no stack could be taken with it */
    atomic_store(&box->lanes[0].other_count, 2);
    box_sample(box, S(1), MS, a);
    box_sample_of(box, 31, S(2), MS, a);
    box_sample_of(box, 30, S(3), MS, a);
    assert_says(box, "\"thread\":[0,2,1]");
    assert_says(box, "\"threads\":[{\"tid\":30,\"name\":\"writer\",\"role\":\"owner\",\"cpu_ms\":1,\"node\":2,"
                     "\"state\":\"S\",\"syscall\":35},{\"tid\":31,\"name\":\"codec\",\"role\":\"busy\","
                     "\"cpu_ms\":900,\"node\":4,\"state\":\"S\",\"syscall\":35}],\"cost\"");
    free(box);
}

static void report_has_the_path_of_the_loops_wait(void **state)
{
    static const uint64_t work[] = {TEXT, RENDER, LOOP, MAIN, 0};
    struct sample other = {.depth = 2, .pc = {FILLS, LINES}}, wait = {.depth = 3, .pc = {TEXT, LOOP, MAIN}};
    struct blackbox *box = box_new();

    (void)state;
    box_sample(box, S(1), 100 * MS, work);
    assert_false(says(box, "wait_node"));
    mire__blackbox_set_wait(box, 0, 0, &other); /* has nothing in common with the hang */
    assert_false(says(box, "wait_node"));
    mire__blackbox_set_wait(box, 0, 1, &wait);
    assert_says(box, "\"wait_node\":5");
    wait.flags = MIRE_SAMPLE_BROKEN;
    mire__blackbox_set_wait(box, 0, 1, &wait);
    assert_false(says(box, "wait_node"));
    mire__blackbox_set_wait(box, 0, 1, NULL);
    assert_null(mire__blackbox_wait(box, 0, 1));
    free(box);
}

static void report_tells_the_facts_of_its_trigger(void **state)
{
    struct blackbox *box = box_new();
    struct event hang;

    (void)state;
    assert_says(box, "\"trigger\":\"busy\",\"open\":false");
    assert_says(box, "\"guess\":\"foreground_block\"");
    assert_false(says(box, "\"foreground\""));
    mire__blackbox_event(&hang, box, 0);
    hang.foreground = MIRE_GROUND_BACK;
    hang.suspended_ns = 61499 * MS;
    hang.slack_ns = 450 * MS;
    hang.end_slack_ns = 40 * MS;
    hang.unsure_ns = 100 * MS;
    hang.late_ns = 1500000;
    hang.end_ns = hang.begin_ns + 2999 * MS + 500000;
    hang.lock_address = 0x7000;
    hang.lock_owner = 30;
    hang.suppressed = (struct suppressed_fact){.count = 3, .duration_ms = 7000};
    set(box, &hang);
    assert_says(box, "\"foreground\":false,\"late_ms\":2,\"suspended_ms\":61499,\"begin_slack_ms\":450,"
                     "\"end_slack_ms\":40,\"unsure_ms\":100,");
    assert_says(box, "\"duration_ms\":3000");
    assert_says(box, "\"lock\":{\"address\":28672,\"owner_tid\":30},\"suppressed\":{\"count\":3,\"duration_ms\":7000}");
    hang.trigger = MIRE_TRIGGER_POWER;
    hang.tid = 0;
    hang.cpu = (struct cpu_fact){.window_ms = 60000, .percent = 93, .limit_percent = 80};
    set(box, &hang);
    assert_says(box, "\"trigger\":\"power\"");
    assert_says(box, "\"cpu\":{\"window_ms\":60000,\"percent\":93,\"limit_percent\":80}");
    assert_false(says(box, "\"tid\""));
    hang.trigger = MIRE_TRIGGER_FRAMES;
    hang.frames = (struct frames_fact){.window_ms = 1000, .ticks = 20, .dropped = 40, .longest_ms = 300};
    mire__text_copy(hang.name, sizeof(hang.name), "scroll");
    set(box, &hang);
    assert_says(box, "\"trigger\":\"frames\",\"name\":\"scroll\"");
    assert_says(box, "\"frames\":{\"window_ms\":1000,\"ticks\":20,\"dropped\":40,\"longest_ms\":300}");
    free(box);
}

static void a_sealed_report_has_told_the_turns(void **state)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT, none = {.bytes = 1, .count = 1, .age_ms = UINT64_MAX};
    struct blackbox *box = box_new();
    struct store *store;

    mire__blackbox_count_micro(box, 300 * MS);
    mire__blackbox_count_micro(box, 3000 * MS);
    assert_int_equal(mire__store_open(&store, *state, &none), MIRE_OK);
    assert_int_not_equal(mire__report_seal(store, box, 0, NULL, 1763685100000),
                         MIRE_OK); /* an unstored report reports no stalls */
    mire__store_close(store);
    assert_int_equal(atomic_load(&box->micro.reported[0]), 0);
    assert_int_equal(mire__store_open(&store, *state, &caps), MIRE_OK);
    assert_int_equal(mire__report_seal(store, box, 0, NULL, 1763685100000), MIRE_OK);
    assert_int_equal(atomic_load(&box->micro.reported[0]), 1);
    assert_int_equal(atomic_load(&box->micro.reported[3]), 1);
    mire__blackbox_count_micro(box, 260 * MS);
    assert_int_equal(mire__report_seal(store, box, 0, NULL, 1763685100000), MIRE_OK);
    assert_int_equal(atomic_load(&box->micro.reported[0]), 2);
    mire__store_close(store);
    free(box);
}

static void report_without_turns_tells_of_none(void **state)
{
    struct report_attached given = {.micro = {[0] = 17, [3] = 1}};
    struct blackbox *box = box_new();
    char *text = json(box, &given);

    (void)state;
    assert_non_null(strstr(text, "\"turns\":{\"from_ms\":[250,500,1000,2000,4000,8000,16000],"
                                 "\"count\":[17,0,0,1,0,0,0]},\"drops\":{}"));
    free(text);
    assert_false(says(box, "turns"));
    free(box);
}

/* The largest data of a process with twelve threads: a full ring, and a stack of each of the busiest threads. */
static void report_of_many_threads_stays_small(void **state)
{
    struct blackbox *box = box_new();
    struct report report;

    (void)state;
    srand(1);
    for (int i = 0; i < MIRE_RING_SAMPLES + MIRE_OTHERS_MAX; i++) {
        uint32_t thread = (uint32_t)i % 12;
        struct other *other = &box->lanes[0].others[i - MIRE_RING_SAMPLES < 0 ? 0 : i - MIRE_RING_SAMPLES];
        uint64_t pc[26] = {0};

        for (uint64_t k = 0; k < 25; k++)
            pc[k] = BOX_EXE_LOAD + (k < 8 ? (uint64_t)(rand() % (6 * (8 - (int)k))) * 160 : thread * 8192 + k * 256);
        if (i < MIRE_RING_SAMPLES) {
            box_sample_of(box, 4800 + thread, S(i), (uint64_t)(30 + rand() % 40) * MS, pc);
            continue;
        }
        *other = (struct other){.tid = 4800 + thread, .role = MIRE_ROLE_BUSY, .cpu_ns = (uint64_t)rand() * 1000};
        mire__text_copy(other->name, sizeof(other->name), "worker-of-a-pool");
        box_stack(&other->sample, S(i), other->tid, pc);
    }
    atomic_store(&box->lanes[0].other_count, MIRE_OTHERS_MAX);
    assert_int_equal(mire__report_build(&report, box, 0, NULL), MIRE_OK);
    print_message("%zu bytes\n", report.size);
    assert_in_range(report.size, 1, 8192);
    mire__report_fini(&report);
    free(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blame_finds_the_costly_middle),
        cmocka_unit_test(blame_is_on_nobody_when_time_is_spread_from_the_root_on),
        cmocka_unit_test(blame_takes_recursion_as_one_step),
        cmocka_unit_test(blame_is_not_on_main_nor_on_the_loop),
        cmocka_unit_test(blame_is_equal_to_a_naive_twin),
        cmocka_unit_test(hot_is_of_the_lanes_own_thread),
        cmocka_unit_test(samples_of_other_threads_name_them),
        cmocka_unit_test(threads_taken_along_come_first_and_once),
        cmocka_unit_test(report_has_the_path_of_the_loops_wait),
        cmocka_unit_test(report_tells_the_facts_of_its_trigger),
        cmocka_unit_test(report_without_turns_tells_of_none),
        cmocka_unit_test(report_of_many_threads_stays_small),
        cmocka_unit_test_setup_teardown(a_sealed_report_has_told_the_turns, scratch_new, scratch_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
