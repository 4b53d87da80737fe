/* Packs of rules: patterns, conditions and marks, and what follows from them for whole stacks. */
#include "feature/pattern.h"
#include "feature/rules.h"
#include "support/stacks.h"

#include <time.h>

#define GLIB "@/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0 "
#define GTK  "@/usr/lib/x86_64-linux-gnu/libgtk-3.so.0 "
#define APP  "@/opt/demo/demo "
#define WAIT "main" APP "g_main_loop_run" GLIB "g_main_context_iterate" GLIB
#define TICK "main" APP "g_main_loop_run" GLIB "g_main_context_dispatch" GLIB

/* As an expression, and as a pattern of a rule, which looks at a name's first byte before. */
static bool matches(const char *expression, const char *text)
{
    struct regex *regex;
    struct pattern pattern;
    char written[256];
    const char *why = NULL;
    snprintf(written, sizeof written, "~%s", expression);
    assert_int_equal(regex_make(&regex, &why, expression), 0);
    assert_int_equal(pattern_make(&pattern, &why, written), 0);
    bool yes = regex_match(regex, text);
    assert_int_equal(pattern_match(&pattern, text), yes);
    pattern_fini(&pattern);
    regex_free(regex);
    return yes;
}

static void expressions_fit_as_they_do_elsewhere(void **state)
{
    (void)state;
    static const struct {
        const char *expression, *text;
        bool fits;
    } cases[] = {
        {"", "", true},
        {"", "a", true},
        {"^$", "", true},
        {"^$", "a", false},
        {"b", "abc", true},
        {"^b", "abc", false},
        {"c$", "abc", true},
        {"b$", "abc", false},
        {"^a.c$", "abc", true},
        {"^a.c$", "ac", false},
        {"^ab*c$", "ac", true},
        {"^ab*c$", "abbbc", true},
        {"^ab+c$", "ac", false},
        {"^ab?c$", "abbc", false},
        {"^(ab|cd)+$", "abcdab", true},
        {"^(ab|cd)+$", "abc", false},
        {"^(a|)b$", "b", true},
        {"^on_.*_(clicked|opened)$", "on_page_opened", true},
        {"^on_.*_(clicked|opened)$", "on_page_closed", false},
        {"^[a-c_]+$", "a_cb", true},
        {"^[^a-c]+$", "xyb", false},
        {"^[]x]+$", "]x", true},
        {"^[a\\]]+$", "a]", true},
        {"^\\.\\*$", ".*", true},
        {"^\\.\\*$", "ab", false},
        {"(a*)*b", "aaab", true},
        {"^(^a|b$)$", "a", true},
        {"^a|b", "xb", true},
        {"^a(x|y)", "ay", true},
        {"^a(x|y)", "bay", false},
        {"^a?b", "b", true},
        {"^a*b", "b", true},
        {"^a+b", "b", false},
        {"^a[|]|b", "b", true},
        {"^a[]|]c", "a|c", true},
        {"^a[^]|]|c", "c", true},
        {"^a\\|b", "a|b", true},
        {"^a\\(|b", "b", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (matches(cases[i].expression, cases[i].text) != cases[i].fits)
            fail_msg("%s and \"%s\"", cases[i].expression, cases[i].text);
}

static void wrong_expressions_are_told_from_right_ones(void **state)
{
    (void)state;
    static const char *const wrong[] = {"(", ")", "a)", "(a", "[", "[a", "[z-a]", "*", "a|*", "+a", "\\", "[\\"};
    char deep[256] = "", longest[2 * MIRE_REGEX_STATES + 1] = "";
    struct regex *regex;
    const char *why;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        why = NULL;
        assert_int_equal(regex_make(&regex, &why, wrong[i]), 1);
        assert_non_null(why);
    }
    memset(deep, '(', 200);
    assert_int_equal(regex_make(&regex, &why, deep), 1);
    memset(longest, 'a', sizeof longest - 1);
    assert_int_equal(regex_make(&regex, &why, longest), 1);
}

/* An expression and a name on which matchers that try again and again take ages: CPU time grows with the name alone. */
static void a_hostile_expression_takes_no_more_time_than_its_length(void **state)
{
    (void)state;
    char name[MIRE_REGEX_TEXT_MAX * 4];
    struct timespec begin, end;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    assert_false(matches("^((a*)*|(a+)+)*(a|aa)+(a|aa)+(a|aa)+b$", name));
    assert_false(glob_match("*a*a*a*a*a*a*a*b", name));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    assert_true(end.tv_sec - begin.tv_sec < 20); /* it takes milliseconds; the other way, centuries */
}

static struct rules *parse(const char *text)
{
    struct rules_fault fault;
    struct rules *rules;
    assert_int_equal(rules_parse(&rules, &fault, text, strlen(text)), MIRE_RULES_OK);
    return rules;
}

static enum rule_class class_of(const struct rules *rules, struct rules_subject subject)
{
    struct arena arena;
    struct rules_module module;
    struct rule_found found;
    arena_init(&arena, 1 << 20);
    assert_int_equal(rules_module(&module, &arena, rules, "/opt/shop"), 0);
    subject.module = &module;
    subject.file = subject.file ? subject.file : "";
    rules_find(&found, NULL, rules, &subject);
    arena_fini(&arena);
    return found.class;
}

static void conditions_narrow_a_rule(void **state)
{
    (void)state;
    struct rules *rules = parse("version 1\n"
                                "scene file=*/pages/* shop on_*\n"
                                "io file=disk.c * *\n"
                                "system lang=java * *\n"
                                "runtime at=entry * ~^start\n"
                                "container at=leaf lang=cpp * tail*\n");
    assert_int_equal(class_of(rules, (struct rules_subject){.function = "on_a", .file = "src/pages/a.c"}),
                     MIRE_CLASS_SCENE);
    assert_int_equal(class_of(rules, (struct rules_subject){.function = "on_a", .file = "src/a.c"}), MIRE_CLASS_NONE);
    assert_int_equal(class_of(rules, (struct rules_subject){.function = "f", .file = "/a/b/disk.c"}), MIRE_CLASS_IO);
    assert_int_equal(class_of(rules, (struct rules_subject){.function = "f", .language = MIRE_LANGUAGE_JAVA}),
                     MIRE_CLASS_SYSTEM);
    assert_int_equal(class_of(rules, (struct rules_subject){.function = "start_it", .entry = true}),
                     MIRE_CLASS_RUNTIME);
    assert_int_equal(class_of(rules, (struct rules_subject){.function = "start_it"}), MIRE_CLASS_NONE);
    assert_int_equal(
        class_of(rules, (struct rules_subject){.function = "tail", .language = MIRE_LANGUAGE_CPP, .leaf = true}),
        MIRE_CLASS_CONTAINER);
    assert_int_equal(class_of(rules, (struct rules_subject){.function = "tail", .language = MIRE_LANGUAGE_CPP}),
                     MIRE_CLASS_NONE);
    rules_free(rules);
}

static void languages_are_told_by_file_and_name(void **state)
{
    (void)state;
    assert_int_equal(language_of("main", "src/main.rs"), MIRE_LANGUAGE_RUST);
    assert_int_equal(language_of("main", ""), MIRE_LANGUAGE_UNKNOWN);
    assert_int_equal(language_of("-[View draw:]", ""), MIRE_LANGUAGE_OBJC);
    assert_int_equal(language_of("shop::Cart::add(int)", ""), MIRE_LANGUAGE_CPP);
    assert_int_equal(language_of("<alloc::vec::Vec<T> as core::ops::Drop>::drop", ""), MIRE_LANGUAGE_RUST);
    assert_int_equal(language_of("org.shop.Cart$1.run", ""), MIRE_LANGUAGE_JAVA);
    assert_int_equal(language_of("org.shop.CartKt.add", "Cart.kt"), MIRE_LANGUAGE_KOTLIN);
    assert_int_equal(language_of("runtime.main", ""), MIRE_LANGUAGE_UNKNOWN);
    assert_int_equal(language_of_name("c"), MIRE_LANGUAGE_C);
    assert_int_equal(language_of_name("javascript"), MIRE_LANGUAGE_JAVASCRIPT);
    assert_int_equal(language_of_name("cobol"), MIRE_LANGUAGE_UNKNOWN);
}

/* The index finds the rule that trying each in order finds. */
static void the_index_finds_the_first_rule_that_fits(void **state)
{
    (void)state;
    struct rules *rules = parse("version 1\n"
                                "io * *_read\n"
                                "lock * g_file_load_contents_read\n"
                                "sleep * g_file_*\n"
                                "wait * g_fi*\n"
                                "system * g_file_load_contents_async\n"
                                "runtime * *\n");
    assert_int_equal(rules_classify(rules, "", "g_file_load_contents_read"), MIRE_CLASS_IO);
    assert_int_equal(rules_classify(rules, "", "g_file_load_contents_async"), MIRE_CLASS_SLEEP);
    assert_int_equal(rules_classify(rules, "", "g_filter"), MIRE_CLASS_WAIT);
    assert_int_equal(rules_classify(rules, "", "g_fo"), MIRE_CLASS_RUNTIME);
    assert_int_equal(rules_classify(rules, "", ""), MIRE_CLASS_RUNTIME);
    rules_free(rules);
}

static void faults_say_what_to_write_instead(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } packs[] = {
        {"version 1\nlok a b\n", "one of app"},         {"version 1\nlock lang=cobol a b\n", "rust"},
        {"version 1\nlock at=top a b\n", "at=leaf"},    {"version 1\nlock file=a file=b a b\n", "leave one"},
        {"version 1\nlock * ~(\n", "has no )"},         {"version 1\nlock ~[ *\n", "has no ]"},
        {"version 1\nversion 2\n", "delete this line"}, {"version 1\nlock at=leaf\n", "CLASS MODULE FUNCTION"},
    };
    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++) {
        struct rules *rules;
        struct rules_fault fault = {0};
        assert_int_equal(rules_parse(&rules, &fault, packs[i].text, strlen(packs[i].text)), MIRE_RULES_WRONG);
        assert_int_equal(fault.line, 2);
        if (!strstr(fault.text, packs[i].says))
            fail_msg("\"%s\" does not say \"%s\"", fault.text, packs[i].says);
    }
}

