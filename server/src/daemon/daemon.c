/*
 * daemon.c - the life of mired: directories, database, the parts of its role, signals, and the end.
 */
#include "daemon/daemon.h"

#include "base/fault.h"
#include "base/scope.h"
#include "daemon/parts.h"
#include "pipeline/work.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_LIMIT_MS   20000
#define GLANCE_LIMIT_MS 1000 /* then the query begins again among the expensive ones */
#define POOL_SPARE      3    /* connections beyond one a thread: upkeep, health, metrics */
#define UPKEEP_PATIENCE 3000 /* ms; it may be stuck in connecting to a host that does not answer */

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

/* The key of secrets; a first start makes it. */
static int open_vault(struct daemon *daemon)
{
    struct problem problem = MIRE_PROBLEM_INIT;
    char path[MIRE_SETTING_MAX];
    if (!(daemon->role & (MIRE_ROLE_HTTP | MIRE_ROLE_WORK)))
        return 0;
    config_secret_key_file(path, daemon->config);
    if (!vault_open_or_make(&daemon->vault, &problem, path))
        return 0;
    log_event(&daemon->log, MIRE_LOG_ERROR, "mired.secret_key", LOG_TEXT("why", problem.text));
    return MIRE_FAULT_SYSTEM;
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

static int open_database(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    int threads = 0;
    daemon->conninfo = config_text(config, MIRE_SET_DATABASE_URL);
    if (!*daemon->conninfo) {
        int rc = start_embedded(daemon);
        if (rc)
            return rc;
        daemon->conninfo = embedded_conninfo(daemon->embedded);
    }
    if (daemon->role & MIRE_ROLE_HTTP)
        threads += (int)(config_number(config, MIRE_SET_WRITERS) + config_number(config, MIRE_SET_HANDLERS)) +
                   MIRE_HTTP_EXPENSIVE_THREADS +
                   2; /* the handler of slow requests, and the watch for pages that wait */
    if (daemon->role & MIRE_ROLE_WORK)
        threads += (int)config_number(config, MIRE_SET_WORKERS) + MIRE_REKEY_WORKERS +
                   1 + /* the last one seeks debug files */
                   MIRE_SENDER_THREADS + MIRE_TICKET_THREADS;
    struct pg_options options = {.conninfo = daemon->conninfo,
                                 .connections = threads + POOL_SPARE,
                                 .wait_ms = 5000,
                                 .read_limit_ms = READ_LIMIT_MS,
                                 .glance_limit_ms = GLANCE_LIMIT_MS,
                                 .watched = true,
                                 .held = true,
                                 .log = &daemon->log};
    return pg_open(&daemon->pg, &options);
}

static int open_replica(struct daemon *daemon)
{
    struct pg_options options = {.conninfo = config_text(daemon->config, MIRE_SET_DATABASE_READ_URL),
                                 .connections = /* one a thread that answers questions */
                                 (int)config_number(daemon->config, MIRE_SET_HANDLERS) + MIRE_HTTP_EXPENSIVE_THREADS,
                                 .wait_ms = 1000,
                                 .read_limit_ms = READ_LIMIT_MS,
                                 .glance_limit_ms = GLANCE_LIMIT_MS,
                                 .watched = true,
                                 .log = &daemon->log};
    return *options.conninfo ? pg_open(&daemon->replica, &options) : 0;
}

static int invite_first_admin(struct daemon *daemon)
{
    const char *header = config_text(daemon->config, MIRE_SET_PROXY_USER_HEADER);
    if (!daemon->http || config_mode(daemon->config) != MIRE_MODE_SIGN_IN || *header)
        return 0;
    return door_invite_first_admin(daemon->pg, &daemon->log, daemon->base);
}

/* In the upkeep thread: the tables are ready. */
static int on_ready(void *context)
{
    struct daemon *daemon = context;
    int rc = 0;
    if (daemon->role & MIRE_ROLE_WORK)
        rc = daemon_start_work(daemon);
    if (!rc)
        rc = invite_first_admin(daemon);
    if (!rc && daemon->http)
        rc = daemon_write_port(daemon);
    if (!rc && daemon->role & MIRE_ROLE_SERVE)
        log_event(&daemon->log, MIRE_LOG_INFO, "mired.ready", LOG_TEXT("version", MIRE_VERSION));
    return rc;
}

static int start_upkeep(struct daemon *daemon)
{
    struct upkeep_options options = {.embedded = daemon->embedded,
                                     .conninfo = daemon->conninfo,
                                     .pg = daemon->pg,
                                     .nearby = daemon->nearby,
                                     .retention_days = (int)config_number(daemon->config, MIRE_SET_RETENTION_DAYS),
                                     .unused_symbols_days =
                                         (int)config_number(daemon->config, MIRE_SET_UNUSED_SYMBOLS_DAYS),
                                     .idle_days = (int)config_number(daemon->config, MIRE_SET_IDLE_DAYS),
                                     .once = !(daemon->role & MIRE_ROLE_SERVE),
                                     .spread = daemon->role == MIRE_ROLE_SPREAD,
                                     .log = &daemon->log,
                                     .on_ready = on_ready,
                                     .context = daemon};
    return upkeep_start(&daemon->upkeep, &options);
}

static int start(struct daemon *daemon)
{
    int rc = prepare_dirs(daemon);
    if (!rc)
        rc = open_vault(daemon);
    if (!rc)
        rc = open_database(daemon);
    if (!rc)
        rc = inbox_wakeup_new(&daemon->wakeup);
    if (!rc && (daemon->role & MIRE_ROLE_HTTP))
        rc = open_replica(daemon);
    if (!rc && (daemon->role & MIRE_ROLE_HTTP))
        rc = daemon_start_http(daemon);
    daemon_find_base(daemon->base, daemon); /* before the database lets anybody ask */
    return rc ? rc : start_upkeep(daemon);
}

/* Wait for a signal, or for the upkeep thread to end by itself. */
static void await_end(struct daemon *daemon)
{
    struct signalfd_siginfo got;
    int fd MIRE_SCOPED(close_fd) = signalfd(-1, &daemon->signals, SFD_CLOEXEC);
    struct pollfd ends[] = {{.fd = fd, .events = POLLIN}, {.fd = upkeep_fd(daemon->upkeep), .events = POLLIN}};
    do {
        while (poll(ends, 2, -1) < 0 && errno == EINTR)
            ;
        if (!ends[0].revents || read(fd, &got, sizeof got) != sizeof got)
            return;
        if (got.ssi_signo == SIGHUP && daemon->tls)
            (void)http_tls_reload(daemon->tls, &daemon->log);
    } while (got.ssi_signo == SIGHUP && daemon->tls);
    daemon->ended = true;
    log_event(&daemon->log, MIRE_LOG_INFO, "mired.stopping", LOG_NUMBER("signal", got.ssi_signo));
}

/* Returns the result of upkeep. */
static int stop(struct daemon *daemon)
{
    const char *port_file = config_text(daemon->config, MIRE_SET_PORT_FILE);
    live_stop(daemon->live); /* its requests would be waited for */
    bool quiet = http_stop(daemon->http, (int)config_number(daemon->config, MIRE_SET_SHUTDOWN_S) * 1000);
    int rc = upkeep_stop(daemon->upkeep, UPKEEP_PATIENCE);
    bool stuck = rc == MIRE_FAULT_TIMEOUT;
    if (daemon->http && *port_file)
        unlink(port_file); /* only now does nobody write it any more */
    if (quiet)
        ingest_stop(daemon->ingest);
    if (!stuck) {
        sender_stop(daemon->sender);
        ticket_worker_stop(daemon->tickets);
        seek_stop(daemon->seek);
        work_stop(daemon->work);
    }
    if (quiet && !stuck) {
        inbox_wakeup_free(daemon->wakeup);
        nearby_free(daemon->nearby);
        live_free(daemon->live);
        slow_free(daemon->slow);
        http_tls_close(daemon->tls);
        access_free(daemon->access);
        openid_stop(&daemon->openid);
        vault_close(daemon->vault);
        pg_close(daemon->replica);
        pg_close(daemon->pg);
    }
    embedded_stop(daemon->embedded);
    log_event(&daemon->log, MIRE_LOG_INFO, "mired.stopped");
    if (!quiet || stuck)
        _exit(quiet && daemon->ended ? 0 : 1); /* threads that did not end still use the rest */
    return daemon->ended ? 0 : rc;
}

int daemon_run(const struct config *config, enum daemon_role role)
{
    struct daemon *daemon = calloc(1, sizeof *daemon);
    if (!daemon)
        return 1;
    daemon->config = config;
    daemon->role = role;
    daemon->log = config_log(config);
    sigemptyset(&daemon->signals);
    sigaddset(&daemon->signals, SIGTERM);
    sigaddset(&daemon->signals, SIGINT);
    sigaddset(&daemon->signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &daemon->signals, NULL); /* before any thread: all inherit it */
    signal(SIGPIPE, SIG_IGN);
    int rc = start(daemon);
    if (!rc)
        await_end(daemon);
    int ended = stop(daemon);
    free(daemon);
    return rc || ended ? 1 : 0;
}
