/*
 * stream.h - reads the bytes of an archive's member in order, decompressed if need be. Internal to archive/.
 */
#ifndef MIRE_ARCHIVE_STREAM_H
#define MIRE_ARCHIVE_STREAM_H

#include <bzlib.h>
#include <lzma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>
#include <zstd.h>

/*
 * Bytes into and out of all streams of one archive, including inner archives. A stream that would exceed `most` ends
 * with MIRE_STREAM_TOO_MUCH.
 */
struct stream_work {
    uint64_t done;
    uint64_t most;
};

#define MIRE_STREAM_TOO_MUCH "unpacks to too much for its size"

enum stream_kind { STREAM_PLAIN, STREAM_DEFLATE, STREAM_GZIP, STREAM_XZ, STREAM_ZSTD, STREAM_BZIP2 };

struct stream {
    enum stream_kind kind;
    const uint8_t *bytes;
    size_t len;
    size_t at;
    struct stream_work *work; /* borrowed */
    uint64_t given;           /* bytes that came out */
    uint32_t crc;             /* CRC-32 of those bytes, as in zip and gzip */
    const char *wrong;
    bool ended;
    bool alone; /* one member is the whole stream: an unwanted one need not be read */
    union {
        z_stream z;
        lzma_stream xz;
        ZSTD_DStream *zstd;
        bz_stream bz;
    } by;
};

/* The compression of a stream, by its first bytes; STREAM_PLAIN: none. */
enum stream_kind stream_kind_of(const uint8_t *bytes, size_t len);

/* Returns false out of memory. The caller ends the stream with stream_fini. */
bool stream_init(struct stream *stream, enum stream_kind kind, const uint8_t *bytes, size_t len,
                 struct stream_work *work);
void stream_fini(struct stream *stream);

/* Read the next bytes: `room` of them, or fewer at the end. Returns their number. stream->wrong is set at damage. */
size_t stream_read(struct stream *stream, uint8_t *out, size_t room);

#endif