static void an_apps_rules_come_first_and_have_its_version(void **state)
{
    (void)state;
    static const char text[] = "app libc.so* malloc\n";
    const struct rules_source source = {"app", text, sizeof text - 1, 12};
    struct rules *rules, *builtin;
    struct rules_fault fault;
    assert_int_equal(rules_make(&rules, &fault, &source, 1), MIRE_RULES_OK);
    assert_int_equal(rules_builtin(&builtin, &fault), MIRE_RULES_OK);
    assert_int_equal(rules_version(rules), rules_version(builtin) + 12);
    assert_int_equal(rules_pack_count(rules), rules_pack_count(builtin) + 1);
    assert_string_equal(rules_pack(rules, 0).name, "app");
    assert_false(rules_pack(rules, 0).builtin);
    assert_true(rules_pack(rules, 1).builtin && rules_pack(rules, 1).rule_count > 0);
    assert_int_equal(rules_classify(rules, "libc.so.6", "malloc"), MIRE_CLASS_APP);
    assert_int_equal(rules_classify(rules, "libc.so.6", "calloc"), MIRE_CLASS_ALLOCATOR);
    rules_free(rules);
    rules_free(builtin);
}

/* Of coroutines whoever polls or resumes them hands control on; the async function itself may be to blame. */
static void coroutines_are_the_app_and_who_resumes_them_is_not(void **state)
{
    static const struct {
        const char *module, *function;
        enum rule_class class;
    } rows[] = {
        {"app", "shop::open_page::{{closure}}", MIRE_CLASS_NONE},
        {"app", "shop::open_page::{closure#0}", MIRE_CLASS_NONE},
        {"app", "shop::open_page::{async_fn#0}", MIRE_CLASS_NONE},
        {"app", "<shop::Page as core::future::future::Future>::poll", MIRE_CLASS_NONE},
        {"app", "<core::pin::Pin<P> as core::future::future::Future>::poll", MIRE_CLASS_DISPATCH},
        {"app", "<alloc::boxed::Box<F,A> as core::future::future::Future>::poll", MIRE_CLASS_DISPATCH},
        {"app", "tokio::runtime::task::core::Core<T,S>::poll", MIRE_CLASS_DISPATCH},
        {"app", "futures_executor::local_pool::block_on", MIRE_CLASS_DISPATCH},
        {"app", "core::ops::function::FnOnce::call_once{{vtable.shim}}", MIRE_CLASS_RUNTIME},
        {"app", "shop::tracked{{reify.shim}}", MIRE_CLASS_RUNTIME},
        {"app", "shop::tracked::{shim:reify#0}", MIRE_CLASS_RUNTIME},
        {"app", "main._Cfunc_spin.abi0", MIRE_CLASS_RUNTIME},
        {"app", "boost::asio::detail::awaitable_thread<boost::asio::any_io_executor>::pump()", MIRE_CLASS_DISPATCH},
        {"app", "asio::detail::awaitable_frame_base<asio::any_io_executor>::resume()", MIRE_CLASS_DISPATCH},
        {"app", "shop::awaitable_thread<int>::pump()", MIRE_CLASS_NONE},
        {"app", "<main::main::{closure#1} as core::ops::function::FnOnce<(i64,)>>::call_once::{shim:vtable#0}",
         MIRE_CLASS_RUNTIME},
        {"app", "<fn() as core::ops::function::FnOnce<()>>::call_once", MIRE_CLASS_RUNTIME},
        {"app", "<&dyn core::ops::function::Fn<()> as core::ops::function::FnOnce<()>>::call_once", MIRE_CLASS_RUNTIME},
        {"app", "<u64 as core::iter::traits::accum::Sum>::sum", MIRE_CLASS_RUNTIME},
        {"app", "<shop::Price as core::iter::traits::accum::Sum>::sum", MIRE_CLASS_NONE},
        {"app", "shop::unwind::draw", MIRE_CLASS_NONE},
        {"app", "std::__n4861::coroutine_handle<void>::resume() const", MIRE_CLASS_DISPATCH},
        {"app", "std::coroutine_handle<Task::promise_type>::resume() const", MIRE_CLASS_DISPATCH},
        {"app", "boost::asio::detail::awaitable_thread<boost::asio::any_io_executor>::pump()", MIRE_CLASS_DISPATCH},
        {"app", "decode_page(int) [clone .resume]", MIRE_CLASS_NONE},
        {"app", "decode_page(int) [clone .actor]", MIRE_CLASS_NONE},
        {"libswift_Concurrency.dylib", "swift_job_runImpl", MIRE_CLASS_DISPATCH},
        {"Shop", "(1) await resume partial function for Cart.load()", MIRE_CLASS_NONE},
        {"", "shop.Cart$load$1.invokeSuspend", MIRE_CLASS_NONE},
        {"", "kotlin.coroutines.jvm.internal.BaseContinuationImpl.resumeWith", MIRE_CLASS_DISPATCH},
        {"", "kotlinx.coroutines.DispatchedTask.run", MIRE_CLASS_DISPATCH},
        {"app", "main.openPage.func1", MIRE_CLASS_NONE},
        {"app", "runtime.goexit", MIRE_CLASS_RUNTIME},
        {"app", "golang.org/x/sync/errgroup.(*Group).Go.func1", MIRE_CLASS_DISPATCH},
        {"app", "_cgo_563e7078765a_Cfunc_cpu", MIRE_CLASS_RUNTIME},
        {"app", "path_find", MIRE_CLASS_NONE}, /* no Go: its packages have the same words */
        {"app", "image.resize", MIRE_CLASS_NONE},
    };
    struct rules_fault fault;
    struct rules *rules;
    (void)state;
    assert_int_equal(rules_builtin(&rules, &fault), MIRE_RULES_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rules_classify(rules, rows[i].module, rows[i].function) != rows[i].class)
            fail_msg("%s is %s", rows[i].function,
                     rule_class_name(rules_classify(rules, rows[i].module, rows[i].function)));
    rules_free(rules);
}

