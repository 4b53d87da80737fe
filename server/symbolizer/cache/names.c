/*
 * names.c - keeps one name per address: of several symbols at one address, the one a reader would use.
 */
#include "cache/names.h"

#include "base/grow.h"

#include <string.h>

#define SIZED 64 /* bit of rank: the symbol has a size */

bool names_add(struct symbol_names *names, const struct symbol *symbols, size_t count, const struct object *object,
               uint64_t base)
{
    for (size_t i = 0; i < count; i++) {
        const struct symbol *symbol = &symbols[i];
        uint64_t high = symbol->high;
        if (symbol->low < base || symbol->low - base >= UINT32_MAX - 1 ||
            !object_is_code(object, symbol->low, symbol->low + 1))
            continue;
        if (high - base > UINT32_MAX - 1)
            high = base + UINT32_MAX - 1;
        if (!GROW(names))
            return false;
        names->rows[names->count++] =
            (struct symbol_name){(uint32_t)(symbol->low - base), (uint32_t)(high - base), symbol->name, symbol->rank};
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct symbol_name *x = a;
    const struct symbol_name *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    size_t x_len = strlen(x->text);
    size_t y_len = strlen(y->text);
    return x_len != y_len ? (x_len < y_len ? -1 : 1) : strcmp(x->text, y->text);
}

void names_seal(struct symbol_names *names)
{
    size_t kept = 0;
    if (names->count)
        qsort(names->rows, names->count, sizeof *names->rows, compare);
    for (size_t i = 0; i < names->count; i++) {
        struct symbol_name *last = kept ? &names->rows[kept - 1] : NULL;
        if (last && last->low == names->rows[i].low)
            continue;
        if (last && last->rank < SIZED && last->high > names->rows[i].low)
            last->high = names->rows[i].low;
        names->rows[kept++] = names->rows[i];
    }
    names->count = kept;
}

const struct symbol_name *names_at(const struct symbol_names *names, uint32_t at)
{
    size_t low = 0;
    size_t high = names->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (names->rows[middle].low < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < names->count && names->rows[low].low == at ? &names->rows[low] : NULL;
}

void names_fini(struct symbol_names *names)
{
    free(names->rows);
    *names = (struct symbol_names){0};
}
