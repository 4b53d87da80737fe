/*
 * arguments.h - what mire-run is told: options, environment, and the program.
 */
#ifndef MIRE_PRELOAD_ARGUMENTS_H
#define MIRE_PRELOAD_ARGUMENTS_H

#include "core/options.h"

#include <limits.h>

#define EXIT_OURS 125 /* mire-run itself failed, as env and timeout say it */

struct run {
    mire_options options; /* app and version are the program's where nothing else was said */
    bool verbose;
    char **argv;        /* the program and its arguments */
    char **environment; /* as mire-run was given it */
    char path[PATH_MAX];
    bool is_foreign;        /* nothing is preloaded: its loader could not take it, or it has a sanitizer */
    char preload[PATH_MAX]; /* "" until it has been looked for */
};

/* Fill in a zeroed run. -1: go on; else what to exit with, all has been said. */
int run_read(struct run *run, int argc, char **argv);

/* "mire-run: what about: why" on stderr; about and why may be empty. */
void run_complain(const char *what, const char *about, const char *why);

#endif
