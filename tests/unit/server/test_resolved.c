/* The resolved-stack document: written and read back, and invalid documents. */
#include "base/arena.h"
#include "model/resolved.h"
#include "document/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static const struct resolved_location locations[] = {
    {"main", "app", "src/main.c", 12, 0x1000, true, false, MIRE_ROLE_APP, 0, 2, NULL, false, false},
    {"quote \"\\\n\xe4\xb8\xad", "app", "", 0, UINT64_MAX, true, true, MIRE_ROLE_LOCK, 1, 0, NULL, false, false},
    {"libc.so.6+0x10", "libc.so.6", "", 0, 0x10, false, false, MIRE_ROLE_UNKNOWN, 2, 0, NULL, false, false},
};
static const struct resolved_rule rules[] = {{"linux_c", 4, 25, "lock * quote*"}, {"app", 2, 1, "idle * main"}};
static const uint32_t left_out[] = {1, 0};
static const struct resolved_part parts[] = {{"caller1", "quote", left_out, 2}, {"reason", "cpu", NULL, 0}};
static const struct resolved_node nodes[] = {{0, 0}, {0, 0}, {1, 1}, {2, 2}, {1, 2}};
static const struct report_sample samples[] = {
    {0, 50, 3, 'R', -1, 0, '.', 0, 0}, {50, 60, 4, '?', -1, 2, 'c', 4990, 300}, {50, 70, 0, 'S', 202, 1, 'b', 0, 0}};
static const uint32_t repeat[] = {2, 1, 2};
static const struct resolved_thread threads[] = {{7, "worker", "owner", {900, true}, 3, 'D', 17, {0}},
                                                 {8, "", "", {0, false}, 0, '?', -1, {0}}};
static const struct report_bucket buckets[] = {{250, 17}, {500, 0}, {1000, 1}};
static const struct resolved_fact facts[] = {{"OS", "linux 6.1"}};

static struct resolved document(void)
{
    return (struct resolved){
        .trigger = "power",
        .name = "scroll",
        .gate = MIRE_GATE_PING,
        .launch = true,
        .foreground_known = true,
        .suspended_ms = 61000,
        .lock = {true, UINT64_MAX, {7, true}},
        .holder = {false, 0, 2},
        .cpu = {true, 60000, 93, {80, true}},
        .disk = {true, 10000, 1, UINT64_MAX, {0, false}},
        .frames = {true, 20, 40, {1000, true}, {0, false}, {300, true}},
        .suppressed = {4, {11020, true}},
        .blame = {true, 2, 640000},
        .verdict = {true, 1, 980000},
        .bucket_count = 3,
        .buckets = buckets,
        .threshold_ms = 2000,
        .late_ms = 3,
        .guess = "io",
        .thread = {.tid = {9, true}, .name = "ui", .read_bytes = {UINT64_MAX, true}},
        .why = "quote holds 98 %",
        .location_count = 3,
        .locations = locations,
        .rule_count = 2,
        .rules = rules,
        .part_count = 2,
        .parts = parts,
        .node_count = 5,
        .nodes = nodes,
        .period_ms = 50,
        .sample_count = 3,
        .samples = samples,
        .hot = {.node = 3, .thread = 2, .run = 1, .depth = 3, .repeat = repeat, .caller1 = 1, .caller2 = -1},
        .thread_count = 2,
        .threads = threads,
        .fact_count = 1,
        .facts = facts,
        .cost = {3, 21000, 50000, 300000, 900, {64, true}, {0, false}, {1, true}},
    };
}

