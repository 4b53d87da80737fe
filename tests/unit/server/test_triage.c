/* test_triage.c - which versions open an issue again. */
#include "model/triage.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

static bool opens(bool resolved, const char *version, bool from_next, const char *seen)
{
    return triage_opens(&(struct triage){.resolved = resolved, .version = version, .from_next = from_next}, seen);
}

static void a_later_version_opens_what_was_resolved(void **state)
{
    (void)state;
    assert_true(opens(true, "8.0.40", true, "8.0.41"));
    assert_true(opens(true, "1.9", true, "1.10"));
    assert_false(opens(true, "8.0.40", true, "8.0.39"));
    assert_false(opens(true, "1.10", true, "1.9"));
}

static void the_version_itself_opens_it_only_if_it_had_no_report(void **state)
{
    (void)state;
    assert_true(opens(true, "8.0.40", false, "8.0.40"));
    assert_false(opens(true, "8.0.40", true, "8.0.40"));
}

static void an_ignored_one_is_opened_from_its_version_on(void **state)
{
    (void)state;
    assert_true(opens(false, "2.0", false, "2.0"));
    assert_true(opens(false, "2.0", false, "10.0"));
    assert_false(opens(false, "2.0", false, "1.99"));
}

static void without_a_version_none_opens_it(void **state)
{
    (void)state;
    assert_false(opens(false, "", false, "1.0"));
    assert_false(opens(true, "", false, "1.0"));
    assert_false(opens(true, "1.0", false, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_later_version_opens_what_was_resolved),
        cmocka_unit_test(the_version_itself_opens_it_only_if_it_had_no_report),
        cmocka_unit_test(an_ignored_one_is_opened_from_its_version_on),
        cmocka_unit_test(without_a_version_none_opens_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
