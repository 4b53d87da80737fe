/*
 * hash.h - FNV-1a with 64 bits: quick, the same on every machine, not for data that an attacker chooses.
 *
 *     uint64_t hash = mire__hash_text(MIRE_HASH_START, name);
 *     hash = mire__hash_text(mire__hash_step(hash, 0xff), file);     a byte that is in no UTF-8 ends the name
 *
 * Signal-safe: arithmetic on the caller's memory.
 */
#ifndef MIRE_BASE_HASH_H
#define MIRE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define MIRE_HASH_START UINT64_C(0xcbf29ce484222325)

/* One more byte; or a whole word in one step, where the number is not kept. */
static inline uint64_t mire__hash_step(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

static inline uint64_t mire__hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = mire__hash_step(hash, ((const uint8_t *)bytes)[i]);
    return hash;
}

/* The text without its end. */
static inline uint64_t mire__hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = mire__hash_step(hash, (uint8_t)*text);
    return hash;
}

#endif
