/*
 * arguments.h - the arguments of mire-run: options, environment, and the program.
 */
#ifndef MIRE_PRELOAD_ARGUMENTS_H
#define MIRE_PRELOAD_ARGUMENTS_H

#include "core/options.h"

#include <limits.h>

#define EXIT_OURS 125 /* mire-run itself failed; the same status as of env and timeout */

struct run {
    mire_options options; /* app and version default to the program's */
    bool verbose;
    char **argv;        /* the program and its arguments */
    char **environment; /* as given to mire-run */
    char path[PATH_MAX];
    bool is_foreign;        /* nothing is preloaded: its loader would fail, or it has a sanitizer */
    char preload[PATH_MAX]; /* path of the preload library; "" before it is found */
};

/* Fill in a zeroed run. Returns -1 to continue, or the exit status after a message. */
int run_read(struct run *run, int argc, char **argv);

/* Print "mire-run: what about: why" on stderr; about and why may be empty. */
void run_complain(const char *what, const char *about, const char *why);

#endif
