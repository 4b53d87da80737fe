/* The rules of reading DWARF, each on a file made byte by byte, and hostile files. */
#include "object/object.h"
#include "cache/cache_inside.h"
#include "cache/convert.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define TEXT      0x1000u
#define TEXT_SIZE 0x1000u

struct buffer {
    uint8_t bytes[1 << 17];
    size_t len;
};

static void put(struct buffer *b, uint64_t value, size_t width)
{
    assert_true(b->len + width <= sizeof b->bytes);
    memcpy(b->bytes + b->len, &value, width);
    b->len += width;
}

static void put_text(struct buffer *b, const char *text)
{
    memcpy(b->bytes + b->len, text, strlen(text) + 1);
    b->len += strlen(text) + 1;
}

/* Abbreviations by number; forms: string, address, four bytes, a reference of four. */
enum { UNIT = 1, FUNCTION, FUNCTION_WITH_CHILDREN, INLINED, SPECIFIED, BLOCK, CLASS };

/* clang-format off */
static const uint8_t abbrevs[] = {
    UNIT, 0x11, 1, 0x03, 0x08, 0x1b, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0,    /* name directory low high */
    FUNCTION, 0x2e, 0, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0,            /* name low high */
    FUNCTION_WITH_CHILDREN, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0,
    INLINED, 0x1d, 0, 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0x59, 0x0b, 0, 0, /* origin low high line */
    SPECIFIED, 0x2e, 0, 0x47, 0x13, 0x11, 0x01, 0x12, 0x06, 0, 0,           /* specification low high */
    BLOCK, 0x0b, 1, 0, 0,
    CLASS, 0x02, 1, 0x01, 0x13, 0, 0,                                       /* sibling */
    0};
/* clang-format on */

static struct buffer info;
static size_t tables = 1; /* of abbreviations, all alike */

static size_t begin_unit(void)
{
    size_t at = info.len;
    put(&info, 0, 4);
    put(&info, 4, 2); /* version */
    put(&info, 0, 4); /* of the abbreviations */
    put(&info, 8, 1);
    put(&info, UNIT, 1);
    put_text(&info, "unit.c");
    put_text(&info, "/src");
    put(&info, TEXT, 8);
    put(&info, TEXT_SIZE, 4);
    return at;
}

static void end_unit(size_t at)
{
    put(&info, 0, 1);
    uint32_t len = (uint32_t)(info.len - at - 4);
    memcpy(info.bytes + at, &len, 4);
}

static size_t add_function(unsigned kind, const char *name, uint64_t low, uint32_t size)
{
    size_t at = info.len;
    put(&info, kind, 1);
    put_text(&info, name);
    put(&info, low, 8);
    put(&info, size, 4);
    return at;
}

/* An entry that gets its name from the entry at `of`. */
static size_t add_reference(unsigned kind, size_t of, uint64_t low, uint32_t size)
{
    size_t at = info.len;
    put(&info, kind, 1);
    put(&info, of, 4);
    put(&info, low, 8);
    put(&info, size, 4);
    if (kind == INLINED)
        put(&info, 77, 1);
    return at;
}

