/*
 * arguments.h - the options, verb and words of a command line. All commands read them here, so that their errors read
 * alike. Inside cli/ only. One thread: getopt has state of its own.
 */
#ifndef MIRE_CLI_ARGUMENTS_H
#define MIRE_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#define CLI_COUNT(array) (sizeof(array) / sizeof *(array))

/* --name, or --name VALUE. The value goes to the first of the three targets that is set. */
struct cli_option {
    const char *name;
    bool *flag;                                      /* becomes true */
    const char **text;                               /* the value, borrowed from argv; the last one counts */
    const char *(*take)(void *context, char *value); /* called for each value; returns its error, or NULL */
    void *context;                                   /* of take */
};

#define CLI_OPTIONS_MAX 16

/*
 * Take the options out of argv, wherever they are: argv[0] stays, then the words, ended by NULL. --help prints `usage`.
 *
 * Returns whether the command continues; otherwise *status is its exit status, and all output is done.
 */
bool cli_take_options(int *status, int *argc, char ***argv, const struct cli_option *options, size_t count,
                      const char *usage);

/* A row of a command's table of verbs begins with this. */
struct cli_verb {
    const char *name;
    const char *words; /* the words that must follow, as in the usage: "APP [VERSION]", "APP PLUGIN=PERCENT..." */
};

/*
 * Find the verb argv[1], with the right number of words after it.
 *
 *   verbs  the first of `count`, each `size` bytes behind the one before
 *
 * Returns its index in the table; -1 after printing the error: the status is CLI_USAGE.
 */
int cli_pick_verb(int argc, char **argv, const struct cli_verb *verbs, size_t size, size_t count);

/* Print an error in a call in the name of `command`, "mire key", and the way to the help. Returns CLI_USAGE. */
__attribute__((format(printf, 2, 3))) int cli_wrong(const char *command, const char *format, ...);

#endif
