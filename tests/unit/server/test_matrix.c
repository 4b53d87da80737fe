/* test_matrix.c - reports of Tencent Matrix as reports of Mire, from documents that were written for the test. */
#include "support/imports.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lag_of_matrix_is_a_hang_of_the_ring),
        cmocka_unit_test(the_dump_type_wins_over_the_name),
        cmocka_unit_test(matrix_cpu_weighs_threads_by_their_use),
        cmocka_unit_test(trees_of_matrix_have_their_root_at_either_end),
        cmocka_unit_test(memory_of_matrix_keeps_what_its_names_hide),
        cmocka_unit_test(android_issues_of_matrix_are_trees_of_methods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
