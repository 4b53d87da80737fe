/* The frame of foreign formats: inputs, their pieces and compression, ids, and what is written of a report. */
#include "support/imports.h"

#include <dirent.h>
#include <zlib.h>
#include <zstd.h>

#define VECTORS MIRE_SOURCE_DIR "/schema/wire/vectors/valid"

#define CRASH(id, address)                                                                                           \
    "{\"report\":{\"id\":\"" id "\",\"timestamp\":1700000000,\"process_name\":\"Shop\",\"version\":\"3.4.0\"},"      \
    "\"binary_images\":[{\"image_addr\":4294967296,\"image_vmaddr\":4294967296,\"image_size\":65536,"                \
    "\"name\":\"/var/containers/Bundle/Application/A/Shop.app/"                                                      \
    "Shop\",\"uuid\":\"0A1B2C3D-0000-4000-8000-000000000001\"}],"                                                    \
    "\"system\":{\"system_name\":\"iOS\",\"CFBundleExecutablePath\":\"/private/var/containers/Bundle/Application/A/" \
    "Shop.app/Shop\","                                                                                               \
    "\"cpu_arch\":\"arm64\",\"CFBundleIdentifier\":\"org.example.shop\","                                            \
    "\"CFBundleShortVersionString\":\"4.2\",\"device_app_hash\":\"ab\"},"                                            \
    "\"crash\":{\"error\":{\"type\":\"signal\",\"signal\":{\"signal\":11,\"name\":\"SIGSEGV\"},\"address\":16},"     \
    "\"threads\":[{\"index\":0,\"crashed\":true,\"backtrace\":{\"contents\":[{\"instruction_addr\":" address "},"    \
    "{\"instruction_addr\":4294968320}]}}]}}"

#define ONE "63784EB4-5ACC-4B59-B987-06A1464DDA3B"
#define TWO "63784EB4-5ACC-4B59-B987-06A1464DDA3C"

static void read_text(struct imported *out, const char *text)
{
    import_all(out, NULL, text, strlen(text), 0, false);
}

static void every_vector_is_written_as_it_was_read(void **state)
{
    (void)state;
    DIR *dir = opendir(VECTORS);
    assert_non_null(dir);
    char *bytes = malloc(8 << 20);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[512], *text, *again;
        size_t len, again_len;
        struct arena arena;
        struct report report;
        struct decode_fault fault;
        snprintf(path, sizeof path, VECTORS "/%s/report.json", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (!file)
            continue;
        len = fread(bytes, 1, 8 << 20, file);
        fclose(file);
        arena_init(&arena, 256u << 20);
        assert_int_equal(decode_report(&report, &arena, &fault, "mire", "identity", bytes, len), MIRE_DECODE_OK);
        assert_int_equal(report_write(&text, &len, &report), 0);
        if (decode_report(&report, &arena, &fault, "mire", "identity", text, len) != MIRE_DECODE_OK)
            fail_msg("%s: %s %s", entry->d_name, fault.path, fault.text);
        assert_int_equal(report_write(&again, &again_len, &report), 0);
        assert_int_equal(len, again_len);
        assert_memory_equal(text, again, len);
        free(text);
        free(again);
        arena_fini(&arena);
        count++;
    }
    closedir(dir);
    free(bytes);
    assert_in_range(count, 20, 1000);
}

static void a_crash_is_an_event_of_its_own_with_its_stack(void **state)
{
    struct imported r;
    (void)state;
    read_text(&r, CRASH(ONE, "4294967500"));
    assert_int_equal(r.outcome, MIRE_DECODE_OK);
    assert_int_equal(r.count, 1);
    const struct report *report = r.reports[0];
    assert_string_equal(report->event.trigger, "crash");
    assert_string_equal(report->event.name, "SIGSEGV");
    assert_string_equal(report->exit.verdict, "crash");
    assert_string_equal(report->app.name, "org.example.shop");
    assert_int_equal(report->event.begin_wall_ms.value, 1700000000000);
    assert_int_equal(report->image_count, 1);
    assert_int_equal(report->images[0].id_len, 16);
    assert_int_equal(report->images[0].tie, MIRE_TIE_SAME);
    /* The file's own addresses: bias 0. A caller's address is within the call. */
    assert_int_equal(report->frames[0].offset, 4294967500);
    assert_int_equal(report->frames[1].offset, 4294968319);
    import_done(&r);
}

