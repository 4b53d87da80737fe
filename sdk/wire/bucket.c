/*
 * bucket.c - SipHash-2-4 (Aumasson and Bernstein, 2012) over "install\0plugin\0salt".
 */
#include "wire/bucket.h"

#include <stddef.h>
#include <string.h>

#define TEXT_MAX 192

/*
 * Nothing is up this sleeve: they are the first digits of pi. They never change, or every share would be drawn again.
 */
#define KEY0 0x243f6a8885a308d3ull
#define KEY1 0x13198a2e03707344ull

struct sip {
    uint64_t a, b, c, d;
};

static uint64_t turn_left(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void mix(struct sip *s, int rounds)
{
    while (rounds-- > 0) {
        s->a += s->b;
        s->c += s->d;
        s->b = turn_left(s->b, 13) ^ s->a;
        s->d = turn_left(s->d, 16) ^ s->c;
        s->a = turn_left(s->a, 32) + s->d;
        s->c += s->b;
        s->d = turn_left(s->d, 21) ^ s->a;
        s->b = turn_left(s->b, 17) ^ s->c;
        s->c = turn_left(s->c, 32);
    }
}

static void take(struct sip *s, uint64_t word)
{
    s->d ^= word;
    mix(s, 2);
    s->a ^= word;
}

static uint64_t load(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;

    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static uint64_t hash(const unsigned char *bytes, size_t length)
{
    struct sip s = {KEY0 ^ 0x736f6d6570736575ull, KEY1 ^ 0x646f72616e646f6dull, KEY0 ^ 0x6c7967656e657261ull,
                    KEY1 ^ 0x7465646279746573ull};
    size_t at = 0;

    for (; at + 8 <= length; at += 8)
        take(&s, load(bytes + at, 8));
    take(&s, load(bytes + at, length - at) | (uint64_t)length << 56);
    s.c ^= 0xff;
    mix(&s, 4);
    return s.a ^ s.b ^ s.c ^ s.d;
}

static size_t add(unsigned char *out, size_t at, const char *text)
{
    while (text && *text && at < TEXT_MAX - 1)
        out[at++] = (unsigned char)*text++;
    out[at] = '\0';
    return at + 1 < TEXT_MAX ? at + 1 : at;
}

uint32_t mire__bucket(const char *install, const char *plugin, const char *salt)
{
    unsigned char text[TEXT_MAX];
    size_t length = add(text, 0, install);

    length = add(text, length, plugin);
    length = add(text, length, salt);
    return (uint32_t)((hash(text, length) >> 32) * MIRE_BUCKETS >> 32);
}
