/*
 * maps.h - the BCSymbolMaps among files, and the debug files that they belong to. A map is put behind the debug file
 * (object/hidden.h), so the two are one from there on.
 *
 *     App.xcarchive/dSYMs/App.dSYM/Contents/Resources/DWARF/App         UUID of the program
 *     App.xcarchive/dSYMs/App.dSYM/Contents/Resources/<UUID>.plist      says the UUID that it had before
 *     App.xcarchive/BCSymbolMaps/<UUID before>.bcsymbolmap              the names
 *
 * Thread: any, one at a time per struct.
 */
#ifndef MIRE_OBJECT_MAPS_H
#define MIRE_OBJECT_MAPS_H

#include "object/object.h"

#define MIRE_MAPS_LIST_MOST 65536 /* bytes of a property list that is read */

struct maps_row {
    uint8_t uuid[MIRE_HIDDEN_UUID]; /* by its name */
    uint64_t at, len;               /* where the caller finds its bytes */
    char *path;                     /* likewise; NULL: by `at` alone */
};

struct maps_list {
    uint8_t id[MIRE_HIDDEN_UUID]; /* of the debug file, by the list's name */
    uint8_t original[MIRE_HIDDEN_UUID];
};

struct maps { /* all zero: none */
    struct {
        struct maps_row *rows;
        size_t count, room;
    } maps;
    struct {
        struct maps_list *rows;
        size_t count, room;
    } lists;
};

/* Could it be a map or a list? By its name, with folders, and its beginning. */
bool maps_wants(const char *name, const uint8_t *bytes, size_t len);

/*
 * Take a map or a list.
 *
 *   path  of a map: kept as a copy; NULL: it is found by `at`
 *
 * Returns false if it is neither.
 */
bool maps_add(struct maps *maps, const char *name, const uint8_t *bytes, size_t len, uint64_t at, const char *path);

/* The map of a debug file; NULL: there is none. */
const struct maps_row *maps_of(const struct maps *maps, const struct object_facts *facts);

void maps_free(struct maps *maps);

#endif
