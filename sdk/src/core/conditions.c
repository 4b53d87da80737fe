/* conditions.c - feature flags and conditions of the device as tags; see mire/context.h and conditions.h. */
#include "core/conditions.h"

#include "mire/context.h"
#include "platform/footprint.h"
#include "platform/platform.h"
#include "platform/quiet.h"

#include <stdio.h>
#include <string.h>

#define FLAG      "flag."
#define FLAG_MAX  27 /* bytes of a name, so that the tag's has 32 */
#define ROOM_NS   (10 * MIRE_NS_PER_S)
#define MIB_SHIFT 20

enum mire_err mire_set_flag(const char *name, const char *value)
{
    char tag[sizeof(FLAG) + FLAG_MAX];

    if (!name || !name[0] || strnlen(name, FLAG_MAX + 1) > FLAG_MAX)
        return MIRE_E_ARG;
    snprintf(tag, sizeof(tag), FLAG "%s", name);
    return mire_set_tag(tag, value);
}

enum mire_err mire_set_battery(int percent, int charging)
{
    bool known = percent >= 0 && percent <= 100;
    char text[16];
    enum mire_err err;

    snprintf(text, sizeof(text), "%d", percent);
    err = mire_set_tag("battery", known ? text : NULL);
    if (err != MIRE_OK)
        return err;
    return mire_set_tag("charging", !known ? NULL : charging ? "true" : "false");
}

enum mire_err mire_set_thermal(enum mire_thermal thermal)
{
    static const char *const words[] = {NULL, "nominal", "fair", "serious", "critical"};

    return (unsigned)thermal < MIRE_COUNT(words) ? mire_set_tag("thermal", words[thermal]) : MIRE_E_RANGE;
}

enum mire_err mire_set_orientation(enum mire_orientation orientation)
{
    static const char *const words[] = {NULL, "portrait", "landscape"};

    return (unsigned)orientation < MIRE_COUNT(words) ? mire_set_tag("orientation", words[orientation]) : MIRE_E_RANGE;
}

void mire__condition_network(enum mire_network network)
{
    static const char *const words[] = {"unmetered", "metered", "none"};

    mire_set_tag("network", words[network]);
}

static void set_mib(const char *name, uint64_t bytes)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu MiB", (unsigned long long)(bytes >> MIB_SHIFT));
    if (bytes > 0)
        mire_set_tag(name, text);
}

void mire__condition_room(const char *store)
{
    static uint64_t looked_ns; /* owner: the worker */
    static const struct cgroup none;
    uint64_t now_ns = mire__now_ns();
    struct memory_room room;

    if (mire__quiet_is() || (looked_ns > 0 && now_ns - looked_ns < ROOM_NS))
        return;
    looked_ns = now_ns;
    mire__memory_room(&room, &none);
    set_mib("free_memory", room.available_bytes);
    set_mib("free_disk", mire__disk_free(store));
}
