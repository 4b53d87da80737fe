/*
 * alloc.c - see alloc.h. The one state beside core/mire.c's: every folder allocates, and none should have to be handed
 * how.
 */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static mire_allocator hosts; /* written while nobody else is there, see mire__alloc_use */

void mire__alloc_use(const mire_allocator *allocator)
{
    hosts = *allocator;
}

void *mire__malloc(size_t size)
{
    return hosts.allocate ? hosts.allocate(hosts.context, size ? size : 1) : malloc(size);
}

void *mire__calloc(size_t count, size_t size)
{
    void *block;

    if (!hosts.allocate)
        return calloc(count, size);
    if (size && count > SIZE_MAX / size)
        return NULL;
    block = mire__malloc(count * size);
    return block ? memset(block, 0, count * size) : NULL;
}

void *mire__realloc(void *block, size_t size)
{
    if (!hosts.reallocate)
        return realloc(block, size);
    return block ? hosts.reallocate(hosts.context, block, size ? size : 1) : mire__malloc(size);
}

void mire__free(void *block)
{
    if (!hosts.release)
        free(block);
    else if (block)
        hosts.release(hosts.context, block);
}

char *mire__strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mire__malloc(size);

    return copy ? memcpy(copy, text, size) : NULL;
}
