/*
 * sites_plain.c - the sites of sites_new.cc with malloc, for a C library without a C++ library.
 */
#include "oracle/sites.h"

#include <stdlib.h>

#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

#define SITE(name, expression)                       \
    ORACLE_CODE void *name(struct oracle_call *call) \
    {                                                \
        void *block = (expression);                  \
        KEEP_FRAME();                                \
        return block;                                \
    }

SITE(oracle_new, malloc(call->size))
SITE(oracle_new_array, malloc(call->size))
SITE(oracle_new_nothrow, malloc(call->size))
SITE(oracle_new_aligned, aligned_alloc(call->align, call->size))
SITE(oracle_new_array_aligned_nothrow, aligned_alloc(call->align, call->size))

ORACLE_CODE void *oracle_new_fails(struct oracle_call *call)
{
    size_t size = ~(size_t)0 / 2;

    __asm__ volatile("" : "+r"(size));
    return malloc(size + (call->size & 7));
}

void oracle_delete(void *block, size_t size, size_t align, enum oracle_release release)
{
    (void)size;
    (void)align;
    (void)release;
    free(block);
}
