/* suspect.c - see suspect.h. */
#include "model/suspect.h"

#include <string.h>

/* The package of "com.acme.CartStore.lock": "com.acme", its length. 0: the name has none. */
static size_t package_of(const char *function)
{
    size_t name = strcspn(function, "(< "), dots = 0, end = 0;

    if (memchr(function, ':', name) || memchr(function, '+', name))
        return 0;
    for (size_t i = name; i > 0; i--)
        if (function[i - 1] == '.' && ++dots == 2)
            end = i - 1;
    return end;
}

static bool is_of_java(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot && (!strcmp(dot, ".java") || !strcmp(dot, ".kt"));
}

const char *suspect_path(struct arena *arena, const struct suspect_frame *frame)
{
    size_t len = strchr(frame->file, '/') || !is_of_java(frame->file) ? 0 : package_of(frame->function);
    char *path =
        len ? arena_printf(arena, "%.*s/%s", (int)len, frame->function, frame->file) : arena_strdup(arena, frame->file);

    for (size_t i = 0; path && i < len; i++)
        if (path[i] == '.')
            path[i] = '/';
    return path;
}

/* Parts of a path, "src/cart.c": 2. */
static size_t parts_of(const char *path, size_t len)
{
    size_t parts = 0;

    for (size_t i = 0; i < len; i++)
        parts += path[i] != '/' && (i == 0 || path[i - 1] == '/');
    return parts;
}

bool suspect_matches(const char *file, const char *path, size_t len)
{
    size_t left = strlen(file), right = len, same = 0;
    size_t theirs = parts_of(file, left), ours = parts_of(path, len), least = theirs < ours ? theirs : ours;

    while (left && right && file[left - 1] == path[right - 1]) {
        left--;
        right--;
        same += file[left] == '/';
    }
    /* A part that ended at the begin of either path, or at a slash in both, is whole. */
    same += (!left || file[left - 1] == '/') && (!right || path[right - 1] == '/') && file[left] != '/';
    return least && same >= (least < 2 ? least : 2);
}
