/*
 * child.h - the program as mire-run's child: same process group, same terminal, and signals pass through.
 */
#ifndef MIRE_PRELOAD_CHILD_H
#define MIRE_PRELOAD_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Block the signals that are to be passed on, and take SIGCHLD whatever the parent has set. Before any thread starts,
 * so that no other thread takes them. The program gets the mask and the dispositions that this process was given.
 */
void child_prepare(void);

/* Go back to the mask and the disposition that this process was given. */
void child_release(void);

/* The variable by which the program knows that it is the one that was started: its process's number, in ten digits. */
#define CHILD_NUMBER "MIRE_FIRST"

/*
 * Run path with argv, in the current environment and with CHILD_NUMBER.
 *
 *   pid_out  its process
 *
 * Returns 0, or the errno of what failed; then there is no child.
 */
int child_start(pid_t *pid_out, const char *path, char *const *argv);

/* Run path with argv in place of this process. Returns an errno, if at all. */
int child_replace(const char *path, char *const *argv, char *const *environment);

/* How it ended. */
struct child_end {
    bool killed;         /* by a signal */
    int status;          /* the signal, else its exit status */
    uint64_t peak_bytes; /* largest resident set */
};

/*
 * Wait until it ends; other children are reaped meanwhile. A signal sent to this process goes on to the child, except
 * those that the terminal sent to both; when the terminal stops the child, this process stops too.
 *
 * Returns its exit status, or 128 + the signal.
 */
int child_wait(struct child_end *out, pid_t pid);

#endif
