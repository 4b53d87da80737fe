/* The key of an issue: the parts that count, and the parts that a compiler or a process makes. */
#include "support/stacks.h"

#define GLIB "@/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0 "
#define APP  "@/opt/demo/glib-demo "
#define TICK "main" APP "g_main_loop_run" GLIB "+0x5a118" GLIB "g_main_context_dispatch" GLIB "+0x5b0aa" GLIB

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
    assert_non_null(strstr(why, "of the pack names 3: $$ExternalSynthetic%i"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_ignore_what_compilers_and_packagers_vary),
        cmocka_unit_test(keys_have_nothing_that_is_counted),
        cmocka_unit_test(what_the_compiler_made_is_passed_over),
        cmocka_unit_test(the_document_says_what_the_key_is_made_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
