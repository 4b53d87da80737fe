/*
 * config_load.c - reads settings from flags, the environment and the file.
 */
#include "daemon/config_table.h"

#include "base/scope.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FILE "/etc/mire/mired.conf"

/* Setting of a name; - and _ are one, and case is not told apart. -1: there is none. */
static int find(const char *name, size_t len)
{
    for (int s = 0; s < MIRE_SETTING_COUNT; s++) {
        size_t i = 0;
        while (i < len && config_table[s].name[i] &&
               (name[i] == '-' ? '_' : tolower((unsigned char)name[i])) == config_table[s].name[i])
            i++;
        if (i == len && !config_table[s].name[i])
            return s;
    }
    return -1;
}

static int set(struct config *config, struct problem *problem, int setting, const char *value, const char *from)
{
    if (strlen(value) >= MIRE_SETTING_MAX) {
        problem_set(problem, "config", "%s is too long.", config_table[setting].name);
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
        problem_set(problem, "config", "%.100s:%d: there is no setting %.*s.", config->file, number,
                    TEXT_CUT(name, 40));
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
        for (size_t i = 0; config_table[s].name[i]; i++) {
            name[6 + i] = (char)toupper((unsigned char)config_table[s].name[i]);
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
        problem_set(problem, "config", "There is no flag %.*s.", TEXT_CUT(arg, 80));
        return -1;
    }
    const char *value = NULL;
    if (equals)
        value = equals + 1;
    else if (**args)
        value = *(*args)++;
    if (!value) {
        problem_set(problem, "config", "%.*s needs a value.", TEXT_CUT(arg, 80));
        return -1;
    }
    if (is_file)
        *config_file = value;
    return is_file ? 0 : set(config, problem, setting, value, "flag");
}

/* The dashboard installed with this program, wherever both were moved; otherwise where the build was to install it. */
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
        snprintf(config->settings[s].value, MIRE_SETTING_MAX, "%s", config_table[s].preset);
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
