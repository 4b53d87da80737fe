/*
 * child.h - the program as mire-run's child: in the same process group, on the same terminal; signals are forwarded.
 */
#ifndef MIRE_PRELOAD_CHILD_H
#define MIRE_PRELOAD_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Block the signals to forward, and enable SIGCHLD, also if the parent has disabled it. Called before any thread
 * starts, so that no other thread takes these signals. The program gets the mask and the dispositions that this process
 * was given.
 */
void child_prepare(void);

/* Restore the mask and the disposition that this process was given. */
void child_release(void);

/*
 * The variable with the pid of the program itself, in ten digits, a space, and the time at which the process executed
 * its program, in 20 digits; CLOCK_MONOTONIC in ns, zeros: unknown. Children have other pids.
 */
#define CHILD_NUMBER       "MIRE_FIRST"
#define CHILD_PID_DIGITS   10
#define CHILD_TIME_DIGITS  20
#define CHILD_NUMBER_EMPTY "0000000000 00000000000000000000"

/* Overwrite `digits` digits of the variable in place. Signal-safe. */
static inline void child_write_digits(char *at, size_t digits, uint64_t number)
{
    for (; digits-- > 0; number /= 10)
        at[digits] = (char)('0' + number % 10);
}

/*
 * Run path with argv, in the current environment and with CHILD_NUMBER.
 *
 *   pid_out  pid of the child
 *
 * Returns 0, or an errno; then there is no child.
 */
int child_start(pid_t *pid_out, const char *path, char *const *argv);

/* Replace this process by path with argv. Returns only on failure, with an errno. */
int child_replace(const char *path, char *const *argv, char *const *environment);

/* The end of the program. */
struct child_end {
    bool killed;         /* by a signal */
    int status;          /* the signal, or the exit status */
    uint64_t peak_bytes; /* largest resident set */
};

/*
 * Wait until the child ends, and reap other children. Signals to this process are forwarded to the child, except those
 * that the terminal sent to both. If the terminal stops the child, this process stops too.
 *
 * Returns its exit status, or 128 + the signal.
 */
int child_wait(struct child_end *out, pid_t pid);

#endif
