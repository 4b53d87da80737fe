/*
 * pool.c - connections: made when needed, lent to one transaction at a time, dropped when the database went away.
 *
 * `mutex` guards the idle list and the count; no call under it can block.
 */
#include "pg/inside.h"

#include "base/clock.h"
#include "base/log.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pg {
    char *conninfo;
    struct pg_options options;
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    struct pg_tx *idle;               /* newest first */
    int count;                        /* connections, idle and lent */
    _Atomic bool held;                /* no connection is lent; cleared once, by pg_release */
    _Atomic uint64_t last_refusal_ns; /* a refusal is logged once a second; written by any thread, relaxed */
    _Atomic uint64_t statements;      /* sent; written by any thread, relaxed */
    struct pg_pool_watch watch;
};

void pg_count(struct pg_tx *tx)
{
    if (tx->pool)
        atomic_fetch_add_explicit(&tx->pool->statements, 1, memory_order_relaxed);
}

uint64_t pg_statements(const struct pg *pg)
{
    return atomic_load_explicit(&pg->statements, memory_order_relaxed);
}

struct pg_pool_watch *pg_watch_of(struct pg *pg)
{
    return &pg->watch;
}

enum pg_health pg_health(const struct pg *pg)
{
    return atomic_load(&pg->held) ? MIRE_PG_AWAY : (enum pg_health)atomic_load(&pg->watch.state);
}

const char *pg_conninfo(const struct pg *pg)
{
    return pg->conninfo;
}

const struct log *pg_log(const struct pg *pg)
{
    return pg->options.log;
}

int pg_open(struct pg **out, const struct pg_options *options)
{
    struct pg *pg = calloc(1, sizeof *pg);
    if (!pg || !(pg->conninfo = strdup(options->conninfo))) {
        free(pg);
        return MIRE_FAULT_MEMORY;
    }
    pthread_condattr_t monotonic;
    pg->options = *options;
    pg->held = options->held;
    pthread_mutex_init(&pg->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pg->freed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int rc = options->watched ? pg_watch_start(pg) : 0;
    if (rc)
        pg_close(pg);
    else
        *out = pg;
    return rc;
}

void pg_release(struct pg *pg)
{
    atomic_store(&pg->held, false);
}

static void connection_free(struct pg_tx *tx)
{
    if (!tx)
        return;
    PQfinish(tx->conn);
    for (int i = 0; i < tx->statement_count; i++)
        free(tx->statements[i].sql);
    free(tx);
}

void pg_close(struct pg *pg)
{
    if (!pg)
        return;
    pg_watch_stop(pg);
    while (pg->idle) {
        struct pg_tx *tx = pg->idle;
        pg->idle = tx->next;
        connection_free(tx);
    }
    pthread_cond_destroy(&pg->freed);
    pthread_mutex_destroy(&pg->mutex);
    free(pg->conninfo);
    free(pg);
}

static void silence(void *context, const char *notice)
{
    (void)context;
    (void)notice; /* "relation exists, skipping" and the like; errors come as results */
}

static void log_refusal(struct pg *pg, const char *why)
{
    uint64_t now = clock_mono_ns();
    uint64_t last = atomic_load_explicit(&pg->last_refusal_ns, memory_order_relaxed);
    if (last && now - last < 1000000000u)
        return;
    atomic_store_explicit(&pg->last_refusal_ns, now, memory_order_relaxed);
    log_event(pg->options.log, MIRE_LOG_WARN, "pg.away", LOG_TEXT("why", why));
}

static struct pg_tx *connection_new(struct pg *pg)
{
    const char *names[] = {"fallback_application_name", "tcp_user_timeout", "dbname", NULL};
    const char *values[] = {"mired", "10000", pg->conninfo, NULL};
    int wait_ms = pg->options.wait_ms < 2000 ? 2000 : pg->options.wait_ms;
    struct pg_tx *tx = calloc(1, sizeof *tx);
    if (!tx)
        return NULL;
    tx->pool = pg;
    tx->conn = PQconnectStartParams(names, values, 1);
    if (!pg_wait_connected(tx, clock_mono_ns() + (uint64_t)wait_ms * 1000000)) {
        const char *why = PQerrorMessage(tx->conn);
        log_refusal(pg, *why ? why : "a connection was accepted and not answered");
        connection_free(tx);
        return NULL;
    }
    PQsetNoticeProcessor(tx->conn, silence, NULL);
    PQsetnonblocking(tx->conn, 1);
    PGresult *result = pg_exec(tx, "SET jit = off; SET max_parallel_workers_per_gather = 0; SET timezone = 'UTC';"
                                   "SET client_encoding = 'UTF8'; SET lock_timeout = '30s';"
                                   "SET idle_in_transaction_session_timeout = '5min'");
    bool ready = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (ready)
        return tx;
    log_refusal(pg, PQerrorMessage(tx->conn));
    connection_free(tx);
    return NULL;
}

/* An idle connection that has something to read was closed by the other side (or soon will be). */
static bool is_dead(struct pg_tx *tx)
{
    struct pollfd socket = {.fd = PQsocket(tx->conn), .events = POLLIN};
    return poll(&socket, 1, 0) != 0 && (!PQconsumeInput(tx->conn) || PQstatus(tx->conn) != CONNECTION_OK);
}

static void forget(struct pg *pg, struct pg_tx *tx)
{
    connection_free(tx);
    pthread_mutex_lock(&pg->mutex);
    pg->count--;
    pthread_cond_signal(&pg->freed);
    pthread_mutex_unlock(&pg->mutex);
}

/* An idle connection, or leave to make one (NULL and *make). Neither: none came free in time. */
static struct pg_tx *wait_for_turn(struct pg *pg, bool *make)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += pg->options.wait_ms / 1000;
    until.tv_nsec += (long)(pg->options.wait_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&pg->mutex);
    int waited = 0;
    while (!pg->idle && pg->count >= pg->options.connections && !waited)
        waited = pthread_cond_timedwait(&pg->freed, &pg->mutex, &until);
    struct pg_tx *tx = pg->idle;
    if (tx)
        pg->idle = tx->next;
    *make = !tx && pg->count < pg->options.connections;
    if (*make)
        pg->count++;
    pthread_mutex_unlock(&pg->mutex);
    return tx;
}

