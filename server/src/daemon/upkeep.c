/*
 * upkeep.c - makes the database ready, then keeps its partitions, merges rollups, moves ramps on, looks at ignored and at
 * new issues, sweeps the contents of debug files, and archives or deletes issues without reports.
 */
#include "daemon/upkeep.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/scope.h"
#include "daemon/idle.h"
#include "daemon/merges.h"
#include "daemon/owners.h"
#include "daemon/ramps.h"
#include "daemon/triage.h"
#include "postgres/distribute.h"
#include "postgres/embedded.h"
#include "postgres/migrate.h"
#include "pg/pg.h"
#include "rows/demo.h"
#include "rows/rollup.h"
#include "rows/symbol.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>

#define DAYS_BACK     2     /* a report that waited on the device for the weekend finds its partition */
#define DAYS_AHEAD    3     /* partitions made in advance: time to notice that making them fails */
#define ROUND_MS      60000 /* between two looks at the ramps */
#define ROUNDS        60    /* of those, between two looks at the partitions */
#define RETRY_MS      500   /* between two tries to reach a database that is away */
#define REMOVED_BYTES (1u << 20)
#define PROBE_MS      50 /* the same for the private cluster, which takes no time to refuse */

struct upkeep {
    struct upkeep_options options;
    pthread_t thread;
    int ended_fd; /* eventfd, raised by the thread at its end */
    int stop_fd;  /* eventfd, raised by upkeep_stop */
    int rc;       /* read after the thread was joined */
};

/* Wait `ms`, less if we are told to end. True: we are. */
static bool rest(const struct upkeep *upkeep, int ms)
{
    struct pollfd stop = {.fd = upkeep->stop_fd, .events = POLLIN};
    return poll(&stop, 1, ms) > 0;
}

static int await_cluster(const struct upkeep *upkeep)
{
    struct problem problem = MIRE_PROBLEM_INIT;
    int rc = upkeep->options.embedded ? MIRE_FAULT_AWAY : 0;
    while (rc == MIRE_FAULT_AWAY && !rest(upkeep, PROBE_MS))
        rc = embedded_probe(upkeep->options.embedded, &problem);
    if (problem.code)
        log_event(upkeep->options.log, MIRE_LOG_ERROR, "postgres.failed", LOG_TEXT("why", problem.text));
    return rc;
}

static int keep_partitions(const struct upkeep *upkeep, struct pg *pg)
{
    int made, dropped;
    struct pg_days days = {
        .back = DAYS_BACK, .ahead = DAYS_AHEAD, .keep = upkeep->options.retention_days}; /* today: the database's */
    if (days.keep && days.back > days.keep)
        days.back = days.keep;
    int rc;
    do
        rc = pg_partition(&made, &dropped, pg, &days, upkeep->options.log);
    while (!rc && made && !rest(upkeep, 0));
    return rc;
}

/* Delete debug files that no report has frames of any more, and the contents of those that were replaced. */
static void sweep_symbols(const struct upkeep *upkeep)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int64_t deleted = 0;
    int rc = pg_begin(&tx, upkeep->options.pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_symbol_sweep(&deleted, tx, upkeep->options.unused_symbols_days);
    if (!rc)
        rc = pg_commit(&tx);
    if (!rc && deleted)
        log_event(upkeep->options.log, MIRE_LOG_INFO, "symbols.unused", LOG_NUMBER("deleted", deleted));
    if (rc)
        log_event(upkeep->options.log, MIRE_LOG_WARN, "symbols.sweep", LOG_TEXT("fault", fault_name(rc)),
                  LOG_TEXT("next", "The next round, in an hour, tries again."));
}

/* Delete the rows of removed apps. */
static void empty_removed(const struct upkeep *upkeep)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct arena arena;
    arena_init(&arena, REMOVED_BYTES);
    int rc = pg_begin(&tx, upkeep->options.pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_removed_empty(tx, &arena);
    if (!rc)
        rc = pg_commit(&tx);
    arena_fini(&arena);
    if (rc)
        log_event(upkeep->options.log, MIRE_LOG_WARN, "app.removed", LOG_TEXT("fault", fault_name(rc)),
                  LOG_TEXT("next", "The next round, in a minute, tries again."));
}

