/*
 * tar.c - reads tar files: ustar, with the long names of GNU and of pax.
 *
 *     [ header 512 ][ bytes, filled up to 512 ] [ header ]...  two blocks of zeros
 */
#include "archive/archive_inside.h"

#include <stdio.h>
#include <string.h>

#define NAME_ROOM MIRE_ARCHIVE_NAME
#define SUM_AT    148
#define SIZE_AT   124
#define PREFIX_AT 345

struct header {
    uint64_t size;
    char type;
    char name[NAME_ROOM];
};

static uint64_t octal(const uint8_t *at, size_t len)
{
    uint64_t value = 0;
    size_t i = 0;
    while (i < len && at[i] == ' ')
        i++;
    for (; i < len && at[i] >= '0' && at[i] <= '7'; i++)
        value = value << 3 | (uint64_t)(at[i] - '0');
    return value;
}

/* Octal; from 8 GiB on big-endian after a set bit. */
static uint64_t size_of(const uint8_t *at)
{
    uint64_t value = 0;
    if (!(at[0] & 0x80))
        return octal(at, 12);
    for (size_t i = 4; i < 12; i++)
        value = value << 8 | at[i];
    return value;
}

bool tar_is(const uint8_t *block, size_t len)
{
    uint64_t sum = 8 * ' ';
    if (len < MIRE_TAR_BLOCK || !block[0])
        return false;
    for (size_t i = 0; i < MIRE_TAR_BLOCK; i++)
        sum += i >= SUM_AT && i < SUM_AT + 8 ? 0 : block[i];
    return octal(block + SUM_AT, 8) == sum;
}

static void read_header(struct header *out, const uint8_t *block, const char *long_name)
{
    out->size = size_of(block + SIZE_AT);
    out->type = (char)block[156];
    if (long_name[0])
        snprintf(out->name, sizeof out->name, "%s", long_name);
    else if (!memcmp(block + 257, "ustar", 6) && block[PREFIX_AT]) /* POSIX: leading folders in a separate field */
        snprintf(out->name, sizeof out->name, "%.155s/%.100s", (const char *)block + PREFIX_AT, (const char *)block);
    else
        snprintf(out->name, sizeof out->name, "%.100s", (const char *)block);
}

/* Get the path of a pax header: lines of "LENGTH KEY=VALUE". */
static void pax_path(char *out, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t line = 0;
        size_t i = at;
        for (; i < len && text[i] >= '0' && text[i] <= '9' && line < len; i++)
            line = line * 10 + (size_t)(text[i] - '0');
        if (line <= i - at || line > len - at)
            return;
        size_t begin = i + strlen(" path=");
        if (begin < at + line && !memcmp(text + i, " path=", strlen(" path=")))
            snprintf(out, NAME_ROOM, "%.*s", (int)(at + line - 1 - begin), text + begin);
        at += line;
    }
}

/* Read a member that names the next one: 'L' the name alone, 'x' a list that contains it. */
static const char *take_name(char *out, struct unpacking *unpacking, struct stream *stream, const struct header *header)
{
    char text[4 * NAME_ROOM];
    size_t len = header->size < sizeof text - 1 ? (size_t)header->size : sizeof text - 1;
    if (stream_read(stream, (uint8_t *)text, len) < len)
        return stream->wrong ? stream->wrong : "is damaged: it ends within a file";
    text[len] = '\0';
    if (header->type == 'x')
        pax_path(out, text, len);
    else
        snprintf(out, NAME_ROOM, "%.*s", NAME_ROOM - 1, text);
    return stream_skip(unpacking, stream, header->size - len);
}

const char *tar_read(struct unpacking *unpacking, struct stream *stream, const uint8_t *first)
{
    char long_name[NAME_ROOM] = "";
    uint8_t block[MIRE_TAR_BLOCK];
    const char *wrong = NULL;
    memcpy(block, first, sizeof block);
    while (!wrong && !unpacking->all->enough && tar_is(block, sizeof block)) {
        struct header header;
        read_header(&header, block, long_name);
        if (header.size > UINT64_MAX - MIRE_TAR_BLOCK)
            return "is damaged: it ends within a file";
        if (header.type == 'L' || header.type == 'x') {
            wrong = take_name(long_name, unpacking, stream, &header);
        } else {
            bool plain = header.type == '0' || !header.type || header.type == '7';
            if (plain && header.size)
                wrong = member_take(unpacking, stream, header.size, header.name);
            else
                wrong = stream_skip(unpacking, stream, header.size);
            long_name[0] = '\0';
        }
        if (!wrong)
            wrong = stream_skip(unpacking, stream, (MIRE_TAR_BLOCK - header.size % MIRE_TAR_BLOCK) % MIRE_TAR_BLOCK);
        if (!wrong && stream_read(stream, block, sizeof block) < sizeof block)
            return stream->wrong; /* the two blocks of zeros may be missing */
    }
    return wrong;
}
