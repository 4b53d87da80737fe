/* Breakpad files: their identity, and known and unknown addresses. */
#include "object/object.h"
#include "symbolizer/symbolizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CORPUS MIRE_SOURCE_DIR "/tests/fuzz/corpus/breakpad/"

static const uint8_t build_id[20] = {0xf1, 0xc3, 0xbc, 0xc0, 0x27, 0x98, 0x65, 0xfe, 0x30, 0x58,
                                     0x40, 0x4b, 0x28, 0x31, 0xd9, 0xe6, 0x41, 0x35, 0x38, 0x6c};

static void look_at(struct object_facts *out, const char *text)
{
    assert_null(object_look(out, text, strlen(text), NULL, 0));
}

static void the_code_id_is_the_build_id(void **state)
{
    (void)state;
    struct object_facts facts;
    look_at(&facts, "MODULE Linux x86_64 C0BCC3F19827FE653058404B2831D9E60 app\n"
                    "INFO CODE_ID F1C3BCC0279865FE3058404B2831D9E64135386C\nFUNC 10 4 0 f\n");
    assert_int_equal(facts.id_len, 20);
    assert_memory_equal(facts.id, build_id, 20);
    assert_true(facts.has_dwarf);
    assert_false(facts.has_symbols);
    assert_string_equal(facts.arch, "x86_64");
}

static void a_module_id_is_turned_back_except_apples(void **state)
{
    (void)state;
    static const uint8_t as_told[4] = {0xc0, 0xbc, 0xc3, 0xf1};
    struct object_facts facts;
    look_at(&facts, "MODULE Android arm64 C0BCC3F19827FE653058404B2831D9E60 app\nPUBLIC 10 0 f\n");
    assert_int_equal(facts.id_len, 16);
    assert_memory_equal(facts.id, build_id, 16);
    assert_true(facts.has_symbols);
    assert_string_equal(facts.arch, "aarch64");
    look_at(&facts, "MODULE mac x86_64 C0BCC3F19827FE653058404B2831D9E60 app\nPUBLIC 10 0 f\n");
    assert_int_equal(facts.id_len, 16);
    assert_memory_equal(facts.id, as_told, 4);
}

static void one_without_an_id_is_refused(void **state)
{
    (void)state;
    struct object_facts facts;
    static const char text[] = "MODULE Linux x86_64 C0BC app\nFUNC 10 4 0 f\n";
    assert_non_null(object_look(&facts, text, sizeof text - 1, NULL, 0));
}

static const char *inlines(struct module *module, uint64_t address)
{
    static char text[512];
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    size_t len = 0;
    size_t count = module_lookup(frames, module, address);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s@%s:%u", i ? " < " : "", frames[i].function,
                                frames[i].file ? frames[i].file : "?", frames[i].line);
    return text;
}

static void an_address_has_its_line_and_inlined_calls(void **state)
{
    (void)state;
    char why[MIRE_SYMBOL_WHY];
    struct module *module;
    assert_true(module_open(&module, why, CORPUS "inlines.sym", NULL, 0, NULL, 0));
    assert_string_equal(inlines(module, 0x1000), "outer(int)@/src/a.c:10");
    assert_string_equal(inlines(module, 0x1013), "middle(int)@/src/b.h:5 < outer(int)@/src/a.c:12");
    assert_string_equal(inlines(module, 0x1014),
                        "deepest(int)@/src/b.h:2 < middle(int)@/src/b.h:7 < outer(int)@/src/a.c:12");
    assert_string_equal(inlines(module, 0x101f), "middle(int)@/src/b.h:6 < outer(int)@/src/a.c:12");
    assert_string_equal(inlines(module, 0x1020), "outer(int)@/src/a.c:13");
    assert_string_equal(inlines(module, 0x1030), "middle(int)@/src/a.c:13 < outer(int)@/src/a.c:12");
    assert_string_equal(inlines(module, 0x1109), "folded@?:0"); /* after its only line */
    module_close(module);
}

static void a_symbol_without_a_size_ends_where_the_next_function_begins(void **state)
{
    (void)state;
    char why[MIRE_SYMBOL_WHY];
    struct module *module;
    assert_true(module_open(&module, why, CORPUS "inlines.sym", NULL, 0, NULL, 0));
    assert_string_equal(inlines(module, 0x8ff), "");
    assert_string_equal(inlines(module, 0x900), "begin@?:0");
    assert_string_equal(inlines(module, 0xfff), "begin@?:0");
    assert_string_equal(inlines(module, 0x1040), ""); /* between two functions */
    assert_string_equal(inlines(module, 0x1200), "last@?:0");
    module_close(module);
}

/* Open a file with a text; its one function begins at 0x1000. */
static void open_text(struct module **out, const char *text)
{
    char path[] = "/tmp/mire-breakpad-XXXXXX", why[MIRE_SYMBOL_WHY];
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    assert_true(module_open(out, why, path, NULL, 0, NULL, 0));
    unlink(path);
}

