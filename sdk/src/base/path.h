/*
 * path.h - parts of a path. Signal-safe: no calls.
 */
#ifndef MIRE_BASE_PATH_H
#define MIRE_BASE_PATH_H

/* The last part of a path, inside it: "libc.so.6" of "/usr/lib/libc.so.6"; the whole path where it has no slash. */
static inline const char *mire__path_base(const char *path)
{
    const char *base = path;

    for (; *path; path++)
        if (*path == '/')
            base = path + 1;
    return base;
}

#endif
