/* The items of an uploaded file: itself, slices, members of archives. */
#include "archive/contents.h"

#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/archives.h"

static void a_plain_file_is_its_only_item(void **state)
{
    (void)state;
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    struct buffer elf = slurp("elf/dwarf5.so");
    assert_int_equal(open_it(&contents, why, &elf), CONTENTS_GOOD);
    assert_int_equal(contents.count, 1);
    assert_holds(&contents, 0, &elf, "");
    assert_true(contents.rows[0].facts.has_dwarf);
    assert_string_equal(contents.rows[0].facts.arch, "x86_64");
    contents_close(&contents);
    free(elf.bytes);
}

static void a_file_of_no_use_is_refused_with_a_reason(void **state)
{
    (void)state;
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    struct buffer text = {0};
    put(&text, "#!/bin/sh\nexit 0\n", 17);
    assert_int_equal(open_it(&contents, why, &text), CONTENTS_WRONG);
    assert_non_null(strstr(why, "is neither"));
    contents_close(&contents);
    free(text.bytes);
}

static void members_of_a_zip_are_items(void **state)
{
    (void)state;
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    struct zip zip = {0};
    struct buffer one = slurp("elf/dwarf5.so");
    struct buffer two = slurp("elf/dwarf2.so");
    struct buffer text = {0};
    put(&text, "not for us", 10);
    zip_add(&zip, "app/lib/one.debug", &one, false, 0);
    zip_add(&zip, "app/notes.txt", &text, false, 0);
    zip_add(&zip, "../../etc/tow\n.so", &two, true, 0);
    struct buffer file = zip_end(&zip);
    assert_int_equal(open_it(&contents, why, &file), CONTENTS_GOOD);
    assert_int_equal(contents.count, 2);
    assert_holds(&contents, 0, &one, "app/lib/one.debug");
    assert_holds(&contents, 1, &two, "../../etc/tow_.so");
    contents_close(&contents);
    free(file.bytes);
    free(one.bytes);
    free(two.bytes);
    free(text.bytes);
}

static void members_of_a_tar_are_items_packed_or_not(void **state)
{
    (void)state;
    static const char long_name[] = "a-directory/of-a-name-that-is-longer-than-the-hundred-bytes-a-header-has/"
                                    "and-goes-on-for-a-while/until-it-ends.so";
    static const char pax[] = "30 mtime=1700000000.123456789\n22 path=deep/pax-name\n";
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    struct buffer tar = {0};
    struct buffer one = slurp("elf/dwarf5.so");
    struct buffer two = slurp("elf/dwarf2.so");
    struct buffer three = slurp("elf/zlib.so");
    char end[1024] = "";
    tar_add(&tar, "lib/", '5', NULL, 0);
    tar_add(&tar, "lib/one.so", '0', one.bytes, one.len);
    tar_add(&tar, "././@LongLink", 'L', long_name, sizeof long_name);
    tar_add(&tar, "cut-off", '0', two.bytes, two.len);
    tar_add(&tar, "pax", 'x', pax, sizeof pax - 1);
    tar_add(&tar, "cut-off", '0', three.bytes, three.len);
    put(&tar, end, sizeof end);
    struct buffer gz = deflated(&tar, 15 + 16);
    for (int packed = 0; packed < 2; packed++) {
        assert_int_equal(open_it(&contents, why, packed ? &gz : &tar), CONTENTS_GOOD);
        assert_int_equal(contents.count, 3);
        assert_holds(&contents, 0, &one, "lib/one.so");
        assert_holds(&contents, 1, &two, long_name);
        assert_holds(&contents, 2, &three, "deep/pax-name");
        contents_close(&contents);
    }
    tar.len -= 2000; /* within the last file */
    assert_int_equal(open_it(&contents, why, &tar), CONTENTS_WRONG);
    assert_non_null(strstr(why, "it ends within a file"));
    contents_close(&contents);
    free(gz.bytes);
    free(tar.bytes);
    free(one.bytes);
    free(two.bytes);
    free(three.bytes);
}

