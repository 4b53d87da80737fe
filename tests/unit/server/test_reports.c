/*
 * The formats of other programs: what each kind of report becomes, from documents that were written for it; and every
 * real file of others, where such files are at hand (../shared/data/reports).
 */
#include "support/imports.h"

#include <zlib.h>

#define DATA MIRE_SOURCE_DIR "/../shared/data/reports/"

static void read_it(struct imported *out, const char *text)
{
    import_all(out, NULL, text, strlen(text), 0, false);
    if (out->outcome != MIRE_DECODE_OK)
        fail_msg("%zu %s: %s\n%s", out->fault.position, out->fault.path, out->fault.text, text);
}

/* The same in pieces of one byte. Frees both. */
static void read_in_pieces(struct imported *whole)
{
    struct imported other;
    import_all(&other, NULL, whole->bytes, whole->len, 1, false);
    assert_same_reports(whole, &other);
    import_done(&other);
    import_done(whole);
}

/* ---- Matrix ---- */

#define IMAGES                                                                                                \
    "\"binary_images\":[{\"image_addr\":4294967296,\"image_size\":1048576,\"name\":\"/var/A/Shop.app/Shop\"," \
    "\"uuid\":\"0A1B2C3D-0000-4000-8000-000000000001\"},"                                                     \
    "{\"image_addr\":-8589934592,\"image_size\":65536,\"name\":\"/usr/lib/libobjc.A.dylib\",\"uuid\":\"\"}],"
#define LAG(dump, name, threads)                                                                                       \
    "{" IMAGES "\"report\":{\"version\":\"3.2.0\",\"id\":\"63784EB4-5ACC-4B59-B987-06A1464DDA3B\","                    \
    "\"timestamp\":1700000000,\"type\":\"standard\"},\"system\":{\"CFBundleExecutablePath\":\"/var/A/Shop.app/Shop\"," \
    "\"device_app_hash\":\"ab\",\"CFBundleIdentifier\":\"org.example.shop\",\"application_stats\":{\"active_time\":1." \
    ":}},"                                                                                                             \
    "\"crash\":{\"error\":{\"type\":\"user\",\"user_reported\":{\"name\":\"" name "\",\"dump_type\":" dump             \
    ",\"snapshot_status\":-2}},\"threads\":[" threads "],\"threads_profile\":[]}}"
#define HANDLED                                                                                                   \
    "{\"name\":\"HandledThread\",\"index\":0,\"crashed\":false,\"backtrace\":{\"contents\":["                     \
    "{\"instruction_addr\":4294967400,\"repeat_count\":7},{\"instruction_addr\":-8589934492,\"repeat_count\":9}," \
    "{\"instruction_addr\":4294968000,\"repeat_count\":12}]}}"
#define MAIN_NOW "{\"index\":0,\"backtrace\":{\"contents\":[{\"instruction_addr\":4294967999}]}}"
#define MONITOR                                                                                                 \
    "{\"index\":3,\"crashed\":true,\"current_thread\":true,\"backtrace\":{\"contents\":[{\"instruction_addr\":" \
    "4294970000}]}}"

static void a_lag_of_matrix_is_a_hang_of_the_ring(void **state)
{
    struct imported r;
    (void)state;
    read_it(&r, LAG("2001", "2001", HANDLED "," MAIN_NOW "," MONITOR));
    assert_int_equal(r.count, 1);
    assert_string_equal(r.formats[0], "matrix");
    const struct report *report = r.reports[0];
    assert_string_equal(report->event.trigger, "busy");
    assert_true(report->event.foreground_known && report->event.foreground);
    assert_int_equal(report->event.sample_count, 1);
    assert_int_equal(report->event.samples[0].weight_ms, 350); /* 7 samples of the ring */
    assert_true(report->event.hot.known);
    assert_int_equal(report->event.hot.repeat_count, 3);
    assert_int_equal(report->event.hot.repeat[2], 12);
    assert_int_equal(report->thread_count, 2);
    assert_string_equal(report->threads[1].role, "monitor"); /* it `crashed`, and is nobody's */
    /* A negative address is one modulo 2^64. No vmaddr is told: offsets count from where the module begins. */
    assert_string_equal(import_stack(&r, report, report->event.samples[0].node),
                        "/var/A/Shop.app/Shop+104 < /usr/lib/libobjc.A.dylib+99 < /var/A/Shop.app/Shop+703");
    assert_true(report->images[0].from_start);
    assert_true(import_notes(report, "how long it lasted"));
    assert_true(import_notes(report, "snapshot_status -2"));
    read_in_pieces(&r);
}

