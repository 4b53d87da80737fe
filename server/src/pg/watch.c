/*
 * watch.c - the thread that asks the database whether it answers, on its own connection.
 *
 * A server that is stopped, or hangs in its disk, still accepts connections, because the kernel does that. Only a
 * missing answer shows it. Every waiting thread reads the result of this thread (wait.c).
 */
#include "pg/inside.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

#define BETWEEN_MS 400  /* two questions */
#define ANSWER_MS  1400 /* time limit of an answer */

bool pg_is_frozen(const struct pg *pg)
{
    return atomic_load(&pg_watch_of((struct pg *)(uintptr_t)pg)->state) == MIRE_PG_FROZEN;
}

/* Wait for `what` on the socket until the deadline. False: it did not come. */
static bool await(const struct pg_pool_watch *watch, PGconn *conn, short what, uint64_t until_ns)
{
    uint64_t now_ns = clock_mono_ns();
    struct pollfd fds[2] = {{.fd = PQsocket(conn), .events = what}, {.fd = watch->stop_fd, .events = POLLIN}};
    return now_ns < until_ns && poll(fds, 2, (int)((until_ns - now_ns) / 1000000 + 1)) > 0 && !fds[1].revents;
}

/* Open a connection within the time. *frozen: it was accepted and not answered. */
static PGconn *connect_within(bool *frozen, const struct pg *pg, const struct pg_pool_watch *watch, uint64_t until_ns)
{
    const char *names[] = {"fallback_application_name", "dbname", NULL};
    const char *values[] = {"mired watch", pg_conninfo(pg), NULL};
    PGconn *conn = PQconnectStartParams(names, values, 1);
    PostgresPollingStatusType status = conn ? PGRES_POLLING_WRITING : PGRES_POLLING_FAILED;
    if (conn && PQstatus(conn) == CONNECTION_BAD)
        status = PGRES_POLLING_FAILED;
    while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED) {
        if (!await(watch, conn, status == PGRES_POLLING_READING ? POLLIN : POLLOUT, until_ns)) {
            *frozen = true;
            break;
        }
        status = PQconnectPoll(conn);
    }
    if (status == PGRES_POLLING_OK && !PQsetnonblocking(conn, 1))
        return conn;
    PQfinish(conn);
    return NULL;
}

/* Ask on it. False: no answer in time (*frozen), or the connection ended. */
static bool answers(bool *frozen, PGconn *conn, const struct pg_pool_watch *watch, uint64_t until_ns)
{
    bool good = PQsendQuery(conn, "SELECT 1") != 0;
    while (good && PQflush(conn) > 0)
        good = await(watch, conn, POLLOUT, until_ns);
    while (good && PQisBusy(conn)) {
        *frozen = !await(watch, conn, POLLIN, until_ns);
        good = !*frozen && PQconsumeInput(conn);
    }
    for (PGresult *result; good && (result = PQgetResult(conn)); PQclear(result))
        good = PQresultStatus(result) == PGRES_TUPLES_OK;
    return good;
}

static void *watch_run(void *context)
{
    struct pg *pg = context;
    struct pg_pool_watch *watch = pg_watch_of(pg);
    struct pollfd stop = {.fd = watch->stop_fd, .events = POLLIN};
    PGconn *conn = NULL;
    do {
        bool frozen = false;
        uint64_t until_ns = clock_mono_ns() + ANSWER_MS * UINT64_C(1000000);
        if (conn && !answers(&frozen, conn, watch, until_ns)) {
            PQfinish(conn);
            conn = NULL;
        } else if (!conn && (conn = connect_within(&frozen, pg, watch, until_ns))) {
            frozen = false;
        }
        int state = frozen ? MIRE_PG_FROZEN : MIRE_PG_AWAY;
        if (conn)
            state = MIRE_PG_WELL;
        int was = atomic_exchange(&watch->state, state);
        if (was != state && (state == MIRE_PG_FROZEN || was == MIRE_PG_FROZEN))
            log_event(pg_log(pg), MIRE_LOG_WARN, "pg.frozen", LOG_NUMBER("frozen", state == MIRE_PG_FROZEN));
    } while (poll(&stop, 1, BETWEEN_MS) <= 0);
    PQfinish(conn);
    return NULL;
}

int pg_watch_start(struct pg *pg)
{
    struct pg_pool_watch *watch = pg_watch_of(pg);
    watch->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (watch->stop_fd >= 0 && !pthread_create(&watch->thread, NULL, watch_run, pg)) {
        watch->is_started = true;
        return 0;
    }
    close_fd(&watch->stop_fd);
    return MIRE_FAULT_SYSTEM;
}

void pg_watch_stop(struct pg *pg)
{
    struct pg_pool_watch *watch = pg_watch_of(pg);
    if (!watch->is_started)
        return;
    eventfd_write(watch->stop_fd, 1);
    pthread_join(watch->thread, NULL);
    close_fd(&watch->stop_fd);
    watch->is_started = false;
}
