/* maps.c - finds maps by UUID. */
#include "object/maps.h"

#include "base/grow.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

#define MAP  ".bcsymbolmap"
#define LIST ".plist"

/* Parse "a/0123ABCD-....plist": a UUID, followed by the ending. */
static bool uuid_of(uint8_t out[MIRE_HIDDEN_UUID], const char *name, const char *ending)
{
    const char *base = path_base(name);
    size_t len = strlen(base);
    size_t end = strlen(ending);
    return len == 36 + end && !strcmp(base + len - end, ending) && hidden_uuid(out, base, 36);
}

bool maps_wants(const char *name, const uint8_t *bytes, size_t len)
{
    uint8_t uuid[MIRE_HIDDEN_UUID];
    if (uuid_of(uuid, name, MAP))
        return hidden_is_map(bytes, len);
    return len < MIRE_MAPS_LIST_MOST && uuid_of(uuid, name, LIST);
}

bool maps_add(struct maps *maps, const char *name, const uint8_t *bytes, size_t len, uint64_t at, const char *path)
{
    struct maps_row row = {.at = at, .len = len};
    struct maps_list list;
    if (uuid_of(row.uuid, name, MAP) && hidden_is_map(bytes, len)) {
        row.path = path ? strdup(path) : NULL;
        if (!GROW(&maps->maps)) {
            free(row.path);
            return false;
        }
        maps->maps.rows[maps->maps.count++] = row;
        return true;
    }
    if (!uuid_of(list.id, name, LIST) || !hidden_original(list.original, bytes, len) || !GROW(&maps->lists))
        return false;
    maps->lists.rows[maps->lists.count++] = list;
    return true;
}

static const struct maps_row *map_named(const struct maps *maps, const uint8_t *uuid)
{
    for (size_t i = 0; i < maps->maps.count; i++)
        if (!memcmp(maps->maps.rows[i].uuid, uuid, MIRE_HIDDEN_UUID))
            return &maps->maps.rows[i];
    return NULL;
}

const struct maps_row *maps_of(const struct maps *maps, const struct object_facts *facts)
{
    const struct maps_row *found = NULL;
    if (facts->format != MIRE_FORMAT_MACHO || facts->id_len != MIRE_HIDDEN_UUID)
        return NULL;
    for (size_t i = 0; i < maps->lists.count && !found; i++)
        if (!memcmp(maps->lists.rows[i].id, facts->id, MIRE_HIDDEN_UUID))
            found = map_named(maps, maps->lists.rows[i].original);
    return found ? found : map_named(maps, facts->id); /* a program that was not recompiled keeps its UUID */
}

void maps_free(struct maps *maps)
{
    for (size_t i = 0; i < maps->maps.count; i++)
        free(maps->maps.rows[i].path);
    free(maps->maps.rows);
    free(maps->lists.rows);
    *maps = (struct maps){0};
}
