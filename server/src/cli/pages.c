/* pages.c - see pages.h. A command's own table is reached by running it while cli_begin describes instead of parsing. */
#include "cli/pages.h"

#include <stdio.h>
#include <string.h>

void pages_visit(const struct cli_command *command, const char *part, cli_visit *visit, void *context)
{
    char speaker[64], word[32];
    char *argv[] = {speaker, part ? word : NULL, NULL};

    snprintf(speaker, sizeof speaker, "mire %s", command->name);
    snprintf(word, sizeof word, "%s", part ? part : "");
    cli_describe(visit, context);
    command->run(part ? 2 : 1, argv);
    cli_describe(NULL, NULL);
}

size_t pages_part_count(const struct cli_command *command)
{
    size_t count = 0;

    while (command->parts && command->parts[count])
        count++;
    return count;
}

const struct cli_command *pages_command(const char *name)
{
    for (size_t i = 0; i < cli_command_count; i++)
        if (!strcmp(cli_commands[i].name, name))
            return &cli_commands[i];
    return NULL;
}

const char *pages_part(const struct cli_command *command, const char *name)
{
    for (size_t i = 0; i < pages_part_count(command); i++)
        if (!strcmp(command->parts[i], name))
            return command->parts[i];
    return NULL;
}
