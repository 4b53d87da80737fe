/*
 * daemon.c - wires the modules together. Nothing else in the server knows them all.
 */
#include "daemon/daemon.h"

#include "alert/sender.h"
#include "api/api.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/scope.h"
#include "daemon/door.h"
#include "daemon/health.h"
#include "daemon/limits.h"
#include "daemon/openid.h"
#include "daemon/space.h"
#include "daemon/upkeep.h"
#include "fetch/seek.h"
#include "http/http.h"
#include "inbox/inbox.h"
#include "ingest/ingest.h"
#include "postgres/embedded.h"
#include "pg/pg.h"
#include "pipeline/work.h"
#include "rekey/rekey.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_LIMIT_MS   20000
#define SYMBOL_DIRS     16
#define PROXIES         32
#define KEYS_TTL_MS     10000
#define BURST           10   /* seconds' worth of requests that may come at once */
#define REPORTS_SHARE   4    /* one part in so many of the memory for bodies is for reports alone */
#define POOL_SPARE      3    /* connections beyond one a thread: upkeep, health, metrics */
#define UPKEEP_PATIENCE 3000 /* ms; it may be stuck in connecting to a host that does not answer */

struct daemon {
    const struct config *config;
    struct log log;
    enum daemon_role role;
    sigset_t signals; /* that end us; SIGHUP reads the certificate again if there is one */
    bool told;        /* one of them came */
    struct embedded *embedded;
    const char *conninfo;
    struct pg *pg;
    struct upkeep *upkeep;
    struct inbox_wakeup *wakeup;
    struct work_options work_options; /* borrowed by work */
    struct work *work;                /* made by the upkeep thread; ours once that was joined */
    struct seek *seek;                /* the same */
    struct sender *sender;            /* the same */
    char base[MIRE_SETTING_MAX];      /* address in links */
    char smtp_password[256];
    struct door_people people;
    struct access *access;
    struct openid openid;
    struct ingest *ingest;
    struct tls_context *tls;
    struct http_server *http; /* the upkeep thread may outlive what it points to */
    uint16_t port;            /* listened on */
    struct space space;       /* of the private PostgreSQL */
    struct health health;
    struct api_setting settings[MIRE_SETTING_COUNT]; /* their values lie in `shown` */
    char shown[MIRE_SETTING_COUNT][MIRE_SETTING_MAX];
    struct nearby *nearby;
    struct api api;
    struct http_table tables[4];
    struct http_peer proxies[PROXIES];
    char hosts[MIRE_SETTING_MAX];
    char cache_dir[PATH_MAX];
    char symbol_dirs_text[MIRE_SETTING_MAX];
    const char *symbol_dirs[SYMBOL_DIRS];
    size_t symbol_dir_count;
    char debuginfod_text[MIRE_SETTING_MAX];
    const char *debuginfod[SYMBOL_DIRS];
    size_t debuginfod_count;
};

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
                   1; /* the handler of what takes seconds */
    if (daemon->role & MIRE_ROLE_WORK)
        threads += (int)config_number(config, MIRE_SET_WORKERS) +
                   2 + /* one derives stored reports anew, one seeks debug files */
                   MIRE_SENDER_THREADS;
    struct pg_options options = {.conninfo = daemon->conninfo,
                                 .connections = threads + POOL_SPARE,
                                 .wait_ms = 5000,
                                 .read_limit_ms = READ_LIMIT_MS,
                                 .watched = true,
                                 .held = true,
                                 .log = &daemon->log};
    return pg_open(&daemon->pg, &options);
}

/* --- roles ------------------------------------------------------------------------------------------------------- */

/* The parts of a setting; `text` has room for all of it, and is where they lie. */
static size_t split(const char *parts[SYMBOL_DIRS], char text[MIRE_SETTING_MAX], const char *setting,
                    const char *between)
{
    size_t count = 0;
    snprintf(text, MIRE_SETTING_MAX, "%s", setting);
    for (char *part; count < SYMBOL_DIRS && (part = strsep(&text, between));)
        if (*part)
            parts[count++] = part;
    return count;
}

