/*
 * plugin.c - a module of the oracle's program. Its blocks may outlive it.
 */
#include <stdlib.h>

__attribute__((noinline)) void *oracle_plugin_alloc(size_t size)
{
    void *block = malloc(size);

    __asm__ volatile("" ::: "memory");
    return block;
}
