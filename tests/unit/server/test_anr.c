/* Android: dumps of all threads with stacks, lock waits and times; ends of runs; refused input. */
#include "decode/aei.h"
#include "decode/anr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/foreign.h"

#define HEAD                                                                     \
    "----- pid 4711 at 2024-02-29 23:59:58.500000000-0130 -----\n"               \
    "Cmd line: com.example.app:remote\n"                                         \
    "Build fingerprint: 'maker/product/phone:14/UQ1A.1/123:user/release-keys'\n" \
    "ABI: 'arm64'\n"                                                             \
    "DALVIK THREADS (3):\n"

static const char three_threads[] =
    "Subject: Input dispatching timed out (1f com.example.app/.Main (server) is not responding. Waited 8012ms for "
    "MotionEvent(x))\n"
    "RssKb: 2048\n" HEAD "\"main\" prio=5 tid=1 Blocked\n"
    "  | sysTid=4711 nice=-10 cgrp=top-app\n"
    "  | state=S schedstat=( 1 2 3 ) utm=72 stm=6 core=1 HZ=100\n"
    "  at com.example.Work.step(Work.kt:151)\n"
    "  - waiting to lock <0x0000000a> (a java.lang.String) held by thread 7\n"
    "  - locked <0x0b> (a java.lang.String)\n"
    "  at com.example.Work$1.run(SourceFile:9)\n"
    "  at java.lang.Object.wait!(Native method)\n"
    "\n"
    "\"pool \"one\" > thread\" daemon prio=5 tid=7 Blocked\n"
    "  | sysTid=4720 nice=0\n"
    "  native: #00 pc 0000000000012345  /system/lib64/libart.so (art::Foo(int, (char) 1)+140) (BuildId: 0a0B0c)\n"
    "  native: #01 pc 0000000000000010  /data/app/a b (1)/base.apk (offset 0x1000) (void f<int>()+4)\n"
    "  native: #02 pc 0000000000000020  <anonymous:0000007b>\n"
    "  at com.example.Store.put(Store.java)\n"
    "  - waiting to lock <0x0c> (a com.example.Store)\n"
    "  - locked <0xa> (a java.lang.String)\n"
    "\n"
    "\"holder\" prio=5 tid=9 Blocked\n"
    "  | sysTid=4722 nice=0\n"
    "  at com.example.Net.read(Net.java:12)\n"
    "  - locked <0x0c> (a com.example.Store)\n"
    "  - waiting to lock <0x0b> (a java.lang.String) held by thread 1\n"
    "\n"
    "\"native-only\" prio=10 (not attached)\n"
    "  | sysTid=4800 nice=0\n"
    "  kernel: __switch_to+0x1\n"
    "  #00 pc 00000000000a1234  /apex/libc.so (nanosleep)\n"
    "\n"
    "----- end 4711 -----\n"
    "----- pid 99 at 2024-02-29 23:59:58 -----\n";

static void a_dump_is_an_event_with_its_threads(void **state)
{
    struct foreign f;
    (void)state;
    foreign_good(&f, anr_decode, three_threads, strlen(three_threads));
    foreign_check(&f);
    const struct report *report = &f.report;
    assert_int_equal(report->kind, MIRE_REPORT_EVENT);
    assert_string_equal(report->event.trigger, "busy");
    assert_int_equal(report->event.duration_ms, 8012);
    assert_int_equal(report->event.threshold_ms, 5000);
    assert_true(report->event.begin_wall_ms.known); /* 2024-03-01 01:29:58.5 UTC, less 8.012 s */
    assert_int_equal(report->event.begin_wall_ms.value, 1709256598500 - 8012);
    assert_true(report->event.foreground_known && report->event.foreground);
    assert_string_equal(report->app.name, "com.example.app");
    assert_string_equal(report->process.name, "com.example.app:remote");
    assert_string_equal(report->device.os_version, "14");
    assert_string_equal(report->device.model, "phone");
    assert_string_equal(report->device.arch, "aarch64");
    assert_int_equal(report->process.rss_bytes.value, 2048 * 1024);
    assert_int_equal(report->process.pid, 4711);
    assert_int_equal(report->event.thread.tid.value, 4711);
    assert_int_equal(report->process.thread_count.value, 4);
    assert_int_equal(report->thread_count, 3);
    assert_string_equal(report->threads[0].name, "pool \"one\" > thread");
    assert_int_equal(report->threads[2].tid, 4800);
    assert_int_equal(report->event.sample_count, 1);
    assert_int_equal(report->event.samples[0].state, 'S');
    foreign_free(&f);
}

