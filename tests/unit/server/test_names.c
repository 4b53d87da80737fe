/* Names without the parts that compilers and processes count. */
#include "feature/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;

static struct name find(const char *function, const char *file)
{
    struct name name;
    assert_int_equal(name_find(&name, &arena, function, file), 0);
    return name;
}

static bool uses(const struct name *name, size_t rule)
{
    for (size_t i = 0; i < name->rule_count; i++)
        if (name->rules[i] == rule)
            return true;
    return false;
}

/* Every row's own example: that row makes the expected name, and a second pass changes nothing. */
static void every_rule_does_as_its_example_says(void **state)
{
    (void)state;
    assert_true(name_rule_count < 256);
    for (size_t i = 0; i < name_rule_count; i++) {
        const struct name_rule *rule = &name_rules[i];
        const char *file = rule->flags & NAME_GO ? "main.go" : "";
        struct name name = find(rule->example, file);
        if (strcmp(name.key, rule->becomes) != 0 || !uses(&name, i))
            fail_msg("%s: %s becomes %s, not %s", rule->pattern, rule->example, name.key, rule->becomes);
        assert_true(name.made >= ((rule->flags & NAME_MADE) != 0));
        assert_string_equal(find(name.key, file).key, name.key);
        assert_true(rule->reason[0] && strlen(rule->reason) < 120);
    }
}

static void assert_one_key(const char *const *names)
{
    struct name first = find(names[0], names[0][0] == '*' ? "a.go" : "");
    for (size_t i = 1; names[i]; i++)
        assert_string_equal(first.key, find(names[i], "").key);
}

static void builds_of_one_function_have_one_key(void **state)
{
    (void)state;
    const char *const lambdas[] = {"a.Main.lambda$add$0", "a.Main.lambda$add$13", "a.Main.lambda$add$2$com-shop-Main",
                                   NULL};
    const char *const inner[] = {"a.Main$1.run", "a.Main$27.run", NULL};
    const char *const r8[] = {"a.Main$$ExternalSyntheticLambda0.run", "a.Main$$ExternalSyntheticLambda31.run",
                              "a.Main$$ExternalSyntheticApiModelOutline4.run", NULL};
    const char *const native[] = {"parse",
                                  "parse.part.0",
                                  "parse.constprop.0.isra.3",
                                  "parse.__uniq.12.llvm.993",
                                  "parse.__uniq.12.llvm.993.cold",
                                  "parse.cold.4",
                                  "parse [clone .part.3]",
                                  NULL};
    const char *const templates[] = {"int shop::Cache<int>::load<int>(int, int) const",
                                     "std::string shop::Cache<std::vector<A, B<C> > >::load<char>(char)",
                                     "shop::Cache<(anonymous namespace)::T>::load<-1>()", NULL};
    const char *const closures[] = {"shop::add::{{closure}}", "shop::add::{closure#0}", "shop::add::{closure#12}",
                                    "shop[1a2b3c]::add::{closure#1}", NULL};
    const char *const swift[] = {"closure #1 in Cart.add(_:count:)", "closure #3 in Cart.add(_:count:)",
                                 "closure #2 in specialized Cart.add(_:count:)",
                                 "partial apply for closure #1 in Cart.add(_:count:)", NULL};
    const char *const go[] = {"main.(*Cart).Add.func1", "main.(*Cart).Add.func1.2", "main.(*Cart).Add.func7", NULL};
    const char *const shapes[] = {"main.Sum[go.shape.int]", "main.Sum[go.shape.[]uint8_0]", "main.Sum[...]", "main.Sum",
                                  NULL};
    assert_one_key(lambdas);
    assert_one_key(inner);
    assert_one_key(r8);
    assert_one_key(native);
    assert_one_key(templates);
    assert_one_key(closures);
    assert_one_key(swift);
    assert_one_key(go);
    assert_one_key(shapes);
}

static void names_that_only_look_so_stay(void **state)
{
    (void)state;
    const char *const same[] = {"com.shop.Weather.cold",
                                "com.shop.Weather.coldFront",
                                "com.shop.Cart.<init>",
                                "com.shop.Cart.func1",
                                "decode_avx2",
                                "operator<<(std::ostream&, int)",
                                "shop::operator<(A, B)",
                                "shop::print(std::vector<int>)",
                                "std::head",
                                "-[Cart add:]",
                                "$s4main4CartV3addyyF",
                                "com.shop.Access$Helper.run",
                                "<T as shop::Cart>::add",
                                "shop::<impl core::fmt::Debug for Cart>::fmt",
                                "printf(char const*, ...)",
                                "Cart.add(_:count:)",
                                "a->b",
                                "()",
                                "<",
                                ">",
                                "%",
                                "%d",
                                "",
                                ".",
                                "[",
                                "(anonymous namespace)::run()",
                                "com.shop.Money$Dollar.add",
                                "lambda_add::operator()",
                                "process.coldStart",
                                "block in -[Cart add:]",
                                "~Cart",
                                "main",
                                "write_at"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct name name = find(same[i], "");
        if (name.key != same[i] || name.rule_count || name.made)
            fail_msg("%s becomes %s by %s", same[i], name.key,
                     name.rule_count ? name_rules[name.rules[0]].pattern : "nothing");
    }
}

