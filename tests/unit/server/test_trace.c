/* The system's trace within a report of Mire's own format: its stacks become the report's. */
#include "decode/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/trace_keep.h"
#include "support/foreign.h"

#define HEAD                                                                                                       \
    "{\"mire\":1,\"id\":\"019aa1b2-c3d4-7e5f-8a6b-0123456789ab\",\"kind\":\"event\",\"app\":{\"name\":\"shop\","   \
    "\"version\":\"1\"},\"device\":{\"install\":\"00112233445566778899aabbccddeeff\",\"os\":\"android\",\"arch\":" \
    "\"aarch64\"},\"process\":{\"pid\":4711,\"name\":\"com.example.shop\"},"

/* A hang of thread 4711 with a stack of Java, and one of thread 4712. */
#define HANG                                                                                                         \
    HEAD "\"images\":[{\"name\":\"java\",\"load\":0,\"java\":true}],\"java\":{\"texts\":[\"a.Own\",\"run\"],"        \
         "\"class\":[0],\"method\":[1]},\"frames\":{\"image\":[0],\"offset\":[0]},\"nodes\":{\"up\":[1],\"frame\":"  \
         "[0]},\"event\":{\"begin_ns\":5,\"duration_ms\":6000,\"open\":true,\"thread\":{\"tid\":4711,\"name\":"      \
         "\"main\"},\"samples\":{\"at_ms\":[1000,2000],\"weight_ms\":[1000,5000],\"node\":[1,1],\"state\":\"SS\"}}," \
         "\"threads\":[{\"tid\":4712,\"name\":\"pool\",\"role\":\"owner\",\"node\":1}]"

/* Nothing was seen. */
#define UNSEEN                                                                                                       \
    HEAD "\"images\":[],\"frames\":{\"image\":[],\"offset\":[]},\"nodes\":{\"up\":[],\"frame\":[]},\"event\":{"      \
         "\"begin_ns\":5,\"duration_ms\":5000,\"open\":true,\"samples\":{\"at_ms\":[],\"weight_ms\":[],\"node\":[]," \
         "\"state\":\"\"}}"

static const char anr[] = "Subject: Input dispatching timed out (com.example.shop/.Cart is not responding. Waited "
                          "8012ms for MotionEvent(x))\n"
                          "----- pid 4711 at 2026-05-04 10:11:12.500000000+0000 -----\n"
                          "Cmd line: com.example.shop\n"
                          "ABI: 'arm64'\n"
                          "DALVIK THREADS (3):\n"
                          "\"main\" prio=5 tid=1 Blocked\n"
                          "  | sysTid=4711 nice=-10\n"
                          "  at a.Cart.total(Cart.java:7)\n"
                          "  - waiting to lock <0x0a> (a a.Prices) held by thread 2\n"
                          "  at a.Cart.onClick(Cart.java:3)\n"
                          "\n"
                          "\"pool\" prio=5 tid=2 Runnable\n"
                          "  | sysTid=4712 nice=0\n"
                          "  native: #00 pc 0000000000012345  /system/lib64/libz.so (inflate+140) (BuildId: 0a0b0c)\n"
                          "  at a.Prices.read(Prices.java:9)\n"
                          "  - locked <0x0a> (a a.Prices)\n"
                          "\n"
                          "\"late\" prio=5 tid=3 Waiting\n"
                          "  | sysTid=4713 nice=0\n"
                          "  at java.lang.Object.wait(Native method)\n"
                          "\n"
                          "----- end 4711 -----\n";

/* Read a report with a trace. */
static void read_traced(struct foreign *out, const char *head, const void *trace, size_t len)
{
    char *text = malloc(strlen(head) + 2 * len + 32), *at;
    arena_init(&out->arena, MIRE_DECODE_ARENA_MAX);
    at = text + sprintf(text, "%s,\"trace\":\"", head);
    for (size_t i = 0; i < len; i++)
        at += sprintf(at, "%02x", ((const unsigned char *)trace)[i]);
    at += sprintf(at, "\"}");
    out->outcome = decode_report(&out->report, &out->arena, &out->fault, "mire", "identity", text, (size_t)(at - text));
    free(text);
}

