/*
 * demangle.c - which language wrote a name, by how it begins.
 */
#include "symbols/d.h"
#include "symbols/rust.h"
#include "symbols/swift/swift.h"
#include "symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status); /* libstdc++ */

#define MANGLED_MAX 8192 /* bytes of a name that is demangled; time grows with it */

/* Legacy names of Rust are C++'s with escapes. */
static size_t cpp(char *out, size_t room, const char *name, size_t len)
{
    char mangled[MANGLED_MAX + 1];
    int status;
    if (len > MANGLED_MAX || len < 2 || memcmp(name, "_Z", 2) != 0)
        return 0;
    memcpy(mangled, name, len);
    mangled[len] = '\0';
    char *plain = __cxa_demangle(mangled, NULL, NULL, &status);
    if (!plain)
        return 0;
    (void)rust_clean(plain);
    int written = snprintf(out, room, "%s", plain);
    free(plain);
    return written < 0 ? 0 : (size_t)written < room ? (size_t)written : room - 1;
}

static size_t mangled(char *out, size_t room, const char *name, size_t len)
{
    size_t written = rust_v0(out, room, name, len);
    if (!written)
        written = cpp(out, room, name, len);
    if (!written)
        written = d_demangle(out, room, name, len);
    if (!written)
        written = swift_demangle(out, room, name, len, SWIFT_SHORT);
    return written;
}

/*
 * The function that a block of C or Objective-C is in, and what is behind it:
 *
 *     __41-[Cart add:]_block_invoke_2    the number is how long the name is that follows
 *     __main_block_invoke                of a function of C
 *
 * False: it is none.
 */
static bool is_block(const char **inside, size_t *inside_len, const char *name, size_t len)
{
    static const char invoke[] = "_block_invoke";
    const char *end = len > 2 && !memcmp(name, "__", 2) ? memmem(name, len, invoke, sizeof invoke - 1) : NULL;
    const char *begin = name + 2;
    if (!end || end <= begin)
        return false;
    const char *behind = end + sizeof invoke - 1;
    if (behind < name + len && *behind == '_')
        behind++;
    while (behind < name + len && *behind >= '0' && *behind <= '9')
        behind++;
    if (behind < name + len && *behind != '.')
        return false;
    while (begin < end && *begin >= '0' && *begin <= '9')
        begin++;
    *inside = begin;
    *inside_len = (size_t)(end - begin);
    return begin < end;
}

static size_t block(char *out, size_t room, const char *name, size_t len)
{
    static const char front[] = "block in ";
    const char *inside;
    size_t inside_len;
    if (room <= sizeof front || !is_block(&inside, &inside_len, name, len))
        return 0;
    memcpy(out, front, sizeof front);
    out += sizeof front - 1;
    room -= sizeof front - 1;
    size_t written = mangled(out, room, inside, inside_len);
    if (!written) {
        written = inside_len < room ? inside_len : room - 1;
        memcpy(out, inside, written);
        out[written] = '\0';
    }
    return sizeof front - 1 + written;
}

size_t symbol_demangle(char *out, size_t room, const char *name)
{
    const char *llvm = strstr(name, ".llvm."); /* a number that differs from build to build */
    size_t len = llvm ? (size_t)(llvm - name) : strlen(name);
    size_t written = mangled(out, room, name, len);
    if (!written)
        written = block(out, room, name, len);
    if (written)
        return written;
    int whole = snprintf(out, room, "%s", name);
    return whole < 0 ? 0 : (size_t)whole < room ? (size_t)whole : room - 1;
}
