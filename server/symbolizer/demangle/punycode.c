/* punycode.c - see punycode.h. */
#include "demangle/punycode.h"

#include <string.h>

enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, BIAS = 72 };

static int digit_of(char c)
{
    if (c >= 'a' && c <= 'z')
        return c - 'a';
    if (c >= '0' && c <= '9')
        return c - '0' + 26;
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

/* Read one generalized number. Returns false if it is invalid. */
static bool take_number(uint32_t *i, const char **at, const char *end, uint32_t bias)
{
    uint32_t weight = 1;
    for (uint32_t k = BASE;; k += BASE) {
        int digit = *at < end ? digit_of(*(*at)++) : -1;
        if (digit < 0 || (uint32_t)digit > (UINT32_MAX - *i) / weight)
            return false;
        *i += (uint32_t)digit * weight;
        uint32_t t = k <= bias ? T_MIN : k - bias;
        if (t > T_MAX)
            t = T_MAX;
        if ((uint32_t)digit < t)
            return true;
        if (weight > UINT32_MAX / (BASE - t))
            return false;
        weight *= BASE - t;
    }
}

char *punycode_put(char *to, uint32_t point)
{
    if (point < 0x80) {
        *to++ = (char)point;
        return to;
    }
    unsigned more = 1 + (point >= 0x800) + (point >= 0x10000);
    static const uint8_t heads[4] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(heads[more] | point >> (6 * more));
    while (more--)
        *to++ = (char)(0x80 | ((point >> (6 * more)) & 0x3f));
    return to;
}

bool punycode_read(uint32_t *points, uint32_t *count_out, const char *text, size_t len)
{
    uint32_t count = 0, point = 0x80, i = 0, bias = BIAS;
    const char *end = text + len;
    const char *at = memrchr(text, '_', len);
    if (len > MIRE_PUNYCODE_MAX)
        return false;
    for (const char *p = text; at && p < at; p++)
        points[count++] = (uint8_t)*p;
    for (at = at ? at + 1 : text; at < end; i++) {
        uint32_t old = i;
        if (!take_number(&i, &at, end, bias) || count == MIRE_PUNYCODE_MAX)
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
    *count_out = count;
    return true;
}
