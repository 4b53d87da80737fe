/*
 * role.c - the names of roles, as the API and stored documents spell them.
 */
#include "model/role.h"

#include <string.h>

static const char *const names[MIRE_ROLE_COUNT] = {
    [MIRE_ROLE_UNKNOWN] = "unknown",
    [MIRE_ROLE_APP] = "app",
    [MIRE_ROLE_SYSTEM] = "system",
    [MIRE_ROLE_RUNTIME] = "runtime",
    [MIRE_ROLE_ALLOCATOR] = "allocator",
    [MIRE_ROLE_WAIT] = "wait",
    [MIRE_ROLE_IO] = "io",
    [MIRE_ROLE_LOCK] = "lock",
    [MIRE_ROLE_DISPATCH] = "dispatch",
    [MIRE_ROLE_THREAD] = "thread",
};

const char *role_name(enum role role)
{
    return (unsigned)role < MIRE_ROLE_COUNT ? names[role] : names[MIRE_ROLE_UNKNOWN];
}

enum role role_of_name(const char *name)
{
    for (unsigned i = 0; i < MIRE_ROLE_COUNT; i++)
        if (!strcmp(names[i], name))
            return (enum role)i;
    return MIRE_ROLE_UNKNOWN;
}
