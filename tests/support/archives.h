/*
 * archives.h - makes archives in a test, and opens contents in this process and in a child. Include after cmocka.h.
 */
#ifndef TESTS_SUPPORT_ARCHIVES_H
#define TESTS_SUPPORT_ARCHIVES_H

#include "archive/archive.h"
#include "archive/contents.h"
#include "sandbox/child.h"
#include "sandbox/open.h"

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

static inline void put(struct buffer *b, const void *bytes, size_t len)
{
    b->bytes = realloc(b->bytes, b->len + len + 1);
    assert_non_null(b->bytes);
    if (len)
        memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
}

/* Little-endian, padded with zeros. */
static inline void put_number(struct buffer *b, uint64_t value, size_t width)
{
    uint8_t bytes[32] = {0};
    assert_true(width <= sizeof bytes);
    memcpy(bytes, &value, sizeof value);
    put(b, bytes, width);
}

static inline struct buffer slurp(const char *name)
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

static inline int fd_of(const struct buffer *b)
{
    int fd = memfd_create("test", 0);
    assert_int_equal(write(fd, b->bytes, b->len), (ssize_t)b->len);
    return fd;
}

static inline struct buffer deflated(const struct buffer *in, int window)
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

/* Add a member; `claim` is added to its checksum in the directory. */
static inline void zip_add(struct zip *zip, const char *name, const struct buffer *bytes, bool stored, uint32_t claim)
{
    struct buffer packed = stored ? (struct buffer){0} : deflated(bytes, -15);
    const struct buffer *body = stored ? bytes : &packed;
    uint64_t local = zip->file.len;
    uint32_t crc = (uint32_t)crc32(0, bytes->bytes, (uInt)bytes->len);
    put_number(&zip->file, 0x04034b50, 4);
    put_number(&zip->file, 0, 22); /* not read */
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

static inline struct buffer zip_end(struct zip *zip)
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

static inline void tar_add(struct buffer *tar, const char *name, char type, const void *bytes, size_t len)
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

/* Open contents in this process and in a child; both must agree. */
static inline enum contents_answer open_it(struct contents *out, char *why, const struct buffer *file)
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
        out->own = true; /* the test's file is closed with the contents */
    else
        close(fd);
    return answer;
}

static inline void assert_holds(const struct contents *contents, size_t i, const struct buffer *bytes, const char *name)
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

#endif
