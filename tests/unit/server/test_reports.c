/*
 * test_reports.c - .ips and Sentry documents as reports of Mire, from documents that were written for the test; and every
 * real file of others, where such files are at hand (../shared/data/reports).
 */
#include "support/imports.h"

#define DATA MIRE_SOURCE_DIR "/../shared/data/reports/"

/* ---- .ips ---- */

static void an_ips_crash_names_its_thread_by_number(void **state)
{
    struct imported r;
    (void)state;
    read_it(&r, "{\"app_name\":\"Shop\",\"timestamp\":\"2023-11-14 22:13:20.00 "
                "+0100\",\"app_version\":\"4.2\",\"bundleID\":\"org.example.shop\","
                "\"os_version\":\"iPhone OS 17.1 (21B74)\",\"bug_type\":\"309\",\"incident_id\":\"AA\"}\n"
                "{\"pid\":7,\"procPath\":\"/var/A/Shop.app/"
                "Shop\",\"crashReporterKey\":\"kk\",\"cpuType\":\"ARM-64\",\"faultingThread\":1,"
                "\"exception\":{\"type\":\"EXC_BAD_ACCESS\",\"signal\":\"SIGSEGV\"},\"termination\":{\"namespace\":"
                "\"SIGNAL\",\"code\":11,\"indicator\":\"Segmentation fault: 11\"},"
                "\"threads\":[{\"id\":10,\"frames\":[{\"imageOffset\":4,\"imageIndex\":1}]},{\"id\":11,\"triggered\":"
                "true,\"queue\":\"com.apple.main-thread\","
                "\"frames\":[{\"imageOffset\":100,\"symbol\":\"total\",\"symbolLocation\":4,\"imageIndex\":0,"
                "\"sourceFile\":\"Cart.m\",\"sourceLine\":12},{\"imageOffset\":200,\"imageIndex\":0}]}],"
                "\"usedImages\":[{\"base\":4294967296,\"size\":65536,\"uuid\":\"0a1b2c3d-0000-4000-8000-000000000001\","
                "\"path\":\"/var/A/Shop.app/Shop\",\"name\":\"Shop\",\"arch\":\"arm64\"},"
                "{\"base\":6442450944,\"size\":65536,\"uuid\":\"0a1b2c3d-0000-4000-8000-000000000002\",\"path\":\"/usr/"
                "lib/libobjc.A.dylib\"}]}");
    const struct report *report = r.reports[0];
    assert_string_equal(report->event.trigger, "crash");
    assert_string_equal(report->event.name, "EXC_BAD_ACCESS");
    assert_int_equal(report->exit.signal.value, 11);
    assert_int_equal(report->event.begin_wall_ms.value, 1699996400000); /* an hour east */
    assert_string_equal(import_stack(&r, report, report->event.samples[0].node), "total < /var/A/Shop.app/Shop+199");
    assert_int_equal(report->thread_count, 1);
    assert_int_equal(report->event.thread.tid.value, 11);
    read_in_pieces(&r);
}

static void jetsam_makes_a_report_of_each_process_killed(void **state)
{
    struct imported r;
    (void)state;
    read_it(&r, "{\"bug_type\":\"298\",\"timestamp\":\"2023-11-14 22:13:20.00 +0000\",\"os_version\":\"iPhone OS 17.1 "
                "(21B74)\",\"incident_id\":\"BB\"}\n"
                "{\"largestProcess\":\"Shop\",\"memoryStatus\":{\"pageSize\":16384},\"processes\":["
                "{\"name\":\"Shop\",\"pid\":9,\"uuid\":\"u1\",\"rpages\":1000,\"lifetimeMax\":1200,\"states\":["
                "\"frontmost\"],\"reason\":\"per-process-limit\"},"
                "{\"name\":\"other\",\"pid\":8,\"rpages\":5,\"states\":[\"daemon\"]},"
                "{\"name\":\"News\",\"pid\":5,\"uuid\":\"u2\",\"rpages\":300,\"states\":[\"suspended\"],\"reason\":"
                "\"vm-pageshortage\"}]}");
    assert_int_equal(r.count, 2);
    assert_string_equal(r.reports[0]->app.name, "Shop");
    assert_string_equal(r.reports[0]->memory.trigger, "foom");
    assert_int_equal(r.reports[0]->memory.footprint_bytes.value, 16384000);
    assert_string_equal(r.reports[1]->exit.verdict, "background_kill");
    assert_true(import_notes(r.reports[1], "vm-pageshortage"));
    read_in_pieces(&r);
}

