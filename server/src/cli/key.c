/*
 * key.c - `mire key`: the keys apps report with. Talks to mired's database directly, so it works before the server has
 * anybody who could sign in; it reads mired's own configuration.
 */
#include "cli/cli.h"

#include "base/clock.h"
#include "daemon/config.h"
#include "pg/embedded.h"
#include "pg/key.h"
#include "pg/migrate.h"

#include <getopt.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTINGS_MAX     16
#define BEGINNING_MOST_S 2  /* from the start of mired's process to its lock on the data directory */
#define STARTING_MOST_S  60 /* from there to a database with all its tables */

extern char **environ;

static const char usage[] =
    "Usage: mire key create APP [--scope ingest|symbols|rollout|rules] [--label TEXT]\n"
    "       mire key list APP\n"
    "       mire key revoke APP KEY-NUMBER\n\n"
    "create makes the app too if there is none of that name, and prints the key once: only its hash is kept.\n"
    "list shows the keys of an app, revoke makes one useless at once.\n\n"
    "The database is found as mired finds it:\n"
    "  --config FILE        mired's configuration\n"
    "  --data-dir DIR       where mired keeps its private PostgreSQL (mired must be running)\n"
    "  --database-url URL   a PostgreSQL of your own; also $DATABASE_URL\n";

struct keys {
    const char *verb, *app, *scope, *label, *number;
    char *settings[SETTINGS_MAX + 1]; /* what goes to config_load */
    size_t setting_count;
    struct pg *pg;
};

static int wrong(const char *what)
{
    fprintf(stderr, "mire key: %s\n%s", what, usage);
    return CLI_USAGE;
}

static int failed(const char *what, int rc)
{
    fprintf(stderr, "mire key: %s: %s\n", what, fault_name(rc));
    return CLI_FAILED;
}

static int run_create(struct keys *keys)
{
    char key[MIRE_KEY_TEXT];
    int rc = pg_key_create(key, keys->pg, keys->app, keys->scope, keys->label);

    if (rc != 0)
        return failed("the key could not be made", rc);
    puts(key);
    return CLI_DONE;
}

static int print_key(void *context, const struct pg_key_row *row)
{
    char created[32], revoked[32] = "";

    (void)context;
    clock_format(created, row->created_us);
    if (row->revoked_us)
        clock_format(revoked, row->revoked_us);
    printf("%-6" PRId64 " %-9s %-8s %.10s  %-10.10s %s\n", row->key, row->prefix, row->scope, created,
           row->revoked_us ? revoked : "-", row->label);
    return 0;
}

static int run_list(struct keys *keys)
{
    printf("%-6s %-9s %-8s %-10s  %-10s %s\n", "KEY", "BEGINS", "SCOPE", "MADE", "REVOKED", "LABEL");
    int rc = pg_key_list(keys->pg, keys->app, print_key, NULL);
    return rc == 0 ? CLI_DONE : failed("the keys could not be listed", rc);
}

static int run_revoke(struct keys *keys)
{
    char *end;
    long long number = strtoll(keys->number, &end, 10);

    if (*end || end == keys->number || number < 1)
        return wrong("KEY-NUMBER is the first column of `mire key list`");
    int rc = pg_key_revoke(keys->pg, keys->app, number);
    if (rc == MIRE_KEY_UNKNOWN) {
        fprintf(stderr, "mire key: app %s has no good key %lld\n", keys->app, number);
        return CLI_FAILED;
    }
    return rc == 0 ? CLI_DONE : failed("the key could not be revoked", rc);
}

static const struct {
    const char *verb;
    int words; /* that follow it */
    int (*run)(struct keys *keys);
} verbs[] = {{"create", 1, run_create}, {"list", 1, run_list}, {"revoke", 2, run_revoke}};

/* Open the database of a configuration; what it complains of goes to `log`. CLI_DONE or CLI_FAILED. */
static int try_database(struct keys *keys, const struct config *config, const struct log *log)
{
    static char conninfo[MIRE_SETTING_MAX + 256];

    if (config_conninfo(conninfo, sizeof conninfo, config) != 0)
        return CLI_FAILED;
    const struct pg_options options = {
        .conninfo = conninfo, .connections = 1, .wait_ms = 5000, .read_limit_ms = 5000, .log = log};
    return pg_open(&keys->pg, &options) == 0 ? CLI_DONE : CLI_FAILED;
}