static void a_document_comes_back_as_it_was(void **state)
{
    (void)state;
    struct resolved doc = document();
    struct resolved back;
    struct arena arena;
    unsigned char *bytes = NULL;
    size_t len;
    arena_init(&arena, 1 << 20);
    assert_int_equal(resolved_encode(&bytes, &len, &doc), 0);
    assert_int_equal(resolved_decode(&back, &arena, bytes, len), 0);
    assert_int_equal(back.gate, MIRE_GATE_PING);
    assert_true(back.launch && back.threshold_ms == 2000 && back.late_ms == 3 && back.period_ms == 50);
    assert_string_equal(back.guess, "io");
    assert_string_equal(back.thread.name, "ui");
    assert_true(back.thread.read_bytes.known && back.thread.read_bytes.value == UINT64_MAX);
    assert_false(back.thread.cpu_ms.known);
    assert_int_equal(back.location_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(back.locations[i].function, locations[i].function);
        assert_string_equal(back.locations[i].image, locations[i].image);
        assert_string_equal(back.locations[i].file, locations[i].file);
        assert_true(back.locations[i].line == locations[i].line && back.locations[i].offset == locations[i].offset);
        assert_true(back.locations[i].named == locations[i].named && back.locations[i].inlined == locations[i].inlined);
        assert_int_equal(back.locations[i].role, locations[i].role);
        assert_true(back.locations[i].rule == locations[i].rule && back.locations[i].mark == locations[i].mark);
    }
    assert_int_equal(back.rule_count, 2);
    assert_string_equal(back.rules[0].pack, "linux_c");
    assert_string_equal(back.rules[1].text, "idle * main");
    assert_true(back.rules[0].version == 4 && back.rules[0].line == 25);
    assert_string_equal(back.why, "quote holds 98 %");
    assert_int_equal(back.part_count, 2);
    assert_string_equal(back.parts[0].part, "caller1");
    assert_string_equal(back.parts[1].text, "cpu");
    assert_true(back.parts[0].rule_count == 2 && back.parts[0].rules[0] == 1 && back.parts[1].rule_count == 0);
    assert_int_equal(back.node_count, 5);
    assert_memory_equal(back.nodes + 1, nodes + 1, 4 * sizeof *nodes);
    assert_int_equal(back.sample_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(back.samples[i].at_ms == samples[i].at_ms && back.samples[i].weight_ms == samples[i].weight_ms &&
                    back.samples[i].node == samples[i].node && back.samples[i].state == samples[i].state &&
                    back.samples[i].syscall == samples[i].syscall && back.samples[i].thread == samples[i].thread);
        assert_true(back.samples[i].loss == samples[i].loss && back.samples[i].folded == samples[i].folded &&
                    back.samples[i].skipped == samples[i].skipped);
    }
    assert_true(back.hot.node == 3 && back.hot.thread == 2 && back.hot.run == 1 && back.hot.depth == 3);
    assert_memory_equal(back.hot.repeat, repeat, sizeof repeat);
    assert_true(back.hot.caller1 == 1 && back.hot.caller2 == -1);
    assert_int_equal(back.thread_count, 2);
    assert_true(back.threads[0].cpu_ms.known && back.threads[0].cpu_ms.value == 900 && !back.threads[1].cpu_ms.known);
    assert_string_equal(back.facts[0].value, "linux 6.1");
    assert_memory_equal(&back.cost, &doc.cost, sizeof doc.cost);
    assert_string_equal(back.trigger, "power");
    assert_string_equal(back.name, "scroll");
    assert_true(back.foreground_known && !back.foreground && back.suspended_ms == 61000);
    assert_memory_equal(&back.lock, &doc.lock, sizeof doc.lock);
    assert_memory_equal(&back.holder, &doc.holder, sizeof doc.holder);
    assert_memory_equal(&back.cpu, &doc.cpu, sizeof doc.cpu);
    assert_memory_equal(&back.disk, &doc.disk, sizeof doc.disk);
    assert_memory_equal(&back.frames, &doc.frames, sizeof doc.frames);
    assert_memory_equal(&back.suppressed, &doc.suppressed, sizeof doc.suppressed);
    assert_true(back.blame.known && back.blame.location == 2 && back.blame.share_ppm == 640000);
    assert_true(back.verdict.known && back.verdict.location == 1 && back.verdict.share_ppm == 980000);
    assert_true(back.threads[0].state == 'D' && back.threads[0].syscall == 17 && back.threads[1].syscall == -1);
    assert_int_equal(back.bucket_count, 3);
    assert_memory_equal(back.buckets, buckets, sizeof buckets);
    free(bytes);
    arena_fini(&arena);
}

static void what_is_no_document_is_refused(void **state)
{
    (void)state;
    struct resolved doc = document();
    struct resolved back = {.location_count = 1};
    struct arena arena;
    unsigned char *bytes = NULL;
    size_t len;
    arena_init(&arena, 64 << 20);
    assert_int_equal(resolved_encode(&bytes, &len, &doc), 0);
    for (size_t cut = 0; cut < len; cut++)
        assert_int_equal(resolved_decode(&back, &arena, bytes, cut), -1);
    assert_int_equal(back.location_count, 0);
    for (size_t i = 0; i < len; i++) {
        bytes[i] ^= 0x10;
        (void)resolved_decode(&back, &arena, bytes, len); /* must only not crash */
        bytes[i] ^= 0x10;
    }
    free(bytes);
    arena_fini(&arena);
}

