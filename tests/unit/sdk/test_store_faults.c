/* The store on disks that fail at any write, and with files that are damaged or of another version. */
#include "store/sending.h"
#include "store/store.h"

#include "support/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/stores.h"

/* The next `fail_at` system calls that change the disk succeed, then one fails. Negative: none fails. */
static int fail_at = -1;

static bool fails(void)
{
    if (fail_at < 0 || fail_at-- > 0)
        return false;
    errno = ENOSPC;
    return true;
}

ssize_t __real_write(int fd, const void *bytes, size_t count);
int __real_fdatasync(int fd);
int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __real_open(const char *path, int flags, mode_t mode);
int __real_posix_fallocate(int fd, off_t at, off_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t count);
int __wrap_fdatasync(int fd);
int __wrap_fsync(int fd);
int __wrap_rename(const char *from, const char *to);
int __wrap_open(const char *path, int flags, ...);
int __wrap_posix_fallocate(int fd, off_t at, off_t size);

ssize_t __wrap_write(int fd, const void *bytes, size_t count)
{
    if (fail_at >= 0 && count > 7)
        count = 7; /* short writes are legal */
    return fails() ? -1 : __real_write(fd, bytes, count);
}

int __wrap_fdatasync(int fd)
{
    return fails() ? -1 : __real_fdatasync(fd);
}

int __wrap_fsync(int fd)
{
    return fails() ? -1 : __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    return fails() ? -1 : __real_rename(from, to);
}

int __wrap_open(const char *path, int flags, ...)
{
    return flags & O_CREAT && fails() ? -1 : __real_open(path, flags, 0600);
}

int __wrap_posix_fallocate(int fd, off_t at, off_t size)
{
    return fails() ? ENOSPC : __real_posix_fallocate(fd, at, size);
}

static void store_counts_are_there_once_whichever_write_fails(void **state)
{
    struct store *store = store_default(*state);
    uint64_t given[MIRE_DROP_REASONS];
    bool whole = false;

    for (int n = 0; !whole; n++) {
        assert_true(n < 200);
        mire__store_count_drop(store, MIRE_DROP_AGE);
        mire__store_drops(given, store);
        assert_int_equal(given[MIRE_DROP_AGE], 1);
        fail_at = n;
        enum mire_err err = put_report(store, id_at(STORE_NOW, 5), "0123456789", 10, given, STORE_NOW);
        whole = fail_at >= 0;
        fail_at = -1;
        assert_true(err != MIRE_OK || count_reports(store) == 1);
        mire__store_drop(store, id_at(STORE_NOW, 5), MIRE_DROP_CONSENT); /* returns its losses, if it exists */
        assert_int_equal(dropped(store, MIRE_DROP_AGE), 1);
        mire__store_drops(given, store);
        put_report(store, id_at(STORE_NOW, 6), "", 0, given, STORE_NOW);
        mire__store_done(store, id_at(STORE_NOW, 6));
        assert_int_equal(dropped(store, MIRE_DROP_AGE), 0);
    }
    mire__store_close(store);
}

static void write_file(const char *dir, const char *name, const void *bytes, size_t size)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static size_t read_back(void *out, size_t cap, const char *dir, const char *name)
{
    char path[512];
    FILE *file;
    size_t size;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "rb");
    assert_non_null(file);
    size = fread(out, 1, cap, file);
    fclose(file);
    return size;
}

static void store_reads_what_the_first_version_wrote(void **state)
{
    static const char drops[] = "full 3\nage 0\nwrite 0\nrefused 2\nbroken 0\nbig 0\nshort 0\nsuppressed 7\ndaily 0\n";
    static const char install[] = "00112233445566778899aabbccddeeff";
    struct store *store = store_default(*state);
    uint8_t report[4 + 8 + 72] = {'b', 'o', 'd', 'y', 0x5d, 0x2a, 0x4d, 0x18, 72};
    char name[64], got[33], etag[MIRE_STORE_ETAG_BYTES], text[32];
    struct store_after after;

    report[4 + 8 + 8 * MIRE_DROP_AGE] = 4;
    write_file(*state, "drops", drops, strlen(drops));
    write_file(*state, "install", install, 32);
    write_file(*state, "after", "1763685118456\n", 14);
    write_file(*state, "rollout", "\"e1\"\n{\"rollout\":1}", 18);
    snprintf(name, sizeof(name), "out/%s.report", id_at(STORE_NOW, 1));
    write_file(*state, name, report, sizeof(report));
    assert_int_equal(mire__store_install(got, store), MIRE_OK);
    assert_string_equal(got, install);
    mire__store_after(&after, store);
    assert_true(after.until_ms == STORE_NOW && after.said_ms == 0);
    assert_int_equal(mire__store_rollout(etag, text, sizeof(text), store), 13);
    assert_string_equal(etag, "\"e1\"");
    assert_int_equal(dropped(store, MIRE_DROP_SUPPRESSED), 7);
    assert_body(store, id_at(STORE_NOW, 1), "body");
    mire__store_drop(store, id_at(STORE_NOW, 1), MIRE_DROP_REFUSED);
    assert_int_equal(dropped(store, MIRE_DROP_AGE), 4);
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), 3);
    assert_int_equal(dropped(store, MIRE_DROP_BROKEN), 0);
    mire__store_close(store);
}

/* Every kind of damage: cut anywhere, one bit turned anywhere, zeros, nothing. */
static size_t damage(uint8_t *out, const uint8_t *whole, size_t size, size_t n)
{
    memcpy(out, whole, size);
    if (n < size)
        return n;
    if (n < 2 * size) {
        out[n - size] ^= 1u << n % 8;
        return size;
    }
    memset(out, 0, size);
    return size;
}

