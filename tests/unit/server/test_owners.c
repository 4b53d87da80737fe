/* Rules of owners: the patterns of CODEOWNERS files, functions, modules and sections. */
#include "model/owners.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct owners_found found;

/* The first owner that rules name for a place; "": they say that there is none; "-": no line fits. */
static const char *first(const char *rules, const char *location, const char *function, const char *module,
                         const char *root)
{
    static char name[100];

    owners_find(&found, rules, &(struct owners_place){function, module, location, root});
    if (!found.line)
        return "-";
    snprintf(name, sizeof name, "%.*s", found.count ? (int)found.owners[0].len : 0,
             found.count ? found.owners[0].name : "");
    return name;
}

static bool fits(const char *pattern, const char *file)
{
    char rules[300], location[300];

    snprintf(rules, sizeof rules, "%s @x\n", pattern);
    snprintf(location, sizeof location, "%s:12", file);
    return !strcmp(first(rules, location, "f", "m", ""), "@x");
}

/* The examples of GitHub's page "About code owners", and of gitignore(5). */
static void files_fit_as_in_codeowners(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *file;
        bool fits;
    } cases[] = {
        {"*", "a/b/c.js", true},
        {"*.js", "a/b/c.js", true},
        {"*.js", "a/b/c.jsx", false},
        {"/build/logs/", "build/logs/x/y.c", true},
        {"/build/logs/", "lib/build/logs/y.c", false},
        {"/build/logs/", "build/logs", false},
        {"docs/*", "docs/getting-started.md", true},
        {"docs/*", "docs/build-app/trouble.txt", false},
        {"apps/", "x/apps/y/z.go", true},
        {"apps/", "apps.go", false},
        {"/docs/", "docs/a/b.c", true},
        {"/scripts/", "a/scripts/b.sh", false},
        {"**/logs", "build/logs/x.c", true},
        {"**/logs", "deeply/nested/logs/x.c", true},
        {"**/logs", "logs/x.c", true},
        {"/apps/github", "apps/github/x.c", true},
        {"/apps/github", "apps/github", true},
        {"/apps/github", "apps/githubs", false},
        {"src/**/cart.c", "src/cart.c", true},
        {"src/**/cart.c", "src/a/b/cart.c", true},
        {"src/**/cart.c", "src/a/b/cart.cc", false},
        {"src/cart.c", "lib/src/cart.c", false},
        {"cart.c", "lib/src/cart.c", true},
        {"c?rt.c", "cart.c", true},
        {"src/c*/x.c", "src/cart/x.c", true},
        {"src/c*/x.c", "src/cart/y/x.c", false},
        {"my\\ file.c", "a/my file.c", true},
        {"\\#x.c", "#x.c", true},
        {"/", "a.c", true},
        {"**", "a/b.c", true},
        {"/**/b.c", "b.c", true},
        {"a/**", "a/b/c.c", true},
        {"a/**", "b/a/c.c", false},
        {"/src/cart.c", "/home/ci/shop/src/cart.c", true}, /* the folder of the build is not known */
        {"/src/cart.c", "/home/ci/shop/xsrc/cart.c", false},
        {"/home/ci", "/home/ci/shop/src/cart.c", true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (fits(cases[i].pattern, cases[i].file) != cases[i].fits)
            fail_msg("%s %s %s", cases[i].pattern, cases[i].fits ? "does not fit" : "fits", cases[i].file);
}

static void the_last_line_decides(void **state)
{
    (void)state;
    static const char rules[] = "# the shop\n"
                                "* @all # everything\n"
                                "\n"
                                "/src/cart/ @acme/cart ana@acme.example\r\n"
                                "/src/cart/legacy/\n"
                                "function:pay_* @lee\n"
                                "module:libads*.so @kim @lee\n";

    assert_string_equal(first(rules, "src/main.c:1", "main", "shop", ""), "@all");
    assert_int_equal(found.line, 2);
    assert_int_equal(found.count, 1);
    assert_string_equal(first(rules, "src/cart/a.c:1", "main", "shop", ""), "@acme/cart");
    assert_int_equal(found.count, 2);
    assert_int_equal(found.owners[1].len, strlen("ana@acme.example"));
    assert_string_equal(first(rules, "src/cart/legacy/a.c:1", "main", "shop", ""), "");
    assert_string_equal(first(rules, "src/cart/legacy/a.c:1", "pay_now", "shop", ""), "@lee");
    assert_string_equal(first(rules, "", "pay_now", "libads-2.so", ""), "@kim");
    assert_string_equal(first(rules, "", "now", "shop", ""), "-");
    assert_string_equal(first("", "a.c:1", "now", "shop", ""), "-");
}

static void sections_have_owners(void **state)
{
    (void)state;
    static const char rules[] = "[Docs] @writers\n*.md\n*.txt @kim\n^[Pay Team][2] @lee\npay/\n[Other]\nother/\n";

    assert_string_equal(first(rules, "a/b.md:1", "f", "m", ""), "@writers");
    assert_string_equal(first(rules, "b.txt:1", "f", "m", ""), "@kim");
    assert_string_equal(first(rules, "x/pay/y.c:1", "f", "m", ""), "@lee");
    assert_string_equal(first(rules, "other/y.c:1", "f", "m", ""), "");
}

static void paths_are_those_of_the_repository(void **state)
{
    (void)state;
    static const char rules[] = "/app/src/main/java/com/acme/cart/ @cart\n/lib/ @lib\n";

    assert_string_equal(first(rules, "/home/ci/shop/lib/a.c:1", "f", "m", "/home/ci/shop/"), "@lib");
    assert_string_equal(first(rules, "/home/ci/shop/lib/a.c:1", "f", "m", "/home/ci/shop"), "@lib");
    assert_string_equal(first(rules, "/usr/lib/a.c:1", "f", "m", "/home/ci/shop"), "-");
    assert_string_equal(first(rules, "/home/ci/shopping/lib/a.c:1", "f", "m", "/home/ci/shop"), "-");
    assert_string_equal(first(rules, "CartStore.kt:87", "com.acme.cart.CartStore.lock", "shop.apk", ""), "@cart");
    assert_string_equal(first(rules, "CartStore.kt:87", "com.acme.cart.CartStore.lock", "shop.apk", "/home/ci/shop"),
                        "@cart");
    assert_string_equal(first(rules, "Home.kt:87", "com.acme.home.Home.draw", "shop.apk", ""), "-");
    assert_string_equal(first("CartStore.kt @x", "CartStore.kt:87", "com.acme.cart.CartStore.lock", "", ""), "@x");
    assert_string_equal(first("/com/acme/ @x", "CartStore.kt:87", "com.acme.cart.CartStore.lock", "", ""), "@x");
}

static void wrong_lines_are_named(void **state)
{
    (void)state;
    const char *why = NULL;
    char longer[MIRE_OWNERS_PATTERN_MAX + 20];

    assert_int_equal(owners_wrong(&why, "# x\n*.c @a b@c # note\n\n[S] @a\nx\n"), 0);
    assert_int_equal(owners_wrong(&why, "*.c @a\n!x.c @a\n"), 2);
    assert_non_null(strstr(why, "!"));
    assert_int_equal(owners_wrong(&why, "*.c @a\n\nx.c kim\n"), 3);
    assert_non_null(strstr(why, "@account"));
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(owners_wrong(&why, longer), 1);
    assert_string_equal(first(longer, "a:1", "f", "m", ""), "-");
}

static void an_owner_is_an_account(void **state)
{
    (void)state;
    static const struct {
        const char *owner, *account;
        bool is;
    } cases[] = {
        {"@kim", "kim", true},
        {"@Kim", "kim", true},
        {"@kim", "kimberly", false},
        {"@acme/kim", "kim", true},
        {"@acme/kim", "acme/kim", true},
        {"@acme/kim", "acme", false},
        {"kim@acme.example", "kim", true},
        {"kim@acme.example", "kim@acme.example", true},
        {"kim@acme.example", "acme.example", false},
        {"@", "", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct owner owner = {cases[i].owner, strlen(cases[i].owner)};
        if (owner_is(&owner, cases[i].account) != cases[i].is)
            fail_msg("%s, %s", cases[i].owner, cases[i].account);
    }
}

/* Rules come from admins: neither stars nor broken texts may take long or read outside. */
static void hostile_rules_end(void **state)
{
    (void)state;
    char pattern[MIRE_OWNERS_PATTERN_MAX + 8], file[1000];
    static const char *const odd[] = {
        "\\",  "[",  "^[", "[x",        "[]",      "[]]",        "[][",  "/",   "//", "***", "**/**/**",
        "a\\", "/*", "*/", "function:", "module:", "function:*", "\n\n", " \t", "@",  "# x", "^"};

    memset(pattern, 0, sizeof pattern);
    for (size_t i = 0; i + 5 < MIRE_OWNERS_PATTERN_MAX; i += 5)
        memcpy(pattern + i, "**/*a", 5);
    for (size_t i = 0; i + 2 < sizeof file; i += 2)
        memcpy(file + i, "a/", 3);
    assert_false(fits(pattern, file));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
            const char *why;
            char rules[64];
            snprintf(rules, sizeof rules, "%s%s", odd[i], odd[k]);
            (void)owners_wrong(&why, rules);
            (void)first(rules, "a/b.c:1", "f", "m", odd[k]);
            (void)first(rules, odd[k], odd[i], "m", "/");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_fit_as_in_codeowners), cmocka_unit_test(the_last_line_decides),
        cmocka_unit_test(sections_have_owners),       cmocka_unit_test(paths_are_those_of_the_repository),
        cmocka_unit_test(wrong_lines_are_named),      cmocka_unit_test(an_owner_is_an_account),
        cmocka_unit_test(hostile_rules_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