static void the_dump_type_wins_over_the_name(void **state)
{
    struct imported killed, lag;
    (void)state;
    read_it(&killed, LAG("2010", "2001", HANDLED));
    read_it(&lag, LAG("2001", "2001", HANDLED));
    assert_true(killed.reports[0]->event.open);
    assert_string_equal(killed.reports[0]->exit.verdict, "watchdog_kill");
    assert_string_not_equal(killed.reports[0]->id, lag.reports[0]->id); /* one file, told twice */
    import_done(&killed);
    import_done(&lag);
    read_it(&lag, LAG("2007", "2007", HANDLED));
    assert_true(lag.reports[0]->event.launch);
    import_done(&lag);
    read_it(&lag, LAG("2002", "2002", HANDLED));
    assert_true(lag.reports[0]->event.foreground_known && !lag.reports[0]->event.foreground);
    import_done(&lag);
}

static void matrix_cpu_weighs_threads_by_their_use(void **state)
{
    struct imported r;
    (void)state;
    read_it(&r,
            LAG("2003", "2003",
                "{\"index\":4,\"cpu_usage\":81.:,\"backtrace\":{\"contents\":[{\"instruction_addr\":4294967400}]}},"
                "{\"index\":5,\"cpu_usage\":12.5,\"backtrace\":{\"contents\":[{\"instruction_addr\":4294968000}]}}"));
    const struct report *report = r.reports[0];
    assert_string_equal(report->event.trigger, "cpu");
    assert_int_equal(report->event.sample_count, 2);
    assert_int_equal(report->event.samples[0].weight_ms, 82); /* "81.:" is 81.9999999, cut or rounded by its producer */
    assert_int_equal(report->event.samples[1].thread, 2);
    read_in_pieces(&r);
}

#define TREES(dump, tree)                                                                                 \
    "{\"report\":{\"version\":\"0.5\",\"id\":\"A\",\"timestamp\":1700000000,\"type\":\"custom\"}," IMAGES \
    "\"system\":{},\"dump_type\":" dump ",\"custom_info\":{\"scene\":\"feed\",\"frame_interval\":180},"   \
    "\"stack_string\":[" tree "]}"
#define TREE                                                                              \
    "{\"instruction_address\":4294967400,\"object_name\":\"a\",\"sample\":10,\"child\":[" \
    "{\"instruction_address\":4294967500,\"object_name\":\"b\",\"sample\":7,\"child\":["  \
    "{\"instruction_address\":4294967600,\"object_name\":\"c\",\"sample\":4}]},"          \
    "{\"instruction_address\":4294967700,\"object_name\":\"d\",\"sample\":1}]}"

static const char *stack_of_weight(struct imported *r, uint32_t weight)
{
    const struct report *report = r->reports[0];
    for (size_t i = 0; i < report->event.sample_count; i++)
        if (report->event.samples[i].weight_ms == weight)
            return import_stack(r, report, report->event.samples[i].node);
    return "";
}

