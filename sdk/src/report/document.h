/*
 * document.h - the draft as JSON, section by section in the order of schema/wire/report.schema.json. Private to
 * report/.
 */
#ifndef MIRE_REPORT_DOCUMENT_H
#define MIRE_REPORT_DOCUMENT_H

#include "report/draft.h"
#include "wire/wire.h"

/* The whole document. */
void mire__document_write(struct wire *wire, const struct draft *draft);

/* The sections "hang" and "threads". */
void mire__document_hang(struct wire *wire, const struct draft *draft);
void mire__document_threads(struct wire *wire, const struct draft *draft);

/* A text in a field of fixed size, if there is any. */
#define MIRE_TEXT_IF_ANY(wire, key, field)                    \
    do {                                                      \
        if ((field)[0])                                       \
            mire__wire_text(wire, key, field, sizeof(field)); \
    } while (0)

static inline uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

/* To the nearest millisecond. */
static inline uint64_t ms_of(uint64_t ns)
{
    return ns / MIRE_NS_PER_MS + (ns % MIRE_NS_PER_MS >= MIRE_NS_PER_MS / 2);
}

#endif
