/* Profiles: pprof in any order of fields, OTLP of two versions, heap profiles in text; and the reader of messages. */
#include "decode/otlp.h"
#include "decode/pprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/foreign.h"
#include "support/protowrite.h"

/* ---- messages ---- */

static void numbers_texts_and_what_is_wrong(void **state)
{
    struct message m = {.len = 0};
    struct proto_field field;
    (void)state;
    put_number(&m, 1, UINT64_MAX);
    put_fixed(&m, 2, 0x0102030405060708);
    put_text(&m, 536870911, "abc");
    struct proto p = proto_of(m.bytes, m.len);
    assert_true(proto_next(&field, &p));
    assert_true(field.number == 1 && field.value == UINT64_MAX);
    assert_true(proto_next(&field, &p));
    assert_true(field.number == 2 && field.value == 0x0102030405060708);
    assert_true(proto_next(&field, &p));
    assert_true(field.number == 536870911 && field.len == 3 && !memcmp(field.bytes, "abc", 3));
    assert_false(proto_next(&field, &p));
    assert_null(p.wrong);

    static const struct {
        const char *bytes;
        size_t len, place;
    } rows[] = {{"\x08", 1, 1},                                              /* no number after the key */
                {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, 1}, /* eleven bytes */
                {"\x0a\x05"
                 "ab",
                 4, 1},                       /* longer than the rest */
                {"\x09\1\2\3\4\5\6\7", 8, 1}, /* seven bytes of eight */
                {"\x0b", 1, 0},               /* a group */
                {"\x02\x00", 2, 0}};          /* field 0 */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        p = proto_of(rows[i].bytes, rows[i].len);
        while (proto_next(&field, &p))
            ;
        assert_non_null(p.wrong);
        assert_int_equal(proto_place(&p), rows[i].place);
    }
}

/* ---- pprof ---- */

enum {
    S_EMPTY,
    S_INUSE,
    S_BYTES,
    S_OBJECTS,
    S_COUNT,
    S_ALLOC,
    S_ALLOCS,
    S_MAIN,
    S_WORK,
    S_FILE,
    S_EXE,
    S_ID,
    S_LIB,
    S_LABEL,
    S_CATEGORY,
    S_WIDGET,
    S_INLINED,
    S_CPU,
    S_NANO,
    S_SAMPLES
};
static const char *const texts[] = {
    "",          "inuse_space", "bytes",        "inuse_objects", "count",       "alloc_space",  "alloc_objects",
    "main.main", "main.work",   "work.go",      "/usr/bin/app",  "00ff",        "/lib/libx.so", "bytes",
    "category",  "Widget",      "main.inlined", "cpu",           "nanoseconds", "samples"};

static void put_type(struct message *m, unsigned field, uint64_t type, uint64_t unit)
{
    struct message inner = {.len = 0};
    put_number(&inner, 1, type);
    put_number(&inner, 2, unit);
    put_message(m, field, &inner);
}

static void put_tables(struct message *m)
{
    struct message inner = {.len = 0}, line = {.len = 0};
    static const struct {
        uint64_t id, start, limit, offset, file, build;
    } mappings[] = {{9, 0x400000, 0x500000, 0, S_EXE, S_ID}, {4, 0x7f0000001000, 0x7f0000005000, 0x1000, S_LIB, 0}};
    for (size_t i = 0; i < 2; i++) {
        put_number(&inner, 1, mappings[i].id);
        put_number(&inner, 2, mappings[i].start);
        put_number(&inner, 3, mappings[i].limit);
        put_number(&inner, 4, mappings[i].offset);
        put_number(&inner, 5, mappings[i].file);
        put_number(&inner, 6, mappings[i].build);
        put_message(m, 3, &inner);
    }
    static const uint64_t names[] = {S_MAIN, S_WORK, S_INLINED};
    for (size_t i = 0; i < 3; i++) {
        put_number(&inner, 1, 70 - i); /* falling */
        put_number(&inner, 2, names[i]);
        put_number(&inner, 4, S_FILE);
        put_message(m, 5, &inner);
    }
    /* 11: main, line 3; 12: inlined in work; 13: in the library, nameless */
    for (uint64_t id = 11; id <= 13; id++) {
        put_number(&inner, 1, id);
        put_number(&inner, 2, id == 13 ? 4 : 9);
        put_number(&inner, 3, id == 13 ? 0x7f0000001234 : 0x400000 + id);
        for (int n = 0; id < 13 && n < (id == 12 ? 2 : 1); n++) {
            put_number(&line, 1, id == 11 ? 70 : n == 0 ? 68 : 69);
            put_number(&line, 2, 3 + (uint64_t)n);
            put_message(&inner, 4, &line);
        }
        put_message(m, 4, &inner);
    }
}

