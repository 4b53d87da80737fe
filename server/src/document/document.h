/*
 * document.h - the resolved-stack document: struct resolved as bytes, as event_stack.document keeps it.
 */
#ifndef MIRE_DOCUMENT_DOCUMENT_H
#define MIRE_DOCUMENT_DOCUMENT_H

#include "model/resolved.h"

/* Memory that encodes one document after the other. One thread at a time. NULL: out of memory; free(NULL) is fine. */
struct document_encoder;
struct document_encoder *document_encoder_new(void);
void document_encoder_free(struct document_encoder *encoder);

/*
 * Write a document.
 *
 *   bytes_out, len_out   compressed by zstd, owned by caller (free)
 *   encoder              borrowed; NULL: memory of its own for this document
 *
 * Returns 0, or -1 out of memory.
 */
int resolved_encode_by(struct document_encoder *encoder, unsigned char **bytes_out, size_t *len_out,
                       const struct resolved *doc);

/* The same without an encoder. */
int resolved_encode(unsigned char **bytes_out, size_t *len_out, const struct resolved *doc);

/*
 * Read a document back.
 *
 *   out    borrows; filled with what lies in the arena
 *   arena  everything the document points to is allocated here and goes with it
 *
 * Returns 0, or -1 if the bytes are no document (every index is checked) or memory ran out; *out is then zeroed.
 */
int resolved_decode(struct resolved *out, struct arena *arena, const unsigned char *bytes, size_t len);

#endif
