/* filter.c - see filter.h. */
#include "upload/filter.h"

#include "base/alloc.h"

#include <zstd.h>

enum mire_err mire__filter_ask(const struct upload_options *options, const void *body, size_t size)
{
    enum mire_err err = MIRE_E_FORMAT;
    unsigned long long unpacked;
    char *json;
    size_t got;

    if (!options->before_send)
        return MIRE_OK;
    unpacked = ZSTD_getFrameContentSize(body, size); /* an unknown size is above the limit */
    if (unpacked > MIRE_FILTER_JSON_MAX)
        return MIRE_E_FORMAT;
    json = mire__malloc((size_t)unpacked + 1);
    if (!json)
        return MIRE_E_MEMORY;
    got = ZSTD_decompress(json, (size_t)unpacked, body, size);
    if (!ZSTD_isError(got))
        err = options->before_send(options->before_send_context, json, got) ? MIRE_E_STATE : MIRE_OK;
    mire__free(json);
    return err;
}
