/*
 * manifest.c - reads both forms of an AndroidManifest.xml. In either form the first element is <manifest>; its
 * attributes are identified by Android's numbers.
 *
 *     package   binary XML: chunks [ type 2, header 2, size 4, ... ], a pool of texts, attributes that point into it
 *     bundle    a message of protobuf, XmlNode of aapt2's Resources.proto:
 *               element 1 { attribute 4 { value 3, number 5 } }
 */
#include "archive/manifest.h"

#include "base/bytes.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VERSION_CODE 0x0101021bu
#define VERSION_NAME 0x0101021cu

#define CHUNK_POOL    0x0001u
#define CHUNK_XML     0x0003u
#define CHUNK_NUMBERS 0x0180u
#define CHUNK_ELEMENT 0x0102u
#define POOL_UTF8     0x100u
#define VALUE_TEXT    0x03u
#define VALUE_DECIMAL 0x10u
#define VALUE_HEX     0x11u

bool manifest_is(const char *name)
{
    const char *inner = strrchr(name, ':'); /* the part after the name of an inner archive */
    name = inner && inner[1] == ' ' ? inner + 2 : name;
    return !strcmp(name, "AndroidManifest.xml") || !strcmp(name, "base/manifest/AndroidManifest.xml");
}

struct byte_span {
    const uint8_t *bytes;
    size_t len;
};

/* Copy a text if it is valid UTF-8 and fits. */
static void set_text(char *out, size_t room, const uint8_t *bytes, size_t len)
{
    if (bytes && len < room && text_is_valid((const char *)bytes, len) &&
        !(len && bytes[0] == '@')) { /* a reference: "@string/version" */
        memcpy(out, bytes, len);
        out[len] = '\0';
    }
}

struct binary {
    struct byte_span pool, numbers;
};

/* Convert one UTF-16 unit to UTF-8, up to three bytes. Surrogates give an invalid text. */
static size_t put_character(char *out, uint16_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : 3;
    out[0] = (char)(len == 2 ? 0xc0 | c >> 6 : 0xe0 | c >> 12);
    out[len - 2] = len == 2 ? out[0] : (char)(0x80 | ((c >> 6) & 0x3f));
    out[len - 1] = (char)(0x80 | (c & 0x3f));
    return len;
}

/* Copy the text with a number in the pool, as UTF-8. */
static void pool_text(char *out, size_t room, const struct byte_span *pool, uint32_t number)
{
    if (pool->len < 28 || number >= load_32(pool->bytes + 8) || 28 + 4 * (uint64_t)number + 4 > pool->len)
        return;
    uint64_t at = (uint64_t)load_32(pool->bytes + 20) + load_32(pool->bytes + 28 + 4 * (size_t)number);
    bool utf8 = load_32(pool->bytes + 16) & POOL_UTF8;
    if (at + 4 > pool->len)
        return;
    const uint8_t *p = pool->bytes + at;
    size_t left = pool->len - (size_t)at;
    char text[256];
    size_t len = 0;
    if (utf8) { /* numbers of characters and bytes: one or two bytes each */
        size_t skip = p[0] & 0x80 ? 2 : 1;
        len = p[skip] & 0x80 ? 256 : p[skip];
        if (len < sizeof text && skip + 1 + len <= left)
            set_text(out, room, p + skip + 1, len);
        return;
    }
    size_t count = load_16(p);
    if (count >= sizeof text / 3 || 2 + 2 * count > left)
        return;
    for (size_t i = 0; i < count; i++)
        len += put_character(text + len, load_16(p + 2 + 2 * i));
    set_text(out, room, (const uint8_t *)text, len);
}

static void take_binary(struct contents_version *out, const struct binary *binary, const uint8_t *at)
{
    uint32_t name = load_32(at + 4), data = load_32(at + 16);
    uint8_t type = at[15];
    if (!binary->numbers.bytes || 8 + 4 * (uint64_t)name + 4 > binary->numbers.len)
        return;
    uint32_t number = load_32(binary->numbers.bytes + 8 + 4 * (size_t)name);
    bool is_code = number == VERSION_CODE;
    if (!is_code && number != VERSION_NAME)
        return;
    if (type == VALUE_DECIMAL || type == VALUE_HEX)
        snprintf(is_code ? out->build : out->version, is_code ? sizeof out->build : sizeof out->version, "%" PRIu32,
                 data);
    else if (type == VALUE_TEXT)
        pool_text(is_code ? out->build : out->version, is_code ? sizeof out->build : sizeof out->version, &binary->pool,
                  data);
}