static void frames_of_java_and_native_code(void **state)
{
    struct foreign f;
    (void)state;
    foreign_good(&f, anr_decode, three_threads, strlen(three_threads));
    const struct report *report = &f.report;
    uint32_t main = report->event.samples[0].node, pool = report->threads[0].node;
    assert_int_equal(foreign_depth(&f, main), 3);
    assert_string_equal(foreign_frame(&f, main, 0), "com.example.Work.step");
    assert_string_equal(foreign_frame(&f, main, 1), "com.example.Work$1.run");
    assert_string_equal(foreign_frame(&f, main, 2), "java.lang.Object.wait");
    const struct report_java *place = &report->java[report->frames[report->nodes[main].frame].offset];
    assert_string_equal(place->file, "Work.kt");
    assert_int_equal(place->line, 151);
    assert_string_equal(foreign_frame(&f, pool, 0), "art::Foo(int, (char) 1)");
    assert_string_equal(foreign_frame(&f, pool, 1), "void f<int>()");
    assert_string_equal(foreign_frame(&f, pool, 2), "+0x20");
    assert_string_equal(foreign_frame(&f, pool, 3), "com.example.Store.put");
    const struct report_frame *art = &report->frames[report->nodes[pool].frame];
    assert_int_equal(art->offset, 0x12345);
    assert_string_equal(report->images[art->image].name, "/system/lib64/libart.so");
    assert_int_equal(report->images[art->image].id_len, 3);
    assert_memory_equal(report->images[art->image].id, "\x0a\x0b\x0c", 3);
    const struct report_frame *apk = &report->frames[report->nodes[report->nodes[pool].parent].frame];
    assert_string_equal(report->images[apk->image].name, "/data/app/a b (1)/base.apk");
    assert_string_equal(foreign_frame(&f, report->threads[2].node, 0), "nanosleep");
    foreign_free(&f);
}

static void who_waits_for_whom_and_the_cycle(void **state)
{
    struct foreign f;
    (void)state;
    foreign_good(&f, anr_decode, three_threads, strlen(three_threads));
    const struct report *report = &f.report;
    assert_true(report->event.lock.known);
    assert_int_equal(report->event.lock.address, 0x0a);
    assert_int_equal(report->event.lock.owner_tid.value, 4720);
    assert_int_equal(report->threads[0].lock.owner_tid.value, 4722); /* not in the dump: found by the lock */
    assert_int_equal(report->threads[1].lock.owner_tid.value, 4711);
    assert_false(report->threads[2].lock.known);
    assert_true(foreign_has_note(
        &f, "lock cycle: \"main\" waits for <0x0000000a>, held by \"pool \"one\" > thread\" waits for"));
    assert_true(foreign_has_note(&f, "held by \"main\""));
    assert_true(foreign_has_note(&f, "1 frames of the kernel"));
    assert_true(foreign_has_note(&f, "1 other process"));
    foreign_free(&f);
}

static void a_cycle_beside_the_main_thread_is_told_once(void **state)
{
    static const char text[] =
        HEAD "\"main\" prio=5 tid=1 Blocked\n  - waiting to lock <0x1> (a X) held by thread 2\n\n"
             "\"a\" prio=5 tid=2 Blocked\n  - waiting to lock <0x2> (a X) held by thread 3\n\n"
             "\"b\" prio=5 tid=3 Blocked\n  - waiting to lock <0x3> (a X) held by thread 2\n\n"
             "\"c\" prio=5 tid=4 Blocked\n  - waiting to lock <0x1> (a X) held by thread 4\n\n";
    struct foreign f;
    size_t cycles = 0;
    (void)state;
    foreign_good(&f, anr_decode, text, strlen(text));
    for (size_t i = 0; i < f.report.note_count; i++)
        cycles += strstr(f.report.notes[i], "lock cycle:") != NULL;
    assert_int_equal(cycles, 2); /* a and b; c, which waits for itself */
    foreign_free(&f);
}