static void put_strings(struct message *m)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_text(m, 6, texts[i]);
}

/* leaf 13 < 12 < 11 */
static void put_sample(struct message *m, bool packed, const uint64_t *values, size_t count, uint64_t label,
                       uint64_t number)
{
    struct message inner = {.len = 0}, part = {.len = 0};
    if (packed) {
        put_varint(&part, 13);
        put_varint(&part, 12);
        put_varint(&part, 11);
        put_message(&inner, 1, &part);
        for (size_t i = 0; i < count; i++)
            put_varint(&part, values[i]);
        put_message(&inner, 2, &part);
    } else {
        for (uint64_t id = 13; id >= 11; id--)
            put_number(&inner, 1, id);
        for (size_t i = 0; i < count; i++)
            put_number(&inner, 2, values[i]);
    }
    put_number(&part, 1, label);
    put_number(&part, label == S_CATEGORY ? 2 : 3, number);
    put_message(&inner, 3, &part);
    put_message(m, 2, &inner);
}

static void make_heap(struct message *m, bool packed)
{
    static const uint64_t a[] = {10, 1000, 2, 200}, b[] = {1, 4096, 1, 4096};
    m->len = 0;
    put_number(m, 9, 1700000000000000000); /* the first byte is no 0x0a */
    put_sample(m, packed, a, 4, S_LABEL, 100);
    put_sample(m, !packed, a, 4, S_LABEL, 100);
    put_sample(m, packed, b, 4, S_CATEGORY, S_WIDGET);
    put_type(m, 1, S_ALLOCS, S_COUNT);
    put_type(m, 1, S_ALLOC, S_BYTES);
    put_type(m, 1, S_OBJECTS, S_COUNT);
    put_type(m, 1, S_INUSE, S_BYTES);
    put_tables(m);
    put_strings(m);
    put_number(m, 12, 524288);
}

static void a_heap_profile_is_a_memory_report(void **state)
{
    struct message m;
    struct foreign f;
    (void)state;
    make_heap(&m, true);
    foreign_good(&f, pprof_decode, m.bytes, m.len);
    foreign_check(&f);
    const struct memory *memory = &f.report.memory;
    assert_int_equal(f.report.kind, MIRE_REPORT_MEMORY);
    assert_true(memory->sampled && memory->interval_bytes.value == 524288);
    assert_int_equal(memory->taken_wall_ms.value, 1700000000000);
    assert_int_equal(memory->live_count, 5);
    assert_int_equal(memory->live_bytes, 4496);
    assert_int_equal(memory->category_count, 2);
    assert_string_equal(memory->categories[0].name, "Widget");
    assert_int_equal(memory->categories[0].kind, MIRE_MEMORY_OBJECT);
    assert_string_equal(memory->categories[1].name, "Malloc 112"); /* the class of 100 bytes */
    assert_int_equal(memory->categories[1].live_bytes, 400);
    assert_int_equal(memory->categories[1].total_bytes.value, 2000);
    assert_int_equal(memory->stack_count, 2);
    assert_int_equal(memory->stacks[1].count, 4);
    assert_int_equal(memory->stacks[1].total_count.value, 20);
    uint32_t node = memory->stacks[1].node;
    assert_int_equal(foreign_depth(&f, node), 4);
    assert_string_equal(foreign_frame(&f, node, 0), "/lib/libx.so+0x1234"); /* its bias is start less offset */
    assert_string_equal(foreign_frame(&f, node, 1), "main.inlined");
    assert_string_equal(foreign_frame(&f, node, 2), "main.work");
    assert_string_equal(foreign_frame(&f, node, 3), "main.main");
    const struct report_frame *outer = &f.report.frames[f.report.nodes[1].frame];
    assert_int_equal(outer->names->line, 3);
    assert_string_equal(outer->names->file, "work.go");
    assert_false(outer->names->whole);
    assert_int_equal(outer->offset, 0x40000b); /* a program that is not moved has no bias */
    assert_int_equal(f.report.images[outer->image].id_len, 2);
    foreign_free(&f);
    foreign_torture(pprof_decode, (const char *)m.bytes, m.len, 1);
}

