/*
 * daemon.c - wires the modules together. Nothing else in the server knows them all.
 */
#include "daemon/daemon.h"

#include "api/api.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/scope.h"
#include "daemon/door.h"
#include "daemon/health.h"
#include "http/http.h"
#include "inbox/inbox.h"
#include "ingest/ingest.h"
#include "pg/embedded.h"
#include "pg/migrate.h"
#include "pg/pg.h"
#include "work/work.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAYS_BACK     2    /* a report that waited on the device for the weekend finds its partition */
#define DAYS_AHEAD    3    /* partitions made in advance: time to notice that making them fails */
#define UPKEEP_S      3600 /* between two looks at the partitions */
#define READ_LIMIT_MS 20000
#define SYMBOL_DIRS   16
#define POOL_SPARE    3 /* connections beyond one a thread: upkeep, health, metrics */

struct daemon {
    const struct config *config;
    struct log log;
    sigset_t signals; /* that end us */
    struct embedded *embedded;
    struct pg *pg;
    struct inbox_bell *bell;
    struct work_options work_options; /* borrowed by work */
    struct work *work;
    struct ingest *ingest;
    struct http_server *http;
    struct health health;
    struct api api;
    struct http_table tables[4];
    char cache_dir[PATH_MAX];
    char symbol_dirs_text[MIRE_SETTING_MAX];
    const char *symbol_dirs[SYMBOL_DIRS];
    size_t symbol_dir_count;
};

/* Wait for a signal that ends us, at most `ms`. */
static bool told_to_end(struct daemon *daemon, long ms)
{
    struct timespec patience = {ms / 1000, ms % 1000 * 1000000};
    int got = sigtimedwait(&daemon->signals, NULL, &patience);
    if (got > 0)
        log_event(&daemon->log, MIRE_LOG_INFO, "mired.stopping", LOG_NUMBER("signal", got));
    return got > 0;
}

/* mkdir -p */
static int make_dirs(const char *path)
{
    char part[PATH_MAX];
    if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part)
        return MIRE_FAULT_SYSTEM;
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0755) && errno != EEXIST)
            return MIRE_FAULT_SYSTEM;
        *slash = '/';
    }
    return mkdir(part, 0755) && errno != EEXIST ? MIRE_FAULT_SYSTEM : 0;
}

static int prepare_dirs(struct daemon *daemon)
{
    const char *data_dir = config_text(daemon->config, MIRE_SET_DATA_DIR);
    snprintf(daemon->cache_dir, sizeof daemon->cache_dir, "%s/cache", data_dir);
    int rc = make_dirs(daemon->cache_dir);
    if (rc)
        log_event(&daemon->log, MIRE_LOG_ERROR, "mired.data_dir", LOG_TEXT("path", data_dir),
                  LOG_TEXT("why", strerror(errno)));
    return rc;
}

/* --- the database ------------------------------------------------------------------------------------------------ */

static int start_embedded(struct daemon *daemon)
{
    struct problem problem = MIRE_PROBLEM_INIT;
    const char *bin = config_text(daemon->config, MIRE_SET_POSTGRES_BIN);
    struct embedded_options options = {
        .data_dir = config_text(daemon->config, MIRE_SET_DATA_DIR), .bin_dir = *bin ? bin : NULL, .log = &daemon->log};
    int rc = embedded_start(&daemon->embedded, &problem, &options);
    if (rc)
        log_event(&daemon->log, MIRE_LOG_ERROR, "postgres.failed", LOG_TEXT("why", problem.text));
    return rc;
}

static int open_database(struct daemon *daemon, enum role role)
{
    const struct config *config = daemon->config;
    const char *url = config_text(config, MIRE_SET_DATABASE_URL);
    int threads = 0;
    if (!*url) {
        int rc = start_embedded(daemon);
        if (rc)
            return rc;
        url = embedded_conninfo(daemon->embedded);
    }
    if (role & MIRE_ROLE_HTTP)
        threads += (int)(config_number(config, MIRE_SET_WRITERS) + config_number(config, MIRE_SET_HANDLERS));
    if (role & MIRE_ROLE_WORK)
        threads += (int)config_number(config, MIRE_SET_WORKERS);
    struct pg_options options = {.conninfo = url,
                                 .connections = threads + POOL_SPARE,
                                 .wait_ms = 5000,
                                 .read_limit_ms = READ_LIMIT_MS,
                                 .log = &daemon->log};
    return pg_open(&daemon->pg, &options);
}

