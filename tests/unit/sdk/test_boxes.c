/* Blackboxes whose owner lives, was killed, or forked. */
#include "store/store.h"

#include "support/scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/emulator.h"
#include "support/stores.h"

static bool count_boxes(void *context, void *memory, size_t size, uint64_t written_ms)
{
    const char *text = memory;

    assert_true(written_ms > 0);
    assert_true(size >= 8);
    assert_string_equal(text, "evidence");
    ++*(int *)context;
    return true;
}

static bool keep_boxes(void *context, void *memory, size_t size, uint64_t written_ms)
{
    (void)memory;
    (void)written_ms;
    (void)size;
    ++*(int *)context;
    return false;
}

/* A child that makes a box, writes to it, signals readiness, and waits to be killed. */
static pid_t box_owner(const char *dir)
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        const struct store_caps caps = MIRE_STORE_CAPS_INIT;
        struct store_box box;
        struct store *store;
        if (mire__store_open(&store, dir, &caps) != MIRE_OK || stores_box(&box, store, 4096, 4096) != MIRE_OK)
            _exit(1);
        strcpy(box.memory, "evidence");
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void store_box_of_a_killed_process_is_recovered_once(void **state)
{
    struct store *store = store_default(*state);
    pid_t pid = box_owner(*state);
    int seen = 0;

    assert_int_equal(mire__store_recover(store, count_boxes, &seen), 0);
    assert_int_equal(seen, 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(mire__store_recover(store, keep_boxes, &seen), 0);
    assert_int_equal(seen, 1);
    assert_int_equal(mire__store_recover(store, count_boxes, &seen), 1);
    assert_int_equal(mire__store_recover(store, count_boxes, &seen), 0);
    assert_int_equal(seen, 2);
    assert_int_equal(files_in(*state, "box"), 0);
    mire__store_close(store);
}

static void store_box_takes_disk_where_it_is_reserved(void **state)
{
    struct store *store = store_default(*state);
    struct store_box box;
    struct stat file;

    assert_int_equal(stores_box(&box, store, 1 << 20, 4096), MIRE_OK);
    assert_int_equal(stat(box.path, &file), 0);
    assert_int_equal(file.st_size, 1 << 20);
    assert_in_range(file.st_blocks * 512, 4096, 1 << 16);
    assert_int_equal(mire__store_box_reserve(&box, 1 << 19, 1 << 18), MIRE_OK);
    assert_int_equal(mire__store_box_reserve(&box, 1 << 19, 1 << 18), MIRE_OK);
    assert_int_equal(stat(box.path, &file), 0);
    assert_int_equal(file.st_size, 1 << 20);
    assert_in_range(file.st_blocks * 512, (1 << 18) + 4096, (1 << 18) + (1 << 16));
    assert_int_equal(unlink(box.path), 0);
    assert_int_equal(mire__store_box_reserve(&box, 0, 1), MIRE_E_STORE);
    mire__store_box_close(&box);
    mire__store_close(store);
}

static void store_box_of_ones_own_is_alive_and_a_fork_does_not_hold_it(void **state)
{
    struct store *store = store_default(*state);
    struct store_box box;
    int seen = 0;
    pid_t parent, child = 0;
    int ready[2];

    assert_int_equal(stores_box(&box, store, 8192, 8193), MIRE_E_RANGE);
    assert_int_equal(stores_box(&box, store, 8192, 8192), MIRE_OK);
    assert_int_equal(mire__store_recover(store, count_boxes, &seen), 0);
    mire__store_box_close(&box);
    assert_null(box.memory);
    assert_int_equal(files_in(*state, "box"), 0);
    mire__store_box_close(&box);

    skip_if_emulated("the emulator does not keep a mapping from forked children");
    /* The owner forks and is killed; its child lives on. */
    assert_int_equal(pipe(ready), 0);
    parent = fork();
    if (parent == 0) {
        if (stores_box(&box, store, 4096, 4096) != MIRE_OK)
            _exit(1);
        strcpy(box.memory, "evidence");
        child = fork();
        if (child == 0)
            for (;;)
                pause();
        if (write(ready[1], &child, sizeof(child)) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &child, sizeof(child)), sizeof(child));
    close(ready[0]);
    close(ready[1]);
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    assert_int_equal(mire__store_recover(store, count_boxes, &seen), 1);
    kill(child, SIGKILL);
    mire__store_close(store);
}

static void store_box_sizes_are_bounded(void **state)
{
    struct store *store = store_default(*state);
    struct store_box box;

    assert_int_equal(stores_box(&box, store, 0, 0), MIRE_E_RANGE);
    assert_int_equal(stores_box(&box, store, MIRE_STORE_BOX_MAX + 1, MIRE_STORE_BOX_MAX + 1), MIRE_E_RANGE);
    mire__store_close(store);
}

static void store_empty_box_is_deleted_and_counted(void **state)
{
    struct store *store = store_default(*state);
    char path[256];
    int seen = 0;

    snprintf(path, sizeof(path), "%s/box/0123.box", (char *)*state);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(mire__store_recover(store, count_boxes, &seen), 1);
    assert_int_equal(seen, 0);
    assert_int_equal(dropped(store, MIRE_DROP_BROKEN), 1);
    mire__store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(store_box_of_a_killed_process_is_recovered_once),
        TEST(store_box_takes_disk_where_it_is_reserved),
        TEST(store_box_of_ones_own_is_alive_and_a_fork_does_not_hold_it),
        TEST(store_box_sizes_are_bounded),
        TEST(store_empty_box_is_deleted_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
