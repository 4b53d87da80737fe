/* code_x86_64.c - what instructions tell; see arch.h. The same on every system. Signal-safe. */
#include "platform/arch.h"

#ifdef __x86_64__ /* packages for Apple's systems compile both files */
#include <string.h>

bool mire__arch_sets_frame(const uint8_t *code, size_t size)
{
    static const uint8_t ways[2][3] = {{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}}; /* mov %rsp, %rbp */

    for (size_t at = 0; at + sizeof(ways[0]) <= size; at++) {
        if (memcmp(code + at, ways[0], sizeof(ways[0])) == 0 || memcmp(code + at, ways[1], sizeof(ways[1])) == 0)
            return true;
    }
    return false;
}

/* FF /2 with its operand in 2..7 bytes; prefixes come before it and do not matter. */
static bool indirect_call(const uint8_t *code, size_t size)
{
    const uint8_t *at = code + MIRE_CALL_BYTES - size;
    uint8_t mod = at[1] >> 6, rm = at[1] & 7;
    size_t need = 2;

    if (at[0] != 0xff || (at[1] >> 3 & 7) != 2)
        return false;
    if (mod != 3 && rm == 4)
        need++;
    if (mod == 1)
        need++;
    if (mod == 2 || (mod == 0 && rm == 5))
        need += 4;
    return need == size;
}

bool mire__arch_call_before(uint64_t *target_out, uint64_t return_address, const uint8_t code[MIRE_CALL_BYTES])
{
    *target_out = 0;
    if (code[MIRE_CALL_BYTES - 5] == 0xe8) {
        int32_t distance;

        memcpy(&distance, code + MIRE_CALL_BYTES - 4, sizeof(distance));
        *target_out = return_address + (uint64_t)(int64_t)distance;
        return true;
    }
    for (size_t size = 2; size <= 7; size++) {
        if (indirect_call(code, size))
            return true;
    }
    return false;
}
#endif
