/*
 * hash.h - FNV-1a with 64 bits: quick, the same on every machine, not for keys that an attacker chooses. Keys and
 * identifiers are made by base/id.h.
 */
#ifndef MIRE_BASE_HASH_H
#define MIRE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Another hash of a text, eight bytes a step (that of rustc's tables): for tables in memory alone. */
static inline uint64_t hash_for_table(uint64_t hash, const char *text)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word;
    size_t len = strlen(text);
    hash += len;
    for (; len >= sizeof word; text += sizeof word, len -= sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = ((hash << 5 | hash >> 59) ^ word) * factor;
    }
    for (word = 0; len--;)
        word = word << 8 | (unsigned char)text[len];
    hash = ((hash << 5 | hash >> 59) ^ word) * factor;
    return hash ^ hash >> 32;
}

#endif
