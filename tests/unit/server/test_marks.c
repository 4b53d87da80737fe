/* Rules for whole stacks: idle, system, diffuse, moments, and scenes by a rule. */
#include "feature/rules.h"
#include "support/stacks.h"

#include <time.h>

#define GLIB "@/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0 "
#define GTK  "@/usr/lib/x86_64-linux-gnu/libgtk-3.so.0 "
#define APP  "@/opt/demo/demo "
#define WAIT "main" APP "g_main_loop_run" GLIB "g_main_context_iterate" GLIB
#define TICK "main" APP "g_main_loop_run" GLIB "g_main_context_dispatch" GLIB

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
        s->locations[i].file = ""; /* the names show the language */
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
        cmocka_unit_test(a_loop_that_waits_is_idle),
        cmocka_unit_test(what_waits_inside_a_handler_is_not_idle),
        cmocka_unit_test(idle_samples_take_no_part_where_others_have_the_time),
        cmocka_unit_test(a_hang_without_code_of_the_app_is_of_the_kind_system),
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
