/* The device store on disks that really fail, and with several processes at once. Mounting a disk needs root. */
#include "store/runs.h"
#include "store/sending.h"
#include "store/store.h"

#include "support/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define NOW 1763685118456ull

static void make_id(char id[MIRE_STORE_ID_LENGTH + 1], unsigned who, unsigned serial)
{
    uint64_t ms = NOW + serial;

    snprintf(id, MIRE_STORE_ID_LENGTH + 1, "%08x-%04x-7000-8000-%04x%08x", (unsigned)(ms >> 16),
             (unsigned)(ms & 0xffff), who & 0xffff, serial);
}

static enum mire_err open_box(struct store_box *box, struct store *store, size_t size)
{
    char run[MIRE_STORE_RUN_BYTES];

    mire__store_run_name(run);
    return mire__store_box_open(box, store, run, MIRE_STORE_BOX, size, size);
}

static enum mire_err put(struct store *store, unsigned who, unsigned serial, size_t size)
{
    static const char body[65536];
    char id[MIRE_STORE_ID_LENGTH + 1];
    const struct store_report report = {.id = id, .body = body, .size = size, .value = MIRE_VALUE_HANG};

    make_id(id, who, serial);
    return mire__store_put(store, &report, NOW);
}

static uint64_t dropped(struct store *store, enum store_reason reason)
{
    uint64_t counts[MIRE_DROP_REASONS];

    mire__store_drops(counts, store);
    return counts[reason];
}

static struct store *open_store(const char *dir, const struct store_caps *caps)
{
    static const struct store_caps usual = MIRE_STORE_CAPS_INIT;
    struct store *store;

    assert_int_equal(mire__store_open(&store, dir, caps ? caps : &usual), MIRE_OK);
    return store;
}

/* Mount a disk below the scratch directory; skips the test without root. */
static void mount_disk(char path[256], const char *scratch, const char *options)
{
    snprintf(path, 256, "%s/disk", scratch);
    assert_int_equal(mkdir(path, 0700), 0);
    if (mount("tmpfs", path, "tmpfs", 0, options) != 0) {
        print_message("skipped: a disk cannot be mounted here (%s)\n", strerror(errno));
        skip();
    }
}

static int unmount_and_free(void **state)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/disk", (char *)*state);
    umount2(path, MNT_DETACH);
    return scratch_free(state);
}

static size_t read_all(struct store *store)
{
    static struct store_item items[MIRE_STORE_LIST_MAX];
    size_t count = mire__store_list(items, MIRE_STORE_LIST_MAX, store), size;
    void *body;

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(mire__store_get(&body, &size, store, items[i].id), MIRE_OK);
        free(body);
    }
    return count;
}

static void fill_disk(const char *disk, bool full)
{
    static const char block[4096];
    char path[300];
    int fd;

    snprintf(path, sizeof(path), "%s/filler", disk);
    if (!full) {
        assert_int_equal(unlink(path), 0);
        return;
    }
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    while (write(fd, block, sizeof(block)) > 0)
        ;
    close(fd);
}

static void a_full_disk_loses_what_comes_and_keeps_what_is_there(void **state)
{
    struct store_box box;
    struct store *store;
    char disk[256];
    unsigned sealed = 0;

    mount_disk(disk, *state, "size=512k");
    store = open_store(disk, NULL);
    while (put(store, 1, sealed, 20000) == MIRE_OK)
        sealed++;
    assert_in_range(sealed, 10, 30);
    fill_disk(disk, true);
    assert_int_equal(put(store, 1, 1000, 20000), MIRE_E_STORE);
    assert_int_equal(open_box(&box, store, 1 << 20), MIRE_E_STORE);
    mire__store_count_drop(store, MIRE_DROP_WRITE);
    mire__store_count_drop(store, MIRE_DROP_WRITE);
    assert_int_equal(mire__store_save_drops(store), MIRE_E_STORE);
    assert_int_equal(dropped(store, MIRE_DROP_WRITE), 2);
    assert_int_equal(read_all(store), sealed);
    fill_disk(disk, false);
    assert_int_equal(mire__store_save_drops(store), MIRE_OK);
    mire__store_close(store);
    store = open_store(disk, NULL);
    assert_int_equal(dropped(store, MIRE_DROP_WRITE), 2);
    assert_int_equal(read_all(store), sealed);
    mire__store_close(store);
}

