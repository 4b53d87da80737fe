/*
 * base.h - helpers for every folder of the SDK. Signal-safe: no calls, only arithmetic.
 */
#ifndef MIRE_BASE_BASE_H
#define MIRE_BASE_BASE_H

#include "base/limits.h"
#include "mire/mire.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_NS_PER_S   UINT64_C(1000000000)
#define MIRE_NS_PER_MS  UINT64_C(1000000)
#define MIRE_COUNT(arr) (sizeof(arr) / sizeof((arr)[0]))

/* For hot paths that are one function each: inlined wherever the compiler optimises. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define MIRE_INLINE static inline
#else
#define MIRE_INLINE static inline __attribute__((always_inline))
#endif

static inline uint64_t mire__min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* from - what; 0 where `what` is more. */
static inline uint64_t mire__minus(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

/* How a program ends itself without exit(). */
enum mire__left { MIRE_LEFT_NOT, MIRE_LEFT_EXIT /* _exit and its like */, MIRE_LEFT_EXEC, MIRE_LEFT_ABORT };

/*
 * Copy text, cut to `cap_bytes` with its end; the rest of the buffer is set to 0. A NULL text is empty.
 *   out  cap_bytes >= 1
 */
static inline void mire__text_copy(char *out, size_t cap_bytes, const char *text)
{
    size_t at = 0;

    while (text && text[at] && at + 1 < cap_bytes) {
        out[at] = text[at];
        at++;
    }
    while (at < cap_bytes)
        out[at++] = '\0';
}

#endif
