/*
 * proto.h - messages of protocol buffers, read field by field where they lie. Inside decode/ only.
 *
 *     struct proto message = proto_of(bytes, len);
 *     while (proto_next(&field, &message))
 *         switch (field.number) { case 3: inner = proto_within(&message, &field); ... }
 *     if (message.wrong) ...  proto_place(&message)
 *
 * Nothing is copied or allocated and nothing recurses: nesting is the caller's. For any bytes, no read leaves
 * the message. Groups, which no format of ours has, are wrong. Encoding: protobuf.dev/programming-guides/encoding.
 * Thread: one a message.
 */
#ifndef MIRE_DECODE_PROTO_H
#define MIRE_DECODE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum proto_wire { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_FIXED32 = 5 };

struct proto {
    const uint8_t *begin; /* of the outermost message: places count from here */
    const uint8_t *at, *end;
    const char *wrong; /* what is wrong at `at`, static; NULL: nothing */
    bool cut;          /* what is wrong is that the bytes end too early */
};

struct proto_field {
    uint32_t number;
    enum proto_wire wire;
    uint64_t value;       /* of a number */
    const uint8_t *bytes; /* of a text, a message, packed numbers */
    size_t len;
};

struct proto proto_of(const void *bytes, size_t len);

/* The next field; false at the end, or where something is wrong. */
bool proto_next(struct proto_field *out, struct proto *message);

/* A field's bytes as a message; a number is an empty one. */
struct proto proto_within(const struct proto *message, const struct proto_field *field);

/*
 * The next number of a repeated field, packed or not.
 *
 *   at  starts at 0; the caller keeps it
 *
 * False when there are no more, or with message->wrong.
 */
bool proto_number(uint64_t *out, struct proto *message, const struct proto_field *field, size_t *at);

/* Where it stands, in bytes from the beginning of the outermost message. */
static inline size_t proto_place(const struct proto *message)
{
    return (size_t)(message->at - message->begin);
}

#endif
