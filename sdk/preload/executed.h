/*
 * executed.h - notices that the program has executed another one, which has not loaded Mire's library: one with an
 * environment of its own, or with privileges, or without a loader.
 */
#ifndef MIRE_PRELOAD_EXECUTED_H
#define MIRE_PRELOAD_EXECUTED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct executed {
    _Atomic uint32_t pid;   /* of the program; 0: not started */
    char program[PATH_MAX]; /* its file, of which mire-run has said itself whether it can be watched */
    char suspect[PATH_MAX]; /* seen at the last look without the library: it may be about to load it */
    bool reported;
};

/* program: its path; must be called before the program starts */
void executed_init(struct executed *executed, const char *program);

/* Name the first program that is not watched on standard error. Called twice a second. */
void executed_look(struct executed *executed);

#endif
