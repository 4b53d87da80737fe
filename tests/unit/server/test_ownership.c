/* Modules of the app, by package, folder and rule; main and its callers. */
#include "feature/rules.h"
#include "support/stacks.h"

#define GLIB "@/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0 "
#define GTK  "@/usr/lib/x86_64-linux-gnu/libgtk-3.so.0 "
#define APP  "@/opt/demo/demo "
#define WAIT "main" APP "g_main_loop_run" GLIB "g_main_context_iterate" GLIB
#define TICK "main" APP "g_main_loop_run" GLIB "g_main_context_dispatch" GLIB

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

/* A main that only calls an unknown library, without a loop in between, is not to blame; with a known library it is. */
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

/* A copy of Qt in the app's own package is Qt; a module there that no pack names is the app's. */
static void a_bundled_library_that_a_pack_names_is_the_platforms(void **state)
{
    (void)state;
    static const struct {
        const char *module, *caller1;
    } cases[] = {
        {"/opt/shop/lib/libQt6Core.so.6", "on_click"},
        {"/usr/lib/shop/lib/libQt6Core.so.6", "on_click"},
        {"/usr/lib/x86_64-linux-gnu/libQt6Core.so.6", "work"},
        {"/opt/shop/lib/libcart.so", "work"},
        {"/usr/lib/shop/libcart.so.1", "work"},
        {"/usr/lib/libcart.so.1", "work"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stacks *s = stacks_new();
        char stack[512];
        s->report.process.path = "/usr/bin/shop";
        snprintf(stack, sizeof stack, "main@/usr/bin/shop on_click@/usr/bin/shop work@%s ", cases[i].module);
        sample(s, 100, 'R', stack);
        set_tie(s, cases[i].module, MIRE_TIE_SAME);
        if (strcmp(find(s).caller1.function, cases[i].caller1) != 0)
            fail_msg("%s: %s", cases[i].module, find(s).caller1.function);
        stacks_free(s);
    }
}

static void a_teams_rule_for_a_function_of_its_library_holds(void **state)
{
    (void)state;
    struct stacks *s = viewer(DRAW);
    struct rules_fault fault;
    const struct rules_source source = {"app", "own libevview*\nsystem libevview* ev_select\n", 42, 1};
    set_tie(s, "libevview3", MIRE_TIE_SAME);
    rules_free(s->rules);
    assert_int_equal(rules_make(&s->rules, &fault, &source, 1), MIRE_RULES_OK);
    assert_string_equal(find(s).caller1.function, "ev_view_press");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_of_the_programs_source_package_is_the_apps),
        cmocka_unit_test(a_library_of_another_source_package_is_the_systems),
        cmocka_unit_test(a_library_of_which_nothing_is_known_is_unknown_and_never_the_systems),
        cmocka_unit_test(a_main_that_only_calls_an_unknown_library_is_not_to_blame),
        cmocka_unit_test(a_team_says_in_one_line_that_a_library_is_its_own),
        cmocka_unit_test(a_bundled_library_that_a_pack_names_is_the_platforms),
        cmocka_unit_test(a_teams_rule_for_a_function_of_its_library_holds),
        cmocka_unit_test(own_is_said_of_a_module_alone),
        cmocka_unit_test(a_folder_of_the_program_is_the_apps),
        cmocka_unit_test(what_is_outside_main_is_nobodys),
        cmocka_unit_test(a_libc_without_names_starts_main_too),
        cmocka_unit_test(main_alone_is_the_scene_where_it_does_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
