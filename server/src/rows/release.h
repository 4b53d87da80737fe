/*
 * release.h - marks of releases, and the commits that are new in a version.
 */
#ifndef MIRE_ROWS_RELEASE_H
#define MIRE_ROWS_RELEASE_H

#include "base/arena.h"
#include "pg/pg.h"

#define MIRE_RELEASES_MAX        1000 /* marks listed */
#define MIRE_RELEASE_COMMITS_MAX 2000 /* commits of a version */

struct release_row {
    const char *version, *environment, *commit, *made_by;
    int64_t at_us;
    int64_t commits; /* of the version. Read only */
};

/* Make a mark, or replace the one of the same version and environment. 0 or a fault. */
int rows_release_put(struct pg_tx *tx, int32_t app, const struct release_row *row);

/* The marks of an app, newest first; at most MIRE_RELEASES_MAX. 0 or a fault. */
int rows_release_list(struct release_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app);

struct release_commit {
    const char *commit, *author, *subject;
    const char *files; /* a line each */
    int64_t at_us;
};

/* Replace the commits of a version. 0 or a fault. */
int rows_release_commits_put(struct pg_tx *tx, struct arena *arena, int32_t app, const char *version,
                             const struct release_commit *commits, size_t count);

/* The commits of a version, newest first. 0 or a fault. */
int rows_release_commits_read(struct release_commit **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                              int32_t app, const char *version);

#endif
