/* The store: reports, caps and counts. */
#include "store/sending.h"
#include "store/store.h"

#include "support/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/emulator.h"

#include "support/stores.h"

static void store_makes_missing_directories(void **state)
{
    char deep[256];
    struct store *store;
    struct stat info;

    snprintf(deep, sizeof(deep), "%s/a/b/c", (char *)*state);
    store = store_default(deep);
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

/* The name is taken away, as by a cleaner; below another root it would mean another place. */
static void store_is_made_again_when_its_directory_is_gone(void **state)
{
    uint64_t drops[MIRE_DROP_REASONS];
    char dir[256], gone[256];
    struct store *store;

    snprintf(dir, sizeof(dir), "%s/store", (char *)*state);
    snprintf(gone, sizeof(gone), "%s/gone", (char *)*state);
    store = store_default(dir);
    assert_false(mire__store_was_removed(store));
    assert_int_equal(rename(dir, gone), 0);
    assert_true(mire__store_was_removed(store));
    assert_int_equal(put_report(store, "01900000-0000-7000-8000-000000000001", "one", 3, NULL, STORE_NOW), MIRE_OK);
    assert_true(mire__store_was_removed(store));
    mire__store_drops(drops, store);
    assert_int_equal(drops[MIRE_DROP_BROKEN], 1);
    assert_int_equal(put_report(store, "01900000-0000-7000-8000-000000000002", "two", 3, NULL, STORE_NOW), MIRE_OK);
    mire__store_drops(drops, store);
    assert_int_equal(drops[MIRE_DROP_BROKEN], 1);
    mire__store_close(store);
}

static void store_keeps_one_install_id(void **state)
{
    struct store *store = store_default(*state);
    char first[33] = "", second[33] = "";

    assert_int_equal(mire__store_install(first, store), MIRE_OK);
    assert_int_equal(strspn(first, "0123456789abcdef"), 32);
    mire__store_close(store);
    store = store_default(*state);
    assert_int_equal(mire__store_install(second, store), MIRE_OK);
    assert_string_equal(first, second);
    mire__store_close(store);
}

/* From here on the kernel refuses links, as Android's policy does. */
static void refuse_links(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_link
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_link, 1, 0),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_linkat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0 ||
        link("/proc/self/exe", "/tmp/mire-refused") == 0 || errno != EACCES)
        _exit(77);
}

/* Many processes at the same instant agree on one id, also on a system that refuses links. */
static void store_has_one_install_id_without_links(void **state)
{
    enum { PROCESSES = 16 };
    char ids[PROCESSES][33] = {{0}}, byte;
    int gate[2], given[2], status;

    skip_if_emulated("an emulator's filter sees the host's calls");
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(pipe(given), 0);
    for (int i = 0; i < PROCESSES; i++) {
        struct store *store;
        char id[33] = "";

        if (fork() != 0)
            continue;
        refuse_links();
        store = store_default(*state);
        close(gate[1]);
        read(gate[0], &byte, 1); /* all go at once, when the other end is closed */
        if (mire__store_install(id, store) != MIRE_OK || write(given[1], id, sizeof(id)) != sizeof(id))
            _exit(1);
        _exit(0);
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < PROCESSES; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
        assert_int_equal(read(given[0], ids[i], 33), 33);
        assert_string_equal(ids[i], ids[0]);
    }
    close(given[0]);
    close(given[1]);
}

static void store_replaces_a_damaged_install_id(void **state)
{
    struct store *store = store_default(*state);
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
    struct store *store = store_default(*state);
    struct store_item items[8];

    put_report(store, id_at(STORE_NOW + 2, 0), "two", 3, NULL, STORE_NOW);
    put_report(store, id_at(STORE_NOW + 1, 0), "one", 3, NULL, STORE_NOW);
    put_report(store, id_at(STORE_NOW + 3, 0), "", 0, NULL, STORE_NOW);
    assert_int_equal(mire__store_list(items, 8, store), 3);
    assert_string_equal(items[0].id, id_at(STORE_NOW + 1, 0));
    assert_string_equal(items[2].id, id_at(STORE_NOW + 3, 0));
    assert_int_equal(mire__store_list(items, 1, store), 1);
    assert_string_equal(items[0].id, id_at(STORE_NOW + 1, 0));
    assert_body(store, id_at(STORE_NOW + 1, 0), "one");
    assert_body(store, id_at(STORE_NOW + 3, 0), "");
    mire__store_done(store, id_at(STORE_NOW + 1, 0));
    assert_int_equal(count_reports(store), 2);
    mire__store_close(store);
}

