/*
 * test_config.c - precedence of the sources of a setting, and refused settings.
 */
#include "daemon/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/mire-config-XXXXXX";
static struct config config;
static struct problem problem;

static int load(const char *file, char *const *args, char *const *environment)
{
    char *none[] = {NULL};
    FILE *out = fopen(path, "w");
    fputs(file, out);
    fclose(out);
    return config_load(&config, &problem, args ? args : none, environment ? environment : none);
}

static char config_variable[64];

static int setup(void **state)
{
    (void)state;
    close(mkstemp(path));
    snprintf(config_variable, sizeof config_variable, "MIRED_CONFIG=%s", path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return unlink(path);
}

static void flags_win_over_environment_over_file_over_default(void **state)
{
    (void)state;
    char *args[] = {"--workers", "7", "--log-level=debug", NULL};
    char *environment[] = {config_variable, "MIRED_WORKERS=6", "MIRED_WRITERS=5", "DATABASE_URL=postgres://a:b@c/d",
                           NULL};
    assert_int_equal(load("# hand-written\nworkers = 1\nwriters=2\n handlers =  3 \n\n", args, environment), 0);
    assert_int_equal(config_number(&config, MIRE_SET_WORKERS), 7);
    assert_int_equal(config_number(&config, MIRE_SET_WRITERS), 5);
    assert_int_equal(config_number(&config, MIRE_SET_HANDLERS), 3);
    assert_int_equal(config_number(&config, MIRE_SET_RETENTION_DAYS), 90);
    assert_string_equal(config.settings[MIRE_SET_HANDLERS].from, "file");
    assert_string_equal(config_text(&config, MIRE_SET_DATABASE_URL), "postgres://a:b@c/d");
    assert_int_equal(config_check(&config, NULL), 0);
}

static void what_cannot_be_read_is_named(void **state)
{
    (void)state;
    char *environment[] = {config_variable, NULL};
    char *unknown[] = {"--colour", "red", NULL};
    char *valueless[] = {"--workers", NULL};
    char *missing[] = {"--config=/nowhere/mired.conf", NULL};
    assert_int_equal(load("workers = 1\ncolour = red\n", NULL, environment), -1);
    assert_non_null(strstr(problem.text, ":2: there is no setting colour"));
    assert_int_equal(load("workers\n", NULL, environment), -1);
    assert_int_equal(load("", unknown, environment), -1);
    assert_int_equal(load("", valueless, environment), -1);
    assert_int_equal(load("", missing, environment), -1);
    assert_non_null(strstr(problem.text, "/nowhere/mired.conf"));
}

static void bad_values_are_counted(void **state)
{
    (void)state;
    char *environment[] = {config_variable, NULL};
    assert_int_equal(
        load("workers = many\nlisten = here\nlocal_images = maybe\nlog_level = loud\nidle_s = 0\nrules = /nowhere\n",
             NULL, environment),
        0);
    assert_int_equal(config_check(&config, NULL), 6);
}

static void images_are_read_where_only_this_machine_reports(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        bool read;
    } rows[] = {{"", true},
                {"listen = [::1]:80", true},
                {"listen = 0.0.0.0:7117", false},
                {"public_url = https://mire.example.com", false},
                {"trusted_proxies = 127.0.0.1", false},
                {"local_images = no", false},
                {"listen = 0.0.0.0:7117\nlocal_images = yes", true}};
    char *environment[] = {config_variable, NULL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(load(rows[i].file, NULL, environment), 0);
        assert_int_equal(config_reads_images(&config), rows[i].read);
        assert_int_equal(config_check(&config, NULL), 0);
    }
}

static void listen_reads_both_families(void **state)
{
    (void)state;
    char address[64];
    uint16_t port;
    char *environment[] = {config_variable, NULL};
    assert_int_equal(load("listen = [::1]:80", NULL, environment), 0);
    assert_true(config_listen(address, &port, &config));
    assert_string_equal(address, "::1");
    assert_int_equal(port, 80);
    assert_true(config_is_loopback(&config));
    assert_int_equal(load("listen = 0.0.0.0:7117", NULL, environment), 0);
    assert_false(config_is_loopback(&config));
    assert_int_equal(load("listen = 127.0.0.1:70000", NULL, environment), 0);
    assert_false(config_listen(address, &port, &config));
}

static void a_password_is_not_printed(void **state)
{
    (void)state;
    char text[8192] = "";
    char *environment[] = {config_variable, "DATABASE_URL=postgres://mire:hunter2@db/mire", NULL};
    assert_int_equal(load("", NULL, environment), 0);
    FILE *out = fmemopen(text, sizeof text, "w");
    config_print(&config, out);
    fclose(out);
    assert_null(strstr(text, "hunter2"));
    assert_non_null(strstr(text, "postgres://mire:***@db/mire"));
    char shown[MIRE_SETTING_MAX];
    environment[1] = "DATABASE_URL=host=db password=hunter2 user=mire";
    assert_int_equal(
        load("debuginfod = https://a:hunter2@one.example https://two.example/x@y https://b:hunter2@three.example", NULL,
             environment),
        0);
    config_shown(shown, &config, MIRE_SET_DATABASE_URL);
    assert_string_equal(shown, "host=db password=*** user=mire");
    config_shown(shown, &config, MIRE_SET_DEBUGINFOD);
    assert_string_equal(shown, "https://a:***@one.example https://two.example/x@y https://b:***@three.example");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_win_over_environment_over_file_over_default),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(bad_values_are_counted),
        cmocka_unit_test(images_are_read_where_only_this_machine_reports),
        cmocka_unit_test(listen_reads_both_families),
        cmocka_unit_test(a_password_is_not_printed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
