/*
 * read.h - reading the resolved-stack document back, piece by piece: `out` is the document. Inside document/ only.
 */
#ifndef MIRE_DOCUMENT_READ_H
#define MIRE_DOCUMENT_READ_H

#include "json/bind.h"
#include "model/resolved.h"

#define ITEMS_MAX    (1u << 22)
#define FUNCTION_MAX (1u << 16) /* characters; C++ names are long */

/* Rows of a table of fields; a field is called as its member. */
#define NUMBER(type, member, how, most)                                             \
    {                                                                               \
        .name = #member, .want = how, .offset = offsetof(type, member), .max = most \
    }
#define TEXT(type, member)                                                                             \
    {                                                                                                  \
        .name = #member, .want = MIRE_BIND_TEXT, .offset = offsetof(type, member), .max = FUNCTION_MAX \
    }
#define COLUMN(type, member, most)                                                                \
    {                                                                                             \
        .name = #member, .want = MIRE_BIND_COLUMN, .offset = offsetof(type, member), .max = most, \
        .items_max = ITEMS_MAX, .required = true                                                  \
    }
#define OTHER(field, function)                                   \
    {                                                            \
        .name = field, .want = MIRE_BIND_OTHER, .read = function \
    }
#define COUNT(table) (sizeof(table) / sizeof *(table))
#define FLAG(type, member)                                                        \
    {                                                                             \
        .name = #member, .want = MIRE_BIND_BOOL, .offset = offsetof(type, member) \
    }

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
