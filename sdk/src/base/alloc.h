/*
 * alloc.h - the heap of everything that is not capturing: the C library's, or the app's (mire_options_set_allocator).
 *
 * Behave as malloc, calloc, realloc, free and strdup. What they return is freed by mire__free alone, and what libc's
 * own functions return is not.
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
 * Take this one from now on; one without functions is the C library's. Only while nothing is allocated, before any
 * thread of ours runs.
 */
void mire__alloc_use(const mire_allocator *allocator);

#endif
