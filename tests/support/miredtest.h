/*
 * miredtest.h - runs mired as a child process with a private database cluster under /tmp.
 */
#ifndef MIRE_TESTS_MIREDTEST_H
#define MIRE_TESTS_MIREDTEST_H

#include "base/id.h"
#include "pg/pg.h"

#include <sys/types.h>

struct miredtest {
    const char *role; /* NULL: serve */
    char dir[64];
    pid_t pid;
    uint16_t port;
};

/* Start mired on `dir` (made if needed) with more flags (NULL-ended, may be NULL), and wait until it serves. 0 or
 * -1. */
int miredtest_start(struct miredtest *mired, const char *const *flags);

/* Start it without waiting, for roles that do not serve. */
int miredtest_spawn(struct miredtest *mired, const char *const *flags);

/* After miredtest_spawn: wait until it listens; its database may not answer yet. 0 or -1. */
int miredtest_listening(struct miredtest *mired);

/* Run it until it ends by itself. Returns its wait status. */
int miredtest_run(struct miredtest *mired, const char *const *flags);

/* Send a signal and wait until it has ended. Returns its wait status. */
int miredtest_end(struct miredtest *mired, int signal);

/* Remove its directory. */
void miredtest_remove(struct miredtest *mired);

/* Open a pool on its database; an error ends the program. */
struct pg *miredtest_pg(const struct miredtest *mired);

/* Process number of its postmaster; -1: none. */
pid_t miredtest_postmaster(const struct miredtest *mired);

/* Make a valid report with a fresh id. Returns its length. */
size_t miredtest_report(char *out, size_t room, struct uuid *id_out);

#endif