static int keep_partitions(struct daemon *daemon)
{
    int made, dropped;
    struct pg_days days = {.today = clock_day(clock_wall_us()),
                           .back = DAYS_BACK,
                           .ahead = DAYS_AHEAD,
                           .keep = (int)config_number(daemon->config, MIRE_SET_RETENTION_DAYS)};
    if (days.keep && days.back > days.keep)
        days.back = days.keep;
    return pg_partition(&made, &dropped, daemon->pg, &days, &daemon->log);
}

/* Bring the tables up to date; a database that is not there yet is waited for. */
static int prepare_database(struct daemon *daemon)
{
    int applied;
    int rc;
    do {
        rc = pg_migrate(&applied, daemon->pg, pg_migrations, pg_migration_count, &daemon->log);
        if (!rc)
            rc = keep_partitions(daemon);
    } while (rc == MIRE_FAULT_AWAY && !told_to_end(daemon, 1000));
    if (rc)
        log_event(&daemon->log, MIRE_LOG_ERROR, "mired.no_database", LOG_TEXT("fault", fault_name(rc)));
    return rc;
}

/* --- roles ------------------------------------------------------------------------------------------------------- */

static void split_symbol_dirs(struct daemon *daemon)
{
    char *rest = daemon->symbol_dirs_text;
    snprintf(rest, sizeof daemon->symbol_dirs_text, "%s", config_text(daemon->config, MIRE_SET_SYMBOL_DIRS));
    for (char *dir; daemon->symbol_dir_count < SYMBOL_DIRS && (dir = strsep(&rest, ":"));)
        if (*dir)
            daemon->symbol_dirs[daemon->symbol_dir_count++] = dir;
}

static int start_work(struct daemon *daemon)
{
    split_symbol_dirs(daemon);
    daemon->work_options =
        (struct work_options){.pg = daemon->pg,
                              .bell = daemon->bell,
                              .log = &daemon->log,
                              .threads = (int)config_number(daemon->config, MIRE_SET_WORKERS),
                              .cache_dir = daemon->cache_dir,
                              .cache_max_bytes = (uint64_t)config_number(daemon->config, MIRE_SET_CACHE_MAX_MB) << 20,
                              .rules_path = config_text(daemon->config, MIRE_SET_RULES),
                              .symbol_dirs = daemon->symbol_dirs,
                              .symbol_dir_count = daemon->symbol_dir_count,
                              .local_images = config_flag(daemon->config, MIRE_SET_LOCAL_IMAGES)};
    return work_start(&daemon->work, &daemon->work_options);
}

static int start_ingest(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    struct ingest_options options = MIRE_INGEST_OPTIONS_INIT;
    options.needs = door_needs(daemon->pg, daemon->bell);
    options.log = &daemon->log;
    options.writers = (int)config_number(config, MIRE_SET_WRITERS);
    options.queue_bytes_max = (size_t)config_number(config, MIRE_SET_QUEUE_MAX_MB) << 20;
    options.queue_rows_max = (size_t)config_number(config, MIRE_SET_QUEUE_MAX_REPORTS);
    return ingest_start(&daemon->ingest, &options);
}

