/*
 * key.c - `mire key`: the keys apps report with. Talks to mired's database directly, so it works before the server has
 * anybody who could sign in; it reads mired's own configuration.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/database.h"
#include "cli/fetch.h"
#include "cli/say.h"

#include "access/access.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/text.h"
#include "rows/apps.h"
#include "rows/audit.h"
#include "rows/key.h"
#include "rows/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES  (1u << 20)
#define OVERLAP_DAYS 7 /* a rotated key goes on being good */

struct key_command {
    const char *app, *scope, *label, *number, *server;
    bool dsn;
    int64_t days; /* -1: unknown */
    struct cli_database database;
};

static int wrong(const char *what)
{
    return cli_wrong("mire key", "%s", what);
}

static int failed(const char *what, int rc)
{
    say(stderr, "mire key: %s: %s\n", what, fault_name(rc));
    return CLI_FAILED;
}

/* The key as Sentry's SDKs are told it: SCHEME://KEY@HOST/NUMBER-OF-THE-APP. */
static int print_dsn(struct key_command *keys, const char *key)
{
    uint8_t hash[MIRE_KEY_HASH];
    int32_t app;

    key_hash(hash, key, strlen(key));
    int rc = rows_key_find(&app, keys->database.pg, hash, keys->scope);
    if (rc != 0)
        return failed("the app of the key was not found", rc);
    const char *host = strstr(keys->server, "://") + 3;
    size_t len = strlen(host);
    while (len && host[len - 1] == '/')
        len--;
    say(stdout, "%.*s%s@%.*s/%" PRId32 "\n", (int)(host - keys->server), keys->server, key, (int)len, host, app);
    return CLI_DONE;
}

/* Write down what was done. 0 or a fault. */
static int audit(struct pg_tx *tx, int32_t app, const char *action, int64_t key, const char *before, const char *after)
{
    char subject[32];

    snprintf(subject, sizeof subject, "key %" PRId64, key);
    return cli_audit(
        tx, &(struct audit_row){.app = app, .action = action, .subject = subject, .before = before, .after = after});
}

static int create(char key_out[MIRE_KEY_TEXT], const struct key_command *keys)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(text_fini) struct text after = {0};
    int days = keys->days < 0 ? 0 : (int)keys->days;
    int64_t number;
    int32_t app;
    int rc = pg_begin(&tx, keys->database.pg, MIRE_PG_WRITE);

    text_printf(&after, "%s, %d days: %s", keys->scope, days, keys->label);
    if (!rc && text_failed(&after))
        rc = MIRE_FAULT_MEMORY;
    if (!rc)
        rc = rows_app_ensure(&app, tx, keys->app);
    if (!rc)
        rc = rows_key_add(&number, key_out, tx, app, keys->scope, keys->label, days);
    if (!rc)
        rc = audit(tx, app, "key.made", number, NULL, after.bytes);
    return rc ? rc : pg_commit(&tx);
}

static int run_create(struct key_command *keys)
{
    char key[MIRE_KEY_TEXT];

    if (keys->dsn && strcmp(keys->scope, "ingest") != 0)
        return wrong("a DSN is a key of scope ingest");
    if (keys->dsn && !strstr(keys->server, "://"))
        return wrong("--server is an address like https://mire.example.com");
    int rc = create(key, keys);
    if (rc != 0)
        return failed("the key could not be made", rc);
    if (keys->dsn)
        return print_dsn(keys, key);
    puts(key);
    return CLI_DONE;
}

/* A date, or "-". */
static void format_day(char out[32], int64_t us)
{
    snprintf(out, 32, "-");
    if (us)
        clock_format(out, us);
}

static int print_key(void *context, const struct rows_key_row *row)
{
    char created[32], used[32], ends[32];

    (void)context;
    format_day(created, row->created_us);
    format_day(used, row->used_us);
    format_day(ends, row->revoked_us ? row->revoked_us : row->expires_us);
    const char *state = row->revoked_us                                         ? "revoked"
                        : row->expires_us && row->expires_us <= clock_wall_us() ? "expired"
                                                                                : "good";
    say(stdout, "%-6" PRId64 " %-9s %-8s %-8s %-10.10s  %-10.10s  %-10.10s %s\n", row->key, row->prefix, row->scope,
        state, created, used, ends, row->label);
    return 0;
}

static int run_list(struct key_command *keys)
{
    say(stdout, "%-6s %-9s %-8s %-8s %-10s  %-10s  %-10s %s\n", "KEY", "BEGINS", "SCOPE", "STATE", "MADE", "USED",
        "ENDS", "LABEL");
    int rc = rows_key_list(keys->database.pg, keys->app, print_key, NULL);
    return rc == 0 ? CLI_DONE : failed("the keys could not be listed", rc);
}

/* The number of the key. False: a message was printed. */
static bool read_number(int64_t *out, const struct key_command *keys)
{
    char *end;

    *out = strtoll(keys->number, &end, 10);
    if (!*end && end != keys->number && *out >= 1)
        return true;
    (void)wrong("KEY-NUMBER is the first column of `mire key list`");
    return false;
}

