/*
 * number.c - whole numbers exactly, others to the nearest double.
 *
 * A decimal of at most 2^53 times or over a power of ten up to 10^22 is one correctly rounded operation (Clinger 1990).
 * All else goes through strtod().
 */
#include "json/number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 1024 /* bytes of a number: more than the longest double written out in full (767 digits) */

struct decimal {
    bool negative;
    bool whole;   /* neither fraction nor exponent */
    bool inexact; /* digits were left out of the mantissa */
    uint64_t mantissa;
    int exponent; /* of ten */
};

static bool is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

static void add_digit(struct decimal *d, unsigned digit, bool fraction)
{
    if (d->mantissa > (UINT64_MAX - digit) / 10) {
        d->inexact = true;
        d->exponent += fraction ? 0 : d->exponent < NUMBER_MAX;
        return;
    }
    d->mantissa = d->mantissa * 10 + digit;
    d->exponent -= fraction;
}

/* Matrix prints the first digit behind the point of a number beyond 64 bits as any character. */
static void skip_misprint(const char **p, const char *end)
{
    static const char others[] = ":,]}\"eE \t\r\n";

    if (*p < end && !is_digit(*p, end) && !memchr(others, **p, sizeof others))
        ++*p;
}

static const char *read_fraction(struct decimal *d, const char **p, const char *end, bool tolerant)
{
    d->whole = false;
    ++*p;
    if (tolerant)
        skip_misprint(p, end);
    if (!is_digit(*p, end) && !tolerant)
        return "a digit belongs after the point";
    for (; is_digit(*p, end); ++*p)
        add_digit(d, (unsigned)(**p - '0'), true);
    if (tolerant && *p < end &&
        **p == ':') { /* a printer that rounded 9 up to the character after it: ten, and the end */
        add_digit(d, 10, true);
        ++*p;
    }

    return NULL;
}

static const char *read_exponent(struct decimal *d, const char **p, const char *end)
{
    d->whole = false;
    ++*p;
    bool negative = *p < end && **p == '-';
    if (*p < end && (**p == '-' || **p == '+'))
        ++*p;
    if (!is_digit(*p, end))
        return "a digit belongs in the exponent";
    int exponent = 0;
    for (; is_digit(*p, end); ++*p)
        if (exponent < 100000)
            exponent = exponent * 10 + (**p - '0');
    d->exponent += negative ? -exponent : exponent;
    return NULL;
}

static const char *read_decimal(struct decimal *d, const char **p, const char *end, bool tolerant)
{
    d->negative = **p == '-';
    *p += d->negative;
    if (!is_digit(*p, end))
        return "a digit belongs here";
    if (**p == '0') {
        ++*p;
        if (is_digit(*p, end))
            return "a number has no leading zero";
    }
    for (; is_digit(*p, end); ++*p)
        add_digit(d, (unsigned)(**p - '0'), false);
    const char *wrong = NULL;
    if (*p < end && **p == '.')
        wrong = read_fraction(d, p, end, tolerant);
    if (!wrong && *p < end && (**p == 'e' || **p == 'E'))
        wrong = read_exponent(d, p, end);
    return wrong;
}

static bool nearest_double(double *out, const struct decimal *d, const char *begin, const char *end)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

    if (!d->inexact && d->mantissa <= 1ull << 53 && abs(d->exponent) <= 22) {
        double m = (double)d->mantissa;
        *out = d->exponent < 0 ? m / ten[-d->exponent] : m * ten[d->exponent];
        *out = d->negative ? -*out : *out;
        return true;
    }
    char copy[NUMBER_MAX + 1];
    size_t len = (size_t)(end - begin);
    memcpy(copy, begin, len);
    copy[len] = '\0';
    *out = strtod(copy, NULL);
    return isfinite(*out);
}

/*
 * Matrix prints a whole part that is no signed number of 64 bits as the character eight places below 0: "-(" is -2^63, an
 * address, and "(", "(." and "-(." are too large, or no numbers at all.
 */
static bool read_misprint(struct json_number *number, const char **p, const char *end)
{
    bool negative = **p == '-';
    const char *at = *p + negative;

    if (at >= end || *at++ != '(')
        return false;
    bool fraction = at < end && *at == '.';
    *p = at + fraction;
    if (fraction)
        skip_misprint(p, end);
    while (fraction && is_digit(*p, end))
        ++*p;
    *number = negative && !fraction ? (struct json_number){MIRE_JSON_INT, 1ull << 63}
                                    : (struct json_number){MIRE_JSON_NULL, 0};
    return true;
}

const char *json_number_read(struct json_number *number, const char **p, const char *end, bool tolerant)
{
    const char *begin = *p;
    struct decimal d = {.whole = true};

    if (tolerant && read_misprint(number, p, end))
        return NULL;
    const char *wrong = read_decimal(&d, p, end, tolerant);
    if (wrong)
        return wrong;
    if (d.whole && !d.inexact && (!d.negative || (d.mantissa && d.mantissa <= 1ull << 63))) {
        number->kind = d.negative ? MIRE_JSON_INT : MIRE_JSON_UINT;
        number->bits = d.negative ? 0 - d.mantissa : d.mantissa;
        return NULL;
    }
    double value;
    const char *behind = *p;
    *p = begin;
    if (behind - begin > NUMBER_MAX)
        return "number too long";
    if (!nearest_double(&value, &d, begin, behind)) {
        if (!tolerant)
            return "number too big";
        value = d.negative ? -DBL_MAX : DBL_MAX; /* KSCrash writes 1e999 for infinity */
    }
    *p = behind;
    number->kind = MIRE_JSON_DOUBLE;
    memcpy(&number->bits, &value, sizeof value);
    return NULL;
}
