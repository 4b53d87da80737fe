/* sha256.h - SHA-256 (FIPS 180-4). Thread: any.  Signal handler: yes. */
#ifndef MIRE_BASE_SHA256_H
#define MIRE_BASE_SHA256_H

#include "base/base.h"

#define MIRE_SHA256_BYTES 32

struct sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    uint8_t block[64];
};

void mire__sha256_begin(struct sha256 *sha);
void mire__sha256_add(struct sha256 *sha, const void *bytes, size_t size);
void mire__sha256_end(uint8_t out[MIRE_SHA256_BYTES], struct sha256 *sha);

#endif
