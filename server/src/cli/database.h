/*
 * database.h - commands that use mired's database directly, so that they work before anyone can sign in.
 */
#ifndef MIRE_CLI_DATABASE_H
#define MIRE_CLI_DATABASE_H

#include "daemon/config.h"
#include "pg/pg.h"

#define CLI_SETTINGS_MAX 16

struct cli_database {
    const char *command;                  /* the command in messages: "mire key" */
    char *settings[CLI_SETTINGS_MAX + 1]; /* arguments of config_load */
    size_t setting_count;
    struct config config; /* filled by cli_open_database */
    struct pg *pg;        /* the same; the caller closes it */
};

/* Parts of a page of help: the options, and the paragraph about them. */
#define CLI_DATABASE_ABOUT                                                                                       \
    "The command reads and writes mired's database, which it finds as mired does: by --database-url, --config, " \
    "--data-dir."
#define CLI_DATABASE(database)                                                                                \
    {"config", "FILE", "mired's configuration", "FILE", .take = cli_take_config, .context = &(database)},     \
        {"data-dir",                                                                                          \
         "DIR",                                                                                               \
         "directory of mired's private PostgreSQL (mired must be running)",                                   \
         "DIR",                                                                                               \
         .take = cli_take_data_dir,                                                                           \
         .context = &(database)},                                                                             \
    {                                                                                                         \
        "database-url", "URL", "a PostgreSQL of your own; also $DATABASE_URL", .take = cli_take_database_url, \
                                                                               .context = &(database)         \
    }

/* cli_option.take of the three; the context is a struct cli_database *. */
const char *cli_take_config(void *database, char *value);
const char *cli_take_data_dir(void *database, char *value);
const char *cli_take_database_url(void *database, char *value);

/* CLI_DONE, or the exit status after a message. Waits for a mired that is starting. */
int cli_open_database(struct cli_database *database);

struct audit_row;

/* Write a row of the audit log in the name of the user of this machine. 0 or a fault. */
int cli_audit(struct pg_tx *tx, const struct audit_row *row);

#endif