static void a_call_is_inlined_into_the_one_of_the_depth_above_at_its_address(void **state)
{
    (void)state;
    struct module *module;
    open_text(&module, "MODULE Linux x86_64 C0BCC3F19827FE653058404B2831D9E60 app\nFILE 1 a.c\nFILE 2 b.h\n"
                       "INLINE_ORIGIN 1 leaf\nINLINE_ORIGIN 2 one\nINLINE_ORIGIN 3 two\nINLINE_ORIGIN 4 three\n"
                       "FUNC 1000 100 0 f\n"
                       "INLINE 2 30 2 1 1004 4 1044 4 1064 4\n" /* before the outer ones */
                       "INLINE 0 10 1 2 1000 20\n"
                       "INLINE 1 20 2 3 1000 10 1040 10\n"
                       "INLINE 0 11 1 4 1040 10 1060 10\n"
                       "1000 100 5 1\n");
    assert_string_equal(inlines(module, 0x1000), "two@a.c:5 < one@b.h:20 < f@a.c:10");
    assert_string_equal(inlines(module, 0x1004), "leaf@a.c:5 < two@b.h:30 < one@b.h:20 < f@a.c:10");
    assert_string_equal(inlines(module, 0x1010), "one@a.c:5 < f@a.c:10");
    assert_string_equal(inlines(module, 0x1020), "f@a.c:5");
    assert_string_equal(inlines(module, 0x1044), "leaf@a.c:5 < two@b.h:30 < three@b.h:20 < f@a.c:11");
    assert_string_equal(inlines(module, 0x1048), "two@a.c:5 < three@b.h:20 < f@a.c:11");
    assert_string_equal(inlines(module, 0x1064), "leaf@a.c:5 < three@b.h:30 < f@a.c:11"); /* no depth 1 here */
    assert_string_equal(inlines(module, 0x1070), "f@a.c:5");
    module_close(module);
}

static void inlined_calls_of_the_older_form_have_no_file(void **state)
{
    (void)state;
    struct module *module;
    open_text(&module, "MODULE Linux x86_64 C0BCC3F19827FE653058404B2831D9E60 app\nFILE 1 a.c\nFILE 2 b.h\n"
                       "INLINE_ORIGIN 1 inner\nINLINE_ORIGIN 2 outer\n"
                       "FUNC 1000 20 0 f\n"
                       "INLINE 0 10 2 1004 10\n"
                       "INLINE 1 20 1 1008 4\n"
                       "1000 4 5 1\n1004 1c 6 2\n");
    assert_string_equal(inlines(module, 0x1000), "f@a.c:5");
    assert_string_equal(inlines(module, 0x1004), "outer@b.h:6 < f@a.c:10");
    assert_string_equal(inlines(module, 0x1008), "inner@b.h:6 < outer@?:20 < f@a.c:10");
    module_close(module);
}

static const char *sent;

static int uploaded(void *context, char *path, size_t room, const uint8_t *id, size_t id_len)
{
    struct object_facts facts;
    struct file_bytes file;
    (void)context;
    snprintf(path, room, "%s", sent);
    assert_true(file_bytes_map(&file, path));
    assert_null(object_look(&facts, file.bytes, file.len, NULL, 0));
    file_bytes_unmap(&file);
    return facts.id_len == id_len && !memcmp(facts.id, id, id_len);
}

static void a_cut_id_is_found_by_the_whole_build_id(void **state)
{
    (void)state;
    char path[] = "/tmp/mire-breakpad-XXXXXX";
    static const char text[] = "MODULE Linux x86_64 C0BCC3F19827FE653058404B2831D9E60 app\nPUBLIC 10 0 f\n";
    struct symbols_options options = MIRE_SYMBOLS_OPTIONS;
    struct symbols *symbols;
    struct module *module;
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    close(fd);
    sent = path;
    options.uploaded = uploaded;
    assert_int_equal(symbols_open(&symbols, &options), 0);
    assert_int_equal(symbols_find(&module, symbols, build_id, sizeof build_id, "/x", 0), 0);
    assert_non_null(module);
    assert_string_equal(inlines(module, 0x10), "f@?:0");
    symbols_close(symbols);
    unlink(path);
}

static void what_makes_no_sense_is_passed_over(void **state)
{
    (void)state;
    char why[MIRE_SYMBOL_WHY];
    struct module *module;
    assert_true(module_open(&module, why, CORPUS "hostile.sym", NULL, 0, NULL, 0));
    assert_string_equal(inlines(module, 0x10), "a@?:0");
    module_close(module);
}

static enum symbol_depth depth_of(const char *records)
{
    char text[512];
    struct object *object = NULL;
    snprintf(text, sizeof text, "MODULE Linux x86_64 C0BCC3F19827FE653058404B2831D9E60 app\n%s", records);
    const struct file_bytes file = {.bytes = (const uint8_t *)text, .len = strlen(text)};
    assert_null(object_open(&object, &file, NULL, 0, 1));
    enum symbol_depth depth = object_depth(object);
    object_close(object);
    return depth;
}

/* Functions without records of lines are names, whatever the kind of the file. */
static void the_depth_is_that_of_the_records(void **state)
{
    (void)state;
    assert_int_equal(depth_of("PUBLIC 10 0 f\n"), MIRE_DEPTH_NAMES);
    assert_int_equal(depth_of("FILE 0 a.c\nFUNC 10 4 0 f\nSTACK CFI INIT 10 4 .cfa: $rsp 8 +\n"), MIRE_DEPTH_NAMES);
    assert_int_equal(depth_of("FILE 0 a.c\nFUNC 10 4 0 f\n10 4 7 0\n"), MIRE_DEPTH_LINES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_depth_is_that_of_the_records),
        cmocka_unit_test(the_code_id_is_the_build_id),
        cmocka_unit_test(a_module_id_is_turned_back_except_apples),
        cmocka_unit_test(one_without_an_id_is_refused),
        cmocka_unit_test(an_address_has_its_line_and_inlined_calls),
        cmocka_unit_test(a_call_is_inlined_into_the_one_of_the_depth_above_at_its_address),
        cmocka_unit_test(inlined_calls_of_the_older_form_have_no_file),
        cmocka_unit_test(a_symbol_without_a_size_ends_where_the_next_function_begins),
        cmocka_unit_test(a_cut_id_is_found_by_the_whole_build_id),
        cmocka_unit_test(what_makes_no_sense_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
