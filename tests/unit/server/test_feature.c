/* What the feature of stacks is: who is to blame, in which scene, and why. */
#include "feature/pattern.h"
#include "feature/tree.h"
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

#define PY   "@/usr/bin/python3.11 "
#define SHOP "@script:/srv/shop/app.py "
#define LIB  "@script:/usr/lib/python3.11/"
#define PACK "@script:/usr/lib/python3/dist-packages/"
#define BASE "main" PY "_PyEval_EvalFrameDefault" PY

/* The interpreter, its library and its loop only do as the script says. */
static void the_scripts_function_is_blamed_not_the_interpreters(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.process.path = "/usr/bin/python3.11";
    for (int i = 0; i < 4; i++)
        sample(s, 100, 'R',
               BASE "<module>" SHOP "run" LIB "asyncio/runners.py BaseEventLoop._run_once" LIB
                    "asyncio/base_events.py Handle._run" LIB "asyncio/events.py task_step" PY "Page.get" SHOP
                    "price" SHOP "loads" LIB "json/__init__.py +1234" PY
                    "match@/usr/lib/python3.11/lib-dynload/_json.so ");
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "price");
    assert_string_equal(f.caller1.image, "app.py");
    assert_string_equal(f.caller1.location, "/srv/shop/app.py:7");
    assert_string_equal(f.caller2.function, "Page.get");
    assert_int_equal(s->doc.locations[1].role, MIRE_ROLE_RUNTIME);
    stacks_free(s);
}

static void a_package_is_blamed_where_the_script_has_no_part(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.process.path = "/usr/bin/python3.11";
    for (int i = 0; i < 4; i++)
        sample(s, 100, 'R',
               BASE "<module>@script:/usr/bin/tool main" PACK "tool/cli.py Job.work" PACK "tool/job.py sub" LIB
                    "re.py match" PY);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "Job.work");
    assert_string_equal(f.caller1.image, "job.py");
    stacks_free(s);
}

static void a_rule_makes_a_package_the_apps(void **state)
{
    (void)state;
    const struct rules_source own = {"app", "own */dist-packages/tool/*\n", 27, 1};
    struct stacks *s = stacks_new();
    struct rules_fault fault;
    struct rules *rules;
    s->report.process.path = "/usr/bin/python3.11";
    assert_int_equal(rules_before(&rules, &fault, &own, s->rules), MIRE_RULES_OK);
    rules_free(s->rules);
    s->rules = rules;
    for (int i = 0; i < 4; i++)
        sample(s, 100, 'R',
               BASE "<module>" SHOP "serve" SHOP "Job.work" PACK "tool/job.py loads" PACK
                    "simplejson/decoder.py match" PY);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "Job.work");
    assert_string_equal(f.caller2.function, "serve");
    stacks_free(s);
}

/* <module> is what main is to a program; and a name may end as a compiler's would. */
static void a_script_without_functions_is_blamed_itself(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.process.path = "/usr/bin/python3.11";
    for (int i = 0; i < 4; i++)
        sample(s, 100, 'R', BASE "<module>" SHOP "Stock.cold" SHOP "sorted" PY);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "Stock.cold");
    assert_string_equal(f.caller2.function, "Stock.cold");
    stacks_free(s);
    s = stacks_new();
    for (int i = 0; i < 4; i++)
        sample(s, 100, 'R', BASE "<module>" SHOP "sorted" PY);
    f = find(s);
    assert_string_equal(f.caller1.function, "<module>");
    assert_string_equal(f.caller1.image, "app.py");
    stacks_free(s);
}

static void samples_without_a_stack(struct stacks *s, int count, char loss)
{
    for (int i = 0; i < count; i++) {
        sample(s, 100, 'R', "");
        lacks(s, loss);
    }
}

