/*
 * protobuf.h - writes protocol buffers: the needed part, numbers as varints, texts and messages with their length before
 * them. https://protobuf.dev/programming-guides/encoding. Thread: one at a time per text.
 */
#ifndef MIRE_BASE_PROTOBUF_H
#define MIRE_BASE_PROTOBUF_H

#include "base/text.h"
#include "base/varint.h"

#include <stdint.h>

static inline void protobuf_varint(struct text *out, uint64_t value)
{
    unsigned char bytes[MIRE_VARINT_MAX];

    text_append(out, bytes, varint_put(bytes, value));
}

static inline void protobuf_number(struct text *out, unsigned field, uint64_t value)
{
    protobuf_varint(out, (uint64_t)field << 3);
    protobuf_varint(out, value);
}

static inline void protobuf_bytes(struct text *out, unsigned field, const void *bytes, size_t len)
{
    protobuf_varint(out, (uint64_t)field << 3 | 2);
    protobuf_varint(out, len);
    text_append(out, bytes, len);
}

/* Append a message, and empty it. */
static inline void protobuf_message(struct text *out, unsigned field, struct text *message)
{
    protobuf_bytes(out, field, message->bytes, message->len);
    out->failed = out->failed || message->failed;
    message->len = 0;
}

#endif
