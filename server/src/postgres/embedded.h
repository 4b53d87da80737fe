/*
 * embedded.h - a private PostgreSQL cluster in the data directory, for servers without a database.
 *
 *     data_dir/            ours
 *     data_dir/postgres/   the cluster; owned by an unprivileged user when we are root
 *     socket directory     unix socket only, nothing listens on the network
 *
 * A keeper thread starts the postmaster, waits for it and starts it again when it dies. The postmaster gets SIGINT
 * (fast shutdown) when this process dies in any way. A postmaster that still runs at the start is waited for.
 */
#ifndef MIRE_POSTGRES_EMBEDDED_H
#define MIRE_POSTGRES_EMBEDDED_H

#include "base/problem.h"

#include <stdbool.h>
#include <stddef.h>

struct log;
struct embedded;

struct embedded_options {
    const char *data_dir; /* must exist */
    const char *bin_dir;  /* where initdb and postgres are; NULL: look in the usual places and PATH */
    const struct log *log;
};

/*
 * Take the data directory and begin. The keeper thread waits for the end of a postmaster of an earlier process, creates
 * a missing cluster, and starts the postmaster. This call does not wait for it. 0, or a fault, with the cause and the
 * remedy in `problem`.
 */
int embedded_start(struct embedded **out, struct problem *problem, const struct embedded_options *options);

/* Does the database answer? 0; MIRE_FAULT_AWAY: not yet; another fault with `problem`: it cannot be created or
 * started. */
int embedded_probe(struct embedded *embedded, struct problem *problem);

/* Its socket, as a libpq connection string; owned by `embedded`. */
const char *embedded_conninfo(const struct embedded *embedded);

/* Fast shutdown; waits for the end. NULL is fine. */
void embedded_stop(struct embedded *embedded);

/*
 * The connection string of the cluster in `data_dir` for a client that does not run it (mire key create). Written to
 * `out`. 0, or MIRE_FAULT_AWAY if there is no cluster.
 */
int embedded_find(char *out, size_t room, const char *data_dir);

/* Does a mired run on `data_dir`, even if its cluster does not answer yet? False also if this user has no permission to
 * ask. */
bool embedded_is_kept(const char *data_dir);

#endif
