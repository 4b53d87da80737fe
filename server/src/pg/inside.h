/*
 * inside.h - common parts of the files of pg/. Inside pg/ only.
 */
#ifndef MIRE_PG_INSIDE_H
#define MIRE_PG_INSIDE_H

#include "base/text.h"
#include "pg/pg.h"

#include <libpq-fe.h>
#include <pthread.h>

#define MIRE_PG_PARAMS_MAX     64
#define MIRE_PG_STATEMENTS_MAX 128 /* prepared statements of one connection; further ones are parsed each time */

/* Parameters in libpq's form. */
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

/* Append a value with its length before it, as COPY has it. */
void pg_wire_field(struct text *out, const struct pg_param *param);

/* A prepared statement of a connection. */
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
    bool open;   /* between BEGIN and its end */
    bool broken; /* not to be used again */
    int batched; /* statements sent in the open batch */
    char complaint[256];
    struct pg_statement statements[MIRE_PG_STATEMENTS_MAX];
    int statement_count;
};

struct pg_rows {
    PGresult *result;
};

/* --- wait.c: as libpq's, but they end when the database is frozen; tx->broken is set then */

/* Wait until the connection that PQconnectStartParams began is there. False: it failed, or was not there by `until_ns`. */
bool pg_wait_connected(struct pg_tx *tx, uint64_t until_ns);

/* The next result; NULL: there is none, or the connection is broken. */
PGresult *pg_wait_result(struct pg_tx *tx);

/* Run one command text and return its result; NULL: the connection gave none. */
PGresult *pg_exec(struct pg_tx *tx, const char *sql);
PGresult *pg_prepare(struct pg_tx *tx, const char *name, const char *sql, const struct pg_wire *wire);

/* Run a prepared statement, or with name "" the text. */
PGresult *pg_run(struct pg_tx *tx, const char *name, const char *sql, const struct pg_wire *wire);

/* Send a statement, as PQsendQuery does; 0: it could not be sent. */
int pg_send(struct pg_tx *tx, const char *name, const char *sql, const struct pg_wire *wire);

/* Run a COPY and send it these bytes. Its result; NULL: nothing came. */
PGresult *pg_copy_in(struct pg_tx *tx, const char *sql, const char *bytes, size_t len);

/* --- watch.c */

/* Start to ask the database regularly whether it answers. 0 or a fault. */
int pg_watch_start(struct pg *pg);
void pg_watch_stop(struct pg *pg);

/* The fault for a SQLSTATE; NULL or "": the connection was lost. */
int pg_fault_of(const char *sqlstate);

/* Store and log an error; returns the fault. `result` may be NULL. */
int pg_complain(struct pg_tx *tx, const PGresult *result, const char *sql);

/* Run one command (BEGIN, COMMIT ...). 0 or a fault. */
int pg_command(struct pg_tx *tx, const char *sql);

/*
 * Name of the prepared statement for a text and types; prepares it if `may_prepare`. 0, with "" if it is not prepared;
 * otherwise a fault.
 */
int pg_prepared(char name_out[16], struct pg_tx *tx, const char *sql, const struct pg_wire *wire, bool may_prepare);

const struct log *pg_log(const struct pg *pg);

/* Count a statement that is sent. */
void pg_count(struct pg_tx *tx);

/* State of watch.c for a pool. */
struct pg_pool_watch {
    pthread_t thread;
    bool is_started;
    int stop_fd;       /* eventfd */
    _Atomic int state; /* enum pg_health */
};

struct pg_pool_watch *pg_watch_of(struct pg *pg);
const char *pg_conninfo(const struct pg *pg);

#endif
