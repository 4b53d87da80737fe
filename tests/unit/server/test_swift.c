/* Swift's names: their text in both styles, and invalid ones. */
#include "demangle/swift/swift.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES  MIRE_SOURCE_DIR "/tests/fixtures/symbols/swift/names.txt"
#define CORPUS MIRE_SOURCE_DIR "/../shared/data/symbols/swift/" /* manglings.txt, simplified-manglings.txt */
#define LINE   20000

/* Read a line without its end; false: end of file. */
static bool read_line(char line[LINE], FILE *file)
{
    if (!fgets(line, LINE, file))
        return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

static void check(const char *name, const char *wanted, enum swift_style style)
{
    char out[LINE];
    size_t len = swift_demangle(out, sizeof out, name, strlen(name), style);
    const char *got = len ? out : "-";
    if (strcmp(got, wanted) != 0)
        fail_msg("%s\n  wanted %s\n  got    %s", name, wanted, got);
}

static void names_stand_for_what_swift_says(void **state)
{
    static char name[LINE], full[LINE], brief[LINE];
    FILE *file = fopen(NAMES, "r");
    size_t count = 0;
    (void)state;
    assert_non_null(file);
    while (read_line(name, file)) {
        if (name[0] == '#' || !name[0])
            continue;
        assert_true(read_line(full, file) && read_line(brief, file));
        check(name, full, SWIFT_FULL);
        check(name, brief, SWIFT_SHORT);
        count++;
    }
    fclose(file);
    assert_true(count > 100);
}

static bool is_new(const char *name)
{
    return name[0] == '$' || name[0] == '@' || !strncmp(name, "_$", 2) || !strncmp(name, "_T0", 3);
}

/* One row of the corpus, "NAME ---> {the linker's action} TEXT". Returns true if our text is the same; *name_out is
 * its name. */
static bool is_same(const char **name_out, char *row, enum swift_style style)
{
    static char out[LINE];
    char *arrow = strstr(row, " --");
    char *text = arrow ? strchr(arrow, '>') : NULL;
    *name_out = row;
    if (!text)
        return false;
    for (text++; *text == ' '; text++)
        continue;
    while (arrow > row && *arrow == ' ')
        *arrow-- = '\0';
    if (!strncmp(text, "{T:", 3) || !strncmp(text, "{C}", 3))
        text = strchr(text, '}') + 1;
    text += strspn(text, " ");
    for (char *end = text + strlen(text); end > text && end[-1] == ' ';)
        *--end = '\0';
    bool good = swift_demangle(out, sizeof out, row, strlen(row), style);
    return !strcmp(good ? out : row, text);
}

/* All of Swift's own rows, if available: 95 % of those in the mangling of Swift 4 and later. */
static void corpus_is(const char *file_name, enum swift_style style)
{
    static char row[LINE];
    char path[4096];
    const char *dir = getenv("MIRE_SWIFT_CORPUS");
    size_t count = 0, same = 0;
    snprintf(path, sizeof path, "%s/%s", dir ? dir : CORPUS, file_name);
    FILE *file = fopen(path, "r");
    if (!file) {
        print_message("%s is not there: not compared (MIRE_SWIFT_CORPUS=DIR says where)\n", path);
        skip();
    }
    while (read_line(row, file)) {
        const char *name;
        if (!is_new(row) || !strstr(row, " --"))
            continue;
        count++;
        if (is_same(&name, row, style))
            same++;
        else
            print_message("differs: %s\n", name);
    }
    fclose(file);
    print_message("%s: %zu of %zu rows are the same (%.1f %%)\n", file_name, same, count,
                  100.0 * (double)same / (double)(count ? count : 1));
    assert_true(count > 0);
    assert_true(same * 100 >= count * 95);
}

static void full_names_are_those_of_the_corpus(void **state)
{
    (void)state;
    corpus_is("manglings.txt", SWIFT_FULL);
}

static void short_names_are_those_of_the_corpus(void **state)
{
    (void)state;
    corpus_is("simplified-manglings.txt", SWIFT_SHORT);
}

static void a_name_is_written_whole_or_not_at_all(void **state)
{
    static const char name[] = "$s4shop4CartC3add5countySi_tF";
    char out[64];
    (void)state;
    size_t len = swift_demangle(out, sizeof out, name, sizeof name - 1, SWIFT_SHORT);
    assert_string_equal(out, "Cart.add(count:)");
    assert_int_equal(len, strlen(out));
    assert_int_equal(swift_demangle(out, len + 1, name, sizeof name - 1, SWIFT_SHORT), len);
    for (size_t room = 0; room <= len; room++)
        assert_int_equal(swift_demangle(out, room, name, sizeof name - 1, SWIFT_SHORT), 0);
    for (size_t cut = 0; cut < sizeof name - 2; cut++) {
        len = swift_demangle(out, sizeof out, name, cut, SWIFT_SHORT);
        assert_true(len < sizeof out);
    }
}

/* Dictionaries, each of two of the one before: the last one expands to 2^count types. */
static size_t demangle_doubled(char out[LINE], unsigned count)
{
    char name[400] = "$sSayxG";
    char *at = name + strlen(name);
    for (unsigned i = 0; i < count; i++)
        at += sprintf(at, "SDyA2%cG", 'A' + i);
    return swift_demangle(out, LINE, name, strlen(name), SWIFT_FULL);
}

static void a_name_that_stands_for_endless_text_is_none(void **state)
{
    char out[LINE];
    (void)state;
    assert_true(demangle_doubled(out, 2) > 0);
    assert_non_null(strstr(out, "[[[A] : [A]] : [[A] : [A]]]"));
    assert_int_equal(demangle_doubled(out, 26), 0);
}

static void deep_and_long_names_are_none(void **state)
{
    static char name[MIRE_SWIFT_NAME_MAX + 100];
    char out[LINE];
    (void)state;
    strcpy(name, "$sSi");
    memset(name + 4, 'm', 5000);
    strcpy(name + 5004, "D");
    assert_int_equal(swift_demangle(out, sizeof out, name, strlen(name), SWIFT_FULL), 0);
    memset(name + 4, 'm', MIRE_SWIFT_NAME_MAX);
    assert_int_equal(swift_demangle(out, sizeof out, name, MIRE_SWIFT_NAME_MAX + 1, SWIFT_FULL), 0);
    assert_int_equal(swift_demangle(out, sizeof out, "$s99999999999x", 14, SWIFT_FULL), 0);
    assert_int_equal(swift_demangle(out, sizeof out, "$sS2049i_tD", 11, SWIFT_FULL), 0);
}

static void names_of_others_are_told_apart(void **state)
{
    (void)state;
    char out[128];
    assert_int_not_equal(swift_demangle(out, sizeof out, "$s4main3fooyyF", 14, SWIFT_FULL), 0);
    assert_int_not_equal(swift_demangle(out, sizeof out, "_TtC4main3Foo", 13, SWIFT_FULL), 0);
    assert_int_equal(swift_demangle(out, sizeof out, "_ZN3foo3barEv", 13, SWIFT_FULL), 0);
    assert_int_equal(swift_demangle(out, sizeof out, "main", 4, SWIFT_FULL), 0);
    assert_int_equal(swift_demangle(out, sizeof out, "", 0, SWIFT_FULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stand_for_what_swift_says),
        cmocka_unit_test(full_names_are_those_of_the_corpus),
        cmocka_unit_test(short_names_are_those_of_the_corpus),
        cmocka_unit_test(a_name_is_written_whole_or_not_at_all),
        cmocka_unit_test(a_name_that_stands_for_endless_text_is_none),
        cmocka_unit_test(deep_and_long_names_are_none),
        cmocka_unit_test(names_of_others_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