static void trees_of_matrix_have_their_root_at_either_end(void **state)
{
    struct imported r;
    (void)state;
    read_it(&r, TREES("2014", TREE));
    assert_string_equal(r.reports[0]->event.trigger, "frames");
    assert_string_equal(r.reports[0]->event.name, "feed");
    assert_int_equal(r.reports[0]->event.frames.longest_ms.value, 180);
    assert_int_equal(r.reports[0]->event.sample_count, 4);
    assert_string_equal(stack_of_weight(&r, 4), "c < b < a");
    assert_string_equal(stack_of_weight(&r, 3), "b < a");
    assert_string_equal(stack_of_weight(&r, 1), "d < a");
    assert_string_equal(stack_of_weight(&r, 2), "a");
    read_in_pieces(&r);
    read_it(&r, TREES("2011", TREE)); /* power: the root is the leaf */
    assert_string_equal(r.reports[0]->event.trigger, "power");
    assert_string_equal(stack_of_weight(&r, 4), "a < b < c");
    assert_string_equal(stack_of_weight(&r, 1), "a < d");
    read_in_pieces(&r);
}

static void memory_of_matrix_keeps_what_its_names_hide(void **state)
{
    struct imported r;
    (void)state;
    read_it(
        &r,
        "{\"head\":{\"protocol_ver\":1,\"phone\":\"iPhone12,1\",\"launch_time\":1699999999,\"launch_time\":1700000000,"
        "\"report_time\":1700000123000,\"app_uuid\":\"0a1b2c3d000040008000000000000001\"},\"items\":["
        "{\"tag\":\"iOS_MemStat\",\"name\":\"Malloc 1.50 "
        "KiB\",\"size\":3072,\"count\":2,\"scene\":\"feed\",\"stacks\":["
        "{\"caller\":\"x@-1\",\"size\":3072,\"count\":2,\"frames\":[{\"uuid\":\"0a1b2c3d000040008000000000000001\","
        "\"offset\":4096},{\"uuid\":\"\",\"offset\":0}]}]},"
        "{\"name\":\"Malloc 1.50 KiB\",\"size\":1536,\"count\":1,\"stacks\":[]},"
        "{\"name\":\"Unknow\",\"size\":0,\"count\":3,\"stacks\":[{\"size\":64,\"count\":3,\"frames\":[]}]},"
        "{\"name\":\"UIImage\",\"size\":100,\"count\":1},"
        "{\"name\":\"VM: IOSurface\",\"size\":65536,\"count\":4}]}");
    const struct report *report = r.reports[0];
    assert_int_equal(report->kind, MIRE_REPORT_MEMORY);
    assert_string_equal(report->memory.name, "feed");
    assert_int_equal(report->memory.category_count, 4);
    assert_string_equal(report->memory.categories[0].name, "VM: IOSurface");
    assert_string_equal(report->memory.categories[1].name, "Malloc 1.50 KiB"); /* two items of one rounded name */
    assert_int_equal(report->memory.categories[1].live_bytes, 4608);
    assert_int_equal(report->memory.categories[2].kind, MIRE_MEMORY_OBJECT);
    assert_int_equal(report->memory.categories[3].live_bytes, 64); /* its size is 0, its stacks' are not */
    assert_int_equal(report->memory.stack_count, 2);
    assert_int_equal(report->process.start_wall_ms.value, 1700000000000); /* seconds; the second of two members */
    assert_int_equal(report->memory.taken_wall_ms.value, 1700000123000);  /* milliseconds */
    read_in_pieces(&r);
    read_it(
        &r,
        "{\"head\":{\"protocol_ver\":3,\"cpu_arch\":\"arm64\",\"images\":[{\"name\":\"/var/A/Shop.app/Shop\","
        "\"uuid\":\"0A1B2C3D-0000-4000-8000-000000000001\",\"slide\":65536,\"vm_str\":4295032832,\"vm_end\":4296081408,"
        "\"is_app\":true}]},\"items\":[{\"name\":\"Malloc 16 Bytes\",\"size\":16,\"count\":1,\"stacks\":["
        "{\"size\":16,\"count\":1,\"frames\":[4295032933]}]}]}");
    assert_int_equal(r.reports[0]->frames[0].offset, 4294967396); /* the file's own address */
    assert_int_equal(r.reports[0]->images[0].tie, MIRE_TIE_SAME);
    read_in_pieces(&r);
}