/* An ELF file of .text (without bytes), .debug_abbrev and .debug_info; `spoil` may change its section headers. */
static uint8_t *make_file(size_t *len_out, void (*spoil)(Elf64_Shdr *rows))
{
    static const char names[] = "\0.text\0.debug_abbrev\0.debug_info\0.shstrtab";
    size_t at = sizeof(Elf64_Ehdr);
    size_t abbrevs_len = tables * sizeof abbrevs;
    size_t len = at + abbrevs_len + info.len + sizeof names + 5 * sizeof(Elf64_Shdr);
    uint8_t *file = calloc(1, len + MIRE_OBJECT_PAD);
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1}, .e_type = ET_DYN};
    Elf64_Shdr rows[5] = {
        {0},
        {.sh_name = 1,
         .sh_type = SHT_NOBITS,
         .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
         .sh_addr = TEXT,
         .sh_size = TEXT_SIZE},
        {.sh_name = 7, .sh_type = SHT_PROGBITS, .sh_offset = at, .sh_size = abbrevs_len},
        {.sh_name = 21, .sh_type = SHT_PROGBITS, .sh_offset = at + abbrevs_len, .sh_size = info.len},
        {.sh_name = 33, .sh_type = SHT_STRTAB, .sh_offset = at + abbrevs_len + info.len, .sh_size = sizeof names}};
    head.e_machine = EM_X86_64;
    head.e_shentsize = sizeof rows[0];
    head.e_shnum = 5;
    head.e_shstrndx = 4;
    head.e_shoff = len - sizeof rows;
    if (spoil)
        spoil(rows);
    memcpy(file, &head, sizeof head);
    for (size_t i = 0; i < tables; i++)
        memcpy(file + at + i * sizeof abbrevs, abbrevs, sizeof abbrevs);
    memcpy(file + at + abbrevs_len, info.bytes, info.len);
    memcpy(file + at + abbrevs_len + info.len, names, sizeof names);
    memcpy(file + head.e_shoff, rows, sizeof rows);
    *len_out = len;
    return file;
}

static struct convert_facts facts;

/* Convert the contents of `info`. */
static struct module *convert_it(unsigned threads)
{
    size_t len;
    uint8_t *bytes = make_file(&len, NULL);
    struct file_bytes file = {bytes, len, 0};
    struct object *object;
    struct module *module;
    assert_null(object_open(&object, &file, NULL, 0, 1));
    struct convert_source source = {.objects = {object}, .object_count = 1};
    int fd = memfd_create("test", 0);
    assert_null(convert(&facts, fd, &source, threads));
    assert_null(cache_open_fd(&module, fd, NULL, 0, true));
    close(fd);
    object_close(object);
    free(bytes);
    return module;
}

static int begin_info(void **state)
{
    (void)state;
    info.len = 0;
    tables = 1;
    return 0;
}

static void expect(const struct module *module, uint64_t address, const char *innermost, const char *outermost)
{
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    size_t count = module_lookup(frames, module, address);
    if (!innermost) {
        assert_int_equal(count, 0);
        return;
    }
    assert_true(count > 0);
    assert_string_equal(frames[0].function, innermost);
    assert_string_equal(frames[count - 1].function, outermost);
}

static void a_gap_between_functions_is_unknown(void **state)
{
    (void)state;
    size_t unit = begin_unit();
    add_function(FUNCTION, "first", 0x1010, 0x10);
    add_function(FUNCTION, "second", 0x1028, 8);
    end_unit(unit);
    struct module *module = convert_it(1);
    expect(module, 0x100f, NULL, NULL);
    expect(module, 0x1010, "first", "first");
    expect(module, 0x101f, "first", "first");
    expect(module, 0x1020, NULL, NULL);
    expect(module, 0x1028, "second", "second");
    expect(module, 0x1030, NULL, NULL);
    cache_close(module);
}

/* In any order, by any thread. */
static void of_two_units_that_claim_a_function_the_first_is_right(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        size_t unit = begin_unit();
        add_function(FUNCTION, i ? "later" : "first", 0x1010, 0x10);
        add_function(FUNCTION, i ? "longer" : "short", 0x1100, i ? 0x20 : 0x10);
        end_unit(unit);
    }
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct module *module = convert_it(threads);
        expect(module, 0x1010, "first", "first");
        expect(module, 0x101f, "first", "first");
        expect(module, 0x110f, "short", "short");
        expect(module, 0x1110, "longer", "longer"); /* no lower unit claims it */
        cache_close(module);
    }
}

