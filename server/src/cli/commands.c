/* commands.c - the table of commands, help, and what to do with a word that is none. */
#include "cli/cli.h"
#include "cli/say.h"

#include <stdio.h>
#include <string.h>

#define WORD_MAX 32

static const char *const issues_parts[] = {"merge", "split", "unmerge", NULL};
static const char *const symbols_parts[] = {"upload", "look", NULL};

const struct cli_command cli_commands[] = {
    {"run", "run a program and report what makes it hang", cli_run, NULL},
    {"apps", "list the apps", cli_apps, NULL},
    {"app", "create an app; its settings, members, keys and audit log", cli_app, NULL},
    {"issues", "list the causes of hangs and out-of-memory kills", cli_issues, issues_parts},
    {"issue", "print an issue; resolve, ignore, assign issues, comment on them", cli_issue, NULL},
    {"reports", "list reports of a user, a scene or a tag", cli_reports, NULL},
    {"versions", "list the versions of an app with their rates", cli_versions, NULL},
    {"compare", "compare two versions, or two ranges: the rates and issues that changed", cli_compare, NULL},
    {"flame", "print the flame graph of an issue for other tools", cli_flame, NULL},
    {"rates", "list how often sessions hang and die, by version", cli_rates, NULL},
    {"show", "print a report as readable text", cli_show, NULL},
    {"import", "import reports of other formats", cli_import, NULL},
    {"memory", "print what a process held in memory", cli_memory, NULL},
    {"symbols", "send debug files to the server, or look up names in one", cli_symbols, symbols_parts},
    {"release", "mark releases, and record the commits of a version", cli_release, NULL},
    {"tickets", "create the ticket of an issue; set the tracker of an app", cli_tickets, NULL},
    {"alerts", "show alerts; change conditions and channels", cli_alerts, NULL},
    {"rollout", "show and change which installations run which monitors", cli_rollout, NULL},
    {"mcp", "answer an assistant over the Model Context Protocol", cli_mcp, NULL},
    {"rules", "show, preview and change the rules of blame", cli_rules, NULL},
    {"rekey", "derive stored reports again, or preview the effect", cli_rekey, NULL},
    {"forget", "forget reports: of an installation, of a key, or one", cli_forget, NULL},
    {"login", "sign in to a server, for the commands above", cli_login, NULL},
    {"logout", "delete the stored token", cli_logout, NULL},
    {"user", "create accounts, and links for setting a password", cli_user, NULL},
    {"seed", "fill an app with sample reports", cli_seed, NULL},
    {"key", "create, list or revoke the keys of apps", cli_key, NULL},
    {"completion", "print the completion script for bash, zsh or fish", cli_completion, NULL},
    {"man", "print a manual page", cli_man, NULL},
};
const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;

static void help(FILE *out)
{
    fputs("Usage: mire COMMAND [ARGUMENT]...\n\n", out);
    for (size_t i = 0; i < cli_command_count; i++)
        say(out, "  %-11s %s\n", cli_commands[i].name, cli_commands[i].summary);
    fputs("\n`mire COMMAND --help` has the details. Exit status: 0 success, 1 failure, 2 usage error.\n", out);
}

/* Insertions, deletions and replacements from a to b; both at most WORD_MAX long. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(b), row[WORD_MAX + 1];

    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }

    return row[n];
}

const char *cli_nearest(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t least = strlen(word) > WORD_MAX ? 0 : 1 + strlen(word) / 2;

    for (size_t i = 0; i < count && least > 0; i++) {
        size_t far = distance(word, names[i]);
        if (far < least) {
            least = far;
            best = names[i];
        }
    }

    return best;
}

int cli_main(int argc, char **argv)
{
    const char *names[32];
    static char speaker[32]; /* what getopt's complaints begin with */

    if (argc < 2) {
        help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        help(stdout);
        return CLI_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("mire " MIRE_VERSION);
        return CLI_DONE;
    }
    for (size_t i = 0; i < cli_command_count; i++) {
        if (strcmp(argv[1], cli_commands[i].name) == 0) {
            snprintf(speaker, sizeof speaker, "mire %s", cli_commands[i].name);
            argv[1] = speaker;
            return cli_commands[i].run(argc - 1, argv + 1);
        }
        names[i] = cli_commands[i].name;
    }

    const char *near = cli_nearest(argv[1], names, cli_command_count);
    say(stderr, "mire: there is no command '%s'", argv[1]);
    if (near)
        say(stderr, "; did you mean '%s'?\n", near);
    else
        say(stderr, ". Try 'mire --help'.\n");
    return CLI_USAGE;
}
