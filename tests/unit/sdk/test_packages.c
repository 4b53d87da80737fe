/* Source packages from databases that the test makes: dpkg's lists and status, apk's text. */
#include "report/packages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

static void write_file(const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/mire-packages-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", root);
    return system(command); /* NOLINT(cert-env33-c): the test's own folder */
}

static enum package_tie tie_of(const char *program, const char *path)
{
    enum package_tie tie;

    mire__packages_find(&tie, root, program, &path, 1);
    return tie;
}

static void write_dpkg(void)
{
    write_file("var/lib/dpkg/status",
               "Package: evince\nStatus: install ok installed\nArchitecture: amd64\nVersion: 43.1\n\n"
               "Package: libevview3-3\nArchitecture: amd64\nMulti-Arch: same\nSource: evince (43.1-2)\n\n"
               "Package: libgtk-3-0\nArchitecture: amd64\nSource: gtk+3.0\n\n"
               "Package: tool-of-the-name\nArchitecture: amd64\nSource: fonts\nDescription: a\n Package: libnone\n");
    write_file("var/lib/dpkg/info/evince.list", "/.\n/usr\n/usr/bin\n/usr/bin/evince\n");
    write_file("var/lib/dpkg/info/libevview3-3:amd64.list", "/usr/lib/x86_64-linux-gnu/libevview3.so.3.0.0\n");
    write_file("var/lib/dpkg/info/libgtk-3-0:amd64.list", "/lib/x86_64-linux-gnu/libgtk-3.so.0.1.2\n");
    write_file("var/lib/dpkg/info/tool-of-the-name.list", "/usr/bin/evince-thumbnailer\n/opt/x/run\n");
}

static void dpkg_tells_the_source(void **state)
{
    (void)state;
    write_dpkg();
    assert_int_equal(tie_of("/usr/bin/evince", "/usr/lib/x86_64-linux-gnu/libevview3.so.3.0.0"), MIRE_PACKAGE_SAME);
    assert_int_equal(tie_of("/usr/bin/evince", "/lib/x86_64-linux-gnu/libevview3.so.3.0.0"), MIRE_PACKAGE_SAME);
    assert_int_equal(tie_of("/usr/bin/evince", "/usr/bin/evince"), MIRE_PACKAGE_SAME);
    assert_int_equal(tie_of("/usr/bin/evince", "/usr/lib/x86_64-linux-gnu/libgtk-3.so.0.1.2"), MIRE_PACKAGE_OTHER);
    assert_int_equal(tie_of("/usr/bin/evince", "/usr/lib/x86_64-linux-gnu/libevview3.so.3"), MIRE_PACKAGE_OTHER);
    assert_int_equal(tie_of("/usr/bin/evince", "/opt/plugins/libmine.so"), MIRE_PACKAGE_OTHER);
    assert_int_equal(tie_of("/opt/x/run", "/usr/lib/x86_64-linux-gnu/libevview3.so.3.0.0"), MIRE_PACKAGE_OTHER);
}

static void a_program_of_no_package_has_ties_to_none(void **state)
{
    (void)state;
    write_dpkg();
    assert_int_equal(tie_of("/home/a/build/app", "/usr/lib/x86_64-linux-gnu/libgtk-3.so.0.1.2"), MIRE_PACKAGE_OTHER);
    assert_int_equal(tie_of("/home/a/build/app", "/home/a/build/libpart.so"), MIRE_PACKAGE_UNKNOWN);
    assert_int_equal(tie_of("", "/home/a/build/libpart.so"), MIRE_PACKAGE_UNKNOWN);
}

static void apk_tells_the_origin(void **state)
{
    (void)state;
    write_file("lib/apk/db/installed", "P:mosquitto\no:mosquitto\nF:usr/sbin\nR:mosquitto\nF:etc\n\n"
                                       "P:mosquitto-libs\no:mosquitto\nF:usr/lib\nR:libmosquitto.so.1\na:0:0:755\n\n"
                                       "P:cjson\no:cjson\nF:usr/lib\nR:libcjson.so.1\n");
    assert_int_equal(tie_of("/usr/sbin/mosquitto", "/usr/lib/libmosquitto.so.1"), MIRE_PACKAGE_SAME);
    assert_int_equal(tie_of("/usr/sbin/mosquitto", "/usr/lib/libcjson.so.1"), MIRE_PACKAGE_OTHER);
    assert_int_equal(tie_of("/usr/local/bin/x", "/usr/lib/libcjson.so.1"), MIRE_PACKAGE_OTHER);
    assert_int_equal(tie_of("/usr/local/bin/x", "/usr/local/lib/y.so"), MIRE_PACKAGE_UNKNOWN);
}

static void a_damaged_or_missing_database_tells_nothing(void **state)
{
    (void)state;
    assert_int_equal(tie_of("/usr/bin/evince", "/usr/lib/libx.so"), MIRE_PACKAGE_UNKNOWN);
    write_file("lib/apk/db/installed", "F:\nR:\n:\nP\no:\n\nR:x");
    write_file("var/lib/dpkg/info/evince.list", "/usr/bin/evince\n/usr/lib/libx.so");
    assert_int_equal(tie_of("/usr/bin/evince", "/usr/lib/liby.so"), MIRE_PACKAGE_UNKNOWN);
}

/* On Debian: the packages of installed programs. */
static void the_devices_own_database_is_read(void **state)
{
    const char *const paths[] = {"/usr/bin/perl", "/usr/lib/x86_64-linux-gnu/libc.so.6"};
    enum package_tie *ties;

    (void)state;
    if (access("/var/lib/dpkg/info/perl-base.list", R_OK) != 0 || access(paths[1], R_OK) != 0)
        skip();
    ties = mire__packages_ties("/usr/bin/perl", paths, 2);
    assert_non_null(ties);
    assert_int_equal(ties[0], MIRE_PACKAGE_SAME);
    assert_int_equal(ties[1], MIRE_PACKAGE_OTHER);
    free(ties);
}

static void *ask_without_end(void *ends)
{
    for (uint32_t i = 0; !atomic_load((_Atomic int *)ends); i++) {
        char program[32];

        snprintf(program, sizeof(program), "/usr/bin/p%u", i);
        tie_of(program, "/usr/bin/evince");
    }
    return NULL;
}

/* A child has the state of its parent, and not the thread that was changing it. */
static void a_forked_child_waits_for_no_thread_of_its_parent(void **state)
{
    _Atomic int ends = 0;
    pthread_t thread;

    (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip(); /* a sanitizer's allocator has locks of its own, which the child finds held */
#endif
    write_dpkg();
    assert_int_equal(pthread_create(&thread, NULL, ask_without_end, &ends), 0);
    for (int i = 0; i < 30; i++) {
        int status;
        pid_t child = fork();

        if (child == 0) {
            alarm(60);
            _exit(tie_of("/usr/bin/evince", "/usr/lib/x86_64-linux-gnu/libevview3.so.3.0.0") != MIRE_PACKAGE_SAME);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    atomic_store(&ends, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(dpkg_tells_the_source, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_program_of_no_package_has_ties_to_none, make_root, remove_root),
        cmocka_unit_test_setup_teardown(apk_tells_the_origin, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_damaged_or_missing_database_tells_nothing, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_forked_child_waits_for_no_thread_of_its_parent, make_root, remove_root),
        cmocka_unit_test(the_devices_own_database_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
