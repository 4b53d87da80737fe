/* characteristic.c - see characteristic.h. */
#include "feature/characteristic.h"

#include "base/hash.h"
#include "feature/names.h"

#include <string.h>

#define NAME_MAX 1024 /* examined bytes of a name */

static bool is_characteristic(enum role role)
{
    return role == MIRE_ROLE_APP || role == MIRE_ROLE_UNKNOWN || role == MIRE_ROLE_SYSTEM;
}

/* "libshop.so+0x1f40": only the begin of the function is known. */
static bool is_nameless(const char *function)
{
    const char *plus = strrchr(function, '+');
    return plus && !strncmp(plus, "+0x", 3) && plus[3] && !plus[3 + strspn(plus + 3, "0123456789abcdef")];
}

static uint64_t hash_name(const char *function)
{
    char name[NAME_MAX];
    bool made;
    if (is_nameless(function))
        return fnv_bytes(MIRE_HASH_START, function, strlen(function));
    return fnv_bytes(MIRE_HASH_START, name, name_write(name, sizeof name, &made, function, ""));
}

size_t characteristic_frames(uint64_t *hashes, uint32_t *locations, const struct frame_line *frames, size_t count)
{
    size_t characteristic = 0, kept = 0;
    for (size_t i = 0; i < count; i++)
        characteristic += is_characteristic(frames[i].role);
    for (size_t i = 0; i < count; i++) {
        if (characteristic && !is_characteristic(frames[i].role))
            continue;
        locations[kept] = (uint32_t)i;
        hashes[kept++] = hash_name(frames[i].function);
    }
    return kept;
}
