/* symbols.c - see symbols.h. Signal-safe. */
#include "unwind/symbols.h"

#include <elf.h>
#include <string.h>

#define DYNAMIC_MAX 256 /* entries looked at; most have some 30 */
#define CHAIN_MAX   64  /* symbols of one bucket that are looked at; linkers make chains of some four */
#define NAME_BYTES  64

static bool peek(void *out, const struct module_symbols *symbols, uint64_t address, size_t size_bytes)
{
    return mire__peek_cached(out, symbols->cache, address, size_bytes);
}

/* glibc has moved the pointers of the section to where the module lies, other loaders do not. */
static uint64_t moved(const struct module_symbols *symbols, uint64_t address)
{
    return address < symbols->load ? address + symbols->load : address;
}

bool mire__symbols_open(struct module_symbols *out, struct peek_cache *cache, const struct module *module)
{
    struct headers headers;
    Elf64_Dyn entry;

    *out = (struct module_symbols){.cache = cache, .load = module->load};
    if (!mire__headers_read(&headers, module->start, module->end - module->start) || !headers.is_elf)
        return false;
    for (uint32_t i = 0; i < DYNAMIC_MAX && (i + 1) * sizeof(entry) <= headers.dynamic_bytes; i++) {
        if (!peek(&entry, out, headers.dynamic + i * sizeof(entry), sizeof(entry)) || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_STRTAB)
            out->names = moved(out, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_SYMTAB)
            out->table = moved(out, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_GNU_HASH)
            out->hash = moved(out, entry.d_un.d_ptr);
    }
    return out->names && out->table && out->hash;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;

    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

/* The address of the symbol with that number, if it has the name and the module defines it. */
static uint64_t address_of(const struct module_symbols *symbols, uint32_t number, const char *name)
{
    size_t length = strlen(name) + 1;
    char found[NAME_BYTES];
    Elf64_Sym symbol;

    if (length > sizeof(found) || !peek(&symbol, symbols, symbols->table + number * sizeof(symbol), sizeof(symbol)) ||
        symbol.st_shndx == SHN_UNDEF || !peek(found, symbols, symbols->names + symbol.st_name, length) ||
        memcmp(found, name, length) != 0)
        return 0;
    return symbols->load + symbol.st_value;
}

uint64_t mire__symbols_find(const struct module_symbols *symbols, const char *name)
{
    struct {
        uint32_t buckets, first, filter_words, shift;
    } head;
    uint32_t hash = hash_of(name), number, other = 0;
    uint64_t buckets, chains, address = 0;

    if (!peek(&head, symbols, symbols->hash, sizeof(head)) || head.buckets == 0)
        return 0;
    buckets = symbols->hash + sizeof(head) + 8ull * head.filter_words;
    chains = buckets + 4ull * head.buckets;
    if (!peek(&number, symbols, buckets + 4ull * (hash % head.buckets), sizeof(number)) || number < head.first)
        return 0;
    for (uint32_t i = 0; i < CHAIN_MAX && !address && !(other & 1); i++, number++) {
        if (!peek(&other, symbols, chains + 4ull * (number - head.first), sizeof(other)))
            return 0;
        if ((other | 1) == (hash | 1))
            address = address_of(symbols, number, name);
    }
    return address;
}
