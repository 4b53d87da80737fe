/*
 * arguments.h - what stands behind a command: its options, its verb, its words. All commands read them here, so that
 * they complain alike. Inside cli/ only. One thread: getopt has state of its own.
 */
#ifndef MIRE_CLI_ARGUMENTS_H
#define MIRE_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#define CLI_COUNT(array) (sizeof(array) / sizeof *(array))

/* --name, or --name VALUE. The first of the three targets that is there takes it. */
struct cli_option {
    const char *name;
    bool *flag;                                      /* becomes true */
    const char **text;                               /* the value, borrowed from argv; the last one counts */
    const char *(*take)(void *context, char *value); /* each value; returns what is wrong with it, or NULL */
    void *context;                                   /* of take */
};

#define CLI_OPTIONS_MAX 16

/*
 * Take the options out of argv, wherever they stand: argv[0] is left, and behind it the words, ended by NULL. --help
 * prints `usage`.
 *
 * Returns whether the command goes on; otherwise *status is what it exits with, and everything is said.
 */
bool cli_take_options(int *status, int *argc, char ***argv, const struct cli_option *options, size_t count,
                      const char *usage);

/* A row of a command's table of verbs begins with this. */
struct cli_verb {
    const char *name;
    const char *words; /* that must follow, as the usage has them: "APP [VERSION]", "APP PLUGIN=PERCENT..." */
};

/*
 * Find the verb that argv[1] names, with the right number of words behind it.
 *
 *   verbs  the first of `count`, each `size` bytes behind the one before
 *
 * Returns its place in the table; -1 after it said what is wrong: the status is CLI_USAGE.
 */
int cli_pick_verb(int argc, char **argv, const struct cli_verb *verbs, size_t size, size_t count);

/* Say in the name of `command`, "mire key", what is wrong with a call, and where help is. Returns CLI_USAGE. */
__attribute__((format(printf, 2, 3))) int cli_wrong(const char *command, const char *format, ...);

#endif
