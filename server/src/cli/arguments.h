/*
 * arguments.h - the options, verb and words of a command line. All commands read them here, so that their errors read
 * alike. Inside cli/ only. One thread: getopt has state of its own.
 */
#ifndef MIRE_CLI_ARGUMENTS_H
#define MIRE_CLI_ARGUMENTS_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

#define CLI_COUNT(array) (sizeof(array) / sizeof *(array))

/*
 * --name, or --name VALUE. The value goes to the first of the three targets that is set. --help, the manual page and the
 * shells' completions are made of the same rows.
 */
struct cli_option {
    const char *name;
    const char *value;  /* what stands for the value in the help, "APP"; NULL of a flag */
    const char *help;   /* what it does, without a full stop at the end */
    const char *choice; /* words to complete the value with, "read admin"; or FILE, or DIR; NULL: nothing */
    bool *flag;         /* becomes true */
    const char **text;  /* the value, borrowed from argv; the last one counts */
    const char *(*take)(void *context, char *value); /* called for each value; returns its error, or NULL */
    void *context;                                   /* of take */
};

#define CLI_OPTIONS_MAX 24

/* A row of a command's table of verbs begins with this. */
struct cli_verb {
    const char *name;
    const char *words; /* the words that must follow, as in the usage: "APP [VERSION]", "APP PLUGIN=PERCENT..." */
    const char *help;  /* what it does, without a full stop at the end */
};

/* The texts of a command's help, besides its options. */
struct cli_page {
    const char *synopsis;         /* words behind the command, where it has no verbs: "[OPTION]... FILE"; or NULL */
    const char *about;            /* paragraphs, "\n\n" between; or NULL */
    const struct cli_verb *verbs; /* the first of `verb_count`, each `verb_size` bytes behind the one before */
    size_t verb_size, verb_count;
    const char *usage; /* all of the help as it is, of a command that reads its options itself; otherwise NULL */
};

#define CLI_VERBS(table) \
    .verbs = (const struct cli_verb *)(table), .verb_size = sizeof *(table), .verb_count = CLI_COUNT(table)

/* Options of many commands. */
#define CLI_SERVER(target)                                                                                       \
    {                                                                                                            \
        "server", "URL", "address of mired; default $MIRE_SERVER, else http://127.0.0.1:7117", .text = &(target) \
    }
#define CLI_APP(target)                                                                 \
    {                                                                                   \
        "app", "APP", "the app, as named in URLs; default $MIRE_APP", .text = &(target) \
    }
#define CLI_KEY(target, kind)                                                                                 \
    {                                                                                                         \
        "key", "KEY", "a " kind "; default $MIRE_KEY, or the token stored by `mire login`", .text = &(target) \
    }
#define CLI_JSON(target)                                                     \
    {                                                                        \
        "json", .help = "print the server's answer, JSON", .flag = &(target) \
    }
#define CLI_RANGE(target)                                                                               \
    {                                                                                                   \
        "t", "RANGE", "30m, 24h, 14d back from now, or FROM..TO in UTC; default 14d", .text = &(target) \
    }

/*
 * Take the options out of argv, wherever they are: argv[0] stays, then the words, ended by NULL. --help prints the page.
 *
 * Returns whether the command continues; otherwise *status is its exit status, and all output is done.
 */
bool cli_begin(int *status, int *argc, char ***argv, const struct cli_option *options, size_t count,
               const struct cli_page *page);

/* Called with each command's page: the command is named as "mire issues merge". */
typedef void cli_visit(void *context, const char *command, const struct cli_option *options, size_t count,
                       const struct cli_page *page);

/* From now on cli_begin calls `visit` and ends the command; NULL: as usual again. */
void cli_describe(cli_visit *visit, void *context);

/* Is that so? A command that reads its options itself then calls cli_begin at once. */
bool cli_is_describing(void);

/* Append the help of a page. */
void cli_page_put(struct text *out, const char *command, const struct cli_option *options, size_t count,
                  const struct cli_page *page);

/* The verb at an index of a page's table. */
const struct cli_verb *cli_verb_at(const struct cli_page *page, size_t at);

/*
 * Find the verb argv[1] of the page, with the right number of words after it.
 *
 * Returns its index in the page's table; -1 after printing the error: the status is CLI_USAGE.
 */
int cli_pick_verb(int argc, char **argv, const struct cli_page *page);

/*
 * cli_begin, then cli_pick_verb.
 *
 * Returns the verb's index; -1 if the command ends: *status is its exit status, and all output is done.
 */
int cli_begin_verb(int *status, int *argc, char ***argv, const struct cli_option *options, size_t count,
                   const struct cli_page *page);

/* Print an error in a call in the name of `command`, "mire key", and the way to the help. Returns CLI_USAGE. */
__attribute__((format(printf, 2, 3))) int cli_wrong(const char *command, const char *format, ...);

#endif
