/* The feature of stacks: the function to blame, its scene, and the reason. */
#include "support/stacks.h"

static void the_command_is_blamed_not_its_helpers(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 100, 'R', LOOP "keysCommand" R "dictNext" R);
    sample(s, 100, 'R', LOOP "keysCommand" R "stringmatchlen" R);
    sample(s, 100, 'R', LOOP "keysCommand" R "addReplyBulk" R "sdslen" R);
    sample(s, 100, 'R', LOOP "keysCommand" R "stringmatchlen" R "tolower" LIBC);
    sample(s, 100, 'R', LOOP "keysCommand" R "zmalloc" R "malloc" LIBC);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "keysCommand");
    assert_string_equal(f.caller1.image, "redis-server");
    assert_string_equal(f.caller1.location, "file.c:7");
    assert_string_equal(f.caller2.function, "readQueryFromClient");
    assert_int_equal(f.category, MIRE_CATEGORY_HANG);
    assert_int_equal(f.reason, MIRE_REASON_CPU);
    assert_non_null(strstr(f.why, "100 %"));
    stacks_free(s);
}

static void a_sleep_is_blamed_on_who_asked_for_it(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    for (int i = 0; i < 5; i++)
        sample(s, 100, 'S', LOOP "debugCommand" R "usleep" LIBC "__nanosleep" LIBC "clock_nanosleep" LIBC);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "debugCommand");
    assert_int_equal(f.reason, MIRE_REASON_SLEEP);
    assert_int_equal(s->doc.hot.run, 5);
    assert_int_equal(s->doc.hot.depth, 11);
    assert_int_equal(s->doc.hot.caller1, 3);
    assert_int_equal(s->doc.hot.caller2, 6);
    assert_int_equal(s->doc.hot.repeat[0], 5);
    assert_int_equal(s->doc.locations[s->doc.nodes[s->doc.hot.node].location].role, MIRE_ROLE_WAIT);
    stacks_free(s);
}

/* Twenty short stacks, one function each, without a common root. */
static void of_many_different_short_stacks_nobody_is_blamed(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.duration_ms = 2000;
    for (int i = 0; i < 20; i++) {
        char stack[256];
        snprintf(stack, sizeof stack, "part_%d" R, i);
        sample(s, i == 7 ? 150 : 100, 'R', stack);
        lacks(s, MIRE_LOSS_PARTIAL);
    }
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "diffuse at the thread's entry");
    assert_string_equal(f.why, "nobody holds most of the sampled time: part_7 holds 7 %, the others less "
                               "(app functions have time, none of them most of it)");
    assert_false(s->doc.verdict.known);
    stacks_free(s);
}

/* Ten functions that main calls one after the other, and main's own time. */
static struct stacks *called_by_main(unsigned own_ms)
{
    struct stacks *s = stacks_new();
    for (int i = 0; i < 10; i++) {
        char stack[256];
        snprintf(stack, sizeof stack, "main" R "part_%d" R "memcpy" LIBC, i);
        sample(s, 100, 'R', stack);
    }
    sample(s, own_ms, 'R', "main" R "memset" LIBC);
    return s;
}

/* Every program's main holds all its time: it is to blame for its own time, not for the functions that it calls. */
static void a_main_that_only_calls_others_is_not_blamed(void **state)
{
    (void)state;
    struct stacks *s = called_by_main(300);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "diffuse at main");
    assert_false(s->doc.verdict.known);
    assert_non_null(strstr(f.why, "nobody holds most of the sampled time: memset holds 23 %, the others less"));
    stacks_free(s);
    s = called_by_main(800);
    f = find(s);
    assert_string_equal(f.caller1.function, "main");
    assert_int_equal(s->doc.verdict.share_ppm, 1000000);
    stacks_free(s);
}

/* Stacks that could not be unwound to the end: only the innermost frames, without a common root. */
static void stacks_without_an_outer_end_join_the_others(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    for (int i = 0; i < 4; i++)
        sample(s, 100, 'R', LOOP "keysCommand" R "dictNext" R);
    for (int i = 0; i < 6; i++) {
        sample(s, 100, 'R', "call" R "keysCommand" R "stringmatchlen" R);
        lacks(s, MIRE_LOSS_PARTIAL);
    }
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "keysCommand");
    assert_string_equal(f.caller2.function, "readQueryFromClient");
    assert_non_null(strstr(f.why, "keysCommand holds 100 % of the sampled time"));
    stacks_free(s);
}

