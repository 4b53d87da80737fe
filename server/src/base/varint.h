/*
 * varint.h - whole numbers of seven bits a byte, low bits first; the top bit says that another byte follows. The coding of
 * protocol buffers (https://protobuf.dev/programming-guides/encoding), also that of the server's own packed columns.
 * Thread: any.
 */
#ifndef MIRE_BASE_VARINT_H
#define MIRE_BASE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_VARINT_MAX 10 /* bytes of the longest number */

/* Write value into out. Result: the bytes written, 1 to MIRE_VARINT_MAX. */
static inline size_t varint_put(unsigned char out[MIRE_VARINT_MAX], uint64_t value)
{
    size_t len = 0;

    for (; value >= 0x80; value >>= 7)
        out[len++] = (unsigned char)(value | 0x80);
    out[len++] = (unsigned char)value;
    return len;
}

/*
 * Read a number between *at and end, and set *at behind it. Result: false if the number does not end before end, has more
 * than 64 bits or is above most; *out and *at are then not set.
 */
static inline bool varint_take(uint64_t *out, const unsigned char **at, const unsigned char *end, uint64_t most)
{
    const unsigned char *next = *at;
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && next < end; shift += 7) {
        unsigned char byte = *next++;
        if (shift == 63 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (value > most)
            return false;
        *out = value;
        *at = next;
        return true;
    }
    return false;
}

#endif
