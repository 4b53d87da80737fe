/* code_aarch64.c - what instructions tell; see arch.h. The same on every system. Signal-safe. */
#include "platform/arch.h"

#ifdef __aarch64__ /* packages for Apple's systems compile both files */
#include <string.h>

bool mire__arch_sets_frame(const uint8_t *code, size_t size)
{
    for (size_t at = 0; at + sizeof(uint32_t) <= size; at += sizeof(uint32_t)) {
        uint32_t word;

        memcpy(&word, code + at, sizeof(word));
        if ((word & 0xff8003ff) == 0x910003fd) /* add x29, sp, #n, which mov x29, sp is */
            return true;
    }
    return false;
}

bool mire__arch_call_before(uint64_t *target_out, uint64_t return_address, const uint8_t code[MIRE_CALL_BYTES])
{
    uint32_t word;

    *target_out = 0;
    memcpy(&word, code + MIRE_CALL_BYTES - 4, sizeof(word));
    if (word >> 26 == 0x25) { /* BL: 26 bits, in words */
        int64_t distance = (int64_t)((uint64_t)(word & 0x3ffffff) << 38) >> 36;

        *target_out = return_address - 4 + (uint64_t)distance;
        return true;
    }
    return (word & 0xfffffc1f) == 0xd63f0000; /* BLR */
}
#endif
