/* settings.c - see settings.h. Signal-safe. */
#include "capture/settings.h"

static uint32_t clamp(uint32_t *value, uint32_t least, uint32_t most)
{
    uint32_t before = *value;

    if (*value < least)
        *value = least;
    if (*value > most)
        *value = most;
    return *value != before;
}

/* clang-format off */
#define CLAMP(name, least, normal, most, meaning) outside += clamp(&settings->name, (least), (most));
/* clang-format on */

uint32_t mire__settings_clamp(struct capture_settings *settings)
{
    uint32_t outside = 0;

    MIRE_SETTINGS(CLAMP)
    return outside;
}
