/*
 * fuzz_rollout.c - any bytes as a rollout document: read or refused; values that are read are within bounds.
 */
#include "rollout/rollout.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char install[] = "00112233445566778899aabbccddeeff";
    struct rollout rollout;
    uint32_t ppm;

    if (mire__rollout_read(&rollout, (const char *)data, size) != MIRE_OK && (rollout.kill || rollout.number_count))
        abort();
    if (rollout.fetch_s < MIRE_ROLLOUT_FETCH_MIN_S || rollout.fetch_s > MIRE_ROLLOUT_FETCH_MAX_S)
        abort();
    if (rollout.memory.interval_bytes > MIRE_MEMORY_INTERVAL_MAX ||
        rollout.memory.budget_bytes > MIRE_MEMORY_BUDGET_MAX || rollout.number_count > MIRE_ROLLOUT_NUMBERS_MAX)
        abort();
    for (int plugin = 0; plugin < MIRE_PLUGINS; plugin++) {
        bool on = mire__rollout_decide(&ppm, &rollout, plugin, install, 500000);
        if (ppm > MIRE_WIRE_PPM_MAX || (on && (rollout.kill || ppm == 0)))
            abort();
    }
    return 0;
}
