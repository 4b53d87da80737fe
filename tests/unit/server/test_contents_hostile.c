/* Hostile or damaged uploads: each is refused with a reason, in bounded time. */
#include "archive/contents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bzlib.h>
#include <elf.h>

#include "support/archives.h"

static void a_member_that_is_not_what_was_packed_is_refused(void **state)
{
    (void)state;
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    struct zip zip = {0};
    struct buffer elf = slurp("elf/dwarf5.so");
    zip_add(&zip, "a.so", &elf, false, 1);
    struct buffer file = zip_end(&zip);
    assert_int_equal(open_it(&contents, why, &file), CONTENTS_WRONG);
    assert_non_null(strstr(why, "is not what was packed"));
    contents_close(&contents);
    free(file.bytes);
    free(elf.bytes);
}

/* A member that cannot be unpacked, by its method or because it is encrypted, and one that can. */
static void a_member_that_cannot_be_unpacked_hides_no_other(void **state)
{
    (void)state;
    static const struct {
        uint8_t flags, method;
        const char *why;
    } ways[] = {{0, 9, "has a file that is compressed in a way that is not known"}, {1, 8, "is encrypted"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct contents contents;
        char why[MIRE_SYMBOL_WHY];
        struct buffer elf = slurp("elf/dwarf5.so");
        for (int others = 0; others < 2; others++) {
            struct zip zip = {0};
            zip_add(&zip, "notes.txt", &elf, false, 0);
            zip.directory.bytes[8] = ways[i].flags;
            zip.directory.bytes[10] = ways[i].method;
            if (others)
                zip_add(&zip, "a.so", &elf, false, 0);
            struct buffer file = zip_end(&zip);
            assert_int_equal(open_it(&contents, why, &file), others ? CONTENTS_GOOD : CONTENTS_WRONG);
            assert_string_equal(why, others ? "" : ways[i].why);
            if (others)
                assert_holds(&contents, 0, &elf, "a.so");
            contents_close(&contents);
            free(file.bytes);
        }
        free(elf.bytes);
    }
}

/* 100 MB of zeros behind an ELF header, in 100 KB. */
static void a_bomb_is_given_up(void **state)
{
    (void)state;
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    struct buffer zeros = {calloc(1, 100u << 20), 100u << 20};
    memcpy(zeros.bytes, "\177ELF\2\1\1", 7);
    struct buffer gz = deflated(&zeros, 15 + 16);
    free(zeros.bytes);
    assert_int_equal(open_it(&contents, why, &gz), CONTENTS_WRONG);
    assert_string_equal(why, "unpacks to too much for its size: send the debug files without that archive");
    contents_close(&contents);
    free(gz.bytes);
}

static bool wants_none(void *context, const char *name, const uint8_t *bytes, size_t len)
{
    (void)context, (void)name, (void)bytes, (void)len;
    return false;
}

/* Read an archive without keeping anything. */
static const char *work_of(struct archive_end *out, const struct buffer *file)
{
    struct archive_use use = {.wanted = wants_none, .kept_max = 1u << 30, .members_max = 1000};
    use.fd = memfd_create("unpacked", 0);
    const char *wrong = archive_read(out, &use, file->bytes, file->len);
    close(use.fd);
    return wrong;
}

/* 1 MB of zeros in a tar file, packed to 1 KB. */
static struct buffer zeros_in_a_tar(void)
{
    struct buffer tar = {0};
    uint8_t *zeros = calloc(1, 1u << 20);
    assert_non_null(zeros);
    tar_add(&tar, "zeros", '0', zeros, 1u << 20);
    struct buffer gz = deflated(&tar, 15 + 16);
    free(zeros);
    free(tar.bytes);
    return gz;
}

/* A zip of so many archives, and an ELF file. */
static struct buffer zip_of_archives(const struct buffer *inside, unsigned count, const struct buffer *elf)
{
    struct zip zip = {0};
    zip_add(&zip, "app.so", elf, true, 0);
    for (unsigned i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "lib/%u.tgz", i);
        zip_add(&zip, name, inside, true, 0);
    }
    return zip_end(&zip);
}

