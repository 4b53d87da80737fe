/*
 * rust.c - the escapes are those of rustc's legacy symbol mangling (compiler/rustc_symbol_mangling/src/legacy.rs).
 */
#include "symbols/rust.h"

#include <stdlib.h>
#include <string.h>

#define HASH_LEN 19 /* ::h and 16 hex digits */

static const struct {
    const char *escape;
    char plain;
} escapes[] = {
    {"$SP$", '@'}, {"$BP$", '*'}, {"$RF$", '&'}, {"$LT$", '<'},
    {"$GT$", '>'}, {"$LP$", '('}, {"$RP$", ')'}, {"$C$", ','},
};

/* One escape: its length, 0 if there is none here. */
static size_t unescape(char *plain, const char *at)
{
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        size_t len = strlen(escapes[i].escape);
        if (!strncmp(at, escapes[i].escape, len)) {
            *plain = escapes[i].plain;
            return len;
        }
    }
    if (strncmp(at, "$u", 2) != 0)
        return 0;
    char *end;
    unsigned long code = strtoul(at + 2, &end, 16);
    if (*end != '$' || end == at + 2 || end > at + 5 || code < 0x20 || code > 0x7e)
        return 0;
    *plain = (char)code;
    return (size_t)(end + 1 - at);
}

bool rust_clean(char *name)
{
    size_t len = strlen(name);
    if (len <= HASH_LEN || strncmp(name + len - HASH_LEN, "::h", 3) != 0 ||
        strspn(name + len - 16, "0123456789abcdef") != 16)
        return false;
    name[len - HASH_LEN] = '\0';
    char *to = name;
    for (const char *at = name; *at;) {
        char plain;
        bool begins = at == name || at[-1] == ':';
        size_t used = unescape(&plain, at);
        if (used) {
            *to++ = plain;
            at += used;
        } else if (at[0] == '_' && at[1] == '$' && begins) {
            at++; /* keeps an escape from beginning an identifier */
        } else if (at[0] == '.' && at[1] == '.') {
            *to++ = ':';
            *to++ = ':';
            at += 2;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
    return true;
}