/* The document with one piece of its JSON replaced. */
static int decode_changed(const char *from, const char *to)
{
    struct resolved doc = document();
    struct resolved back;
    struct arena arena;
    unsigned char *bytes = NULL;
    size_t len;
    char plain[8192] = "";
    char changed[8192] = "";
    unsigned char packed[8192];
    assert_int_equal(resolved_encode(&bytes, &len, &doc), 0);
    size_t plain_len = ZSTD_decompress(plain, sizeof plain - 1, bytes, len);
    assert_false(ZSTD_isError(plain_len));
    free(bytes);
    char *at = strstr(plain, from);
    assert_non_null(at);
    memcpy(changed, plain, (size_t)(at - plain));
    strcat(changed, to);
    size_t rest = (size_t)(plain + plain_len - at) - strlen(from), changed_len = strlen(changed) + rest;
    memcpy(changed + strlen(changed), at + strlen(from), rest);
    arena_init(&arena, 1 << 20);
    int rc = resolved_decode(&back, &arena, packed, ZSTD_compress(packed, sizeof packed, changed, changed_len, 1));
    arena_fini(&arena);
    return rc;
}

/* Does a document come back? */
static int decode_of(const struct resolved *doc)
{
    struct resolved back;
    struct arena arena;
    unsigned char *bytes = NULL;
    size_t len;
    arena_init(&arena, 1 << 20);
    assert_int_equal(resolved_encode(&bytes, &len, doc), 0);
    int rc = resolved_decode(&back, &arena, bytes, len);
    free(bytes);
    arena_fini(&arena);
    return rc;
}