static void an_array_and_documents_in_a_row_are_many_reports(void **state)
{
    static const char *const inputs[] = {
        "[" CRASH(ONE, "4294967500") " , " CRASH(TWO, "4294967500") "]",
        CRASH(ONE, "4294967500") "\n" CRASH(TWO, "4294967500") "\n",
        " [" CRASH(ONE, "4294967500") "][" CRASH(TWO, "4294967500") "]",
        "\xef\xbb\xbf" CRASH(ONE, "4294967500") CRASH(TWO, "4294967500"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct imported r;
        read_text(&r, inputs[i]);
        assert_int_equal(r.outcome, MIRE_DECODE_OK);
        assert_int_equal(r.count, 2);
        assert_string_not_equal(r.reports[0]->id, r.reports[1]->id);
        import_done(&r);
    }
}

static void ids_come_of_the_content_and_its_time(void **state)
{
    struct imported a, b;
    (void)state;
    read_text(&a, CRASH(ONE, "4294967500"));
    read_text(&b, "[" CRASH(ONE, "4294967500") "]");
    assert_string_equal(a.reports[0]->id, b.reports[0]->id);
    assert_memory_equal(a.reports[0]->id, "018bcfe5-6800-8", 15); /* 1700000000000 ms, version 8 */
    import_done(&a);
    import_done(&b);
}

static void pieces_and_compression_change_nothing(void **state)
{
    const char *text = "[" CRASH(ONE, "4294967500") "," CRASH(TWO, "18446744073709551615") "]";
    char zstd[8192], gzip[8192];
    struct imported whole, other;
    (void)state;
    read_text(&whole, text);
    assert_int_equal(whole.count, 2);
    size_t len = ZSTD_compress(zstd, sizeof zstd, text, strlen(text), 3);
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)zstd,
                  .avail_in = (uInt)len,
                  .next_out = (Bytef *)gzip,
                  .avail_out = sizeof gzip};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const struct {
        const char *bytes;
        size_t len;
    } inputs[] = {{text, strlen(text)}, {zstd, len}, {gzip, z.total_out}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (size_t piece = 1; piece <= 64; piece += 21) {
            import_all(&other, NULL, inputs[i].bytes, inputs[i].len, piece, false);
            assert_same_reports(&whole, &other);
            import_done(&other);
        }
    import_all(&other, NULL, zstd, len - 3, 0, false);
    assert_int_equal(other.outcome, MIRE_DECODE_MALFORMED);
    import_done(&other);
    deflateEnd(&z);
    import_done(&whole);
}

static void what_cannot_be_read_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text;
        enum decode_outcome outcome;
        size_t position;
    } inputs[] = {
        {"", MIRE_DECODE_UNKNOWN, 0},
        {"hello", MIRE_DECODE_UNKNOWN, 0},
        {"{}", MIRE_DECODE_UNKNOWN, 0},
        {"[]", MIRE_DECODE_MALFORMED, 0},
        {"[{},]", MIRE_DECODE_UNKNOWN, 1},
        {"[" CRASH(ONE, "1") ",]", MIRE_DECODE_MALFORMED, sizeof CRASH(ONE, "1") + 1},
        {"[" CRASH(ONE, "1"), MIRE_DECODE_MALFORMED, sizeof CRASH(ONE, "1")},
        {CRASH(ONE, "1") "]", MIRE_DECODE_MALFORMED, sizeof CRASH(ONE, "1") - 1},
        {"{\"report\":{},\"crash\":{\"error\":", MIRE_DECODE_MALFORMED, 30},
        {"{\"report\":{},\"crash\":{\"error\":nul}}", MIRE_DECODE_MALFORMED, 33},
        {"{\"report\":{},\"crash\":{}}", MIRE_DECODE_WRONG, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct imported r;
        read_text(&r, inputs[i].text);
        if (r.outcome != inputs[i].outcome || r.fault.position != inputs[i].position || !r.fault.text[0])
            fail_msg("%s: outcome %d at %zu: %s", inputs[i].text, r.outcome, r.fault.position, r.fault.text);
        import_done(&r);
    }
}