static void python_is_a_program_or_a_library(void **state)
{
    (void)state;
    static const char *const modules[] = {"python3.11", "libpython3.11.so.1.0", "/opt/app/lib/libpython3.12.so"};
    struct rules *rules;
    struct rules_fault fault;
    assert_int_equal(rules_builtin(&rules, &fault), MIRE_RULES_OK);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        assert_int_equal(rules_classify(rules, modules[i], "PyMem_Malloc"), MIRE_CLASS_ALLOCATOR);
        assert_int_equal(rules_classify(rules, modules[i], "_PyEval_EvalFrameDefault"), MIRE_CLASS_APP);
    }
    assert_int_not_equal(rules_classify(rules, "draw.cpython-311-x86_64-linux-gnu.so", "list_tiles"),
                         MIRE_CLASS_CONTAINER);
    rules_free(rules);
}

static void app_rules(struct stacks *s, const char *text)
{
    const struct rules_source source = {"app", text, strlen(text), 1};
    struct rules_fault fault;
    rules_free(s->rules);
    assert_int_equal(rules_make(&s->rules, &fault, &source, 1), MIRE_RULES_OK);
}

static void a_loop_that_waits_is_idle(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 90, 'S', WAIT "poll" LIBC);
    sample(s, 10, 'R', TICK "on_save" APP);
    struct feature f = find(s);
    assert_int_equal(f.category, MIRE_CATEGORY_IDLE);
    assert_int_equal(f.reason, MIRE_REASON_IDLE);
    stacks_free(s);
}

