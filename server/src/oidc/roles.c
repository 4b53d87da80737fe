/* roles.c - the setting oidc_roles. Pure. */
#include "oidc/oidc.h"

#include <string.h>

#define ROLES_MAX 256

/* Without spaces around it, in the arena. NULL: no memory. */
static char *trim(struct arena *arena, const char *text, size_t len)
{
    while (len && *text == ' ') {
        text++;
        len--;
    }
    while (len && text[len - 1] == ' ')
        len--;
    return arena_copy(arena, text, len);
}

static const char *parse_one(struct oidc_role *out, struct arena *arena, const char *text, size_t len)
{
    static const char *const roles[] = {"viewer", "triager", "admin", "server"};
    size_t equals = len;
    while (equals && text[equals - 1] != '=')
        equals--;
    if (!equals)
        return "an entry is GROUP = ROLE or GROUP = ROLE @ APP";
    const char *role = text + equals, *at = memchr(role, '@', len - equals);
    size_t role_len = at ? (size_t)(at - role) : len - equals;
    out->group = trim(arena, text, equals - 1);
    out->role = trim(arena, role, role_len);
    out->app = at ? trim(arena, at + 1, len - equals - role_len - 1) : "";
    if (!out->group || !out->role || !out->app)
        return "there is no memory";
    if (!*out->group || (at && !*out->app))
        return "an entry is GROUP = ROLE or GROUP = ROLE @ APP";
    if (at && !strcmp(out->role, "server"))
        return "the role server is of no app";
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (!strcmp(roles[i], out->role))
            return NULL;
    return "a role is viewer, triager, admin or server";
}

const char *oidc_roles_parse(struct oidc_role **out, size_t *count, struct arena *arena, const char *setting)
{
    *count = 0;
    *out = arena_array(arena, ROLES_MAX, sizeof **out);
    if (!*out)
        return "there is no memory";
    for (const char *at = setting; *at;) {
        size_t len = strcspn(at, ",");
        if (strspn(at, " ") < len) {
            if (*count == ROLES_MAX)
                return "there are more than 256 entries";
            const char *wrong = parse_one(&(*out)[*count], arena, at, len);
            if (wrong)
                return wrong;
            ++*count;
        }
        at += len + (at[len] == ',');
    }
    return NULL;
}
