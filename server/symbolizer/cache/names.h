/*
 * names.h - functions of symbol tables, sorted by address. Internal to cache/.
 */
#ifndef MIRE_CACHE_NAMES_H
#define MIRE_CACHE_NAMES_H

#include "object/object.h"

struct symbol_name {
    uint32_t low;
    uint32_t high; /* end of range, exclusive; an inner range covers the outer one */
    const char *text;
    uint8_t rank; /* the highest rank of an address is shown */
};

struct symbol_names {
    struct symbol_name *rows;
    size_t count;
    size_t room;
};

/* Add the `symbols` that are code of `object`, as offsets from base. Returns false out of memory. */
bool names_add(struct symbol_names *names, const struct symbol *symbols, size_t count, const struct object *object,
               uint64_t base);

/* Sort the names and keep one per start. A name without a size ends at the next one. */
void names_seal(struct symbol_names *names);

/* The name that begins exactly at `at`; NULL: none. */
const struct symbol_name *names_at(const struct symbol_names *names, uint32_t at);

void names_fini(struct symbol_names *names);

#endif
