/*
 * pg.h - the only door to PostgreSQL. No other folder includes libpq.
 *
 *     struct pg_tx *tx MIRE_SCOPED(pg_end) = NULL;
 *     struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
 *     int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
 *     if (!rc) rc = pg_query(&rows, tx, "SELECT slug FROM app WHERE app_id = $1", PG_INT4(app));
 *     if (!rc) rc = pg_commit(&tx);
 *
 * Parameters and results travel in binary. Statements are prepared once per connection, by their text. Instants are
 * microseconds since 1970 UTC, days are days since 1970-01-01. Faults: base/fault.h; a fault is logged here, once.
 * Threads: a pool is for all; a transaction and its rows belong to one thread at a time.
 */
#ifndef MIRE_PG_PG_H
#define MIRE_PG_PG_H

#include "base/fault.h"
#include "base/id.h"
#include "base/scope.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log;
struct pg;
struct pg_tx;
struct pg_rows;

struct pg_options {
    const char *conninfo; /* URL or key=value; copied */
    int connections;      /* at most so many */
    int wait_ms;          /* for a free or a new connection */
    int read_limit_ms;    /* statement timeout of MIRE_PG_READ transactions; 0: none */
    int glance_limit_ms;  /* the same of MIRE_PG_GLANCE */
    bool watched;         /* a thread asks the database every half second whether it answers: pg_health */
    bool held;            /* every pg_begin is MIRE_FAULT_AWAY at once, until pg_release */
    const struct log *log;
};

enum pg_mode {
    MIRE_PG_READ,   /* one snapshot for all its queries, read only */
    MIRE_PG_GLANCE, /* the same, for questions that are given up soon: MIRE_FAULT_TIMEOUT is no news, and not logged */
    MIRE_PG_WRITE,  /* read committed */
    MIRE_PG_EACH,   /* no transaction: each statement or batch commits by itself */
};

/* A pool; connects when needed, so it opens while the database is away. 0 or MIRE_FAULT_MEMORY. */
int pg_open(struct pg **out, const struct pg_options *options);

/* The tables are ready: lend connections from now on. */
void pg_release(struct pg *pg);

/* All transactions must have ended. NULL is fine. */
void pg_close(struct pg *pg);

/* Ask the database for an answer. 0 or MIRE_FAULT_AWAY. */
int pg_ping(struct pg *pg);

/* Statements sent by the pool since pg_open, BEGIN and COMMIT included. Any thread. */
uint64_t pg_statements(const struct pg *pg);

/* The result of the pool's own watch, at most a second old. */
enum pg_health {
    MIRE_PG_UNKNOWN, /* not asked yet, or options.watched is not set */
    MIRE_PG_WELL,
    MIRE_PG_AWAY,   /* no connection can be made, or the tables are not ready */
    MIRE_PG_FROZEN, /* it accepts connections, and does not answer: no transaction begins, and waiting ones end */
};
enum pg_health pg_health(const struct pg *pg);
bool pg_is_frozen(const struct pg *pg);

/* Begin on a connection of the pool. 0, MIRE_FAULT_AWAY (not reachable, or none came free in time) or another fault. */
int pg_begin(struct pg_tx **out, struct pg *pg, enum pg_mode mode);

/*
 * Commit and return the connection to the pool; *tx is NULL afterwards in any case. 0 or a fault. After MIRE_FAULT_AWAY
 * the database may have committed: repeat only a transaction that may be repeated.
 */
int pg_commit(struct pg_tx **tx);

/* Roll back uncommitted work and return the connection to the pool. *tx may be NULL. */
void pg_end(struct pg_tx **tx);

/* Set a savepoint in a transaction; and undo all work since the newest savepoint, and remove it. 0 or a fault. */
int pg_save(struct pg_tx *tx);
int pg_undo(struct pg_tx *tx);

enum pg_kind {
    MIRE_PG_NULL,
    MIRE_PG_BOOL,
    MIRE_PG_INT2,
    MIRE_PG_INT4,
    MIRE_PG_INT8,
    MIRE_PG_REAL, /* float8 */
    MIRE_PG_TEXT,
    MIRE_PG_BYTES,
    MIRE_PG_UUID,
    MIRE_PG_TIME, /* timestamptz */
    MIRE_PG_DAY,  /* date */
};

struct pg_bytes {
    const void *bytes;
    size_t len;
};

/* One parameter. A list: `list` points to `count` of the kind's C type, below. */
struct pg_param {
    enum pg_kind kind;
    bool is_list;
    size_t count;
    union {
        int64_t integer;
        double real;
        struct pg_bytes bytes;
        const void *list;
    };
};

