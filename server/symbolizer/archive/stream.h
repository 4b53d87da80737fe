/*
 * stream.h - bytes of an archive's member in order, decompressed if need be. Inside archive/ only.
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
 * Bytes that went into streams and came out of them, all of one archive and of those inside it together. A stream that
 * would go beyond `most` ends with MIRE_STREAM_TOO_MUCH.
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
    uint32_t crc;             /* of them, as zip and gzip count it */
    const char *wrong;
    bool ended;
    bool alone; /* one member is all of it: what nobody wants need not be read */
    union {
        z_stream z;
        lzma_stream xz;
        ZSTD_DStream *zstd;
        bz_stream bz;
    } by;
};

/* By which its first bytes say it is compressed; STREAM_PLAIN: by none. */
enum stream_kind stream_kind_of(const uint8_t *bytes, size_t len);

/* False: out of memory. Ended by stream_fini. */
bool stream_init(struct stream *stream, enum stream_kind kind, const uint8_t *bytes, size_t len,
                 struct stream_work *work);
void stream_fini(struct stream *stream);

/* The next bytes, `room` of them unless it ends before; stream->wrong tells of damage. */
size_t stream_read(struct stream *stream, uint8_t *out, size_t room);

#endif
