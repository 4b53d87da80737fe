/*
 * upkeep.h - the thread that makes the database ready and keeps it so.
 *
 *     private cluster answers -> migrations -> partitions -> pool released -> on_ready -> partitions, each hour
 *
 * A database that is away is waited for, however long. What waiting does not cure ends the thread.
 */
#ifndef MIRE_DAEMON_UPKEEP_H
#define MIRE_DAEMON_UPKEEP_H

#include <stdbool.h>

struct embedded;
struct log;
struct pg;
struct upkeep;

struct upkeep_options {
    struct embedded *embedded; /* NULL: the database is somebody else's */
    const char *conninfo;
    struct pg *pg; /* held; released when the tables are ready */
    int retention_days;
    bool once; /* end when ready */
    const struct log *log;
    int (*on_ready)(void *context); /* called once, in the thread; a fault ends it */
    void *context;
};

/* Start the thread. Options are copied, what they point to is borrowed until upkeep_stop. 0 or a fault. */
int upkeep_start(struct upkeep **out, const struct upkeep_options *options);

/* A descriptor that can be read once the thread has ended by itself. */
int upkeep_fd(const struct upkeep *upkeep);

/*
 * Tell the thread to end and wait for it, at most `patience_ms`. What it ended with: 0 or a fault; MIRE_FAULT_TIMEOUT:
 * it still waits for the database, uses what it borrowed, and the program should end. NULL is fine.
 */
int upkeep_stop(struct upkeep *upkeep, int patience_ms);

#endif