static void what_waits_inside_a_handler_is_not_idle(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 100, 'S', TICK "on_save" APP "g_main_context_iterate" GLIB "poll" LIBC);
    struct feature f = find(s);
    assert_int_equal(f.category, MIRE_CATEGORY_HANG);
    assert_string_equal(f.caller1.function, "on_save");
    stacks_free(s);
}

static void idle_samples_take_no_part_where_others_have_the_time(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.duration_ms = 100;
    sample(s, 50, 'S', WAIT "poll" LIBC);
    sample(s, 50, 'R', TICK "on_save" APP);
    struct feature f = find(s);
    assert_int_equal(f.category, MIRE_CATEGORY_HANG);
    assert_string_equal(f.caller1.function, "on_save");
    assert_string_equal(f.why, "on_save holds 50 % of the sampled time (deepest app frame of the path); 1 of 2 samples "
                               "wait for events or say nothing, and are left out");
    assert_int_equal(s->doc.verdict.share_ppm, 500000);
    stacks_free(s);
}

static void a_hang_without_code_of_the_app_is_of_the_kind_system(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 100, 'R', TICK "gtk_widget_measure" GTK "gtk_css_validate" GTK);
    struct feature f = find(s);
    assert_int_equal(f.category, MIRE_CATEGORY_SYSTEM);
    assert_string_equal(f.caller1.function, "gtk_css_validate");
    assert_string_equal(f.caller2.function, "main");
    stacks_free(s);
}

