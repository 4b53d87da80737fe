/*
 * config.c - the table of settings, and reading them from four places.
 */
#include "daemon/config.h"

#include "base/scope.h"
#include "feature/suspects.h"
#include "postgres/embedded.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FILE "/etc/mire/mired.conf"

enum setting_kind {
    KIND_TEXT,
    KIND_NUMBER,
    KIND_FLAG,
    KIND_LISTEN,
    KIND_LEVEL,
    KIND_FORMAT,
    KIND_RULES,
    KIND_MEMORY_RULES,
    KIND_SERVERS,
    KIND_ADDRESSES,
    KIND_WORD /* one of those in help, between the commas before a colon */
};

static const struct {
    const char *name;
    const char *preset;
    enum setting_kind kind;
    long least, most;
    const char *help;
} table[MIRE_SETTING_COUNT] = {
    [MIRE_SET_LISTEN] = {"listen", "127.0.0.1:7117", KIND_LISTEN, 0, 0,
                         "address:port to serve on; port 0: any free one"},
    [MIRE_SET_PUBLIC_URL] = {"public_url", "", KIND_SERVERS, 0, 0,
                             "addresses under which browsers and devices reach mired, separated by spaces"},
    [MIRE_SET_TLS_CERT] = {"tls_cert", "", KIND_TEXT, 0, 0,
                           "PEM file of the certificate to serve TLS with; empty: no TLS"},
    [MIRE_SET_TLS_KEY] = {"tls_key", "", KIND_TEXT, 0, 0, "PEM file of its key"},
    [MIRE_SET_DATABASE_URL] = {"database_url", "", KIND_TEXT, 0, 0,
                               "PostgreSQL to use; empty: a private one in data_dir"},
    [MIRE_SET_DATA_DIR] = {"data_dir", "", KIND_TEXT, 0, 0,
                           "where mired keeps files; empty: /var/lib/mire (root) or ~/.local/share/mire"},
    [MIRE_SET_DISK_RESERVE_MB] = {"disk_reserve_mb", "256", KIND_NUMBER, 0, 1 << 24,
                                  "with less free in data_dir reports and files are refused, MiB; 0: never"},
    [MIRE_SET_WEB_DIR] = {"web_dir", "", KIND_TEXT, 0, 0, "the built dashboard; empty: where it was installed"},
    [MIRE_SET_LOG_LEVEL] = {"log_level", "info", KIND_LEVEL, 0, 0, "debug, info, warn, error or off"},
    [MIRE_SET_LOG_FORMAT] = {"log_format", "text", KIND_FORMAT, 0, 0, "text or json"},
    [MIRE_SET_WORKERS] = {"workers", "2", KIND_NUMBER, 1, 64, "threads that work on reports"},
    [MIRE_SET_WRITERS] = {"writers", "3", KIND_NUMBER, 1, 16, "threads that store reports"},
    [MIRE_SET_HANDLERS] = {"handlers", "4", KIND_NUMBER, 1, 64, "threads that answer questions"},
    [MIRE_SET_CONNECTIONS_MAX] = {"connections_max", "4096", KIND_NUMBER, 16, 65536, "connections served at once"},
    [MIRE_SET_ADDRESS_CONNECTIONS_MAX] = {"address_connections_max", "1024", KIND_NUMBER, 0, 65536,
                                          "connections of one address at once; 0: no limit"},
    [MIRE_SET_ADDRESS_REQUESTS_S] = {"address_requests_s", "100", KIND_NUMBER, 0, 1000000,
                                     "reports and changes a second from one address; 0: no limit"},
    [MIRE_SET_APP_REQUESTS_S] = {"app_requests_s", "0", KIND_NUMBER, 0, 1000000, "the same, for one app"},
    [MIRE_SET_TRUSTED_PROXIES] = {"trusted_proxies", "", KIND_ADDRESSES, 0, 0,
                                  "addresses of proxies in front of mired, separated by spaces"},
    [MIRE_SET_SIGN_IN] = {"sign_in", "auto", KIND_WORD, 0, 0,
                          "auto, yes, no: whether reading needs an account or a key; auto: not on loopback while there "
                          "is no account"},
    [MIRE_SET_PROXY_USER_HEADER] = {"proxy_user_header", "", KIND_TEXT, 0, 0,
                                    "header in which trusted_proxies name the person who asks; empty: they do not"},
    [MIRE_SET_DEFAULT_ROLE] = {"default_role", "viewer", KIND_WORD, 0, 0,
                               "none, viewer, triager, admin: role in every app of people who come by a proxy"},
    [MIRE_SET_OIDC_ISSUER] = {"oidc_issuer", "", KIND_TEXT, 0, 0,
                              "OpenID provider by which people sign in: its issuer; empty: none"},
    [MIRE_SET_OIDC_CLIENT_ID] = {"oidc_client_id", "", KIND_TEXT, 0, 0, "name of this client at the provider"},
    [MIRE_SET_OIDC_CLIENT_SECRET_FILE] = {"oidc_client_secret_file", "", KIND_TEXT, 0, 0,
                                          "file whose first line is the client's secret; empty: it has none"},
    [MIRE_SET_OIDC_NAME] = {"oidc_name", "single sign-on", KIND_TEXT, 0, 0, "name of the provider on the page"},
    [MIRE_SET_OIDC_SCOPES] = {"oidc_scopes", "openid profile email", KIND_TEXT, 0, 0, "scopes that are asked for"},
    [MIRE_SET_OIDC_GROUPS_CLAIM] = {"oidc_groups_claim", "groups", KIND_TEXT, 0, 0,
                                    "claim that names the person's groups; dots lead into objects"},
    [MIRE_SET_OIDC_ROLES] = {"oidc_roles", "", KIND_TEXT, 0, 0,
                             "roles of groups: GROUP = ROLE, GROUP = ROLE @ APP ...; empty: roles are given by hand"},
    [MIRE_SET_OIDC_DEFAULT_ROLE] = {"oidc_default_role", "none", KIND_WORD, 0, 0,
                                    "none, viewer, triager, admin: role in every app of people without such a group"},
    [MIRE_SET_OIDC_CA_FILE] = {"oidc_ca_file", "", KIND_TEXT, 0, 0,
                               "certificates that the provider's is checked by; empty: those of the system"},
    [MIRE_SET_HEADERS_S] = {"headers_s", "10", KIND_NUMBER, 1, 3600,
                            "the headers of a request must have come after so many seconds"},
    [MIRE_SET_REQUEST_S] = {"request_s", "120", KIND_NUMBER, 1, 86400,
                            "so must its body, in more seconds if it is large"},
    [MIRE_SET_IDLE_S] = {"idle_s", "60", KIND_NUMBER, 1, 3600, "a silent connection is closed after so many seconds"},
    [MIRE_SET_BODIES_MAX_MB] = {"bodies_max_mb", "512", KIND_NUMBER, 8, 65536,
                                "memory for all request bodies together, MiB"},
    [MIRE_SET_QUEUE_MAX_MB] = {"queue_max_mb", "64", KIND_NUMBER, 4, 16384, "reports waiting to be stored, MiB"},
    [MIRE_SET_QUEUE_MAX_REPORTS] = {"queue_max_reports", "8192", KIND_NUMBER, 1, 1000000,
                                    "reports waiting to be stored"},
    [MIRE_SET_RETENTION_DAYS] = {"retention_days", "90", KIND_NUMBER, 0, 36500,
                                 "reports are kept so many days; 0: for ever"},
    [MIRE_SET_SYMBOL_DIRS] = {"symbol_dirs", "/usr/lib/debug", KIND_TEXT, 0, 0,
                              "directories with .build-id/xx/yyyy.debug below, separated by :"},
    [MIRE_SET_LOCAL_IMAGES] = {"local_images", "no", KIND_FLAG, 0, 0,
                               "yes: also read symbols from the programs of this machine"},
    [MIRE_SET_DEBUGINFOD] = {"debuginfod", "", KIND_SERVERS, 0, 0,
                             "debuginfod servers asked for debug files, separated by spaces; empty: none"},
    [MIRE_SET_DEBUGINFOD_MAX_MB] = {"debuginfod_max_mb", "1024", KIND_NUMBER, 1, 65536,
                                    "a larger file of theirs is not taken, MiB"},
    [MIRE_SET_DEBUGINFOD_S] = {"debuginfod_s", "300", KIND_NUMBER, 1, 86400,
                               "their answer must be complete after so many seconds"},
    [MIRE_SET_CACHE_MAX_MB] = {"cache_max_mb", "4096", KIND_NUMBER, 0, 1 << 24,
                               "debug files unpacked in data_dir, MiB; 0: no limit"},
    [MIRE_SET_RULES] = {"rules", "", KIND_RULES, 0, 0, "file of rules asked before the built-in ones; empty: none"},
    [MIRE_SET_MEMORY_RULES] = {"memory_rules", "", KIND_MEMORY_RULES, 0, 0,
                               "the same, of rules for what a process may hold"},
    [MIRE_SET_ALERT_EVERY_S] = {"alert_every_s", "60", KIND_NUMBER, 1, 3600,
                                "seconds between two looks at a rule of alerts"},
    [MIRE_SET_ALERT_PRIVATE_HOOKS] = {"alert_private_hooks", "no", KIND_FLAG, 0, 0,
                                      "yes: hooks of alerts may lead to this machine and private networks"},
    [MIRE_SET_ALERT_CA_FILE] = {"alert_ca_file", "", KIND_TEXT, 0, 0,
                                "file of certificates that hooks and the mail server may be signed by"},
    [MIRE_SET_SMTP] = {"smtp", "", KIND_TEXT, 0, 0,
                       "mail server, as smtp://host:587 or smtps://host:465; empty: no e-mail"},
    [MIRE_SET_SMTP_USER] = {"smtp_user", "", KIND_TEXT, 0, 0, "name to sign in with there; empty: none"},
    [MIRE_SET_SMTP_PASSWORD_FILE] = {"smtp_password_file", "", KIND_TEXT, 0, 0,
                                     "file whose first line is the password"},
    [MIRE_SET_SMTP_TLS] = {"smtp_tls", "yes", KIND_FLAG, 0, 0, "no: e-mail is sent without TLS"},
    [MIRE_SET_MAIL_FROM] = {"mail_from", "", KIND_TEXT, 0, 0, "address that e-mail comes from"},
    [MIRE_SET_PORT_FILE] = {"port_file", "", KIND_TEXT, 0, 0, "file that holds the port while mired serves"},
    [MIRE_SET_POSTGRES_BIN] = {"postgres_bin", "", KIND_TEXT, 0, 0,
                               "directory of initdb and postgres; empty: the newest installed"},
    [MIRE_SET_SHUTDOWN_S] = {"shutdown_s", "20", KIND_NUMBER, 1, 3600, "seconds given to requests when stopping"},
};

