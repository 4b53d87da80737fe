/*
 * user.c - `mire user`: accounts of people. Talks to mired's database directly, so that whoever runs the server can
 * always let somebody in.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/database.h"
#include "cli/fetch.h"
#include "cli/say.h"

#include "access/access.h"
#include "base/clock.h"
#include "rows/account.h"
#include "rows/apps.h"
#include "rows/audit.h"
#include "rows/credential.h"
#include "rows/rows.h"

#include <stdio.h>
#include <string.h>

#define LINK_S      (3 * 24 * 3600)
#define ARENA_BYTES (16u << 20)

struct user_command {
    const char *name, *role, *app;
    bool is_server_admin;
    struct cli_database database;
    struct arena arena;
    struct pg_tx *tx;
};

static int failed(const struct user_command *user, const char *text)
{
    say(stderr, "mire user: %s: %s\n", user->name, text);
    return CLI_FAILED;
}

/* Say what went wrong, or nothing. */
static int status_of(const struct user_command *user, int rc)
{
    return rc ? failed(user, fault_name(rc)) : CLI_DONE;
}

static int find(struct account_row *out, struct user_command *user)
{
    int rc = rows_account_find(out, user->tx, &user->arena, user->name);

    return rc == ACCOUNT_NONE ? failed(user, "there is no such account; `mire user list` shows all")
                              : status_of(user, rc);
}

static int set_role(struct user_command *user, int64_t account)
{
    int32_t app = MIRE_EVERY_APP;
    const char *before, *role = strcmp(user->role, "none") != 0 ? user->role : "";
    int rc = user->app ? rows_app_read(&app, user->tx, user->app) : 0;

    if (rc == READ_NONE)
        return failed(user, "there is no app of that name");
    if (!rc)
        rc = rows_member_set(&before, user->tx, &user->arena, account, app, role);
    if (!rc)
        rc = cli_audit(user->tx,
                       &(struct audit_row){
                           .app = app, .action = "member.set", .subject = user->name, .before = before, .after = role});
    return status_of(user, rc);
}

/* Make a link, commit, print it. */
static int give_link(struct user_command *user, int64_t account)
{
    const char *named = config_text(&user->database.config, MIRE_SET_PUBLIC_URL);
    size_t len = strcspn(named, " ");
    char secret[MIRE_KEY_TEXT];
    int rc = rows_credential_end_links(user->tx, account);

    if (!rc)
        rc = rows_credential_add(secret, user->tx,
                                 &(struct credential_new){.account = account, .kind = "link", .lasts_s = LINK_S});
    if (!rc)
        rc = pg_commit(&user->tx);
    if (rc)
        return status_of(user, rc);
    while (len && named[len - 1] == '/')
        len--;
    if (len)
        say(stdout, "%.*s/-/welcome#%s\n", (int)len, named, secret);
    else
        say(stdout, "%s/-/welcome#%s\n", fetch_server(), secret);
    return CLI_DONE;
}

static int run_add(struct user_command *user)
{
    int64_t account;
    int rc = rows_account_add(&account, user->tx, user->name, "local", "", user->is_server_admin);

    if (rc == ACCOUNT_THERE)
        return failed(user, "there is such an account; `mire user link` prints another link for it");
    if (!rc)
        rc = cli_audit(user->tx, &(struct audit_row){.action = "account.added",
                                                     .subject = user->name,
                                                     .after = user->is_server_admin ? "server admin" : ""});
    if (rc)
        return status_of(user, rc);
    int status = user->role ? set_role(user, account) : CLI_DONE;
    return status == CLI_DONE ? give_link(user, account) : status;
}

static int run_link(struct user_command *user)
{
    struct account_row account;
    int status = find(&account, user);

    if (status != CLI_DONE)
        return status;
    int rc = rows_account_set_disabled(user->tx, account.account, false);
    if (!rc)
        rc = cli_audit(user->tx, &(struct audit_row){.action = "account.link", .subject = user->name});
    return rc ? status_of(user, rc) : give_link(user, account.account);
}

static int run_role(struct user_command *user)
{
    struct account_row account;
    int status = find(&account, user);

    if (status == CLI_DONE && !user->role)
        return cli_wrong("mire user", "say which --role");
    if (status == CLI_DONE)
        status = set_role(user, account.account);
    return status == CLI_DONE ? status_of(user, pg_commit(&user->tx)) : status;
}