#define SPINDUMP                                                                                                   \
    "Date/Time:       2023-11-14 22:13:20.000 +0000\nOS Version:      iPhone OS 17.1 (Build 21B74)\n"              \
    "Data Source:     Stackshots\nCommand:         Shop\nPath:            /var/A/Shop.app/Shop\nPID:             " \
    "312\n"                                                                                                        \
    "Event:           hang\nDuration:        0.98s\nSteps:           10 (100ms sampling interval)\n\n"             \
    "Heaviest stack for the main thread of the target process:\n  10  start + 2236 (dyld + 33712) [0x1ad000]\n\n"  \
    "Process:         other [4]\n\n  Thread 0x99   10 samples (1-10)\n    10  idle (libx + 4)\n\n"                 \
    "Process:         Shop [312]\nUUID: x\n\n"                                                                     \
    "  Thread 0x1f4    DispatchQueue \"com.apple.main-thread\"(1)    10 samples (1-10)    priority 46\n"           \
    "    10  start + 2236 (dyld + 33712) [0x1ad000]\n"                                                             \
    "      10  main + 64 (Shop + 8192) [0x100002000]\n"                                                            \
    "        7  -[Cart total] + 12 (Shop + 9000) [0x100002328]\n"                                                  \
    "         *7  ??? (kernel + 500) [0xfff]\n"                                                                    \
    "        2  operator+(A (x), B) + 3 (Shop + 9100) [0x10000238c]\n\n"                                           \
    "  Thread 0x1f5    Thread name \"loader\"    10 samples (1-10)\n    10  start_wqthread + 8 "                   \
    "(libsystem_pthread.dylib + 3)\n\n"                                                                            \
    "Binary Images:\n  0x100000000 - 0x10000ffff Shop (4.2) <0A1B2C3D-0000-4000-8000-000000000001> "               \
    "/var/A/Shop.app/Shop\n"

static void a_spindump_is_the_tree_of_its_main_thread(void **state)
{
    static const char *const inputs[] = {"{\"bug_type\":\"228\",\"timestamp\":\"2023-11-14 22:13:20.00 "
                                         "+0000\",\"incident_id\":\"CC\",\"app_name\":\"Shop\"}\n" SPINDUMP,
                                         SPINDUMP};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct imported r;
        read_it(&r, inputs[i]);
        const struct report *report = r.reports[0];
        assert_int_equal(report->event.duration_ms, 980);
        assert_int_equal(report->event.sample_count, 3);
        assert_string_equal(stack_of_weight(&r, 700), "kernel+500 < -[Cart total] < main < start");
        assert_string_equal(stack_of_weight(&r, 200), "operator+(A (x), B) < main < start");
        assert_string_equal(stack_of_weight(&r, 100), "main < start");
        assert_int_equal(report->thread_count, 1);
        assert_string_equal(report->threads[0].name, "loader");
        read_in_pieces(&r);
    }
}

/* ---- Sentry ---- */

