/* database.c - see database.h. */
#include "cli/database.h"

#include "cli/cli.h"
#include "cli/say.h"
#include "postgres/embedded.h"
#include "postgres/migrate.h"
#include "rows/audit.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#define BEGINNING_MOST_S 2  /* from the start of mired's process to its lock on the data directory */
#define STARTING_MOST_S  60 /* from there to a database with all its tables */

static const char *take(struct cli_database *database, char *flag, char *value)
{
    if (database->setting_count + 2 > CLI_SETTINGS_MAX)
        return "too many settings";
    database->settings[database->setting_count++] = flag;
    database->settings[database->setting_count++] = value;
    return NULL;
}

const char *cli_take_config(void *database, char *value)
{
    static char flag[] = "--config";
    return take(database, flag, value);
}

const char *cli_take_data_dir(void *database, char *value)
{
    static char flag[] = "--data-dir";
    return take(database, flag, value);
}

const char *cli_take_database_url(void *database, char *value)
{
    static char flag[] = "--database-url";
    return take(database, flag, value);
}

int cli_audit(struct pg_tx *tx, const struct audit_row *row)
{
    const struct passwd *user = getpwuid(getuid());
    struct audit_row whole = *row;

    whole.who = user ? user->pw_name : "unknown user";
    whole.via = "command";
    return rows_audit_add(tx, &whole);
}

/* Open the database of a configuration; what it complains of goes to `log`. CLI_DONE or CLI_FAILED. */
static int try_database(struct cli_database *database, const struct config *config, const struct log *log)
{
    static char conninfo[MIRE_SETTING_MAX + 256];

    if (config_conninfo(conninfo, sizeof conninfo, config) != 0)
        return CLI_FAILED;
    const struct pg_options options = {
        .conninfo = conninfo, .connections = 1, .wait_ms = 5000, .read_limit_ms = 5000, .log = log};
    return pg_open(&database->pg, &options) == 0 ? CLI_DONE : CLI_FAILED;
}

/*
 * `mired serve & mire key create ...`: give mired a moment to begin, and time to make its private cluster and the
 * tables. Without a word to say, whatever comes of it: the real try will tell.
 */
static void await_mired(struct cli_database *database, const struct config *config)
{
    static const struct log silent = {.fd = 2, .least = MIRE_LOG_OFF};
    const char *data_dir = config_text(config, MIRE_SET_DATA_DIR);
    bool up = false;

    for (int tick = 0; !up && tick < (embedded_is_kept(data_dir) ? STARTING_MOST_S : BEGINNING_MOST_S) * 10; tick++) {
        if (tick)
            usleep(100000);
        up = try_database(database, config, &silent) == CLI_DONE &&
             pg_age_of_tables(database->pg, pg_migrations, pg_migration_count) != MIRE_TABLES_OLDER;
        pg_close(database->pg);
        database->pg = NULL;
    }
}

int cli_open_database(struct cli_database *database)
{
    static const struct log quiet = {.fd = 2, .least = MIRE_LOG_WARN};
    struct config *config = &database->config;
    struct problem problem = MIRE_PROBLEM_INIT;

    if (config_load(config, &problem, database->settings, environ) != 0) {
        say(stderr, "%s: %s\n", database->command, problem.text);
        return CLI_USAGE;
    }
    if (!*config_text(config, MIRE_SET_DATABASE_URL))
        await_mired(database, config);
    if (try_database(database, config, &quiet) != CLI_DONE) {
        say(stderr, "%s: no database: mired is not running with data directory %s, and no database URL is set\n",
            database->command, config_text(config, MIRE_SET_DATA_DIR));
        return CLI_FAILED;
    }
    return CLI_DONE;
}
