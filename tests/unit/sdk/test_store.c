/* The store: caps, counts, blackboxes, and disks that fail at any write. */
#include "store/sending.h"
#include "store/store.h"

#include "support/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/emulator.h"

#define NOW 1763685118456ull

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

/* The id of a report made `ms` after 1970. */
static const char *id_at(uint64_t ms, unsigned serial)
{
    static char id[4][40];
    static unsigned turn;
    char *out = id[turn++ % 4];

    snprintf(out, 40, "%08x-%04x-7000-8000-%012x", (unsigned)(ms >> 16), (unsigned)(ms & 0xffff), serial);
    return out;
}

static struct store *open_store(const char *dir, struct store_caps caps)
{
    struct store *store;

    assert_int_equal(mire__store_open(&store, dir, &caps), MIRE_OK);
    return store;
}

static struct store *open_default(const char *dir)
{
    return open_store(dir, (struct store_caps)MIRE_STORE_CAPS_INIT);
}

static enum mire_err put_worth(struct store *store, const char *id, enum store_value value, size_t size)
{
    static const char body[4096];
    const struct store_report report = {.id = id, .body = body, .size = size, .value = value};

    return mire__store_put(store, &report, NOW);
}

static enum mire_err put(struct store *store, const char *id, const void *body, size_t size, const uint64_t *told,
                         uint64_t now_ms)
{
    const struct store_report report = {.id = id, .body = body, .size = size, .value = MIRE_VALUE_HANG, .told = told};

    return mire__store_put(store, &report, now_ms);
}

static size_t count_reports(struct store *store)
{
    struct store_item items[MIRE_STORE_LIST_MAX];
    return mire__store_list(items, MIRE_STORE_LIST_MAX, store);
}

static uint64_t dropped(struct store *store, enum store_reason reason)
{
    uint64_t counts[MIRE_DROP_REASONS];

    mire__store_drops(counts, store);
    return counts[reason];
}

static void assert_body(struct store *store, const char *id, const char *want)
{
    void *body;
    size_t size;

    assert_int_equal(mire__store_get(&body, &size, store, id), MIRE_OK);
    assert_int_equal(size, strlen(want));
    assert_memory_equal(body, want, size);
    free(body);
}

static size_t files_in(const char *dir, const char *sub)
{
    char path[256];
    size_t count = 0;
    DIR *open_dir;

    snprintf(path, sizeof(path), "%s/%s", dir, sub);
    open_dir = opendir(path);
    assert_non_null(open_dir);
    for (struct dirent *entry; (entry = readdir(open_dir));)
        count += entry->d_name[0] != '.';
    closedir(open_dir);
    return count;
}

static void store_makes_missing_directories(void **state)
{
    char deep[256];
    struct store *store;
    struct stat info;

    snprintf(deep, sizeof(deep), "%s/a/b/c", (char *)*state);
    store = open_default(deep);
    assert_string_equal(mire__store_dir(store), deep);
    assert_int_equal(stat(deep, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    mire__store_close(store);
}

static void store_says_when_it_cannot_be_made(void **state)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct store *store = (struct store *)1;
    char path[256];
    int fd;

    snprintf(path, sizeof(path), "%s/file", (char *)*state);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    close(fd);
    assert_int_equal(mire__store_open(&store, path, &caps), MIRE_E_STORE);
    assert_null(store);
    strcat(path, "/below");
    assert_int_equal(mire__store_open(&store, path, &caps), MIRE_E_STORE);
    assert_int_equal(mire__store_open(&store, "", &caps), MIRE_E_STORE);
    assert_int_equal(mire__store_open(&store, "/proc/mire", &caps), MIRE_E_STORE);
}

static void store_keeps_one_install_id(void **state)
{
    struct store *store = open_default(*state);
    char first[33] = "", second[33] = "";

    assert_int_equal(mire__store_install(first, store), MIRE_OK);
    assert_int_equal(strspn(first, "0123456789abcdef"), 32);
    mire__store_close(store);
    store = open_default(*state);
    assert_int_equal(mire__store_install(second, store), MIRE_OK);
    assert_string_equal(first, second);
    mire__store_close(store);
}

static void store_replaces_a_damaged_install_id(void **state)
{
    struct store *store = open_default(*state);
    char path[256], install[33] = "";
    int fd;

    snprintf(path, sizeof(path), "%s/install", (char *)*state);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, "half", 4), 4);
    close(fd);
    assert_int_equal(mire__store_install(install, store), MIRE_OK);
    assert_int_equal(strlen(install), 32);
    mire__store_close(store);
}