#define PART   "@/usr/lib/x86_64-linux-gnu/libevview3.so.3 "
#define DRAW   "main" VIEWER "g_main_loop_run" GLIB "g_main_context_dispatch" GLIB "ev_view_press" PART "ev_select" PART
#define VIEWER "@/usr/bin/evince "

static struct stacks *viewer(const char *stack)
{
    struct stacks *s = stacks_new();
    s->report.process.path = "/usr/bin/evince";
    sample(s, 100, 'R', stack);
    return s;
}

static void set_tie(struct stacks *s, const char *name, enum image_tie tie)
{
    for (size_t i = 0; i < s->report.image_count; i++)
        if (strstr(s->images[i].name, name))
            s->images[i].tie = tie;
}

static void a_library_of_the_programs_source_package_is_the_apps(void **state)
{
    (void)state;
    struct stacks *s = viewer(DRAW);
    set_tie(s, "libevview3", MIRE_TIE_SAME);
    struct feature f = find(s);
    assert_int_equal(f.category, MIRE_CATEGORY_HANG);
    assert_string_equal(f.caller1.function, "ev_select");
    assert_string_equal(f.caller2.function, "ev_view_press");
    stacks_free(s);
}

static void a_library_of_another_source_package_is_the_systems(void **state)
{
    (void)state;
    struct stacks *s = viewer(DRAW);
    set_tie(s, "libevview3", MIRE_TIE_OTHER);
    assert_int_equal(find(s).category, MIRE_CATEGORY_SYSTEM);
    stacks_free(s);
}

static void a_library_of_which_nothing_is_known_is_unknown_and_never_the_systems(void **state)
{
    (void)state;
    char why[256];
    struct stacks *s = viewer(DRAW);
    struct feature f = find(s);
    assert_int_equal(f.category, MIRE_CATEGORY_HANG);
    assert_string_equal(f.caller1.function, "ev_select");
    feature_explain(why, sizeof why, &s->doc, &s->doc.locations[s->doc.location_count - 1]);
    assert_non_null(strstr(why, "own MODULE"));
    stacks_free(s);
}

