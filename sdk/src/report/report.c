/*
 * report.c - the stacks are gathered (draft.h), then everything is written in one go (document.h).
 */
#include "report/report.h"

#include "base/alloc.h"
#include "report/document.h"
#include "report/text.h"

#include <stdio.h>
#include <string.h>

void mire__report_class(char out[MIRE_REPORT_CLASS_BYTES], uint64_t memory_bytes)
{
    const uint64_t mb = 1u << 20;
    uint64_t size = 64 * mb;

    out[0] = '\0';
    if (memory_bytes == 0 || memory_bytes > UINT64_MAX / 4)
        return;
    while (size < memory_bytes && size / 2 * 3 < memory_bytes)
        size *= 2;
    if (size < memory_bytes)
        size = size / 2 * 3;
    if (size >= 2048 * mb)
        snprintf(out, MIRE_REPORT_CLASS_BYTES, "%llugb", (unsigned long long)(size / mb / 1024));
    else
        snprintf(out, MIRE_REPORT_CLASS_BYTES, "%llumb", (unsigned long long)(size / mb));
}

static void write_document(struct wire *wire, const void *draft)
{
    mire__document_write(wire, draft);
}

bool mire__report_wanted(const struct blackbox *box, uint32_t lane)
{
    struct event event;

    mire__blackbox_event(&event, box, lane);
    return mire__event_counts(&event);
}

enum mire_err mire__report_json(char **text_out, size_t *size_out, char id[MIRE_STORE_ID_LENGTH + 1],
                                const struct blackbox *box, uint32_t lane, const struct report_attached *attached)
{
    struct draft *draft = mire__malloc(sizeof(*draft));
    enum mire_err err;

    *text_out = NULL;
    *size_out = 0;
    if (!draft)
        return MIRE_E_MEMORY;
    err = mire__draft_init(draft, box, lane, attached);
    if (err == MIRE_OK)
        err = mire__text_write(text_out, size_out, write_document, draft);
    memcpy(id, draft->id, sizeof(draft->id));
    mire__draft_fini(draft);
    mire__free(draft);
    return err;
}

enum mire_err mire__report_build(struct report *out, const struct blackbox *box, uint32_t lane,
                                 const struct report_attached *attached)
{
    char *text;
    size_t size;
    enum mire_err err;

    memset(out, 0, sizeof(*out));
    err = mire__report_json(&text, &size, out->id, box, lane, attached);
    if (err == MIRE_OK)
        err = mire__text_pack(&out->body, &out->size, text, size);
    mire__free(text);
    if (err != MIRE_OK)
        mire__report_fini(out);
    return err;
}

void mire__report_fini(struct report *report)
{
    mire__free(report->body);
    memset(report, 0, sizeof(*report));
}
