/* proto.c - see proto.h. */
#include "decode/proto.h"

#include "base/bytes.h"

struct proto proto_of(const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    return (struct proto){at, at, at + len, NULL, false};
}

static bool refuse(struct proto *message, const uint8_t *at, const char *what)
{
    message->at = at;
    message->wrong = what;
    return false;
}

static bool refuse_cut(struct proto *message, const uint8_t *at, const char *what)
{
    message->cut = true;
    return refuse(message, at, what);
}

/* At most ten bytes; what is beyond the 64th bit is dropped, as all readers do. */
static bool take_varint(uint64_t *out, struct proto *message)
{
    const uint8_t *at = message->at;
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (at == message->end)
            return refuse_cut(message, message->at, "a number ends too early");
        value |= shift < 64 ? (uint64_t)(*at & 0x7f) << shift : 0;
        if (*at++ < 0x80) {
            message->at = at;
            *out = value;
            return true;
        }
    }
    return refuse(message, message->at, "a number has more than ten bytes");
}

static bool take_value(struct proto_field *out, struct proto *message)
{
    size_t left = (size_t)(message->end - message->at);
    size_t width = out->wire == PROTO_FIXED64 ? 8 : 4;
    if (out->wire == PROTO_VARINT)
        return take_varint(&out->value, message);
    if (out->wire == PROTO_BYTES) {
        const uint8_t *before = message->at;
        if (!take_varint(&out->value, message))
            return false;
        if (out->value > (uint64_t)(message->end - message->at))
            return refuse_cut(message, before, "a field is longer than its message");
        out->bytes = message->at;
        out->len = (size_t)out->value;
        message->at += out->len;
        return true;
    }
    if (left < width)
        return refuse_cut(message, message->at, "a number ends too early");
    out->value = width == 8 ? load_64(message->at) : load_32(message->at);
    message->at += width;
    return true;
}

bool proto_next(struct proto_field *out, struct proto *message)
{
    const uint8_t *before = message->at;
    uint64_t key;
    if (message->wrong || message->at == message->end || !take_varint(&key, message))
        return false;
    unsigned wire = key & 7;
    if (key >> 3 == 0 || key >> 3 > UINT32_MAX >> 3)
        return refuse(message, before, "a field has no number that can be");
    if (wire != PROTO_VARINT && wire != PROTO_FIXED64 && wire != PROTO_BYTES && wire != PROTO_FIXED32)
        return refuse(message, before, "a field is of no kind that is used");
    *out = (struct proto_field){.number = (uint32_t)(key >> 3), .wire = (enum proto_wire)wire};
    return take_value(out, message);
}

struct proto proto_within(const struct proto *message, const struct proto_field *field)
{
    const uint8_t *at = field->wire == PROTO_BYTES ? field->bytes : message->at;
    return (struct proto){message->begin, at, at + (field->wire == PROTO_BYTES ? field->len : 0), NULL, false};
}

bool proto_number(uint64_t *out, struct proto *message, const struct proto_field *field, size_t *at)
{
    if (field->wire != PROTO_BYTES) {
        *out = field->value;
        return (*at)++ == 0;
    }
    struct proto packed = {message->begin, field->bytes + *at, field->bytes + field->len, NULL, false};
    if (packed.at == packed.end)
        return false;
    if (!take_varint(out, &packed))
        return refuse(message, packed.at, packed.wrong);
    *at = (size_t)(packed.at - field->bytes);
    return true;
}
