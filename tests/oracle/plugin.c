/*
 * plugin.c - a module of the oracle's program that allocates, and may be gone while its blocks live.
 */
#include <stdlib.h>

__attribute__((noinline)) void *oracle_plugin_alloc(size_t size)
{
    void *block = malloc(size);

    __asm__ volatile("" ::: "memory");
    return block;
}