static void store_lists_oldest_first_and_reads_back(void **state)
{
    struct store *store = open_default(*state);
    struct store_item items[8];

    put(store, id_at(NOW + 2, 0), "two", 3, NULL, NOW);
    put(store, id_at(NOW + 1, 0), "one", 3, NULL, NOW);
    put(store, id_at(NOW + 3, 0), "", 0, NULL, NOW);
    assert_int_equal(mire__store_list(items, 8, store), 3);
    assert_string_equal(items[0].id, id_at(NOW + 1, 0));
    assert_string_equal(items[2].id, id_at(NOW + 3, 0));
    assert_int_equal(mire__store_list(items, 1, store), 1);
    assert_string_equal(items[0].id, id_at(NOW + 1, 0));
    assert_body(store, id_at(NOW + 1, 0), "one");
    assert_body(store, id_at(NOW + 3, 0), "");
    mire__store_done(store, id_at(NOW + 1, 0));
    assert_int_equal(count_reports(store), 2);
    mire__store_close(store);
}

static void store_sealing_an_id_again_keeps_one_report(void **state)
{
    struct store *store = open_default(*state);

    put(store, id_at(NOW, 7), "same", 4, NULL, NOW);
    put(store, id_at(NOW, 7), "same", 4, NULL, NOW);
    assert_int_equal(count_reports(store), 1);
    mire__store_close(store);
}

static void store_get_tells_gone_from_damaged(void **state)
{
    struct store *store = open_default(*state);
    char path[512];
    void *body;
    size_t size;

    assert_int_equal(mire__store_get(&body, &size, store, id_at(NOW, 1)), MIRE_E_STORE);
    put(store, id_at(NOW, 1), "body", 4, NULL, NOW);
    snprintf(path, sizeof(path), "%s/out/%s.report", (char *)*state, id_at(NOW, 1));
    assert_int_equal(truncate(path, 30), 0);
    assert_int_equal(mire__store_get(&body, &size, store, id_at(NOW, 1)), MIRE_E_FORMAT);
    assert_null(body);
    mire__store_drop(store, id_at(NOW, 1), MIRE_DROP_BROKEN);
    assert_int_equal(dropped(store, MIRE_DROP_BROKEN), 1);
    mire__store_close(store);
}

static void store_drops_the_oldest_beyond_the_count(void **state)
{
    struct store *store = open_store(*state, (struct store_caps){.bytes = 1 << 20, .count = 3, .age_ms = 1000});

    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(put(store, id_at(NOW + i, i), "x", 1, NULL, NOW), MIRE_OK);
    assert_int_equal(count_reports(store), 3);
    assert_int_equal(dropped(store, MIRE_DROP_FULL), 2);
    assert_body(store, id_at(NOW + 2, 2), "x");
    mire__store_close(store);
}

static void store_drops_the_oldest_beyond_the_bytes(void **state)
{
    struct store *store = open_store(*state, (struct store_caps){.bytes = 1100, .count = 100, .age_ms = 1000});
    static const char body[2000];

    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(put(store, id_at(NOW + i, i), body, 400, NULL, NOW), MIRE_OK);
    assert_int_equal(count_reports(store), 2);
    assert_int_equal(dropped(store, MIRE_DROP_FULL), 2);
    assert_int_equal(put(store, id_at(NOW + 9, 9), body, 1050, NULL, NOW), MIRE_E_FULL);
    assert_int_equal(dropped(store, MIRE_DROP_BIG), 1);
    assert_int_equal(count_reports(store), 2);
    mire__store_close(store);
}