/* Each unit has a table of its own, compiled by any thread; one table is out of the section. */
static void units_have_their_tables_whichever_thread_compiles_them(void **state)
{
    (void)state;
    char name[16];
    tables = 300;
    for (uint32_t i = 0; i < tables; i++) {
        size_t unit = begin_unit();
        uint32_t table = (i == 100 ? (uint32_t)tables : i) * (uint32_t)sizeof abbrevs;
        memcpy(info.bytes + unit + 6, &table, sizeof table);
        snprintf(name, sizeof name, "f%u", i);
        add_function(FUNCTION, name, TEXT + 8 * i, 8);
        end_unit(unit);
    }
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct module *module = convert_it(threads);
        assert_int_equal(facts.units, tables - 1);
        assert_int_equal(facts.damaged_units, 1);
        for (uint32_t i = 0; i < tables; i++) {
            snprintf(name, sizeof name, "f%u", i);
            expect(module, TEXT + 8 * i, i == 100 ? NULL : name, name);
        }
        cache_close(module);
    }
}

/* Overlapping units, with shared names and calls of one another. */
static void the_cache_is_the_same_however_many_threads_make_it(void **state)
{
    char name[16];
    struct module *modules[4];
    (void)state;
    tables = 100;
    for (uint32_t i = 0; i < 900; i++) {
        size_t unit = begin_unit();
        uint32_t table = i % (uint32_t)tables * (uint32_t)sizeof abbrevs;
        memcpy(info.bytes + unit + 6, &table, sizeof table);
        snprintf(name, sizeof name, "f%u", i % 70);
        size_t inner = add_function(FUNCTION, name, TEXT + 4 * i, 6);
        add_function(FUNCTION_WITH_CHILDREN, "outer", TEXT + 4 * (899 - i), 9);
        add_reference(INLINED, inner - unit, TEXT + 4 * (899 - i) + 1, 6);
        put(&info, 0, 1);
        end_unit(unit);
    }
    for (unsigned i = 0; i < 4; i++)
        modules[i] = convert_it(1 + i);
    for (unsigned i = 1; i < 4; i++) {
        assert_int_equal(modules[i]->len, modules[0]->len);
        assert_memory_equal(modules[i]->bytes, modules[0]->bytes, modules[0]->len);
    }
    for (unsigned i = 0; i < 4; i++)
        cache_close(modules[i]);
}

static void what_the_linker_dropped_is_dropped(void **state)
{
    static const uint64_t tombstones[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, 0x800};
    (void)state;
    size_t unit = begin_unit();
    for (size_t i = 0; i < sizeof tombstones / sizeof *tombstones; i++)
        add_function(FUNCTION, "dropped", tombstones[i], 0x2000);
    add_function(FUNCTION, "kept", 0x1ff0, 0x10);
    end_unit(unit);
    struct module *module = convert_it(1);
    expect(module, 0x1000, NULL, NULL);
    expect(module, 0x1ff0, "kept", "kept");
    cache_close(module);
}

static void an_inlined_call_is_inside_its_function(void **state)
{
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    (void)state;
    size_t unit = begin_unit();
    size_t inner = add_function(FUNCTION, "inner", 0x1800, 4);
    add_function(FUNCTION_WITH_CHILDREN, "outer", 0x1010, 0x30);
    put(&info, BLOCK, 1);
    add_reference(INLINED, inner - unit, 0x1020, 8);
    put(&info, 0, 1);
    put(&info, 0, 1);
    end_unit(unit);
    struct module *module = convert_it(1);
    expect(module, 0x101f, "outer", "outer");
    expect(module, 0x1020, "inner", "outer");
    expect(module, 0x1028, "outer", "outer");
    assert_int_equal(module_lookup(frames, module, 0x1020), 2);
    assert_true(frames[0].inlined && !frames[1].inlined);
    assert_int_equal(frames[1].line, 77);
    assert_int_equal(frames[0].start, 0x1010);
    cache_close(module);
}