static void shares_are_of_all_samples(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.duration_ms = 1000;
    for (int i = 0; i < 6; i++)
        sample(s, 100, 'R', LOOP "keysCommand" R);
    samples_without_a_stack(s, 1, 'g');
    samples_without_a_stack(s, 3, 'u');
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "keysCommand");
    assert_string_equal(f.why,
                        "keysCommand holds 60 % of the sampled time (deepest app frame of the path); 4 of 10 samples "
                        "have no stack: the thread did not get a processor in time (3), the thread had ended (1)");
    assert_int_equal(s->doc.verdict.share_ppm, 600000);
    stacks_free(s);
}

/* Two of nine stacks say nothing of the other seven. */
static void where_most_stacks_are_missing_nobody_is_blamed(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.duration_ms = 1000;
    sample(s, 100, 'S', LOOP "keysCommand" R "read" LIBC);
    sample(s, 100, 'S', LOOP "keysCommand" R "read" LIBC);
    samples_without_a_stack(s, 7, 'b');
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "(no stack)");
    assert_string_equal(f.caller2.function, "thread without a name (the thread blocked every signal)");
    assert_int_equal(f.category, MIRE_CATEGORY_HANG);
    assert_string_equal(f.why, "7 of 9 samples have no stack: the thread blocked every signal (7)");
    assert_false(s->doc.verdict.known);
    stacks_free(s);
}

/* Samples that begin late in a hang, or that a full ring thinned away, say nothing of the rest. */
static void a_verdict_says_how_much_of_the_hang_it_saw(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.duration_ms = 10000;
    sample(s, 900, 'R', LOOP "keysCommand" R);
    struct feature f = find(s);
    assert_string_equal(f.why, "keysCommand holds 100 % of the sampled time (deepest app frame of the path); the "
                               "samples cover 900 of 10000 ms");
    stacks_free(s);
}

/* Twenty short stacks, one function each, without a root that others have. */
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

/* Ten functions that main calls one after the other, and what it does itself. */
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

/* Every program's main holds all its time: it is to blame for what it does itself, not for what it calls. */
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

/* Garbage that cannot be unwound to the end: the innermost frames alone, with no root that others have. */
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

/* A loop of the app's own, which no rule knows: its wait tells it. */
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

/* A loop that the rules know, inside a callback: it lies further in than the parting. */
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
    assert_non_null(strstr(f.why, "cannot be told whether its loop waited"));
    s->report.event.trigger = "call"; /* the app asked for it: it is what it is */
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
    s->report.event.thread.cpu_ms.value = 1000; /* the disk is memory: what the frames say is still what it does */
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
    s->report.event.thread.cpu_ms = (struct fact){60, true}; /* other programs had the processors */
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

/* The reason of a stack asleep in a system call. */
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

/* The key of a hang without stacks, of a thread of that name. */
static struct feature find_stackless(const char *thread, char loss)
{
    struct stacks *s = stacks_new();
    s->doc.thread.name = thread;
    samples_without_a_stack(s, 4, loss);
    samples_without_a_stack(s, 3, 'u');
    struct feature f = find(s);
    f.caller2.function = strdup(f.caller2.function);
    stacks_free(s);
    return f;
}

static void hangs_without_stacks_are_told_apart_by_thread_and_reason(void **state)
{
    (void)state;
    struct feature one = find_stackless("pool-1-worker-17", 'b'), same = find_stackless("pool-23-worker-4", 'b'),
                   other = find_stackless("render", 'b'), why = find_stackless("render", 'f'),
                   chance = find_stackless("render", 'g'), nothing = find_stackless("", 'g');
    assert_string_equal(one.caller2.function, "thread pool-#-worker-# (the thread blocked every signal)");
    assert_memory_equal(one.key, same.key, sizeof one.key);
    assert_memory_not_equal(one.key, other.key, sizeof one.key);
    assert_memory_not_equal(other.key, why.key, sizeof one.key);
    assert_string_equal(chance.caller2.function, "thread render"); /* why it has none changes from time to time */
    assert_string_equal(nothing.caller2.function, "(no stack)");
    assert_memory_equal(one.blame, why.blame, sizeof one.blame);
    const struct feature *all[] = {&one, &same, &other, &why, &chance, &nothing};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free((void *)(uintptr_t)all[i]->caller2.function);
}

