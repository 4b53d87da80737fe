/*
 * config.h - mired's settings: a flag counts before the environment, that before the file, that before the default.
 *
 *     --data-dir=DIR      MIRED_DATA_DIR=DIR      data_dir = DIR
 *
 * The settings are rows of config_table.c; docs/configuration.md lists them for people.
 */
#ifndef MIRE_DAEMON_CONFIG_H
#define MIRE_DAEMON_CONFIG_H

#include "access/access.h"
#include "base/log.h"
#include "base/problem.h"
#include "http/http.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MIRE_SETTING_MAX 1024 /* bytes of a value, with NUL */

enum setting {
    MIRE_SET_LISTEN,
    MIRE_SET_PUBLIC_URL,
    MIRE_SET_TLS_CERT,
    MIRE_SET_TLS_KEY,
    MIRE_SET_DATABASE_URL,
    MIRE_SET_DATABASE_READ_URL,
    MIRE_SET_DATA_DIR,
    MIRE_SET_SECRET_KEY_FILE,
    MIRE_SET_DISK_RESERVE_MB,
    MIRE_SET_WEB_DIR,
    MIRE_SET_LOG_LEVEL,
    MIRE_SET_LOG_FORMAT,
    MIRE_SET_WORKERS,
    MIRE_SET_WRITERS,
    MIRE_SET_HANDLERS,
    MIRE_SET_CONNECTIONS_MAX,
    MIRE_SET_ADDRESS_CONNECTIONS_MAX,
    MIRE_SET_ADDRESS_REQUESTS_S,
    MIRE_SET_APP_REQUESTS_S,
    MIRE_SET_KEY_REQUESTS_S,
    MIRE_SET_TRUSTED_PROXIES,
    MIRE_SET_SIGN_IN,
    MIRE_SET_PROXY_USER_HEADER,
    MIRE_SET_PROXY_COUNTRY_HEADER,
    MIRE_SET_DEFAULT_ROLE,
    MIRE_SET_OIDC_ISSUER,
    MIRE_SET_OIDC_CLIENT_ID,
    MIRE_SET_OIDC_CLIENT_SECRET_FILE,
    MIRE_SET_OIDC_NAME,
    MIRE_SET_OIDC_SCOPES,
    MIRE_SET_OIDC_GROUPS_CLAIM,
    MIRE_SET_OIDC_ROLES,
    MIRE_SET_OIDC_DEFAULT_ROLE,
    MIRE_SET_OIDC_CA_FILE,
    MIRE_SET_IDLE_S,
    MIRE_SET_HEADERS_S,
    MIRE_SET_REQUEST_S,
    MIRE_SET_BODIES_MAX_MB,
    MIRE_SET_QUEUE_MAX_MB,
    MIRE_SET_QUEUE_MAX_REPORTS,
    MIRE_SET_QUOTA_REPORTS_DAY,
    MIRE_SET_QUOTA_MB_DAY,
    MIRE_SET_ENOUGH_PER_ISSUE_DAY,
    MIRE_SET_NEW_VALUES_DAY,
    MIRE_SET_NEW_ISSUES_DAY,
    MIRE_SET_RETENTION_DAYS,
    MIRE_SET_UNUSED_SYMBOLS_DAYS,
    MIRE_SET_IDLE_DAYS,
    MIRE_SET_SYMBOL_DIRS,
    MIRE_SET_LOCAL_IMAGES,
    MIRE_SET_DEBUGINFOD,
    MIRE_SET_DEBUGINFOD_MAX_MB,
    MIRE_SET_DEBUGINFOD_S,
    MIRE_SET_DEBUGINFOD_INSTALLS,
    MIRE_SET_DEBUGINFOD_HOUR,
    MIRE_SET_CACHE_MAX_MB,
    MIRE_SET_RULES,
    MIRE_SET_MEMORY_RULES,
    MIRE_SET_ALERT_EVERY_S,
    MIRE_SET_ALERT_PRIVATE_HOOKS,
    MIRE_SET_ALERT_CA_FILE,
    MIRE_SET_SMTP,
    MIRE_SET_SMTP_USER,
    MIRE_SET_SMTP_PASSWORD_FILE,
    MIRE_SET_SMTP_TLS,
    MIRE_SET_MAIL_FROM,
    MIRE_SET_PORT_FILE,
    MIRE_SET_POSTGRES_BIN,
    MIRE_SET_SHUTDOWN_S,
    MIRE_SETTING_COUNT,
};

struct config {
    struct {
        char value[MIRE_SETTING_MAX];
        const char *from; /* "default", "file", "environment" or "flag"; static */
    } settings[MIRE_SETTING_COUNT];
    char file[MIRE_SETTING_MAX]; /* the file that was read; "" if none */
};

/*
 * Read the settings from all four sources.
 *
 *   args         flags, NULL-ended; --name value, --name=value, and --config FILE
 *   environment  NAME=value texts, NULL-ended
 *
 * The file is --config, otherwise MIRED_CONFIG, otherwise /etc/mire/mired.conf if there is one.
 * 0, or -1 with `problem`: something cannot be read or is not a setting. Values are checked by config_check.
 */
int config_load(struct config *out, struct problem *problem, char *const *args, char *const *environment);

/* Count the settings whose value is not allowed, and describe each on `out` (NULL: nowhere). */
int config_check(const struct config *config, FILE *out);

const char *config_name(enum setting setting);

/* The value with *** in place of passwords in addresses. */
void config_shown(char out[MIRE_SETTING_MAX], const struct config *config, enum setting setting);

/* Print each value, as config_shown has it, and its source. */
void config_print(const struct config *config, FILE *out);

/* Print the settings with their defaults, as help for flags. */
void config_help(FILE *out);

const char *config_text(const struct config *config, enum setting setting);
long config_number(const struct config *config, enum setting setting);
bool config_flag(const struct config *config, enum setting setting);

/*
 * The first line of the file that a setting names; "" if the setting is empty.
 * 0, or -1: the file cannot be read (errno), or its first line is empty (errno is 0). The caller erases `out`.
 */
int config_secret(char out[MIRE_SETTING_MAX], const struct config *config, enum setting setting);

/* Address and port of `listen`, as in "127.0.0.1:7117" or "[::1]:7117". False if the value has another form. */
bool config_listen(char address_out[64], uint16_t *port_out, const struct config *config);

/* The hosts of public_url without scheme, port and path, separated by spaces. */
void config_hosts(char out[MIRE_SETTING_MAX], const struct config *config);

/* The addresses of trusted_proxies: at most `most`. */
size_t config_proxies(struct http_peer *out, size_t most, const struct config *config);

/* Is `listen` an address that only this machine reaches? */
bool config_is_loopback(const struct config *config);

/* Are symbols also read from programs on this machine, by local_images? */
bool config_reads_images(const struct config *config);

/* How requests without a credential are taken: by sign_in; `auto` on loopback without public_url is MIRE_MODE_SINGLE. */
enum access_mode config_mode(const struct config *config);

/*
 * The database a client of this configuration talks to: database_url, or the private cluster in data_dir.
 * 0, or -1 if there is no database_url and no cluster.
 */
int config_conninfo(char *out, size_t room, const struct config *config);

/* The file of the key that seals secrets: secret_key_file, or secret.key in data_dir. */
void config_secret_key_file(char out[MIRE_SETTING_MAX], const struct config *config);

struct log config_log(const struct config *config);

#endif
