/* Crashes of Android: debuggerd's protobuf and text, and xCrash's text with a crash or an ANR. */
#include "decode/tombstone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/foreign.h"
#include "support/protowrite.h"

static void put_frame(struct message *m, uint64_t rel_pc, uint64_t pc, const char *function, const char *file,
                      const char *build)
{
    struct message frame = {.len = 0};
    put_number(&frame, 1, rel_pc);
    put_number(&frame, 2, pc);
    put_number(&frame, 3, 0x7fff);
    put_text(&frame, 4, function);
    put_text(&frame, 6, file);
    put_text(&frame, 8, build);
    put_message(m, 4, &frame);
}

static void put_thread(struct message *m, uint64_t tid, const char *name)
{
    struct message entry = {.len = 0}, thread = {.len = 0}, other = {.len = 0};
    put_number(&thread, 1, tid);
    put_text(&thread, 2, name);
    put_message(&thread, 3, &other); /* a register */
    put_frame(&thread, 0x1234, 0x7f0000001234, "crash_here", "/data/libapp.so", "0011aabb");
    put_frame(&thread, tid, 0x7f0000000000 + tid, "", "/data/libapp.so", "0011aabb");
    put_number(&entry, 1, tid);
    put_message(&entry, 2, &thread);
    put_message(m, 16, &entry);
}

static void make_tombstone(struct message *m)
{
    struct message inner = {.len = 0};
    m->len = 0;
    put_number(m, 1, 1);
    put_text(m, 2, "maker/product/phone:13/X/1:user/keys");
    put_text(m, 4, "2023-05-01 10:00:01.250000000+0200");
    put_number(m, 5, 400);
    put_number(m, 6, 402);
    put_text(m, 9, "com.example.app");
    put_number(&inner, 1, 11);
    put_text(&inner, 2, "SIGSEGV");
    put_number(&inner, 3, 1);
    put_number(&inner, 8, 1);
    put_number(&inner, 9, 0x10);
    put_message(m, 10, &inner);
    put_text(m, 14, "it was empty");
    put_text(&inner, 1, "null pointer dereference");
    put_message(m, 15, &inner);
    put_thread(m, 400, "main");
    put_thread(m, 402, "worker");
    put_number(m, 20, 90);
}

static void a_tombstone_is_a_crash(void **state)
{
    struct message m;
    struct foreign f;
    (void)state;
    make_tombstone(&m);
    foreign_good(&f, tombstone_decode, m.bytes, m.len);
    foreign_check(&f);
    const struct report *report = &f.report;
    assert_string_equal(report->event.trigger, "crash");
    assert_string_equal(report->event.name, "SIGSEGV");
    assert_true(report->event.open && report->exit.known);
    assert_string_equal(report->exit.verdict, "crash");
    assert_int_equal(report->exit.signal.value, 11);
    assert_int_equal(report->exit.address.value, 0x10);
    assert_int_equal(report->event.begin_wall_ms.value, 1682928001250);
    assert_int_equal(report->process.start_wall_ms.value, 1682928001250 - 90000);
    assert_string_equal(report->device.arch, "aarch64");
    assert_string_equal(report->device.os_version, "13");
    assert_string_equal(report->app.name, "com.example.app");
    assert_int_equal(report->event.thread.tid.value, 402);
    assert_string_equal(report->event.thread.name, "worker");
    assert_int_equal(report->thread_count, 1);
    assert_int_equal(report->threads[0].tid, 400);
    uint32_t node = report->event.samples[0].node;
    assert_string_equal(foreign_frame(&f, node, 0), "crash_here");
    assert_string_equal(foreign_frame(&f, node, 1), "/data/libapp.so+0x192");
    assert_int_equal(report->images[0].load, 0x7f0000000000);
    assert_memory_equal(report->images[0].id, "\x00\x11\xaa\xbb", 4);
    assert_true(foreign_has_note(&f, "cause: null pointer dereference"));
    assert_true(foreign_has_note(&f, "abort message: it was empty"));
    assert_true(foreign_has_note(&f, "2 registers"));
    foreign_free(&f);
    foreign_torture(tombstone_decode, (const char *)m.bytes, m.len, 1);
    foreign_read(&f, tombstone_decode, "\x08\x01", 2);
    assert_non_null(strstr(f.fault.text, "this tombstone does not tell which thread crashed"));
    assert_int_equal(f.fault.position, 2);
    foreign_free(&f);
}

