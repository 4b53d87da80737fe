/* unpack_zstd.c - see unpack.h. */
#include "upload/unpack.h"

#include "base/alloc.h"

#include <zstd.h>

const char mire__unpack_header[] = "Content-Encoding: zstd";

enum mire_err mire__unpack(char **json_out, size_t *size_out, size_t most, const void *body, size_t size)
{
    unsigned long long unpacked = ZSTD_getFrameContentSize(body, size); /* an unknown size is above the limit */
    char *json;
    size_t got;

    if (unpacked > most)
        return MIRE_E_FORMAT;
    json = mire__malloc((size_t)unpacked + 1);
    if (!json)
        return MIRE_E_MEMORY;
    got = ZSTD_decompress(json, (size_t)unpacked, body, size);
    if (ZSTD_isError(got)) {
        mire__free(json);
        return MIRE_E_FORMAT;
    }
    *json_out = json;
    *size_out = got;
    return MIRE_OK;
}