static void no_stack_is_a_feature_of_its_own(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    struct feature none = find(s);
    assert_string_equal(none.caller1.function, "(no stack)");
    assert_int_equal(s->doc.hot.caller1, -1);
    sample(s, 50, 'R', "");
    struct feature empty = find(s);
    assert_memory_equal(none.caller1.function, empty.caller1.function, 10);
    stacks_free(s);
}

static struct feature of_one(struct stacks **s_out, const char *stack)
{
    *s_out = stacks_new();
    sample(*s_out, 100, 'R', stack);
    return find(*s_out);
}

static void keys_ignore_what_compilers_and_packagers_vary(void **state)
{
    (void)state;
    struct stacks *a, *b, *c;
    struct feature fa = of_one(&a, "run@/opt/x/libcore.so.1.2 parse@/opt/x/libcore.so.1.2");
    struct feature fb = of_one(&b, "run@/opt/x/libcore.so.1.3 parse.part.0@/opt/x/libcore.so.1.3");
    struct feature fc = of_one(&c, "run@/opt/x/libcore.so.1.2 parser@/opt/x/libcore.so.1.2");
    assert_memory_equal(fa.key, fb.key, MIRE_FEATURE_KEY);
    assert_string_equal(fb.caller1.function, "parse");
    assert_memory_not_equal(fa.key, fc.key, MIRE_FEATURE_KEY);
    stacks_free(a);
    stacks_free(b);
    stacks_free(c);
}

/* One trouble in two builds, or in two processes: the compiler's numbers differ, the key does not. */
static void keys_have_nothing_that_is_counted(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"run" APP "a.Main$$ExternalSyntheticLambda3.run" APP "a.Main.lambda$add$0" APP,
         "run" APP "a.Main$$ExternalSyntheticLambda9.run" APP "a.Main.lambda$add$4" APP},
        {"run" APP "a.Main$1.run" APP "a.Cart$$EnhancerBySpringCGLIB$$5f8b.add" APP "a.Cart.add" APP,
         "run" APP "a.Main$6.run" APP "a.Cart.add" APP},
        {"run" APP "a.Main.access$100" APP "a.Main.sum" APP, "run" APP "a.Main.access$2200" APP "a.Main.sum" APP},
        {"run" APP "shop::Cart<A>::sum<1>()" APP, "run" APP "shop::Cart<B>::sum<2>()" APP},
        {"run" APP "sum.__uniq.12.llvm.7" APP, "run" APP "sum.__uniq.99.cold.1" APP},
        {"run" APP "main.main.func1.2" APP, "run" APP "main.main.func4" APP},
        {"run" APP "shop::add::{closure#1}" APP, "run" APP "shop::add::{{closure}}" APP},
        {"run" APP "__main_block_invoke" APP, "run" APP "__main_block_invoke_3" APP},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct stacks *a, *b;
        struct feature fa = of_one(&a, pairs[i][0]), fb = of_one(&b, pairs[i][1]);
        if (memcmp(fa.key, fb.key, MIRE_FEATURE_KEY) != 0 || fa.tree != fb.tree)
            fail_msg("%s and %s have two keys", pairs[i][0], pairs[i][1]);
        stacks_free(a);
        stacks_free(b);
    }
}

