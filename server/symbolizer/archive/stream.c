/*
 * stream.c - one interface to all decompressors, with a count of their work.
 *
 * Each step consumes bytes at stream->at and produces some. A file may consist of several concatenated streams of one
 * kind.
 */
#include "archive/stream.h"

#include <string.h>

#define XZ_MEMORY   (256ull << 20)
#define STEP_MOST   (1u << 30) /* limit of a step, bytes: some libraries count in 32 bits */
#define BZIP2_BLOCK 900000u    /* bytes that are sorted before the first one comes out */
#define DAMAGED     "is damaged: its compressed bytes do not make sense"

enum stream_kind stream_kind_of(const uint8_t *bytes, size_t len)
{
    static const struct {
        enum stream_kind kind;
        const char *begin;
        size_t len;
    } kinds[] = {{STREAM_GZIP, "\x1f\x8b\x08", 3},
                 {STREAM_XZ, "\xfd\x37zXZ\0", 6},
                 {STREAM_ZSTD, "\x28\xb5\x2f\xfd", 4},
                 {STREAM_BZIP2, "BZh", 3}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (len > 13 && !memcmp(bytes, kinds[i].begin, kinds[i].len) &&
            (kinds[i].kind != STREAM_BZIP2 || !memcmp(bytes + 4, "1AY&SY", 6))) /* magic of the first block */
            return kinds[i].kind;
    return STREAM_PLAIN;
}

bool stream_init(struct stream *stream, enum stream_kind kind, const uint8_t *bytes, size_t len,
                 struct stream_work *work)
{
    *stream = (struct stream){.kind = kind, .bytes = bytes, .len = len, .work = work};
    switch (kind) {
    case STREAM_DEFLATE:
    case STREAM_GZIP:
        return inflateInit2(&stream->by.z, kind == STREAM_GZIP ? 15 + 16 : -15) == Z_OK;
    case STREAM_XZ:
        stream->by.xz = (lzma_stream)LZMA_STREAM_INIT;
        return lzma_stream_decoder(&stream->by.xz, XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
    case STREAM_ZSTD:
        stream->by.zstd = ZSTD_createDStream();
        return stream->by.zstd != NULL;
    case STREAM_BZIP2:
        return BZ2_bzDecompressInit(&stream->by.bz, 0, 0) == BZ_OK;
    default:
        return true;
    }
}

void stream_fini(struct stream *stream)
{
    if (stream->kind == STREAM_BZIP2 && (!stream->ended || stream->wrong)) /* its last block may be unread */
        stream->work->done += BZIP2_BLOCK;
    if (stream->kind == STREAM_DEFLATE || stream->kind == STREAM_GZIP)
        inflateEnd(&stream->by.z);
    else if (stream->kind == STREAM_XZ)
        lzma_end(&stream->by.xz);
    else if (stream->kind == STREAM_ZSTD)
        ZSTD_freeDStream(stream->by.zstd);
    else if (stream->kind == STREAM_BZIP2)
        BZ2_bzDecompressEnd(&stream->by.bz);
}

/* One step: up to `in` bytes at `from`, up to `room` at `out`, and the bytes used of both. */
struct stream_step {
    const uint8_t *from;
    uint8_t *out;
    size_t in, room;   /* input */
    size_t used, made; /* output */
};

static void step_plain(struct stream *stream, struct stream_step *step)
{
    step->used = step->made = step->in < step->room ? step->in : step->room;
    memcpy(step->out, step->from, step->made);
    stream->ended = step->used == step->in && step->made < step->room;
}

static void step_zlib(struct stream *stream, struct stream_step *step)
{
    z_stream *z = &stream->by.z;
    z->next_in = (Bytef *)(uintptr_t)step->from;
    z->avail_in = (uInt)step->in;
    z->next_out = step->out;
    z->avail_out = (uInt)step->room;
    int rc = inflate(z, Z_NO_FLUSH);
    step->used = step->in - z->avail_in;
    step->made = step->room - z->avail_out;
    if (rc == Z_STREAM_END) /* another stream or zeros may follow */
        stream->ended = stream->kind != STREAM_GZIP || step->in - step->used < 3 || step->from[step->used] != 0x1f ||
                        inflateReset(z) != Z_OK;
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
        stream->wrong = DAMAGED;
}

static void step_xz(struct stream *stream, struct stream_step *step)
{
    lzma_stream *xz = &stream->by.xz;
    xz->next_in = step->from;
    xz->avail_in = step->in;
    xz->next_out = step->out;
    xz->avail_out = step->room;
    lzma_ret rc = lzma_code(xz, step->in < STEP_MOST ? LZMA_FINISH : LZMA_RUN);
    step->used = step->in - xz->avail_in;
    step->made = step->room - xz->avail_out;
    stream->ended = rc == LZMA_STREAM_END;
    if (rc == LZMA_MEMLIMIT_ERROR)
        stream->wrong = "needs more memory to decompress than is allowed (256 MiB)";
    else if (rc != LZMA_OK && rc != LZMA_BUF_ERROR && rc != LZMA_STREAM_END)
        stream->wrong = DAMAGED;
}

static void step_zstd(struct stream *stream, struct stream_step *step)
{
    ZSTD_inBuffer in = {step->from, step->in, 0};
    ZSTD_outBuffer out = {step->out, step->room, 0};
    size_t rc = ZSTD_decompressStream(stream->by.zstd, &out, &in);
    step->used = in.pos;
    step->made = out.pos;
    if (ZSTD_isError(rc))
        stream->wrong = DAMAGED;
    else
        stream->ended = !rc && in.pos == in.size;
}

static void step_bzip2(struct stream *stream, struct stream_step *step)
{
    bz_stream *bz = &stream->by.bz;
    bz->next_in = (char *)(uintptr_t)step->from;
    bz->avail_in = (unsigned)step->in;
    bz->next_out = (char *)step->out;
    bz->avail_out = (unsigned)step->room;
    int rc = BZ2_bzDecompress(bz);
    step->used = step->in - bz->avail_in;
    step->made = step->room - bz->avail_out;
    if (rc == BZ_STREAM_END && step->in - step->used > 3 && !memcmp(step->from + step->used, "BZh", 3)) {
        BZ2_bzDecompressEnd(bz);
        *bz = (bz_stream){0};
        if (BZ2_bzDecompressInit(bz, 0, 0) != BZ_OK)
            stream->wrong = "needs more memory than there is";
    } else if (rc == BZ_STREAM_END) {
        stream->ended = true;
    } else if (rc != BZ_OK) {
        stream->wrong = DAMAGED;
    }
}

static void take_step(struct stream *stream, struct stream_step *step)
{
    if (stream->kind == STREAM_PLAIN)
        step_plain(stream, step);
    else if (stream->kind == STREAM_XZ)
        step_xz(stream, step);
    else if (stream->kind == STREAM_ZSTD)
        step_zstd(stream, step);
    else if (stream->kind == STREAM_BZIP2)
        step_bzip2(stream, step);
    else
        step_zlib(stream, step);
}

size_t stream_read(struct stream *stream, uint8_t *out, size_t room)
{
    size_t got = 0;
    while (got < room && !stream->ended) {
        size_t left = stream->len - stream->at;
        struct stream_step step = {.from = stream->bytes + stream->at,
                                   .out = out + got,
                                   .in = left < STEP_MOST ? left : STEP_MOST,
                                   .room = room - got < STEP_MOST ? room - got : STEP_MOST};
        take_step(stream, &step);
        stream->at += step.used;
        got += step.made;
        stream->work->done += step.used + step.made;
        if (!stream->wrong && !stream->ended && !step.used && !step.made) /* truncated */
            stream->wrong = DAMAGED;
        if (stream->work->done > stream->work->most)
            stream->wrong = MIRE_STREAM_TOO_MUCH;
        stream->ended |= stream->wrong != NULL;
    }
    stream->given += got;
    stream->crc = (uint32_t)crc32(stream->crc, out, (uInt)got);
    return got;
}