/*
 * `mired serve & mire key create ...`: give mired a moment to begin, and time to make its private cluster and the
 * tables. Without a word to say, whatever comes of it: the real try will tell.
 */
static void await_mired(struct keys *keys, const struct config *config)
{
    static const struct log silent = {.fd = 2, .least = MIRE_LOG_OFF};
    const char *data_dir = config_text(config, MIRE_SET_DATA_DIR);
    bool up = false;

    for (int tick = 0; !up && tick < (embedded_is_kept(data_dir) ? STARTING_MOST_S : BEGINNING_MOST_S) * 10; tick++) {
        if (tick)
            usleep(100000);
        up = try_database(keys, config, &silent) == CLI_DONE &&
             pg_is_migrated(keys->pg, pg_migrations, pg_migration_count);
        pg_close(keys->pg);
        keys->pg = NULL;
    }
}

static int open_database(struct keys *keys)
{
    static struct config config;
    static const struct log quiet = {.fd = 2, .least = MIRE_LOG_WARN};
    struct problem problem = MIRE_PROBLEM_INIT;

    if (config_load(&config, &problem, keys->settings, environ) != 0) {
        fprintf(stderr, "mire key: %s\n", problem.text);
        return CLI_USAGE;
    }
    if (!*config_text(&config, MIRE_SET_DATABASE_URL))
        await_mired(keys, &config);
    if (try_database(keys, &config, &quiet) != CLI_DONE) {
        fprintf(stderr,
                "mire key: no database: mired is not running with data directory %s, and no database URL is set\n",
                config_text(&config, MIRE_SET_DATA_DIR));
        return CLI_FAILED;
    }
    return CLI_DONE;
}

static int check_app(const char *app)
{
    regex_t slug;
    int rc = regcomp(&slug, "^[a-z0-9][a-z0-9-]{0,62}$", REG_EXTENDED | REG_NOSUB);

    if (rc == 0) {
        rc = regexec(&slug, app, 0, NULL, 0);
        regfree(&slug);
    }
    return rc;
}

static int pick(struct keys *keys, int argc, char **argv)
{
    size_t v = 0;

    if (optind == argc)
        return wrong("create, list or revoke?");
    while (v < sizeof verbs / sizeof *verbs && strcmp(verbs[v].verb, argv[optind]) != 0)
        v++;
    if (v == sizeof verbs / sizeof *verbs)
        return wrong("create, list or revoke?");
    if (argc - optind - 1 != verbs[v].words)
        return wrong("wrong number of arguments");
    keys->app = argv[optind + 1];
    keys->number = argv[optind + verbs[v].words];
    if (check_app(keys->app) != 0)
        return wrong("APP is lower-case letters, digits and '-', 63 at most, and begins with no '-'");
    int status = open_database(keys);
    if (status == CLI_DONE)
        status = verbs[v].run(keys);
    pg_close(keys->pg);
    return status;
}

static char *setting_flag(int option)
{
    static char config[] = "--config", data_dir[] = "--data-dir", database_url[] = "--database-url";
    return option == 'c' ? config : option == 'd' ? data_dir : database_url;
}

int cli_key(int argc, char **argv)
{
    static const struct option options[] = {{"scope", required_argument, NULL, 's'},
                                            {"label", required_argument, NULL, 'l'},
                                            {"config", required_argument, NULL, 'c'},
                                            {"data-dir", required_argument, NULL, 'd'},
                                            {"database-url", required_argument, NULL, 'u'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct keys keys = {.scope = "ingest", .label = ""};
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return CLI_DONE;
        } else if (option == 's') {
            keys.scope = optarg;
        } else if (option == 'l') {
            keys.label = optarg;
        } else if (option == '?' || keys.setting_count + 2 > SETTINGS_MAX) {
            return CLI_USAGE;
        } else {
            keys.settings[keys.setting_count++] = setting_flag(option);
            keys.settings[keys.setting_count++] = optarg;
        }
    }
    if (strcmp(keys.scope, "ingest") != 0 && strcmp(keys.scope, "symbols") != 0 && strcmp(keys.scope, "rollout") != 0 &&
        strcmp(keys.scope, "rules") != 0)
        return wrong("the scope is ingest, symbols, rollout or rules");
    return pick(&keys, argc, argv);
}