static void a_cpu_profile_is_an_event(void **state)
{
    static const uint64_t values[] = {3, 30000000};
    struct message m = {.len = 0};
    struct foreign f;
    (void)state;
    put_type(&m, 1, S_SAMPLES, S_COUNT);
    put_type(&m, 1, S_CPU, S_NANO);
    put_sample(&m, true, values, 2, S_LABEL, 0);
    put_tables(&m);
    put_strings(&m);
    put_number(&m, 9, 1700000000000000000);
    put_number(&m, 10, 60000000);
    put_type(&m, 11, S_CPU, S_NANO);
    put_number(&m, 12, 10000000);
    foreign_good(&f, pprof_decode, m.bytes, m.len);
    foreign_check(&f);
    const struct report_event *event = &f.report.event;
    assert_string_equal(event->trigger, "cpu");
    assert_int_equal(event->duration_ms, 60);
    assert_int_equal(event->period_ms, 10);
    assert_int_equal(event->cpu.percent, 50);
    assert_int_equal(event->sample_count, 1);
    assert_int_equal(event->samples[0].weight_ms, 30);
    assert_int_equal(event->begin_wall_ms.value, 1700000000000);
    foreign_free(&f);
}

static void what_is_no_profile_is_refused_with_its_byte(void **state)
{
    static const uint64_t values[] = {1, 2, 3};
    struct message m = {.len = 0};
    struct foreign f;
    (void)state;
    foreign_read(&f, pprof_decode, "", 0);
    assert_int_equal(f.outcome, MIRE_DECODE_MALFORMED);
    foreign_free(&f);

    put_type(&m, 1, S_INUSE, S_BYTES);
    put_tables(&m);
    put_strings(&m);
    size_t before = m.len;
    put_sample(&m, true, values, 3, S_LABEL, 0); /* three values of one type */
    foreign_read(&f, pprof_decode, m.bytes, m.len);
    assert_int_equal(f.outcome, MIRE_DECODE_MALFORMED);
    assert_in_range(f.fault.position, before, m.len);
    assert_non_null(strstr(f.fault.text, "not as many values as there are types"));
    foreign_free(&f);

    m.len = 0;
    put_type(&m, 1, S_LABEL, S_COUNT); /* neither memory nor time */
    put_strings(&m);
    foreign_read(&f, pprof_decode, m.bytes, m.len);
    assert_non_null(strstr(f.fault.text, "neither memory nor time"));
    foreign_free(&f);
}

/* ---- OTLP ---- */

enum { O_STACKS = 20, O_KEY = 21 };

static void put_otlp_strings(struct message *dictionary)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_text(dictionary, 5, texts[i]);
    put_text(dictionary, 5, "process.executable.build_id.gnu");
}

static void put_attribute(struct message *m, unsigned field, const char *key, const char *text)
{
    struct message inner = {.len = 0}, value = {.len = 0};
    put_text(&inner, 1, key);
    put_text(&value, 1, text);
    put_message(&inner, 2, &value);
    put_message(m, field, &inner);
}

/* Location 1 < location 2, the first with two lines. */
static void make_dictionary(struct message *d, bool old)
{
    struct message inner = {.len = 0}, line = {.len = 0};
    d->len = 0;
    put_message(d, 1, &inner); /* the empty ones */
    put_number(&inner, 1, 0x400000);
    put_number(&inner, 2, 0x500000);
    put_number(&inner, 4, S_EXE);
    put_number(&inner, 5, 1);
    put_message(d, 1, &inner);
    put_message(d, 2, &inner);
    put_number(&inner, 1, 1);
    put_number(&inner, 2, 0x400010);
    for (uint64_t n = 0; n < 2; n++) {
        put_number(&line, 1, 1 + n);
        put_number(&line, 2, 5 + n);
        put_message(&inner, 3, &line);
    }
    put_message(d, 2, &inner);
    put_number(&inner, 1, 1);
    put_number(&inner, 2, 0x400020);
    put_message(d, 2, &inner);
    put_message(d, 3, &inner);
    put_number(&inner, 1, S_INLINED);
    put_number(&inner, 3, S_FILE);
    put_message(d, 3, &inner);
    put_number(&inner, 1, S_WORK);
    put_message(d, 3, &inner);
    put_message(d, 6, &inner);
    if (old)
        put_text(&inner, 1, "process.executable.build_id.gnu");
    else
        put_number(&inner, 1, O_STACKS);
    put_text(&line, 1, "0abc");
    put_message(&inner, 2, &line);
    put_message(d, 6, &inner);
    put_otlp_strings(d);
    if (!old) {
        put_message(d, 7, &inner);
        put_varint(&line, 1);
        put_varint(&line, 2);
        put_message(&inner, 1, &line);
        put_message(d, 7, &inner);
    }
}

