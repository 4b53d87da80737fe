/*
 * alloc.h - the heap of all code but capture/: the C library's, or the app's (mire_options_set_allocator).
 *
 * Like malloc, calloc, realloc, free and strdup. Free their blocks with mire__free only, and no other blocks with it.
 *
 * Thread: any.  Signal handler: no.
 */
#ifndef MIRE_BASE_ALLOC_H
#define MIRE_BASE_ALLOC_H

#include "mire/delivery.h"

void *mire__malloc(size_t size);
void *mire__calloc(size_t count, size_t size);
void *mire__realloc(void *block, size_t size);
void mire__free(void *block);
char *mire__strdup(const char *text);

/*
 * Use this allocator from now on; without functions, the C library's. Call it only while nothing is allocated and no
 * thread of the library runs.
 */
void mire__alloc_use(const mire_allocator *allocator);

#endif
