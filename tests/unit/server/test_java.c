/* Frames of Java in a report, with and without their mapping. */
#include "decode/decode.h"
#include "symbolicate/symbolicate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CORPUS MIRE_SOURCE_DIR "/tests/fuzz/corpus/mapping/"

struct given {
    struct arena arena;
    struct report report;
    struct resolved doc;
    struct symbolicate_counts counts;
};

/* The uploaded mapping, for any id. */
static int uploaded(void *context, char *path, size_t room, const uint8_t *id, size_t id_len)
{
    (void)id;
    (void)id_len;
    if (!context)
        return 0;
    snprintf(path, room, "%s", (const char *)context);
    return 1;
}

static void read_report(struct given *out, const char *id, const char *java, const char *rows, const char *up,
                        const char *leaf)
{
    struct decode_fault fault = {0};
    char json[4096], frames[256] = "";
    for (const char *at = rows; *at; at++)
        snprintf(frames + strlen(frames), sizeof frames - strlen(frames), "%s%c", at > rows ? "," : "", *at);
    int len = snprintf(
        json, sizeof json,
        "{\"mire\":1,\"id\":\"019aa1b2-c3d4-7e5f-8a6b-0123456789ab\",\"kind\":\"event\","
        "\"app\":{\"name\":\"a\",\"version\":\"1\"},"
        "\"device\":{\"install\":\"00112233445566778899aabbccddeeff\",\"os\":\"android\",\"arch\":\"aarch64\"},"
        "\"process\":{\"pid\":1,\"name\":\"a\"},\"images\":[{\"name\":\"/data/base.apk\",\"load\":0,\"java\":true%s}],"
        "\"java\":%s,\"frames\":{\"image\":[0,0],\"offset\":[0,%d]},\"nodes\":{\"up\":[%s],\"frame\":[%s]},"
        "\"event\":{\"begin_ns\":0,\"duration_ms\":1,\"threshold_ms\":1,\"open\":false,"
        "\"samples\":{\"at_ms\":[0],\"weight_ms\":[1],\"node\":[%s]}}}",
        id, java, strchr(rows, '1') != NULL, up, frames, leaf);
    assert_in_range(len, 1, sizeof json - 1);
    arena_init(&out->arena, 16 << 20);
    enum decode_outcome outcome =
        decode_report(&out->report, &out->arena, &fault, "mire", "identity", json, (size_t)len);
    if (outcome != MIRE_DECODE_OK)
        print_error("%s: %s\n", fault.path, fault.text);
    assert_int_equal(outcome, MIRE_DECODE_OK);
}

static void resolve(struct given *given, const char *mapping)
{
    struct symbols_options options = MIRE_SYMBOLS_OPTIONS;
    struct symbols *symbols;
    options.uploaded = uploaded;
    options.uploaded_context = (void *)(uintptr_t)mapping;
    assert_int_equal(symbols_open(&symbols, &options), 0);
    assert_int_equal(symbolicate(&given->doc, &given->counts, &given->arena, symbols, &given->report, 0), 0);
    symbols_close(symbols);
}

/* The stack of the only sample, innermost first: "class.method(file:line) ", + for an inlined frame, ? for a name that
 * may mean another function in another build. */
static const char *stack_of(const struct given *given)
{
    static char text[1024];
    size_t len = 0;
    text[0] = '\0';
    for (uint32_t node = given->doc.samples[0].node; node; node = given->doc.nodes[node].parent) {
        const struct resolved_location *location = &given->doc.locations[given->doc.nodes[node].location];
        len += (size_t)snprintf(text + len, sizeof text - len, "%s(%s:%u)%s%s%s", location->function, location->file,
                                location->line, location->inlined ? "+" : "", location->build ? "?" : "",
                                location->named ? " " : "! ");
    }
    return text;
}

#define NAMES                                                                                                         \
    "{\"texts\":[\"a.a\",\"b\",\"Loop.java\",\"x.Loop\"],\"class\":[0,3],\"method\":[1,1],\"file\":[-1,2],\"line\":[" \
    "1,9]}"

static void without_its_mapping_a_name_is_of_its_build(void **state)
{
    (void)state;
    struct given given;
    read_report(&given, ",\"id\":\"5b46fdc0\"", NAMES, "10", "1,1", "2");
    resolve(&given, NULL);
    assert_string_equal(stack_of(&given), "a.a.b(:1)? x.Loop.b(Loop.java:9)? ");
    assert_string_equal(given.doc.locations[0].build, "5b46fdc0");
    assert_int_equal(given.counts.missing_count, 1);
    assert_int_equal(given.counts.missing[0].had, MIRE_DEPTH_UNKNOWN);
    assert_int_equal(given.counts.unresolved, 2);
    arena_fini(&given.arena);
}