static void the_receiver_may_go_on_behind_what_is_refused(void **state)
{
    const char *text = "[" CRASH(ONE, "1") ",{\"a\":1}," CRASH(TWO, "1") "]";
    struct imported r;
    (void)state;
    import_all(&r, NULL, text, strlen(text), 0, true);
    assert_int_equal(r.outcome, MIRE_DECODE_OK);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.refused, 1);
    import_done(&r);
}

static void mires_own_documents_are_handed_on_as_they_are(void **state)
{
    const char *text = "{\"mire\":1, \"later\":[1,2]}";
    struct imported r;
    (void)state;
    read_text(&r, text);
    assert_int_equal(r.count, 1);
    assert_string_equal(r.formats[0], "mire");
    assert_string_equal(r.texts[0], text);
    import_done(&r);
}

#define EVENT                                                                                                     \
    "{\"event_id\":\"0123456789abcdef0123456789abcdef\",\"platform\":\"python\",\"timestamp\":1760000010,"        \
    "\"user\":{\"id\":4711,\"email\":\"kim@example.org\"},\"tags\":[[\"plan\",\"trial\"],[\"a "                   \
    "b\",\"c\"],[\"none\",null]],"                                                                                \
    "\"contexts\":{\"app\":{\"in_foreground\":true,\"view_names\":[\"Cart\"]},"                                   \
    "\"device\":{\"battery_level\":42.5,\"online\":true,\"free_memory\":2147483648},"                             \
    "\"flags\":{\"values\":[{\"flag\":\"new-cart\",\"result\":true}]}},"                                          \
    "\"breadcrumbs\":{\"values\":[{\"timestamp\":1760000009.5,\"category\":\"ui.click\",\"message\":\"pay\"},"    \
    "{\"timestamp\":\"2025-10-09T08:53:20Z\",\"type\":\"http\",\"data\":{\"method\":\"GET\",\"status_code\":500," \
    "\"url\":\"https://example.org/cart?token=secret\"}}]},"                                                      \
    "\"exception\":{\"values\":[{\"type\":\"KeyError\",\"value\":\"x\"}]}}"

static const char *tag(const struct report *report, const char *name)
{
    for (size_t i = 0; i < report->context.tag_count; i++)
        if (!strcmp(report->context.tags[i].name, name))
            return report->context.tags[i].value;
    return "";
}

/* The fields are those of the SDK's own reports; the user is hashed as the SDK hashes it, and nowhere else. */
static void the_context_of_a_foreign_report_is_kept(void **state)
{
    (void)state;
    struct imported r;
    read_text(&r, EVENT);
    assert_int_equal(r.count, 1);
    const struct report_context *context = &r.reports[0]->context;
    assert_string_equal(context->state, "foreground");
    assert_string_equal(context->scene, "Cart");
    assert_true(context->user_hashed);
    assert_string_equal(context->user, "57080856caa1dbaf6f175e5bc76c01d8");
    assert_string_equal(tag(r.reports[0], "plan"), "trial");
    assert_string_equal(tag(r.reports[0], "a_b"), "c");
    assert_string_equal(tag(r.reports[0], "battery"), "42.5");
    assert_string_equal(tag(r.reports[0], "online"), "true");
    assert_string_equal(tag(r.reports[0], "free_memory"), "2048 MiB");
    assert_string_equal(tag(r.reports[0], "flag.new-cart"), "true");
    assert_int_equal(context->crumb_count, 2);
    assert_string_equal(context->crumbs[0].text, "http: GET https://example.org/cart 500");
    assert_string_equal(context->crumbs[1].text, "ui.click: pay");
    assert_int_equal(context->crumbs[0].at_ms, 0);
    assert_int_equal(context->crumbs[1].at_ms, 9500);
    assert_int_equal(r.reports[0]->event.begin_ns, UINT64_C(10000000000)); /* the last step was half a second before */
    assert_null(strstr(r.texts[0], "4711"));
    assert_null(strstr(r.texts[0], "kim@"));
    assert_null(strstr(r.texts[0], "secret"));
    import_done(&r);
    read_text(&r, "{\"report\":{\"id\":\"" ONE
                  "\",\"timestamp\":1700000000},\"user\":{\"WeChat\":{\"uin\":4711,\"scene\":\"Chat\"},"
                  "\"plan\":\"paid\"},\"crash\":{\"error\":{\"type\":\"user\"}}}");
    assert_int_equal(r.count, 1);
    assert_string_equal(r.reports[0]->context.user, "57080856caa1dbaf6f175e5bc76c01d8");
    assert_string_equal(tag(r.reports[0], "WeChat.scene"), "Chat");
    assert_string_equal(tag(r.reports[0], "plan"), "paid");
    assert_null(strstr(r.texts[0], "4711"));
    import_done(&r);
}