static void read_all(struct store *store)
{
    struct store_item items[4];
    struct store_held held;
    char etag[MIRE_STORE_ETAG_BYTES], text[64], install[33];
    size_t count = mire__store_list(items, 4, store), size;
    struct store_after after;
    uint64_t spent;
    void *body;

    for (size_t i = 0; i < count; i++)
        if (mire__store_get(&body, &size, store, items[i].id) == MIRE_OK)
            free(body);
    mire__store_rollout(etag, text, sizeof(text), store);
    mire__store_after(&after, store);
    assert_int_equal(mire__store_install(install, store), MIRE_OK);
    assert_int_equal(mire__store_stack_send(&held, store, 1, STORE_NOW, UINT32_MAX), MIRE_OK);
    assert_int_equal(mire__store_spend(&spent, store, 1, 1, UINT64_MAX), MIRE_OK);
    mire__store_consent(store);
}

static void store_refuses_what_is_damaged_and_counts_it_once(void **state)
{
    static const char *const names[] = {"install", "after", "rollout", "stacks", "spent", "consent", "drops", NULL};
    struct store *store = store_default(*state);
    uint8_t whole[512], bad[512];
    char report[64];
    size_t tried = 0;

    mire__store_set_sync(store, MIRE_STORE_SYNC_NEVER); /* it writes some ten thousand files */
    snprintf(report, sizeof(report), "out/%s.report", id_at(STORE_NOW, 1));
    for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); f++) {
        const char *name = names[f] ? names[f] : report;

        for (size_t n = 0, size = 1; n <= 2 * size; n += 3) {
            mire__store_put(store,
                            &(struct store_report){.id = id_at(STORE_NOW, 1), .body = "body", .size = 4, .value = 3},
                            STORE_NOW);
            mire__store_set_after(store, &(struct store_after){STORE_NOW, STORE_NOW});
            mire__store_set_consent(store, MIRE_CONSENT_GIVEN);
            mire__store_set_rollout(store, "\"e\"", "{}", 2);
            mire__store_count_drop(store, MIRE_DROP_BIG); /* so that there is a ledger */
            read_all(store);
            uint64_t before = dropped(store, MIRE_DROP_BROKEN) + dropped(store, MIRE_DROP_FORMAT);
            size = read_back(whole, sizeof(whole), *state, name);
            write_file(*state, name, bad, damage(bad, whole, size, n));
            read_all(store);
            read_all(store);
            uint64_t after = dropped(store, MIRE_DROP_BROKEN) + dropped(store, MIRE_DROP_FORMAT);
            if (strcmp(name, "drops") == 0)
                assert_int_equal(after, 1); /* earlier counts are in the report */
            else
                assert_int_equal(after, before + 1);
            tried++;
        }
    }
    assert_true(tried > 300);
    mire__store_close(store);
}

static void store_put_is_all_or_nothing_whichever_write_fails(void **state)
{
    struct store *store = store_default(*state);
    uint64_t failed = 0;
    bool whole = false;

    for (int n = 0; !whole; n++) {
        assert_true(n < 100);
        fail_at = n;
        enum mire_err err = put_report(store, id_at(STORE_NOW, 5), "0123456789", 10, NULL, STORE_NOW);
        whole = fail_at >= 0;
        fail_at = -1;
        if (err != MIRE_OK)
            failed++;
        /* A failed directory sync leaves a report that may not survive a power cut: an error, but the report exists. */
        assert_true(count_reports(store) == (err == MIRE_OK) || count_reports(store) == 1);
        assert_int_equal(files_in(*state, "out"), count_reports(store));
        if (count_reports(store))
            assert_body(store, id_at(STORE_NOW, 5), "0123456789");
        mire__store_done(store, id_at(STORE_NOW, 5));
    }
    assert_true(failed > 3);
    assert_int_equal(dropped(store, MIRE_DROP_WRITE), 0); /* its caller counts the loss, unless it tries again */
    mire__store_close(store);
}

static void store_counts_losses_in_memory_while_the_disk_is_full(void **state)
{
    struct store *store = store_default(*state);

    for (int n = 0; n < 8; n++) {
        fail_at = n;
        mire__store_count_drop(store, MIRE_DROP_REFUSED);
        fail_at = -1;
        assert_true(dropped(store, MIRE_DROP_REFUSED) >= (uint64_t)n + 1);
    }
    mire__store_count_drop(store, MIRE_DROP_REFUSED);
    mire__store_close(store);
    store = store_default(*state);
    assert_true(dropped(store, MIRE_DROP_REFUSED) >= 9);
    mire__store_close(store);
}

static void store_box_that_cannot_be_made_leaves_nothing(void **state)
{
    struct store *store = store_default(*state);
    struct store_box box;

    for (int n = 0; n < 3; n++) {
        fail_at = n;
        assert_int_equal(stores_box(&box, store, 4096, 4096), MIRE_E_STORE);
        fail_at = -1;
        assert_int_equal(files_in(*state, "box"), 0);
    }
    mire__store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(store_counts_are_there_once_whichever_write_fails),
        TEST(store_reads_what_the_first_version_wrote),
        TEST(store_refuses_what_is_damaged_and_counts_it_once),
        TEST(store_put_is_all_or_nothing_whichever_write_fails),
        TEST(store_counts_losses_in_memory_while_the_disk_is_full),
        TEST(store_box_that_cannot_be_made_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