static void a_gzip_of_one_file_is_that_file(void **state)
{
    (void)state;
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    struct buffer elf = slurp("elf/dwarf5.so");
    struct buffer gz = deflated(&elf, 15 + 16);
    assert_int_equal(open_it(&contents, why, &gz), CONTENTS_GOOD);
    assert_int_equal(contents.count, 1);
    assert_holds(&contents, 0, &elf, "");
    contents_close(&contents);
    gz.bytes[gz.len / 2] ^= 0x55;
    gz.bytes[gz.len / 2 + 1] ^= 0x55;
    assert_int_equal(open_it(&contents, why, &gz), CONTENTS_WRONG);
    assert_non_null(strstr(why, "damaged"));
    contents_close(&contents);
    free(gz.bytes);
    free(elf.bytes);
}

static void an_archive_without_anything_of_use_says_why(void **state)
{
    (void)state;
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    struct zip zip = {0};
    struct buffer text = {0};
    put(&text, "not for us", 10);
    zip_add(&zip, "notes.txt", &text, false, 0);
    struct buffer file = zip_end(&zip);
    assert_int_equal(open_it(&contents, why, &file), CONTENTS_WRONG);
    assert_string_equal(why, "holds no file that names could be taken from");
    contents_close(&contents);
    free(file.bytes);
    free(text.bytes);
}

/* The child gets its files at descriptors that this process may use for the pipe. */
static void what_the_child_says_is_heard_whatever_places_are_free(void **state)
{
    (void)state;
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    struct zip zip = {0};
    struct buffer text = {0};
    int taken[6];
    put(&text, "not for us", 10);
    zip_add(&zip, "notes.txt", &text, false, 0);
    struct buffer file = zip_end(&zip);
    int fd = fd_of(&file);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(contents_open(&contents, why, fd, NULL, "/proc/self/exe"), CONTENTS_WRONG);
        assert_string_equal(why, "holds no file that names could be taken from");
        contents_close(&contents);
        taken[i] = dup(fd);
    }
    for (size_t i = 0; i < 6; i++)
        close(taken[i]);
    close(fd);
    free(file.bytes);
    free(text.bytes);
}

/* A package of two split files; the second one's entries are zeros. The result is the same in this process and in
 * the child. */
static void what_is_damaged_is_told_with_its_place(void **state)
{
    (void)state;
    static const char *const converters[] = {NULL, "/proc/self/exe"};
    struct buffer file = slurp("../../fixtures/symbols/split/clang5.so.dwp");
    struct contents contents;
    char why[MIRE_SYMBOL_WHY], given[MIRE_SYMBOL_WHY];
    enum symbol_depth depth;
    const uint8_t *info = NULL;
    for (size_t i = 0; i + 8 < file.len && !info; i++) /* of DWARF 5, a split unit of addresses of 8 bytes */
        info = !memcmp(file.bytes + i, "\5\0\5\10", 4) ? file.bytes + i - 4 : NULL;
    assert_non_null(info);
    uint32_t first = load_32(info) + 4;
    uint8_t *second = file.bytes + (info - file.bytes) + first;
    assert_memory_equal(second + 4, "\5\0\5\10", 4);
    for (int damaged = 0; damaged < 2; damaged++) {
        if (damaged)
            memset(second + 24, 0, load_32(second) - 20);
        snprintf(given, sizeof given,
                 "is damaged: 1 or more of its units cannot be read whole, the first at 0x%x of .debug_info", first);
        for (size_t i = 0; i < 2; i++) {
            int fd = fd_of(&file);
            assert_int_equal(contents_open(&contents, why, fd, NULL, NULL), CONTENTS_GOOD);
            assert_int_equal(contents_check(why, &depth, &contents, &contents.rows[0], NULL, converters[i]),
                             damaged ? CONTENTS_WRONG : CONTENTS_GOOD);
            assert_string_equal(why, damaged ? given : "");
            assert_int_equal(depth, MIRE_DEPTH_DWARF);
            contents_close(&contents);
            close(fd);
        }
    }
    free(file.bytes);
}

