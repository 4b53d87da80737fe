/*
 * pack_apple.c - compresses reports by zlib, which every Apple system has, into gzip. See report.h.
 */
#include "report/report.h"

#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16)
#define MEMORY      8

/* As ZSTD_compress: the size, or an error, which is larger than the buffer. */
static size_t pack(void *out, size_t cap, const void *text, size_t size, int level)
{
    z_stream stream;
    int result;

    memset(&stream, 0, sizeof(stream));
    if (deflateInit2(&stream, level, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return SIZE_MAX;
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)cap;
    result = deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return result == Z_STREAM_END ? (size_t)stream.total_out : SIZE_MAX;
}

mire__pack_fn *mire__report_pack = pack;