/* Each of them is small, also unpacked. */
static void many_archives_inside_are_one_work(void **state)
{
    (void)state;
    struct buffer elf = slurp("elf/stripped.so");
    struct buffer gz = zeros_in_a_tar();
    for (unsigned count = 20; count <= 200; count += 180) {
        struct contents contents;
        struct archive_end end;
        char why[MIRE_SYMBOL_WHY];
        struct buffer file = zip_of_archives(&gz, count, &elf);
        uint64_t most = MIRE_ARCHIVE_FREE + MIRE_ARCHIVE_RATIO * (uint64_t)file.len;
        bool too_many = count > 20;
        assert_int_equal(open_it(&contents, why, &file), too_many ? CONTENTS_WRONG : CONTENTS_GOOD);
        assert_true(!too_many || strstr(why, "unpacks to too much for its size, at lib/"));
        contents_close(&contents);
        const char *wrong = work_of(&end, &file);
        assert_true(too_many ? wrong != NULL : wrong == NULL);
        assert_true(end.bounded == too_many);
        assert_in_range(end.work, too_many ? most : (uint64_t)count << 20, most + (1u << 20));
        free(file.bytes);
    }
    free(gz.bytes);
    free(elf.bytes);
}

/* Two rows of the directory, one file. */
static void files_of_a_zip_over_each_other_are_refused(void **state)
{
    (void)state;
    struct buffer noise = {malloc(1u << 20), 1u << 20};
    struct contents contents;
    struct archive_end end;
    char why[MIRE_SYMBOL_WHY];
    struct zip zip = {0};
    uint32_t value = 1;
    assert_non_null(noise.bytes);
    for (size_t i = 0; i < noise.len; i++) {
        value = value * 1664525 + 1013904223;
        noise.bytes[i] = (uint8_t)(value >> 24);
    }
    zip_add(&zip, "noise", &noise, false, 0);
    size_t row = zip.directory.len;
    for (; zip.count < 500; zip.count++) {
        uint8_t copy[128];
        assert_true(row < sizeof copy);
        memcpy(copy, zip.directory.bytes, row);
        put(&zip.directory, copy, row);
    }
    struct buffer file = zip_end(&zip);
    assert_int_equal(open_it(&contents, why, &file), CONTENTS_WRONG);
    assert_string_equal(why, "is damaged: its files lie over each other, or outside of it");
    contents_close(&contents);
    assert_non_null(work_of(&end, &file));
    assert_in_range(end.work, 1, 4 * MIRE_ARCHIVE_PEEK); /* the first file's beginning, once */
    free(file.bytes);
    free(noise.bytes);
}

/* bzip2 sorts 900 KB before the first byte comes out, so a look at the first bytes costs as much. */
static void a_look_into_bzip2_counts_as_its_block(void **state)
{
    (void)state;
    enum { FILES = 10, BLOCK = 900000 };
    struct archive_end end;
    struct zip zip = {0};
    struct buffer zeros = {calloc(1, BLOCK), BLOCK};
    char packed[1000];
    unsigned packed_len = sizeof packed;
    assert_int_equal(BZ2_bzBuffToBuffCompress(packed, &packed_len, (char *)zeros.bytes, BLOCK, 9, 0, 0), BZ_OK);
    struct buffer body = {(uint8_t *)packed, packed_len};
    for (size_t i = 0; i < FILES; i++) {
        size_t row = zip.directory.len;
        uint32_t len = BLOCK;
        zip_add(&zip, "zeros", &body, true, 0);
        zip.directory.bytes[row + 10] = 12; /* packed by bzip2 */
        memcpy(zip.directory.bytes + row + 24, &len, sizeof len);
    }
    struct buffer file = zip_end(&zip);
    assert_null(work_of(&end, &file));
    assert_in_range(end.work, (uint64_t)FILES * BLOCK, (uint64_t)2 * FILES * BLOCK);
    free(file.bytes);
    free(zeros.bytes);
}

