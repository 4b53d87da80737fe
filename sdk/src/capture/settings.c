/* settings.c - see settings.h. Signal-safe. */
#include "capture/settings.h"

#include <string.h>

struct setting {
    const char *name;
    size_t at;
    uint32_t least, most;
};

static const struct setting *find(const char *name)
{
    static const struct setting rows[] = {
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
    const struct setting *row = find(name);

    if (!row)
        return MIRE_E_ARG;
    if (value < row->least || value > row->most)
        return MIRE_E_RANGE;
    memcpy((char *)settings + row->at, &value, sizeof(value));
    return MIRE_OK;
}

enum mire_err mire__settings_wish(struct capture_settings *settings, const char *name, uint32_t value)
{
    const struct setting *row = find(name);

    if (row && value < row->least)
        value = row->least;
    if (row && value > row->most)
        value = row->most;
    return mire__settings_set(settings, name, value);
}
