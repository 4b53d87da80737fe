/*
 * memory.h - what a process held, as a part of the resolved-stack document. Inside document/ only.
 */
#ifndef MIRE_DOCUMENT_MEMORY_H
#define MIRE_DOCUMENT_MEMORY_H

#include "json/bind.h"
#include "json/write.h"
#include "model/resolved.h"

/* Nothing, of a document that has none. */
void memory_document_write(struct json_writer *w, const struct memory *memory);

/* After the nodes. `document` is a struct resolved. */
enum bind_outcome memory_document_read(struct bind *bind, void *document, uint32_t at);

#endif
