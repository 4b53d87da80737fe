/* What a file that was sent holds: itself, slices, members of archives; and archives that mean harm. */
#include "base/bytes.h"
#include "archive/archive.h"
#include "archive/contents.h"
#include "sandbox/child.h"
#include "sandbox/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bzlib.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define CORPUS MIRE_SOURCE_DIR "/tests/fuzz/corpus"

struct buffer {
    uint8_t *bytes;
    size_t len;
};

static void put(struct buffer *b, const void *bytes, size_t len)
{
    b->bytes = realloc(b->bytes, b->len + len + 1);
    assert_non_null(b->bytes);
    if (len)
        memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
}

/* Little-endian, filled up with zeros. */
static void put_number(struct buffer *b, uint64_t value, size_t width)
{
    uint8_t bytes[32] = {0};
    assert_true(width <= sizeof bytes);
    memcpy(bytes, &value, sizeof value);
    put(b, bytes, width);
}

static struct buffer slurp(const char *name)
{
    char path[512];
    uint8_t chunk[4096];
    struct buffer b = {0};
    snprintf(path, sizeof path, "%s/%s", CORPUS, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;)
        put(&b, chunk, n);
    fclose(file);
    return b;
}

static int fd_of(const struct buffer *b)
{
    int fd = memfd_create("test", 0);
    assert_int_equal(write(fd, b->bytes, b->len), (ssize_t)b->len);
    return fd;
}

static struct buffer deflated(const struct buffer *in, int window)
{
    struct buffer out = {.bytes = malloc(in->len + 1000), .len = 0};
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = in->bytes;
    z.avail_in = (uInt)in->len;
    z.next_out = out.bytes;
    z.avail_out = (uInt)(in->len + 1000);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out.len = z.total_out;
    deflateEnd(&z);
    return out;
}

struct zip {
    struct buffer file;
    struct buffer directory;
    uint16_t count;
};

/* A member; `claim` is added to the sizes and the checksum that are told of it. */
static void zip_add(struct zip *zip, const char *name, const struct buffer *bytes, bool stored, uint32_t claim)
{
    struct buffer packed = stored ? (struct buffer){0} : deflated(bytes, -15);
    const struct buffer *body = stored ? bytes : &packed;
    uint64_t local = zip->file.len;
    uint32_t crc = (uint32_t)crc32(0, bytes->bytes, (uInt)bytes->len);
    put_number(&zip->file, 0x04034b50, 4);
    put_number(&zip->file, 0, 22); /* nobody reads it here */
    put_number(&zip->file, strlen(name), 2);
    put_number(&zip->file, 0, 2);
    put(&zip->file, name, strlen(name));
    put(&zip->file, body->bytes, body->len);
    put_number(&zip->directory, 0x02014b50, 4);
    put_number(&zip->directory, 0, 6); /* versions, flags */
    put_number(&zip->directory, stored ? 0 : 8, 2);
    put_number(&zip->directory, 0, 4); /* time */
    put_number(&zip->directory, crc + claim, 4);
    put_number(&zip->directory, body->len, 4);
    put_number(&zip->directory, bytes->len, 4);
    put_number(&zip->directory, strlen(name), 2);
    put_number(&zip->directory, 0, 8); /* extra, comment, disk, attributes */
    put_number(&zip->directory, 0, 4);
    put_number(&zip->directory, local, 4);
    put(&zip->directory, name, strlen(name));
    zip->count++;
    free(packed.bytes);
}

static struct buffer zip_end(struct zip *zip)
{
    uint64_t at = zip->file.len;
    put(&zip->file, zip->directory.bytes, zip->directory.len);
    put_number(&zip->file, 0x06054b50, 4);
    put_number(&zip->file, 0, 4);
    put_number(&zip->file, zip->count, 2);
    put_number(&zip->file, zip->count, 2);
    put_number(&zip->file, zip->directory.len, 4);
    put_number(&zip->file, at, 4);
    put_number(&zip->file, 0, 2);
    free(zip->directory.bytes);
    return zip->file;
}