static void what_watches_is_not_blamed(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    for (int i = 0; i < 5; i++)
        sample(s, 100, 'R', LOOP "sortCommandGeneric" R "mire__heap_realloc" MIRE "realloc_slow" MIRE);
    assert_string_equal(find(s).caller1.function, "sortCommandGeneric");
    stacks_free(s);
    s = stacks_new(); /* linked into the app */
    for (int i = 0; i < 5; i++)
        sample(s, 100, 'R', LOOP "sortCommandGeneric" R "mire__heap_malloc" R "mire__walk_as_node_else" R);
    assert_string_equal(find(s).caller1.function, "sortCommandGeneric");
    stacks_free(s);
}

static void a_comparator_inside_qsort_is_no_culprit(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    for (int i = 0; i < 5; i++)
        sample(s, 100, 'R', LOOP "sortCommandGeneric" R "_pqsort" R "sortCompare" R "+0x158a10" LIBC);
    assert_string_equal(find(s).caller1.function, "sortCommandGeneric");
    stacks_free(s);
}

static void time_decides_not_the_newest_leaf(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 500, 'R', "main@/opt/a/app run@/opt/a/app parse@/opt/a/app");
    sample(s, 10, 'R', "main@/opt/a/app run@/opt/a/app draw@/opt/a/app");
    sample(s, 10, 'R', "main@/opt/a/app run@/opt/a/app draw@/opt/a/app");
    assert_string_equal(find(s).caller1.function, "parse");
    assert_int_equal(s->doc.hot.run, 2); /* the hot stack is the longest row, and may be another */
    stacks_free(s);
}

static void main_is_no_scene_if_something_inside_it_is(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 100, 'R', "main@/opt/a/app browse@/opt/a/app render@/opt/a/app text@/opt/a/app");
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "text");
    assert_string_equal(f.caller2.function, "browse");
    stacks_free(s);
}

static void varied_callees_are_blamed_on_the_one_that_calls_them(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 100, 'R', "main@/opt/a/app render@/opt/a/app text@/opt/a/app");
    sample(s, 100, 'R', "main@/opt/a/app render@/opt/a/app lines@/opt/a/app");
    sample(s, 100, 'R', "main@/opt/a/app render@/opt/a/app fills@/opt/a/app");
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "render");
    assert_string_equal(f.caller2.function, "render");
    stacks_free(s);
}

#define GLIB "@/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0 "
#define APP  "@/opt/demo/glib-demo "
#define TICK "main" APP "g_main_loop_run" GLIB "+0x5a118" GLIB "g_main_context_dispatch" GLIB "+0x5b0aa" GLIB

static void the_scene_is_the_callback_of_the_loop(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    for (int i = 0; i < 4; i++)
        sample(s, 50, 'S', TICK "on_save" APP "save_document" APP "write_block" APP "fsync" LIBC);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "write_block");
    assert_string_equal(f.caller2.function, "on_save");
    assert_int_equal(f.reason, MIRE_REASON_IO);
    stacks_free(s);
}

/* A loop of the app that no rule knows: its wait identifies it. */
static void the_scene_is_where_the_work_parts_from_the_loops_wait(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    for (int i = 0; i < 4; i++)
        sample(s, 50, 'S', "main" APP "broker_run" APP "turn" APP "turn" APP "on_packet" APP "store" APP "fsync" LIBC);
    uint32_t wait = stack_node(s, "main" APP "broker_run" APP "turn" APP "wait_for_events" APP "epoll_wait" LIBC);
    struct feature f = find(s);
    assert_string_equal(f.caller2.function, "broker_run");
    s->doc.wait_node = wait;
    f = find(s);
    assert_string_equal(f.caller1.function, "store");
    assert_string_equal(f.caller2.function, "on_packet");
    stacks_free(s);
}