static struct pg_tx *take(struct pg *pg)
{
    bool make;
    struct pg_tx *tx;

    while ((tx = wait_for_turn(pg, &make)) && is_dead(tx))
        forget(pg, tx);
    if (!tx && make && !(tx = connection_new(pg)))
        forget(pg, NULL);
    if (!tx && !make)
        log_refusal(pg, "all connections are busy");
    return tx;
}

static void give_back(struct pg_tx *tx)
{
    struct pg *pg = tx->pool;

    if (tx->broken || PQstatus(tx->conn) != CONNECTION_OK || PQtransactionStatus(tx->conn) != PQTRANS_IDLE) {
        forget(pg, tx);
        return;
    }
    pthread_mutex_lock(&pg->mutex);
    tx->next = pg->idle;
    pg->idle = tx;
    pthread_cond_signal(&pg->freed);
    pthread_mutex_unlock(&pg->mutex);
}

static int begin(struct pg_tx *tx, const struct pg_options *options)
{
    char sql[320] = "BEGIN";

    if (tx->mode == MIRE_PG_EACH)
        return 0;
    /* A generic plan does not know which filters are empty. Sorting on disk makes distinct counts slow. */
    if (tx->mode == MIRE_PG_READ || tx->mode == MIRE_PG_GLANCE)
        snprintf(sql, sizeof sql,
                 "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = %d;"
                 " SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL work_mem = '32MB'; SET LOCAL jit = off;"
                 " SET LOCAL max_parallel_workers_per_gather = 0",
                 tx->mode == MIRE_PG_GLANCE ? options->glance_limit_ms : options->read_limit_ms);
    int rc = pg_command(tx, sql);
    tx->open = !rc;
    return rc;
}

int pg_begin(struct pg_tx **out, struct pg *pg, enum pg_mode mode)
{
    int rc = MIRE_FAULT_AWAY;

    if (atomic_load(&pg->held) || pg_is_frozen(pg))
        return rc;
    /* A connection that is lost at BEGIN has changed nothing: the next one may work. */
    for (int tries = 0; tries <= pg->options.connections && rc == MIRE_FAULT_AWAY && !pg_is_frozen(pg); tries++) {
        struct pg_tx *tx = take(pg);
        if (!tx)
            return MIRE_FAULT_AWAY;
        tx->mode = mode;
        tx->open = false;
        tx->complaint[0] = '\0';
        rc = begin(tx, &pg->options);
        if (!rc)
            *out = tx;
        else
            give_back(tx);
    }

    return rc;
}

int pg_commit(struct pg_tx **tx)
{
    struct pg_tx *mine = *tx;
    int rc = 0;

    *tx = NULL;
    if (mine->open) {
        PGresult *result = pg_exec(mine, "COMMIT");
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            rc = pg_complain(mine, result, "COMMIT");
        else if (strcmp(PQcmdStatus(result), "COMMIT") != 0)
            rc = MIRE_FAULT_SQL; /* the transaction had failed before, with a log line */
        mine->open = false;
        PQclear(result);
    }
    give_back(mine);
    return rc;
}

void pg_end(struct pg_tx **tx)
{
    struct pg_tx *mine = *tx;
    *tx = NULL;
    if (!mine)
        return;
    if (mine->open && !mine->broken && PQstatus(mine->conn) == CONNECTION_OK)
        PQclear(pg_exec(mine, "ROLLBACK"));
    mine->open = false;
    give_back(mine);
}

int pg_ping(struct pg *pg)
{
    struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_EACH);
    if (!rc)
        rc = pg_command(tx, "SELECT 1");
    pg_end(&tx);
    return rc;
}