/* The columns of 100,000 alike samples have one value each, but for the one that counts them. */
static void a_column_ends_where_its_values_stay_the_same(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    struct report_sample *many = calloc(MANY, sizeof *many);
    struct resolved doc = document(), back;
    struct arena arena;
    unsigned char *bytes = NULL;
    size_t len;
    assert_non_null(many);
    for (uint32_t i = 0; i < MANY; i++)
        many[i] = (struct report_sample){
            .at_ms = i * 5, .weight_ms = 10, .node = 3, .state = 'R', .syscall = -1, .loss = '.', .thread = 2};
    many[120].node = 4;
    doc.samples = many;
    doc.sample_count = MANY;
    assert_int_equal(resolved_encode(&bytes, &len, &doc), 0);
    size_t plain_len = ZSTD_getFrameContentSize(bytes, len);
    assert_in_range(plain_len, MANY, MANY + 2000);
    arena_init(&arena, 64 << 20);
    assert_int_equal(resolved_decode(&back, &arena, bytes, len), 0);
    assert_int_equal(back.sample_count, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_memory_equal(&back.samples[i], &many[i], sizeof many[i]);
    arena_fini(&arena);
    free(bytes);
    free(many);
}

/* Names that are made of image and offset, names that only look like it, and numbers at both ends. */
static void names_of_offsets_come_back(void **state)
{
    (void)state;
    static const struct resolved_location odd[] = {
        {.function = "libc.so.6+0x1f", .image = "libc.so.6", .file = "", .offset = 0x1f},
        {.function = "libc.so.6+0x10", .image = "libc.so.6", .file = "", .offset = 0x1f},
        {.function = "libc.so.6+0x010", .image = "libc.so.6", .file = "", .offset = 0x10},
        {.function = "libc.so.6+0xABC", .image = "libc.so.6", .file = "", .offset = 0xabc},
        {.function = "libc.so.6+0xffffffffffffffff", .image = "libc.so.6", .file = "", .offset = UINT64_MAX},
        {.function = "a+0x0", .image = "a", .file = "", .offset = UINT64_MAX, .line = UINT32_MAX},
        {.function = "a+0x1", .image = "a", .file = "b", .offset = 1, .named = true},
        {.function = "+0x1", .image = "", .file = "b", .offset = 1, .rule = 2, .mark = 1},
        {.function = "a+0x", .image = "a", .file = "b", .offset = 0, .role = MIRE_ROLE_COUNT - 1}};
    struct resolved doc = document(), back;
    struct arena arena;
    unsigned char *bytes = NULL;
    size_t len;
    doc.locations = odd;
    doc.location_count = sizeof odd / sizeof *odd;
    arena_init(&arena, 1 << 20);
    assert_int_equal(resolved_encode(&bytes, &len, &doc), 0);
    assert_int_equal(resolved_decode(&back, &arena, bytes, len), 0);
    assert_int_equal(back.location_count, doc.location_count);
    for (size_t i = 0; i < back.location_count; i++) {
        assert_string_equal(back.locations[i].function, odd[i].function);
        assert_string_equal(back.locations[i].image, odd[i].image);
        assert_string_equal(back.locations[i].file, odd[i].file);
        assert_true(back.locations[i].offset == odd[i].offset && back.locations[i].line == odd[i].line);
        assert_true(back.locations[i].named == odd[i].named && back.locations[i].role == odd[i].role);
        assert_true(back.locations[i].rule == odd[i].rule && back.locations[i].mark == odd[i].mark);
    }
    free(bytes);
    arena_fini(&arena);
}

static void columns_that_point_nowhere_are_refused(void **state)
{
    (void)state;
    struct resolved doc = document();
    struct resolved_node wrong_nodes[5];
    struct report_sample wrong_samples[3];
    struct resolved_location wrong_locations[3];
    assert_int_equal(decode_of(&doc), 0);
    doc.nodes = memcpy(wrong_nodes, nodes, sizeof nodes);
    wrong_nodes[1].parent = 1;
    assert_int_equal(decode_of(&doc), -1);
    wrong_nodes[1] = (struct resolved_node){0, 3};
    assert_int_equal(decode_of(&doc), -1);
    doc.nodes = nodes;
    doc.samples = memcpy(wrong_samples, samples, sizeof samples);
    wrong_samples[0].node = 5;
    assert_int_equal(decode_of(&doc), -1);
    wrong_samples[0] = samples[0];
    wrong_samples[1].thread = 3;
    assert_int_equal(decode_of(&doc), -1);
    doc.samples = samples;
    doc.locations = memcpy(wrong_locations, locations, sizeof locations);
    wrong_locations[2].rule = 3;
    assert_int_equal(decode_of(&doc), -1);
    wrong_locations[2] = locations[2];
    wrong_locations[0].mark = 3;
    assert_int_equal(decode_of(&doc), -1);
    wrong_locations[0] = locations[0];
    wrong_locations[1].role = MIRE_ROLE_COUNT;
    assert_int_equal(decode_of(&doc), -1);
}

static void indices_that_point_nowhere_are_refused(void **state)
{
    (void)state;
    assert_int_equal(decode_changed("\"launch\":true", "\"launch\":true"), 0);
    assert_int_equal(decode_changed("\"resolved\":2", "\"resolved\":1"), -1);
    assert_int_equal(decode_changed("\"hot\":{\"node\":3", "\"hot\":{\"node\":5"), -1);
    assert_int_equal(decode_changed("\"repeat\":[2,", "\"repeat\":["), -1);
    assert_int_equal(decode_changed("\"caller1\":1", "\"caller1\":3"), -1);
    assert_int_equal(decode_changed("\"caller1\":1", "\"caller1\":-2"), -1);
    assert_int_equal(decode_changed("\"cpu_ms\":900,\"node\":3", "\"cpu_ms\":900,\"node\":9"), -1);
    assert_int_equal(decode_changed("\"line\":[25,", "\"line\":["), -1);
    assert_int_equal(decode_changed("\"pack\":[\"linux_c\",", "\"pack\":["), -1);
    assert_int_equal(decode_changed("\"run\":1,\"thread\":2", "\"run\":1,\"thread\":3"), -1);
    assert_int_equal(decode_changed("\"blame\":{\"location\":2", "\"blame\":{\"location\":3"), -1);
    assert_int_equal(decode_changed("\"verdict\":{\"location\":1", "\"verdict\":{\"location\":3"), -1);
    assert_int_equal(decode_changed("\"itself\":false,\"thread\":0", "\"itself\":false,\"thread\":2"), -1);
    assert_int_equal(decode_changed("\"frame\":2", "\"frame\":3"), -1);
    assert_int_equal(decode_changed("\"count\":[17,", "\"count\":["), -1);
    assert_int_equal(decode_changed("\"rules\":[1,0]", "\"rules\":[1,2]"), -1);
    assert_int_equal(decode_changed("\"turns\"", "\"rounds\""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_comes_back_as_it_was),
        cmocka_unit_test(a_column_ends_where_its_values_stay_the_same),
        cmocka_unit_test(what_is_no_document_is_refused),
        cmocka_unit_test(names_of_offsets_come_back),
        cmocka_unit_test(columns_that_point_nowhere_are_refused),
        cmocka_unit_test(indices_that_point_nowhere_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
