/*
 * read.h - reading the resolved-stack document back, piece by piece: `out` is the document. Inside document/ only.
 */
#ifndef MIRE_DOCUMENT_READ_H
#define MIRE_DOCUMENT_READ_H

#include "document/bindings.h"
#include "json/bind.h"
#include "model/resolved.h"

/* Facts of the event. */
enum bind_outcome document_lock(struct bind *bind, void *out, uint32_t at);
enum bind_outcome document_cpu(struct bind *bind, void *out, uint32_t at);
enum bind_outcome document_disk(struct bind *bind, void *out, uint32_t at);
enum bind_outcome document_frames(struct bind *bind, void *out, uint32_t at);
enum bind_outcome document_suppressed(struct bind *bind, void *out, uint32_t at);
enum bind_outcome document_watched(struct bind *bind, void *out, uint32_t at);
enum bind_outcome document_exit(struct bind *bind, void *out, uint32_t at);

/* After locations and nodes. */
enum bind_outcome document_threads(struct bind *bind, void *out, uint32_t at);
enum bind_outcome document_blame(struct bind *bind, void *out, uint32_t at);
enum bind_outcome document_key(struct bind *bind, void *out, uint32_t at);
enum bind_outcome document_verdict(struct bind *bind, void *out, uint32_t at);

/* After the threads. */
enum bind_outcome document_holder(struct bind *bind, void *out, uint32_t at);

enum bind_outcome document_facts(struct bind *bind, void *out, uint32_t at);
enum bind_outcome document_cost(struct bind *bind, void *out, uint32_t at);
enum bind_outcome document_turns(struct bind *bind, void *out, uint32_t at);

#endif