/* A main that only calls it, without a loop between, does not answer for it; of a known library main does. */
static void a_main_that_only_calls_an_unknown_library_is_not_to_blame(void **state)
{
    (void)state;
    static const struct {
        const char *module;
        const char *caller1;
    } cases[] = {{PART, "ev_select"}, {GTK, "main"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char stack[256];
        snprintf(stack, sizeof stack, "main" VIEWER "ev_load%sev_select%s", cases[i].module, cases[i].module);
        struct stacks *s = viewer(stack);
        set_tie(s, "libgtk", MIRE_TIE_OTHER);
        assert_string_equal(find(s).caller1.function, cases[i].caller1);
        assert_true(s->doc.verdict.known);
        stacks_free(s);
    }
}

static void a_team_says_in_one_line_that_a_library_is_its_own(void **state)
{
    (void)state;
    struct stacks *s = viewer(DRAW);
    struct rules_fault fault;
    const struct rules_source source = {"app", "own libevview*\n", 15, 1};
    set_tie(s, "libevview3", MIRE_TIE_OTHER);
    rules_free(s->rules);
    assert_int_equal(rules_make(&s->rules, &fault, &source, 1), MIRE_RULES_OK);
    assert_string_equal(find(s).caller1.function, "ev_select");
    stacks_free(s);
}

static void own_is_said_of_a_module_alone(void **state)
{
    (void)state;
    struct rules *rules;
    struct rules_fault fault;
    static const char with_function[] = "version 1\nown libx* draw\n", bare[] = "version 1\nown\n";
    assert_int_equal(rules_parse(&rules, &fault, with_function, sizeof with_function - 1), MIRE_RULES_WRONG);
    assert_non_null(strstr(fault.text, "own MODULE"));
    assert_int_equal(rules_parse(&rules, &fault, bare, sizeof bare - 1), MIRE_RULES_WRONG);
}

static void a_folder_of_the_program_is_the_apps(void **state)
{
    (void)state;
    static const struct {
        const char *module, *program;
        bool own;
    } cases[] = {
        {"/usr/lib/x86_64-linux-gnu/evince/4/backends/libpdfdocument.so", "/usr/bin/evince", true},
        {"/usr/lib/aarch64-linux-gnu/weechat/plugins/irc.so", "/usr/bin/weechat", true},
        {"/usr/lib/gimp-2.0/modules/x.so", "/usr/bin/gimp", true},
        {"/usr/lib/libreoffice/program/libmergedlo.so", "/usr/lib/libreoffice/program/soffice.bin", true},
        {"/usr/lib64/shop/libcart.so", "/usr/bin/shop", true},
        {"/usr/lib/x86_64-linux-gnu/libevview3.so.3", "/usr/bin/evince", false},
        {"/usr/lib/x86_64-linux-gnu/gio/modules/libdconfsettings.so", "/usr/bin/evince", false},
        {"/usr/lib/evincely/x.so", "/usr/bin/evince", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stacks *s = stacks_new();
        char stack[512];
        s->report.process.path = cases[i].program;
        snprintf(stack, sizeof stack, "main@%s work@%s ", cases[i].program, cases[i].module);
        sample(s, 100, 'R', stack);
        set_tie(s, cases[i].module, MIRE_TIE_OTHER);
        if ((find(s).caller1.function[0] == 'w') != cases[i].own)
            fail_msg("%s beside %s", cases[i].module, cases[i].program);
        stacks_free(s);
    }
}

#define EDITOR "@/usr/bin/vim.basic "
#define CODE   "@/usr/lib/x86_64-linux-gnu/libc.so.6 "

static void what_is_outside_main_is_nobodys(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.process.path = "/usr/bin/vim.basic";
    sample(s, 100, 'S',
           "+47e30" EDITOR "__libc_start_main_impl" CODE "__libc_start_call_main" CODE "+1d90c0" EDITOR "+4f210" EDITOR
           "+db2c0" EDITOR "__GI___libc_read" CODE);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "vim.basic+db2c0");
    assert_string_equal(f.caller2.function, "vim.basic+4f210");
    assert_int_equal(s->doc.locations[0].role, MIRE_ROLE_RUNTIME);
    assert_string_equal(s->doc.locations[3].function, "main");
    assert_int_equal(s->doc.locations[6].role, MIRE_ROLE_IO);
    stacks_free(s);
}

static void a_libc_without_names_starts_main_too(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.process.path = "/usr/bin/vim.basic";
    sample(s, 100, 'R', "+47e30" EDITOR "+271ca" CODE "+27305" CODE "+1d90c0" EDITOR "+4f210" EDITOR "+db2c0" EDITOR);
    assert_string_equal(find(s).caller2.function, "vim.basic+4f210");
    assert_string_equal(s->doc.locations[3].function, "main");
    stacks_free(s);
}

static void main_alone_is_the_scene_where_it_does_the_work(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.process.path = "/usr/bin/vim.basic";
    sample(s, 100, 'R', "+47e30" EDITOR "__libc_start_main" CODE "+1d90c0" EDITOR);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "main");
    assert_string_equal(f.caller2.function, "main");
    stacks_free(s);
}

