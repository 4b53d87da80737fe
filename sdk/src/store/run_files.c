/*
 * run_files.c - see run_files.h.
 */
#include "store/run_files.h"

#include "platform/platform.h"
#include "store/inside.h"

#include <stdio.h>
#include <unistd.h>

void mire__store_run_name(char run[MIRE_STORE_RUN_BYTES])
{
    uint64_t random[2];

    mire__random(random, sizeof(random));
    snprintf(run, MIRE_STORE_RUN_BYTES, "%016llx%016llx", (unsigned long long)random[0], (unsigned long long)random[1]);
}

bool mire__store_run_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *run, const char *suffix)
{
    int length = snprintf(out, MIRE_STORE_PATH_MAX, "%s/box/%s%s", store->dir, run, suffix);

    return length > 0 && length < MIRE_STORE_PATH_MAX;
}

bool mire__store_run_has(const struct store *store, const char *run, const char *suffix)
{
    char path[MIRE_STORE_PATH_MAX];

    return mire__store_run_path(path, store, run, suffix) && access(path, F_OK) == 0;
}
