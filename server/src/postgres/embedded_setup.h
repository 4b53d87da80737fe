/*
 * embedded_setup.h - the private cluster before it runs. Inside postgres/ only.
 */
#ifndef MIRE_POSTGRES_EMBEDDED_SETUP_H
#define MIRE_POSTGRES_EMBEDDED_SETUP_H

#include "postgres/embedded.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/types.h>

/* Paths and the user of the cluster. */
struct embedded_place {
    char bin_dir[PATH_MAX];
    char cluster[PATH_MAX]; /* data_dir/postgres */
    char fresh[PATH_MAX];   /* data_dir/postgres.new: a cluster being made */
    char run_dir[PATH_MAX]; /* of the socket; only the cluster's user may enter */
    char log_path[PATH_MAX];
    char conninfo[PATH_MAX + 64];
    bool drops; /* we are root: change to uid and gid */
    uid_t uid;
    gid_t gid;
    char user[64];
};

/* Fill in everything; makes the directories. 0 or a fault with `problem`. */
int embedded_place_init(struct embedded_place *location, struct problem *problem,
                        const struct embedded_options *options);

/* Directory of the socket for a data directory: inside it, or under /tmp if that path would be too long. */
int embedded_run_dir(char *out, size_t room, const char *data_dir);

/* The connection string for a socket directory. False: it does not fit. */
bool embedded_conninfo_format(char *out, size_t room, const char *run_dir);

bool embedded_has_cluster(const struct embedded_place *location);

/* Start initdb in a directory aside; returns its process number, or -1. After its good end: rename the directory. */
pid_t embedded_begin_cluster(const struct embedded_place *location);
bool embedded_end_cluster(const struct embedded_place *location);

/* A postmaster of an earlier process that still runs on the cluster; 0: none. */
pid_t embedded_left_behind(const struct embedded_place *location);

/* The last complaint in PostgreSQL's log; "" if there is none. */
void embedded_last_words(char *out, size_t room, const struct embedded_place *location);

/*
 * Start a program as the cluster's user, in a session of its own, with its output in the log file. It gets
 * `death_signal` when the calling thread ends. Returns its process number, or -1.
 */
pid_t embedded_spawn(const struct embedded_place *location, int death_signal, char *const argv[]);

#endif
