/*
 * path.h - parts of a path.
 */
#ifndef MIRE_BASE_PATH_H
#define MIRE_BASE_PATH_H

#include <string.h>

/* The last part of a path, inside it; the whole path where it has no slash or ends with one. */
static inline const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

#endif
