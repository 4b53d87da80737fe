/* Tables of dead runs: the newest are kept, within the caps, from any source. */
#include "store/tables.h"

#include "support/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/stores.h"

#define KIB 1024u

/* Tables of `kib` KiB on disk, after a hole of 1 MiB, of a dead run. */
static void make(struct store *store, const char *run, unsigned kib, bool on_disk)
{
    struct store_box file;

    assert_int_equal(mire__store_tables_open(&file, store, run, (1 << 20) + kib * KIB, on_disk), MIRE_OK);
    memset((char *)file.memory + (1 << 20), 'x', kib * KIB);
    munmap(file.memory, file.size);
}

static enum mire_err keep(struct store *store, const char *run, unsigned kib, uint64_t cap)
{
    const struct timespec tick = {.tv_nsec = 10000000}; /* file systems keep times by the kernel's tick */

    make(store, run, kib, true);
    nanosleep(&tick, NULL);
    return mire__store_keep(store, run, 3, cap);
}

static bool is_kept(const char *dir, const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/memory/%s.heap", dir, name);
    return access(path, F_OK) == 0;
}

static void the_last_three_stay(void **state)
{
    static const char *const names[] = {"d", "c", "b", "a"};
    struct store *store = store_default(*state);

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(keep(store, names[i], 4, 1 << 30), MIRE_OK);
    assert_false(is_kept(*state, "d"));
    assert_true(is_kept(*state, "c") && is_kept(*state, "b") && is_kept(*state, "a"));
    mire__store_close(store);
}

static void bytes_on_disk_are_capped_and_holes_take_none(void **state)
{
    struct store *store = store_default(*state);

    assert_int_equal(keep(store, "a", 100, 300 * KIB), MIRE_OK);
    assert_int_equal(keep(store, "b", 100, 300 * KIB), MIRE_OK);
    assert_true(is_kept(*state, "a"));
    assert_int_equal(keep(store, "c", 150, 300 * KIB), MIRE_OK);
    assert_false(is_kept(*state, "a"));
    assert_true(is_kept(*state, "b"));
    assert_int_equal(keep(store, "d", 800, 300 * KIB), MIRE_OK);
    assert_true(is_kept(*state, "d")); /* the newest, however large */
    assert_false(is_kept(*state, "c"));
    mire__store_close(store);
}

static void tables_in_memory_come_into_the_store(void **state)
{
    struct store *store = store_default(*state);
    char path[512], bytes[4] = "";
    struct stat info;
    int fd;

    make(store, "a", 8, false);
    assert_int_equal(mire__store_keep(store, "a", 3, 1 << 30), MIRE_OK);
    snprintf(path, sizeof(path), "%s/memory/a.heap", (char *)*state);
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    assert_int_equal(info.st_size, (1 << 20) + 8 * KIB);
    assert_true(info.st_blocks < 64); /* the hole is one still */
    fd = open(path, O_RDONLY);
    assert_int_equal(pread(fd, bytes, 4, (1 << 20) + 8 * KIB - 4), 4);
    assert_memory_equal(bytes, "xxxx", 4);
    close(fd);
    mire__store_close(store);
}

static void tables_of_dead_runs_without_evidence_are_found(void **state)
{
    struct store *store = store_default(*state);
    struct store_box alive;
    char path[512];

    make(store, "a", 8, true);
    make(store, "b", 8, false);
    make(store, "c", 8, true);
    snprintf(path, sizeof(path), "%s/box/c.exit", (char *)*state); /* the judge of that run takes its tables */
    fclose(fopen(path, "w"));
    assert_int_equal(mire__store_tables_open(&alive, store, "d", KIB, true), MIRE_OK);
    assert_int_equal(mire__store_keep_orphans(store, 3, 1 << 30), 2);
    assert_true(is_kept(*state, "a") && is_kept(*state, "b"));
    assert_false(is_kept(*state, "c") || is_kept(*state, "d"));
    assert_int_equal(mire__store_keep_orphans(store, 3, 1 << 30), 0);
    mire__store_box_close(&alive);
    mire__store_close(store);
}

static void a_run_without_tables_has_none_to_keep(void **state)
{
    struct store *store = store_default(*state);

    assert_int_equal(mire__store_keep(store, "a", 3, 1), MIRE_E_STORE);
    mire__store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_last_three_stay, scratch_new, scratch_free),
        cmocka_unit_test_setup_teardown(bytes_on_disk_are_capped_and_holes_take_none, scratch_new, scratch_free),
        cmocka_unit_test_setup_teardown(tables_in_memory_come_into_the_store, scratch_new, scratch_free),
        cmocka_unit_test_setup_teardown(tables_of_dead_runs_without_evidence_are_found, scratch_new, scratch_free),
        cmocka_unit_test_setup_teardown(a_run_without_tables_has_none_to_keep, scratch_new, scratch_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