static int start_seek(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    daemon->debuginfod_count =
        split(daemon->debuginfod, daemon->debuginfod_text, config_text(config, MIRE_SET_DEBUGINFOD), " ");
    struct seek_options options = {.pg = daemon->pg,
                                   .log = &daemon->log,
                                   .cache_dir = daemon->cache_dir,
                                   .symbol_dirs = daemon->symbol_dirs,
                                   .symbol_dir_count = daemon->symbol_dir_count,
                                   .debuginfod = daemon->debuginfod,
                                   .debuginfod_count = daemon->debuginfod_count,
                                   .debuginfod_max_bytes = (uint64_t)config_number(config, MIRE_SET_DEBUGINFOD_MAX_MB)
                                                           << 20,
                                   .debuginfod_within_s = (int)config_number(config, MIRE_SET_DEBUGINFOD_S)};
    return seek_start(&daemon->seek, &options);
}

static int start_work(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    daemon->symbol_dir_count =
        split(daemon->symbol_dirs, daemon->symbol_dirs_text, config_text(config, MIRE_SET_SYMBOL_DIRS), ":");
    daemon->work_options =
        (struct work_options){.pg = daemon->pg,
                              .wakeup = daemon->wakeup,
                              .log = &daemon->log,
                              .threads = (int)config_number(daemon->config, MIRE_SET_WORKERS),
                              .keep_days = (int)config_number(config, MIRE_SET_RETENTION_DAYS),
                              .cache_dir = daemon->cache_dir,
                              .converter = "/proc/self/exe",
                              .cache_max_bytes = (uint64_t)config_number(daemon->config, MIRE_SET_CACHE_MAX_MB) << 20,
                              .rules_path = config_text(daemon->config, MIRE_SET_RULES),
                              .suspects_path = config_text(daemon->config, MIRE_SET_MEMORY_RULES),
                              .symbol_dirs = daemon->symbol_dirs,
                              .symbol_dir_count = daemon->symbol_dir_count,
                              .local_images = config_flag(daemon->config, MIRE_SET_LOCAL_IMAGES)};
    int rc = work_start(&daemon->work, &daemon->work_options);
    atomic_store(&daemon->health.work, daemon->work);
    if (!rc)
        rc = rekey_start(daemon->work);
    return rc ? rc : start_seek(daemon);
}

static int start_ingest(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    daemon->space = (struct space){.dir = config_text(config, MIRE_SET_DATA_DIR),
                                   .log = &daemon->log,
                                   .reserve_bytes = (uint64_t)config_number(config, MIRE_SET_DISK_RESERVE_MB) << 20};
    struct ingest_options options = MIRE_INGEST_OPTIONS_INIT;
    options.needs = door_needs(daemon->pg, daemon->wakeup);
    if (daemon->embedded) {
        options.needs.full_context = &daemon->space;
        options.needs.is_full = space_is_low;
    }
    options.log = &daemon->log;
    options.writers = (int)config_number(config, MIRE_SET_WRITERS);
    options.queue_bytes_max = (size_t)config_number(config, MIRE_SET_QUEUE_MAX_MB) << 20;
    options.queue_rows_max = (size_t)config_number(config, MIRE_SET_QUEUE_MAX_REPORTS);
    return ingest_start(&daemon->ingest, &options);
}

