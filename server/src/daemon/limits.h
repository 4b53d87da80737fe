/*
 * limits.h - descriptors: as many as the settings need, or fewer connections.
 */
#ifndef MIRE_DAEMON_LIMITS_H
#define MIRE_DAEMON_LIMITS_H

struct log;

/*
 * Raise the soft RLIMIT_NOFILE so that `connections` clients are served and enough descriptors are left for the
 * database, files and children. Returns the number of clients there is room for: fewer if the hard limit is lower,
 * which is logged. Before any thread.
 */
unsigned limits_raise_files(unsigned connections, const struct log *log);

#endif
