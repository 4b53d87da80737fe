/*
 * cookie.c - see cookie.h.
 */
#include "access/cookie.h"

#include <stdio.h>
#include <string.h>

#define NAME_TEXT 64

static void name_of(char out[NAME_TEXT], const char *name, bool is_secure)
{
    snprintf(out, NAME_TEXT, "%smire_%s", is_secure ? "__Host-" : "", name);
}

bool cookie_find(char *out, size_t room, const struct request *request, const char *name, bool is_secure)
{
    const char *sent = request_header(request, "Cookie");
    char whole[NAME_TEXT];
    name_of(whole, name, is_secure);
    size_t name_len = strlen(whole);
    for (const char *at = sent; at && *at;) {
        at += strspn(at, "; ");
        size_t len = strcspn(at, ";");
        if (len > name_len && !strncmp(at, whole, name_len) && at[name_len] == '=') {
            size_t value_len = len - name_len - 1;
            if (value_len >= room)
                return false;
            memcpy(out, at + name_len + 1, value_len);
            out[value_len] = '\0';
            return true;
        }
        at += len;
    }
    return false;
}

const char *cookie_of(struct arena *arena, const char *name, const char *value, int lasts_s, bool is_secure)
{
    char whole[NAME_TEXT];
    name_of(whole, name, is_secure);
    return arena_printf(arena, "%s=%s; Path=/; HttpOnly; SameSite=Lax; Max-Age=%d%s", whole, value, lasts_s,
                        is_secure ? "; Secure" : "");
}

#define SIGN_IN "sign_in"

bool cookie_read(char out[MIRE_KEY_TEXT], const struct request *request, bool is_secure)
{
    return cookie_find(out, MIRE_KEY_TEXT, request, SIGN_IN, is_secure) && key_is_wellformed(out, strlen(out));
}

const char *cookie_of_sign_in(struct arena *arena, const char *secret, int lasts_s, bool is_secure)
{
    return cookie_of(arena, SIGN_IN, secret, lasts_s, is_secure);
}