static void tar_add(struct buffer *tar, const char *name, char type, const void *bytes, size_t len)
{
    char block[513] = "";
    unsigned sum = 8 * ' ';
    snprintf(block, 101, "%s", name);
    snprintf(block + 124, 13, "%011zo", len);
    block[156] = type;
    memcpy(block + 257, "ustar", 6);
    for (size_t i = 0; i < 512; i++)
        sum += i >= 148 && i < 156 ? 0 : (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    put(tar, block, 512);
    put(tar, bytes, len);
    memset(block, 0, sizeof block);
    put(tar, block, (512 - len % 512) % 512);
}

/* Opened in this process and in a child, and both agree. */
static enum contents_answer open_it(struct contents *out, char *why, const struct buffer *file)
{
    struct contents other;
    char same[MIRE_SYMBOL_WHY];
    int fd = fd_of(file);
    enum contents_answer answer = contents_open(&other, same, fd, "/tmp", "/proc/self/exe");
    assert_int_equal(contents_open(out, why, fd, NULL, NULL), answer);
    assert_string_equal(why, same);
    if (answer == CONTENTS_GOOD) {
        assert_int_equal(out->count, other.count);
        assert_memory_equal(out->rows, other.rows, out->count * sizeof *out->rows);
    }
    contents_close(&other);
    if (!out->own)
        out->own = true; /* the test's file goes with it */
    else
        close(fd);
    return answer;
}

static void assert_holds(const struct contents *contents, size_t i, const struct buffer *bytes, const char *name)
{
    assert_true(i < contents->count);
    const struct contents_item *item = &contents->rows[i];
    assert_string_equal(item->name, name);
    assert_int_equal(item->len, bytes->len);
    assert_true(item->facts.id_len >= 16);
    uint8_t *got = malloc(bytes->len);
    assert_int_equal(pread(contents->fd, got, bytes->len, (off_t)item->at), (ssize_t)bytes->len);
    assert_memory_equal(got, bytes->bytes, bytes->len);
    free(got);
}

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

/* The child is given its files in places that this process may use for the pipe it listens at. */
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

/* Go through an archive of which nothing is kept. */
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

/* bzip2 sorts 900 KB before the first byte comes out, so a look at the beginning costs as much. */
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

/* Every beginning, and every byte that is something else: answers, and no more than the file holds. */
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
 * A hostile ELF file: many sections, each of which lies over the same bytes. They hold the names of sections, without
 * an end, or notes of which none is a build id. Looked at for each section, they would take this process hours.
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

/* A package of two split files: the second's entries are zeros. In this process and in the child it is the same. */
static void what_is_damaged_is_told_with_its_place(void **state)
{
    (void)state;
    static const char *const converters[] = {NULL, "/proc/self/exe"};
    struct buffer file = slurp("../../fixtures/symbols/split/clang5.so.dwp");
    struct contents contents;
    char why[MIRE_SYMBOL_WHY], told[MIRE_SYMBOL_WHY];
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
        snprintf(told, sizeof told,
                 "is damaged: 1 or more of its units cannot be read whole, the first at 0x%x of .debug_info", first);
        for (size_t i = 0; i < 2; i++) {
            int fd = fd_of(&file);
            assert_int_equal(contents_open(&contents, why, fd, NULL, NULL), CONTENTS_GOOD);
            assert_int_equal(contents_check(why, &depth, &contents, &contents.rows[0], NULL, converters[i]),
                             damaged ? CONTENTS_WRONG : CONTENTS_GOOD);
            assert_string_equal(why, damaged ? told : "");
            assert_int_equal(depth, MIRE_DEPTH_DWARF);
            contents_close(&contents);
            close(fd);
        }
    }
    free(file.bytes);
}

/* Of a file of dwz, whose units have no code: the number of an abbreviation is another one, which there is not. */
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
        cmocka_unit_test(what_a_file_tells_of_the_code_is_known),
        cmocka_unit_test(a_file_of_no_use_is_refused_with_a_reason),
        cmocka_unit_test(members_of_a_zip_are_items),
        cmocka_unit_test(members_of_a_tar_are_items_packed_or_not),
        cmocka_unit_test(a_gzip_of_one_file_is_that_file),
        cmocka_unit_test(an_archive_without_anything_of_use_says_why),
        cmocka_unit_test(what_the_child_says_is_heard_whatever_places_are_free),
        cmocka_unit_test(a_member_that_is_not_what_was_packed_is_refused),
        cmocka_unit_test(a_member_that_cannot_be_unpacked_hides_no_other),
        cmocka_unit_test(a_bomb_is_given_up),
        cmocka_unit_test(many_archives_inside_are_one_work),
        cmocka_unit_test(files_of_a_zip_over_each_other_are_refused),
        cmocka_unit_test(a_look_into_bzip2_counts_as_its_block),
        cmocka_unit_test(sections_over_each_other_are_looked_at_once),
        cmocka_unit_test(slices_over_each_other_are_none),
        cmocka_unit_test(damaged_archives_are_answered),
        cmocka_unit_test(what_is_damaged_is_told_with_its_place),
        cmocka_unit_test(what_is_damaged_of_a_file_of_dwz_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