static void with_it_names_are_those_of_the_source(void **state)
{
    (void)state;
    struct given given;
    read_report(&given, ",\"id\":\"5b46fdc0\"", NAMES, "10", "1,1", "2");
    resolve(&given, CORPUS "proguard.txt");
    assert_string_equal(stack_of(&given),
                        "com.example.Deep$Er.deepest(Deep.java:9)+ com.example.Main.middle(Main.java:20)+ "
                        "com.example.Main.outer(Main.java:40) x.Loop.b(Loop.java:9) ");
    assert_int_equal(given.counts.missing_count, 0);
    assert_int_equal(given.counts.unresolved, 0);
    arena_fini(&given.arena);
}

static void names_that_were_never_short_lack_nothing(void **state)
{
    (void)state;
    struct given given;
    read_report(&given, "", NAMES, "1", "1", "1");
    resolve(&given, NULL);
    assert_string_equal(stack_of(&given), "x.Loop.b(Loop.java:9) ");
    assert_int_equal(given.counts.missing_count, 0);
    arena_fini(&given.arena);
}

static void methods_that_share_a_short_name_are_one_place(void **state)
{
    (void)state;
    struct given given;
    read_report(&given, ",\"id\":\"5b46fdc0\"", "{\"texts\":[\"a.a\",\"d\"],\"class\":[0],\"method\":[1]}", "0", "1",
                "1");
    resolve(&given, CORPUS "proguard.txt");
    assert_string_equal(stack_of(&given), "com.example.Main.one or com.example.Main.two(Main.java:0) ");
    arena_fini(&given.arena);
}

static void an_outline_stands_for_a_place_in_its_caller(void **state)
{
    (void)state;
    struct given given;
    read_report(&given, ",\"id\":\"5b46fdc0\"",
                "{\"texts\":[\"a\",\"b\",\"s\"],\"class\":[0,1],\"method\":[0,2],\"line\":[2,27]}", "10", "1,1", "2");
    resolve(&given, CORPUS "r8.txt");
    assert_string_equal(stack_of(&given), "some.Class.outlineCaller(Some.kt:100) ");
    arena_fini(&given.arena);
}

static void an_outline_alone_is_left_out(void **state)
{
    (void)state;
    struct given given;
    read_report(&given, ",\"id\":\"5b46fdc0\"", "{\"texts\":[\"a\"],\"class\":[0],\"method\":[0],\"line\":[2]}", "0",
                "1", "1");
    resolve(&given, CORPUS "r8.txt");
    assert_string_equal(stack_of(&given), "");
    arena_fini(&given.arena);
}

static void numbers_are_those_of_a_methodmap(void **state)
{
    (void)state;
    struct given given;
    read_report(&given, ",\"id\":\"5b46fdc0\"",
                "{\"texts\":[],\"class\":[-1,-1],\"method\":[-1,-1],\"number\":[7,999]}", "10", "1,1", "2");
    resolve(&given, CORPUS "methodmap.txt");
    assert_string_equal(stack_of(&given), "com.e.Main$1.run(:0) method 999(:0)! ");
    assert_int_equal(given.counts.missing_count, 0);
    resolve(&given, NULL);
    assert_string_equal(stack_of(&given), "method 7(:0)?! method 999(:0)?! ");
    assert_int_equal(given.counts.missing_count, 1);
    resolve(&given, CORPUS "proguard.txt"); /* without method numbers */
    assert_int_equal(given.counts.missing_count, 1);
    arena_fini(&given.arena);
}

static void versions_have_ids_of_their_own(void **state)
{
    (void)state;
    uint8_t one[MIRE_MAPPING_ID_LEN], other[MIRE_MAPPING_ID_LEN];
    static const struct {
        int32_t app;
        const char *version, *build;
    } rows[] = {{2, "1.2", "7"}, {1, "1.3", "7"}, {1, "1.2", "8"}, {1, "1.2", ""}, {1, "1.27", ""}};
    mapping_id(one, 1, "1.2", "7");
    mapping_id(other, 1, "1.2", "7");
    assert_memory_equal(one, other, sizeof one);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mapping_id(other, rows[i].app, rows[i].version, rows[i].build);
        assert_memory_not_equal(one, other, sizeof one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_its_mapping_a_name_is_of_its_build),
        cmocka_unit_test(with_it_names_are_those_of_the_source),
        cmocka_unit_test(names_that_were_never_short_lack_nothing),
        cmocka_unit_test(methods_that_share_a_short_name_are_one_place),
        cmocka_unit_test(an_outline_stands_for_a_place_in_its_caller),
        cmocka_unit_test(an_outline_alone_is_left_out),
        cmocka_unit_test(numbers_are_those_of_a_methodmap),
        cmocka_unit_test(versions_have_ids_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
