/* settings.c - see settings.h. Signal-safe. */
#include "capture/settings.h"

#include <string.h>

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

struct row {
    const char *name;
    size_t at;
    uint32_t least, most;
};

static const struct row *find(const char *name)
{
    static const struct row rows[] = {
/* clang-format off */
#define ROW(name, least, normal, most, meaning) {#name, offsetof(struct capture_settings, name), (least), (most)},
        MIRE_SETTINGS(ROW)
        /* clang-format on */
    };

    for (size_t i = 0; i < MIRE_COUNT(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

enum mire_err mire__settings_set(struct capture_settings *settings, const char *name, uint32_t value)
{
    const struct row *row = find(name);

    if (!row)
        return MIRE_E_ARG;
    if (value < row->least || value > row->most)
        return MIRE_E_RANGE;
    memcpy((char *)settings + row->at, &value, sizeof(value));
    return MIRE_OK;
}

enum mire_err mire__settings_wish(struct capture_settings *settings, const char *name, uint32_t value)
{
    const struct row *row = find(name);

    if (row)
        clamp(&value, row->least, row->most);
    return row ? mire__settings_set(settings, name, value) : MIRE_E_ARG;
}
