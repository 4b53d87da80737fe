/* symbols_apple.c - see symbols.h: Mach-O images have no such table. Signal-safe. */
#include "unwind/symbols.h"

bool mire__symbols_open(struct module_symbols *out, struct peek_cache *cache, const struct module *module)
{
    (void)out;
    (void)cache;
    (void)module;
    return false;
}

uint64_t mire__symbols_find(const struct module_symbols *symbols, const char *name)
{
    (void)symbols;
    (void)name;
    return 0;
}
