/* Packs of rules: patterns, conditions and marks, and their results for whole stacks. */
#include "feature/names.h"
#include "feature/rules_index.h"
#include "support/stacks.h"

#include <time.h>

/* As an expression, and as a pattern of a rule, which tests a name's first byte before. */
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

/* An expression and a name that make backtracking matchers extremely slow: CPU time grows with the name alone. */
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

/* The index finds the same rule as trying each in order. */
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

/* The first rule that fits, by trying each. */
static uint32_t try_each(const struct rules *rules, const char *module, const char *name, bool marks)
{
    const char *slash = strrchr(module, '/');
    name = name_behind_type(name);
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->rows[i];
        const struct pattern *of = &rules->modules[rule->module];
        if (!rule_class_is_of_module(rule->class) && (rule->class >= MIRE_CLASS_IDLE) == marks && !rule->language &&
            !rule->entry && !rule->leaf && !rule->file.text && pattern_match(&rule->function, name) &&
            pattern_match(of, of->path || !slash ? module : slash + 1))
            return i;
    }
    return UINT32_MAX;
}

static void assert_found(const struct rules *rules, uint32_t number, const struct rule_found *found, const char *name)
{
    const struct rule *rule = number == UINT32_MAX ? NULL : &rules->rows[number];
    if (rule ? found->line != rule->line || strcmp(found->pack, rules->packs[rule->pack].name) != 0 : found->class != 0)
        fail_msg("%s: %s:%u, not line %u", name, found->pack, found->line, rule ? rule->line : 0);
}

/* Names made of those of the built-in rules, in their modules and in others: the index finds what trying each finds. */
static void the_index_finds_what_trying_each_rule_finds(void **state)
{
    (void)state;
    struct rules *rules;
    struct rules_fault fault;
    assert_int_equal(rules_builtin(&rules, &fault), MIRE_RULES_OK);
    srand(30);
    for (uint32_t i = 0; i < 4 * rules->count; i++) {
        const struct rule *rule = &rules->rows[i % rules->count];
        const char *from = rule->function.kind == MIRE_PATTERN_REGEX ? "schedule" : rule->function.text;
        const char *module = i % 3 ? rules->modules[rule->module].text : "/usr/lib/libc.so.6";
        char name[256];
        size_t len = strlen(from), cut = rand() % 4 ? len : (size_t)rand() % (len + 1);
        snprintf(name, sizeof name, "%.*s%s", (int)cut, from, rand() % 2 ? "" : "_x");
        for (char *star = name; (star = strpbrk(star, "*?")); star++)
            *star = rand() % 2 ? '_' : 'w';
        struct arena arena;
        struct rules_module looked;
        struct rule_found found, mark;
        arena_init(&arena, 1 << 20);
        assert_int_equal(rules_module(&looked, &arena, rules, module), 0);
        const struct rules_subject subject = {.module = &looked, .function = name, .file = ""};
        rules_find(&found, &mark, rules, &subject);
        assert_found(rules, try_each(rules, module, name, false), &found, name);
        assert_found(rules, try_each(rules, module, name, true), &mark, name);
        arena_fini(&arena);
    }
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

/* The code that polls or resumes coroutines only passes control on; the async function itself may be to blame. */
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
        {"app", "boost::asio::detail::scheduler::run(boost::system::error_code&)", MIRE_CLASS_DISPATCH},
        {"app", "void boost::asio::detail::executor_op<Op>::do_complete(void*)", MIRE_CLASS_DISPATCH},
        {"app", "asio::detail::awaitable_frame_base<E>::resume()", MIRE_CLASS_DISPATCH},
        {"app", "boost::function<void (int)>::operator()(int) const", MIRE_CLASS_CONTAINER},
        {"app", "absl::Mutex::Lock()", MIRE_CLASS_LOCK},
        {"app", "absl::lts_20230125::Mutex::LockSlow(int)", MIRE_CLASS_LOCK},
        {"app", "google::protobuf::MessageLite::ParseFromString(std::string const&)", MIRE_CLASS_CONTAINER},
        {"app", "nlohmann::json_abi::detail::parser<J>::parse(bool, J&)", MIRE_CLASS_CONTAINER},
        {"app", "shop::boost::run()", MIRE_CLASS_NONE},
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

/* What a header of the system or of the standard library brings is inlined into the app, often without its namespace. */
static void functions_of_headers_are_not_the_app(void **state)
{
    (void)state;
    static const struct {
        const char *function, *file;
        enum rule_class class;
    } rows[] = {
        {"__invoke_r<void, main(int, char**)::<lambda()>&>", "/usr/include/c++/12/bits/invoke.h", MIRE_CLASS_CONTAINER},
        {"__gthread_once", "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h", MIRE_CLASS_CONTAINER},
        {"wait_until<shop::wait()::<lambda()> >", "/opt/ndk/sysroot/usr/include/c++/v1/mutex", MIRE_CLASS_CONTAINER},
        {"each<shop::wait()::<lambda()> >", "/usr/lib/llvm-16/include/c++/v1/map", MIRE_CLASS_CONTAINER},
        {"g_string_append_c_inline", "/usr/include/glib-2.0/glib/gstring.h", MIRE_CLASS_CONTAINER},
        {"shop::each", "/home/ana/shop/include/each.h", MIRE_CLASS_NONE},
        {"decltype ((std::cmp<char>)(0)) std::operator<=><char>(char, char)", "", MIRE_CLASS_CONTAINER},
    };
    struct rules_fault fault;
    struct rules *rules;
    assert_int_equal(rules_builtin(&rules, &fault), MIRE_RULES_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum rule_class class =
            class_of(rules, (struct rules_subject){.function = rows[i].function, .file = rows[i].file});
        if (class != rows[i].class)
            fail_msg("%s is %s", rows[i].function, rule_class_name(class));
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_fit_as_they_do_elsewhere),
        cmocka_unit_test(wrong_expressions_are_told_from_right_ones),
        cmocka_unit_test(a_hostile_expression_takes_no_more_time_than_its_length),
        cmocka_unit_test(conditions_narrow_a_rule),
        cmocka_unit_test(languages_are_told_by_file_and_name),
        cmocka_unit_test(the_index_finds_the_first_rule_that_fits),
        cmocka_unit_test(the_index_finds_what_trying_each_rule_finds),
        cmocka_unit_test(faults_say_what_to_write_instead),
        cmocka_unit_test(an_apps_rules_come_first_and_have_its_version),
        cmocka_unit_test(coroutines_are_the_app_and_who_resumes_them_is_not),
        cmocka_unit_test(functions_of_headers_are_not_the_app),
        cmocka_unit_test(python_is_a_program_or_a_library),
        cmocka_unit_test(runtimes_pass_over_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
