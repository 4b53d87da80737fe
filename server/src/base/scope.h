/*
 * scope.h - things released when their scope ends, by gcc's and clang's cleanup attribute.
 *
 *     MIRE_SCOPED(text_fini) struct text out = {0};
 *     MIRE_SCOPED(close_fd) int fd = open(...);
 *
 * The function takes a pointer to the variable.
 */
#ifndef MIRE_BASE_SCOPE_H
#define MIRE_BASE_SCOPE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MIRE_SCOPED(release) __attribute__((cleanup(release)))

static inline void close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline void close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

static inline void free_memory(void *pointer)
{
    free(*(void **)pointer);
}

#endif
