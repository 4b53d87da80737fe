/* The kind of an event, the blame from samples of several threads, and the holder of a lock. */
#include "support/stacks.h"

static void the_category_follows_the_facts(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.launch = true;
    assert_int_equal(find(s).category, MIRE_CATEGORY_LAUNCH);
    s->report.event.open = true;
    assert_int_equal(find(s).category, MIRE_CATEGORY_KILLED);
    s->report.event.foreground_known = true;
    assert_int_equal(find(s).category, MIRE_CATEGORY_BACKGROUND);
    s->report.event.foreground = true;
    assert_int_equal(find(s).category, MIRE_CATEGORY_KILLED);
    stacks_free(s);
}

static void a_hang_killed_for_another_reason_is_not_blocked_and_killed(void **state)
{
    static const struct {
        const char *verdict;
        enum event_category category;
    } cases[] = {
        {"watchdog_kill", MIRE_CATEGORY_KILLED}, {"foom", MIRE_CATEGORY_HANG},       {"crash", MIRE_CATEGORY_HANG},
        {"user_quit", MIRE_CATEGORY_HANG},       {"rebooted", MIRE_CATEGORY_HANG},   {"os_kill", MIRE_CATEGORY_HANG},
        {"unknown", MIRE_CATEGORY_HANG},         {"later_word", MIRE_CATEGORY_HANG},
    };
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.open = s->report.exit.known = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s->report.exit.verdict = cases[i].verdict;
        assert_int_equal(find(s).category, cases[i].category);
    }
    s->report.event.open = false;
    s->report.exit.verdict = "watchdog_kill"; /* this hang was over before */
    assert_int_equal(find(s).category, MIRE_CATEGORY_HANG);
    stacks_free(s);
}

static enum event_category category_by(struct stacks *s, const char *trigger)
{
    s->report.event.trigger = trigger;
    return find(s).category;
}

static void a_trigger_of_the_process_is_a_kind_of_its_own(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.open = s->report.event.launch = s->report.event.foreground_known = true;
    s->report.event.guess = "foreground_block"; /* has no say */
    assert_int_equal(category_by(s, "cpu"), MIRE_CATEGORY_CPU);
    assert_int_equal(find(s).reason, MIRE_REASON_CPU);
    assert_int_equal(category_by(s, "power"), MIRE_CATEGORY_POWER);
    assert_int_equal(category_by(s, "disk"), MIRE_CATEGORY_DISK);
    assert_int_equal(find(s).reason, MIRE_REASON_IO);
    assert_int_equal(category_by(s, "frames"), MIRE_CATEGORY_FRAMES);
    assert_int_equal(category_by(s, "crash"), MIRE_CATEGORY_CRASH);
    s->report.event.name = "SIGSEGV";
    assert_string_equal(find(s).topic, "SIGSEGV"); /* its reason, and no scene */
    assert_string_not_equal(find(s).caller2.function, "SIGSEGV");
    s->report.event.name = "";
    assert_int_equal(category_by(s, "call"), MIRE_CATEGORY_CUSTOM);
    assert_int_equal(category_by(s, "test"), MIRE_CATEGORY_TEST);
    assert_int_equal(category_by(s, "gyroscope"), MIRE_CATEGORY_CUSTOM);
    assert_int_equal(category_by(s, "unanswered"), MIRE_CATEGORY_BACKGROUND);
    stacks_free(s);
}

static void many_threads_are_to_blame_only_if_they_took_the_processor(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    struct report_event *event = &s->report.event;
    for (int i = 0; i < 5; i++)
        sample(s, 100, 'R', LOOP "keysCommand" R);
    event->samples = s->samples;
    s->report.process.thread_count = (struct fact){65, true};
    event->thread.cpu_ms = (struct fact){900, true};
    event->thread.involuntary_switches = (struct fact){80, true};
    assert_int_equal(find(s).category, MIRE_CATEGORY_THREADS);
    s->report.process.thread_count.value = 64;
    assert_int_equal(find(s).category, MIRE_CATEGORY_HANG);
    s->report.process.thread_count.value = 65;
    event->thread.cpu_ms.value = 2900; /* it ran */
    assert_int_equal(find(s).category, MIRE_CATEGORY_HANG);
    event->thread.cpu_ms.value = 900;
    event->thread.involuntary_switches.value = 1; /* it went to sleep by itself */
    assert_int_equal(find(s).category, MIRE_CATEGORY_HANG);
    event->thread.involuntary_switches.value = 80;
    for (int i = 0; i < 5; i++)
        s->samples[i].state = 'S';
    assert_int_equal(find(s).category, MIRE_CATEGORY_HANG);
    stacks_free(s);
}

static void only_kinds_in_which_somebody_waits_take_time(void **state)
{
    (void)state;
    struct report report = {.event = {.duration_ms = 60000, .frames = {.known = true, .longest_ms = {300, true}}}};
    assert_int_equal(category_waited_ms(MIRE_CATEGORY_HANG, &report), 60000);
    assert_int_equal(category_waited_ms(MIRE_CATEGORY_KILLED, &report), 60000);
    assert_int_equal(category_waited_ms(MIRE_CATEGORY_FRAMES, &report), 300);
    assert_int_equal(category_waited_ms(MIRE_CATEGORY_POWER, &report), 0);
    assert_int_equal(category_waited_ms(MIRE_CATEGORY_TEST, &report), 0);
}