static void runtimes_pass_over_themselves(void **state)
{
    (void)state;
    static const struct {
        const char *module, *function;
        enum rule_class class;
    } cases[] = {
        {"/usr/bin/perl", "Perl_pp_sort", MIRE_CLASS_APP},
        {"libperl.so.5.36", "Perl_call_sv", MIRE_CLASS_RUNTIME},
        {"/usr/bin/perl", "Perl_safesysmalloc", MIRE_CLASS_ALLOCATOR},
        {"libruby-3.1.so.3.1", "rb_ec_exec_node", MIRE_CLASS_RUNTIME},
        {"libruby-3.1.so.3.1", "onig_search", MIRE_CLASS_CONTAINER},
        {"libruby-3.1.so.3.1", "ruby_xmalloc2", MIRE_CLASS_ALLOCATOR},
        {"/usr/bin/php8.2", "zend_call_function", MIRE_CLASS_RUNTIME},
        {"/usr/bin/php8.2", "_emalloc", MIRE_CLASS_ALLOCATOR},
        {"lua5.4", "luaV_execute", MIRE_CLASS_APP},
        {"liblua5.4.so.0", "luaH_resize", MIRE_CLASS_CONTAINER},
        {"beam.smp", "process_main", MIRE_CLASS_APP},
        {"beam.smp", "binary_to_term_1", MIRE_CLASS_APP},
        {"beam.smp", "erts_schedule", MIRE_CLASS_RUNTIME},
        {"libjvm.so", "ObjectMonitor::enter(JavaThread*)", MIRE_CLASS_LOCK},
        {"libjvm.so", "JavaCalls::call_helper", MIRE_CLASS_RUNTIME},
        {"libcoreclr.so", "JIT_MonEnter_Portable", MIRE_CLASS_LOCK},
        {"libhermes.so", "hermes::vm::Interpreter::interpretFunction<false>()", MIRE_CLASS_APP},
        {"libflutter.so", "fml::MessageLoopImpl::FlushTasks(fml::FlushType)", MIRE_CLASS_DISPATCH},
        {"libapp.so", "Precompiled_MyApp_build_1", MIRE_CLASS_APP},
        {"libjavascriptcoregtk-4.1.so.0", "JSC::Interpreter::executeCall()", MIRE_CLASS_APP},
    };
    struct rules *rules;
    struct rules_fault fault;
    assert_int_equal(rules_builtin(&rules, &fault), MIRE_RULES_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (rules_classify(rules, cases[i].module, cases[i].function) != cases[i].class)
            fail_msg("%s %s: %s", cases[i].module, cases[i].function,
                     rule_class_name(rules_classify(rules, cases[i].module, cases[i].function)));
    rules_free(rules);
}

static void where_nobody_has_most_of_the_time_the_feature_is_diffuse(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 30, 'R', TICK "on_draw" APP);
    sample(s, 30, 'R', TICK "on_resize" APP);
    sample(s, 40, 'R', TICK "on_timer" APP);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "diffuse at g_main_context_dispatch");
    assert_int_equal(f.category, MIRE_CATEGORY_HANG);
    stacks_free(s);
}

static void the_way_down_follows_each_parents_share(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 70, 'R', "main" APP "draw" APP "text" APP);
    sample(s, 10, 'R', "main" APP "draw" APP "line" APP);
    sample(s, 20, 'R', "main" APP "load" APP);
    assert_string_equal(find(s).caller1.function, "text");
    stacks_free(s);
    s = stacks_new();
    sample(s, 55, 'R', "main" APP "draw" APP "text" APP); /* 55 % of all, 69 % of draw */
    sample(s, 25, 'R', "main" APP "draw" APP "line" APP);
    sample(s, 20, 'R', "main" APP "load" APP);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "text");
    assert_int_equal(s->doc.verdict.share_ppm, 550000);
    stacks_free(s);
}

static void a_share_too_small_to_be_told_from_chance_is_not_followed(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 28, 'R', "main" APP "a" APP "b" APP "c" APP);
    sample(s, 12, 'R', "main" APP "a" APP "b" APP "d" APP);
    sample(s, 25, 'R', "main" APP "a" APP "e" APP);
    sample(s, 35, 'R', "main" APP "f" APP);
    assert_string_equal(find(s).caller1.function, "b"); /* c has 70 % of it, and 28 % of all */
    stacks_free(s);
}

static void a_rule_names_the_scene(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    app_rules(s, "scene demo *_page_*\n");
    sample(s, 100, 'R', TICK "on_event" APP "cart_page_open" APP "cart_page_fill" APP "price" APP);
    struct feature f = find(s);
    assert_string_equal(f.caller1.function, "price");
    assert_string_equal(f.caller2.function, "cart_page_open");
    stacks_free(s);
}

static void a_moment_of_a_computation_is_the_handlers(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    app_rules(s, "moment demo on_alarm\nruntime demo on_alarm\n");
    sample(s, 1, 'R', TICK "on_draw" APP "layout" APP "measure" APP "on_alarm" APP);
    assert_string_equal(find(s).caller1.function, "on_draw");
    stacks_free(s);
}

static void an_exception_is_its_own_reason(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.trigger = "exception";
    s->report.event.name = "java.lang.NullPointerException";
    sample(s, 1, '?',
           "org.shop.Main.run@ org.eclipse.swt.widgets.Display.readAndDispatch@ org.shop.Cart.open@ "
           "org.shop.Cart.add@ java.util.ArrayList.get@");
    for (size_t i = 0; i < s->doc.location_count; i++)
        s->locations[i].file = ""; /* the names tell the language */
    struct feature f = find(s);
    assert_string_equal(feature_reason(&f), "java.lang.NullPointerException");
    assert_string_equal(f.caller1.function, "org.shop.Cart.add");
    assert_string_equal(f.caller2.function, "org.shop.Cart.open");
    assert_int_equal(f.category, MIRE_CATEGORY_CUSTOM);
    stacks_free(s);
}

