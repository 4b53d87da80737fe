/*
 * punycode.c - RFC 3492, with _ for the delimiter and A to J for the digits; D800 to D880 stand for bytes that are no
 * letters of an identifier.
 */
#include "symbols/swift/read.h"

#include <string.h>

#define POINTS_MAX 1024

enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, BIAS = 72 };

static int digit_of(char c)
{
    if (c >= 'a' && c <= 'z')
        return c - 'a';
    return c >= 'A' && c <= 'J' ? c - 'A' + 26 : -1;
}

static uint32_t adapt(uint32_t delta, uint32_t count, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / DAMP : delta / 2;
    for (delta += delta / count; delta > (BASE - T_MIN) * T_MAX / 2; delta /= BASE - T_MIN)
        k += BASE;
    return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

/* One generalized number; false: it makes no sense. */
static bool take_number(uint32_t *i, const char **at, const char *end, uint32_t bias)
{
    uint32_t weight = 1;
    for (uint32_t k = BASE;; k += BASE) {
        int digit = *at < end ? digit_of(*(*at)++) : -1;
        if (digit < 0 || (uint32_t)digit > (UINT32_MAX - *i) / weight)
            return false;
        *i += (uint32_t)digit * weight;
        uint32_t t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
        if ((uint32_t)digit < t)
            return true;
        if (weight > UINT32_MAX / (BASE - t))
            return false;
        weight *= BASE - t;
    }
}

static char *put_utf8(char *to, uint32_t point)
{
    if (point < 0x80) {
        *to++ = (char)point;
        return to;
    }
    unsigned more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const uint8_t heads[4] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(heads[more] | point >> (6 * more));
    while (more--)
        *to++ = (char)(0x80 | ((point >> (6 * more)) & 0x3f));
    return to;
}

bool swift_punycode(struct swift *s, const char **out, size_t *out_len, const char *text, size_t len)
{
    uint32_t points[POINTS_MAX];
    uint32_t count = 0, point = 0x80, i = 0, bias = BIAS;
    const char *end = text + len;
    const char *at = memrchr(text, '_', len);
    if (len > POINTS_MAX)
        return false;
    for (const char *p = text; at && p < at; p++)
        points[count++] = (uint8_t)*p;
    for (at = at ? at + 1 : text; at < end; i++) {
        uint32_t old = i;
        if (!take_number(&i, &at, end, bias) || count == POINTS_MAX)
            return false;
        count++;
        bias = adapt(i - old, count, old == 0);
        point += i / count;
        i %= count;
        if (point < 0x80 || point > 0x10ffff)
            return false;
        memmove(points + i + 1, points + i, (count - 1 - i) * sizeof points[0]);
        points[i] = point;
    }
    char *bytes = arena_alloc(&s->arena, (size_t)count * 4 + 1);
    char *to = bytes;
    if (!bytes)
        return false;
    for (uint32_t k = 0; k < count; k++) {
        bool plain = points[k] >= 0xd800 && points[k] < 0xd880;
        to = put_utf8(to, plain ? points[k] - 0xd800 : points[k]);
    }
    *out = bytes;
    *out_len = (size_t)(to - bytes);
    return true;
}