static void a_templates_types_vary_with_it(void **state)
{
    (void)state;
    assert_string_equal(find("bool shop::less<A>(A, A)", "").key, "shop::less<>");
    assert_string_equal(find("decltype ((shop::cmp<A>)(0)) shop::operator<=><A>(A const&, A const&)", "").key,
                        "shop::operator<=><>");
    assert_string_equal(find("shop::Cache<int>::operator()(int) const", "").key, "shop::Cache<>::operator()");
    assert_string_equal(find("A shop::(anonymous namespace)::get<A>(A const&)", "").key,
                        "shop::(anonymous namespace)::get<>");
    assert_string_equal(find("shop::f<int>(int)::{lambda(int)#2}::operator()(int) const", "").key,
                        "shop::f<>::{lambda}::operator()");
    assert_string_equal(find("Cart<Int>.add(_:count:)", "").key, "Cart<>.add(_:count:)");
    assert_string_equal(find("closure #2 in Cart<Int>.add(_:)", "").key, "closure in Cart<>.add(_:)");
}

static void readers_see_the_name_of_the_source(void **state)
{
    (void)state;
    assert_string_equal(find("a.Main.lambda$add$3", "").shown, "a.Main.lambda$add$3");
    assert_string_equal(find("shop::Cache<int>::load(int)", "").shown, "shop::Cache<int>::load(int)");
    assert_string_equal(find("parse.isra.0.cold", "").shown, "parse");
    assert_string_equal(find("__GI_read", "").shown, "read");
    assert_string_equal(find("operator()", "/src/cart.cc").shown, "operator() in cart.cc"); /* an inlined lambda */
    assert_string_equal(find("operator()", "/src/cart.cc").key, "operator() in cart.cc");
    assert_string_equal(find("operator()", "").key, "operator()");
    assert_string_equal(find("shop::add::{closure#1}.llvm.12", "").shown, "shop::add::{closure#1}");
    assert_true(find("a.Main.access$100", "").made && !find("a.Main$1.run", "").made);
}

/* A name of random pieces of the table: reading ends, the result fits, and its key is its own key. */
static void any_name_has_a_key_that_is_its_own(void **state)
{
    (void)state;
    srand(11);
    for (int i = 0; i < 60000; i++) {
        char name[700] = "", key[700], again[700];
        size_t len = 0;
        bool made;
        for (int pieces = rand() % 6 + 1; pieces--;) {
            const char *piece = rand() % 3 ? name_rules[(size_t)rand() % name_rule_count].example : "a<(.b$1::>)";
            size_t from = (size_t)rand() % strlen(piece), room = strlen(piece + from);
            len +=
                (size_t)snprintf(name + len, sizeof name - len, "%.*s", (int)((size_t)rand() % room + 1), piece + from);
        }
        size_t written = name_write(key, sizeof key, &made, name, "");
        assert_true(written == strlen(key) && written <= strlen(name) + 40 && written);
        (void)name_write(again, sizeof again, &made, name, "");
        assert_string_equal(key, again);
        struct name found = find(name, "");
        assert_string_equal(found.key, key);
        arena_reset(&arena);
    }
}

/* Hostile names: a search that is quadratic in their length would take minutes. */
static void hostile_names_end_soon(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a<",        "a<(",     "a<)",  "a<b>", "[go.shape.", "{lambda(",
                                         ".lambda$a", "(a in _", "a<->", "<",    "$"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        char name[2040] = "", key[64];
        size_t len = 0, piece = strlen(pieces[i]);
        bool made;
        for (; len + piece < sizeof name; len += piece)
            memcpy(name + len, pieces[i], piece);
        for (int k = 0; k < 500; k++)
            assert_true(name_write(key, sizeof key, &made, name, "") > 0);
    }
}

static void long_names_stay_as_they_are(void **state)
{
    (void)state;
    static char name[3 * MIRE_NAMES_MAX];
    char cut[5];
    bool made;
    memset(name, '<', sizeof name - 1);
    assert_ptr_equal(find(name, "").key, name);
    assert_int_equal(name_write(cut, sizeof cut, &made, "parse.part.0", ""), 4);
    assert_string_equal(cut, "pars");
}

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, 64u << 20);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_does_as_its_example_says),
        cmocka_unit_test(builds_of_one_function_have_one_key),
        cmocka_unit_test(names_that_only_look_so_stay),
        cmocka_unit_test(a_templates_types_vary_with_it),
        cmocka_unit_test(readers_see_the_name_of_the_source),
        cmocka_unit_test(any_name_has_a_key_that_is_its_own),
        cmocka_unit_test(hostile_names_end_soon),
        cmocka_unit_test(long_names_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
