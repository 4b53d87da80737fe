/*
 * wait.c - waiting for an answer of the database, as long as the database is alive.
 *
 * libpq waits without a limit. A frozen server, or a network that drops packets, would hold every thread in this way.
 * These functions send without blocking, wait in steps, and give up when the pool's watch has found the database dead.
 */
#include "pg/inside.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>

#define COPY_BYTES (256u << 10) /* given to libpq at once */

#define STEP_MS 100 /* between two looks at whether the database is alive */

/* Wait until the socket may be read, or written if `writes`. False: the database is dead; the connection is broken. */
static bool wait_step(struct pg_tx *tx, bool writes)
{
    struct pollfd socket = {.fd = PQsocket(tx->conn), .events = (short)(POLLIN | (writes ? POLLOUT : 0))};
    while (!tx->broken) {
        int ready = poll(&socket, 1, STEP_MS);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
        if (tx->pool && pg_is_frozen(tx->pool))
            tx->broken = true;
    }
    return false;
}

/* Send the buffered bytes. Answers are read meanwhile, because the server may wait for that. */
static bool flush(struct pg_tx *tx)
{
    int left;
    while ((left = PQflush(tx->conn)) > 0)
        if (!wait_step(tx, true) || !PQconsumeInput(tx->conn))
            return false;
    return left == 0;
}

bool pg_wait_connected(struct pg_tx *tx, uint64_t until_ns)
{
    PostgresPollingStatusType next =
        PQstatus(tx->conn) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;

    while (next == PGRES_POLLING_READING || next == PGRES_POLLING_WRITING) {
        struct pollfd socket = {.fd = PQsocket(tx->conn), .events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        int ready = poll(&socket, 1, STEP_MS);
        if (pg_is_frozen(tx->pool) || clock_mono_ns() >= until_ns || (ready < 0 && errno != EINTR))
            return false;
        if (ready > 0)
            next = PQconnectPoll(tx->conn);
    }
    return next == PGRES_POLLING_OK;
}

PGresult *pg_wait_result(struct pg_tx *tx)
{
    if (tx->broken || !flush(tx))
        return NULL;
    while (PQisBusy(tx->conn))
        if (!wait_step(tx, false) || !PQconsumeInput(tx->conn))
            return NULL;
    return PQgetResult(tx->conn);
}

/* The result of a sent command: the last of several statements, or the first that failed. */
static PGresult *collect(struct pg_tx *tx, int sent)
{
    PGresult *kept = NULL;
    if (!sent)
        return NULL;
    for (PGresult *next; (next = pg_wait_result(tx));) {
        if (kept && PQresultStatus(kept) == PGRES_FATAL_ERROR) {
            PQclear(next);
            continue;
        }
        PQclear(kept);
        kept = next;
    }
    if (!tx->broken)
        return kept;
    PQclear(kept);
    return NULL;
}

PGresult *pg_exec(struct pg_tx *tx, const char *sql)
{
    pg_count(tx);
    return collect(tx, PQsendQuery(tx->conn, sql));
}

PGresult *pg_prepare(struct pg_tx *tx, const char *name, const char *sql, const struct pg_wire *wire)
{
    return collect(tx, PQsendPrepare(tx->conn, name, sql, wire->count, wire->types));
}

int pg_send(struct pg_tx *tx, const char *name, const char *sql, const struct pg_wire *wire)
{
    pg_count(tx);
    return name[0] ? PQsendQueryPrepared(tx->conn, name, wire->count, wire->values, wire->lengths, wire->formats, 1)
                   : PQsendQueryParams(tx->conn, sql, wire->count, wire->types, wire->values, wire->lengths,
                                       wire->formats, 1);
}

PGresult *pg_run(struct pg_tx *tx, const char *name, const char *sql, const struct pg_wire *wire)
{
    return collect(tx, pg_send(tx, name, sql, wire));
}

PGresult *pg_copy_in(struct pg_tx *tx, const char *sql, const char *bytes, size_t len)
{
    PGresult *result = PQsendQuery(tx->conn, sql) ? pg_wait_result(tx) : NULL;
    bool sent = PQresultStatus(result) == PGRES_COPY_IN;
    size_t at = 0;

    while (sent && at < len) {
        int part = (int)(len - at < COPY_BYTES ? len - at : COPY_BYTES);
        sent = PQputCopyData(tx->conn, bytes + at, part) > 0 && flush(tx);
        at += (size_t)part;
    }
    if (!sent) {
        tx->broken |= PQresultStatus(result) == PGRES_COPY_IN; /* how much of it went out is unknown */
        return result;
    }
    PQclear(result);
    return collect(tx, PQputCopyEnd(tx->conn, NULL) > 0);
}