static int run_disable(struct user_command *user)
{
    struct account_row account;
    int64_t ended;
    int status = find(&account, user);

    if (status != CLI_DONE)
        return status;
    int rc = rows_account_set_disabled(user->tx, account.account, true);
    if (!rc)
        rc = rows_credential_revoke_all(&ended, user->tx, account.account, "sign-in", 0);
    if (!rc)
        rc = rows_credential_revoke_all(&ended, user->tx, account.account, "token", 0);
    if (!rc)
        rc = cli_audit(user->tx,
                       &(struct audit_row){.action = "account.changed", .subject = user->name, .after = "disabled"});
    return status_of(user, rc ? rc : pg_commit(&user->tx));
}

static int run_list(struct user_command *user)
{
    struct account_row *accounts;
    struct member_row *members;
    size_t count, member_count;
    int rc = rows_account_list(&accounts, &count, user->tx, &user->arena);

    if (!rc)
        rc = rows_member_list(&members, &member_count, user->tx, &user->arena, 0, -1);
    if (rc)
        return status_of(user, rc);
    say(stdout, "%-32s %-7s %-10s %-8s %s\n", "NAME", "FROM", "SEEN", "STATE", "ROLES");
    for (size_t i = 0; i < count; i++) {
        char seen[32] = "-";
        if (accounts[i].seen_us)
            clock_format(seen, accounts[i].seen_us);
        say(stdout, "%-32s %-7s %-10.10s %-8s%s", accounts[i].name, accounts[i].source, seen,
            accounts[i].disabled_us ? "disabled" : "good", accounts[i].is_server_admin ? " server-admin" : "");
        for (size_t m = 0; m < member_count; m++)
            if (members[m].account == accounts[i].account)
                say(stdout, " %s=%s", *members[m].slug ? members[m].slug : "*", members[m].role);
        say(stdout, "\n");
    }
    return CLI_DONE;
}

static const struct {
    struct cli_verb verb;
    int (*run)(struct user_command *user);
} verbs[] = {
    {{"add", "NAME", "create an account, and print a one-time link for setting a password, valid for three days"},
     run_add},
    {{"link", "NAME", "print a new link, for a forgotten password; a disabled account is enabled again"}, run_link},
    {{"role", "NAME", "change a person's role"}, run_role},
    {{"disable", "NAME", "disable an account, and end all its sign-ins and tokens"}, run_disable},
    {{"list", "", "the accounts and their roles"}, run_list}};

static const char *take_role(void *context, char *value)
{
    struct user_command *user = context;

    user->role = value;
    return access_role_parse(value) || strcmp(value, "none") == 0 ? NULL : "the role is viewer, triager, admin or none";
}

int cli_user(int argc, char **argv)
{
    static const struct cli_page page = {
        CLI_VERBS(verbs),
        .about = "NAME is an e-mail address or a lower-case word. As soon as there is an account, mired requires "
                 "everyone to sign in, on loopback too (sign_in = auto).\n\n" CLI_DATABASE_ABOUT};
    struct user_command user = {.name = "", .database = {.command = "mire user"}};
    const struct cli_option options[] = {
        {"role", "ROLE",
         "viewer reads; triager also sets states, merges and splits issues; admin also changes rollout, rules and "
         "settings; none removes the role",
         "viewer triager admin none", .take = take_role, .context = &user},
        {"app", "APP", "the app of the role; default: every app", .text = &user.app},
        {"server-admin", .help = "admin of every app, who may change accounts", .flag = &user.is_server_admin},
        CLI_DATABASE(user.database)};
    int status;
    int v = cli_begin_verb(&status, &argc, &argv, options, CLI_COUNT(options), &page);
    if (v < 0)
        return status;
    user.name = argc > 2 ? argv[2] : "";
    if (*user.name && !rows_account_is_name(user.name))
        return cli_wrong("mire user", "NAME is an e-mail address or a word: lower-case letters, digits and . _ @ + -");
    arena_init(&user.arena, ARENA_BYTES);
    status = cli_open_database(&user.database);
    if (status == CLI_DONE)
        status = status_of(&user, pg_begin(&user.tx, user.database.pg, MIRE_PG_WRITE));
    if (status == CLI_DONE)
        status = verbs[v].run(&user);
    pg_end(&user.tx);
    pg_close(user.database.pg);
    arena_fini(&user.arena);
    return status;
}
