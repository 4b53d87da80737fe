/* sweep.c - see sweep.h. */
#include "daemon/sweep.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/scope.h"
#include "daemon/idle.h"
#include "pg/pg.h"
#include "rows/retention.h"

#include <inttypes.h>
#include <unistd.h>

#define CONNINFO_MAX 1024
#define TEXTS_MAX    (1u << 20)
#define LIMIT_MS     600000 /* every report is counted */

static void close_pool(struct pg **pg)
{
    pg_close(*pg);
}

static void print_app(FILE *out, const struct retention_app *app)
{
    char day[32];
    clock_format(day, (int64_t)app->oldest * 86400 * 1000000);
    if (!app->keep_days)
        fprintf(out, "%-24s keeps reports for ever\n", app->slug);
    else if (!app->reports)
        fprintf(out, "%-24s keeps %" PRId64 " days: nothing is due\n", app->slug, app->keep_days);
    else
        fprintf(out,
                "%-24s keeps %" PRId64 " days: %" PRId64 " reports of %" PRId64 " days are due, %" PRId64
                " bytes, the oldest of %.10s\n",
                app->slug, app->keep_days, app->reports, app->days, app->bytes, day);
}

static void print_rest(FILE *out, const struct retention_rest *rest)
{
    fprintf(out, "%" PRId64 " rows of the inbox and %" PRId64 " dead letters have no report\n", rest->inbox,
            rest->dead_letters);
    fprintf(out, "%" PRId64 " bytes are of debug files that were replaced, %" PRId64 " uploads stopped a day ago\n",
            rest->contents_bytes, rest->uploads);
    fprintf(out, "%" PRId64 " debug files are in no report's frames any more (unused_symbols_days)\n", rest->unused);
    fprintf(out, "Nothing was deleted. mired deletes what is due: the oldest day, once an hour.\n");
}

static int print_sweep(struct pg *pg, const struct config *config, int ahead_days, FILE *out)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(arena_fini) struct arena arena;
    struct retention_app *apps = NULL;
    struct retention_rest rest;
    size_t count = 0;
    arena_init(&arena, TEXTS_MAX);
    int rc = pg_begin(&tx, pg, MIRE_PG_READ);
    if (!rc)
        rc = rows_retention_read(&apps, &count, tx, &arena, (int32_t)config_number(config, MIRE_SET_RETENTION_DAYS),
                                 ahead_days);
    if (!rc)
        rc = rows_retention_rest(&rest, tx, (int32_t)config_number(config, MIRE_SET_UNUSED_SYMBOLS_DAYS), ahead_days);
    for (size_t i = 0; !rc && i < count; i++)
        print_app(out, &apps[i]);
    if (!rc)
        rc = idle_print(tx, out, (int)config_number(config, MIRE_SET_IDLE_DAYS), ahead_days);
    if (!rc)
        print_rest(out, &rest);
    return rc;
}

int sweep_preview(const struct config *config, int ahead_days, FILE *out)
{
    MIRE_SCOPED(close_pool) struct pg *pg = NULL;
    char conninfo[CONNINFO_MAX];
    const struct log errors = {.fd = STDERR_FILENO, .least = MIRE_LOG_ERROR};
    struct pg_options options = {
        .conninfo = conninfo, .connections = 1, .wait_ms = 3000, .read_limit_ms = LIMIT_MS, .log = &errors};
    bool is_told = !config_conninfo(conninfo, sizeof conninfo, config) && !pg_open(&pg, &options) && !pg_ping(pg) &&
                   !print_sweep(pg, config, ahead_days, out);
    if (!is_told)
        fprintf(stderr, "mired: the database cannot be asked; mired doctor says why\n");
    return !is_told;
}
