/*
 * trace_keep.c - see trace_keep.h. A tombstone as protobuf (system/core, debuggerd/proto/tombstone.proto) keeps the fields that
 * are listed here; one as text ends before the first section of memory, maps or logs.
 *
 * Output is written over the input: it never has more bytes than were read.
 */
#include "report/trace_keep.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

#define FIELD(number) (1ull << (number))

/* A kind of message: fields that are kept, and messages within it whose fields are picked too. */
struct kind {
    uint64_t kept;
    struct {
        uint32_t field;
        const struct kind *kind;
    } within[2];
};

static const struct kind thread = {.kept = FIELD(1) | FIELD(2) | FIELD(4)}; /* id, name, stack */
static const struct kind thread_entry = {.kept = FIELD(1) | FIELD(2), .within = {{2, &thread}}};
static const struct kind signal_sent = {/* number, names, codes, address */
                                        .kept = FIELD(1) | FIELD(2) | FIELD(3) | FIELD(4) | FIELD(8) | FIELD(9)};
static const struct kind tombstone =
    {/* architecture, build, time, pid, tid, command, signal, message, cause, threads, uptime */
     .kept = FIELD(1) | FIELD(2) | FIELD(4) | FIELD(5) | FIELD(6) | FIELD(9) | FIELD(10) | FIELD(14) | FIELD(15) |
             FIELD(16) | FIELD(20),
     .within = {{10, &signal_sent}, {16, &thread_entry}}};

static const struct kind *kind_within(const struct kind *kind, uint64_t field)
{
    for (size_t i = 0; i < 2; i++)
        if (kind->within[i].kind && kind->within[i].field == field)
            return kind->within[i].kind;
    return NULL;
}

/* Bytes of the number; 0: cut or too long. */
static size_t read_varint(uint64_t *out, const uint8_t *at, const uint8_t *end)
{
    *out = 0;
    for (size_t i = 0; i < 10 && at + i < end; i++) {
        *out |= (uint64_t)(at[i] & 0x7f) << (7 * i);
        if (at[i] < 0x80)
            return i + 1;
    }
    return 0;
}

static size_t write_varint(uint8_t *out, uint64_t value)
{
    size_t size = 0;

    for (; value >= 0x80; value >>= 7)
        out[size++] = (uint8_t)(value | 0x80);
    out[size++] = (uint8_t)value;
    return size;
}

/* One field: where its tag, its value and itself end. */
struct field {
    uint64_t number;
    bool is_bytes;
    const uint8_t *value, *end; /* of bytes: behind their length */
};

static bool read_field(struct field *out, const uint8_t *at, const uint8_t *end)
{
    uint64_t tag, length = 0;
    size_t size = read_varint(&tag, at, end), more;

    if (size == 0)
        return false;
    out->number = tag >> 3;
    out->is_bytes = (tag & 7) == WIRE_BYTES;
    out->value = at + size;
    switch (tag & 7) {
    case WIRE_VARINT:
        length = read_varint(&tag, out->value, end);
        break;
    case WIRE_FIXED64:
        length = 8;
        break;
    case WIRE_FIXED32:
        length = 4;
        break;
    case WIRE_BYTES:
        more = read_varint(&length, out->value, end);
        out->value += more;
        if (more == 0)
            return false;
        break;
    default:
        return false;
    }
    if (((tag & 7) == WIRE_VARINT && length == 0) || length > (size_t)(end - out->value))
        return false;
    out->end = out->value + length;
    return true;
}

/* Copy the kept fields of a message to `out`, which is not behind it. Returns where they end. */
static uint8_t *keep(uint8_t *out, const uint8_t *at, const uint8_t *end, const struct kind *kind)
{
    struct field field;

    for (; at < end && read_field(&field, at, end); at = field.end) {
        const struct kind *inner = field.is_bytes ? kind_within(kind, field.number) : NULL;
        size_t size = (size_t)(field.end - at), head;
        uint8_t *body;

        if (field.number >= 64 || !(kind->kept & FIELD(field.number)))
            continue;
        if (!inner) {
            memmove(out, at, size);
            out += size;
            continue;
        }
        head = (size_t)(field.value - at);
        body = out + head; /* its length may take fewer bytes later */
        size = (size_t)(keep(body, field.value, field.end, inner) - body);
        head = write_varint(out, field.number << 3 | WIRE_BYTES);
        head += write_varint(out + head, size);
        memmove(out + head, body, size);
        out += head + size;
    }
    return out;
}

static bool begins_section(const uint8_t *line, size_t left)
{
    static const char *const begins[] = {"memory near ", "memory map", "--------- ",
                                         "open files",   "logcat:\n",  "stack:\n"};

    for (size_t i = 0; i < MIRE_COUNT(begins); i++)
        if (left >= strlen(begins[i]) && memcmp(line, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* The text up to the first section that tells more than stacks. */
static size_t keep_text(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = bytes + size, *line = bytes, *feed;

    while ((feed = memchr(line, '\n', (size_t)(end - line)))) {
        line = feed + 1;
        if (begins_section(line, (size_t)(end - line)))
            return (size_t)(line - bytes);
    }
    return size;
}

size_t mire__trace_keep(uint8_t *bytes, size_t size)
{
    bool text = size > 0 && (bytes[0] >= ' ' || bytes[0] == '\n' || bytes[0] == '\r') && !memchr(bytes, '\0', size);

    return text ? keep_text(bytes, size) : (size_t)(keep(bytes, bytes, bytes + size, &tombstone) - bytes);
}