/* Read the first element's attributes: 20 bytes or more each, from the offset in its header. */
static void take_element(struct contents_version *out, const struct binary *binary, const struct byte_span *chunk)
{
    if (chunk->len < 36)
        return;
    size_t from = 16 + (size_t)load_16(chunk->bytes + 24);
    size_t step = load_16(chunk->bytes + 26);
    size_t count = load_16(chunk->bytes + 28);
    if (step < 20)
        return;
    for (size_t i = 0; i < count && from + step <= chunk->len; i++, from += step)
        take_binary(out, binary, chunk->bytes + from);
}

static void read_binary(struct contents_version *out, const uint8_t *bytes, size_t len)
{
    struct binary binary = {0};
    for (size_t at = load_16(bytes + 2); at <= len && len - at >= 8;) {
        uint32_t size = load_32(bytes + at + 4);
        uint16_t type = load_16(bytes + at);
        struct byte_span chunk = {bytes + at, size};
        if (size < 8 || size > len - at)
            return;
        if (type == CHUNK_POOL)
            binary.pool = chunk;
        else if (type == CHUNK_NUMBERS)
            binary.numbers = chunk;
        else if (type == CHUNK_ELEMENT) {
            take_element(out, &binary, &chunk);
            return;
        }
        at += size;
    }
}

struct field {
    uint64_t number;
    uint64_t value;         /* of a number field */
    struct byte_span bytes; /* of a text or message field */
};

/* Read the next field of a message. Returns false at the end, or if the field is invalid. */
static bool next_field(struct field *out, struct byte_span *message)
{
    uint64_t numbers[2] = {0};
    size_t at = 0;
    *out = (struct field){0};
    for (int i = 0; i < 2; i++) {
        unsigned kind = numbers[0] & 7;
        if (i && kind != 0 && kind != 2)
            break;
        uint8_t byte = 0x80;
        for (unsigned shift = 0; byte & 0x80; shift += 7) {
            if (at >= message->len || shift > 56)
                return false;
            byte = message->bytes[at++];
            numbers[i] |= (uint64_t)(byte & 0x7f) << shift;
        }
    }
    static const uint8_t bytes_of_kind[8] = {[1] = 8, [5] = 4};
    unsigned kind = numbers[0] & 7;
    size_t fixed = bytes_of_kind[kind];
    uint64_t len = kind == 2 ? numbers[1] : fixed;
    if ((kind != 0 && kind != 2 && !fixed) || len > message->len - at)
        return false;
    *out = (struct field){numbers[0] >> 3, numbers[1], {message->bytes + at, kind == 2 ? (size_t)len : 0}};
    at += (size_t)len;
    *message = (struct byte_span){message->bytes + at, message->len - at};
    return true;
}

static void take_attribute(struct contents_version *out, struct byte_span attribute)
{
    struct field field;
    struct byte_span value = {0};
    uint64_t number = 0;
    while (next_field(&field, &attribute)) {
        if (field.number == 3)
            value = field.bytes;
        else if (field.number == 5)
            number = field.value;
    }
    if (number == VERSION_CODE)
        set_text(out->build, sizeof out->build, value.bytes, value.len);
    else if (number == VERSION_NAME)
        set_text(out->version, sizeof out->version, value.bytes, value.len);
}

static void read_message(struct contents_version *out, const uint8_t *bytes, size_t len)
{
    struct byte_span node = {bytes, len};
    struct field element, field;
    while (next_field(&element, &node))
        for (; element.number == 1 && next_field(&field, &element.bytes);)
            if (field.number == 4)
                take_attribute(out, field.bytes);
}

bool manifest_read(struct contents_version *out, const uint8_t *bytes, size_t len)
{
    *out = (struct contents_version){0};
    if (len >= 8 && load_16(bytes) == CHUNK_XML)
        read_binary(out, bytes, len);
    else if (len && bytes[0] == 0x0a) /* field 1, a message */
        read_message(out, bytes, len);
    if (!out->version[0])
        *out = (struct contents_version){0};
    return out->version[0] != '\0';
}
