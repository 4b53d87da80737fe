/* test_tables_file.c - the file of a run's memory tables: in memory or on disk, found, settled, dropped. */
#include "store/tables.h"
#include "platform/platform.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SIZE (1u << 20)

static char dir[] = "/tmp/mire-tables-XXXXXX";

static int make_store(void **state)
{
    struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct store *store;

    if (!mkdtemp(dir) || mire__store_open(&store, dir, &caps) != MIRE_OK)
        return -1;
    *state = store;
    return 0;
}

static int drop_store(void **state)
{
    char command[128];

    mire__store_close(*state);
    snprintf(command, sizeof(command), "rm -r '%s'", dir);
    return system(command);
}

static void assert_bytes(const char *path, size_t at, char expected)
{
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fgetc(file), expected);
    fclose(file);
}

static uint64_t disk_bytes(const char *path)
{
    struct stat info;

    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    return (uint64_t)info.st_blocks * 512;
}

/* The stored bytes are found after the run, in the directory itself after settling, with their holes. */
static void run_through(struct store *store, const char *run, bool on_disk)
{
    char path[MIRE_STORE_PATH_MAX], settled[MIRE_STORE_PATH_MAX];
    struct store_box file;

    assert_int_equal(mire__store_tables_open(&file, store, run, SIZE, on_disk), MIRE_OK);
    assert_true(mire__pages_claim((char *)file.memory + 65536, 4096));
    ((char *)file.memory)[65536] = 'x';
    munmap(file.memory, file.size);
    assert_true(mire__store_tables_path(path, store, run));
    assert_bytes(path, 65536, 'x');
    assert_bytes(path, SIZE - 1, 0);
    assert_int_equal(mire__store_tables_settle(store, run), MIRE_OK);
    assert_true(mire__store_tables_path(settled, store, run));
    assert_int_equal(strncmp(settled, dir, strlen(dir)), 0);
    assert_bytes(settled, 65536, 'x');
    assert_bytes(settled, SIZE - 1, 0);
    assert_true(disk_bytes(settled) <= 4 * 4096);
    if (strcmp(path, settled) != 0)
        assert_int_equal(access(path, F_OK), -1);
    mire__store_tables_drop(store, run);
    assert_false(mire__store_tables_path(path, store, run));
}

static void what_a_run_stored_is_found_after_it(void **state)
{
    run_through(*state, "0123456789abcdef0123456789abcdef", true);
    run_through(*state, "0123456789abcdef0123456789abcdee", false);
}

static void a_run_has_one_file(void **state)
{
    struct store_box file, second;

    assert_int_equal(mire__store_tables_open(&file, *state, "one", SIZE, true), MIRE_OK);
    assert_int_equal(mire__store_tables_open(&second, *state, "one", SIZE, true), MIRE_E_STORE);
    assert_null(second.memory);
    mire__store_box_close(&file);
    mire__store_tables_drop(*state, "one");
}

static void names_that_are_none_are_refused(void **state)
{
    struct store_box file;

    assert_int_equal(mire__store_tables_open(&file, *state, "../one", SIZE, true), MIRE_E_STORE);
    assert_int_equal(mire__store_tables_open(&file, *state, "", SIZE, true), MIRE_E_STORE);
    assert_int_equal(mire__store_tables_open(&file, *state, "one", 0, true), MIRE_E_RANGE);
    assert_int_equal(mire__store_tables_open(&file, *state, "one", MIRE_STORE_TABLES_MAX + 1u, true), MIRE_E_RANGE);
}

static void a_link_of_somebody_elses_is_not_followed(void **state)
{
    char path[MIRE_STORE_PATH_MAX], found[MIRE_STORE_PATH_MAX];

    snprintf(path, sizeof(path), "%s/box/evil.heap", dir);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_false(mire__store_tables_path(found, *state, "evil"));
    assert_int_equal(mire__store_tables_settle(*state, "evil"), MIRE_E_STORE);
    mire__store_tables_drop(*state, "evil");
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access("/etc/passwd", F_OK), 0);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Only old files without an owner are removed. */
static void abandoned_files_in_memory_are_swept(void **state)
{
    struct timespec old[2] = {{time(NULL) - 4 * 24 * 3600, 0}, {time(NULL) - 4 * 24 * 3600, 0}};
    char dead[MIRE_STORE_PATH_MAX], alive[MIRE_STORE_PATH_MAX], recent[MIRE_STORE_PATH_MAX];
    struct store_box file, living;

    assert_int_equal(mire__store_tables_open(&file, *state, "dead", SIZE, false), MIRE_OK);
    munmap(file.memory, file.size);
    assert_int_equal(mire__store_tables_open(&living, *state, "alive", SIZE, false), MIRE_OK);
    assert_int_equal(mire__store_tables_open(&file, *state, "recent", SIZE, false), MIRE_OK);
    munmap(file.memory, file.size);
    assert_true(mire__store_tables_path(dead, *state, "dead"));
    assert_true(mire__store_tables_path(alive, *state, "alive"));
    assert_true(mire__store_tables_path(recent, *state, "recent"));
    if (strncmp(dead, "/dev/shm/", 9) == 0) { /* otherwise there is no memory for files, and nothing to sweep */
        assert_int_equal(utimensat(AT_FDCWD, dead, old, 0), 0);
        assert_int_equal(utimensat(AT_FDCWD, alive, old, 0), 0);
        mire__store_tables_sweep();
        assert_false(exists(dead));
        assert_true(exists(alive));
        assert_true(exists(recent));
    }
    munmap(living.memory, living.size);
    mire__store_tables_drop(*state, "dead");
    mire__store_tables_drop(*state, "alive");
    mire__store_tables_drop(*state, "recent");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_run_stored_is_found_after_it),
        cmocka_unit_test(a_run_has_one_file),
        cmocka_unit_test(names_that_are_none_are_refused),
        cmocka_unit_test(abandoned_files_in_memory_are_swept),
        cmocka_unit_test(a_link_of_somebody_elses_is_not_followed),
    };
    return cmocka_run_group_tests(tests, make_store, drop_store);
}
