/*
 * Reports of a watched app: hangs of its main thread and of another one, of its launch, and of a loop that is marked or
 * pinged, and of a thread that its virtual machine stops.
 */
#include "mire/mire.h"

#include "core/options.h"
#include "mire/ping.h"
#include "platform/platform.h"
#include "script/vm_stack.h"
#include "support/scratch.h"
#include "support/watched.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/starved.h"

#define STARVED 77 /* exit status of a child that got too little processor time */

static void *watch_and_hang(void *unused)
{
    assert_int_equal(mire_watch_thread("sixteen letters!"), MIRE_E_ARG);
    assert_int_equal(mire_watch_thread("drawing"), MIRE_OK);
    assert_int_equal(mire_watch_thread(NULL), MIRE_OK);
    idle_ms(10);
    busy_ms(HANG_MS);
    idle_ms(10);
    assert_int_equal(mire_unwatch_thread(), MIRE_OK);
    assert_int_equal(mire_unwatch_thread(), MIRE_OK);
    return unused;
}

static void another_thread_is_watched_at_its_own_call(void **state)
{
    pthread_t thread;

    assert_int_equal(start(*state), MIRE_OK);
    idle_ms(10);
    pthread_create(&thread, NULL, watch_and_hang, NULL);
    assert_sealed(*state, 1, idle_nap);
    pthread_join(thread, NULL);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
}

static void a_number_changes_while_watching(void **state)
{
    assert_int_equal(start(*state), MIRE_OK);
    assert_int_equal(mire_set_number("foreground_ms", 60000), MIRE_OK);
    assert_int_equal(mire_set_number("foreground_ms", 60001), MIRE_E_RANGE);
    mire_set_foreground(1);
    idle_ms(10);
    busy_ms(HANG_MS);
    idle_ms(300);
    assert_int_equal(sealed(*state), 0);
    mire_set_foreground(0); /* there the threshold is as it was */
    busy_ms(HANG_MS);
    assert_sealed(*state, 1, idle_nap);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
}

/* A process is as old as its fork, and starts Mire late: after computing, or after sleeping. */
static void launch(const char *dir, enum mire__launch launch, bool computes)
{
    mire_options *options = options_for(dir);
    uint64_t begin_ns = mire__now_ns();

    options->launch = (uint8_t)launch;
    while (computes && mire__now_ns() - begin_ns < HANG_MS * MIRE_NS_PER_MS)
        ;
    if (!computes)
        busy_ms(HANG_MS);
    if (computes && mire__thread_cpu_ns(0) * 3 < (mire__now_ns() - begin_ns) * 2)
        _exit(STARVED);
    mire_start(options);
    mire_options_free(options);
    idle_ms(300);
    mire_stop(NULL);
    _exit(0);
}

static void launch_in_child(const char *dir, enum mire__launch how, bool computes)
{
    int status = -1;

    for (int tries = 0; tries < 30 && status != 0; tries++) {
        pid_t child = fork();

        if (child == 0)
            launch(dir, how, computes);
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == STARVED) {
        print_message("starved\n");
        skip();
    }
    assert_int_equal(status, 0);
}

static void a_launch_is_measured_from_the_process_start(void **state)
{
    launch_in_child(*state, MIRE_LAUNCH_NONE, false);
    assert_int_equal(sealed(*state), 0);
    launch_in_child(*state, MIRE_LAUNCH_SURE, false);
    assert_int_equal(sealed(*state), 1);
}

static void a_process_that_slept_before_the_start_had_a_loop(void **state)
{
    launch_in_child(*state, MIRE_LAUNCH_LIKELY, false);
    assert_int_equal(sealed(*state), 0);
    skip_if_emulated("a forked child is told its parent's start");
    launch_in_child(*state, MIRE_LAUNCH_LIKELY, true);
    assert_int_equal(sealed(*state), 1);
}

static char again_dir[4096]; /* of the scene below, in its process */

/* A hang of which a starved check thread has no sample is not known to be the same. */
static bool scene_same_hang_again(void)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    char dir[sizeof(again_dir) + 16];
    uint64_t drops[MIRE_DROP_REASONS];
    struct store_item items[4];
    struct store *store;
    bool ok;

    snprintf(dir, sizeof(dir), "%s/%d", again_dir, (int)getpid());
    ok = start(dir) == MIRE_OK;
    for (int i = 0; i < 3; i++) {
        idle_ms(10);
        busy_ms(HANG_MS);
    }
    ok &= mire_stop(NULL) == MIRE_OK;
    if (mire__store_open(&store, dir, &caps) != MIRE_OK)
        return false;
    ok &= mire__store_list(items, MIRE_COUNT(items), store) == 1;
    mire__store_drops(drops, store);
    mire__store_close(store);
    return ok && drops[MIRE_DROP_SUPPRESSED] == 2;
}

static void the_same_hang_again_is_counted_not_sealed(void **state)
{
    snprintf(again_dir, sizeof(again_dir), "%s", (const char *)*state);
    starved_scene(scene_same_hang_again);
}

