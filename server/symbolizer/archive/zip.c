/*
 * zip.c - reads zip files, also of 64 bits. The directory at the end has the position of each member.
 *
 *     [ local header, name, bytes ]...  [ directory: a row a member ]  [ end of it ]
 *
 * Members of an honest zip do not overlap, so their sum is at most the file's length. A zip beyond it is refused, so
 * the packed bytes are read once.
 */
#include "archive/archive_inside.h"

#include "base/bytes.h"

#include <stdio.h>
#include <string.h>

#define LOCAL     0x04034b50u
#define ROW       0x02014b50u
#define END       0x06054b50u
#define END_64    0x06064b50u
#define LOCATE_64 0x07064b50u
#define LOCAL_LEN 30u
#define ROW_LEN   46u
#define END_LEN   22u
#define COMMENT   65535u
#define NAME_ROOM MIRE_ARCHIVE_NAME

struct directory {
    uint64_t at;
    uint64_t count;
};

struct zip_row {
    uint16_t flags;
    uint16_t method;
    uint32_t crc;
    uint64_t packed;
    uint64_t len;
    uint64_t local;
    char name[NAME_ROOM];
};

bool zip_is(const uint8_t *bytes, size_t len)
{
    return len >= END_LEN && (load_32(bytes) == LOCAL || load_32(bytes) == END);
}

static bool find_directory(struct directory *out, const uint8_t *bytes, size_t len)
{
    size_t at = len - END_LEN;
    size_t least = at > COMMENT ? at - COMMENT : 0;
    while (load_32(bytes + at) != END)
        if (at-- == least)
            return false;
    *out = (struct directory){load_32(bytes + at + 16), load_16(bytes + at + 10)};
    if (at >= 20 && load_32(bytes + at - 20) == LOCATE_64) {
        uint64_t end = load_64(bytes + at - 12);
        if (end > len || len - end < 56 || load_32(bytes + end) != END_64)
            return false;
        *out = (struct directory){load_64(bytes + end + 48), load_64(bytes + end + 32)};
    }
    return out->at <= len;
}

/* Read the extra field 1, which contains the numbers that exceed 32 bits, in this order. */
static void read_extra(struct zip_row *row, const uint8_t *at, size_t len)
{
    uint64_t *wide[] = {&row->len, &row->packed, &row->local};
    while (len >= 4) {
        uint16_t kind = load_16(at);
        size_t size = load_16(at + 2);
        if (size > len - 4)
            return;
        size_t used = 4;
        for (size_t i = 0; kind == 1 && i < 3; i++)
            if (*wide[i] == UINT32_MAX && used + 8 <= 4 + size) {
                *wide[i] = load_64(at + used);
                used += 8;
            }
        at += 4 + size;
        len -= 4 + size;
    }
}

/* Read the row at *at and move *at past it. */
static bool read_row(struct zip_row *out, uint64_t *at, const uint8_t *bytes, size_t len)
{
    if (len - *at < ROW_LEN || load_32(bytes + *at) != ROW)
        return false;
    const uint8_t *p = bytes + *at;
    size_t name = load_16(p + 28);
    size_t extra = load_16(p + 30);
    size_t whole = ROW_LEN + name + extra + load_16(p + 32);
    if (len - *at < whole)
        return false;
    out->flags = load_16(p + 8);
    out->method = load_16(p + 10);
    out->crc = load_32(p + 16);
    out->packed = load_32(p + 20);
    out->len = load_32(p + 24);
    out->local = load_32(p + 42);
    snprintf(out->name, sizeof out->name, "%.*s", (int)name, (const char *)p + ROW_LEN);
    read_extra(out, p + ROW_LEN + name, extra);
    *at += whole;
    return true;
}

/* The compression of a member; -1: not supported (deflate64, lzma, ...). */
static int kind_of(uint16_t method)
{
    static const struct {
        uint16_t method;
        enum stream_kind kind;
    } kinds[] = {{0, STREAM_PLAIN}, {8, STREAM_DEFLATE}, {12, STREAM_BZIP2}, {93, STREAM_ZSTD}, {95, STREAM_XZ}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].method == method)
            return (int)kinds[i].kind;
    return -1;
}

static const char *take_row(struct unpacking *unpacking, const struct zip_row *row, const uint8_t *bytes, size_t len)
{
    struct stream stream;
    if (row->local > len || len - row->local < LOCAL_LEN || load_32(bytes + row->local) != LOCAL)
        return "is damaged: a file lies outside of it";
    uint64_t at = row->local + LOCAL_LEN + load_16(bytes + row->local + 26) + load_16(bytes + row->local + 28);
    if (at > len || row->packed > len - at)
        return "is damaged: a file lies outside of it";
    if (!stream_init(&stream, (enum stream_kind)kind_of(row->method), bytes + at, (size_t)row->packed,
                     &unpacking->all->work))
        return "needs more memory than there is";
    stream.alone = true;
    const char *wrong = member_take(unpacking, &stream, row->len, row->name);
    if (!wrong && stream.given == row->len && stream.crc != row->crc)
        wrong = "is damaged: a file is not what was packed";
    stream_fini(&stream);
    return wrong;
}

const char *zip_read(struct unpacking *unpacking, const uint8_t *bytes, size_t len)
{
    struct directory directory;
    const char *wrong = NULL, *passed_over = NULL;
    uint64_t left = len;
    if (!find_directory(&directory, bytes, len))
        return "is damaged: it has no directory";
    for (uint64_t i = 0; i < directory.count && !wrong && !unpacking->all->enough; i++) {
        struct zip_row row;
        if (!read_row(&row, &directory.at, bytes, len))
            return "is damaged: its directory is cut off";
        if (!row.len)
            continue;
        if (row.packed > left)
            return "is damaged: its files lie over each other, or outside of it";
        left -= row.packed;
        if (row.flags & 1)
            passed_over = "is encrypted";
        else if (kind_of(row.method) < 0)
            passed_over = "has a file that is compressed in a way that is not known";
        else
            wrong = take_row(unpacking, &row, bytes, len);
    }
    return wrong || unpacking->all->kept_bytes ? wrong : passed_over; /* ignored if something was kept */
}
