/*
 * mapping.c - recognizes and identifies mappings of Java names. java/retrace.h reads their contents.
 *
 *     ProGuard, R8   lines "a.b.C -> x.y:" with members below; the id is "# pg_map_id: 5b46fdc", otherwise the UUID
 *                    that ProGuard's users compute from the whole file (version 5: SHA-1)
 *     methodmap      of Matrix: "1,9,com.example.Main,onCreate,(I)V" a line; the id is a hash of the whole file
 */
#include "object/parts.h"

#include "base/id.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define HEAD_BYTES 65536 /* leading bytes that contain the first class or method */
#define ROUNDS     80
#define BLOCK      64u

static uint32_t turn(uint32_t value, unsigned by)
{
    return value << by | value >> (32 - by);
}

static void sha1_block(uint32_t state[5], const uint8_t *bytes)
{
    uint32_t w[ROUNDS];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (unsigned i = 0; i < ROUNDS; i++) {
        const uint8_t *p = bytes + i * 4;
        w[i] = i < 16 ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
                      : turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        uint32_t mix = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                       : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                       : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                                : (b ^ c ^ d) + 0xca62c1d6u;
        uint32_t next = turn(a, 5) + mix + e + w[i];
        e = d;
        d = c;
        c = turn(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

/* The version 5 UUID of a file in ProGuard's name space. */
static void name_uuid(uint8_t out[16], const uint8_t *bytes, size_t len)
{
    static const uint8_t space[16] = {0x4f, 0x44, 0xf3, 0x0f, 0x24, 0xbe, 0x53, 0xd0,
                                      0xba, 0xb6, 0xf4, 0x7c, 0x71, 0x20, 0xad, 0x6c}; /* UUID of guardsquare.com */
    uint32_t state[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    uint8_t block[2 * BLOCK] = {0};
    uint64_t bits = (len + sizeof space) * 8;
    size_t first = len < BLOCK - sizeof space ? len : BLOCK - sizeof space;
    size_t rest = sizeof space + first;
    memcpy(block, space, sizeof space);
    memcpy(block + sizeof space, bytes, first);
    if (rest == BLOCK) {
        sha1_block(state, block);
        for (bytes += first, len -= first; len >= BLOCK; bytes += BLOCK, len -= BLOCK)
            sha1_block(state, bytes);
        memset(block, 0, sizeof block);
        memcpy(block, bytes, len);
        rest = len;
    }
    block[rest] = 0x80;
    size_t end = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    for (unsigned i = 0; i < 8; i++)
        block[end - 1 - i] = (uint8_t)(bits >> (8 * i));
    for (size_t at = 0; at < end; at += BLOCK)
        sha1_block(state, block + at);
    for (unsigned i = 0; i < 16; i++)
        out[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
    out[6] = (uint8_t)((out[6] & 0x0f) | 0x50);
    out[8] = (uint8_t)((out[8] & 0x3f) | 0x80);
}

/* Read "# pg_map_id: " and hex digits. An odd number of digits is padded with a 0. */
static bool read_stated_id(struct object_facts *facts, const uint8_t *bytes, size_t len)
{
    static const char label[] = "# pg_map_id: ";
    char digits[2 * MIRE_OBJECT_ID_MAX + 1] = "";
    const char *at = memmem(bytes, len, label, sizeof label - 1);
    size_t count = 0;
    if (!at)
        return false;
    at += sizeof label - 1;
    size_t left = len - (size_t)(at - (const char *)bytes);
    while (count < left && count < sizeof digits - 1 && isxdigit((unsigned char)at[count])) {
        digits[count] = at[count];
        count++;
    }
    if (count % 2)
        digits[count++] = '0';
    facts->id_len = count / 2;
    return count >= 4 && hex_parse(facts->id, digits, facts->id_len);
}

/* Compares "# pg_map_hash: SHA-256 " with the hash of all lines below it. Returns true if they differ. */
static bool is_changed(const uint8_t *bytes, size_t len)
{
    static const char label[] = "# pg_map_hash: SHA-256 ";
    uint8_t given[MIRE_SHA256], hash[MIRE_SHA256];
    const char *end = (const char *)bytes + len;
    const char *at = memmem(bytes, len < HEAD_BYTES ? len : HEAD_BYTES, label, sizeof label - 1);
    const char *rest = at ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    at += at ? sizeof label - 1 : 0;
    if (!rest || rest - at < 2 * MIRE_SHA256 || !hex_parse(given, at, sizeof given))
        return false;
    rest++;
    hash_sha256(hash, rest, (size_t)(end - rest));
    return memcmp(hash, given, sizeof hash) != 0;
}

/* "word -> word:" in a line that is not indented. */
static bool is_class_line(const char *line, size_t len)
{
    const char *arrow = memmem(line, len, " -> ", 4);
    len -= len && line[len - 1] == '\r';
    return arrow && arrow > line && line[0] != ' ' && line[0] != '#' && len && line[len - 1] == ':' &&
           !memchr(line, ' ', (size_t)(arrow - line)) && !memchr(arrow + 4, ' ', len - (size_t)(arrow + 4 - line));
}

/* "number,number,class,method,(descriptor" */
static bool is_method_line(const char *line, size_t len)
{
    size_t i = 0;
    while (i < len && isdigit((unsigned char)line[i]))
        i++;
    if (!i || i >= len || line[i] != ',')
        return false;
    size_t second = ++i;
    while (i < len && isdigit((unsigned char)line[i]))
        i++;
    if (i == second || i >= len || line[i] != ',')
        return false;
    const char *method = memchr(line + i + 1, ',', len - i - 1);
    const char *end = line + len;
    const char *descriptor = method ? memchr(method + 1, ',', (size_t)(end - method - 1)) : NULL;
    return descriptor && end - descriptor > 1 && descriptor[1] == '(' &&
           !memchr(line, ' ', (size_t)(descriptor - line));
}

static bool begins(const uint8_t *bytes, size_t len, bool (*is_line)(const char *line, size_t len))
{
    const char *text = (const char *)bytes + text_mark(bytes, len);
    const char *end = (const char *)bytes + (len < HEAD_BYTES ? len : HEAD_BYTES);
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        size_t line_len = (size_t)((line_end ? line_end : end) - text);
        bool comment = !line_len || text[0] == '#' || text[0] == '\r';
        if (!comment)
            return is_line(text, line_len);
        text += line_len + 1;
    }
    return false;
}

bool parts_are_mapping(const uint8_t *bytes, size_t len)
{
    return begins(bytes, len, is_class_line) || begins(bytes, len, is_method_line);
}

const char *mapping_read(struct parts *parts)
{
    struct object_facts *facts = &parts->facts;
    bool methods = begins(parts->bytes, parts->len, is_method_line);
    facts->format = methods ? MIRE_FORMAT_METHODMAP : MIRE_FORMAT_MAPPING;
    facts->has_dwarf = !methods; /* a mapping has lines */
    facts->has_symbols = true;
    snprintf(facts->arch, sizeof facts->arch, "java");
    facts->changed = parts->object && !methods && is_changed(parts->bytes, parts->len);
    if (!methods && read_stated_id(facts, parts->bytes, parts->len < HEAD_BYTES ? parts->len : HEAD_BYTES))
        return parts->object ? text_hold(parts) : NULL;
    facts->id_len = 16;
    if (methods)
        hash_blake2b(facts->id, 16, parts->bytes, parts->len);
    else
        name_uuid(facts->id, parts->bytes, parts->len);
    return parts->object ? text_hold(parts) : NULL;
}