static void make_otlp(struct message *m, bool old, uint64_t type, uint64_t unit, uint64_t value)
{
    struct message dictionary, profile = {.len = 0}, inner = {.len = 0}, part = {.len = 0}, scope = {.len = 0},
                               resource = {.len = 0};
    m->len = 0;
    put_type(&profile, 1, type, unit);
    if (old) {
        put_number(&inner, 1, 1);
        put_number(&inner, 2, 2);
        put_varint(&part, value);
        put_message(&inner, 3, &part);
    } else {
        put_number(&inner, 1, 1);
        put_varint(&part, value);
        put_varint(&part, value);
        put_message(&inner, 4, &part);
    }
    put_message(&profile, 2, &inner);
    if (old) {
        put_varint(&part, 9); /* not of the sample: it begins at 1 */
        put_varint(&part, 1);
        put_varint(&part, 2);
        put_message(&profile, 3, &part);
        put_number(&profile, 4, 1700000000000000000);
        put_number(&profile, 5, 1000000000);
    } else {
        put_fixed(&profile, 3, 1700000000000000000);
        put_number(&profile, 4, 1000000000);
    }
    put_attribute(&inner, 1, "service.name", "shop");
    put_attribute(&inner, 1, "service.version", "1.2");
    put_message(&resource, 1, &inner);
    put_message(&scope, 2, &profile);
    put_message(&resource, 2, &scope);
    put_message(m, 1, &resource);
    make_dictionary(&dictionary, old);
    put_message(m, 2, &dictionary);
}

static void profiles_of_opentelemetry_of_both_versions(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        struct message m;
        struct foreign f;
        make_otlp(&m, old, S_CPU, S_NANO, old ? 500000000 : 250000000);
        foreign_good(&f, otlp_decode, m.bytes, m.len);
        foreign_check(&f);
        const struct report *report = &f.report;
        assert_string_equal(report->app.name, "shop");
        assert_string_equal(report->app.version, "1.2");
        assert_string_equal(report->event.trigger, "cpu");
        assert_int_equal(report->event.duration_ms, 1000);
        assert_int_equal(report->event.cpu.percent, 50);
        assert_int_equal(report->event.begin_wall_ms.value, 1700000000000);
        assert_int_equal(report->event.sample_count, 1);
        uint32_t node = report->event.samples[0].node;
        assert_int_equal(foreign_depth(&f, node), 3);
        assert_string_equal(foreign_frame(&f, node, 0), "main.inlined");
        assert_string_equal(foreign_frame(&f, node, 1), "main.work");
        assert_string_equal(foreign_frame(&f, node, 2), "/usr/bin/app+0x400020");
        assert_int_equal(report->images[0].id_len, 2);
        foreign_free(&f);
        foreign_torture(otlp_decode, (const char *)m.bytes, m.len, 1);
        make_otlp(&m, old, S_INUSE, S_BYTES, 1 << 20);
        foreign_good(&f, otlp_decode, m.bytes, m.len);
        foreign_check(&f);
        assert_int_equal(f.report.kind, MIRE_REPORT_MEMORY);
        assert_int_equal(f.report.memory.live_bytes, old ? 1 << 20 : 2 << 20);
        foreign_free(&f);
    }
}

/* ---- text ---- */

static const char text_profile[] = "heap profile:      3:      400 [     9:     4000] @ heap_v2/1000\n"
                                   "  2:  200 [ 2: 200] @ 0x401001 0x7f0000001011\n"
                                   "# 0x401000 main+0x1\n"
                                   "  1:  200 [ 7: 3800] @ 0x401001 0x1\n"
                                   "  0:    0 [ 1: 64] @\n"
                                   "\nMAPPED_LIBRARIES:\n"
                                   "00400000-00402000 r--p 00000000 08:01 12  /usr/bin/app\n"
                                   "00401000-00402000 r-xp 00001000 08:01 12  /usr/bin/app\n"
                                   "7f0000001000-7f0000003000 r-xp 00001000 08:01 13  /lib/libx.so\n";

