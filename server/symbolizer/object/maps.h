/*
 * maps.h - matches BCSymbolMaps with the debug files they belong to. The map is then appended to its debug file
 * (object/hidden.h).
 *
 *     App.xcarchive/dSYMs/App.dSYM/Contents/Resources/DWARF/App         UUID of the program
 *     App.xcarchive/dSYMs/App.dSYM/Contents/Resources/<UUID>.plist      contains the program's earlier UUID
 *     App.xcarchive/BCSymbolMaps/<earlier UUID>.bcsymbolmap             the names
 *
 * Thread: any, one at a time per struct.
 */
#ifndef MIRE_OBJECT_MAPS_H
#define MIRE_OBJECT_MAPS_H

#include "object/object.h"

#define MIRE_MAPS_LIST_MOST 65536 /* limit of a property list, bytes */

struct maps_row {
    uint8_t uuid[MIRE_HIDDEN_UUID]; /* from the file name */
    uint64_t at, len;               /* position of its bytes, for the caller */
    char *path;                     /* path for the caller; NULL: `at` is enough */
};

struct maps_list {
    uint8_t id[MIRE_HIDDEN_UUID]; /* UUID of the debug file, from the list's file name */
    uint8_t original[MIRE_HIDDEN_UUID];
};

struct maps { /* zero-initialized when empty */
    struct {
        struct maps_row *rows;
        size_t count, room;
    } maps;
    struct {
        struct maps_list *rows;
        size_t count, room;
    } lists;
};

/* Returns true if a file may be a map or a property list, by its name with folders and its first bytes. */
bool maps_wants(const char *name, const uint8_t *bytes, size_t len);

/*
 * Add a map or a property list.
 *
 *   at    position of a map's bytes, for the caller
 *   path  path of a map; copied; NULL: `at` is enough
 *
 * Returns false if the file is neither, or out of memory.
 */
bool maps_add(struct maps *maps, const char *name, const uint8_t *bytes, size_t len, uint64_t at, const char *path);

/* The map of a debug file, owned by `maps`; NULL: none. */
const struct maps_row *maps_of(const struct maps *maps, const struct object_facts *facts);

void maps_free(struct maps *maps);

#endif