static bool is_there(struct store *store, const char *id)
{
    struct store_item items[MIRE_STORE_LIST_MAX];
    size_t count = mire__store_list(items, MIRE_STORE_LIST_MAX, store);

    for (size_t i = 0; i < count; i++)
        if (strcmp(items[i].id, id) == 0)
            return true;
    return false;
}

static void store_drops_what_is_worth_least_and_the_oldest_among_equals(void **state)
{
    struct store *store = open_store(*state, (struct store_caps){.bytes = 1 << 20, .count = 4, .age_ms = 1 << 20});

    put_worth(store, id_at(NOW, 1), MIRE_VALUE_DEATH, 8);
    put_worth(store, id_at(NOW + 1, 1), MIRE_VALUE_CAPTURE, 8);
    put_worth(store, id_at(NOW + 2, 1), MIRE_VALUE_HANG, 8);
    put_worth(store, id_at(NOW + 3, 1), MIRE_VALUE_CAPTURE, 8);
    assert_int_equal(put_worth(store, id_at(NOW + 4, 1), MIRE_VALUE_HANG, 8), MIRE_OK);
    assert_false(is_there(store, id_at(NOW + 1, 1)));
    assert_int_equal(put_worth(store, id_at(NOW + 5, 1), MIRE_VALUE_DEATH, 8), MIRE_OK);
    assert_false(is_there(store, id_at(NOW + 3, 1)));
    assert_int_equal(put_worth(store, id_at(NOW + 6, 1), MIRE_VALUE_HANG, 8), MIRE_OK);
    assert_false(is_there(store, id_at(NOW + 2, 1)));
    assert_true(is_there(store, id_at(NOW, 1)) && is_there(store, id_at(NOW + 4, 1)));
    /* What comes now has no privilege. */
    assert_int_equal(put_worth(store, id_at(NOW + 7, 1), MIRE_VALUE_BASELINE, 8), MIRE_E_FULL);
    assert_int_equal(count_reports(store), 4);
    assert_int_equal(dropped(store, MIRE_DROP_FULL), 4);
    mire__store_close(store);
}

static void store_lets_sessions_push_out_others_up_to_half(void **state)
{
    struct store *store = open_store(*state, (struct store_caps){.bytes = 1 << 20, .count = 6, .age_ms = 1 << 20});
    struct store_item items[8];

    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(put_worth(store, id_at(NOW + i, 1), MIRE_VALUE_HANG, 8), MIRE_OK);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(put_worth(store, id_at(NOW + 10 + i, 2), MIRE_VALUE_SESSION, 8), MIRE_OK);
    assert_int_equal(mire__store_list(items, 8, store), 6);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(items[i].value, MIRE_VALUE_HANG);
        assert_string_equal(items[i].id, id_at(NOW + 3 + i, 1));
        assert_int_equal(items[3 + i].value, MIRE_VALUE_SESSION);
        assert_string_equal(items[3 + i].id, id_at(NOW + 13 + i, 2));
    }
    assert_int_equal(dropped(store, MIRE_DROP_FULL), 6);
    mire__store_close(store);
}

static void store_drops_what_is_too_old_but_not_what_comes_now(void **state)
{
    struct store *store = open_store(*state, (struct store_caps){.bytes = 1 << 20, .count = 9, .age_ms = 1000});

    put(store, id_at(NOW, 0), "x", 1, NULL, NOW);
    put(store, id_at(NOW - 5000, 1), "late", 4, NULL, NOW + 1);
    assert_int_equal(count_reports(store), 2);
    put(store, id_at(NOW + 5000, 2), "x", 1, NULL, NOW + 5000);
    assert_int_equal(count_reports(store), 1);
    assert_int_equal(dropped(store, MIRE_DROP_AGE), 2);
    mire__store_close(store);
}