static const char native_text[] =
    "*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***\n"
    "Build fingerprint: 'maker/product/phone:12/X/1:user/keys'\n"
    "ABI: 'arm64'\n"
    "Timestamp: 2022-03-04 05:06:07.000000000+0000\n"
    "Cmdline: com.example.app\n"
    "pid: 400, tid: 402, name: worker >> 1  >>> com.example.app <<<\n"
    "signal 6 (SIGABRT), code -1 (SI_QUEUE), fault addr --------\n"
    "Abort message: 'gone'\n"
    "    x0  0000000000000000  x1  0000000000000192\n"
    "\n"
    "backtrace:\n"
    "      #00 pc 000000000004e574  /apex/libc.so (abort+180) (BuildId: cd7952cb40d1a2deca6420c2da7910be)\n"
    "      #01 pc 0000000000001234  /data/app/libapp.so (Work::step(int)+12)\n"
    "\n"
    "--- --- --- --- --- --- --- --- --- --- --- --- --- --- --- ---\n"
    "pid: 400, tid: 400, name: main  >>> com.example.app <<<\n"
    "    #00 pc 00000000000a0000  /apex/libc.so (__epoll_pwait+8)\n"
    "\n"
    "build id:\n"
    "    /data/app/libapp.so (BuildId: 0102. FileSize: 77)\n";

static int keep_id(void *context, const struct decode_found *found)
{
    snprintf(context, 64, "%s", found->report->id);
    return 0;
}

static void id_of(char id[64], const void *bytes, size_t len)
{
    const struct decode_each each = {.context = id, .found = keep_id};
    struct decode_fault fault;
    id[0] = '\0';
    assert_int_equal(decode_each_of(&fault, &each, bytes, len), MIRE_DECODE_OK);
    assert_true(id[0] != '\0');
}

/* A bug report has tombstone_00 and tombstone_00.pb of one crash. */
static void text_and_message_of_a_crash_are_one_report(void **state)
{
    static const char text[] = "*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***\n"
                               "Build fingerprint: 'maker/product/phone:13/X/1:user/keys'\n"
                               "Timestamp: 2023-05-01 10:00:01.250000000+0200\n"
                               "pid: 400, tid: 402, name: worker  >>> com.example.app <<<\n"
                               "signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x10\n"
                               "backtrace:\n"
                               "      #00 pc 0000000000001234  /data/libapp.so (crash_here) (BuildId: 0011aabb)\n";
    static struct message m;
    char of_text[64], of_message[64], of_other[64], other[sizeof text];
    (void)state;
    make_tombstone(&m);
    id_of(of_message, m.bytes, m.len);
    id_of(of_text, text, strlen(text));
    assert_string_equal(of_text, of_message);
    memcpy(other, text, sizeof text);
    memcpy(strstr(other, "01.250"), "01.251", 6);
    id_of(of_other, other, strlen(other));
    assert_string_not_equal(of_other, of_text);
}

static const char java_text[] = "*** *** *** ***\n"
                                "Tombstone maker: 'xCrash 2.4.6'\n"
                                "Crash type: 'java'\n"
                                "Start time: '2019-10-12T03:23:19.580+0800'\n"
                                "Crash time: '2019-10-12T03:23:25.533+0800'\n"
                                "App ID: 'xcrash.sample'\n"
                                "App version: '1.2.3'\n"
                                "ABI: 'arm64'\n"
                                "pid: 21406, tid: 21406, name: main  >>> xcrash.sample <<<\n"
                                "\n"
                                "java stacktrace:\n"
                                "java.lang.RuntimeException: outer\n"
                                "\tat xcrash.Outer.run(Outer.java:57)\n"
                                "Caused by: java.lang.IllegalStateException: inner\n"
                                "\tat xcrash.Inner.go(Inner.java:7)\n"
                                "\tat xcrash.Outer.run(Outer.java:55)\n"
                                "\t... 3 more\n"
                                "\n"
                                "logcat:\n"
                                "\tat not.a.frame(Of.java:1)\n";