static int start_access(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    double each = (double)config_number(config, MIRE_SET_ADDRESS_REQUESTS_S);
    double app = (double)config_number(config, MIRE_SET_APP_REQUESTS_S);
    config_hosts(daemon->hosts, config);
    daemon->people = (struct door_people){daemon->pg, config_text(config, MIRE_SET_DEFAULT_ROLE)};
    struct access_options options = {.context = &daemon->people,
                                     .load = door_load_keys,
                                     .used = door_keys_used,
                                     .arrive = door_arrive,
                                     .mode = config_mode(config),
                                     .public_urls = config_text(config, MIRE_SET_PUBLIC_URL),
                                     .proxy_user_header = config_text(config, MIRE_SET_PROXY_USER_HEADER),
                                     .now_us = clock_wall_us,
                                     .ttl_ms = KEYS_TTL_MS,
                                     .hosts = daemon->hosts,
                                     .address = {each, each * BURST},
                                     .app = {app, app * BURST},
                                     .proxies = daemon->proxies,
                                     .proxy_count = config_proxies(daemon->proxies, PROXIES, config)};
    return access_new(&daemon->access, &options);
}

/* 0 without TLS too. */
static int open_tls(struct daemon *daemon)
{
    const char *cert = config_text(daemon->config, MIRE_SET_TLS_CERT);
    const char *key = config_text(daemon->config, MIRE_SET_TLS_KEY);
    return *cert ? http_tls_open(&daemon->tls, cert, *key ? key : cert, &daemon->log) : 0;
}

/* What admins of the server may see of the configuration. */
static void show_settings(struct daemon *daemon)
{
    for (int s = 0; s < MIRE_SETTING_COUNT; s++) {
        config_shown(daemon->shown[s], daemon->config, (enum setting)s);
        daemon->settings[s] =
            (struct api_setting){config_name((enum setting)s), daemon->shown[s], daemon->config->settings[s].from};
    }
    daemon->api.settings = daemon->settings;
    daemon->api.setting_count = MIRE_SETTING_COUNT;
    daemon->api.config_file = daemon->config->file;
    daemon->api.retention_days = (int)config_number(daemon->config, MIRE_SET_RETENTION_DAYS);
}

static int start_http(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    char address[64];
    uint16_t port;
    if (!config_listen(address, &port, config))
        return MIRE_FAULT_SYSTEM;
    if (!config_is_loopback(config) && config_mode(config) == MIRE_MODE_OPEN)
        log_event(&daemon->log, MIRE_LOG_WARN, "mired.open_to_all",
                  LOG_TEXT("what", "Everyone who reaches this address can read all reports: sign_in is no."));
    daemon->health.pg = daemon->pg;
    daemon->health.space = &daemon->space;
    daemon->health.ingest = daemon->ingest;
    daemon->health.access = daemon->access;
    daemon->nearby = nearby_new();
    if (!daemon->nearby)
        return MIRE_FAULT_MEMORY;
    daemon->api = (struct api){.pg = daemon->pg,
                               .web_dir = config_text(config, MIRE_SET_WEB_DIR),
                               .now_us = clock_wall_us,
                               .nearby = daemon->nearby,
                               .scratch_dir = daemon->cache_dir,
                               .converter = "/proc/self/exe",
                               .access = daemon->access,
                               .full_context = &daemon->space,
                               .is_full = daemon->embedded ? space_is_low : NULL,
                               .base = daemon->base};
    daemon->api.oidc = daemon->openid.oidc;
    daemon->api.oidc_roles = daemon->openid.roles;
    daemon->api.oidc_role_count = daemon->openid.role_count;
    daemon->api.oidc_default_role = config_text(config, MIRE_SET_OIDC_DEFAULT_ROLE);
    daemon->api.log = &daemon->log;
    show_settings(daemon);
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
                                   .headers_s = (int)config_number(config, MIRE_SET_HEADERS_S),
                                   .request_s = (int)config_number(config, MIRE_SET_REQUEST_S),
                                   .bodies_cap_bytes = (size_t)config_number(config, MIRE_SET_BODIES_MAX_MB) << 20,
                                   .check = access_check,
                                   .check_context = daemon->access,
                                   .proxies = daemon->proxies,
                                   .proxy_count = config_proxies(daemon->proxies, PROXIES, config),
                                   .tls = daemon->tls};
    options.bodies_reserve_bytes = options.bodies_cap_bytes / REPORTS_SHARE;
    options.connections_max =
        limits_raise_files((unsigned)config_number(config, MIRE_SET_CONNECTIONS_MAX), &daemon->log);
    options.address_connections_max = (unsigned)config_number(config, MIRE_SET_ADDRESS_CONNECTIONS_MAX);
    int rc = http_start(&daemon->http, &options);
    if (rc)
        return rc;
    daemon->health.http = daemon->http;
    daemon->port = http_port(daemon->http);
    log_event(&daemon->log, MIRE_LOG_INFO, "mired.listening", LOG_TEXT("address", address),
              LOG_NUMBER("port", daemon->port));
    return 0;
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
    fprintf(file, "%u\n", daemon->port);
    return fclose(file) || rename(aside, path) ? MIRE_FAULT_SYSTEM : 0;
}

