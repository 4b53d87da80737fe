/* unpack_apple.c - see unpack.h: gzip by zlib. */
#include "upload/unpack.h"

#include "base/alloc.h"

#include <stdint.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16)
#define FIRST_BYTES (64u << 10)

const char mire__unpack_header[] = "Content-Encoding: gzip";

enum mire_err mire__unpack(char **json_out, size_t *size_out, size_t most, const void *body, size_t size)
{
    z_stream stream;
    size_t cap = FIRST_BYTES;
    char *json = mire__malloc(cap);
    int result = json ? Z_OK : Z_MEM_ERROR;

    memset(&stream, 0, sizeof(stream));
    stream.next_in = (Bytef *)(uintptr_t)body;
    stream.avail_in = (uInt)size;
    if (json && inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        result = Z_MEM_ERROR;
    while (result == Z_OK) {
        if (stream.total_out == cap) {
            char *more = cap < most ? mire__realloc(json, cap *= 2) : NULL;

            result = more ? Z_OK : Z_DATA_ERROR;
            json = more ? more : json;
        }
        stream.next_out = (Bytef *)json + stream.total_out;
        stream.avail_out = (uInt)(cap - stream.total_out);
        if (result == Z_OK)
            result = inflate(&stream, Z_NO_FLUSH);
    }
    *size_out = stream.total_out;
    inflateEnd(&stream);
    if (result == Z_STREAM_END && *size_out <= most) {
        *json_out = json;
        return MIRE_OK;
    }
    mire__free(json);
    return result == Z_MEM_ERROR ? MIRE_E_MEMORY : MIRE_E_FORMAT;
}
