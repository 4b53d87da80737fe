/*
 * tables.h - the tables of a loaded module: its symbols, their names and hashes, and its relocations. Private to patch/.
 */
#ifndef MIRE_PATCH_TABLES_H
#define MIRE_PATCH_TABLES_H

#include "base/base.h"

#include <link.h>

struct module_tables {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * relocations[2];
    size_t counts[2];
    const uint32_t
        *hash; /* DT_GNU_HASH; NULL: no table, or an empty table, which does not mark the module's own symbols */
};

/* The header of a hash table. */
enum { HASH_BUCKETS, HASH_FIRST_OWN, HASH_FILTER_WORDS, HASH_SHIFT, HASH_HEAD };

static inline const ElfW(Addr) * mire__hash_filter(const uint32_t *hash)
{
    return (const ElfW(Addr) *)(const void *)(hash + HASH_HEAD);
}

static inline const uint32_t *mire__hash_buckets(const uint32_t *hash)
{
    return (const uint32_t *)(const void *)(mire__hash_filter(hash) + hash[HASH_FILTER_WORDS]);
}

/* Find a module's tables by its dynamic section. Returns false if it has no symbols. Thread: inside dl_iterate_phdr. */
bool mire__module_tables(struct module_tables *out, const struct dl_phdr_info *info);

#endif