/* Where a browser of this machine, or of elsewhere if it may, finds the dashboard. */
static void find_base(char out[MIRE_SETTING_MAX], const struct daemon *daemon)
{
    const char *named = config_text(daemon->config, MIRE_SET_PUBLIC_URL);
    char address[64];
    uint16_t port;
    named += strspn(named, " ");
    size_t len = strcspn(named, " ");
    while (len && named[len - 1] == '/')
        len--;
    if (len)
        snprintf(out, MIRE_SETTING_MAX, "%.*s", (int)len, named);
    else if (config_listen(address, &port, daemon->config) && strchr(address, ':') && strcmp(address, "::") != 0)
        snprintf(out, MIRE_SETTING_MAX, "http://[%s]:%u", address, daemon->port);
    else
        snprintf(out, MIRE_SETTING_MAX, "http://%s:%u",
                 !strcmp(address, "0.0.0.0") || !strcmp(address, "::") ? "localhost" : address, daemon->port);
}

static int invite_first_admin(struct daemon *daemon)
{
    const char *header = config_text(daemon->config, MIRE_SET_PROXY_USER_HEADER);
    if (!daemon->http || config_mode(daemon->config) != MIRE_MODE_SIGN_IN || *header)
        return 0;
    return door_invite_first_admin(daemon->pg, &daemon->log, daemon->base);
}

/* The first line of the file. */
static int read_smtp_password(struct daemon *daemon)
{
    const char *path = config_text(daemon->config, MIRE_SET_SMTP_PASSWORD_FILE);
    FILE *file MIRE_SCOPED(close_file) = *path ? fopen(path, "re") : NULL;
    if (!*path)
        return 0;
    if (!file || !fgets(daemon->smtp_password, sizeof daemon->smtp_password, file)) {
        log_event(&daemon->log, MIRE_LOG_ERROR, "mired.smtp_password", LOG_TEXT("path", path),
                  LOG_TEXT("why", strerror(errno)));
        return MIRE_FAULT_SYSTEM;
    }
    daemon->smtp_password[strcspn(daemon->smtp_password, "\r\n")] = '\0';
    return 0;
}

/* The host of an address, for ids of e-mails. */
static const char *host_of(const struct daemon *daemon)
{
    const char *at = strrchr(config_text(daemon->config, MIRE_SET_MAIL_FROM), '@');
    return at && at[1] ? at + 1 : "mire";
}

static int start_sender(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    struct sender_options options = {.pg = daemon->pg,
                                     .log = &daemon->log,
                                     .base = daemon->base,
                                     .every_s = (int32_t)config_number(config, MIRE_SET_ALERT_EVERY_S),
                                     .hook = {.private_too = config_flag(config, MIRE_SET_ALERT_PRIVATE_HOOKS),
                                              .ca_file = config_text(config, MIRE_SET_ALERT_CA_FILE),
                                              .smtp = config_text(config, MIRE_SET_SMTP),
                                              .smtp_user = config_text(config, MIRE_SET_SMTP_USER),
                                              .smtp_password = daemon->smtp_password,
                                              .smtp_plain = !config_flag(config, MIRE_SET_SMTP_TLS),
                                              .mail_from = config_text(config, MIRE_SET_MAIL_FROM),
                                              .host = host_of(daemon)}};
    int rc = read_smtp_password(daemon);
    if (!rc)
        rc = sender_start(&daemon->sender, &options);
    atomic_store(&daemon->health.sender, daemon->sender);
    return rc;
}

