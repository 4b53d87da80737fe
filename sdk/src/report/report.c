/*
 * report.c - the stacks are gathered (draft.h), then everything is written in one go (document.h); if the buffer turns
 * out too small, again into a larger one.
 */
#include "report/report.h"

#include "report/document.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define FIRST_BYTES (64u << 10)
#define ZSTD_LEVEL  9 /* 20 KB of JSON: 1 ms more than level 3, a tenth smaller */

static enum mire_err write_text(char **text_out, size_t *size_out, const struct draft *draft)
{
    for (size_t cap = FIRST_BYTES; cap <= MIRE_REPORT_JSON_MAX; cap *= 2) {
        char *text = malloc(cap);
        struct wire wire;

        if (!text)
            return MIRE_E_MEMORY;
        mire__wire_begin(&wire, text, cap);
        mire__document_write(&wire, draft);
        if (mire__wire_finish(size_out, &wire) == MIRE_WIRE_DONE) {
            *text_out = text;
            return MIRE_OK;
        }
        free(text);
    }
    return MIRE_E_FULL;
}

bool mire__report_wanted(const struct blackbox *box, uint32_t lane)
{
    struct hang hang;

    mire__blackbox_hang(&hang, box, lane);
    return mire__hang_counts(&hang);
}

enum mire_err mire__report_json(char **text_out, size_t *size_out, char id[MIRE_STORE_ID_LENGTH + 1],
                                const struct blackbox *box, uint32_t lane, const struct report_told *told)
{
    struct draft *draft = malloc(sizeof(*draft));
    enum mire_err err;

    *text_out = NULL;
    *size_out = 0;
    if (!draft)
        return MIRE_E_MEMORY;
    err = mire__draft_init(draft, box, lane, told);
    if (err == MIRE_OK)
        err = write_text(text_out, size_out, draft);
    memcpy(id, draft->id, sizeof(draft->id));
    mire__draft_fini(draft);
    free(draft);
    return err;
}

enum mire_err mire__report_build(struct report *out, const struct blackbox *box, uint32_t lane,
                                 const struct report_told *told)
{
    char *text;
    size_t size, cap, packed;
    enum mire_err err;

    memset(out, 0, sizeof(*out));
    err = mire__report_json(&text, &size, out->id, box, lane, told);
    if (err != MIRE_OK)
        goto fail;
    cap = ZSTD_compressBound(size);
    err = MIRE_E_MEMORY;
    out->body = malloc(cap);
    if (!out->body)
        goto fail_text;
    packed = ZSTD_compress(out->body, cap, text, size, ZSTD_LEVEL);
    if (ZSTD_isError(packed)) /* into a buffer of the bound only for want of memory */
        goto fail_text;
    out->size = packed;
    free(text);
    return MIRE_OK;
fail_text:
    free(text);
fail:
    mire__report_fini(out);
    return err;
}

void mire__report_fini(struct report *report)
{
    free(report->body);
    memset(report, 0, sizeof(*report));
}
