/*
 * config.c - the values of settings, as other folders use them and as people see them.
 */
#include "daemon/config_table.h"

#include "base/scope.h"
#include "postgres/embedded.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *config_text(const struct config *config, enum setting setting)
{
    return config->settings[setting].value;
}

bool config_read_number(long *out, const char *text)
{
    char *end;
    errno = 0;
    *out = strtol(text, &end, 10);
    return *text && !*end && !errno;
}

long config_number(const struct config *config, enum setting setting)
{
    long value;
    return config_read_number(&value, config->settings[setting].value) ? value
                                                                       : strtol(config_table[setting].preset, NULL, 10);
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
    if (!colon || !config_read_number(&port, colon + 1) || port < 0 || port > 65535)
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

bool config_is_loopback(const struct config *config)
{
    char address[64];
    uint16_t port;
    return config_listen(address, &port, config) && (!strncmp(address, "127.", 4) || !strcmp(address, "::1"));
}

/* Do processes of this machine alone reach mired? */
static bool is_private(const struct config *config)
{
    return config_is_loopback(config) && !*config_text(config, MIRE_SET_PUBLIC_URL) &&
           !*config_text(config, MIRE_SET_TRUSTED_PROXIES);
}

bool config_reads_images(const struct config *config)
{
    const char *value = config_text(config, MIRE_SET_LOCAL_IMAGES);
    return !strcmp(value, "yes") || (!strcmp(value, "auto") && is_private(config));
}

enum access_mode config_mode(const struct config *config)
{
    const char *value = config_text(config, MIRE_SET_SIGN_IN);
    if (!strcmp(value, "no"))
        return MIRE_MODE_OPEN;
    return !strcmp(value, "auto") && is_private(config) ? MIRE_MODE_SINGLE : MIRE_MODE_SIGN_IN;
}

int config_secret(char out[MIRE_SETTING_MAX], const struct config *config, enum setting setting)
{
    const char *path = config_text(config, setting);
    MIRE_SCOPED(close_file) FILE *file = *path ? fopen(path, "re") : NULL;
    out[0] = '\0';
    if (!*path)
        return 0;
    if (!file)
        return -1;
    errno = 0;
    if (!fgets(out, MIRE_SETTING_MAX, file))
        return -1;
    out[strcspn(out, "\r\n")] = '\0';
    return *out ? 0 : -1;
}

/* Replace the text from `from` to `to` by ***. */
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
    return config_table[setting].name;
}

void config_print(const struct config *config, FILE *out)
{
    char value[MIRE_SETTING_MAX];
    for (int s = 0; s < MIRE_SETTING_COUNT; s++) {
        config_shown(value, config, (enum setting)s);
        fprintf(out, "%-23s = %s   (%s)\n", config_table[s].name, value, config->settings[s].from);
    }
}

void config_help(FILE *out)
{
    for (int s = 0; s < MIRE_SETTING_COUNT; s++) {
        char flag[32];
        snprintf(flag, sizeof flag, "%s", config_table[s].name);
        for (char *c = flag; *c; c++)
            *c = *c == '_' ? '-' : *c;
        fprintf(out, "  --%-23s %s%s%s%s\n", flag, config_table[s].help, *config_table[s].preset ? " [" : "",
                config_table[s].preset, *config_table[s].preset ? "]" : "");
    }
}

int config_conninfo(char *out, size_t room, const struct config *config)
{
    const char *url = config_text(config, MIRE_SET_DATABASE_URL);
    if (!*url)
        return embedded_find(out, room, config_text(config, MIRE_SET_DATA_DIR)) ? -1 : 0;
    return (size_t)snprintf(out, room, "%s", url) < room ? 0 : -1;
}

void config_secret_key_file(char out[MIRE_SETTING_MAX], const struct config *config)
{
    const char *path = config_text(config, MIRE_SET_SECRET_KEY_FILE);
    const char *dir = config_text(config, MIRE_SET_DATA_DIR);
    if (*path)
        snprintf(out, MIRE_SETTING_MAX, "%s", path);
    else
        snprintf(out, MIRE_SETTING_MAX, "%.1000s/secret.key", dir);
}

struct log config_log(const struct config *config)
{
    struct log log = {
        .fd = 2, .least = MIRE_LOG_INFO, .json = !strcmp(config_text(config, MIRE_SET_LOG_FORMAT), "json")};
    log_level_parse(&log.least, config_text(config, MIRE_SET_LOG_LEVEL));
    return log;
}