/* More tags and breadcrumbs than a report keeps: the last steps stay, and the losses are noted. */
static void a_context_beyond_the_limits_is_cut(void **state)
{
    (void)state;
    struct imported r;
    char *text = malloc(1 << 20);
    size_t len = (size_t)sprintf(
        text, "{\"event_id\":\"0\",\"platform\":\"c\",\"message\":\"m\",\"timestamp\":1760000000,\"tags\":{");
    for (int i = 0; i < 100; i++)
        len += (size_t)sprintf(text + len, "%s\"t%d\":\"%0200d\"", i ? "," : "", i, i);
    len += (size_t)sprintf(text + len, "},\"breadcrumbs\":[");
    for (int i = 0; i < 300; i++)
        len += (size_t)sprintf(text + len, "%s{\"timestamp\":%d,\"message\":\"step %d\"}", i ? "," : "", 1759999000 + i,
                               i);
    sprintf(text + len, "]}");
    read_text(&r, text);
    free(text);
    assert_int_equal(r.count, 1);
    const struct report_context *context = &r.reports[0]->context;
    assert_int_equal(context->tag_count, 64);
    assert_int_equal(strlen(context->tags[0].value), 127);
    assert_int_equal(context->crumb_count, 64);
    assert_string_equal(context->crumbs[0].text, "step 236");
    assert_string_equal(context->crumbs[63].text, "step 299");
    assert_non_null(strstr(r.texts[0], "236 breadcrumbs are left out"));
    assert_non_null(strstr(r.texts[0], "36 tags are left out"));
    import_done(&r);
}

/* PowerShell writes what a command prints as UTF-16. */
static size_t as_utf16(char *out, const char *text, bool big)
{
    size_t len = 0;
    for (const char *c = big ? "\xfe\xff" : "\xff\xfe"; *c; c++)
        out[len++] = *c;
    for (const char *at = text; *at; at++) {
        out[len + (big ? 1 : 0)] = *at;
        out[len + (big ? 0 : 1)] = '\0';
        len += 2;
    }
    return len;
}

static void text_of_utf16_is_read_as_any_other(void **state)
{
    static char wide[16384];
    struct imported whole, other;
    (void)state;
    read_text(&whole, CRASH(ONE, "4294967500") CRASH(TWO, "4294967500"));
    for (int big = 0; big < 2; big++) {
        size_t len = as_utf16(wide, CRASH(ONE, "4294967500") CRASH(TWO, "4294967500"), big);
        for (size_t piece = 0; piece < 8; piece += 1 + piece) {
            import_all(&other, NULL, wide, len, piece, false);
            assert_same_reports(&whole, &other);
            import_done(&other);
            import_all(&other, NULL, wide + 2, len - 2, piece, false); /* without the mark */
            assert_same_reports(&whole, &other);
            import_done(&other);
        }
    }
    import_done(&whole);
    /* A pair of halves is one character, half of a pair is none. */
    static const char text[] = "\xff\xfe{\0\"\0m\0i\0r\0e\0\"\0:\0"
                               "1\0,\0\"\0x\0\"\0:\0\"\0\x3d\xd8\x0a\xde\x3d\xd8\"\0}\0";
    import_all(&other, NULL, text, sizeof text - 1, 0, false);
    assert_int_equal(other.count, 1);
    assert_string_equal(other.texts[0], "{\"mire\":1,\"x\":\"\xf0\x9f\x98\x8a\xef\xbf\xbd\"}");
    import_done(&other);
}