static void work_of_the_loop_itself_keeps_its_scene(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 50, 'R', "main" APP "broker_run" APP "memcpy" LIBC);
    s->doc.wait_node = stack_node(s, "main" APP "broker_run" APP "poll" LIBC);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "broker_run");
    assert_string_equal(f.caller2.function, "broker_run");
    stacks_free(s);
}

/* A loop that the rules know, inside a callback: it is deeper than the point where the stacks part. */
static void a_loop_inside_a_callback_has_scenes_of_its_own(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 50, 'S',
           "main" APP "run" APP "on_click" APP "g_main_loop_run" GLIB "g_main_context_dispatch" GLIB "on_save" APP
           "write_block" APP "fsync" LIBC);
    s->doc.wait_node = stack_node(s, "main" APP "run" APP "poll" LIBC);
    struct feature f = find(s);
    assert_string_equal(f.caller2.function, "on_save");
    stacks_free(s);
}

static void a_sleep_that_may_be_the_loops_is_idle(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 50, 'S', "main" APP "next_job" APP "read" LIBC);
    s->report.event.unsure_ms = 1400; /* of 3000 */
    assert_int_equal(find(s).category, MIRE_CATEGORY_HANG);
    s->report.event.unsure_ms = 1500;
    struct feature f = find(s);
    assert_int_equal(f.category, MIRE_CATEGORY_IDLE);
    assert_int_equal(f.reason, MIRE_REASON_IDLE);
    assert_non_null(strstr(f.why, "is unknown whether its loop waited"));
    s->report.event.trigger = "call"; /* the app asked for it: no other reason is searched for */
    assert_int_equal(find(s).category, MIRE_CATEGORY_CUSTOM);
    stacks_free(s);
}

static void a_nameless_frame_of_the_loop_is_not_the_scene(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 50, 'R', "main" R "aeMain" R "+0x64db1" R "+0x13c2f0" R "readQueryFromClient" R "call" R "keysCommand" R);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "keysCommand");
    assert_string_equal(f.caller2.function, "readQueryFromClient");
    stacks_free(s);
}

static void a_library_that_calls_back_is_a_boundary_without_symbols_too(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 50, 'S', "main" APP "+0x1" GLIB "+0x2" GLIB "on_open" APP "read_index" APP "+0x3" GLIB "syscall" LIBC);
    s->samples[0].syscall = 202; /* futex */
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "read_index");
    assert_string_equal(f.caller2.function, "on_open");
    assert_int_equal(f.reason, MIRE_REASON_LOCK);
    stacks_free(s);
}

static void running_without_cpu_time_is_not_computing(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    for (int i = 0; i < 4; i++)
        sample(s, 50, 'R', TICK "on_save" APP "write_page" APP "fsync" LIBC);
    s->report.event.thread.cpu_ms = (struct fact){60, true};
    assert_int_equal(find(s).reason, MIRE_REASON_IO);
    s->report.event.thread.cpu_ms.value = 1000; /* the disk is in memory: the frames still show its work */
    assert_int_equal(find(s).reason, MIRE_REASON_IO);
    s->report.event.thread.cpu_ms.value = 2500;
    assert_int_equal(find(s).reason, MIRE_REASON_CPU);
    stacks_free(s);
}

static void wanting_to_compute_is_cpu_on_a_busy_machine_too(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    for (int i = 0; i < 4; i++)
        sample(s, 50, 'R', TICK "on_zoom" APP "smooth_tile" APP);
    s->report.event.thread.cpu_ms = (struct fact){60, true}; /* other programs used the processors */
    assert_int_equal(find(s).reason, MIRE_REASON_CPU);
    stacks_free(s);
}

static void a_lock_is_told_from_computing(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    for (int i = 0; i < 4; i++)
        sample(s, 50, 'S', TICK "on_refresh" APP "cache_get" APP "pthread_mutex_lock" LIBC "+0x86d1f" LIBC);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "cache_get");
    assert_int_equal(f.reason, MIRE_REASON_LOCK);
    s->report.event.thread.cpu_ms = (struct fact){2900, true}; /* spinning all the time */
    assert_int_equal(find(s).reason, MIRE_REASON_CPU);
    stacks_free(s);
}