/* Every prefix, and every changed byte: a result in bounded time, and no item beyond the file. */
static void damaged_archives_are_answered(void **state)
{
    (void)state;
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    struct zip zip = {0};
    struct buffer elf = slurp("elf/stripped.so");
    elf.len = 2000;
    zip_add(&zip, "a.so", &elf, true, 0);
    zip_add(&zip, "b.so", &elf, false, 0);
    struct buffer file = zip_end(&zip);
    for (size_t len = 1; len < file.len; len += 37) {
        struct buffer cut = {file.bytes, len};
        int fd = fd_of(&cut);
        assert_int_not_equal(contents_open(&contents, why, fd, NULL, NULL), CONTENTS_GOOD);
        contents_close(&contents);
        close(fd);
    }
    for (size_t i = file.len - 160; i < file.len; i++) {
        uint8_t was = file.bytes[i];
        file.bytes[i] = 0xff;
        int fd = fd_of(&file);
        (void)contents_open(&contents, why, fd, NULL, NULL);
        contents_close(&contents);
        close(fd);
        file.bytes[i] = was;
    }
    free(file.bytes);
    free(elf.bytes);
}

/*
 * A hostile ELF file: many sections over the same bytes. The bytes are section names without an end, or notes without a
 * build id. Reading them for each section would take hours.
 */
static struct buffer many_over_each_other(uint32_t type, uint8_t fill)
{
    enum { SECTIONS = 200000, BYTES = 32 << 20 };
    size_t rows_at = sizeof(Elf64_Ehdr) + BYTES;
    struct buffer b = {.len = rows_at + SECTIONS * sizeof(Elf64_Shdr)};
    b.bytes = malloc(b.len);
    assert_non_null(b.bytes);
    memset(b.bytes, fill, b.len);
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_DYN,
                       .e_machine = EM_X86_64,
                       .e_shoff = rows_at,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shstrndx = 1};
    Elf64_Shdr row = {.sh_name = 1, .sh_type = type, .sh_offset = sizeof head, .sh_size = BYTES};
    memcpy(b.bytes, &head, sizeof head);
    for (size_t i = 1; i < SECTIONS; i++)
        memcpy(b.bytes + rows_at + i * sizeof row, &row, sizeof row);
    row = (Elf64_Shdr){.sh_size = SECTIONS};
    memcpy(b.bytes + rows_at, &row, sizeof row);
    return b;
}

static void sections_over_each_other_are_looked_at_once(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        uint8_t fill;
    } hostile[] = {{SHT_PROGBITS, 'x'}, {SHT_NOTE, 0}};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct contents contents;
        char why[MIRE_SYMBOL_WHY];
        struct buffer file = many_over_each_other(hostile[i].type, hostile[i].fill);
        int fd = fd_of(&file);
        assert_int_equal(contents_open(&contents, why, fd, NULL, NULL), CONTENTS_WRONG);
        assert_non_null(strstr(why, "has no GNU build id"));
        contents_close(&contents);
        close(fd);
        free(file.bytes);
    }
}

static void slices_over_each_other_are_none(void **state)
{
    (void)state;
    uint8_t file[4096] = {0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2};
    uint64_t at, len;
    for (size_t i = 0; i < 2; i++) /* big-endian: 2048 bytes from 2048 on */
        memcpy(file + 8 + 20 * i, "\0\0\0\0\0\0\0\0\0\0\x08\0\0\0\x08\0\0\0\0\0", 20);
    assert_true(object_slice(&at, &len, file, sizeof file, 1));
    assert_int_equal(at, 2048);
    assert_int_equal(len, 2048);
    file[8 + 8 + 2] = 0; /* the first is the whole file */
    file[8 + 12 + 2] = 0x10;
    assert_true(object_slice(&at, &len, file, sizeof file, 0));
    assert_false(object_slice(&at, &len, file, sizeof file, 1));
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "symbol-child"))
        return symbols_child(argc - 1, argv + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_that_is_not_what_was_packed_is_refused),
        cmocka_unit_test(a_member_that_cannot_be_unpacked_hides_no_other),
        cmocka_unit_test(a_bomb_is_given_up),
        cmocka_unit_test(many_archives_inside_are_one_work),
        cmocka_unit_test(files_of_a_zip_over_each_other_are_refused),
        cmocka_unit_test(a_look_into_bzip2_counts_as_its_block),
        cmocka_unit_test(damaged_archives_are_answered),
        cmocka_unit_test(sections_over_each_other_are_looked_at_once),
        cmocka_unit_test(slices_over_each_other_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