/* In a dwz file, whose units have no code: an abbreviation number is replaced by one that does not exist. */
static void what_is_damaged_of_a_file_of_dwz_is_told(void **state)
{
    (void)state;
    struct buffer file = slurp("../../fixtures/symbols/dwz/common.debug");
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    enum symbol_depth depth;
    uint8_t *info = memmem(file.bytes, file.len, "\5\0\3\10", 4); /* of DWARF 5, partial, addresses of 8 bytes */
    assert_non_null(info);
    uint8_t *entry = info - 4 + 17;
    assert_int_equal(*entry, 2);
    for (int damaged = 0; damaged < 2; damaged++) {
        *entry = damaged ? 0x40 : 2;
        int fd = fd_of(&file);
        assert_int_equal(contents_open(&contents, why, fd, NULL, NULL), CONTENTS_GOOD);
        assert_int_equal(contents_check(why, &depth, &contents, &contents.rows[0], NULL, NULL),
                         damaged ? CONTENTS_WRONG : CONTENTS_GOOD);
        assert_string_equal(why, damaged
                                     ? "is damaged: 1 or more of its units cannot be read whole, the first at 0x0 of "
                                       ".debug_info"
                                     : "");
        contents_close(&contents);
        close(fd);
    }
    free(file.bytes);
}

/* In this process and in a child of its own. */
static void what_a_file_tells_of_the_code_is_known(void **state)
{
    (void)state;
    const char *const converters[] = {NULL, "/proc/self/exe"};
    static const struct {
        const char *name, *text;
        enum symbol_depth depth;
    } files[] = {
        {"elf/dwarf5.so", NULL, MIRE_DEPTH_DWARF},
        {"elf/stripped.so", NULL, MIRE_DEPTH_NAMES},
        {NULL, "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 app\nFUNC 1000 10 0 f\n1000 10 7 0\n",
         MIRE_DEPTH_LINES},
        {NULL, "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 app\nPUBLIC 1000 0 f\n", MIRE_DEPTH_NAMES},
        {NULL, "com.shop.Cart -> a.b:\n    1:3:void add():17:19 -> a\n", MIRE_DEPTH_LINES},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t c = 0; c < 2; c++) {
            struct contents contents;
            char why[MIRE_SYMBOL_WHY];
            enum symbol_depth depth = MIRE_DEPTH_UNKNOWN;
            struct buffer file = {0};
            if (files[i].name)
                file = slurp(files[i].name);
            else
                put(&file, files[i].text, strlen(files[i].text));
            int fd = fd_of(&file);
            assert_int_equal(contents_open(&contents, why, fd, NULL, NULL), CONTENTS_GOOD);
            assert_int_equal(contents_check(why, &depth, &contents, &contents.rows[0], NULL, converters[c]),
                             CONTENTS_GOOD);
            assert_string_equal(why, "");
            assert_int_equal(depth, files[i].depth);
            contents_close(&contents);
            close(fd);
            free(file.bytes);
        }
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "symbol-child"))
        return symbols_child(argc - 1, argv + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file_is_its_only_item),
        cmocka_unit_test(a_file_of_no_use_is_refused_with_a_reason),
        cmocka_unit_test(members_of_a_zip_are_items),
        cmocka_unit_test(members_of_a_tar_are_items_packed_or_not),
        cmocka_unit_test(a_gzip_of_one_file_is_that_file),
        cmocka_unit_test(an_archive_without_anything_of_use_says_why),
        cmocka_unit_test(what_the_child_says_is_heard_whatever_places_are_free),
        cmocka_unit_test(what_is_damaged_is_told_with_its_place),
        cmocka_unit_test(what_is_damaged_of_a_file_of_dwz_is_told),
        cmocka_unit_test(what_a_file_tells_of_the_code_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