static int no_key(const struct key_command *keys, int64_t number)
{
    say(stderr, "mire key: app %s has no valid key %" PRId64 "\n", keys->app, number);
    return CLI_FAILED;
}

/* Rotate (overlap_s from 0 on) or revoke a key. MIRE_KEY_FOUND, MIRE_KEY_UNKNOWN, or a fault. */
static int change(char key_out[MIRE_KEY_TEXT], const struct key_command *keys, int64_t number, int64_t overlap_s)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(arena_fini) struct arena arena;
    const char *before = NULL;
    char after[64] = "";
    int64_t fresh;
    int32_t app;
    int rc = pg_begin(&tx, keys->database.pg, MIRE_PG_WRITE);

    arena_init(&arena, ARENA_BYTES);
    if (!rc)
        rc = rows_app_read(&app, tx, keys->app);
    if (rc == READ_NONE)
        return MIRE_KEY_UNKNOWN;
    if (!rc)
        rc = overlap_s < 0 ? rows_key_end(tx, app, number)
                           : rows_key_replace(&fresh, key_out, tx, app, number, overlap_s);
    if (!rc)
        rc = rows_key_tell(&before, tx, &arena, app, number);
    if (!rc && overlap_s >= 0)
        snprintf(after, sizeof after, "key %" PRId64, fresh);
    if (!rc)
        rc = audit(tx, app, overlap_s < 0 ? "key.revoked" : "key.rotated", number, before, after);
    return rc ? rc : pg_commit(&tx);
}

static int run_rotate(struct key_command *keys)
{
    char key[MIRE_KEY_TEXT];
    int64_t number, days = keys->days < 0 ? OVERLAP_DAYS : keys->days;

    if (!read_number(&number, keys))
        return CLI_USAGE;
    int rc = change(key, keys, number, days * 86400);
    if (rc == MIRE_KEY_UNKNOWN)
        return no_key(keys, number);
    if (rc != 0)
        return failed("the key could not be rotated", rc);
    puts(key);
    return CLI_DONE;
}

static int run_revoke(struct key_command *keys)
{
    int64_t number;

    if (!read_number(&number, keys))
        return CLI_USAGE;
    int rc = change(NULL, keys, number, -1);
    if (rc == MIRE_KEY_UNKNOWN)
        return no_key(keys, number);
    return rc == 0 ? CLI_DONE : failed("the key could not be revoked", rc);
}

static const struct {
    struct cli_verb verb;
    int (*run)(struct key_command *keys);
} verbs[] = {
    {{"create", "APP",
      "create a key, and the app if it does not exist; the key is printed once, because only its hash is stored"},
     run_create},
    {{"list", "APP", "the keys of an app"}, run_list},
    {{"rotate", "APP KEY-NUMBER", "create a key that replaces another one, which expires after --days"}, run_rotate},
    {{"revoke", "APP KEY-NUMBER", "revoke a key; it takes effect within seconds"}, run_revoke}};

static const char *take_scope(void *context, char *value)
{
    struct key_command *keys = context;

    keys->scope = value;
    return access_scope_parse(value) ? NULL : "the scope is ingest, symbols, rollout, rules, read or admin";
}

static const char *take_days(void *context, char *value)
{
    struct key_command *keys = context;
    char *end;

    keys->days = strtol(value, &end, 10);
    return *value && !*end && keys->days >= 0 && keys->days <= 36500 ? NULL : "the days are a number from 0 to 36500";
}

int cli_key(int argc, char **argv)
{
    static const struct cli_page page = {CLI_VERBS(verbs), .about = CLI_DATABASE_ABOUT};
    struct key_command keys = {
        .scope = "ingest", .label = "", .server = fetch_server(), .days = -1, .database = {.command = "mire key"}};
    const struct cli_option options[] = {
        {"scope", "SCOPE",
         "the rights of the key: ingest (the default) sends reports; symbols sends debug files; rollout and rules "
         "change those; read reads the data of the dashboard; admin has all rights but ingest",
         "ingest symbols rollout rules read admin", .take = take_scope, .context = &keys},
        {"label", "TEXT", "a name for the list", .text = &keys.label},
        {"days", "N", "the key expires after N days; default: never. With rotate, the old key does; default 7",
         .take = take_days, .context = &keys},
        {"dsn", .help = "print the key as a DSN for Sentry's SDKs: docs/import.md", .flag = &keys.dsn},
        {"server", "URL", "the address of mired in the DSN; default $MIRE_SERVER, else http://127.0.0.1:7117",
         .text = &keys.server},
        CLI_DATABASE(keys.database)};
    int status;
    int v = cli_begin_verb(&status, &argc, &argv, options, CLI_COUNT(options), &page);
    if (v < 0)
        return status;
    keys.app = argv[2];
    keys.number = argv[3];
    if (!rows_app_is_slug(keys.app))
        return wrong(
            "APP is lower-case letters, digits and '-', 63 at most, begins with no '-', and is not docs, api, assets "
            "or metrics");
    status = cli_open_database(&keys.database);
    if (status == CLI_DONE)
        status = verbs[v].run(&keys);
    pg_close(keys.database.pg);
    return status;
}