/* Setting of a name; - and _ are one, and case is not told apart. -1: there is none. */
static int find(const char *name, size_t len)
{
    for (int s = 0; s < MIRE_SETTING_COUNT; s++) {
        size_t i = 0;
        while (i < len && table[s].name[i] &&
               (name[i] == '-' ? '_' : tolower((unsigned char)name[i])) == table[s].name[i])
            i++;
        if (i == len && !table[s].name[i])
            return s;
    }
    return -1;
}

static int set(struct config *config, struct problem *problem, int setting, const char *value, const char *from)
{
    if (strlen(value) >= MIRE_SETTING_MAX) {
        problem_set(problem, "config", "%s is too long.", table[setting].name);
        return -1;
    }
    snprintf(config->settings[setting].value, MIRE_SETTING_MAX, "%s", value);
    config->settings[setting].from = from;
    return 0;
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t len = strlen(text);
    while (len && strchr(" \t\r\n", text[len - 1]))
        text[--len] = '\0';
    return text;
}

/* One line of the file: empty, # comment, or name = value. */
static int read_line(struct config *config, struct problem *problem, char *line, int number)
{
    char *name = trim(line);
    char *value = strchr(name, '=');
    if (!*name || *name == '#')
        return 0;
    if (!value) {
        problem_set(problem, "config", "%.120s:%d: write name = value.", config->file, number);
        return -1;
    }
    *value++ = '\0';
    name = trim(name);
    int setting = find(name, strlen(name));
    if (setting < 0) {
        problem_set(problem, "config", "%.100s:%d: there is no setting %.40s.", config->file, number, name);
        return -1;
    }
    return set(config, problem, setting, trim(value), "file");
}

