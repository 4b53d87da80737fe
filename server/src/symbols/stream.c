/*
 * stream.c - zlib, and how much may come out of how little.
 */
#include "symbols/stream.h"

#include <string.h>

#define FREE_BYTES (64ull << 20) /* that may come out of anything */
#define RATIO      256           /* beyond them, of what went in; honest files of DWARF are below 20 */

bool stream_init(struct stream *stream, enum stream_kind kind, const uint8_t *bytes, size_t len)
{
    *stream = (struct stream){.kind = kind, .bytes = bytes, .len = len};
    return kind == STREAM_PLAIN || inflateInit2(&stream->z, kind == STREAM_GZIP ? 15 + 16 : -15) == Z_OK;
}

void stream_fini(struct stream *stream)
{
    if (stream->kind != STREAM_PLAIN)
        inflateEnd(&stream->z);
}

static size_t read_plain(struct stream *stream, uint8_t *out, size_t room)
{
    size_t len = stream->len - stream->at < room ? stream->len - stream->at : room;
    memcpy(out, stream->bytes + stream->at, len);
    stream->at += len;
    stream->ended = len < room;
    return len;
}

/* A gzip file may be several, one behind the other; zeros may follow. */
static bool goes_on(struct stream *stream)
{
    return stream->kind == STREAM_GZIP && stream->len - stream->at > 2 && stream->bytes[stream->at] == 0x1f &&
           inflateReset(&stream->z) == Z_OK;
}

static size_t read_deflated(struct stream *stream, uint8_t *out, size_t room)
{
    z_stream *z = &stream->z;
    size_t got = 0;
    while (got < room && !stream->ended) {
        size_t left = stream->len - stream->at;
        uInt in = left < 1u << 30 ? (uInt)left : 1u << 30;
        uInt most = room - got < 1u << 30 ? (uInt)(room - got) : 1u << 30;
        z->next_in = (Bytef *)(uintptr_t)(stream->bytes + stream->at);
        z->avail_in = in;
        z->next_out = out + got;
        z->avail_out = most;
        int rc = inflate(z, Z_NO_FLUSH);
        stream->at += in - z->avail_in;
        got += most - z->avail_out;
        if (rc == Z_STREAM_END)
            stream->ended = !goes_on(stream);
        else if (rc != Z_OK || (in == z->avail_in && most == z->avail_out))
            stream->wrong = "is damaged: its compressed bytes do not make sense";
        stream->ended |= stream->wrong != NULL;
    }
    return got;
}

size_t stream_read(struct stream *stream, uint8_t *out, size_t room)
{
    size_t got = 0;
    if (!stream->ended)
        got = stream->kind == STREAM_PLAIN ? read_plain(stream, out, room) : read_deflated(stream, out, room);
    stream->given += got;
    stream->crc = (uint32_t)crc32(stream->crc, out, (uInt)got);
    if (stream->given > FREE_BYTES && stream->given / RATIO > stream->at) {
        stream->wrong = "unpacks to too much";
        stream->ended = true;
    }
    return got;
}
