/*
 * scratch.h - a directory for one test, removed with its contents.
 */
#ifndef MIRE_TESTS_SCRATCH_H
#define MIRE_TESTS_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static inline int scratch_new(void **state)
{
    char *path = strdup("/tmp/mire-test-XXXXXX");
    *state = path ? mkdtemp(path) : NULL;
    return *state ? 0 : -1;
}

static inline int scratch_remove(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    (void)info;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline int scratch_free(void **state)
{
    int failed = nftw(*state, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return failed;
}

#endif
