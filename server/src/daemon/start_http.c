/*
 * start_http.c - starts the parts of the role http.
 */
#include "daemon/parts.h"

#include "base/clock.h"
#include "base/fault.h"
#include "daemon/doctor.h"
#include "daemon/limits.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_TTL_MS   10000
#define BURST         10 /* seconds' worth of requests that may come at once */
#define REPORTS_SHARE 4  /* one part in so many of the memory for bodies is for reports alone */

static int start_ingest(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    daemon->space = (struct space){.dir = config_text(config, MIRE_SET_DATA_DIR),
                                   .log = &daemon->log,
                                   .reserve_bytes = (uint64_t)config_number(config, MIRE_SET_DISK_RESERVE_MB) << 20};
    struct ingest_options options = MIRE_INGEST_OPTIONS_INIT;
    daemon->store = (struct door_store){daemon->pg, config_number(config, MIRE_SET_QUOTA_REPORTS_DAY),
                                        (int64_t)config_number(config, MIRE_SET_QUOTA_MB_DAY) << 20};
    options.needs = door_needs(&daemon->store, daemon->wakeup);
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
    double key = (double)config_number(config, MIRE_SET_KEY_REQUESTS_S);
    config_hosts(daemon->hosts, config);
    daemon->people = (struct door_people){daemon->pg, config_text(config, MIRE_SET_DEFAULT_ROLE)};
    struct access_options options = {.context = &daemon->people,
                                     .load = door_load_keys,
                                     .used = door_keys_used,
                                     .limited_context = daemon->ingest,
                                     .limited = ingest_too_often,
                                     .arrive = door_arrive,
                                     .mode = config_mode(config),
                                     .public_urls = config_text(config, MIRE_SET_PUBLIC_URL),
                                     .proxy_user_header = config_text(config, MIRE_SET_PROXY_USER_HEADER),
                                     .proxy_country_header = config_text(config, MIRE_SET_PROXY_COUNTRY_HEADER),
                                     .now_us = clock_wall_us,
                                     .ttl_ms = KEYS_TTL_MS,
                                     .hosts = daemon->hosts,
                                     .address = {each, each * BURST},
                                     .app = {app, app * BURST},
                                     .key = {key, key * BURST},
                                     .proxies = daemon->proxies,
                                     .proxy_count = config_proxies(daemon->proxies, MIRE_PROXIES_MAX, config)};
    return access_new(&daemon->access, &options);
}

/* 0 without TLS too. */
static int open_tls(struct daemon *daemon)
{
    const char *cert = config_text(daemon->config, MIRE_SET_TLS_CERT);
    const char *key = config_text(daemon->config, MIRE_SET_TLS_KEY);
    return *cert ? http_tls_open(&daemon->tls, cert, *key ? key : cert, &daemon->log) : 0;
}

/* The configuration as admins of the server see it. */
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
    daemon->api.idle_days = (int)config_number(daemon->config, MIRE_SET_IDLE_DAYS);
    daemon->api.quota_reports_day = daemon->store.quota_reports;
    daemon->api.quota_bytes_day = daemon->store.quota_bytes;
    daemon->api.enough_per_issue_day = config_number(daemon->config, MIRE_SET_ENOUGH_PER_ISSUE_DAY);
}

/* The API, with all that it borrows. */
static int make_api(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    daemon->nearby = nearby_new();
    daemon->slow = slow_new();
    if (!daemon->nearby || !daemon->slow)
        return MIRE_FAULT_MEMORY;
    int rc = live_start(&daemon->live, daemon->pg);
    if (rc)
        return rc;
    daemon->health.live = daemon->live;
    daemon->api = (struct api){.pg = daemon->pg,
                               .replica = daemon->replica,
                               .web_dir = config_text(config, MIRE_SET_WEB_DIR),
                               .now_us = clock_wall_us,
                               .live = daemon->live,
                               .nearby = daemon->nearby,
                               .slow = daemon->slow,
                               .scratch_dir = daemon->cache_dir,
                               .converter = "/proc/self/exe",
                               .access = daemon->access,
                               .full_context = &daemon->space,
                               .is_full = daemon->embedded ? space_is_low : NULL,
                               .vault = daemon->vault,
                               .base = daemon->base};
    daemon->api.oidc = daemon->openid.oidc;
    daemon->api.oidc_roles = daemon->openid.roles;
    daemon->api.oidc_role_count = daemon->openid.role_count;
    daemon->api.oidc_default_role = config_text(config, MIRE_SET_OIDC_DEFAULT_ROLE);
    daemon->api.log = &daemon->log;
    daemon->api.examine = doctor_examine;
    daemon->api.examine_context = config;
    show_settings(daemon);
    return 0;
}

static int listen_on(struct daemon *daemon, const char *address, uint16_t port)
{
    const struct config *config = daemon->config;
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
                                   .proxy_count = config_proxies(daemon->proxies, MIRE_PROXIES_MAX, config),
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

static int start_server(struct daemon *daemon)
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
    int rc = make_api(daemon);
    return rc ? rc : listen_on(daemon, address, port);
}

int daemon_start_http(struct daemon *daemon)
{
    int rc = start_ingest(daemon);
    if (!rc)
        rc = start_access(daemon);
    if (!rc)
        rc = open_tls(daemon);
    if (!rc)
        rc = openid_start(&daemon->openid, daemon->config, &daemon->log);
    return rc ? rc : start_server(daemon);
}

/* The port under its final name only when it is complete. */
int daemon_write_port(const struct daemon *daemon)
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

void daemon_find_base(char out[MIRE_SETTING_MAX], const struct daemon *daemon)
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
