/* Distinct devices, and the natural order of versions. */
#include "model/devices.h"
#include "model/version.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void counts_are_found_by_issue_and_group(void **state)
{
    int64_t issues[] = {3, 5, 7, 9}, of_issue[] = {1, 2, 3, 0}, of_group[] = {1, 4, 0};
    const char *groups[] = {"a", "b", "c"};
    const struct devices none = {0}, d = {.issue_count = 4,
                                          .issues = issues,
                                          .of_issue = of_issue,
                                          .group_count = 3,
                                          .groups = groups,
                                          .of_group = of_group};
    (void)state;
    assert_int_equal(devices_of_issue(&d, 7), 3);
    assert_int_equal(devices_of_issue(&d, 3), 1);
    assert_int_equal(devices_of_issue(&d, 9), 0);
    assert_int_equal(devices_of_issue(&d, 4), 0);
    assert_int_equal(devices_of_group(&d, "b"), 4);
    assert_int_equal(devices_of_group(&d, "d"), 0);
    assert_int_equal(devices_of_issue(&none, 1), 0);
}

static void versions_are_in_their_natural_order(void **state)
{
    static const char *const rising[] = {"",
                                         "1",
                                         "1.0",
                                         "1.0.0",
                                         "1.01",
                                         "1.1",
                                         "1.1-rc1",
                                         "1.1-rc2",
                                         "1.1-rc10",
                                         "7.0.9",
                                         "7.0.10",
                                         "7.0.14",
                                         "7.0.15",
                                         "7.1",
                                         "10",
                                         "99999999999999999999999999998",
                                         "99999999999999999999999999999",
                                         "v2",
                                         "v10",
                                         "\u7248\u672c1"};
    size_t count = sizeof rising / sizeof *rising;

    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            int order = version_compare(rising[i], rising[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_found_by_issue_and_group),
        cmocka_unit_test(versions_are_in_their_natural_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