static void disk_sleep_is_io_whatever_the_frames_say(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    for (int i = 0; i < 4; i++)
        sample(s, 50, 'D', TICK "on_open" APP "+0x99" LIBC);
    assert_int_equal(find(s).reason, MIRE_REASON_IO);
    stacks_free(s);
}

static void a_parent_waits_for_its_vfork_in_disk_sleep(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.device.arch = "x86_64";
    sample(s, 1000, 'D', TICK "start_helper" APP "+0x99" LIBC);
    s->samples[0].syscall = 58; /* vfork */
    assert_int_equal(find(s).reason, MIRE_REASON_WAIT);
    stacks_free(s);
}

/* The reason for a stack that sleeps in a system call. */
static enum event_reason asleep(const char *arch, int32_t number, const char *stack)
{
    struct stacks *s = stacks_new();
    s->report.device.arch = arch;
    sample(s, 1000, 'S', stack);
    s->samples[0].syscall = number;
    enum event_reason reason = find(s).reason;
    stacks_free(s);
    return reason;
}

static void a_system_call_tells_the_reason_without_symbols(void **state)
{
    (void)state;
    static const char bare[] = "main@/opt/app +0x10@/opt/libbare.so";
    assert_int_equal(asleep("x86_64", -1, bare), MIRE_REASON_UNKNOWN);
    assert_int_equal(asleep("x86_64", 202, bare), MIRE_REASON_LOCK);
    assert_int_equal(asleep("arm64", 98, bare), MIRE_REASON_LOCK);
    assert_int_equal(asleep("arm", 240, bare), MIRE_REASON_LOCK);
    assert_int_equal(asleep("x86", 240, bare), MIRE_REASON_LOCK);
    assert_int_equal(asleep("vax", 202, bare), MIRE_REASON_UNKNOWN);
    assert_int_equal(asleep("x86_64", 0, bare), MIRE_REASON_IO);
    assert_int_equal(asleep("x86_64", 74, bare), MIRE_REASON_IO);
    assert_int_equal(asleep("arm64", 115, bare), MIRE_REASON_SLEEP);
    assert_int_equal(asleep("x86_64", 7, bare), MIRE_REASON_WAIT);
    assert_int_equal(asleep("x86_64", 73, bare), MIRE_REASON_LOCK);
    assert_int_equal(asleep("x86_64", 202, "main@/opt/app pthread_cond_wait@/lib/libc.so.6"), MIRE_REASON_WAIT);
    assert_int_equal(asleep("x86_64", 202, "main@/opt/app g_mutex_lock@/lib/libglib-2.0.so.0 syscall@/lib/libc.so.6"),
                     MIRE_REASON_LOCK);
    assert_int_equal(asleep("x86_64", 202, "main@/opt/app g_cond_wait@/lib/libglib-2.0.so.0 syscall@/lib/libc.so.6"),
                     MIRE_REASON_WAIT);
}

static void modules_without_symbols_have_a_feature_too(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    for (int i = 0; i < 4; i++)
        sample(s, 50, 'R', "+0x1000@/opt/x/game +0x2000@/opt/x/game +0x99@/lib/x86_64-linux-gnu/libm.so.6");
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "game+0x2000");
    assert_string_equal(f.caller1.location, "");
    assert_string_equal(f.caller2.function, "game+0x1000");
    stacks_free(s);
}

static void a_library_alone_is_named_if_nothing_better_is(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 50, 'R', "+0x10" LIBC "gdk_display_sync@/usr/lib/x86_64-linux-gnu/libgdk-3.so.0 +0x1" LIBC);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "gdk_display_sync");
    assert_non_null(strstr(f.why, "no app frame"));
    stacks_free(s);
}

static void a_function_that_calls_itself_is_one_step(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 30, 'R', "main" APP "walk" APP "price" APP);
    sample(s, 30, 'R', "main" APP "walk" APP "walk" APP "price" APP);
    sample(s, 30, 'R', "main" APP "walk" APP "walk" APP "walk" APP "price" APP);
    sample(s, 10, 'R', "main" APP "walk" APP "walk" APP);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "price");
    assert_non_null(strstr(f.why, "90 %"));
    stacks_free(s);
}

