/*
 * apart.h - descriptors of our own, under numbers that the program never sees.
 *
 * A descriptor's number is the lowest one that is free. So a file that the library has open, if only for a moment,
 * changes the numbers that the program gets, and a program that closes all numbers closes it. Under mire run both have
 * a table each:
 *
 *     the program's threads --> its table         as without us, at every instant
 *     mire-check, worker    --> a table of ours   empty when the thread begins
 *     mire__apart_run       --> another           for file work on a thread of the program's
 *
 * A pipe, socket or lock of the program's is never held open by our tables. The copy that a new table begins with lives
 * inside one system call; record locks (fcntl) belong to the table that took them, so closing the copy releases none.
 *
 * In an app that links libmire there is one table, for the app's own transport and its ping use the app's descriptors.
 */
#ifndef MIRE_PLATFORM_APART_H
#define MIRE_PLATFORM_APART_H

#include "base/base.h"

/* From now on the three calls below have an effect. Thread: the program's, before any of ours is made. */
void mire__apart_open(void);

/* First of all on a thread of ours. Signal handler: yes. */
void mire__apart_begin(void);

/* Is the calling thread ours: did it begin so? Signal handler: yes. */
bool mire__apart_is_ours(void);

/* For a moment, whose it is: a thread of the program's makes its last system calls of ours. */
void mire__apart_set_ours(bool ours);

/* Has the calling thread a table of ours? Signal handler: yes. */
bool mire__apart_is(void);

/* For whom the calling thread runs, if for another; mire__tid's. initial-exec: no call that might allocate. */
extern __thread uint32_t mire__tid_of_ego __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * Run `work` for the calling thread, which sleeps meanwhile: on its stack and with its thread-local storage, as a
 * thread of the kernel's with a table of ours. Some 40 us.
 *
 *   work  may allocate, take locks, make threads and call dlopen as the calling thread may; mire__tid is the calling
 *         thread's. sigaltstack, sigmask and prctl are not: their effect ends with `work`.
 *
 * All signals wait until it has returned. Where the kernel refuses such a thread, or no other thread could see the
 * difference, `work` runs on the calling thread itself. Thread: any. Signal handler: yes, if `work` may run there.
 */
void mire__apart_run(void (*work)(void *context), void *context);

#endif
