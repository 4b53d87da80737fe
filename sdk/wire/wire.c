/*
 * wire.c - the writer behind wire.h. Every byte goes through `put`, which is where the buffer's end is watched.
 */
#include "wire/wire.h"

#include <string.h>

static void put(struct wire *wire, const char *bytes, size_t count)
{
    if (wire->state != MIRE_WIRE_DONE)
        return;
    if (count > wire->cap - wire->length) {
        wire->state = MIRE_WIRE_FULL;
        return;
    }
    memcpy(wire->out + wire->length, bytes, count);
    wire->length += count;
}

static void misuse(struct wire *wire)
{
    if (wire->state == MIRE_WIRE_DONE)
        wire->state = MIRE_WIRE_MISUSED;
}

static bool in_object(const struct wire *wire)
{
    return wire->depth > 0 && !(wire->is_array & 1u << (wire->depth - 1));
}

/* The prefix of every value: the comma, and in an object the key. */
static void lead(struct wire *wire, const char *key)
{
    uint32_t bit = 1u << wire->depth;
    bool again = wire->has_any & bit;

    if (in_object(wire) != (key != NULL) || (wire->depth == 0 && again)) {
        misuse(wire);
        return;
    }
    wire->has_any |= bit;
    if (again)
        put(wire, ",", 1);
    if (key) {
        put(wire, "\"", 1);
        put(wire, key, strlen(key));
        put(wire, "\":", 2);
    }
}

static void open_level(struct wire *wire, const char *key, bool array)
{
    if (wire->depth == MIRE_WIRE_DEPTH_MAX) {
        misuse(wire);
        return;
    }
    lead(wire, key);
    put(wire, array ? "[" : "{", 1);
    if (wire->state != MIRE_WIRE_DONE)
        return;
    uint32_t bit = 1u << wire->depth;
    wire->is_array = array ? wire->is_array | bit : wire->is_array & ~bit;
    wire->depth++;
    wire->has_any &= ~(1u << wire->depth);
}

void mire__wire_begin(struct wire *wire, char *out, size_t cap)
{
    *wire = (struct wire){.out = out, .cap = cap};
}

void mire__wire_object(struct wire *wire, const char *key)
{
    open_level(wire, key, false);
}

void mire__wire_array(struct wire *wire, const char *key)
{
    open_level(wire, key, true);
}

void mire__wire_end(struct wire *wire)
{
    if (wire->depth == 0) {
        misuse(wire);
        return;
    }
    put(wire, in_object(wire) ? "}" : "]", 1);
    wire->depth--;
}

static void put_u64(struct wire *wire, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    put(wire, digits + at, sizeof(digits) - at);
}

static void put_i64(struct wire *wire, int64_t value)
{
    if (value < 0)
        put(wire, "-", 1);
    put_u64(wire, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void mire__wire_u64(struct wire *wire, const char *key, uint64_t value)
{
    lead(wire, key);
    put_u64(wire, value);
}

void mire__wire_i64(struct wire *wire, const char *key, int64_t value)
{
    lead(wire, key);
    put_i64(wire, value);
}

void mire__wire_ppm(struct wire *wire, const char *key, uint32_t ppm)
{
    char fraction[7] = ".";
    size_t length = sizeof(fraction);
    uint32_t rest = ppm % 1000000;

    lead(wire, key);
    put_u64(wire, ppm / 1000000);
    if (rest == 0)
        return;
    for (size_t i = 6; i > 0; i--, rest /= 10)
        fraction[i] = (char)('0' + rest % 10);
    while (fraction[length - 1] == '0')
        length--;
    put(wire, fraction, length);
}

void mire__wire_bool(struct wire *wire, const char *key, bool value)
{
    lead(wire, key);
    if (value)
        put(wire, "true", 4);
    else
        put(wire, "false", 5);
}

/*
 * Bytes of the UTF-8 character that begins at `text`, 0 if none does (RFC 3629: no overlong forms, no surrogates,
 * nothing above U+10FFFF). `left` is at least 1.
 */
static size_t character(const unsigned char *text, size_t left)
{
    unsigned char lead_byte = text[0];
    unsigned char low = 0x80, high = 0xbf;
    size_t count;

    if (lead_byte < 0x80)
        return 1;
    if (lead_byte >= 0xc2 && lead_byte <= 0xdf)
        count = 2;
    else if ((lead_byte & 0xf0) == 0xe0)
        count = 3;
    else if (lead_byte >= 0xf0 && lead_byte <= 0xf4)
        count = 4;
    else
        return 0;
    if (lead_byte == 0xe0)
        low = 0xa0;
    else if (lead_byte == 0xed)
        high = 0x9f;
    else if (lead_byte == 0xf0)
        low = 0x90;
    else if (lead_byte == 0xf4)
        high = 0x8f;
    if (left < count || text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < count; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return count;
}

static void put_escaped(struct wire *wire, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    char escape[6] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};
    char plain = (char)byte;

    if (byte == '"' || byte == '\\') {
        put(wire, "\\", 1);
        put(wire, &plain, 1);
    } else if (byte < 0x20) {
        put(wire, escape, sizeof(escape));
    } else {
        put(wire, &plain, 1);
    }
}

void mire__wire_text(struct wire *wire, const char *key, const char *text, size_t cap)
{
    size_t length = text ? strnlen(text, cap) : 0;
    size_t at = 0;

    lead(wire, key);
    put(wire, "\"", 1);
    for (size_t written = 0; at < length && written < MIRE_WIRE_TEXT_MAX; written++) {
        size_t count = character((const unsigned char *)text + at, length - at);
        if (count == 1)
            put_escaped(wire, (unsigned char)text[at]);
        else if (count == 0)
            put(wire, "\xef\xbf\xbd", 3);
        else
            put(wire, text + at, count);
        at += count ? count : 1;
    }
    put(wire, "\"", 1);
}

void mire__wire_hex(struct wire *wire, const char *key, const uint8_t *bytes, size_t count)
{
    static const char hex[] = "0123456789abcdef";

    lead(wire, key);
    put(wire, "\"", 1);
    for (size_t i = 0; i < count; i++) {
        char pair[2] = {hex[bytes[i] >> 4], hex[bytes[i] & 15]};
        put(wire, pair, 2);
    }
    put(wire, "\"", 1);
}

/* One body for four element types. */
#define COLUMN(NAME, TYPE, PUT)                                                     \
    void NAME(struct wire *wire, const char *key, const TYPE *values, size_t count) \
    {                                                                               \
        mire__wire_array(wire, key);                                                \
        for (size_t i = 0; i < count && wire->state == MIRE_WIRE_DONE; i++) {       \
            lead(wire, NULL);                                                       \
            PUT(wire, values[i]);                                                   \
        }                                                                           \
        mire__wire_end(wire);                                                       \
    }

COLUMN(mire__wire_u64_column, uint64_t, put_u64)
COLUMN(mire__wire_u32_column, uint32_t, put_u64)
COLUMN(mire__wire_i32_column, int32_t, put_i64)
COLUMN(mire__wire_u8_column, uint8_t, put_u64)

enum wire_state mire__wire_finish(size_t *length_out, struct wire *wire)
{
    if (wire->depth != 0 || !(wire->has_any & 1u))
        misuse(wire);
    *length_out = wire->state == MIRE_WIRE_DONE ? wire->length : 0;
    return wire->state;
}
