/*
 * cookie.c - see cookie.h.
 */
#include "access/cookie.h"

#include <stdio.h>
#include <string.h>

static const char *name_of(bool is_secure)
{
    return is_secure ? "__Host-mire_sign_in" : "mire_sign_in";
}

bool cookie_read(char out[MIRE_KEY_TEXT], const struct request *request, bool is_secure)
{
    const char *sent = request_header(request, "Cookie"), *name = name_of(is_secure);
    size_t name_len = strlen(name);
    for (const char *at = sent; at && *at;) {
        at += strspn(at, "; ");
        size_t len = strcspn(at, ";");
        const char *value = at + name_len + 1;
        if (len > name_len && !strncmp(at, name, name_len) && at[name_len] == '=') {
            size_t value_len = len - name_len - 1;
            if (!key_is_wellformed(value, value_len))
                return false;
            memcpy(out, value, value_len);
            out[value_len] = '\0';
            return true;
        }
        at += len;
    }
    return false;
}

void cookie_write(char out[MIRE_COOKIE_TEXT], const char *secret, bool is_secure)
{
    snprintf(out, MIRE_COOKIE_TEXT, "%s=%s; Path=/; HttpOnly; SameSite=Lax; Max-Age=%d%s", name_of(is_secure), secret,
             *secret ? MIRE_SIGN_IN_DAYS * 86400 : 0, is_secure ? "; Secure" : "");
}
