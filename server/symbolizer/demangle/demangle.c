/*
 * demangle.c - determines the language of a name from its first bytes.
 */
#include "demangle/demangle.h"
#include "demangle/cpp.h"
#include "demangle/d.h"
#include "demangle/rust.h"
#include "demangle/swift/swift.h"

#include <stdio.h>
#include <string.h>

static size_t mangled(char *out, size_t room, const char *name, size_t len, uint64_t *left_ns)
{
    size_t written = rust_v0(out, room, name, len);
    if (!written)
        written = cpp_demangle(out, room, name, len, left_ns);
    if (!written)
        written = d_demangle(out, room, name, len);
    if (!written)
        written = swift_demangle(out, room, name, len, SWIFT_SHORT);
    return written;
}

/*
 * The function that contains a block of C or Objective-C, and the rest after it:
 *
 *     __41-[Cart add:]_block_invoke_2    the number is the length of the following name
 *     __main_block_invoke                in a function of C
 *
 * Returns false if the name is no block.
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

static size_t block(char *out, size_t room, const char *name, size_t len, uint64_t *left_ns)
{
    static const char front[] = "block in ";
    const char *inside;
    size_t inside_len;
    if (room <= sizeof front || !is_block(&inside, &inside_len, name, len))
        return 0;
    memcpy(out, front, sizeof front);
    out += sizeof front - 1;
    room -= sizeof front - 1;
    size_t written = mangled(out, room, inside, inside_len, left_ns);
    if (!written) {
        written = inside_len < room ? inside_len : room - 1;
        memcpy(out, inside, written);
        out[written] = '\0';
    }
    return sizeof front - 1 + written;
}

/*
 * gcc compiles a coroutine to a function of its state: open(open(int)::_Z4openi.Frame*) [clone .actor]. The part before
 * the state's name is the coroutine's name in the source. Returns the length.
 */
static size_t without_frame(char *name, size_t len)
{
    static const char state[] = ".Frame*)";
    char *end = strstr(name, state), *begin = end, *open = name;
    while (begin && begin > name && strncmp(begin, "::_Z", 4) != 0)
        begin--;
    if (!end || begin == name)
        return len;
    do
        open = memchr(open + 1, '(', (size_t)(begin - open - 1));
    while (open && strncmp(name, open + 1, (size_t)(open - name)) != 0); /* otherwise a bracket of the name itself */
    if (!open)
        return len;
    size_t inside = (size_t)(begin - open - 1);
    memmove(name, open + 1, inside);
    memmove(name + inside, end + sizeof state - 1, strlen(end + sizeof state - 1) + 1);
    return strlen(name);
}

size_t symbol_demangle(char *out, size_t room, const char *name)
{
    uint64_t left_ns = UINT64_MAX;
    return symbol_demangle_within(out, room, name, &left_ns);
}

size_t symbol_demangle_within(char *out, size_t room, const char *name, uint64_t *left_ns)
{
    const char *llvm = strstr(name, ".llvm."); /* followed by a number that differs between builds */
    size_t len = llvm ? (size_t)(llvm - name) : strlen(name);
    size_t written = mangled(out, room, name, len, left_ns);
    if (written)
        written = without_frame(out, written);
    else
        written = block(out, room, name, len, left_ns);
    if (written)
        return written;
    int whole = snprintf(out, room, "%s", name);
    if (whole < 0)
        return 0;
    if (rust_clean(out)) /* Android's traces have names of Rust as a demangler of C++ leaves them */
        return strlen(out);
    return (size_t)whole < room ? (size_t)whole : room - 1;
}
