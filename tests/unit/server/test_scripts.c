/* Frames of scripts: the function to blame, and its scene. */
#include "support/stacks.h"

#define PY   "@/usr/bin/python3.11 "
#define SHOP "@script:/srv/shop/app.py "
#define LIB  "@script:/usr/lib/python3.11/"
#define PACK "@script:/usr/lib/python3/dist-packages/"
#define BASE "main" PY "_PyEval_EvalFrameDefault" PY

/* The interpreter, its library and its loop only execute the script. */
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

/* <module> is like main; and a name may have the form of a compiler's suffix. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scripts_function_is_blamed_not_the_interpreters),
        cmocka_unit_test(a_package_is_blamed_where_the_script_has_no_part),
        cmocka_unit_test(a_rule_makes_a_package_the_apps),
        cmocka_unit_test(a_script_without_functions_is_blamed_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
