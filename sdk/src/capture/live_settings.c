/*
 * live_settings.c - the settings that hold now. Any thread changes them; the check thread takes its copy of them.
 *
 * Invariant: `version` is raised after the numbers are stored (release), so a reader that sees a version sees at least
 * its numbers.
 */
#include "capture/live_settings.h"

#include "capture/capture.h"

#include <string.h>

#define SETTINGS_COUNT (sizeof(struct capture_settings) / sizeof(uint32_t))

static struct {
    _Atomic uint32_t foreground; /* 0: unknown, otherwise 1 + enum mire__ground */
    _Atomic uint32_t settings[SETTINGS_COUNT];
    _Atomic uint32_t version;
} live;

void mire__watch_settings(struct capture_settings *out)
{
    uint32_t numbers[SETTINGS_COUNT];

    for (size_t i = 0; i < SETTINGS_COUNT; i++)
        numbers[i] = atomic_load_explicit(&live.settings[i], memory_order_relaxed);
    memcpy(out, numbers, sizeof(numbers));
}

void mire__live_settings_look(struct check *check, uint32_t *version)
{
    uint32_t now = atomic_load_explicit(&live.version, memory_order_acquire);
    uint32_t ground = atomic_load_explicit(&live.foreground, memory_order_relaxed);

    check->foreground = ground == 0 ? MIRE_GROUND_UNKNOWN : ground - 1;
    if (now == *version)
        return;
    *version = now;
    mire__watch_settings(&check->settings);
}

static void change_settings(const struct capture_settings *from, const struct capture_settings *to)
{
    uint32_t before[SETTINGS_COUNT], after[SETTINGS_COUNT];

    memcpy(before, from, sizeof(before));
    memcpy(after, to, sizeof(after));
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        if (after[i] != before[i])
            atomic_store_explicit(&live.settings[i], after[i], memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&live.version, 1, memory_order_release);
}

void mire__watch_apply(const struct capture_settings *settings)
{
    struct capture_settings now;

    mire__watch_settings(&now);
    change_settings(&now, settings);
}

enum mire_err mire__watch_set(const char *name, uint32_t value)
{
    struct capture_settings now, then;
    enum mire_err err;

    mire__watch_settings(&now);
    then = now;
    err = mire__settings_set(&then, name, value);
    if (err == MIRE_OK)
        change_settings(&now, &then);
    return err;
}

void mire__watch_set_foreground(enum mire__ground ground)
{
    atomic_store_explicit(&live.foreground, ground == MIRE_GROUND_UNKNOWN ? 0 : ground + 1u, memory_order_relaxed);
}