static void on_a_full_disk_what_is_dropped_is_counted(void **state)
{
    struct store *store;
    char disk[256], id[MIRE_STORE_ID_LENGTH + 1];

    mount_disk(disk, *state, "size=512k");
    store = open_store(disk, NULL);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(put(store, 1, i, 20000), MIRE_OK);
    fill_disk(disk, true);
    for (unsigned i = 0; i < 3; i++) {
        make_id(id, 1, i);
        mire__store_drop(store, id, MIRE_DROP_REFUSED);
        mire__store_drop(store, id, MIRE_DROP_REFUSED); /* is gone */
    }
    assert_int_equal(read_all(store), 2);
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), 3);
    fill_disk(disk, false);
    mire__store_close(store);
    store = open_store(disk, NULL);
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), 3);
    mire__store_close(store);
}

static void a_disk_without_inodes_is_a_full_one(void **state)
{
    struct store *store;
    char disk[256];
    unsigned sealed = 0;

    mount_disk(disk, *state, "size=4m,nr_inodes=24");
    store = open_store(disk, NULL);
    while (put(store, 1, sealed, 100) == MIRE_OK)
        sealed++;
    assert_in_range(sealed, 10, 24);
    assert_int_equal(read_all(store), sealed);
    mire__store_close(store);
}

static void a_disk_that_becomes_read_only_is_read(void **state)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    char disk[256], id[MIRE_STORE_ID_LENGTH + 1], install[33], again[33];
    struct store *store, *late = NULL;

    mount_disk(disk, *state, "size=512k");
    store = open_store(disk, NULL);
    assert_int_equal(mire__store_install(install, store), MIRE_OK);
    assert_int_equal(put(store, 1, 1, 100), MIRE_OK);
    assert_int_equal(mount("tmpfs", disk, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=512k"), 0);
    assert_int_equal(put(store, 1, 2, 100), MIRE_E_STORE);
    make_id(id, 1, 1);
    for (int i = 0; i < 3; i++) {
        mire__store_done(store, id);
        mire__store_drop(store, id, MIRE_DROP_REFUSED); /* it is there still, so it is not lost */
    }
    assert_int_equal(read_all(store), 1);
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), 0);
    assert_int_equal(mire__store_set_after(store, &(struct store_after){NOW, NOW}), MIRE_E_STORE);
    assert_int_equal(mire__store_open(&late, disk, &caps), MIRE_E_STORE);
    assert_null(late);
    mire__store_count_drop(store, MIRE_DROP_WRITE);
    assert_int_equal(mount("tmpfs", disk, "tmpfs", MS_REMOUNT, "size=512k"), 0);
    assert_int_equal(mire__store_save_drops(store), MIRE_OK);
    assert_int_equal(dropped(store, MIRE_DROP_WRITE), 1);
    assert_int_equal(mire__store_install(again, store), MIRE_OK);
    assert_string_equal(install, again);
    mire__store_close(store);
}