static void store_sealing_an_id_again_keeps_one_report(void **state)
{
    struct store *store = store_default(*state);

    put_report(store, id_at(STORE_NOW, 7), "same", 4, NULL, STORE_NOW);
    put_report(store, id_at(STORE_NOW, 7), "same", 4, NULL, STORE_NOW);
    assert_int_equal(count_reports(store), 1);
    mire__store_close(store);
}

static void store_get_tells_gone_from_damaged(void **state)
{
    struct store *store = store_default(*state);
    char path[512];
    void *body;
    size_t size;

    assert_int_equal(mire__store_get(&body, &size, store, id_at(STORE_NOW, 1)), MIRE_E_STORE);
    put_report(store, id_at(STORE_NOW, 1), "body", 4, NULL, STORE_NOW);
    snprintf(path, sizeof(path), "%s/out/%s.report", (char *)*state, id_at(STORE_NOW, 1));
    assert_int_equal(truncate(path, 30), 0);
    assert_int_equal(mire__store_get(&body, &size, store, id_at(STORE_NOW, 1)), MIRE_E_FORMAT);
    assert_null(body);
    mire__store_drop(store, id_at(STORE_NOW, 1), MIRE_DROP_BROKEN);
    assert_int_equal(dropped(store, MIRE_DROP_BROKEN), 1);
    mire__store_close(store);
}

static void store_drops_the_oldest_beyond_the_count(void **state)
{
    struct store *store = store_capped(*state, (struct store_caps){.bytes = 1 << 20, .count = 3, .age_ms = 1000});

    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(put_report(store, id_at(STORE_NOW + i, i), "x", 1, NULL, STORE_NOW), MIRE_OK);
    assert_int_equal(count_reports(store), 3);
    assert_int_equal(dropped(store, MIRE_DROP_FULL), 2);
    assert_body(store, id_at(STORE_NOW + 2, 2), "x");
    mire__store_close(store);
}

static void store_drops_the_oldest_beyond_the_bytes(void **state)
{
    struct store *store = store_capped(*state, (struct store_caps){.bytes = 1100, .count = 100, .age_ms = 1000});
    static const char body[2000];

    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(put_report(store, id_at(STORE_NOW + i, i), body, 400, NULL, STORE_NOW), MIRE_OK);
    assert_int_equal(count_reports(store), 2);
    assert_int_equal(dropped(store, MIRE_DROP_FULL), 2);
    assert_int_equal(put_report(store, id_at(STORE_NOW + 9, 9), body, 1050, NULL, STORE_NOW), MIRE_E_FULL);
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
    struct store *store = store_capped(*state, (struct store_caps){.bytes = 1 << 20, .count = 4, .age_ms = 1 << 20});

    put_worth(store, id_at(STORE_NOW, 1), MIRE_VALUE_DEATH, 8);
    put_worth(store, id_at(STORE_NOW + 1, 1), MIRE_VALUE_CAPTURE, 8);
    put_worth(store, id_at(STORE_NOW + 2, 1), MIRE_VALUE_HANG, 8);
    put_worth(store, id_at(STORE_NOW + 3, 1), MIRE_VALUE_CAPTURE, 8);
    assert_int_equal(put_worth(store, id_at(STORE_NOW + 4, 1), MIRE_VALUE_HANG, 8), MIRE_OK);
    assert_false(is_there(store, id_at(STORE_NOW + 1, 1)));
    assert_int_equal(put_worth(store, id_at(STORE_NOW + 5, 1), MIRE_VALUE_DEATH, 8), MIRE_OK);
    assert_false(is_there(store, id_at(STORE_NOW + 3, 1)));
    assert_int_equal(put_worth(store, id_at(STORE_NOW + 6, 1), MIRE_VALUE_HANG, 8), MIRE_OK);
    assert_false(is_there(store, id_at(STORE_NOW + 2, 1)));
    assert_true(is_there(store, id_at(STORE_NOW, 1)) && is_there(store, id_at(STORE_NOW + 4, 1)));
    /* A report that arrives now has no privilege. */
    assert_int_equal(put_worth(store, id_at(STORE_NOW + 7, 1), MIRE_VALUE_BASELINE, 8), MIRE_E_FULL);
    assert_int_equal(count_reports(store), 4);
    assert_int_equal(dropped(store, MIRE_DROP_FULL), 4);
    mire__store_close(store);
}

