/*
 * scan.h - finds the end of a run of plain characters inside a string: the hottest loop of reading.
 *
 * Plain is ASCII that needs no attention. The run ends at a quote, a backslash, a control character, a byte of a longer
 * UTF-8 sequence, or the end of the text. Nothing behind the end is touched.
 */
#ifndef MIRE_JSON_SCAN_H
#define MIRE_JSON_SCAN_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static inline const char *json_scan_scalar(const char *p, const char *end)
{
    while (p < end && (signed char)*p >= 0x20 && *p != '"' && *p != '\\')
        p++;
    return p;
}

static inline const char *json_scan(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(0x20); /* signed: bytes from 0x80 up are below it too */
    while (end - p >= 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i stop = _mm_or_si128(_mm_cmplt_epi8(v, space),
                                    _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)));
        unsigned mask = (unsigned)_mm_movemask_epi8(stop);
        if (mask)
            return p + __builtin_ctz(mask);
        p += 16;
    }
#endif
    return json_scan_scalar(p, end);
}

#endif
