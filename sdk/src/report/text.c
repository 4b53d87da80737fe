/*
 * text.c - see text.h.
 */
#include "report/text.h"

#include "base/alloc.h"
#include "report/report.h"

#define FIRST_BYTES (64u << 10)
#define PACK_LEVEL  9 /* 20 KB of JSON by zstd: 1 ms more than level 3, a tenth smaller */

enum mire_err mire__text_write(char **text_out, size_t *size_out, mire__text_fn *write, const void *context)
{
    *text_out = NULL;
    *size_out = 0;
    for (size_t cap = FIRST_BYTES; cap <= MIRE_REPORT_JSON_MAX; cap *= 2) {
        char *text = mire__malloc(cap);
        struct wire wire;

        if (!text)
            return MIRE_E_MEMORY;
        mire__wire_begin(&wire, text, cap);
        write(&wire, context);
        if (mire__wire_finish(size_out, &wire) == MIRE_WIRE_DONE) {
            *text_out = text;
            return MIRE_OK;
        }
        mire__free(text);
    }
    return MIRE_E_FULL;
}

enum mire_err mire__text_pack(void **body_out, size_t *size_out, const char *text, size_t size)
{
    /* The bound of zstd, which is above that of zlib. */
    size_t cap = size + (size >> 8) + 64, packed;
    void *body = mire__report_pack ? mire__malloc(cap) : NULL;

    *body_out = NULL;
    *size_out = 0;
    if (!body)
        return MIRE_E_MEMORY;
    packed = mire__report_pack(body, cap, text, size, PACK_LEVEL);
    if (packed > cap) { /* an error: into a buffer of the bound only for lack of memory */
        mire__free(body);
        return MIRE_E_MEMORY;
    }
    *body_out = body;
    *size_out = packed;
    return MIRE_OK;
}

bool mire__text_id(char out[MIRE_STORE_ID_LENGTH + 1], const uint8_t id[16])
{
    static const char hex[] = "0123456789abcdef";
    char *at = out;

    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        *at++ = hex[id[i] >> 4];
        *at++ = hex[id[i] & 15];
    }
    *at = '\0';
    return id[6] >> 4 == 7 && id[8] >> 6 == 2;
}