static void traced(struct foreign *out, const char *head, const void *trace, size_t len)
{
    read_traced(out, head, trace, len);
    if (out->outcome)
        print_error("%s %s\n", out->fault.path, out->fault.text);
    assert_int_equal(out->outcome, MIRE_DECODE_OK);
    foreign_check(out);
}

/* The method of the innermost frame. */
static const char *method_of(const struct report *report, uint32_t node)
{
    const struct report_frame *frame = &report->frames[report->nodes[node].frame];
    assert_int_not_equal(node, 0);
    if (frame->image < 0 || !report->images[frame->image].java)
        return frame->names ? frame->names->function : "";
    return report->java[frame->offset].method;
}

static const struct report_thread *thread_of(const struct report *report, uint64_t tid)
{
    for (size_t i = 0; i < report->thread_count; i++)
        if (report->threads[i].tid == tid)
            return &report->threads[i];
    return NULL;
}

static bool has_note(const struct report *report, const char *text)
{
    for (size_t i = 0; i < report->note_count; i++)
        if (strstr(report->notes[i], text))
            return true;
    return false;
}

static void stacks_of_the_trace_join_the_hang(void **state)
{
    struct foreign f;
    (void)state;
    traced(&f, HANG, anr, sizeof anr - 1);
    const struct report *report = &f.report;
    const struct report_event *event = &report->event;
    assert_int_equal(event->duration_ms, 6000); /* the library's own */
    assert_int_equal(event->sample_count, 3);
    assert_string_equal(method_of(report, event->samples[0].node), "run");
    assert_string_equal(method_of(report, event->samples[2].node), "total");
    assert_int_equal(event->samples[2].weight_ms, 0); /* the shares stay as they were measured */
    assert_true(event->lock.known && event->lock.owner_tid.value == 4712);
    assert_int_equal(report->thread_count, 2);
    assert_string_equal(thread_of(report, 4712)->role, "owner");
    assert_string_equal(method_of(report, thread_of(report, 4712)->node), "inflate");
    assert_string_equal(method_of(report, report->nodes[thread_of(report, 4712)->node].parent), "read");
    assert_string_equal(method_of(report, thread_of(report, 4713)->node), "wait");
    assert_true(has_note(report, "Input dispatching timed out"));
    foreign_free(&f);
}

static void an_event_that_was_not_seen_is_the_traces(void **state)
{
    struct foreign f;
    (void)state;
    traced(&f, UNSEEN, anr, sizeof anr - 1);
    const struct report_event *event = &f.report.event;
    assert_int_equal(event->duration_ms, 8012);
    assert_int_equal(event->thread.tid.value, 4711);
    assert_int_equal(event->sample_count, 1);
    assert_int_equal(event->samples[0].weight_ms, 8012);
    assert_string_equal(method_of(&f.report, event->samples[0].node), "total");
    assert_true(event->foreground_known && event->foreground);
    assert_int_equal(f.report.thread_count, 2);
    assert_string_equal(f.report.app.name, "shop"); /* not the trace's */
    foreign_free(&f);
}

static void a_hang_of_another_thread_keeps_its_samples(void **state)
{
    struct foreign f;
    char *head = strdup(HANG), *tid = strstr(head, "4711,\"name\":\"main\"");
    (void)state;
    memcpy(tid, "4713", 4);
    traced(&f, head, anr, sizeof anr - 1);
    assert_int_equal(f.report.event.sample_count, 2);
    assert_false(f.report.event.lock.known);
    assert_string_equal(method_of(&f.report, thread_of(&f.report, 4711)->node), "total");
    assert_null(thread_of(&f.report, 4713)); /* it is the event's */
    foreign_free(&f);
    free(head);
}

static void a_tombstone_joins_cut_or_whole(void **state)
{
    size_t len;
    FILE *file = fopen(MIRE_SOURCE_DIR "/tests/fuzz/corpus/tombstone/small", "rb");
    char bytes[65536];
    bool named = false;
    (void)state;
    assert_non_null(file);
    len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t cut = 1; cut <= len; cut++) {
        struct foreign f;
        traced(&f, UNSEEN, bytes, cut);
        named = f.report.event.sample_count == 1 &&
                !strcmp(method_of(&f.report, f.report.event.samples[0].node), "crash_here");
        assert_true(named || has_note(&f.report, "trace is left out"));
        foreign_free(&f);
    }
    assert_true(named);
}

