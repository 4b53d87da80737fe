/*
 * config_check.c - refuses values that are not of their setting's kind.
 */
#include "daemon/config_table.h"

#include "feature/suspects.h"

#include <string.h>

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
    switch (config_table[s].kind) {
    case KIND_NUMBER:
        return config_read_number(&number, value) && number >= config_table[s].least && number <= config_table[s].most;
    case KIND_FLAG:
        return !strcmp(value, "yes") || !strcmp(value, "no");
    case KIND_SERVERS:
        return servers_are_good(value);
    case KIND_ADDRESSES:
        return addresses_are_good(value);
    case KIND_WORD:
        return word_is_good(config_table[s].help, value);
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

/* Reads the file of rules, and describes its faults. */
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
        if (config_table[s].kind == KIND_RULES || config_table[s].kind == KIND_MEMORY_RULES) {
            bad += !rules_are_good(config_table[s].kind, config->settings[s].value, out);
            continue;
        }
        if (value_is_good(config, s))
            continue;
        bad++;
        if (out && config_table[s].kind == KIND_NUMBER)
            fprintf(out, "%s = %s: must be a number from %ld to %ld\n", config_table[s].name, config->settings[s].value,
                    config_table[s].least, config_table[s].most);
        else if (out)
            fprintf(out, "%s = %s: must be %s\n", config_table[s].name, config->settings[s].value,
                    config_table[s].kind == KIND_FLAG ? "yes or no" : config_table[s].help);
    }
    return bad;
}
