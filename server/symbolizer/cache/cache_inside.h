/*
 * cache_inside.h - an open cache. cache.c opens it, cache_look.c looks addresses up. Internal to cache/.
 */
#ifndef MIRE_CACHE_CACHE_INSIDE_H
#define MIRE_CACHE_CACHE_INSIDE_H

#include "cache/cache.h"

#include <stdatomic.h>

struct module {
    const uint8_t *bytes;
    size_t len;
    struct cache_head head;
    const uint32_t *pages;
    const struct cache_block *blocks;
    const uint32_t *files;
    const uint8_t *scopes;
    const uint8_t *data;
    const char *stored;          /* texts as in the file */
    _Atomic(const char *) texts; /* NULL: not decompressed yet; set by the first look-up; acquire, release */
    uint32_t scope_bytes;
    struct symbol_splits missing_files;
    struct symbol_alt alt; /* id_len 0: not missing */
};

/* Get the decompressed texts. Damaged texts are all empty. NULL: out of memory; the next look-up tries again. */
const char *cache_unpack(const struct module *module);

#endif
