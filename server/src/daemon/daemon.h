/*
 * daemon.h - mired's roles: what runs, in which order it starts and stops.
 *
 *     start   private cluster (begins) -> pool (held) -> ingest -> http -> upkeep
 *     upkeep  cluster answers -> migrate, partitions -> pool released -> workers -> ready
 *     stop    http (finishes its requests) -> upkeep -> ingest -> workers -> pool -> private cluster
 *
 * http listens from the start. Until the tables are ready, requests that need the database are answered 503.
 */
#ifndef MIRE_DAEMON_DAEMON_H
#define MIRE_DAEMON_DAEMON_H

#include "daemon/config.h"

enum daemon_role {
    MIRE_ROLE_HTTP = 1, /* take reports in, answer the API */
    MIRE_ROLE_WORK = 2, /* work on reports */
    MIRE_ROLE_SERVE = MIRE_ROLE_HTTP | MIRE_ROLE_WORK,
    MIRE_ROLE_MIGRATE = 0, /* bring the tables up to date and end */
    MIRE_ROLE_SPREAD = 4,  /* the same, and spread them over the machines of a Citus cluster */
};

/* Run until SIGTERM or SIGINT. 0 or the program's exit status. */
int daemon_run(const struct config *config, enum daemon_role role);

#endif