static void android_issues_of_matrix_are_trees_of_methods(void **state)
{
    struct imported r;
    (void)state;
    read_it(
        &r,
        "{\"tag\":\"Trace_EvilMethod\",\"process\":\"org.example.shop\",\"time\":1700000000000,\"machine\":\"HIGH\","
        "\"mem\":8000000000,\"mem_free\":900000,\"detail\":\"NORMAL\",\"cost\":900,\"scene\":\"MainActivity\","
        "\"stack\":\"0,1048574,1,900\\n1,12,1,700\\n2,13,1,300\\n1,14,2,100\\n\",\"stackKey\":\"12|\"}");
    assert_string_equal(r.formats[0], "matrix-android");
    assert_int_equal(r.reports[0]->event.duration_ms, 900);
    assert_int_equal(r.reports[0]->event.begin_wall_ms.value, 1699999999100);
    assert_int_equal(r.reports[0]->event.sample_count, 4);
    assert_int_equal(r.reports[0]->java_count, 4);
    uint64_t sum = 0;
    for (size_t i = 0; i < 4; i++)
        sum += r.reports[0]->event.samples[i].weight_ms;
    assert_int_equal(sum, 900);
    read_in_pieces(&r);
    read_it(&r,
            "{\"tag\":\"Trace_EvilMethod\",\"process\":\"p\",\"time\":1700000000000,\"detail\":\"LAG\",\"scene\":\"s\","
            "\"threadStack\":\" \\nat java.lang.Thread.sleep(Native Method)\\nat "
            "org.example.Cart.total(Cart.java:12)\\n\"}");
    assert_string_equal(import_stack(&r, r.reports[0], r.reports[0]->event.samples[0].node),
                        "java.lang.Thread.sleep < org.example.Cart.total");
    read_in_pieces(&r);
    read_it(&r, "{\"SoNativeSize\":[{\"so\":\"libapp.so\",\"size\":\"4096\"}],\"NativeHeap\":[{\"so\":\"libapp.so\","
                "\"size\":\"4096\","
                "\"top_stacks\":[{\"size\":\"4096\",\"stack\":\"libapp.so;1f0;libc.so;20;\"}]},{\"so\":\"libb.so\","
                "\"size\":\"1\",\"top_stacks\":[]}]}");
    assert_int_equal(r.reports[0]->memory.category_count, 2);
    assert_int_equal(r.reports[0]->memory.stack_count, 1);
    read_in_pieces(&r);
}

/* ---- MetricKit ---- */

#define CHAIN(one, offset_one, two, offset_two)                                                                   \
    "{\"binaryName\":\"" one "\",\"binaryUUID\":\"0A1B2C3D-0000-4000-8000-000000000001\",\"address\":4295033000," \
    "\"offsetIntoBinaryTextSegment\":" offset_one ",\"sampleCount\":1,\"subFrames\":[{\"binaryName\":\"" two      \
    "\",\"binaryUUID\":\"0A1B2C3D-0000-4000-8000-000000000002\",\"address\":6442455000,"                          \
    "\"offsetIntoBinaryTextSegment\":" offset_two ",\"sampleCount\":1}]}"
#define PAYLOAD(tree, per_thread)                                                                                      \
    "{\"timeStampBegin\":\"2020-10-12 03:59:00 +0000\",\"timeStampEnd\":\"2020-10-12 04:59:00\",\"hangDiagnostics\":[" \
    "{\"version\":\"1.0.0\",\"diagnosticMetaData\":{\"hangDuration\":\"1,250 ms\",\"appVersion\":\"4.2\","             \
    "\"osVersion\":\"iPhone OS 17.1 (21B74)\",\"platformArchitecture\":\"arm64\"},\"callStackTree\":"                  \
    "{\"callStackPerThread\":" per_thread ",\"callStacks\":[{\"threadAttributed\":true,\"callStackRootFrames\":[" tree \
    "]}]}}],\"diskWriteExceptionDiagnostics\":[{\"diagnosticMetaData\":{\"writesCaused\":\"2,000 byte\"},"             \
    "\"callStackTree\":{\"callStacks\":[]}}]}"