static void methods_of_local_classes_are_found(void **state)
{
    (void)state;
    size_t unit = begin_unit();
    add_function(FUNCTION_WITH_CHILDREN, "outer", 0x1010, 0x10);
    put(&info, CLASS, 1);
    size_t sibling = info.len;
    put(&info, 0, 4);
    add_function(FUNCTION, "method", 0x1080, 0x10);
    put(&info, 0, 1);
    uint32_t behind = (uint32_t)(info.len - unit);
    memcpy(info.bytes + sibling, &behind, 4);
    put(&info, 0, 1);
    end_unit(unit);
    struct module *module = convert_it(1);
    expect(module, 0x1080, "method", "method");
    cache_close(module);
}

static void names_that_refer_in_a_circle_are_unknown(void **state)
{
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    (void)state;
    size_t unit = begin_unit();
    size_t self = info.len;
    add_reference(SPECIFIED, self - unit, 0x1010, 0x10);
    size_t one = info.len;
    size_t other = one + 17;
    add_reference(SPECIFIED, other - unit, 0x1020, 0x10);
    add_reference(SPECIFIED, one - unit, 0x1030, 0x10);
    add_reference(SPECIFIED, 0xfffffff0u, 0x1040, 0x10); /* nowhere */
    add_function(FUNCTION, "good", 0x1050, 0x10);
    end_unit(unit);
    struct module *module = convert_it(1);
    for (uint64_t at = 0x1010; at < 0x1050; at += 0x10) {
        assert_int_equal(module_lookup(frames, module, at), 1);
        assert_null(frames[0].function);
        assert_int_equal(frames[0].start, at);
    }
    expect(module, 0x1050, "good", "good");
    cache_close(module);
}

static void a_unit_that_nests_without_end_spoils_no_other(void **state)
{
    (void)state;
    size_t unit = begin_unit();
    add_function(FUNCTION, "before", 0x1010, 0x10);
    for (int i = 0; i < 50000; i++)
        put(&info, BLOCK, 1);
    end_unit(unit);
    unit = begin_unit();
    add_function(FUNCTION, "after", 0x1020, 0x10);
    end_unit(unit);
    struct module *module = convert_it(1);
    assert_int_equal(facts.units, 2);
    assert_int_equal(facts.damaged_units, 1);
    expect(module, 0x1010, "before", "before");
    expect(module, 0x1020, "after", "after");
    cache_close(module);
}

static void what_lies_behind_zeros_is_told_to_be_lost(void **state)
{
    (void)state;
    size_t unit = begin_unit();
    add_function(FUNCTION, "before", 0x1010, 0x10);
    end_unit(unit);
    size_t empty = info.len; /* some linkers leave one without entries: nothing is lost */
    put(&info, 7, 4);
    put(&info, 4, 2);
    put(&info, 0, 4);
    put(&info, 8, 1);
    cache_close(convert_it(1));
    assert_int_equal(facts.damaged_units, 0);
    memset(info.bytes + empty, 0, info.len - empty);
    unit = begin_unit();
    add_function(FUNCTION, "after", 0x1020, 0x10);
    end_unit(unit);
    struct module *module = convert_it(1);
    expect(module, 0x1010, "before", "before");
    assert_int_equal(facts.damaged_units, 1);
    assert_int_equal(cache_head(module)->damaged_units, 1);
    assert_false(module_is_whole(module));
    cache_close(module);
}

/* As Zig writes them, as room for the unit to grow. */
static void zeros_between_units_are_no_damage(void **state)
{
    (void)state;
    size_t unit = begin_unit();
    add_function(FUNCTION, "before", 0x1010, 0x10);
    for (int i = 0; i < 300; i++)
        put(&info, 0, 1);
    end_unit(unit);
    unit = begin_unit();
    add_function(FUNCTION, "after", 0x1020, 0x10);
    end_unit(unit);
    struct module *module = convert_it(1);
    assert_int_equal(facts.damaged_units, 0);
    expect(module, 0x1010, "before", "before");
    expect(module, 0x1020, "after", "after");
    cache_close(module);
    memset(info.bytes + unit, 0, info.len - unit); /* the same where nothing but zeros follows */
    cache_close(convert_it(1));
    assert_int_not_equal(facts.damaged_units, 0);
}