static void the_type_a_template_returns_does_not_count(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    assert_int_equal(rules_classify(s->rules, "/opt/app", "bool std::equal<A, B>(A, B)"), MIRE_CLASS_CONTAINER);
    assert_int_equal(rules_classify(s->rules, "/opt/app", "std::string shop::print<int>(int)"), MIRE_CLASS_NONE);
    assert_int_equal(rules_classify(s->rules, "/opt/app", "shop::print(std::string, int)"), MIRE_CLASS_NONE);
    assert_int_equal(rules_classify(s->rules, "/opt/app", "operator new(unsigned long)"), MIRE_CLASS_ALLOCATOR);
    assert_int_equal(rules_classify(s->rules, "/opt/app", "int v8::(anonymous namespace)::Run<A>(A)"),
                     MIRE_CLASS_RUNTIME);
    stacks_free(s);
}

static void copies_of_a_function_hold_their_time_together(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 40, 'R', "main" APP "run" APP "parse" APP);
    sample(s, 30, 'R', "main" APP "run" APP "parse.isra.0" APP);
    sample(s, 30, 'R', "main" APP "run" APP "parse.cold" APP);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "parse");
    assert_non_null(strstr(f.why, "100 %"));
    stacks_free(s);
}

static void repeats_count_samples_not_frames(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 10, 'R', "main@/a/x walk@/a/x walk@/a/x leaf@/a/x");
    sample(s, 10, 'R', "main@/a/x walk@/a/x other@/a/x");
    sample(s, 10, 'R', "main@/a/x walk@/a/x walk@/a/x leaf@/a/x");
    (void)find(s);
    assert_int_equal(s->doc.hot.node, s->samples[2].node); /* the most recent among equals */
    assert_int_equal(s->doc.hot.repeat[0], 2);
    assert_int_equal(s->doc.hot.repeat[1], 3);
    assert_int_equal(s->doc.hot.repeat[3], 3);
    stacks_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_command_is_blamed_not_its_helpers),
        cmocka_unit_test(a_sleep_is_blamed_on_who_asked_for_it),
        cmocka_unit_test(of_many_different_short_stacks_nobody_is_blamed),
        cmocka_unit_test(a_main_that_only_calls_others_is_not_blamed),
        cmocka_unit_test(stacks_without_an_outer_end_join_the_others),
        cmocka_unit_test(what_watches_is_not_blamed),
        cmocka_unit_test(a_comparator_inside_qsort_is_no_culprit),
        cmocka_unit_test(time_decides_not_the_newest_leaf),
        cmocka_unit_test(main_is_no_scene_if_something_inside_it_is),
        cmocka_unit_test(varied_callees_are_blamed_on_the_one_that_calls_them),
        cmocka_unit_test(the_scene_is_the_callback_of_the_loop),
        cmocka_unit_test(the_scene_is_where_the_work_parts_from_the_loops_wait),
        cmocka_unit_test(work_of_the_loop_itself_keeps_its_scene),
        cmocka_unit_test(a_loop_inside_a_callback_has_scenes_of_its_own),
        cmocka_unit_test(a_sleep_that_may_be_the_loops_is_idle),
        cmocka_unit_test(a_nameless_frame_of_the_loop_is_not_the_scene),
        cmocka_unit_test(a_library_that_calls_back_is_a_boundary_without_symbols_too),
        cmocka_unit_test(running_without_cpu_time_is_not_computing),
        cmocka_unit_test(wanting_to_compute_is_cpu_on_a_busy_machine_too),
        cmocka_unit_test(a_lock_is_told_from_computing),
        cmocka_unit_test(disk_sleep_is_io_whatever_the_frames_say),
        cmocka_unit_test(a_parent_waits_for_its_vfork_in_disk_sleep),
        cmocka_unit_test(a_system_call_tells_the_reason_without_symbols),
        cmocka_unit_test(modules_without_symbols_have_a_feature_too),
        cmocka_unit_test(a_library_alone_is_named_if_nothing_better_is),
        cmocka_unit_test(a_function_that_calls_itself_is_one_step),
        cmocka_unit_test(the_type_a_template_returns_does_not_count),
        cmocka_unit_test(copies_of_a_function_hold_their_time_together),
        cmocka_unit_test(repeats_count_samples_not_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