static int read_file(struct config *config, struct problem *problem)
{
    char line[2 * MIRE_SETTING_MAX];
    int rc = 0;
    MIRE_SCOPED(close_file) FILE *file = fopen(config->file, "re");
    if (!file) {
        problem_set(problem, "config", "%.150s cannot be read: %s.", config->file, strerror(errno));
        return -1;
    }
    for (int number = 1; !rc && fgets(line, sizeof line, file); number++)
        rc = read_line(config, problem, line, number);
    return rc;
}

static const char *environment_value(char *const *environment, const char *name)
{
    size_t len = strlen(name);
    for (char *const *entry = environment; *entry; entry++)
        if (!strncmp(*entry, name, len) && (*entry)[len] == '=')
            return *entry + len + 1;
    return NULL;
}

static int read_environment(struct config *config, struct problem *problem, char *const *environment)
{
    const char *url = environment_value(environment, "DATABASE_URL");
    int rc = url ? set(config, problem, MIRE_SET_DATABASE_URL, url, "environment") : 0;
    for (int s = 0; s < MIRE_SETTING_COUNT && !rc; s++) {
        char name[64] = "MIRED_";
        for (size_t i = 0; table[s].name[i]; i++) {
            name[6 + i] = (char)toupper((unsigned char)table[s].name[i]);
            name[7 + i] = '\0';
        }
        const char *value = environment_value(environment, name);
        rc = value ? set(config, problem, s, value, "environment") : 0;
    }
    return rc;
}