/* The device sends no more than stacks, and they are still the trace's. */
static void a_tombstone_without_memory_reads_the_same(void **state)
{
    size_t len;
    uint8_t *bytes = (uint8_t *)foreign_file(&len, "tombstone/sentry-tombstone.pb.gz");
    struct foreign whole, kept;
    (void)state;
    if (!bytes)
        skip();
    traced(&whole, UNSEEN, bytes, len);
    size_t size = mire__trace_keep(bytes, len);
    assert_true(size < len / 2);
    assert_null(memmem(bytes, size, "beginning of", 12)); /* a log's */
    assert_null(memmem(bytes, size, "stack", 5));
    traced(&kept, UNSEEN, bytes, size);
    assert_int_equal(kept.report.thread_count, whole.report.thread_count);
    assert_int_equal(kept.report.frame_count, whole.report.frame_count);
    assert_int_equal(kept.report.node_count, whole.report.node_count);
    assert_string_equal(kept.report.event.name, whole.report.event.name);
    assert_true(has_note(&kept.report, "0 registers, 0 pieces of memory, 0 mappings, 0 logs and 0 open files"));
    foreign_free(&whole);
    foreign_free(&kept);
    for (size_t cut = 0; cut < size; cut += 7) { /* bounds: a sanitizer looks */
        uint8_t *copy = malloc(cut + 1);
        memcpy(copy, bytes, cut);
        copy[cut / 2] ^= 0x41;
        assert_true(mire__trace_keep(copy, cut) <= cut);
        free(copy);
    }
    free(bytes);
}

static void a_text_ends_before_memory_and_logs(void **state)
{
    static const char *const sections[] = {
        "memory near x0:\n", "memory map (3 entries):\n", "--------- beginning of main\n", "open files:\n", "logcat:\n",
        "stack:\n"};
    (void)state;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        char text[256];
        size_t len = (size_t)snprintf(text, sizeof text, "backtrace:\n  #00 stack: x\n\n%ssecret\n", sections[i]);
        size_t kept = mire__trace_keep((uint8_t *)text, len);
        assert_int_equal(kept, strlen("backtrace:\n  #00 stack: x\n\n"));
    }
}

static void a_trace_of_no_kind_is_left_out_and_told(void **state)
{
    struct foreign f;
    (void)state;
    traced(&f, HANG, "\xff\x00garbage", 9);
    assert_int_equal(f.report.event.sample_count, 2);
    assert_true(has_note(&f.report, "the system's trace is left out: no trace of Android"));
    foreign_free(&f);
    traced(&f, HANG, anr, (size_t)(strstr(anr, "\"main\"") - anr)); /* no thread */
    assert_true(has_note(&f.report, "the system's trace is left out: line "));
    foreign_free(&f);
}

static void real_traces_join(void **state)
{
    static const char *const names[] = {"anr/bitdrift-anr1.txt", "anr/bitdrift-anr_deadlock.txt",
                                        "anr/bitdrift-anr_sleep_main_thread.txt", "tombstone/sentry-tombstone.pb.gz",
                                        "tombstone/tombstone_anr_arm64-v8a.txt"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct foreign f;
        size_t len;
        char *bytes = foreign_file(&len, names[i]);
        if (!bytes)
            skip();
        traced(&f, UNSEEN, bytes, len);
        assert_int_equal(f.report.event.sample_count, 1);
        assert_true(f.report.thread_count > 20);
        assert_false(has_note(&f.report, "trace is left out"));
        foreign_free(&f);
        traced(&f, HANG, bytes, len);
        assert_int_equal(f.report.event.sample_count, 2); /* another process's thread */
        foreign_free(&f);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_of_the_trace_join_the_hang),
        cmocka_unit_test(an_event_that_was_not_seen_is_the_traces),
        cmocka_unit_test(a_hang_of_another_thread_keeps_its_samples),
        cmocka_unit_test(a_tombstone_joins_cut_or_whole),
        cmocka_unit_test(a_tombstone_without_memory_reads_the_same),
        cmocka_unit_test(a_text_ends_before_memory_and_logs),
        cmocka_unit_test(a_trace_of_no_kind_is_left_out_and_told),
        cmocka_unit_test(real_traces_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