static void metrickit_tells_the_direction_and_the_offset_by_its_frames(void **state)
{
    struct imported r;
    (void)state;
    /* Chains are leaf first; the value is the module's address: a multiple of a page. */
    read_it(&r, PAYLOAD(CHAIN("Shop", "4295032832", "libdyld.dylib", "6442450944"), "true"));
    assert_int_equal(r.count, 2);
    assert_int_equal(r.reports[0]->event.duration_ms, 1250);
    assert_int_equal(r.reports[0]->event.begin_wall_ms.value, 1602478740000);
    assert_string_equal(r.reports[0]->device.os_version, "17.1");
    assert_string_equal(import_stack(&r, r.reports[0], r.reports[0]->event.samples[0].node),
                        "Shop+168 < libdyld.dylib+4055");
    assert_string_equal(r.reports[1]->event.trigger, "disk");
    assert_int_equal(r.reports[1]->event.disk.write_bytes, 2000);
    read_in_pieces(&r);
    /* The value is the offset: what is left is a multiple of a page. The entry stands at the root here. */
    read_it(&r, PAYLOAD(CHAIN("libdyld.dylib", "168", "Shop", "4056"), "true"));
    assert_string_equal(import_stack(&r, r.reports[0], r.reports[0]->event.samples[0].node),
                        "Shop+4056 < libdyld.dylib+167");
    read_in_pieces(&r);
    /* Neither: nobody can name it. Trees of counts have their entry at the root. */
    read_it(&r, PAYLOAD(CHAIN("Shop", "123", "Other", "77"), "false"));
    assert_true(import_notes(r.reports[0], "2 frames have neither"));
    assert_true(import_notes(r.reports[0], "counts, not times"));
    assert_string_equal(import_stack(&r, r.reports[0], r.reports[0]->event.samples[0].node),
                        "Other+6442455000 < Shop+4295032999");
    read_in_pieces(&r);
}

#define KIT_TREE(tree) \
    "{\"callStackPerThread\":true,\"callStacks\":[{\"threadAttributed\":true,\"callStackRootFrames\":[" tree "]}]}"

/* The form of iOS 27: one diagnostic in a result, with what is around it in an environment. */
static void metrickit_tells_a_kill_for_memory(void **state)
{
    static const char *const forms[] = {
        "{\"timeStampEnd\":\"2026-10-12 04:59:00\",\"memoryExceptionDiagnostics\":[{\"diagnosticMetaData\":{"
        "\"appVersion\":\"4.2\",\"osVersion\":\"iPhone OS 27.0 (24A1)\"},\"callStackTree\":" KIT_TREE(
            CHAIN("Shop", "4295032832", "libdyld.dylib", "6442450944")) "}]}",
        "{\"environment\":{\"applicationVersion\":\"4.2\",\"osVersion\":\"iPhone OS 27.0 (24A1)\"},\"result\":{"
        "\"memoryException\":{\"_0\":{\"callStackTree\":" KIT_TREE(
            CHAIN("Shop", "4295032832", "libdyld.dylib", "6442450944")) "}}}}"};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct imported r;
        read_it(&r, forms[i]);
        assert_int_equal(r.count, 1);
        assert_int_equal(r.reports[0]->kind, MIRE_REPORT_MEMORY);
        assert_string_equal(r.reports[0]->memory.trigger, "foom");
        assert_string_equal(r.reports[0]->exit.verdict, "foom");
        assert_string_equal(r.reports[0]->app.version, "4.2");
        assert_string_equal(r.reports[0]->device.os_version, "27.0");
        assert_int_equal(r.reports[0]->thread_count, 1);
        assert_string_equal(import_stack(&r, r.reports[0], r.reports[0]->threads[0].node),
                            "Shop+168 < libdyld.dylib+4055");
        read_in_pieces(&r);
    }
}