static int start_http(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    char address[64];
    uint16_t port;
    if (!config_listen(address, &port, config))
        return MIRE_FAULT_SYSTEM;
    if (!config_is_loopback(config))
        log_event(&daemon->log, MIRE_LOG_WARN, "mired.open_to_all",
                  LOG_TEXT("what", "Whoever reaches this address can read all reports: there is no sign-in."));
    daemon->health.pg = daemon->pg;
    daemon->health.ingest = daemon->ingest;
    daemon->health.work = daemon->work;
    daemon->api = (struct api){daemon->pg, config_text(config, MIRE_SET_WEB_DIR), clock_wall_us};
    daemon->tables[0] = (struct http_table){ingest_routes, ingest_route_count, daemon->ingest};
    daemon->tables[1] = (struct http_table){health_routes, health_route_count, &daemon->health};
    daemon->tables[2] = (struct http_table){api_routes, api_route_count, &daemon->api};
    struct http_options options = {.address = address,
                                   .port = port,
                                   .tables = daemon->tables,
                                   .table_count = 3,
                                   .log = &daemon->log,
                                   .handler_threads = (int)config_number(config, MIRE_SET_HANDLERS),
                                   .idle_s = (int)config_number(config, MIRE_SET_IDLE_S),
                                   .bodies_cap_bytes = (size_t)config_number(config, MIRE_SET_BODIES_MAX_MB) << 20,
                                   .connections_max = (unsigned)config_number(config, MIRE_SET_CONNECTIONS_MAX)};
    int rc = http_start(&daemon->http, &options);
    if (!rc)
        daemon->health.http = daemon->http;
    return rc;
}

/* The port under its final name only when it is complete. */
static int write_port_file(const struct daemon *daemon)
{
    const char *path = config_text(daemon->config, MIRE_SET_PORT_FILE);
    char aside[MIRE_SETTING_MAX + 8];
    if (!*path)
        return 0;
    snprintf(aside, sizeof aside, "%s.new", path);
    FILE *file = fopen(aside, "we");
    if (!file)
        return MIRE_FAULT_SYSTEM;
    fprintf(file, "%u\n", http_port(daemon->http));
    return fclose(file) || rename(aside, path) ? MIRE_FAULT_SYSTEM : 0;
}

static int start(struct daemon *daemon, enum role role)
{
    int rc = prepare_dirs(daemon);
    if (!rc)
        rc = open_database(daemon, role);
    if (!rc)
        rc = prepare_database(daemon);
    if (!rc)
        rc = inbox_bell_new(&daemon->bell);
    if (!rc && (role & MIRE_ROLE_WORK))
        rc = start_work(daemon);
    if (!rc && (role & MIRE_ROLE_HTTP))
        rc = start_ingest(daemon);
    if (!rc && (role & MIRE_ROLE_HTTP))
        rc = start_http(daemon);
    if (!rc && daemon->http)
        rc = write_port_file(daemon);
    return rc;
}

static void stop(struct daemon *daemon)
{
    const char *port_file = config_text(daemon->config, MIRE_SET_PORT_FILE);
    if (daemon->http && *port_file)
        unlink(port_file);
    bool quiet = http_stop(daemon->http, (int)config_number(daemon->config, MIRE_SET_SHUTDOWN_S) * 1000);
    if (quiet)
        ingest_stop(daemon->ingest);
    work_stop(daemon->work);
    if (quiet) {
        inbox_bell_free(daemon->bell);
        pg_close(daemon->pg);
    }
    embedded_stop(daemon->embedded);
    log_event(&daemon->log, MIRE_LOG_INFO, "mired.stopped");
    if (!quiet)
        _exit(1); /* threads of abandoned requests still use what is not freed */
}

static void run(struct daemon *daemon)
{
    log_event(&daemon->log, MIRE_LOG_INFO, "mired.ready", LOG_TEXT("version", MIRE_VERSION),
              LOG_TEXT("listen", daemon->http ? config_text(daemon->config, MIRE_SET_LISTEN) : ""),
              LOG_NUMBER("port", daemon->http ? http_port(daemon->http) : 0));
    while (!told_to_end(daemon, UPKEEP_S * 1000L))
        keep_partitions(daemon); /* a fault is logged, and the next round tries again */
}

int daemon_run(const struct config *config, enum role role)
{
    struct daemon *daemon = calloc(1, sizeof *daemon);
    if (!daemon)
        return 1;
    daemon->config = config;
    daemon->log = config_log(config);
    sigemptyset(&daemon->signals);
    sigaddset(&daemon->signals, SIGTERM);
    sigaddset(&daemon->signals, SIGINT);
    sigprocmask(SIG_BLOCK, &daemon->signals, NULL); /* before any thread: all inherit it */
    signal(SIGPIPE, SIG_IGN);
    int rc = start(daemon, role);
    if (!rc && role != MIRE_ROLE_MIGRATE)
        run(daemon);
    stop(daemon);
    free(daemon);
    return rc ? 1 : 0;
}
