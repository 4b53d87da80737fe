/*
 * symbols.h - addresses of symbols that a loaded module exports, by its own hash table (DT_GNU_HASH).
 *
 * Read in memory, never through the loader, as memory that may vanish at any time. Signal-safe. Thread: as the cache.
 */
#ifndef MIRE_UNWIND_SYMBOLS_H
#define MIRE_UNWIND_SYMBOLS_H

#include "unwind/modules.h"

struct module_symbols {
    struct peek_cache *cache; /* borrowed */
    uint64_t load;
    uint64_t names, table, hash; /* addresses */
};

/* Returns false if the module has no such table. */
bool mire__symbols_open(struct module_symbols *out, struct peek_cache *cache, const struct module *module);

/* Address of a symbol that the module defines, 0 if there is none. */
uint64_t mire__symbols_find(const struct module_symbols *symbols, const char *name);

#endif