static void a_heap_profile_in_text(void **state)
{
    struct foreign f;
    (void)state;
    foreign_good(&f, heap_text_decode, text_profile, strlen(text_profile));
    foreign_check(&f);
    const struct memory *memory = &f.report.memory;
    assert_true(memory->sampled && memory->interval_bytes.value == 1000);
    /* 2 of 100 bytes stand for 2 / (1 - e^-0.1) = 21.0, 1 of 200 for 5.5 */
    assert_int_equal(memory->live_count, 21 + 5);
    assert_int_equal(memory->live_bytes, 2101 + 1103);
    assert_string_equal(memory->categories[0].name, "Malloc 112");
    const struct memory_stack *stack = &memory->stacks[0];
    assert_string_equal(foreign_frame(&f, stack->node, 0), "main");
    assert_string_equal(foreign_frame(&f, stack->node, 1), "/lib/libx.so+0x1010");
    assert_true(memory->categories[0].total_bytes.known);
    assert_true(foreign_has_note(&f, "has no time of its own"));
    foreign_free(&f);
    foreign_torture(heap_text_decode, text_profile, strlen(text_profile), 1);
    static const char exact[] = "heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @ 0x1\n1: x\n";
    foreign_read(&f, heap_text_decode, exact, strlen(exact));
    assert_int_equal(f.outcome, MIRE_DECODE_MALFORMED);
    assert_non_null(strstr(f.fault.text, "line 3: this is no sample"));
    assert_int_equal(f.fault.position, strlen(exact) - 5);
    foreign_free(&f);
}

/* debug=1 of Go: names behind each sample, also of calls that were inlined, and when the amounts were right. */
static void a_heap_profile_in_text_of_go(void **state)
{
    static const char text[] = "heap profile: 3: 300 [4: 400] @ heap/2\n"
                               "2: 200 [3: 300] @ 0x1001 0x2001 0x3001\n"
                               "#\t0x2000\tmain.(*Cart).add+0x10\t\t/src/my cart.go:17\n"
                               "#\t0x2000\tmain.fill+0x20\t\t\t/src/app.go:18\n"
                               "#\t0x3000\tmain.main+0x30\t\t\t/src/app.go:30\n\n"
                               "1: 100 [1: 100] @ 0x4001 0x3001\n"
                               "#\t0x4000\tmain.keep+0x1\t\t\t/src/app.go:9\n"
                               "#\t0x3000\tmain.main+0x30\t\t\t/src/app.go:30\n\n"
                               "# runtime.MemStats\n# Alloc = 300\n# LastGC = 1795757925197477756\n";
    struct foreign f;
    (void)state;
    foreign_good(&f, heap_text_decode, text, strlen(text));
    foreign_check(&f);
    const struct memory *memory = &f.report.memory;
    assert_int_equal(memory->live_bytes, 300);
    assert_int_equal(memory->taken_wall_ms.value, 1795757925197);
    assert_false(foreign_has_note(&f, "has no time of its own"));
    const struct memory_stack *stack = &memory->stacks[0];
    assert_int_equal(stack->bytes, 200);
    assert_string_equal(foreign_frame(&f, stack->node, 1), "main.(*Cart).add");
    assert_string_equal(foreign_frame(&f, stack->node, 2), "main.fill");
    assert_string_equal(foreign_frame(&f, stack->node, 3), "main.main");
    foreign_free(&f);
    foreign_torture(heap_text_decode, text, strlen(text), 1);
}

/* pprof's own sums of the real files, `go tool pprof -sample_index=N -top -unit=B` (N: inuse_space, alloc_space). */
static void real_profiles_in_text_have_the_sums_of_pprof(void **state)
{
    static const struct {
        const char *file;
        uint64_t live_bytes, total_bytes;
    } rows[] = {{"heap/cppbench.heap", 80935293, 0}, {"heap/gobench.heap", 7721316, 350314738}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct foreign f;
        size_t len;
        char *bytes = foreign_file(&len, rows[i].file);
        if (!bytes)
            skip();
        foreign_good(&f, heap_text_decode, bytes, len);
        foreign_check(&f);
        uint64_t total = 0;
        for (size_t k = 0; k < f.report.memory.category_count; k++)
            total += f.report.memory.categories[k].total_bytes.value;
        assert_int_equal(f.report.memory.live_bytes, rows[i].live_bytes);
        assert_int_equal(total, rows[i].total_bytes);
        foreign_free(&f);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_texts_and_what_is_wrong),
        cmocka_unit_test(a_heap_profile_is_a_memory_report),
        cmocka_unit_test(a_cpu_profile_is_an_event),
        cmocka_unit_test(what_is_no_profile_is_refused_with_its_byte),
        cmocka_unit_test(profiles_of_opentelemetry_of_both_versions),
        cmocka_unit_test(a_heap_profile_in_text),
        cmocka_unit_test(a_heap_profile_in_text_of_go),
        cmocka_unit_test(real_profiles_in_text_have_the_sums_of_pprof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