#define EVENT                                                                                                        \
    "{\"event_id\":\"f31ce2b69e8e470c858eed4753fda78c\",\"timestamp\":1700000000.25,\"platform\":\"python\","        \
    "\"level\":\"error\","                                                                                           \
    "\"release\":\"org.example.shop@4.2+17\",\"sdk\":{\"name\":\"sentry.python\",\"version\":\"2.0\"},\"server_"     \
    "name\":\"h\","                                                                                                  \
    "\"breadcrumbs\":{\"values\":[{},{\"message\":\"paid\"}]},\"exception\":{\"values\":[{\"type\":\"KeyError\","    \
    "\"value\":\"'x'\"},"                                                                                            \
    "{\"type\":\"ValueError\",\"value\":\"bad\",\"mechanism\":{\"type\":\"excepthook\",\"handled\":false},"          \
    "\"stacktrace\":{\"frames\":[{\"function\":\"main\",\"abs_path\":\"/srv/app.py\",\"lineno\":9,\"in_app\":true}," \
    "{\"function\":\"total\",\"abs_path\":\"/srv/cart.py\",\"lineno\":3,\"in_app\":true}]}}]}}"

static void a_sentry_event_is_read_from_its_end(void **state)
{
    struct imported r;
    (void)state;
    read_it(&r, EVENT);
    const struct report *report = r.reports[0];
    assert_string_equal(report->event.trigger, "crash");
    assert_string_equal(report->event.name, "ValueError");
    assert_string_equal(report->app.name, "org.example.shop");
    assert_string_equal(report->app.version, "4.2");
    assert_string_equal(report->app.build, "17");
    assert_int_equal(report->event.begin_wall_ms.value, 1700000000250);
    assert_string_equal(import_stack(&r, report, report->event.samples[0].node), "total < main");
    assert_int_equal(report->context.crumb_count, 1); /* one without a word is none */
    assert_string_equal(report->context.crumbs[0].text, "paid");
    assert_true(import_notes(report, "1 exceptions that caused this one"));
    read_in_pieces(&r);
}

static void an_envelope_gives_its_events_and_counts_the_rest(void **state)
{
    char text[8192];
    struct imported alone, r;
    (void)state;
    read_it(&alone, EVENT);
    snprintf(text, sizeof text,
             "{\"event_id\":\"f31ce2b69e8e470c858eed4753fda78c\",\"dsn\":\"http://k@h/1\"}\n"
             "{\"type\":\"attachment\",\"length\":9,\"filename\":\"a\"}\n{\n\"a\":\x01\n}\n"
             "{\"type\":\"event\",\"length\":%zu}\n%s\n{\"type\":\"session\"}\n{\"sid\":1}\n{\"type\":\"attachment\","
             "\"length\":0}\n\n",
             strlen(EVENT), EVENT);
    read_it(&r, text);
    assert_int_equal(r.count, 1);
    assert_string_equal(r.formats[0], "sentry-envelope");
    assert_true(import_notes(r.reports[0], "2 attachment, 1 session"));
    read_in_pieces(&r);
    import_done(&alone);
    static const char cut[] = "{\"dsn\":\"x\"}\n{\"type\":\"event\",\"length\":99}\n{}\n";
    import_all(&r, NULL, cut, sizeof cut - 1, 0, false);
    assert_int_equal(r.outcome, MIRE_DECODE_MALFORMED);
    import_done(&r);
}

static void sentry_hangs_and_relative_addresses(void **state)
{
    struct imported r;
    (void)state;
    read_it(&r,
            "{\"event_id\":\"a\",\"timestamp\":\"2023-11-14T22:13:20Z\",\"platform\":\"cocoa\",\"user\":{\"id\":\"u\"},"
            "\"exception\":{\"values\":[{\"type\":\"App Hanging\",\"value\":\"App hanging for at least 2000 "
            "ms.\",\"mechanism\":{\"type\":\"AppHang\",\"handled\":false},"
            "\"stacktrace\":{\"frames\":[{\"instruction_addr\":\"0x20\",\"addr_mode\":\"rel:0\"},{\"instruction_addr\":"
            "\"0x100000040\"}]}}]},"
            "\"debug_meta\":{\"images\":[{\"type\":\"macho\",\"image_addr\":\"0x100000000\",\"image_size\":65536,"
            "\"image_vmaddr\":\"0x100000000\","
            "\"code_file\":\"/var/A/Shop.app/Shop\",\"debug_id\":\"0A1B2C3D-0000-4000-8000-000000000001\"}]}}");
    const struct report *report = r.reports[0];
    assert_string_equal(report->event.trigger, "busy");
    assert_int_equal(report->event.duration_ms, 2000);
    assert_int_equal(report->event.begin_wall_ms.value, 1699999998000);
    assert_string_equal(import_stack(&r, report, report->event.samples[0].node),
                        "/var/A/Shop.app/Shop+4294967360 < /var/A/Shop.app/Shop+4294967327");
    read_in_pieces(&r);
}

