/* Files of rules: errors with their line, and their order. */
#include "feature/pattern.h"
#include "support/stacks.h"

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
        cmocka_unit_test(bad_packs_are_refused_with_their_line),
        cmocka_unit_test(rules_of_a_file_come_before_the_built_in_ones),
        cmocka_unit_test(the_first_rule_that_fits_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
