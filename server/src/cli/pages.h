/* pages.h - the pages of all commands, for manuals and completions. Inside cli/ only. */
#ifndef MIRE_CLI_PAGES_H
#define MIRE_CLI_PAGES_H

#include "cli/arguments.h"
#include "cli/cli.h"

struct pages_asked { /* a visitor's context */
    struct text *out;
    const char *summary; /* of the command */
};

/* Call `visit` with the page of a command, or of a part of it if `part` is not NULL. */
void pages_visit(const struct cli_command *command, const char *part, cli_visit *visit, void *context);

size_t pages_part_count(const struct cli_command *command);

/* By name; NULL: there is none. */
const struct cli_command *pages_command(const char *name);
const char *pages_part(const struct cli_command *command, const char *name);

/* Append the script for bash, zsh or fish. False: no such shell. */
bool completion_put(struct text *out, const char *shell);

#endif
