/* Breakpad files: whose they are, what they say of an address, and what they do not. */
#include "object/object.h"
#include "symbols/symbols.h"

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
    assert_true(module_open(&module, why, CORPUS "inlines.sym", NULL, 0));
    assert_string_equal(inlines(module, 0x1000), "outer(int)@/src/a.c:10");
    assert_string_equal(inlines(module, 0x1013), "middle(int)@/src/b.h:5 < outer(int)@/src/a.c:12");
    assert_string_equal(inlines(module, 0x1014),
                        "deepest(int)@/src/b.h:2 < middle(int)@/src/b.h:7 < outer(int)@/src/a.c:12");
    assert_string_equal(inlines(module, 0x101f), "middle(int)@/src/b.h:6 < outer(int)@/src/a.c:12");
    assert_string_equal(inlines(module, 0x1020), "outer(int)@/src/a.c:13");
    assert_string_equal(inlines(module, 0x1030), "middle(int)@/src/a.c:13 < outer(int)@/src/a.c:12");
    assert_string_equal(inlines(module, 0x1109), "folded@?:0"); /* behind its only line */
    module_close(module);
}

static void a_symbol_without_a_size_ends_where_the_next_function_begins(void **state)
{
    (void)state;
    char why[MIRE_SYMBOL_WHY];
    struct module *module;
    assert_true(module_open(&module, why, CORPUS "inlines.sym", NULL, 0));
    assert_string_equal(inlines(module, 0x8ff), "");
    assert_string_equal(inlines(module, 0x900), "begin@?:0");
    assert_string_equal(inlines(module, 0xfff), "begin@?:0");
    assert_string_equal(inlines(module, 0x1040), ""); /* between two functions */
    assert_string_equal(inlines(module, 0x1200), "last@?:0");
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
    assert_true(module_open(&module, why, CORPUS "hostile.sym", NULL, 0));
    assert_string_equal(inlines(module, 0x10), "a@?:0");
    module_close(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_code_id_is_the_build_id),
        cmocka_unit_test(a_module_id_is_turned_back_except_apples),
        cmocka_unit_test(one_without_an_id_is_refused),
        cmocka_unit_test(an_address_has_its_line_and_inlined_calls),
        cmocka_unit_test(a_symbol_without_a_size_ends_where_the_next_function_begins),
        cmocka_unit_test(a_cut_id_is_found_by_the_whole_build_id),
        cmocka_unit_test(what_makes_no_sense_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