static void store_counts_travel_with_a_report_and_come_back_when_it_is_lost(void **state)
{
    struct store *store = open_default(*state);
    uint64_t told[MIRE_DROP_REASONS];

    mire__store_count_drop(store, MIRE_DROP_REFUSED);
    mire__store_count_drop(store, MIRE_DROP_REFUSED);
    mire__store_drops(told, store);
    put(store, id_at(NOW, 0), "x", 1, told, NOW);
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), 0);
    mire__store_drop(store, id_at(NOW, 0), MIRE_DROP_FULL);
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), 2);
    assert_int_equal(dropped(store, MIRE_DROP_FULL), 1);
    mire__store_drops(told, store);
    put(store, id_at(NOW, 1), "x", 1, told, NOW);
    mire__store_done(store, id_at(NOW, 1));
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), 0);
    mire__store_close(store);
}

static void store_counts_are_told_by_one_report_only(void **state)
{
    struct store *store = open_default(*state);
    uint64_t told[MIRE_DROP_REASONS];

    mire__store_count_drop(store, MIRE_DROP_REFUSED);
    mire__store_drops(told, store);
    assert_int_equal(put(store, id_at(NOW, 0), "x", 1, told, NOW), MIRE_OK);
    assert_int_equal(put(store, id_at(NOW, 1), "x", 1, told, NOW), MIRE_E_STATE);
    assert_int_equal(count_reports(store), 1);
    /* Sealed again, what the first one told comes back. */
    assert_int_equal(put(store, id_at(NOW, 0), "y", 1, NULL, NOW), MIRE_OK);
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), 1);
    mire__store_close(store);
}

static void store_counts_are_there_once_whichever_write_fails(void **state)
{
    struct store *store = open_default(*state);
    uint64_t told[MIRE_DROP_REASONS];
    bool whole = false;

    for (int n = 0; !whole; n++) {
        assert_true(n < 200);
        mire__store_count_drop(store, MIRE_DROP_AGE);
        mire__store_drops(told, store);
        assert_int_equal(told[MIRE_DROP_AGE], 1);
        fail_at = n;
        enum mire_err err = put(store, id_at(NOW, 5), "0123456789", 10, told, NOW);
        whole = fail_at >= 0;
        fail_at = -1;
        assert_true(err != MIRE_OK || count_reports(store) == 1);
        mire__store_drop(store, id_at(NOW, 5), MIRE_DROP_CONSENT); /* what it told, if it is there, comes back */
        assert_int_equal(dropped(store, MIRE_DROP_AGE), 1);
        mire__store_drops(told, store);
        put(store, id_at(NOW, 6), "", 0, told, NOW);
        mire__store_done(store, id_at(NOW, 6));
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
    static const char drops[] = "full 3\nage 0\nwrite 0\nrefused 2\nbroken 0\nbig 0\nshort 0\nannealed 7\ndaily 0\n";
    static const char install[] = "00112233445566778899aabbccddeeff";
    struct store *store = open_default(*state);
    uint8_t report[4 + 8 + 72] = {'b', 'o', 'd', 'y', 0x5d, 0x2a, 0x4d, 0x18, 72};
    char name[64], got[33], etag[MIRE_STORE_ETAG_BYTES], text[32];
    struct store_after after;

    report[4 + 8 + 8 * MIRE_DROP_AGE] = 4;
    write_file(*state, "drops", drops, strlen(drops));
    write_file(*state, "install", install, 32);
    write_file(*state, "after", "1763685118456\n", 14);
    write_file(*state, "rollout", "\"e1\"\n{\"rollout\":1}", 18);
    snprintf(name, sizeof(name), "out/%s.report", id_at(NOW, 1));
    write_file(*state, name, report, sizeof(report));
    assert_int_equal(mire__store_install(got, store), MIRE_OK);
    assert_string_equal(got, install);
    mire__store_after(&after, store);
    assert_true(after.until_ms == NOW && after.said_ms == 0);
    assert_int_equal(mire__store_rollout(etag, text, sizeof(text), store), 13);
    assert_string_equal(etag, "\"e1\"");
    assert_int_equal(dropped(store, MIRE_DROP_ANNEALED), 7);
    assert_body(store, id_at(NOW, 1), "body");
    mire__store_drop(store, id_at(NOW, 1), MIRE_DROP_REFUSED);
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
    assert_int_equal(mire__store_stack_send(&held, store, 1, NOW, UINT32_MAX), MIRE_OK);
    assert_int_equal(mire__store_spend(&spent, store, 1, 1, UINT64_MAX), MIRE_OK);
    mire__store_consent(store);
}

static void store_refuses_what_is_damaged_and_counts_it_once(void **state)
{
    static const char *const names[] = {"install", "after", "rollout", "stacks", "spent", "consent", "drops", NULL};
    struct store *store = open_default(*state);
    uint8_t whole[512], bad[512];
    char report[64];
    size_t tried = 0;

    mire__store_set_sync(store, MIRE_STORE_SYNC_NEVER); /* it writes some ten thousand files */
    snprintf(report, sizeof(report), "out/%s.report", id_at(NOW, 1));
    for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); f++) {
        const char *name = names[f] ? names[f] : report;

        for (size_t n = 0, size = 1; n <= 2 * size; n += 3) {
            mire__store_put(store, &(struct store_report){.id = id_at(NOW, 1), .body = "body", .size = 4, .value = 3},
                            NOW);
            mire__store_set_after(store, &(struct store_after){NOW, NOW});
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
                assert_int_equal(after, 1); /* the counts before went with it */
            else
                assert_int_equal(after, before + 1);
            tried++;
        }
    }
    assert_true(tried > 300);
    mire__store_close(store);
}

