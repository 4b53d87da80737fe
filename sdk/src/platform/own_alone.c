/* own_alone.c - where there is no second copy of the C library: with another than glibc, and on Apple's systems (own.h). */
#include "platform/own.h"

#ifndef __GLIBC__

bool mire__own_open(const char *library)
{
    (void)library;
    return false;
}

void *mire__own_find(const char *name)
{
    (void)name;
    return NULL;
}

bool mire__own_is_beside(void)
{
    return false;
}

void mire__own_claim_arena(void)
{
}

void mire__own_share(void)
{
}

void mire__own_rest(void)
{
}

bool mire__own_meet(void)
{
    return true;
}

#endif