/* In a child that is not root, since modes do not apply to root. Returns its exit status. */
static int as_nobody(const char *dir, int (*what)(const char *dir))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        if (geteuid() == 0 && (chown(dir, 65534, 65534) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
            _exit(100);
        _exit(what(dir));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int take_rights_away(const char *dir)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct store *store, *late;
    char out[256], id[MIRE_STORE_ID_LENGTH + 1];
    int faults = 0;

    snprintf(out, sizeof(out), "%s/out", dir);
    make_id(id, 1, 1);
    if (mire__store_open(&store, dir, &caps) != MIRE_OK || put(store, 1, 1, 100) != MIRE_OK || chmod(out, 0500) != 0)
        return 1;
    faults += put(store, 1, 2, 100) != MIRE_E_STORE;
    for (int i = 0; i < 3; i++) /* cannot be deleted: counted once, and gone as soon as it can be */
        mire__store_drop(store, id, MIRE_DROP_REFUSED);
    faults += dropped(store, MIRE_DROP_REFUSED) != 1;
    faults += mire__store_open(&late, dir, &caps) != MIRE_E_STORE;
    if (chmod(out, 0700) != 0)
        return 2;
    mire__store_count_drop(store, MIRE_DROP_WRITE);
    faults += dropped(store, MIRE_DROP_REFUSED) != 1;
    faults += mire__store_list(&(struct store_item){.bytes = 0}, 1, store) != 0;
    mire__store_close(store);
    return faults ? 10 + faults : 0;
}

static void a_directory_without_rights_is_survived(void **state)
{
    assert_int_equal(as_nobody(*state, take_rights_away), 0);
}

static int limit_files(const char *dir)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    const struct rlimit limit = {4096, 4096};
    struct store_box box;
    struct store *store;

    if (mire__store_open(&store, dir, &caps) != MIRE_OK || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    if (put(store, 1, 1, 20000) != MIRE_E_STORE || open_box(&box, store, 8192) != MIRE_E_STORE)
        return 2;
    return put(store, 1, 2, 100) == MIRE_OK ? 0 : 3;
}

static void a_limit_on_files_raises_no_signal(void **state)
{
    assert_int_equal(as_nobody(*state, limit_files), 0);
}

/* Each process seals, sends and loses reports in one store, whose caps evict all the while. */
enum { PROCESSES = 4, EACH = 60 };

static int compete(const char *dir, unsigned who)
{
    const struct store_caps caps = {.bytes = 1 << 20, .count = 12, .age_ms = UINT32_MAX};
    struct store_item items[16];
    struct store *store;
    uint64_t given[MIRE_DROP_REASONS];

    if (mire__store_open(&store, dir, &caps) != MIRE_OK)
        return 255;
    mire__store_set_sync(store, MIRE_STORE_SYNC_NEVER);
    for (unsigned i = 0; i < EACH; i++) {
        char id[MIRE_STORE_ID_LENGTH + 1];
        size_t count;

        make_id(id, who, i);
        mire__store_drops(given, store);
        struct store_report report = {.id = id, .body = "body", .size = 4, .value = MIRE_VALUE_HANG, .losses = given};
        enum mire_err err = mire__store_put(store, &report, NOW);
        report.losses = NULL;
        if (err == MIRE_E_STATE)
            err = mire__store_put(store, &report, NOW);
        if (err != MIRE_OK && err != MIRE_E_FULL)
            return 254;
        mire__store_count_drop(store, MIRE_DROP_SUPPRESSED);
        count = mire__store_list(items, 16, store);
        if (i % 8 == 0 && count > 0)
            mire__store_drop(store, items[0].id, MIRE_DROP_REFUSED);
    }
    while (mire__store_save_drops(store) != MIRE_OK)
        ;
    mire__store_close(store);
    return 0;
}

/* Drop all reports: each returns the losses in it. */
static void drop_all(struct store *store)
{
    static struct store_item items[MIRE_STORE_LIST_MAX];
    size_t count = mire__store_list(items, MIRE_STORE_LIST_MAX, store);

    for (size_t i = 0; i < count; i++)
        mire__store_drop(store, items[i].id, MIRE_DROP_CONSENT);
}

static void several_processes_lose_nothing_uncounted(void **state)
{
    struct store *store;
    int status;

    for (unsigned i = 0; i < PROCESSES; i++)
        if (fork() == 0)
            _exit(compete(*state, i));
    for (unsigned i = 0; i < PROCESSES; i++) {
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    store = open_store(*state, NULL);
    assert_true(read_all(store) > 0);
    drop_all(store);
    assert_int_equal(dropped(store, MIRE_DROP_SUPPRESSED), PROCESSES * EACH);
    assert_int_equal(dropped(store, MIRE_DROP_BROKEN), 0);
    assert_int_equal(dropped(store, MIRE_DROP_FULL) + dropped(store, MIRE_DROP_REFUSED) +
                         dropped(store, MIRE_DROP_CONSENT),
                     PROCESSES * EACH);
    mire__store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, unmount_and_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_full_disk_loses_what_comes_and_keeps_what_is_there),
        TEST(on_a_full_disk_what_is_dropped_is_counted),
        TEST(a_disk_without_inodes_is_a_full_one),
        TEST(a_disk_that_becomes_read_only_is_read),
        TEST(a_directory_without_rights_is_survived),
        TEST(a_limit_on_files_raises_no_signal),
        TEST(several_processes_lose_nothing_uncounted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
