/*
 * rust.c - decodes the escapes of rustc's legacy symbol mangling (compiler/rustc_symbol_mangling/src/legacy.rs).
 */
#include "demangle/rust.h"
#include "demangle/punycode.h"

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

/* Decode one escape to UTF-8, which is shorter. Returns the escape's length; 0: none here. */
static size_t unescape(char **to, const char *at)
{
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        size_t len = strlen(escapes[i].escape);
        if (!strncmp(at, escapes[i].escape, len)) {
            *(*to)++ = escapes[i].plain;
            return len;
        }
    }
    if (strncmp(at, "$u", 2) != 0)
        return 0;
    char *end;
    unsigned long code = strtoul(at + 2, &end, 16);
    bool control = code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0xd800 && code < 0xe000);
    if (*end != '$' || end != at + 2 + strspn(at + 2, "0123456789abcdef") || code > 0x10ffff || control)
        return 0;
    *to = punycode_put(*to, (uint32_t)code);
    return (size_t)(end + 1 - at);
}

size_t rust_suffix(const char *name, size_t len)
{
    static const char hash[] = "17h"; /* then 16 digits, E, and the suffix */
    const char *at = name;
    const char *end = name + len;
    while ((at = memmem(at, (size_t)(end - at), hash, sizeof hash - 1))) {
        at += sizeof hash - 1;
        if (end - at > 17 && strspn(at, "0123456789abcdef") == 16 && at[16] == 'E' && at[17] == '.')
            return (size_t)(end - at) - 17;
    }
    return 0;
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
        bool begins = at == name || at[-1] == ':';
        size_t used = unescape(&to, at);
        if (used) {
            at += used;
        } else if (at[0] == '_' && at[1] == '$' && begins) {
            at++; /* separates an escape from the start of an identifier */
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
