/*
 * hash.h - FNV-1a with 64 bits: quick, the same on every machine, not for keys that an attacker chooses. Keys and
 * identifiers are made by base/id.h.
 */
#ifndef MIRE_BASE_HASH_H
#define MIRE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define MIRE_HASH_START UINT64_C(0xcbf29ce484222325)

/* One more byte; or a whole word in one step. */
static inline uint64_t fnv_step(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

static inline uint64_t fnv_bytes(uint64_t hash, const void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = fnv_step(hash, ((const unsigned char *)bytes)[i]);
    return hash;
}

/* The text without its end. */
static inline uint64_t fnv_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = fnv_step(hash, (unsigned char)*text);
    return hash;
}

#endif
