/*
 * names.h - the functions of symbol tables, sorted by address. Inside cache/ only.
 */
#ifndef MIRE_CACHE_NAMES_H
#define MIRE_CACHE_NAMES_H

#include "object/object.h"

struct symbol_name {
    uint32_t low;
    uint32_t high; /* not in it; a name inside a longer one is on top of it */
    const char *text;
    uint8_t rank; /* among names of one address: the highest is shown */
};

struct symbol_names {
    struct symbol_name *rows;
    size_t count;
    size_t room;
};

/* Add those of `symbols` that are code of `object`, as offsets from base. False: out of memory. */
bool names_add(struct symbol_names *names, const struct symbol *symbols, size_t count, const struct object *object,
               uint64_t base);

/* Sort, keep one of each beginning, and end those that tell no size at the next one. */
void names_seal(struct symbol_names *names);

/* The name that begins exactly there, NULL if none does. */
const struct symbol_name *names_at(const struct symbol_names *names, uint32_t at);

void names_fini(struct symbol_names *names);

#endif
