/*
 * miredtest.h - mired as a child process with a private cluster of its own under /tmp.
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

/* Start mired on `dir` (made if needed) with more flags (NULL-ended, may be NULL); waits until it serves. 0 or -1. */
int miredtest_start(struct miredtest *mired, const char *const *flags);

/* The same without waiting, for roles that do not serve. */
int miredtest_spawn(struct miredtest *mired, const char *const *flags);

/* After miredtest_spawn: wait until it listens, whether its database answers or not. 0 or -1. */
int miredtest_listening(struct miredtest *mired);

/* Run it until it ends by itself; its wait status. */
int miredtest_run(struct miredtest *mired, const char *const *flags);

/* Send a signal and wait until it has ended; its wait status. */
int miredtest_end(struct miredtest *mired, int signal);

/* Remove its directory. */
void miredtest_remove(struct miredtest *mired);

/* A pool on its database; ends the program if that fails. */
struct pg *miredtest_pg(const struct miredtest *mired);

/* Process number of its postmaster, -1 if there is none. */
pid_t miredtest_postmaster(const struct miredtest *mired);

/* A valid report with a fresh id; returns its length. */
size_t miredtest_report(char *out, size_t room, struct uuid *id_out);

#endif