/* In the upkeep thread: the tables are ready. */
static int on_ready(void *context)
{
    struct daemon *daemon = context;
    int rc = 0;
    if (daemon->role & MIRE_ROLE_WORK)
        rc = start_work(daemon);
    if (!rc && daemon->role & MIRE_ROLE_WORK)
        rc = start_sender(daemon);
    if (!rc)
        rc = invite_first_admin(daemon);
    if (!rc && daemon->http)
        rc = write_port_file(daemon);
    if (!rc && daemon->role != MIRE_ROLE_MIGRATE)
        log_event(&daemon->log, MIRE_LOG_INFO, "mired.ready", LOG_TEXT("version", MIRE_VERSION));
    return rc;
}

static int start_upkeep(struct daemon *daemon)
{
    struct upkeep_options options = {.embedded = daemon->embedded,
                                     .conninfo = daemon->conninfo,
                                     .pg = daemon->pg,
                                     .retention_days = (int)config_number(daemon->config, MIRE_SET_RETENTION_DAYS),
                                     .once = daemon->role == MIRE_ROLE_MIGRATE,
                                     .log = &daemon->log,
                                     .on_ready = on_ready,
                                     .context = daemon};
    return upkeep_start(&daemon->upkeep, &options);
}

static int start(struct daemon *daemon)
{
    int rc = prepare_dirs(daemon);
    if (!rc)
        rc = open_database(daemon);
    if (!rc)
        rc = inbox_wakeup_new(&daemon->wakeup);
    if (!rc && (daemon->role & MIRE_ROLE_HTTP))
        rc = start_ingest(daemon);
    if (!rc && (daemon->role & MIRE_ROLE_HTTP))
        rc = start_access(daemon);
    if (!rc && (daemon->role & MIRE_ROLE_HTTP))
        rc = open_tls(daemon);
    if (!rc && (daemon->role & MIRE_ROLE_HTTP))
        rc = openid_start(&daemon->openid, daemon->config, &daemon->log);
    if (!rc && (daemon->role & MIRE_ROLE_HTTP))
        rc = start_http(daemon);
    find_base(daemon->base, daemon); /* before the database lets anybody ask */
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
    daemon->told = true;
    log_event(&daemon->log, MIRE_LOG_INFO, "mired.stopping", LOG_NUMBER("signal", got.ssi_signo));
}

/* What upkeep ended with. */
static int stop(struct daemon *daemon)
{
    const char *port_file = config_text(daemon->config, MIRE_SET_PORT_FILE);
    bool quiet = http_stop(daemon->http, (int)config_number(daemon->config, MIRE_SET_SHUTDOWN_S) * 1000);
    int rc = upkeep_stop(daemon->upkeep, UPKEEP_PATIENCE);
    bool stuck = rc == MIRE_FAULT_TIMEOUT;
    if (daemon->http && *port_file)
        unlink(port_file); /* only now does nobody write it any more */
    if (quiet)
        ingest_stop(daemon->ingest);
    if (!stuck) {
        sender_stop(daemon->sender);
        seek_stop(daemon->seek);
        work_stop(daemon->work);
    }
    if (quiet && !stuck) {
        inbox_wakeup_free(daemon->wakeup);
        nearby_free(daemon->nearby);
        http_tls_close(daemon->tls);
        access_free(daemon->access);
        openid_stop(&daemon->openid);
        pg_close(daemon->pg);
    }
    embedded_stop(daemon->embedded);
    log_event(&daemon->log, MIRE_LOG_INFO, "mired.stopped");
    if (!quiet || stuck)
        _exit(quiet && daemon->told ? 0 : 1); /* threads that were left behind still use what is not freed */
    return daemon->told ? 0 : rc;
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
