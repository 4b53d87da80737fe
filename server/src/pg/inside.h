/*
 * inside.h - what the files of pg/ share and nobody else sees.
 */
#ifndef MIRE_PG_INSIDE_H
#define MIRE_PG_INSIDE_H

#include "base/text.h"
#include "pg/pg.h"

#include <libpq-fe.h>

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

#endif
