/*
 * leaky.c - a library for a program in another language; it never frees its blocks.
 */
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) void *leak_session(size_t bytes)
{
    char *session = malloc(bytes);

    if (session)
        memset(session, 1, bytes);
    return session;
}

__attribute__((noinline)) void *open_session(size_t bytes)
{
    void *session = leak_session(bytes);

    __asm__ volatile("" ::: "memory");
    return session;
}