static void hang_is_seen_through_marks(void **state)
{
    assert_int_equal(start(*state), MIRE_OK);
    mire_loop_enter();
    mire_loop_leave();
    busy_ms(HANG_MS);
    assert_int_equal(sealed(*state), 0);
    mire_loop_enter();
    busy_ms(HANG_MS);
    mire_loop_leave();
    assert_sealed(*state, 1, busy_nap);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
}

static _Atomic uint64_t token;

static int keep_token(void *unused, uint64_t new_token)
{
    (void)unused;
    atomic_store(&token, new_token);
    return 0;
}

static void ping_says_why_it_does_not_start(void **state)
{
    assert_int_equal(start(*state), MIRE_OK);
    assert_int_equal(mire_ping_start(NULL, NULL, 0), MIRE_E_ARG);
    assert_int_equal(mire_ping_start(keep_token, NULL, 60001), MIRE_E_RANGE);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mire_ping_start(keep_token, NULL, 60000), MIRE_OK);
        assert_int_equal(mire_ping_start(keep_token, NULL, 60000), MIRE_E_STATE);
        assert_int_equal(mire_ping_stop(), MIRE_OK);
        assert_int_equal(mire_ping_stop(), MIRE_E_STATE);
    }
    assert_int_equal(mire_ping_start(keep_token, NULL, 1), MIRE_OK);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
    assert_int_equal(start(*state), MIRE_OK);
    assert_int_equal(mire_ping_stop(), MIRE_E_STATE); /* mire_stop has stopped it */
    assert_int_equal(mire_stop(NULL), MIRE_OK);
}

static void idle_loop_that_answers_nothing_is_a_hang(void **state)
{
    assert_int_equal(start(*state), MIRE_OK);
    idle_ms(10);
    assert_int_equal(mire_ping_start(keep_token, NULL, 20), MIRE_OK);
    idle_ms(HANG_MS);
    assert_int_equal(sealed(*state), 0);
    mire_ping_answer(atomic_load(&token));
    assert_int_equal(mire_ping_stop(), MIRE_OK);
    assert_sealed(*state, 1, idle_nap);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
}

static void stop_seals_what_nobody_answers(void **state)
{
    assert_int_equal(start(*state), MIRE_OK);
    idle_ms(10);
    assert_int_equal(mire_ping_start(keep_token, NULL, 20), MIRE_OK);
    idle_ms(HANG_MS);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
    assert_int_equal(sealed(*state), 1);
}

static void long_turn_that_is_asked_too_is_one_hang(void **state)
{
    assert_int_equal(start(*state), MIRE_OK);
    idle_ms(10);
    assert_int_equal(mire_ping_start(keep_token, NULL, 20), MIRE_OK);
    busy_ms(HANG_MS);
    idle_ms(0); /* the turn is over before the token's turn comes */
    mire_ping_answer(atomic_load(&token));
    assert_int_equal(mire_ping_stop(), MIRE_OK); /* the next question stays without an answer: another hang, in time */
    assert_sealed(*state, 1, idle_nap);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
    assert_int_equal(sealed(*state), 1);
}

/* A virtual machine that stops its thread to tell the stack, and takes longer than the check thread waits for it. */
#define STOP_MS 130
static _Atomic uint32_t stopped;

static void *tell_stacks(void *unused)
{
    struct vm_stack *stack;

    while ((stack = mire__vm_stack_await())) {
        atomic_store(&stopped, 1);
        sleep_through(STOP_MS);
        atomic_store(&stopped, 0);
        mire__futex_wake(&stopped);
        mire__vm_stack_add(stack, "app.Cart.sort", "Cart.java", 7);
        mire__vm_stack_give(stack);
    }
    return unused;
}

static void compute_in_machine(uint64_t ms)
{
    uint64_t end_ns = mire__now_ns() + ms * MIRE_NS_PER_MS;

    while (mire__now_ns() < end_ns) {
        while (atomic_load(&stopped))
            mire__futex_wait(&stopped, 1, UINT64_MAX);
    }
}

static void stops_by_a_virtual_machine_are_no_waits_of_the_loop(void **state)
{
    pthread_t machine;

    mire__vm_stack_open(mire__tid());
    pthread_create(&machine, NULL, tell_stacks, NULL);
    assert_int_equal(start(*state), MIRE_OK);
    idle_ms(10);
    compute_in_machine(2 * HANG_MS);
    assert_sealed(*state, 1, idle_nap);
    mire__vm_stack_close();
    pthread_join(machine, NULL);
    assert_int_equal(mire_stop(NULL), MIRE_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(another_thread_is_watched_at_its_own_call),
        TEST(a_number_changes_while_watching),
        TEST(a_launch_is_measured_from_the_process_start),
        TEST(a_process_that_slept_before_the_start_had_a_loop),
        TEST(the_same_hang_again_is_counted_not_sealed),
        TEST(hang_is_seen_through_marks),
        TEST(ping_says_why_it_does_not_start),
        TEST(idle_loop_that_answers_nothing_is_a_hang),
        TEST(stop_seals_what_nobody_answers),
        TEST(long_turn_that_is_asked_too_is_one_hang),
        TEST(stops_by_a_virtual_machine_are_no_waits_of_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
