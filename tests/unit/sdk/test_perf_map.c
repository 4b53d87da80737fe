/* test_perf_map.c - names of code made at run time, from files of virtual machines. */
#include "report/perf_map.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/mire-perf-map-XXXXXX", path[64];

static void write_map(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static const char *name_of(const struct perf_map *map, uint64_t pc)
{
    const struct perf_name *name = mire__perf_map_find(map, pc);

    return name ? name->name : "";
}

static void the_last_code_at_an_address_counts(void **state)
{
    struct perf_map map;

    (void)state;
    write_map("1000 100 JS:~old /a.js:1:1\n"
              "0x2000 0x10 void A.b(int)\n"
              "no line\n\n7fff\n3000 10\n4000 zz name\nffffffffffffffff 10 wraps\n12345678901234567 1 long\n"
              "1080 80 JS:*new /a.js:2:2\n"
              "5000 20 cut off");
    assert_true(mire__perf_map_open(&map, folder, 77, 0));
    for (uint64_t pc = 0x1000; pc <= 0x5000; pc += 0x40)
        assert_int_equal(mire__perf_map_ask(&map, pc), MIRE_OK);
    assert_int_equal(mire__perf_map_ask(&map, 0x1080), MIRE_OK);
    mire__perf_map_read(&map);
    assert_string_equal(name_of(&map, 0x1040), "JS:~old /a.js:1:1");
    assert_string_equal(name_of(&map, 0x1080), "JS:*new /a.js:2:2");
    assert_int_equal(mire__perf_map_find(&map, 0x10c0)->start, 0x1080);
    assert_string_equal(name_of(&map, 0x1100), "");
    assert_string_equal(name_of(&map, 0x2000), "void A.b(int)");
    assert_string_equal(name_of(&map, 0x2040), "");
    assert_string_equal(name_of(&map, 0x3000), "");
    assert_string_equal(name_of(&map, 0x5000), ""); /* its line is being written */
    assert_string_equal(name_of(&map, 0x1001), ""); /* was not asked for */
    mire__perf_map_fini(&map);
}

static void files_of_any_length_are_read(void **state)
{
    FILE *file = fopen(path, "w");
    struct perf_map map;

    (void)state;
    fprintf(file, "10 10 first\n");
    for (int i = 0; i < 200000; i++)
        fprintf(file, "%x 8 JS:~function_%d /srv/app.js:%d:1\n", 0x100000 + 8 * i, i, i);
    fprintf(file, "20 10 ");
    for (int i = 0; i < 200000; i++)
        fputc('x', file);
    fprintf(file, "\n30 10 last\n");
    fclose(file);
    assert_true(mire__perf_map_open(&map, folder, 77, 0));
    for (uint64_t pc = 0x10; pc <= 0x30; pc += 0x10)
        mire__perf_map_ask(&map, pc);
    mire__perf_map_ask(&map, 0x100004 + 8 * 199999);
    mire__perf_map_read(&map);
    assert_string_equal(name_of(&map, 0x10), "first");
    assert_string_equal(name_of(&map, 0x20), ""); /* longer than any name */
    assert_string_equal(name_of(&map, 0x30), "last");
    assert_string_equal(name_of(&map, 0x100004 + 8 * 199999), "JS:~function_199999 /srv/app.js:199999:1");
    mire__perf_map_fini(&map);
}

static void a_file_of_somebody_else_is_not_read(void **state)
{
    struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
    struct perf_map map;
    char link[80];

    (void)state;
    write_map("10 10 a\n");
    assert_false(mire__perf_map_open(&map, folder, 78, 0));
    mire__perf_map_fini(&map);
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    assert_false(mire__perf_map_open(&map, folder, 77, 1600000000000)); /* an earlier process had the number */
    mire__perf_map_fini(&map);
    snprintf(link, sizeof(link), "%s/perf-79.map", folder);
    assert_int_equal(symlink(path, link), 0);
    assert_false(mire__perf_map_open(&map, folder, 79, 0));
    mire__perf_map_fini(&map);
    unlink(link);
    assert_int_equal(mkfifo(link, 0600), 0);
    assert_false(mire__perf_map_open(&map, folder, 79, 0)); /* returns without waiting for a writer */
    mire__perf_map_fini(&map);
    unlink(link);
}

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/perf-77.map", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_code_at_an_address_counts),
        cmocka_unit_test(files_of_any_length_are_read),
        cmocka_unit_test(a_file_of_somebody_else_is_not_read),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
