/*
 * limits.h - raises the limit of file descriptors to the need of the settings.
 */
#ifndef MIRE_DAEMON_LIMITS_H
#define MIRE_DAEMON_LIMITS_H

struct log;

/*
 * Raise the soft RLIMIT_NOFILE to `connections` and a reserve for the database, files and children. Returns the number
 * of clients that fit: fewer than `connections` if the hard limit is too low, which is logged. Call it before threads
 * start.
 */
unsigned limits_raise_files(unsigned connections, const struct log *log);

#endif