/* Take one flag from *args; leaves *args behind it. *config_file is set by --config. */
static int read_flag(struct config *config, struct problem *problem, char *const **args, const char **config_file)
{
    const char *arg = *(*args)++;
    const char *equals = strchr(arg, '=');
    size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
    bool is_file = len == strlen("--config") && !strncmp(arg, "--config", len);
    int setting = len > 2 && !strncmp(arg, "--", 2) ? find(arg + 2, len - 2) : -1;
    if (setting < 0 && !is_file) {
        problem_set(problem, "config", "There is no flag %.80s.", arg);
        return -1;
    }
    const char *value = equals ? equals + 1 : **args ? *(*args)++ : NULL;
    if (!value) {
        problem_set(problem, "config", "%.80s needs a value.", arg);
        return -1;
    }
    if (is_file)
        *config_file = value;
    return is_file ? 0 : set(config, problem, setting, value, "flag");
}

/* The dashboard installed with this program, wherever both were moved; else where the build was to install it. */
static void find_web_dir(char *out, size_t size)
{
    char self[PATH_MAX], path[PATH_MAX + sizeof MIRE_WEB_FROM_BIN + 16], real[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    self[len > 0 ? len : 0] = '\0';
    char *slash = strrchr(self, '/');
    snprintf(out, size, "%s", MIRE_WEB_DIR);
    if (!slash)
        return;
    snprintf(path, sizeof path, "%.*s/" MIRE_WEB_FROM_BIN, (int)(slash - self), self);
    if (realpath(path, real) && strlen(real) < size)
        snprintf(out, size, "%s", real);
}

static void set_presets(struct config *config)
{
    const char *home = getenv("HOME");
    for (int s = 0; s < MIRE_SETTING_COUNT; s++) {
        snprintf(config->settings[s].value, MIRE_SETTING_MAX, "%s", table[s].preset);
        config->settings[s].from = "default";
    }
    char *data_dir = config->settings[MIRE_SET_DATA_DIR].value;
    if (geteuid() == 0 || !home)
        snprintf(data_dir, MIRE_SETTING_MAX, "/var/lib/mire");
    else
        snprintf(data_dir, MIRE_SETTING_MAX, "%.900s/.local/share/mire", home);
    find_web_dir(config->settings[MIRE_SET_WEB_DIR].value, MIRE_SETTING_MAX);
}

int config_load(struct config *out, struct problem *problem, char *const *args, char *const *environment)
{
    struct config flags = {0};
    const char *file = environment_value(environment, "MIRED_CONFIG");
    memset(out, 0, sizeof *out);
    while (*args)
        if (read_flag(&flags, problem, &args, &file))
            return -1;
    set_presets(out);
    if (!file && !access(DEFAULT_FILE, F_OK))
        file = DEFAULT_FILE;
    snprintf(out->file, sizeof out->file, "%s", file ? file : "");
    if (file && read_file(out, problem))
        return -1;
    if (read_environment(out, problem, environment))
        return -1;
    for (int s = 0; s < MIRE_SETTING_COUNT; s++)
        if (flags.settings[s].from)
            out->settings[s] = flags.settings[s];
    return 0;
}

const char *config_text(const struct config *config, enum setting setting)
{
    return config->settings[setting].value;
}

static bool read_number(long *out, const char *text)
{
    char *end;
    errno = 0;
    *out = strtol(text, &end, 10);
    return *text && !*end && !errno;
}

long config_number(const struct config *config, enum setting setting)
{
    long value;
    return read_number(&value, config->settings[setting].value) ? value : strtol(table[setting].preset, NULL, 10);
}

bool config_flag(const struct config *config, enum setting setting)
{
    return !strcmp(config->settings[setting].value, "yes");
}

bool config_listen(char address_out[64], uint16_t *port_out, const struct config *config)
{
    const char *text = config_text(config, MIRE_SET_LISTEN);
    const char *colon = strrchr(text, ':');
    unsigned char address[16];
    long port;
    if (!colon || !read_number(&port, colon + 1) || port < 0 || port > 65535)
        return false;
    size_t len = (size_t)(colon - text);
    bool is_v6 = len > 2 && text[0] == '[' && text[len - 1] == ']';
    if (is_v6) {
        text++;
        len -= 2;
    }
    if (len >= 64)
        return false;
    memcpy(address_out, text, len);
    address_out[len] = '\0';
    *port_out = (uint16_t)port;
    return inet_pton(is_v6 ? AF_INET6 : AF_INET, address_out, address) == 1;
}

void config_hosts(char out[MIRE_SETTING_MAX], const struct config *config)
{
    size_t len = 0;
    out[0] = '\0';
    for (const char *at = config_text(config, MIRE_SET_PUBLIC_URL); *at;) {
        at += strspn(at, " ");
        const char *scheme = strstr(at, "://");
        size_t all = strcspn(at, " ");
        const char *host = scheme && scheme < at + all ? scheme + 3 : at;
        size_t part = host[0] == '[' ? strcspn(host, "] ") + 1 : strcspn(host, ":/ ");
        if (len + part + 2 > MIRE_SETTING_MAX)
            return;
        len += (size_t)snprintf(out + len, MIRE_SETTING_MAX - len, "%s%.*s", len ? " " : "", (int)part, host);
        at += all;
    }
}

size_t config_proxies(struct http_peer *out, size_t most, const struct config *config)
{
    char text[MIRE_SETTING_MAX], *rest = text;
    size_t count = 0;
    snprintf(text, sizeof text, "%s", config_text(config, MIRE_SET_TRUSTED_PROXIES));
    for (char *part; count < most && (part = strsep(&rest, " "));)
        if (*part && http_peer_parse(&out[count], part))
            count++;
    return count;
}

/* Each is one of IPv4 or IPv6. */
static bool addresses_are_good(const char *value)
{
    char text[MIRE_SETTING_MAX], *rest = text;
    struct http_peer peer;
    snprintf(text, sizeof text, "%s", value);
    for (char *part; (part = strsep(&rest, " "));)
        if (*part && !http_peer_parse(&peer, part))
            return false;
    return true;
}

bool config_is_loopback(const struct config *config)
{
    char address[64];
    uint16_t port;
    return config_listen(address, &port, config) && (!strncmp(address, "127.", 4) || !strcmp(address, "::1"));
}

enum access_mode config_mode(const struct config *config)
{
    const char *value = config_text(config, MIRE_SET_SIGN_IN);
    bool is_private = config_is_loopback(config) && !*config_text(config, MIRE_SET_PUBLIC_URL) &&
                      !*config_text(config, MIRE_SET_TRUSTED_PROXIES);
    if (!strcmp(value, "no"))
        return MIRE_MODE_OPEN;
    return !strcmp(value, "auto") && is_private ? MIRE_MODE_SINGLE : MIRE_MODE_SIGN_IN;
}

/* Each begins like the address of a web server. */
static bool servers_are_good(const char *value)
{
    for (const char *at = value + strspn(value, " "); *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strncmp(at, "http://", 7) != 0 && strncmp(at, "https://", 8) != 0)
            return false;
    return true;
}

/* Is the value one of the words that the help begins with? */
static bool word_is_good(const char *help, const char *value)
{
    size_t len = strlen(value);
    for (const char *at = help; len && *at; at += strspn(at, ", ")) {
        size_t part = strcspn(at, ",:");
        if (part == len && !strncmp(at, value, len))
            return true;
        at += part;
        if (*at == ':')
            return false;
    }
    return false;
}

static bool value_is_good(const struct config *config, int s)
{
    const char *value = config->settings[s].value;
    enum log_level level;
    char address[64];
    uint16_t port;
    long number;
    switch (table[s].kind) {
    case KIND_NUMBER:
        return read_number(&number, value) && number >= table[s].least && number <= table[s].most;
    case KIND_FLAG:
        return !strcmp(value, "yes") || !strcmp(value, "no");
    case KIND_SERVERS:
        return servers_are_good(value);
    case KIND_ADDRESSES:
        return addresses_are_good(value);
    case KIND_WORD:
        return word_is_good(table[s].help, value);
    case KIND_LISTEN:
        return config_listen(address, &port, config);
    case KIND_LEVEL:
        return !log_level_parse(&level, value);
    case KIND_FORMAT:
        return !strcmp(value, "text") || !strcmp(value, "json");
    default:
        return true;
    }
}

/* The rule file is read; what is wrong in it is described. */
static bool rules_are_good(enum setting_kind kind, const char *path, FILE *out)
{
    struct rules *rules = NULL;
    struct suspect_rules *suspects = NULL;
    struct rules_fault fault = {0};
    enum rules_outcome outcome =
        kind == KIND_RULES ? rules_load(&rules, &fault, path) : suspect_rules_load(&suspects, &fault, path);
    if (out && outcome == MIRE_RULES_WRONG && fault.line)
        fprintf(out, "%s:%u: %s\n", path, fault.line, fault.text);
    else if (out && outcome != MIRE_RULES_OK)
        fprintf(out, "%s: %s\n", path, fault.text);
    rules_free(rules);
    suspect_rules_free(suspects);
    return outcome == MIRE_RULES_OK;
}

int config_check(const struct config *config, FILE *out)
{
    int bad = 0;
    for (int s = 0; s < MIRE_SETTING_COUNT; s++) {
        if (table[s].kind == KIND_RULES || table[s].kind == KIND_MEMORY_RULES) {
            bad += !rules_are_good(table[s].kind, config->settings[s].value, out);
            continue;
        }
        if (value_is_good(config, s))
            continue;
        bad++;
        if (out && table[s].kind == KIND_NUMBER)
            fprintf(out, "%s = %s: must be a number from %ld to %ld\n", table[s].name, config->settings[s].value,
                    table[s].least, table[s].most);
        else if (out)
            fprintf(out, "%s = %s: must be %s\n", table[s].name, config->settings[s].value,
                    table[s].kind == KIND_FLAG ? "yes or no" : table[s].help);
    }
    return bad;
}

/* Put *** in the place of what lies from `from` to `to`. */
static void hide(char *text, char *from, char *to)
{
    static const char stars[] = "***";
    size_t room = MIRE_SETTING_MAX - 1 - (size_t)(from - text), rest = strlen(to);
    if (rest + sizeof stars - 1 > room)
        rest = room - (sizeof stars - 1);
    memmove(from + sizeof stars - 1, to, rest);
    memcpy(from, stars, sizeof stars - 1);
    from[sizeof stars - 1 + rest] = '\0';
}

void config_shown(char out[MIRE_SETTING_MAX], const struct config *config, enum setting setting)
{
    snprintf(out, MIRE_SETTING_MAX, "%s", config->settings[setting].value);
    for (char *at = out; (at = strstr(at, "://"));) { /* between a user's name and the @ */
        at += 3;
        size_t len = strcspn(at, "@/ ");
        char *colon = at[len] == '@' ? memchr(at, ':', len) : NULL;
        if (colon)
            hide(out, colon + 1, at + len);
    }
    for (char *at = out; (at = strstr(at, "password="));) {
        at += strlen("password=");
        hide(out, at, at + strcspn(at, " &"));
    }
}

const char *config_name(enum setting setting)
{
    return table[setting].name;
}

void config_print(const struct config *config, FILE *out)
{
    char value[MIRE_SETTING_MAX];
    for (int s = 0; s < MIRE_SETTING_COUNT; s++) {
        config_shown(value, config, (enum setting)s);
        fprintf(out, "%-23s = %s   (%s)\n", table[s].name, value, config->settings[s].from);
    }
}

void config_help(FILE *out)
{
    for (int s = 0; s < MIRE_SETTING_COUNT; s++) {
        char flag[32];
        snprintf(flag, sizeof flag, "%s", table[s].name);
        for (char *c = flag; *c; c++)
            *c = *c == '_' ? '-' : *c;
        fprintf(out, "  --%-23s %s%s%s%s\n", flag, table[s].help, *table[s].preset ? " [" : "", table[s].preset,
                *table[s].preset ? "]" : "");
    }
}

int config_conninfo(char *out, size_t room, const struct config *config)
{
    const char *url = config_text(config, MIRE_SET_DATABASE_URL);
    if (!*url)
        return embedded_find(out, room, config_text(config, MIRE_SET_DATA_DIR)) ? -1 : 0;
    return (size_t)snprintf(out, room, "%s", url) < room ? 0 : -1;
}

struct log config_log(const struct config *config)
{
    struct log log = {
        .fd = 2, .least = MIRE_LOG_INFO, .json = !strcmp(config_text(config, MIRE_SET_LOG_FORMAT), "json")};
    log_level_parse(&log.least, config_text(config, MIRE_SET_LOG_LEVEL));
    return log;
}