static void of_ranges_over_each_other_the_last_is_on_top(void **state)
{
    (void)state;
    size_t unit = begin_unit();
    for (unsigned i = 0; i < 5000; i++) {
        char name[8];
        snprintf(name, sizeof name, "f%u", i);
        add_function(FUNCTION, name, TEXT, TEXT_SIZE - i % 4000);
    }
    end_unit(unit);
    struct module *module = convert_it(1);
    expect(module, TEXT, "f4999", "f4999");
    expect(module, TEXT + TEXT_SIZE - 1, "f4000", "f4000"); /* the last that is long enough */
    cache_close(module);
}

static void claim_two_gigabytes(Elf64_Shdr *rows)
{
    static const Elf64_Chdr claim = {.ch_type = 1, .ch_size = 2ull << 30, .ch_addralign = 1};
    memcpy(info.bytes, &claim, sizeof claim);
    rows[3].sh_flags |= SHF_COMPRESSED;
}

static void a_claim_of_two_gigabytes_takes_no_memory(void **state)
{
    (void)state;
    size_t len;
    struct rusage before, after;
    struct object *object;
    end_unit(begin_unit());
    uint8_t *bytes = make_file(&len, claim_two_gigabytes);
    struct file_bytes file = {bytes, len, 0};
    getrusage(RUSAGE_SELF, &before);
    assert_non_null(object_open(&object, &file, NULL, 0, 1));
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 64 << 10);
    free(bytes);
}

static void lie_outside(Elf64_Shdr *rows)
{
    rows[3].sh_offset = UINT64_MAX - 10;
}

static void reach_too_far(Elf64_Shdr *rows)
{
    rows[2].sh_size = UINT64_MAX - 5;
}

static void tables_that_lie_outside_are_refused(void **state)
{
    static void (*const spoils[])(Elf64_Shdr * rows) = {lie_outside, reach_too_far};
    struct object_facts ignored;
    (void)state;
    end_unit(begin_unit());
    for (size_t i = 0; i < 2; i++) {
        size_t len;
        uint8_t *bytes = make_file(&len, spoils[i]);
        assert_non_null(object_look(&ignored, bytes, len, NULL, 0));
        free(bytes);
    }
    size_t len;
    uint8_t *bytes = make_file(&len, NULL);
    assert_null(object_look(&ignored, bytes, len, NULL, 0));
    assert_true(ignored.has_dwarf && !ignored.has_symbols && !ignored.id_len);
    for (size_t cut = 0; cut < len; cut++)
        assert_non_null(object_look(&ignored, bytes, cut, NULL, 0));
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_gap_between_functions_is_unknown, begin_info),
        cmocka_unit_test_setup(of_two_units_that_claim_a_function_the_first_is_right, begin_info),
        cmocka_unit_test_setup(units_have_their_tables_whichever_thread_compiles_them, begin_info),
        cmocka_unit_test_setup(the_cache_is_the_same_however_many_threads_make_it, begin_info),
        cmocka_unit_test_setup(what_the_linker_dropped_is_dropped, begin_info),
        cmocka_unit_test_setup(an_inlined_call_is_inside_its_function, begin_info),
        cmocka_unit_test_setup(methods_of_local_classes_are_found, begin_info),
        cmocka_unit_test_setup(names_that_refer_in_a_circle_are_unknown, begin_info),
        cmocka_unit_test_setup(a_unit_that_nests_without_end_spoils_no_other, begin_info),
        cmocka_unit_test_setup(what_lies_behind_zeros_is_told_to_be_lost, begin_info),
        cmocka_unit_test_setup(zeros_between_units_are_no_damage, begin_info),
        cmocka_unit_test_setup(of_ranges_over_each_other_the_last_is_on_top, begin_info),
        cmocka_unit_test_setup(a_claim_of_two_gigabytes_takes_no_memory, begin_info),
        cmocka_unit_test_setup(tables_that_lie_outside_are_refused, begin_info),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