static void store_names_every_reason(void **state)
{
    (void)state;
    for (int i = 0; i < MIRE_DROP_REASONS; i++)
        assert_string_not_equal(mire__store_reason_name(i), "unknown");
    assert_string_equal(mire__store_reason_name(MIRE_DROP_REASONS), "unknown");
}

static void store_put_is_all_or_nothing_whichever_write_fails(void **state)
{
    struct store *store = open_default(*state);
    uint64_t failed = 0;
    bool whole = false;

    for (int n = 0; !whole; n++) {
        assert_true(n < 100);
        fail_at = n;
        enum mire_err err = put(store, id_at(NOW, 5), "0123456789", 10, NULL, NOW);
        whole = fail_at >= 0;
        fail_at = -1;
        if (err != MIRE_OK)
            failed++;
        /* A failed directory sync leaves a report that may not survive a power cut: an error, yet there. */
        assert_true(count_reports(store) == (err == MIRE_OK) || count_reports(store) == 1);
        assert_int_equal(files_in(*state, "out"), count_reports(store));
        if (count_reports(store))
            assert_body(store, id_at(NOW, 5), "0123456789");
        mire__store_done(store, id_at(NOW, 5));
    }
    assert_true(failed > 3);
    assert_int_equal(dropped(store, MIRE_DROP_WRITE), 0); /* its caller counts, if it does not try again */
    mire__store_close(store);
}

static void store_counts_losses_in_memory_while_the_disk_is_full(void **state)
{
    struct store *store = open_default(*state);

    for (int n = 0; n < 8; n++) {
        fail_at = n;
        mire__store_count_drop(store, MIRE_DROP_REFUSED);
        fail_at = -1;
        assert_true(dropped(store, MIRE_DROP_REFUSED) >= (uint64_t)n + 1);
    }
    mire__store_count_drop(store, MIRE_DROP_REFUSED);
    mire__store_close(store);
    store = open_default(*state);
    assert_true(dropped(store, MIRE_DROP_REFUSED) >= 9);
    mire__store_close(store);
}

static bool count_boxes(void *context, void *memory, size_t size)
{
    const char *text = memory;

    assert_true(size >= 8);
    assert_string_equal(text, "evidence");
    ++*(int *)context;
    return true;
}

static bool keep_boxes(void *context, void *memory, size_t size)
{
    (void)memory;
    (void)size;
    ++*(int *)context;
    return false;
}

