/*
 * member.c - reads ar archives of Apple's tools and of LLVM. A long name is stored at the beginning of the member.
 *
 *     !<arch>\n  [ name 16, ..., size 10, mark 2 ][ bytes, filled up to two ]...        cart.o, cart.o/, #1/20
 */
#include "object/member.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK    "!<arch>\n"
#define HEADER  60u
#define NAME    16u
#define SIZE_AT 48u

static bool is_named(const char *text, size_t len, const char *name)
{
    size_t wanted = strlen(name);
    while (len && (!text[len - 1] || text[len - 1] == ' ' || text[len - 1] == '/'))
        len--;
    return len == wanted && !memcmp(text, name, len);
}

static size_t number_of(const char *text, size_t len)
{
    size_t value = 0;
    for (size_t i = 0; i < len && text[i] >= '0' && text[i] <= '9'; i++)
        value = value * 10 + (size_t)(text[i] - '0');
    return value;
}

static bool find_member(struct file_bytes *out, const struct file_bytes *file, const char *name)
{
    if (file->len < strlen(MARK) || memcmp(file->bytes, MARK, strlen(MARK)) != 0)
        return false;
    for (size_t at = strlen(MARK); file->len - at >= HEADER;) {
        const char *header = (const char *)file->bytes + at;
        size_t size = number_of(header + SIZE_AT, 10);
        at += HEADER;
        if (size > file->len - at)
            return false;
        size_t inside = !memcmp(header, "#1/", 3) ? number_of(header + 3, NAME - 3) : 0;
        if (inside > size)
            return false;
        if (inside ? is_named(header + HEADER, inside, name) : is_named(header, NAME, name)) {
            *out = (struct file_bytes){file->bytes + at + inside, size - inside, 0};
            return size > inside;
        }
        at += size;
        at += at % 2 && at < file->len;
    }
    return false;
}

bool member_map(struct file_bytes *whole, struct file_bytes *part, const char *path)
{
    char archive[PATH_MAX];
    char name[PATH_MAX];
    const char *open = strrchr(path, '(');
    size_t len = strlen(path);
    if (!open || path[len - 1] != ')') {
        bool good = file_bytes_map(whole, path);
        if (good)
            *part = (struct file_bytes){whole->bytes, whole->len, 0};
        return good;
    }
    snprintf(archive, sizeof archive, "%.*s", (int)(open - path), path);
    snprintf(name, sizeof name, "%.*s", (int)(path + len - 1 - (open + 1)), open + 1);
    if (!file_bytes_map(whole, archive))
        return false;
    if (find_member(part, whole, name))
        return true;
    file_bytes_unmap(whole);
    return false;
}