/* clang-format off */
#define PG_ARG(k, field, ...) ((struct pg_param){.kind = (k), .field = __VA_ARGS__})
#define PG_NULL()       ((struct pg_param){.kind = MIRE_PG_NULL})
#define PG_BOOL(v)      PG_ARG(MIRE_PG_BOOL, integer, (v) ? 1 : 0)
#define PG_INT2(v)      PG_ARG(MIRE_PG_INT2, integer, (v))
#define PG_INT4(v)      PG_ARG(MIRE_PG_INT4, integer, (v))
#define PG_INT8(v)      PG_ARG(MIRE_PG_INT8, integer, (v))
#define PG_REAL(v)      PG_ARG(MIRE_PG_REAL, real, (v))
#define PG_TEXT(v)      pg_text_param(v)                                     /* C string; NULL is null */
#define PG_BYTES(p, n)  PG_ARG(MIRE_PG_BYTES, bytes, {(p), (n)})
#define PG_UUID(v)      PG_ARG(MIRE_PG_UUID, bytes, {(v)->bytes, 16})          /* const struct uuid * */
#define PG_TIME(v)      PG_ARG(MIRE_PG_TIME, integer, (v))
#define PG_DAY(v)       PG_ARG(MIRE_PG_DAY, integer, (v))
#define PG_LIST(k, p, n) ((struct pg_param){.kind = (k), .is_list = true, .count = (n), .list = (p)})
#define PG_INT2S(p, n)  PG_LIST(MIRE_PG_INT2, p, n)   /* const int16_t * */
#define PG_INT4S(p, n)  PG_LIST(MIRE_PG_INT4, p, n)   /* const int32_t * */
#define PG_INT8S(p, n)  PG_LIST(MIRE_PG_INT8, p, n)   /* const int64_t * */
#define PG_REALS(p, n)  PG_LIST(MIRE_PG_REAL, p, n)   /* const double * */
#define PG_TEXTS(p, n)  PG_LIST(MIRE_PG_TEXT, p, n)   /* const char *const *; NULL is null */
#define PG_BYTESS(p, n) PG_LIST(MIRE_PG_BYTES, p, n)  /* const struct pg_bytes *; bytes NULL is null */
#define PG_UUIDS(p, n)  PG_LIST(MIRE_PG_UUID, p, n)   /* const struct uuid * */
#define PG_TIMES(p, n)  PG_LIST(MIRE_PG_TIME, p, n)   /* const int64_t * */
#define PG_DAYS(p, n)   PG_LIST(MIRE_PG_DAY, p, n)    /* const int32_t * */
/* clang-format on */

static inline struct pg_param pg_text_param(const char *text)
{
    size_t len = text ? __builtin_strlen(text) : 0;
    return (struct pg_param){.kind = text ? MIRE_PG_TEXT : MIRE_PG_NULL, .bytes = {text, len}};
}

/*
 * Run one statement. rows_out may be NULL if the rows are not needed; otherwise free them with pg_rows_free. 0 or a
 * fault; after a fault inside a transaction only pg_undo and pg_end are allowed.
 */
int pg_query_list(struct pg_rows **rows_out, struct pg_tx *tx, const char *sql, const struct pg_param *params,
                  size_t count);
#define pg_query(rows_out, tx, sql, ...) \
    pg_query_list(rows_out, tx, sql, PG_PARAMS_(__VA_ARGS__), PG_PARAM_COUNT_(__VA_ARGS__))
#define PG_PARAMS_(...) ((const struct pg_param[]){{.kind = MIRE_PG_NULL} __VA_OPT__(, ) __VA_ARGS__} + 1)
#define PG_PARAM_COUNT_(...) \
    (sizeof((struct pg_param[]){{.kind = MIRE_PG_NULL} __VA_OPT__(, ) __VA_ARGS__}) / sizeof(struct pg_param) - 1)

/*
 * Several statements in one round trip. In mode MIRE_PG_EACH the batch is one transaction: all or none. Results must be
 * small (a few rows each). pg_batch_end stores the number of rows that each statement touched in counts_out (may be
 * NULL).
 */
int pg_batch_begin(struct pg_tx *tx);
int pg_batch_add(struct pg_tx *tx, const char *sql, const struct pg_param *params, size_t count);
int pg_batch_end(struct pg_tx *tx, int64_t *counts_out, size_t count);

/*
 * Rows into one table, by COPY: half the work of an INSERT. `sql` is "COPY table (columns) FROM STDIN BINARY"; each
 * value's kind must be the column's type. A row that is there already is a fault. Nothing is sent before pg_copy_end.
 */
struct pg_copy {
    struct text bytes;
    size_t rows;
};
void pg_copy_row(struct pg_copy *copy, const struct pg_param *params, size_t count);
#define pg_copy(copy, ...) pg_copy_row(copy, PG_PARAMS_(__VA_ARGS__), PG_PARAM_COUNT_(__VA_ARGS__))
int pg_copy_end(struct pg_tx *tx, const char *sql, struct pg_copy *copy); /* 0 or a fault */
void pg_copy_fini(struct pg_copy *copy);

/* Several statements without parameters in one text, as migrations are. 0 or a fault. */
int pg_script(struct pg_tx *tx, const char *sql);

/* The database's message about the last fault of this transaction; "" if there is none. Owned by tx. */
const char *pg_complaint(const struct pg_tx *tx);

void pg_rows_free(struct pg_rows **rows);
size_t pg_row_count(const struct pg_rows *rows);
int64_t pg_touched(const struct pg_rows *rows); /* rows inserted, updated or deleted */

/* Values. Row and column count from 0. A null reads as false, 0, "" or no bytes; ask pg_is_null where it matters. */
bool pg_is_null(const struct pg_rows *rows, size_t row, int column);
bool pg_bool(const struct pg_rows *rows, size_t row, int column);
int64_t pg_int(const struct pg_rows *rows, size_t row, int column);      /* int2, int4, int8 */
double pg_real(const struct pg_rows *rows, size_t row, int column);      /* float4, float8 */
const char *pg_text(const struct pg_rows *rows, size_t row, int column); /* NUL-terminated; lives as long as rows */
struct pg_bytes pg_bytes(const struct pg_rows *rows, size_t row, int column);
struct uuid pg_uuid(const struct pg_rows *rows, size_t row, int column);
int64_t pg_time(const struct pg_rows *rows, size_t row, int column); /* microseconds since 1970; INT64_MAX: infinity */
int32_t pg_day(const struct pg_rows *rows, size_t row, int column);  /* days since 1970-01-01 */

#endif
