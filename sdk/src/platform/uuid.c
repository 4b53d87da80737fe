/* uuid.c - identifiers that sort by time: UUIDs of version 7 (RFC 9562). Signal-safe. */
#include "platform/platform.h"

void mire__uuid7(uint8_t out[16])
{
    uint64_t ms = mire__wall_now_ms();

    mire__random(out, 16);
    for (int i = 0; i < 6; i++)
        out[i] = (uint8_t)(ms >> (40 - 8 * i));
    out[6] = 0x70 | (out[6] & 0x0f);
    out[8] = 0x80 | (out[8] & 0x3f);
}