static void store_lets_sessions_push_out_others_up_to_half(void **state)
{
    struct store *store = store_capped(*state, (struct store_caps){.bytes = 1 << 20, .count = 6, .age_ms = 1 << 20});
    struct store_item items[8];

    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(put_worth(store, id_at(STORE_NOW + i, 1), MIRE_VALUE_HANG, 8), MIRE_OK);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(put_worth(store, id_at(STORE_NOW + 10 + i, 2), MIRE_VALUE_SESSION, 8), MIRE_OK);
    assert_int_equal(mire__store_list(items, 8, store), 6);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(items[i].value, MIRE_VALUE_HANG);
        assert_string_equal(items[i].id, id_at(STORE_NOW + 3 + i, 1));
        assert_int_equal(items[3 + i].value, MIRE_VALUE_SESSION);
        assert_string_equal(items[3 + i].id, id_at(STORE_NOW + 13 + i, 2));
    }
    assert_int_equal(dropped(store, MIRE_DROP_FULL), 6);
    mire__store_close(store);
}

static void store_drops_what_is_too_old_but_not_what_comes_now(void **state)
{
    struct store *store = store_capped(*state, (struct store_caps){.bytes = 1 << 20, .count = 9, .age_ms = 1000});

    put_report(store, id_at(STORE_NOW, 0), "x", 1, NULL, STORE_NOW);
    put_report(store, id_at(STORE_NOW - 5000, 1), "late", 4, NULL, STORE_NOW + 1);
    assert_int_equal(count_reports(store), 2);
    put_report(store, id_at(STORE_NOW + 5000, 2), "x", 1, NULL, STORE_NOW + 5000);
    assert_int_equal(count_reports(store), 1);
    assert_int_equal(dropped(store, MIRE_DROP_AGE), 2);
    mire__store_close(store);
}

static void store_counts_travel_with_a_report_and_come_back_when_it_is_lost(void **state)
{
    struct store *store = store_default(*state);
    uint64_t given[MIRE_DROP_REASONS];

    mire__store_count_drop(store, MIRE_DROP_REFUSED);
    mire__store_count_drop(store, MIRE_DROP_REFUSED);
    mire__store_drops(given, store);
    put_report(store, id_at(STORE_NOW, 0), "x", 1, given, STORE_NOW);
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), 0);
    mire__store_drop(store, id_at(STORE_NOW, 0), MIRE_DROP_FULL);
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), 2);
    assert_int_equal(dropped(store, MIRE_DROP_FULL), 1);
    mire__store_drops(given, store);
    put_report(store, id_at(STORE_NOW, 1), "x", 1, given, STORE_NOW);
    mire__store_done(store, id_at(STORE_NOW, 1));
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), 0);
    mire__store_close(store);
}

static void store_counts_are_told_by_one_report_only(void **state)
{
    struct store *store = store_default(*state);
    uint64_t given[MIRE_DROP_REASONS];

    mire__store_count_drop(store, MIRE_DROP_REFUSED);
    mire__store_drops(given, store);
    assert_int_equal(put_report(store, id_at(STORE_NOW, 0), "x", 1, given, STORE_NOW), MIRE_OK);
    assert_int_equal(put_report(store, id_at(STORE_NOW, 1), "x", 1, given, STORE_NOW), MIRE_E_STATE);
    assert_int_equal(count_reports(store), 1);
    /* Sealed again, the report's losses are restored. */
    assert_int_equal(put_report(store, id_at(STORE_NOW, 0), "y", 1, NULL, STORE_NOW), MIRE_OK);
    assert_int_equal(dropped(store, MIRE_DROP_REFUSED), 1);
    mire__store_close(store);
}

static void store_names_every_reason(void **state)
{
    (void)state;
    for (int i = 0; i < MIRE_DROP_REASONS; i++)
        assert_string_not_equal(mire__store_reason_name(i), "unknown");
    assert_string_equal(mire__store_reason_name(MIRE_DROP_REASONS), "unknown");
}

static void store_counts_of_several_processes_add_up(void **state)
{
    enum { PROCESSES = 4, EACH = 20 };
    struct store *store = store_default(*state);

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
        TEST(store_is_made_again_when_its_directory_is_gone),
        TEST(store_keeps_one_install_id),
        TEST(store_has_one_install_id_without_links),
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
        TEST(store_names_every_reason),
        TEST(store_counts_of_several_processes_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