static void lengths_of_subjects(void **state)
{
    static const struct {
        const char *subject;
        uint32_t duration_ms, threshold_ms;
    } rows[] = {{"Subject: Broadcast of Intent { act=x }", 10000, 10000},
                {"Subject: Broadcast of Intent { act=x }, waited 10003 ms for onReceive", 10003, 10000},
                {"Subject: executing service com.a/.S, waited 20s", 20000, 20000},
                {"Subject: executing service com.a/.S", 20000, 20000},
                {"Subject: Input dispatching timed out (Waited 5.2s for x)", 5000, 5000},
                {"Nothing of the kind", 5000, 5000}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct foreign f;
        char text[1024];
        snprintf(text, sizeof text, "%s\r\n" HEAD "\"main\" prio=5 tid=1 Native\n", rows[i].subject);
        foreign_good(&f, anr_decode, text, strlen(text));
        assert_int_equal(f.report.event.duration_ms, rows[i].duration_ms);
        assert_int_equal(f.report.event.threshold_ms, rows[i].threshold_ms);
        assert_int_equal(foreign_has_note(&f, "the length of the hang is unknown"), !strstr(rows[i].subject, "aited"));
        foreign_free(&f);
    }
}

static void what_is_no_dump_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *part;
    } rows[] = {{"", "line 0"},
                {"one\ntwo\n", "line 2: there is no line \"----- pid N at TIME -----\""},
                {HEAD, "line 5: the dump has no thread"},
                {HEAD "\"no attributes\"\n", "line 6: this is no thread's header"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct foreign f;
        foreign_read(&f, anr_decode, rows[i].text, strlen(rows[i].text));
        assert_int_equal(f.outcome, MIRE_DECODE_MALFORMED);
        assert_non_null(strstr(f.fault.text, rows[i].part));
        foreign_free(&f);
    }
}

static void line_ends_and_bytes_of_any_kind(void **state)
{
    struct foreign f, g;
    char crlf[2 * sizeof three_threads];
    size_t len = 0;
    (void)state;
    for (const char *at = three_threads; *at; at++) {
        if (*at == '\n')
            crlf[len++] = '\r';
        crlf[len++] = *at;
    }
    foreign_good(&f, anr_decode, three_threads, strlen(three_threads));
    foreign_good(&g, anr_decode, crlf, len);
    assert_int_equal(f.report.node_count, g.report.node_count);
    assert_int_equal(f.report.frame_count, g.report.frame_count);
    foreign_free(&g);
    foreign_free(&f);
    static const char odd[] = HEAD "\"\xff\xfe main\" prio=5 tid=1 Native\n  at a.b.c\xc3(F\xff.java:99999999999)\n";
    foreign_good(&f, anr_decode, odd, sizeof odd - 1);
    foreign_check(&f);
    foreign_free(&f);
    foreign_torture(anr_decode, three_threads, strlen(three_threads), 3);
}

/* ---- how runs ended ---- */

static const char exit_info[] =
    "ACTIVITY MANAGER PROCESS EXIT INFO (dumpsys activity exit-info)\n"
    "Last Timestamp of Persistence Into Persistent Storage: 2026-07-12 06:00:00.000\n"
    "  package: com.example.app\n"
    "    Historical Process Exit for uid=10336\n"
    "        ApplicationExitInfo #0:\n"
    "          timestamp=2026-07-12 06:03:48.426 pid=13137 realUid=10336 packageUid=10336 definingUid=10336 user=0\n"
    "          process=com.example.app:web reason=3 (LOW_MEMORY) subreason=0 (UNKNOWN) status=0\n"
    "          importance=100 pss=0.00 rss=131MB description=null state=empty trace=null\n"
    "        ApplicationExitInfo #1:\n"
    "          timestamp=2026-07-12 05:00:00.000 pid=2 realUid=1\n"
    "          process=com.example.app reason=5 (APP CRASH(NATIVE)) status=6\n"
    "          importance=400 description=a reason=9 status=11\n"
    "        ApplicationExitInfo #2:\n"
    "          timestamp=2026-07-12 04:00:00.000 pid=3\n"
    "          process=com.example.app reason=6 (ANR) subreason=0 (UNKNOWN) status=0\n"
    "        ApplicationExitInfo #3:\n"
    "          timestamp=2026-07-12 03:00:00.000 pid=4\n"
    "          process=com.example.app reason=13 (OTHER KILLS BY SYSTEM) subreason=2 status=0\n"
    "          importance=400 pss=1\n"
    "  package: com.other\n"
    "        ApplicationExitInfo #0:\n"
    "          timestamp=2026-07-12 02:00:00.000 pid=5\n"
    "          process=com.other reason=10 (USER REQUESTED) status=0\n";

