/*
 * child.h - the program as mire-run's child: same process group, same terminal, and signals pass through.
 */
#ifndef MIRE_PRELOAD_CHILD_H
#define MIRE_PRELOAD_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Block the signals that are to be passed on. Before any thread starts, so that no other thread takes them.
 */
void child_prepare(void);

/* Take them again as they come. */
void child_release(void);

/*
 * Run path with argv, in the current environment.
 *
 *   pid_out  its process
 *
 * Returns 0, or the errno of what failed; then there is no child.
 */
int child_start(pid_t *pid_out, const char *path, char *const *argv);

/*
 * Wait until it ends; other children are reaped meanwhile. A signal sent to this process goes on to the child, except
 * those that the terminal sent to both; when the terminal stops the child, this process stops too.
 *
 *   killed_out  whether a signal ended it
 *
 * Returns its exit status, or 128 + the signal.
 */
int child_wait(bool *killed_out, pid_t pid);

#endif
