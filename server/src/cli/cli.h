/*
 * cli.h - the commands of `mire`. One row in commands.c, one file each; main_mire.c picks the row.
 *
 * A command gets its own name as argv[0] and returns the exit status: 0 done, 1 failed (the reason is on stderr), 2 wrong
 * arguments. One thread.
 */
#ifndef MIRE_CLI_CLI_H
#define MIRE_CLI_CLI_H

#include <stddef.h>

#define CLI_DONE   0
#define CLI_FAILED 1
#define CLI_USAGE  2

struct cli_command {
    const char *name;
    const char *summary; /* one line for `mire --help` */
    int (*run)(int argc, char **argv);
    const char *const *parts; /* verbs with a --help of their own, NULL-ended; NULL: none */
};

extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;

/* Run the command that argv[1] names, or show help. Returns the exit status. */
int cli_main(int argc, char **argv);

/* The known name nearest to `word`; NULL if none is near. */
const char *cli_nearest(const char *word, const char *const *names, size_t count);

int cli_issue(int argc, char **argv);
int cli_completion(int argc, char **argv);
int cli_man(int argc, char **argv);
int cli_app(int argc, char **argv);
int cli_apps(int argc, char **argv);
int cli_flame(int argc, char **argv);
int cli_rates(int argc, char **argv);
int cli_alerts(int argc, char **argv);
int cli_issues(int argc, char **argv);
int cli_issues_regroup(int argc, char **argv); /* of cli_issues; argv[1] is merge, split or unmerge */
int cli_forget(int argc, char **argv);
int cli_import(int argc, char **argv);
int cli_key(int argc, char **argv);
int cli_reports(int argc, char **argv);
int cli_release(int argc, char **argv);
int cli_rekey(int argc, char **argv);
int cli_rollout(int argc, char **argv);
int cli_login(int argc, char **argv);
int cli_logout(int argc, char **argv);
int cli_mcp(int argc, char **argv);
int cli_memory(int argc, char **argv);
int cli_rules(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_seed(int argc, char **argv);
int cli_show(int argc, char **argv);
int cli_symbols(int argc, char **argv);
int cli_tickets(int argc, char **argv);
int cli_user(int argc, char **argv);
int cli_versions(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_symbols_look(int argc, char **argv); /* of cli_symbols; argv[1] is look */

#endif