/* An array of a producer's arrays; zeros up to the end of a mapped file; lines of something else between documents. */
static void reports_are_found_among_other_bytes(void **state)
{
    static const struct {
        const char *text;
        size_t len, count, refused;
    } inputs[] = {
#define WHOLE(text) text, sizeof(text) - 1
        {WHOLE("[[" CRASH(ONE, "1") "],[[" CRASH(TWO, "1") "]]]"), 2, 0},
        {WHOLE(CRASH(ONE, "1") "\0\0\0\0\0\0\0\0"), 1, 0},
        {WHOLE(CRASH(ONE, "1") "\0\0\0" CRASH(TWO, "1") "\0"), 2, 0},
        {WHOLE(CRASH(ONE, "1") "--boundary of parts, one or two--\n" CRASH(TWO, "1")), 2, 1},
        {WHOLE(CRASH(ONE, "1") "\x01\x02\x03\x04\x05\x06"), 1, 1},
        {WHOLE("[[[[[[[" CRASH(ONE, "1") "]]]]]]]"), 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct imported r;
        import_all(&r, NULL, inputs[i].text, inputs[i].len, 1, true);
        if (r.count != inputs[i].count || r.refused != inputs[i].refused)
            fail_msg("input %zu: %zu reports, %zu refused: %s", i, r.count, r.refused, r.fault.text);
        import_done(&r);
    }
    /* The place of a fault counts from the first byte of all. */
    struct imported r;
    read_text(&r, "[ [" CRASH(ONE, "1") ",[{\"a\":nul}]]]");
    assert_int_equal(r.outcome, MIRE_DECODE_MALFORMED);
    assert_int_equal(r.fault.position, strlen("[ [" CRASH(ONE, "1") ",[{\"a\":nul"));
    import_done(&r);
}

#define MEMORY                                                                                                       \
    "{\"head\":{\"protocol_ver\":1,\"phone\":\"iPhone14,2\",\"launch_time\":1760000000000,\"report_time\":"          \
    "1760000100000,"                                                                                                 \
    "\"app_uuid\":\"0a1b2c3d000040008000000000000001\",\"uin\":\"4711\",\"client_version\":\"8.0.38\"},\"items\":[{" \
    "\"tag\":\"iOS_MemStat\",\"name\":\"Cart\",\"size\":64,\"count\":1,\"stacks\":[{\"size\":64,\"count\":1,"        \
    "\"frames\":["                                                                                                   \
    "{\"uuid\":\"ffffffffffff40008000000000000002\",\"offset\":16},{\"uuid\":\"0a1b2c3d000040008000000000000001\","  \
    "\"offset\":32}]}]}]}"

/* What an app adds to the head of Matrix' memory report is context; the executable is the app's own. */
static void matrix_memory_tells_its_app(void **state)
{
    (void)state;
    struct imported r;
    read_text(&r, MEMORY);
    assert_int_equal(r.count, 1);
    const struct report *report = r.reports[0];
    assert_string_equal(tag(report, "client_version"), "8.0.38");
    assert_string_equal(tag(report, "phone"), "");
    assert_string_equal(report->context.user, "57080856caa1dbaf6f175e5bc76c01d8");
    assert_int_equal(report->image_count, 2);
    assert_int_equal(report->images[0].tie, MIRE_TIE_UNKNOWN);
    assert_int_equal(report->images[1].tie, MIRE_TIE_SAME);
    assert_true(report->images[1].from_start);
    import_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_context_of_a_foreign_report_is_kept),
        cmocka_unit_test(a_context_beyond_the_limits_is_cut),
        cmocka_unit_test(every_vector_is_written_as_it_was_read),
        cmocka_unit_test(a_crash_is_an_event_of_its_own_with_its_stack),
        cmocka_unit_test(an_array_and_documents_in_a_row_are_many_reports),
        cmocka_unit_test(ids_come_of_the_content_and_its_time),
        cmocka_unit_test(pieces_and_compression_change_nothing),
        cmocka_unit_test(what_cannot_be_read_is_refused_with_its_place),
        cmocka_unit_test(the_receiver_may_go_on_behind_what_is_refused),
        cmocka_unit_test(mires_own_documents_are_handed_on_as_they_are),
        cmocka_unit_test(text_of_utf16_is_read_as_any_other),
        cmocka_unit_test(reports_are_found_among_other_bytes),
        cmocka_unit_test(matrix_memory_tells_its_app),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