/* ---- files of others ---- */

static const struct {
    const char *name, *format;
    size_t reports, threads, samples;
    const char *trigger, *verdict;
    uint32_t duration_ms;
} files[] = {
    {"kscrash/Hang.json", "kscrash", 1, 11, 1, "busy", "", 8002},
    {"kscrash/WatchdogTimeout.json", "kscrash", 1, 13, 1, "busy", "watchdog_kill", 250},
    {"kscrash/MainThreadDeadlock.json", "kscrash", 1, 6, 1, "busy", "watchdog_kill", 0},
    {"kscrash/Abort.json", "kscrash", 1, 7, 1, "crash", "abort", 0},
    {"kscrash/Profile.json", "kscrash", 1, 0, 26, "call", "", 262},
    {"kscrash/test-oom.json", "kscrash", 1, 0, 0, "busy", "foom", 0},
    {"metrickit/tree-real.json", "metrickit", 1, 15, 1, "call", "", 0},
    {"metrickit/per-thread.json", "metrickit", 1, 1, 1, "call", "", 0},
    {"metrickit/not-per-thread.json", "metrickit", 1, 0, 9, "call", "", 0},
    {"metrickit/xcode_simulated.json", "metrickit", 4, 0, 1, "busy", "", 20000},
    {"metrickit/xcode_simulated_macOS_12.json", "metrickit", 4, 0, 1, "busy", "", 20000},
    {"metrickit/tree-garbage.json", "", 0, 0, 0, "", "", 0},
    {"sentry/converted-event.json", "sentry", 1, 8, 1, "crash", "crash", 0},
};

static void files_of_others_tell_what_they_are_known_for(void **state)
{
    (void)state;
    char *bytes = malloc(4 << 20);
    size_t seen = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512];
        snprintf(path, sizeof path, DATA "%s", files[i].name);
        FILE *file = fopen(path, "rb");
        if (!file)
            continue;
        size_t len = fread(bytes, 1, 4 << 20, file);
        fclose(file);
        struct imported r;
        import_all(&r, NULL, bytes, len, 0, false);
        seen++;
        if (r.count != files[i].reports)
            fail_msg("%s: %zu reports: %zu %s", files[i].name, r.count, r.fault.position, r.fault.text);
        if (!r.count) {
            assert_int_equal(r.outcome, MIRE_DECODE_MALFORMED);
            assert_int_equal(r.fault.position, len); /* it ends too early */
            import_done(&r);
            continue;
        }
        const struct report *report = r.reports[0];
        assert_string_equal(r.formats[0], files[i].format);
        assert_string_equal(report->event.trigger, files[i].trigger);
        assert_string_equal(report->exit.verdict, files[i].verdict);
        if (report->thread_count != files[i].threads || report->event.sample_count != files[i].samples ||
            report->event.duration_ms != files[i].duration_ms)
            fail_msg("%s: %zu threads, %zu samples, %u ms", files[i].name, report->thread_count,
                     report->event.sample_count, report->event.duration_ms);
        import_done(&r);
    }
    free(bytes);
    if (!seen)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ips_crash_names_its_thread_by_number),
        cmocka_unit_test(jetsam_makes_a_report_of_each_process_killed),
        cmocka_unit_test(a_spindump_is_the_tree_of_its_main_thread),
        cmocka_unit_test(a_sentry_event_is_read_from_its_end),
        cmocka_unit_test(an_envelope_gives_its_events_and_counts_the_rest),
        cmocka_unit_test(sentry_hangs_and_relative_addresses),
        cmocka_unit_test(files_of_others_tell_what_they_are_known_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