static void tombstones_in_text(void **state)
{
    struct foreign f;
    (void)state;
    foreign_good(&f, tombstone_text_decode, native_text, strlen(native_text));
    foreign_check(&f);
    const struct report *report = &f.report;
    assert_string_equal(report->event.trigger, "crash");
    assert_string_equal(report->exit.verdict, "abort");
    assert_int_equal(report->exit.signal.value, 6);
    assert_int_equal((int64_t)report->exit.code.value, -1);
    assert_false(report->exit.address.known);
    assert_int_equal(report->event.begin_wall_ms.value, 1646370367000);
    assert_int_equal(report->event.thread.tid.value, 402);
    assert_string_equal(report->event.thread.name, "worker >> 1");
    assert_string_equal(report->process.name, "com.example.app");
    assert_int_equal(report->thread_count, 1);
    uint32_t node = report->event.samples[0].node;
    assert_string_equal(foreign_frame(&f, node, 0), "abort");
    assert_string_equal(foreign_frame(&f, node, 1), "Work::step(int)");
    assert_string_equal(foreign_frame(&f, report->threads[0].node, 0), "__epoll_pwait");
    for (size_t i = 0; i < report->image_count; i++)
        if (!strcmp(report->images[i].name, "/data/app/libapp.so"))
            assert_memory_equal(report->images[i].id, "\x01\x02", 2);
    assert_true(foreign_has_note(&f, "abort message: gone"));
    foreign_free(&f);
    foreign_torture(tombstone_text_decode, native_text, strlen(native_text), 2);
    foreign_good(&f, tombstone_text_decode, java_text, strlen(java_text));
    foreign_check(&f);
    assert_string_equal(f.report.event.name, "java.lang.IllegalStateException: inner");
    node = f.report.event.samples[0].node;
    assert_int_equal(foreign_depth(&f, node), 2);
    assert_string_equal(foreign_frame(&f, node, 0), "xcrash.Inner.go");
    assert_string_equal(f.report.app.version, "1.2.3");
    assert_int_equal(f.report.event.begin_wall_ms.value, 1570821805533);
    assert_true(foreign_has_note(&f, "caused \"java.lang.RuntimeException: outer\""));
    foreign_free(&f);
    foreign_read(&f, tombstone_text_decode, "*** ***\nABI: 'arm64'\n", 21);
    assert_int_equal(f.outcome, MIRE_DECODE_MALFORMED);
    assert_non_null(strstr(f.fault.text, "line 2"));
    foreign_free(&f);
}

static void the_real_tombstone(void **state)
{
    struct foreign f;
    size_t len;
    char *bytes = foreign_file(&len, "tombstone/sentry-tombstone.pb.gz");
    (void)state;
    if (!bytes)
        skip();
    assert_int_equal(len, 388812);
    foreign_good(&f, tombstone_decode, bytes, len);
    foreign_check(&f);
    assert_int_equal(f.report.thread_count + 1, 62);
    assert_true(foreign_has_note(&f, "2851 mappings"));
    assert_true(foreign_has_note(&f, "183 open files"));
    assert_int_equal(f.report.event.sample_count, 1);
    assert_int_not_equal(foreign_depth(&f, f.report.event.samples[0].node), 0);
    printf("%s %s %s, %zu frames, innermost %s\n", f.report.app.name, f.report.event.name, f.report.event.thread.name,
           foreign_depth(&f, f.report.event.samples[0].node), foreign_frame(&f, f.report.event.samples[0].node, 0));
    foreign_free(&f);
    free(bytes);
}

static void the_real_anr_of_xcrash(void **state)
{
    struct foreign f;
    size_t len;
    char *bytes = foreign_file(&len, "tombstone/tombstone_anr_arm64-v8a.txt");
    (void)state;
    if (!bytes)
        skip();
    foreign_good(&f, tombstone_text_decode, bytes, len);
    foreign_check(&f);
    const struct report *report = &f.report;
    assert_string_equal(report->event.trigger, "busy");
    assert_int_equal(report->thread_count + 1, 35); /* 26 of the runtime, 9 that are not attached */
    assert_string_equal(report->app.name, "xcrash.sample");
    assert_string_equal(report->app.version, "1.2.3-beta456-patch789");
    assert_string_equal(report->device.os_version, "10");
    assert_string_equal(report->device.model, "Pixel");
    assert_int_equal(report->process.start_wall_ms.value, 1570821902029);
    assert_int_equal(report->event.begin_wall_ms.value + report->event.duration_ms, 1570821925645);
    assert_string_equal(report->event.thread.name, "main");
    assert_string_equal(foreign_frame(&f, report->event.samples[0].node, 0), "java.lang.Thread.sleep");
    foreign_free(&f);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_message_of_a_crash_are_one_report),
        cmocka_unit_test(a_tombstone_is_a_crash),
        cmocka_unit_test(tombstones_in_text),
        cmocka_unit_test(the_real_tombstone),
        cmocka_unit_test(the_real_anr_of_xcrash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