/* A sample of another thread, and the thread. */
static void other(struct stacks *s, struct resolved_thread *thread, uint32_t weight_ms, const char *name,
                  const char *stack)
{
    sample(s, weight_ms, 'R', stack);
    *thread = (struct resolved_thread){.tid = 100 + s->doc.thread_count,
                                       .name = name,
                                       .role = "busy",
                                       .node = s->samples[s->doc.sample_count - 1].node,
                                       .state = 'R',
                                       .syscall = -1};
    s->samples[s->doc.sample_count - 1].thread = (uint32_t)++s->doc.thread_count;
}

#define START "clone3" LIBC "start_thread" LIBC

static void threads_that_do_one_thing_are_blamed_together(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    struct resolved_thread threads[3];
    s->doc.threads = threads;
    s->report.event.trigger = "cpu";
    sample(s, 100, 'S', LOOP "aeApiPoll" R);
    other(s, &threads[0], 300, "pool-1", START "work" R "hash" R);
    other(s, &threads[1], 300, "pool-2", START "work" R "hash" R);
    other(s, &threads[2], 300, "pool-3", START "work" R "hash" R);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "hash");
    assert_non_null(strstr(f.why, "90 % of the sampled time ("));
    assert_true(s->doc.verdict.known && s->doc.verdict.share_ppm == 900000);
    stacks_free(s);
}

static void of_threads_that_do_different_things_the_busiest_is_blamed(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    struct resolved_thread threads[2];
    s->doc.threads = threads;
    s->report.event.trigger = "power";
    sample(s, 100, 'R', LOOP "keysCommand" R);
    other(s, &threads[0], 500, "encoder", START "encode" R "motion" R);
    other(s, &threads[1], 400, "mixer", START "mix" R);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "motion");
    assert_string_equal(f.caller2.function, "encode");
    assert_non_null(strstr(f.why, "of thread encoder"));
    assert_int_equal(s->doc.hot.thread, 1);
    assert_int_equal(s->doc.hot.repeat[0], 1);
    stacks_free(s);
}

static void the_apps_name_of_a_capture_is_its_scene(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 100, 'R', LOOP "keysCommand" R);
    s->report.event.name = "checkout";
    assert_string_equal(find(s).caller2.function, "readQueryFromClient"); /* of a hang it is no scene */
    s->report.event.trigger = "call";
    struct feature named = find(s);
    assert_string_equal(named.caller1.function, "keysCommand");
    assert_string_equal(named.caller2.function, "checkout");
    s->report.event.name = "login";
    struct feature other_name = find(s);
    assert_memory_not_equal(named.key, other_name.key, MIRE_FEATURE_KEY);
    stacks_free(s);
}

#define LOCKED LOOP "lpush" R "pthread_mutex_lock" LIBC "__lll_lock_wait" LIBC

static void a_lock_names_who_held_it(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    struct resolved_thread threads[1];
    s->doc.threads = threads;
    other(s, &threads[0], 0, "writer", START "flushPages" R "write" LIBC);
    s->doc.sample_count = 0;
    for (int i = 0; i < 5; i++)
        sample(s, 100, 'S', LOCKED);
    struct feature f = find(s);
    assert_int_equal(f.reason, MIRE_REASON_LOCK);
    assert_string_equal(f.holder, ""); /* a thread that is only busy is not known to hold anything */
    s->doc.lock = (struct report_lock){true, 0x7000, {100, true}};
    f = find(s);
    assert_string_equal(f.holder, "writer in flushPages");
    assert_int_equal(s->doc.holder.thread, 0);
    assert_int_equal(s->doc.holder.frame, 1);
    s->doc.lock.owner_tid.value = 999;
    assert_string_equal(find(s).holder, "another thread");
    threads[0].role = "owner";
    assert_string_equal(find(s).holder, "writer in flushPages");
    s->doc.thread.tid = s->doc.lock.owner_tid;
    assert_string_equal(find(s).holder, "itself");
    assert_true(s->doc.holder.itself);
    stacks_free(s);
}

#define AWAITED LOOP "lpush" R "pthread_cond_wait" LIBC "__futex_abstimed_wait_common" LIBC

/* Java's monitors and parked threads wait by a condition: the report tells the owner all the same. */
static void a_wait_whose_owner_is_told_names_the_holder(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    struct resolved_thread threads[1];
    s->doc.threads = threads;
    other(s, &threads[0], 0, "cart-sync", START "flushPages" R "write" LIBC);
    s->doc.sample_count = 0;
    for (int i = 0; i < 5; i++)
        sample(s, 100, 'S', AWAITED);
    struct feature f = find(s);
    assert_int_equal(f.reason, MIRE_REASON_WAIT);
    assert_string_equal(f.holder, ""); /* nobody is known to be waited for */
    s->doc.lock = (struct report_lock){true, 0x7000, {100, true}};
    assert_string_equal(find(s).holder, "cart-sync in flushPages");
    stacks_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_whose_owner_is_told_names_the_holder),
        cmocka_unit_test(the_category_follows_the_facts),
        cmocka_unit_test(a_hang_killed_for_another_reason_is_not_blocked_and_killed),
        cmocka_unit_test(a_trigger_of_the_process_is_a_kind_of_its_own),
        cmocka_unit_test(many_threads_are_to_blame_only_if_they_took_the_processor),
        cmocka_unit_test(only_kinds_in_which_somebody_waits_take_time),
        cmocka_unit_test(threads_that_do_one_thing_are_blamed_together),
        cmocka_unit_test(of_threads_that_do_different_things_the_busiest_is_blamed),
        cmocka_unit_test(the_apps_name_of_a_capture_is_its_scene),
        cmocka_unit_test(a_lock_names_who_held_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
