/*
 * inside.h - what the files of store/ share. Private to store/.
 */
#ifndef MIRE_STORE_INSIDE_H
#define MIRE_STORE_INSIDE_H

#include "store/store.h"

#include <stdatomic.h>

struct store {
    char *dir; /* absolute */
    struct store_caps caps;
    _Atomic uint64_t written_bytes; /* of sealed reports, since open; any thread adds */
    /* Losses not yet in the file. Any thread adds; whoever writes the file takes them. Relaxed: only sums matter. */
    _Atomic uint64_t unsaved[MIRE_DROP_REASONS];
};

/* "<dir>/<name><suffix>"; false if that is too long. */
bool mire__store_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *name, const char *suffix);

bool mire__store_ends_with(const char *name, const char *end);

/* Is there such a file of the run? See runs.h. */
bool mire__store_run_has(const struct store *store, const char *run, const char *suffix);

/* Delete `name` in `dir` if it was written aside long ago and its writer never came to rename it. */
void mire__store_sweep(int dir, const char *name);

/* Add to and take from the counts of losses; either may be NULL. What cannot be written now stays in memory. */
void mire__store_drops_change(struct store *store, const uint64_t add[MIRE_DROP_REASONS],
                              const uint64_t take[MIRE_DROP_REASONS]);

#endif
