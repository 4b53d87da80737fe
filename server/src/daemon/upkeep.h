/*
 * upkeep.h - the thread that makes the database ready and maintains it.
 *
 *     private cluster answers -> migrations -> partitions -> pool released -> on_ready -> partitions, each hour
 *
 * The thread waits for an unreachable database without limit. An error that waiting cannot cure ends the thread.
 */
#ifndef MIRE_DAEMON_UPKEEP_H
#define MIRE_DAEMON_UPKEEP_H

#include <stdbool.h>

struct embedded;
struct log;
struct nearby;
struct pg;
struct upkeep;

struct upkeep_options {
    struct embedded *embedded; /* NULL: mired does not run the database */
    const char *conninfo;
    struct pg *pg;         /* held; released when the tables are ready */
    struct nearby *nearby; /* NULL: no issue is merged by itself in this process */
    int retention_days, unused_symbols_days, idle_days;
    bool once;   /* end when ready */
    bool spread; /* spread the tables over the machines of a Citus cluster */
    const struct log *log;
    int (*on_ready)(void *context); /* called once, in the thread; a fault ends it */
    void *context;
};

/* Start the thread. Options are copied; the objects they point to are borrowed until upkeep_stop. 0 or a fault. */
int upkeep_start(struct upkeep **out, const struct upkeep_options *options);

/* A descriptor that can be read once the thread has ended by itself. */
int upkeep_fd(const struct upkeep *upkeep);

/*
 * Ask the thread to end and wait for at most `patience_ms`. Returns the thread's result, 0 or a fault.
 * MIRE_FAULT_TIMEOUT: the thread is still waiting for the database and uses the borrowed objects, so the program should
 * end without freeing them. NULL is allowed.
 */
int upkeep_stop(struct upkeep *upkeep, int patience_ms);

#endif
