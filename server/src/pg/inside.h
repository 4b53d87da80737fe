/*
 * inside.h - what the files of pg/ share and nobody else sees.
 */
#ifndef MIRE_PG_INSIDE_H
#define MIRE_PG_INSIDE_H

#include "base/text.h"
#include "pg/pg.h"

#include <libpq-fe.h>
#include <pthread.h>

#define MIRE_PG_PARAMS_MAX     64
#define MIRE_PG_STATEMENTS_MAX 128 /* prepared on one connection; what comes later is parsed each time */

/* Parameters as libpq wants them. */
struct pg_wire {
    int count;
    Oid types[MIRE_PG_PARAMS_MAX];
    const char *values[MIRE_PG_PARAMS_MAX];
    int lengths[MIRE_PG_PARAMS_MAX];
    int formats[MIRE_PG_PARAMS_MAX];
    struct text scratch; /* numbers and lists */
};

/* Encode; the wire borrows texts and bytes from `params`. 0 or a fault. pg_wire_fini either way. */
int pg_wire_init(struct pg_wire *wire, const struct pg_param *params, size_t count);
void pg_wire_fini(struct pg_wire *wire);

/* A statement this connection has prepared. */
struct pg_statement {
    char *sql;
    uint64_t hash; /* of text and types */
};

/* One connection; lent out as a transaction. */
struct pg_tx {
    struct pg *pool;
    PGconn *conn;
    struct pg_tx *next; /* in the pool's list of idle ones */
    enum pg_mode mode;
    bool open;   /* BEGIN was done and nothing has ended it */
    bool broken; /* not to be used again */
    int batched; /* statements sent in the batch that is open */
    char complaint[256];
    struct pg_statement statements[MIRE_PG_STATEMENTS_MAX];
    int statement_count;
};

struct pg_rows {
    PGresult *result;
};

/* --- wait.c: as libpq's, but they end when the database is frozen; tx->broken is set then */

/* The next result; NULL: there is none, or the connection is broken. */
PGresult *pg_wait_result(struct pg_tx *tx);

/* Run one command text and give its result; NULL: nothing came. */
PGresult *pg_exec(struct pg_tx *tx, const char *sql);
PGresult *pg_prepare(struct pg_tx *tx, const char *name, const char *sql, const struct pg_wire *wire);

/* Run a prepared statement, or with name "" the text. */
PGresult *pg_run(struct pg_tx *tx, const char *name, const char *sql, const struct pg_wire *wire);

/* Send it, as PQsendQuery does; 0: it could not be. */
int pg_send(struct pg_tx *tx, const char *name, const char *sql, const struct pg_wire *wire);

/* --- watch.c */

/* Ask the database by itself every so often whether it answers. 0 or a fault. */
int pg_watch_start(struct pg *pg);
void pg_watch_stop(struct pg *pg);

/* The fault a SQLSTATE stands for; NULL or "": the connection was lost. */
int pg_fault_of(const char *sqlstate);

/* Note and log what went wrong; returns the fault. `result` may be NULL. */
int pg_complain(struct pg_tx *tx, const PGresult *result, const char *sql);

/* Run one command of our own (BEGIN, COMMIT ...). 0 or a fault. */
int pg_command(struct pg_tx *tx, const char *sql);

/*
 * Name of the prepared statement for text and types, preparing it if `may_prepare`. 0 and "" if it is not prepared;
 * else a fault.
 */
int pg_prepared(char name_out[16], struct pg_tx *tx, const char *sql, const struct pg_wire *wire, bool may_prepare);

const struct log *pg_log(const struct pg *pg);

/* What watch.c keeps of a pool. */
struct pg_pool_watch {
    pthread_t thread;
    bool is_started;
    int stop_fd;       /* eventfd */
    _Atomic int state; /* enum pg_health */
};

struct pg_pool_watch *pg_watch_of(struct pg *pg);
const char *pg_conninfo(const struct pg *pg);

#endif
