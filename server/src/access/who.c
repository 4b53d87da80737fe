/*
 * who.c - the names of scopes and roles, and which role a route asks for. Pure.
 */
#include "access/access.h"

#include <string.h>

static const char *const scopes[MIRE_MAY_COUNT] = {
    [MIRE_MAY_INGEST] = "ingest", [MIRE_MAY_SYMBOLS] = "symbols", [MIRE_MAY_ROLLOUT] = "rollout",
    [MIRE_MAY_RULES] = "rules",   [MIRE_MAY_READ] = "read",       [MIRE_MAY_ADMIN] = "admin"};

static const char *const roles[MIRE_ACCESS_COUNT] = {[MIRE_ACCESS_NOBODY] = "nobody",
                                                     [MIRE_ACCESS_VIEWER] = "viewer",
                                                     [MIRE_ACCESS_TRIAGER] = "triager",
                                                     [MIRE_ACCESS_ADMIN] = "admin",
                                                     [MIRE_ACCESS_SERVER] = "server"};

/* clang-format off */
static const enum access_role least[MIRE_MAY_END] = {
    [MIRE_MAY_INGEST]  = MIRE_ACCESS_COUNT,
    [MIRE_MAY_SYMBOLS] = MIRE_ACCESS_ADMIN, /* where the path names the app */
    [MIRE_MAY_ROLLOUT] = MIRE_ACCESS_ADMIN,
    [MIRE_MAY_RULES]   = MIRE_ACCESS_ADMIN,
    [MIRE_MAY_READ]    = MIRE_ACCESS_VIEWER,
    [MIRE_MAY_ADMIN]   = MIRE_ACCESS_ADMIN,
    [MIRE_MAY_TRIAGE]  = MIRE_ACCESS_TRIAGER,
    [MIRE_MAY_KNOCK]   = MIRE_ACCESS_NOBODY,
    [MIRE_MAY_SELF]    = MIRE_ACCESS_VIEWER, /* and an account */
    [MIRE_MAY_SERVER]  = MIRE_ACCESS_SERVER,
    [MIRE_MAY_SIGN]    = MIRE_ACCESS_NOBODY,
    [MIRE_MAY_FOUND]   = MIRE_ACCESS_ADMIN, /* the path names no app, so admins of an app alone are viewers there */
};
/* clang-format on */

const char *access_scope_name(enum access_scope scope)
{
    return scope < MIRE_MAY_COUNT && scopes[scope] ? scopes[scope] : "";
}

enum access_scope access_scope_parse(const char *name)
{
    for (int s = 1; s < MIRE_MAY_COUNT; s++)
        if (!strcmp(scopes[s], name))
            return (enum access_scope)s;
    return (enum access_scope)0;
}

const char *access_role_name(enum access_role role)
{
    return role < MIRE_ACCESS_COUNT ? roles[role] : "";
}

enum access_role access_role_parse(const char *name)
{
    for (int r = MIRE_ACCESS_VIEWER; r <= MIRE_ACCESS_ADMIN; r++)
        if (!strcmp(roles[r], name))
            return (enum access_role)r;
    return MIRE_ACCESS_NOBODY;
}

enum access_role access_role_of(enum access_scope who)
{
    return who < MIRE_MAY_END ? least[who] : MIRE_ACCESS_COUNT;
}
