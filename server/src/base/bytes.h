/*
 * bytes.h - little-endian numbers from untrusted bytes.
 *
 * The functions check no bounds. Each documents the largest number of bytes that it reads, so that a caller can check
 * once for several numbers.
 */
#ifndef MIRE_BASE_BYTES_H
#define MIRE_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MIRE_LEB_MAX 10 /* bytes of a LEB128 number that are read */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "loads are plain copies: a big-endian machine has to swap here"
#endif

static inline uint16_t load_16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t load_32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t load_64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* A number of `width` bytes: 1, 2, 3, 4 or 8; of any other width 0. */
static inline uint64_t load_wide(const uint8_t *at, unsigned width)
{
    switch (width) {
    case 1:
        return *at;
    case 2:
        return load_16(at);
    case 3:
        return load_16(at) | (uint64_t)at[2] << 16;
    case 4:
        return load_32(at);
    case 8:
        return load_64(at);
    default:
        return 0;
    }
}

static inline uint32_t swap_32(uint32_t value)
{
    return __builtin_bswap32(value);
}

/* The unsigned LEB128 number at *at, which then points after the number; bits beyond the 64th are dropped. */
static inline uint64_t load_uleb(const uint8_t **at)
{
    const uint8_t *p = *at;
    uint64_t byte = *p++;
    uint64_t value = byte & 0x7f;
    for (unsigned shift = 7; byte & 0x80 && shift < 7 * MIRE_LEB_MAX; shift += 7) {
        byte = *p++;
        value |= (byte & 0x7f) << shift;
    }
    *at = p;
    return value;
}

/* The same for a signed number. */
static inline int64_t load_sleb(const uint8_t **at)
{
    const uint8_t *p = *at;
    uint64_t value = 0;
    uint64_t byte;
    unsigned shift = 0;
    do {
        byte = *p++;
        value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && shift < 7 * MIRE_LEB_MAX);
    if (shift < 64 && byte & 0x40)
        value |= ~0ull << shift;
    *at = p;
    return (int64_t)value;
}

static inline void skip_leb(const uint8_t **at)
{
    const uint8_t *p = *at;
    for (int i = 0; i < MIRE_LEB_MAX && *p++ & 0x80;)
        i++;
    *at = p;
}

#endif