static void ends_of_runs(void **state)
{
    static const char *const verdicts[] = {"foom", "abort", "watchdog_kill", "background_kill"};
    struct foreign f;
    (void)state;
    foreign_good(&f, aei_decode, exit_info, strlen(exit_info));
    assert_int_equal(f.report.kind, MIRE_REPORT_SESSION);
    assert_string_equal(f.report.app.name, "com.example.app");
    assert_int_equal(f.report.session.end_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(f.report.session.ends[i].verdict, verdicts[i]);
    assert_int_equal(f.report.session.ends[0].seen_wall_ms.value, 1783836228426);
    assert_true(foreign_has_note(&f, "1 records"));
    assert_true(foreign_has_note(&f, "no zone"));
    foreign_free(&f);
    static const char one[] =
        "ApplicationExitInfo(timestamp=1783836228426 pid=1 realUid=2 user=0 process=com.a reason=10 "
        "(USER REQUESTED) status=0 importance=100 pss=0 rss=0 description=x)\n";
    foreign_good(&f, aei_decode, one, strlen(one));
    assert_string_equal(f.report.session.ends[0].verdict, "user_quit");
    assert_int_equal(f.report.session.ends[0].seen_wall_ms.value, 1783836228426);
    foreign_free(&f);
    foreign_read(&f, aei_decode, "Unknown command: exit-info\n", 27);
    assert_int_equal(f.outcome, MIRE_DECODE_MALFORMED);
    assert_non_null(strstr(f.fault.text, "line 1: the text ends without a record"));
    foreign_free(&f);
    foreign_torture(aei_decode, exit_info, strlen(exit_info), 5);
}

/* ---- real ones ---- */

static void real_dumps_have_the_threads_that_they_say(void **state)
{
    static const struct {
        const char *file;
        size_t attached, others;
        uint32_t duration_ms;
        const char *innermost;
        uint64_t dump_ms;
    } rows[] = {
        {"anr/bitdrift-anr1.txt", 32, 4, 5000, "syscall", 1742581840154},
        {"anr/bitdrift-anr_deadlock.txt", 38, 4, 5002, "io.bitdrift.gradletestapp.FatalIssueGenerator.startProcessing",
         1752741061609},
        {"anr/bitdrift-anr_sleep_main_thread.txt", 36, 7, 5000, "java.lang.Thread.sleep", 1752741184981},
        {"anr/sentry-thread_dump.txt", 29, 1, 5000, "io.sentry.samples.android.MainActivity$2.run", 1680638791064},
        {"anr/sentry-thread_dump_no_stacktrace.txt", 2, 0, 5000, "io.sentry.samples.android.MainActivity.onCreate",
         1704103200000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct foreign f;
        size_t len;
        char *bytes = foreign_file(&len, rows[i].file);
        if (!bytes)
            skip();
        foreign_good(&f, anr_decode, bytes, len);
        foreign_check(&f);
        assert_int_equal(f.report.thread_count + 1, rows[i].attached + rows[i].others);
        assert_int_equal(f.report.event.duration_ms, rows[i].duration_ms);
        assert_int_equal(f.report.event.begin_wall_ms.value + rows[i].duration_ms, rows[i].dump_ms);
        assert_string_equal(foreign_frame(&f, f.report.event.samples[0].node, 0), rows[i].innermost);
        foreign_free(&f);
        free(bytes);
    }
}

static void the_real_cross_lock_is_found(void **state)
{
    struct foreign f;
    size_t len;
    char *bytes = foreign_file(&len, "anr/bitdrift-anr_deadlock.txt");
    (void)state;
    if (!bytes)
        skip();
    foreign_good(&f, anr_decode, bytes, len);
    assert_true(foreign_has_note(&f,
                                 "lock cycle: \"main\" waits for <0x0b7a434d>, held by "
                                 "\"background_thread_for_deadlock_demo\" waits for <0x0e1e4e02>, held by \"main\""));
    assert_int_equal(f.report.event.lock.owner_tid.value, 20298);
    foreign_free(&f);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_is_an_event_with_its_threads),
        cmocka_unit_test(frames_of_java_and_native_code),
        cmocka_unit_test(who_waits_for_whom_and_the_cycle),
        cmocka_unit_test(a_cycle_beside_the_main_thread_is_told_once),
        cmocka_unit_test(lengths_of_subjects),
        cmocka_unit_test(what_is_no_dump_is_refused_with_its_line),
        cmocka_unit_test(line_ends_and_bytes_of_any_kind),
        cmocka_unit_test(ends_of_runs),
        cmocka_unit_test(real_dumps_have_the_threads_that_they_say),
        cmocka_unit_test(the_real_cross_lock_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