static void what_the_compiler_made_is_passed_over(void **state)
{
    (void)state;
    struct stacks *s;
    struct feature f = of_one(&s, "run" APP "a.Main.onClick" APP "a.Main$$ExternalSyntheticLambda3.run" APP);
    char why[256];
    assert_string_equal(f.caller1.function, "a.Main.onClick");
    feature_explain(why, sizeof why, &s->doc, &s->doc.locations[2]);
    assert_non_null(strstr(why, "of the pack names 1: $$ExternalSynthetic%i"));
    assert_non_null(strstr(why, "R8 numbers the classes"));
    stacks_free(s);
    f = of_one(&s, "a.Main$$ExternalSyntheticLambda3.run" APP);
    assert_string_equal(f.caller1.function, "a.Main$$ExternalSyntheticLambda3.run");
    assert_int_equal(f.category, MIRE_CATEGORY_HANG);
    assert_non_null(strstr(f.why, "the compiler made"));
    stacks_free(s);
}

static void the_document_says_what_the_key_is_made_of(void **state)
{
    (void)state;
    struct stacks *s;
    struct feature f = of_one(&s, "run" APP "a.Main.lambda$add$4" APP);
    assert_string_equal(f.caller1.function, "a.Main.lambda$add$4");
    assert_int_equal(s->doc.part_count, 6);
    const struct resolved_part *part = s->doc.parts;
    assert_string_equal(part->part, "caller1");
    assert_string_equal(part->text, "a.Main.lambda$add");
    assert_int_equal(part->rule_count, 1);
    const struct resolved_rule *rule = &s->doc.rules[part->rules[0]];
    assert_string_equal(rule->pack, "names");
    assert_non_null(strstr(rule->text, "numbers the lambdas"));
    assert_string_equal(s->doc.parts[5].text, reason_name(f.reason));
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

static void bad_packs_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned line;
    } packs[] = {
        {"", 1},
        {"# nothing\n", 2},
        {"lock a b\n", 1},
        {"version 0\n", 1},
        {"version 1 2\n", 1},
        {"version x\n", 1},
        {"version 1\nlock libc\n", 2},
        {"version 1\n\n# c\nlok a b\n", 4},
        {"version 1\nlock\n", 2},
    };
    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++) {
        struct rules *rules;
        struct rules_fault fault = {0};
        assert_int_equal(rules_parse(&rules, &fault, packs[i].text, strlen(packs[i].text)), MIRE_RULES_WRONG);
        assert_int_equal(fault.line, packs[i].line);
        assert_true(fault.text[0]);
    }
}

/* The rule for a function of a module. */
static struct rule_found rule_for(const struct rules *rules, const char *path, const char *function)
{
    struct arena arena;
    struct rules_module module;
    struct rule_found found;
    arena_init(&arena, 1 << 20);
    assert_int_equal(rules_module(&module, &arena, rules, path), 0);
    const struct rules_subject subject = {.module = &module, .function = function, .file = ""};
    rules_find(&found, NULL, rules, &subject);
    assert_int_not_equal(found.class, MIRE_CLASS_NONE);
    arena_fini(&arena);
    return found;
}

static void rules_of_a_file_come_before_the_built_in_ones(void **state)
{
    (void)state;
    char path[] = "/tmp/mire-rules-XXXXXX";
    struct rules *builtin;
    struct rules *rules;
    struct rules_fault fault = {0};
    struct rule_found found;
    FILE *file = fdopen(mkstemp(path), "w");
    fputs("version 7\n# ours\ncontainer shop cart_*\napp libc.so* malloc\nlock shop caf\xe9_*\n", file);
    fclose(file);
    assert_int_equal(rules_builtin(&builtin, &fault), MIRE_RULES_OK);
    assert_int_equal(rules_load(&rules, &fault, path), MIRE_RULES_OK);
    assert_int_equal(rules_version(rules), 7 + rules_version(builtin));
    found = rule_for(rules, "/opt/shop", "cart_find");
    assert_int_equal(found.class, MIRE_CLASS_CONTAINER);
    assert_int_equal(found.line, 3);
    assert_string_equal(found.pack, "extra");
    assert_int_equal(found.version, 7);
    assert_int_equal(rules_classify(rules, "/lib/libc.so.6", "malloc"), MIRE_CLASS_APP);
    assert_int_equal(rules_classify(rules, "/opt/shop", "caf\xc3\xa9_wait"), MIRE_CLASS_LOCK); /* the file is Latin-1 */
    found = rule_for(rules, "/lib/libc.so.6", "calloc");
    assert_string_equal(found.pack, "linux_c");
    rules_free(rules);
    rules_free(builtin);
    assert_int_equal(rules_load(&rules, &fault, "/nowhere"), MIRE_RULES_WRONG);
    assert_int_equal(fault.line, 0);
    remove(path);
}