static size_t ends_with(const struct report *report, const char *verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < report->session.end_count; i++)
        count += !strcmp(report->session.ends[i].verdict, verdict);
    return count;
}

static void metrickit_counts_how_runs_ended(void **state)
{
    struct imported r;
    (void)state;
    read_it(&r,
            "{\"timeStampBegin\":\"2020-10-12 00:00:00 +0000\",\"timeStampEnd\":\"2020-10-13 00:00:00 +0000\","
            "\"appVersion\":\"4.2\",\"metaData\":{\"appBuildVersion\":\"42\",\"osVersion\":\"iPhone OS 17.1 (21B74)\","
            "\"deviceType\":\"iPhone15,2\"},\"applicationExitMetrics\":{\"backgroundExitData\":{"
            "\"cumulativeNormalAppExitCount\":90,\"cumulativeMemoryPressureExitCount\":3},\"foregroundExitData\":{"
            "\"cumulativeMemoryResourceLimitExitCount\":2,\"cumulativeAppWatchdogExitCount\":1,"
            "\"cumulativeBadAccessExitCount\":0}}}");
    const struct report *report = r.reports[0];
    assert_int_equal(r.count, 1);
    assert_int_equal(report->kind, MIRE_REPORT_SESSION);
    assert_int_equal(report->session.end_count, 64);
    assert_int_equal(ends_with(report, "foom"), 2);
    assert_int_equal(ends_with(report, "watchdog_kill"), 1);
    assert_int_equal(ends_with(report, "background_kill"), 3);
    assert_int_equal(ends_with(report, "clean_exit"), 58);
    assert_int_equal(report->session.ends[0].seen_wall_ms.value, 1602547200000);
    assert_string_equal(report->device.model, "iPhone15,2");
    read_in_pieces(&r);
}

static void deep_trees_are_read_without_recursion(void **state)
{
    size_t depth = 900;
    char *text = calloc(depth + 8, 160), *at = text;
    (void)state;
    at += sprintf(at, "{\"callStackPerThread\":true,\"callStacks\":[{\"callStackRootFrames\":[");
    for (size_t i = 0; i < depth; i++)
        at += sprintf(at, "{\"binaryName\":\"Shop\",\"address\":%zu,\"offsetIntoBinaryTextSegment\":%zu%s",
                      4294967296 + i, i, i + 1 < depth ? ",\"subFrames\":[" : "}");
    for (size_t i = 1; i < depth; i++)
        at += sprintf(at, "]}");
    sprintf(at, "]}]}");
    struct imported r;
    read_it(&r, text);
    assert_int_equal(r.reports[0]->node_count, depth + 1);
    import_done(&r);
    free(text);
}

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
        cmocka_unit_test(a_lag_of_matrix_is_a_hang_of_the_ring),
        cmocka_unit_test(the_dump_type_wins_over_the_name),
        cmocka_unit_test(matrix_cpu_weighs_threads_by_their_use),
        cmocka_unit_test(trees_of_matrix_have_their_root_at_either_end),
        cmocka_unit_test(memory_of_matrix_keeps_what_its_names_hide),
        cmocka_unit_test(android_issues_of_matrix_are_trees_of_methods),
        cmocka_unit_test(metrickit_tells_the_direction_and_the_offset_by_its_frames),
        cmocka_unit_test(metrickit_tells_a_kill_for_memory),
        cmocka_unit_test(metrickit_counts_how_runs_ended),
        cmocka_unit_test(deep_trees_are_read_without_recursion),
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