/* A child that makes a box, writes into it, says so, and waits to be killed. */
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
        if (mire__store_open(&store, dir, &caps) != MIRE_OK || mire__store_box_open(&box, store, 4096, 4096) != MIRE_OK)
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
    struct store *store = open_default(*state);
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
    struct store *store = open_default(*state);
    struct store_box box;
    struct stat file;

    assert_int_equal(mire__store_box_open(&box, store, 1 << 20, 4096), MIRE_OK);
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
    struct store *store = open_default(*state);
    struct store_box box;
    int seen = 0;
    pid_t parent, child = 0;
    int ready[2];

    assert_int_equal(mire__store_box_open(&box, store, 8192, 8193), MIRE_E_RANGE);
    assert_int_equal(mire__store_box_open(&box, store, 8192, 8192), MIRE_OK);
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
        if (mire__store_box_open(&box, store, 4096, 4096) != MIRE_OK)
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
    struct store *store = open_default(*state);
    struct store_box box;

    assert_int_equal(mire__store_box_open(&box, store, 0, 0), MIRE_E_RANGE);
    assert_int_equal(mire__store_box_open(&box, store, MIRE_STORE_BOX_MAX + 1, MIRE_STORE_BOX_MAX + 1), MIRE_E_RANGE);
    mire__store_close(store);
}

static void store_box_that_cannot_be_made_leaves_nothing(void **state)
{
    struct store *store = open_default(*state);
    struct store_box box;

    for (int n = 0; n < 3; n++) {
        fail_at = n;
        assert_int_equal(mire__store_box_open(&box, store, 4096, 4096), MIRE_E_STORE);
        fail_at = -1;
        assert_int_equal(files_in(*state, "box"), 0);
    }
    mire__store_close(store);
}

static void store_empty_box_is_deleted_and_counted(void **state)
{
    struct store *store = open_default(*state);
    char path[256];
    int seen = 0;

    snprintf(path, sizeof(path), "%s/box/0123.box", (char *)*state);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(mire__store_recover(store, count_boxes, &seen), 1);
    assert_int_equal(seen, 0);
    assert_int_equal(dropped(store, MIRE_DROP_BROKEN), 1);
    mire__store_close(store);
}

static void store_counts_of_several_processes_add_up(void **state)
{
    enum { PROCESSES = 4, EACH = 20 };
    struct store *store = open_default(*state);

    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            for (int j = 0; j < EACH; j++)
                mire__store_count_drop(store, MIRE_DROP_REFUSED);
            while (mire__store_save_drops(store) != MIRE_OK) /* another holds the lock for long */
                ;
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), PROCESSES * EACH);
    mire__store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(store_makes_missing_directories),
        TEST(store_says_when_it_cannot_be_made),
        TEST(store_keeps_one_install_id),
        TEST(store_replaces_a_damaged_install_id),
        TEST(store_lists_oldest_first_and_reads_back),
        TEST(store_sealing_an_id_again_keeps_one_report),
        TEST(store_get_tells_gone_from_damaged),
        TEST(store_drops_the_oldest_beyond_the_count),
        TEST(store_drops_the_oldest_beyond_the_bytes),
        TEST(store_drops_what_is_worth_least_and_the_oldest_among_equals),
        TEST(store_lets_sessions_push_out_others_up_to_half),
        TEST(store_drops_what_is_too_old_but_not_what_comes_now),
        TEST(store_counts_travel_with_a_report_and_come_back_when_it_is_lost),
        TEST(store_counts_are_told_by_one_report_only),
        TEST(store_counts_are_there_once_whichever_write_fails),
        TEST(store_reads_what_the_first_version_wrote),
        TEST(store_refuses_what_is_damaged_and_counts_it_once),
        TEST(store_names_every_reason),
        TEST(store_put_is_all_or_nothing_whichever_write_fails),
        TEST(store_counts_losses_in_memory_while_the_disk_is_full),
        TEST(store_box_of_a_killed_process_is_recovered_once),
        TEST(store_box_takes_disk_where_it_is_reserved),
        TEST(store_box_of_ones_own_is_alive_and_a_fork_does_not_hold_it),
        TEST(store_box_sizes_are_bounded),
        TEST(store_box_that_cannot_be_made_leaves_nothing),
        TEST(store_empty_box_is_deleted_and_counted),
        TEST(store_counts_of_several_processes_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
