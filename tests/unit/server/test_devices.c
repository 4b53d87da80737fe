/* Distinct devices, and the natural order of versions. */
#include "model/devices.h"
#include "model/version.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Every character is a device. */
static struct device_list list(int64_t issue, const char *group, const char *devices, uint8_t *room)
{
    size_t count = strlen(devices);

    for (size_t i = 0; i < count; i++)
        memset(room + i * MIRE_INSTALL_LEN, devices[i], MIRE_INSTALL_LEN);
    return (struct device_list){.issue = issue, .group = group, .installs = room, .count = count};
}

static void a_device_counts_once_an_issue_a_group_and_in_all(void **state)
{
    static uint8_t rooms[4][16 * MIRE_INSTALL_LEN];
    struct device_list lists[] = {list(7, "b", "aabca", rooms[0]), list(3, "a", "xx", rooms[1]),
                                  list(5, "b", "cd", rooms[2]), list(9, "c", "", rooms[3])};
    struct devices d;
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    assert_int_equal(devices_count(&d, &arena, lists, 4, 1), 0);
    assert_int_equal(d.total, 5);
    assert_int_equal(devices_of_issue(&d, 7), 3);
    assert_int_equal(devices_of_issue(&d, 5), 2);
    assert_int_equal(devices_of_issue(&d, 3), 1);
    assert_int_equal(devices_of_issue(&d, 9), 0);
    assert_int_equal(devices_of_issue(&d, 4), 0);
    assert_int_equal(devices_of_group(&d, "a"), 1);
    assert_int_equal(devices_of_group(&d, "b"), 4);
    assert_int_equal(devices_of_group(&d, "c"), 0);
    assert_int_equal(devices_of_group(&d, "d"), 0);
    assert_int_equal(devices_count(&d, &arena, lists, 4, 16), 0);
    assert_int_equal(d.total, 5 * 16);
    assert_int_equal(devices_of_group(&d, "b"), 4 * 16);
    assert_int_equal(devices_count(&d, &arena, NULL, 0, 1), 0);
    assert_int_equal(d.total, 0);
    assert_int_equal(devices_of_issue(&d, 1), 0);
    arena_fini(&arena);
}

/* Compared with counting by one mark for each device. */
static void many_devices_are_told_apart(void **state)
{
    enum { HANGS = 20000, DEVICES = 3000, ISSUES = 50 };
    static const char *const groups[] = {"a", "b", "c"};
    uint8_t *room = malloc((size_t)HANGS * MIRE_INSTALL_LEN);
    static bool of_issue[ISSUES][DEVICES], of_group[3][DEVICES], in_all[DEVICES];
    int64_t issues[ISSUES] = {0}, by_group[3] = {0}, total = 0;
    struct device_list lists[ISSUES];
    struct devices d;
    struct arena arena;

    (void)state;
    assert_non_null(room);
    arena_init(&arena, 1 << 20);
    srandom(7);
    for (int h = 0; h < HANGS; h++) {
        int issue = h / (HANGS / ISSUES), group = issue % 3;
        uint16_t device = (uint16_t)(random() % DEVICES);
        memset(room + (size_t)h * MIRE_INSTALL_LEN, 0, MIRE_INSTALL_LEN);
        memcpy(room + (size_t)h * MIRE_INSTALL_LEN + 7, &device, sizeof device);
        issues[issue] += !of_issue[issue][device];
        by_group[group] += !of_group[group][device];
        total += !in_all[device];
        of_issue[issue][device] = of_group[group][device] = in_all[device] = true;
    }
    for (int i = 0; i < ISSUES; i++)
        lists[i] = (struct device_list){.issue = 1000 - i,
                                        .group = groups[i % 3],
                                        .installs = room + (size_t)i * (HANGS / ISSUES) * MIRE_INSTALL_LEN,
                                        .count = HANGS / ISSUES};
    assert_int_equal(devices_count(&d, &arena, lists, ISSUES, 1), 0);
    assert_int_equal(d.total, total);
    for (int i = 0; i < ISSUES; i++)
        assert_int_equal(devices_of_issue(&d, 1000 - i), issues[i]);
    for (int g = 0; g < 3; g++)
        assert_int_equal(devices_of_group(&d, groups[g]), by_group[g]);
    arena_fini(&arena);
    free(room);
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
        cmocka_unit_test(a_device_counts_once_an_issue_a_group_and_in_all),
        cmocka_unit_test(many_devices_are_told_apart),
        cmocka_unit_test(versions_are_in_their_natural_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