static void the_reason_may_be_pages_another_process_or_a_frozen_one(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    s->report.event.thread.major_faults = (struct fact){40, true};
    sample(s, 100, 'D', TICK "on_open" APP "decode" APP);
    assert_int_equal(find(s).reason, MIRE_REASON_PAGE_IN);
    stacks_free(s);
    s = stacks_new();
    sample(s, 100, 'S', TICK "on_open" APP "g_dbus_proxy_call_sync" GLIB "poll" LIBC);
    assert_int_equal(find(s).reason, MIRE_REASON_IPC);
    stacks_free(s);
    s = stacks_new();
    s->report.event.late_ms = 2000;
    sample(s, 100, 'S', TICK "on_open" APP);
    assert_int_equal(find(s).reason, MIRE_REASON_LATE);
    stacks_free(s);
}

static void the_document_names_the_rule_of_every_frame(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    char why[200];
    app_rules(s, "# ours\n\ncontainer demo cart_*\n");
    sample(s, 100, 'R', "main" APP "cart_find" APP "malloc" LIBC);
    (void)find(s);
    feature_explain(why, sizeof why, &s->doc, &s->doc.locations[1]);
    assert_string_equal(why, "line 3 of the pack app 1: container demo cart_*");
    feature_explain(why, sizeof why, &s->doc, &s->doc.locations[0]);
    assert_string_equal(why, "app: no rule passes it over");
    assert_int_equal(s->doc.locations[2].role, MIRE_ROLE_ALLOCATOR);
    assert_string_equal(s->doc.rules[s->doc.locations[2].rule - 1].pack, "linux_c");
    assert_string_equal(s->doc.why, "main holds 100 % of the sampled time (deepest app frame of the path); the samples "
                                    "cover 100 of 3000 ms");
    stacks_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_fit_as_they_do_elsewhere),
        cmocka_unit_test(wrong_expressions_are_told_from_right_ones),
        cmocka_unit_test(a_hostile_expression_takes_no_more_time_than_its_length),
        cmocka_unit_test(conditions_narrow_a_rule),
        cmocka_unit_test(languages_are_told_by_file_and_name),
        cmocka_unit_test(the_index_finds_the_first_rule_that_fits),
        cmocka_unit_test(faults_say_what_to_write_instead),
        cmocka_unit_test(an_apps_rules_come_first_and_have_its_version),
        cmocka_unit_test(coroutines_are_the_app_and_who_resumes_them_is_not),
        cmocka_unit_test(python_is_a_program_or_a_library),
        cmocka_unit_test(a_loop_that_waits_is_idle),
        cmocka_unit_test(what_waits_inside_a_handler_is_not_idle),
        cmocka_unit_test(idle_samples_take_no_part_where_others_have_the_time),
        cmocka_unit_test(a_hang_without_code_of_the_app_is_of_the_kind_system),
        cmocka_unit_test(a_library_of_the_programs_source_package_is_the_apps),
        cmocka_unit_test(a_library_of_another_source_package_is_the_systems),
        cmocka_unit_test(a_library_of_which_nothing_is_known_is_unknown_and_never_the_systems),
        cmocka_unit_test(a_main_that_only_calls_an_unknown_library_is_not_to_blame),
        cmocka_unit_test(a_team_says_in_one_line_that_a_library_is_its_own),
        cmocka_unit_test(own_is_said_of_a_module_alone),
        cmocka_unit_test(a_folder_of_the_program_is_the_apps),
        cmocka_unit_test(what_is_outside_main_is_nobodys),
        cmocka_unit_test(a_libc_without_names_starts_main_too),
        cmocka_unit_test(main_alone_is_the_scene_where_it_does_the_work),
        cmocka_unit_test(runtimes_pass_over_themselves),
        cmocka_unit_test(where_nobody_has_most_of_the_time_the_feature_is_diffuse),
        cmocka_unit_test(the_way_down_follows_each_parents_share),
        cmocka_unit_test(a_share_too_small_to_be_told_from_chance_is_not_followed),
        cmocka_unit_test(a_rule_names_the_scene),
        cmocka_unit_test(a_moment_of_a_computation_is_the_handlers),
        cmocka_unit_test(an_exception_is_its_own_reason),
        cmocka_unit_test(the_reason_may_be_pages_another_process_or_a_frozen_one),
        cmocka_unit_test(the_document_names_the_rule_of_every_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