static void the_first_rule_that_fits_decides(void **state)
{
    (void)state;
    struct rules *rules;
    struct rules_fault fault;
    static const char text[] =
        "version 3\r\nio libc.so* re?d*  \nlock libc.so* *\nsystem /usr/lib/* operator new(unsigned long)\n";
    assert_int_equal(rules_parse(&rules, &fault, text, sizeof text - 1), MIRE_RULES_OK);
    assert_int_equal(rules_version(rules), 3);
    assert_int_equal(rules_classify(rules, "/lib/libc.so.6", "readv"), MIRE_CLASS_IO);
    assert_int_equal(rules_classify(rules, "libc.so.6", "red"), MIRE_CLASS_LOCK);
    assert_int_equal(rules_classify(rules, "/usr/lib/x.so", "operator new(unsigned long)"), MIRE_CLASS_SYSTEM);
    assert_int_equal(rules_classify(rules, "/opt/lib/x.so", "operator new(unsigned long)"), MIRE_CLASS_NONE);
    rules_free(rules);
    assert_true(glob_match("a*b*c", "aXXbYYbZc"));
    assert_false(glob_match("a*b", "aXXbc"));
    assert_true(glob_match("*", ""));
    assert_false(glob_match("?", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_command_is_blamed_not_its_helpers),
        cmocka_unit_test(a_sleep_is_blamed_on_who_asked_for_it),
        cmocka_unit_test(the_scripts_function_is_blamed_not_the_interpreters),
        cmocka_unit_test(a_package_is_blamed_where_the_script_has_no_part),
        cmocka_unit_test(a_rule_makes_a_package_the_apps),
        cmocka_unit_test(a_script_without_functions_is_blamed_itself),
        cmocka_unit_test(shares_are_of_all_samples),
        cmocka_unit_test(a_verdict_says_how_much_of_the_hang_it_saw),
        cmocka_unit_test(of_many_different_short_stacks_nobody_is_blamed),
        cmocka_unit_test(a_main_that_only_calls_others_is_not_blamed),
        cmocka_unit_test(where_most_stacks_are_missing_nobody_is_blamed),
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
        cmocka_unit_test(a_system_call_tells_the_reason_without_symbols),
        cmocka_unit_test(modules_without_symbols_have_a_feature_too),
        cmocka_unit_test(a_library_alone_is_named_if_nothing_better_is),
        cmocka_unit_test(a_function_that_calls_itself_is_one_step),
        cmocka_unit_test(the_type_a_template_returns_does_not_count),
        cmocka_unit_test(hangs_without_stacks_are_told_apart_by_thread_and_reason),
        cmocka_unit_test(no_stack_is_a_feature_of_its_own),
        cmocka_unit_test(keys_ignore_what_compilers_and_packagers_vary),
        cmocka_unit_test(keys_have_nothing_that_is_counted),
        cmocka_unit_test(what_the_compiler_made_is_passed_over),
        cmocka_unit_test(the_document_says_what_the_key_is_made_of),
        cmocka_unit_test(copies_of_a_function_hold_their_time_together),
        cmocka_unit_test(repeats_count_samples_not_frames),
        cmocka_unit_test(bad_packs_are_refused_with_their_line),
        cmocka_unit_test(rules_of_a_file_come_before_the_built_in_ones),
        cmocka_unit_test(the_first_rule_that_fits_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
