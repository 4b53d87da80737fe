/*
 * test_disk.c - mired on a data directory that is read-only, full, or another PostgreSQL's.
 *
 * The file systems are real ones in memory, in a mount namespace of this program, and vanish with it. If the kernel
 * does not permit that, the tests are skipped with a message.
 */
#include "support/httptest.h"
#include "support/miredtest.h"

#include "rows/key.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_S 60
#define LARGE      (512u << 10) /* bytes of a report that fills the disk */
#define ACCEPTED   4096

static struct miredtest mired;
static char key[MIRE_KEY_TEXT], symbols_key[MIRE_KEY_TEXT];
static bool can_mount;
static struct uuid accepted[ACCEPTED];
static size_t accepted_count;

/* --- file systems of our own ------------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && write(fd, text, strlen(text)) < 0)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    if (fd >= 0)
        close(fd);
}

/* Root may make a namespace; other users get one in which their user is the same. */
static bool unshare_mounts(void)
{
    char map[64];
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (unshare(uid ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS))
        return false;
    if (uid) {
        write_file("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "%u %u 1", uid, uid);
        write_file("/proc/self/uid_map", map);
        snprintf(map, sizeof map, "%u %u 1", gid, gid);
        write_file("/proc/self/gid_map", map);
    }
    return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static void mount_data(unsigned long flags, const char *size)
{
    assert_int_equal(mkdir(mired.dir, 0755), 0);
    assert_int_equal(mount("tmpfs", mired.dir, "tmpfs", flags, size), 0);
    assert_int_equal(flags & MS_RDONLY ? 0 : chmod(mired.dir, 0755), 0);
}

/* --- what every test begins and ends with ------------------------------------------------------------------------ */

static int setup(void **state)
{
    static int count;
    (void)state;
    accepted_count = 0;
    mired = (struct miredtest){.pid = -1};
    snprintf(mired.dir, sizeof mired.dir, "/tmp/mire-disk-%d-%d", (int)getpid(), ++count);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    miredtest_end(&mired, SIGTERM);
    umount2(mired.dir, MNT_DETACH);
    miredtest_remove(&mired);
    return 0;
}

/* Does mired's log contain the words? */
static bool is_logged(const char *words)
{
    char path[96], line[1024];
    snprintf(path, sizeof path, "%s.log", mired.dir);
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, words) != NULL;
    if (file)
        fclose(file);
    return found;
}

/* The same, now or within the patience. */
static bool logged(const char *words)
{
    bool found = is_logged(words);
    for (int tick = 0; !found && tick < PATIENCE_S * 20; tick++) {
        usleep(50000);
        found = is_logged(words);
    }
    return found;
}

static void assert_ends_saying(const char *const *flags, const char *words)
{
    int status = miredtest_run(&mired, flags);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_true(logged(words));
}

/* --- read-only --------------------------------------------------------------------------------------------------- */

static void a_read_only_data_directory_is_named(void **state)
{
    (void)state;
    if (!can_mount)
        skip();
    mount_data(MS_RDONLY, "size=1m");
    assert_ends_saying(NULL, "Read-only file system");
    assert_true(logged(mired.dir));
}

/* --- another PostgreSQL's ---------------------------------------------------------------------------------------- */

/* Make a cluster, and mark it as made by PostgreSQL 9. */
static void make_cluster_of_version_9(void)
{
    char path[96];
    assert_int_equal(miredtest_start(&mired, NULL), 0);
    int status = miredtest_end(&mired, SIGTERM);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    snprintf(path, sizeof path, "%s/postgres/PG_VERSION", mired.dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("9\n", file);
    fclose(file);
}

static void a_cluster_of_another_version_names_the_package_to_install(void **state)
{
    (void)state;
    make_cluster_of_version_9();
    assert_ends_saying(NULL, "was made by PostgreSQL 9, which is not installed here. Install postgresql-9.");
}

static void a_cluster_of_another_version_than_postgres_bin_is_named(void **state)
{
    (void)state;
    char bin[128] = "";
    FILE *pipe = popen("ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1", "r");
    assert_non_null(pipe);
    assert_non_null(fgets(bin, sizeof bin, pipe));
    pclose(pipe);
    bin[strcspn(bin, "\n")] = '\0';
    const char *const flags[] = {"--postgres-bin", bin, NULL};
    make_cluster_of_version_9();
    assert_ends_saying(flags, "initialized by PostgreSQL version 9, which is not compatible with this version");
}

/* --- full -------------------------------------------------------------------------------------------------------- */

/* A report that does not compress: the smallest one and an unused field. */
static int send_large(struct httptest *http)
{
    static char body[LARGE + 8192];
    static uint32_t random = 1;
    struct uuid id;
    size_t len = miredtest_report(body, sizeof body, &id);
    while (body[len - 1] != '}')
        len--;
    len += (size_t)sprintf(body + len - 1, ",\"padding\":\"") - 1;
    for (size_t end = len + LARGE; len < end; len++)
        body[len] = (char)('0' + ((random = random * 1664525 + 1013904223) >> 24) % 64);
    for (size_t i = 0; i < LARGE; i++)
        if (body[len - 1 - i] == '"' || body[len - 1 - i] == '\\')
            body[len - 1 - i] = '_';
    len += (size_t)sprintf(body + len, "\"}");
    if (http->fd < 0 && httptest_open(http, mired.port))
        return -1;
    int status = httptest_report(http, key, body, len);
    if (status == 202 && accepted_count < ACCEPTED)
        accepted[accepted_count++] = id;
    return status;
}

/* Send until the response is `wanted`, within the patience; any other response must let the client try again. */
static void send_until(struct httptest *http, int wanted)
{
    int status = -1;
    for (int tick = 0; status != wanted && tick < PATIENCE_S * 20; tick++) {
        status = send_large(http);
        assert_true(status == 202 || status == 503);
        if (status == 503) {
            assert_non_null(strstr(http->headers, "Retry-After: "));
            usleep(50000);
        }
    }
    assert_int_equal(status, wanted);
}

/* Use up the remaining space but `leave_mb`. */
static void fill_disk(unsigned leave_mb)
{
    static char block[1 << 20];
    char path[96];
    struct statvfs disk;
    snprintf(path, sizeof path, "%s/filler", mired.dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    for (size_t size = sizeof block; size >= 4096;)
        if (leave_mb && !statvfs(mired.dir, &disk) && disk.f_bavail * disk.f_frsize <= (uint64_t)leave_mb << 20)
            break;
        else if (write(fd, block, size) != (ssize_t)size)
            size /= 2;
    close(fd);
}

static void assert_all_accepted_are_stored(void)
{
    struct pg *pg = miredtest_pg(&mired);
    {
        MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
        MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
        assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
        assert_int_equal(pg_query(&rows, tx, "SELECT count(*) FROM report WHERE report_id = ANY($1)",
                                  PG_UUIDS(accepted, accepted_count)),
                         0);
        assert_int_equal(pg_int(rows, 0, 0), accepted_count);
    }
    pg_close(pg);
}

static const char *const no_reserve[] = {"--disk-reserve-mb", "0", NULL};

static void start_on_a_small_disk(struct httptest *http, const char *const *flags, unsigned leave_mb)
{
    http->fd = -1;
    mount_data(0, "size=512m");
    assert_int_equal(miredtest_start(&mired, flags), 0);
    struct pg *pg = miredtest_pg(&mired);
    assert_int_equal(rows_key_create(key, pg, "disk", "ingest", ""), 0);
    assert_int_equal(rows_key_create(symbols_key, pg, "disk", "symbols", ""), 0);
    pg_close(pg);
    send_until(http, 202);
    fill_disk(leave_mb);
}

/* After there is space again, everything continues by itself, and all accepted reports are stored. */
static void free_the_disk_and_end(struct httptest *http)
{
    char filler[96];
    assert_int_equal(httptest_send(http, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n", NULL, 0), 200);
    snprintf(filler, sizeof filler, "%s/filler", mired.dir);
    assert_int_equal(unlink(filler), 0);
    send_until(http, 202);
    assert_all_accepted_are_stored();
    httptest_close(http);
    int status = miredtest_end(&mired, SIGTERM);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static struct httptest client;

/* Reports are refused while PostgreSQL still has room: it meets no full disk. */
static void reports_are_refused_before_the_disk_is_full(void **state)
{
    char words[256];
    (void)state;
    if (!can_mount)
        skip();
    start_on_a_small_disk(&client, NULL, 28);
    send_until(&client, 503);
    assert_true(logged("disk.full"));
    snprintf(words, sizeof words, "PUT /api/v1/symbols HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n",
             symbols_key);
    assert_true(client.fd >= 0 || !httptest_open(&client, mired.port));
    assert_int_equal(httptest_send(&client, words, "x", 1), 507);
    free_the_disk_and_end(&client);
    assert_true(logged("disk.has_room"));
    assert_false(is_logged("sqlstate=\"53100\""));
}

static void tables_that_cannot_grow_put_clients_off(void **state)
{
    (void)state;
    if (!can_mount)
        skip();
    start_on_a_small_disk(&client, no_reserve, 0);
    send_until(&client, 503);
    for (int i = 0; i < 5; i++)
        assert_int_equal(send_large(&client), 503);
    assert_true(logged("sqlstate=\"53100\""));
    free_the_disk_and_end(&client);
}

/* PostgreSQL panics and cannot start before there is space; mired restarts it again and again. */
static void a_log_that_cannot_grow_ends_postgresql_but_not_mired(void **state)
{
    (void)state;
    if (!can_mount)
        skip();
    start_on_a_small_disk(&client, no_reserve, 0);
    struct pg *pg = miredtest_pg(&mired);
    struct pg_tx *tx = NULL;
    if (!pg_begin(&tx, pg, MIRE_PG_EACH))
        (void)pg_query(NULL, tx, "SELECT pg_switch_wal()");
    pg_end(&tx);
    pg_close(pg);
    send_until(&client, 503);
    assert_true(logged("postgres.ended"));
    free_the_disk_and_end(&client);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_read_only_data_directory_is_named),
        CASE(a_cluster_of_another_version_names_the_package_to_install),
        CASE(a_cluster_of_another_version_than_postgres_bin_is_named),
        CASE(reports_are_refused_before_the_disk_is_full),
        CASE(tables_that_cannot_grow_put_clients_off),
        CASE(a_log_that_cannot_grow_ends_postgresql_but_not_mired),
    };
    can_mount = unshare_mounts();
    if (!can_mount)
        fprintf(stderr, "no mount namespace (%s): tests that need a file system of their own are skipped\n",
                strerror(errno));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