/* Add to their cells the events that came since the last round. Waiting deltas are no harm: readers add them. */
static void merge_rollups(const struct upkeep *upkeep)
{
    bool more = true;
    int rc = 0;
    while (!rc && more && !rest(upkeep, 0))
        rc = rows_rollups_merge(&more, upkeep->options.pg, clock_wall_us());
    if (rc)
        log_event(upkeep->options.log, MIRE_LOG_WARN, "rollup.merge", LOG_TEXT("fault", fault_name(rc)),
                  LOG_TEXT("next", "The next round, in a minute, tries again."));
}

/* Away, or another server holds the lock that makes them take turns. */
static bool can_wait(int rc)
{
    return rc == MIRE_FAULT_AWAY || rc == MIRE_FAULT_RACED || rc == MIRE_FAULT_TIMEOUT;
}

static void close_pool(struct pg **pg)
{
    pg_close(*pg);
}

/* Bring the tables up to date through a connection of our own: nobody else gets one before. */
static int prepare(const struct upkeep *upkeep)
{
    MIRE_SCOPED(close_pool) struct pg *pg = NULL;
    const struct log *log = upkeep->options.log;
    struct pg_options options = {.conninfo = upkeep->options.conninfo, .connections = 1, .wait_ms = 5000, .log = log};
    int applied;
    int rc = pg_open(&pg, &options);
    if (rc)
        return rc;
    do {
        rc = pg_migrate(&applied, pg, pg_migrations, pg_migration_count, log);
        if (!rc)
            rc = pg_distribute(pg, upkeep->options.spread, log);
        if (!rc)
            rc = keep_partitions(upkeep, pg);
    } while (can_wait(rc) && !rest(upkeep, RETRY_MS));
    if (rc && !can_wait(rc))
        log_event(log, MIRE_LOG_ERROR, "mired.no_database", LOG_TEXT("fault", fault_name(rc)));
    return rc;
}

static void *run(void *context)
{
    struct upkeep *upkeep = context;
    const struct upkeep_options *options = &upkeep->options;
    struct merges merges = {0};
    int rc = await_cluster(upkeep);
    if (!rc)
        rc = prepare(upkeep);
    if (!rc) {
        pg_release(options->pg);
        rc = options->on_ready(options->context);
    }
    if (!rc && !options->once)
        (void)triage_step(options->pg, options->log);
    if (!rc && !options->once)
        empty_removed(upkeep);
    for (int round = 1; !rc && !options->once && !rest(upkeep, ROUND_MS); round++) {
        (void)ramps_step(options->pg, options->log,
                         clock_wall_us()); /* a fault is logged, the next round tries again */
        (void)triage_step(options->pg, options->log);
        (void)owners_step(options->pg, options->log);
        (void)merges_step(&merges, options->pg, options->nearby, options->log, clock_wall_us());
        merge_rollups(upkeep);
        empty_removed(upkeep);
        if (round % ROUNDS == 0) {
            keep_partitions(upkeep, options->pg);
            sweep_symbols(upkeep);
            (void)idle_step(options->pg, options->log, options->idle_days);
        }
    }
    upkeep->rc = rc;
    eventfd_write(upkeep->ended_fd, 1);
    return NULL;
}

int upkeep_start(struct upkeep **out, const struct upkeep_options *options)
{
    struct upkeep *upkeep = calloc(1, sizeof *upkeep);
    if (!upkeep)
        return MIRE_FAULT_MEMORY;
    upkeep->options = *options;
    upkeep->ended_fd = eventfd(0, EFD_CLOEXEC);
    upkeep->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (upkeep->ended_fd >= 0 && upkeep->stop_fd >= 0 && !pthread_create(&upkeep->thread, NULL, run, upkeep)) {
        *out = upkeep;
        return 0;
    }
    close_fd(&upkeep->ended_fd);
    close_fd(&upkeep->stop_fd);
    free(upkeep);
    return MIRE_FAULT_SYSTEM;
}

int upkeep_fd(const struct upkeep *upkeep)
{
    return upkeep->ended_fd;
}

int upkeep_stop(struct upkeep *upkeep, int patience_ms)
{
    struct timespec until;
    if (!upkeep)
        return 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += patience_ms / 1000;
    eventfd_write(upkeep->stop_fd, 1);
    if (pthread_timedjoin_np(upkeep->thread, NULL, &until))
        return MIRE_FAULT_TIMEOUT;
    int rc = upkeep->rc;
    close_fd(&upkeep->ended_fd);
    close_fd(&upkeep->stop_fd);
    free(upkeep);
    return rc;
}
