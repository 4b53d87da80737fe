/*
 * apart.h - a descriptor table of the library's own, invisible to the program.
 *
 * A new descriptor gets the lowest free number. So a file that the library opens, even briefly, changes the numbers of
 * the program's files, and a program that closes all descriptors closes the library's. Under mire run each has a table:
 *
 *     the program's threads --> its table            always as without the library
 *     mire-check, worker    --> the library's table  empty when the thread begins
 *     mire__apart_run       --> another table        for file work on a thread of the program
 *
 * These tables never hold a pipe, socket or lock of the program open. The copy with which a new table begins exists
 * inside one system call only; record locks (fcntl) belong to the table that took them, so closing the copy releases
 * none.
 *
 * In an app that links libmire there is one table, because the app's transport and its ping use the app's descriptors.
 */
#ifndef MIRE_PLATFORM_APART_H
#define MIRE_PLATFORM_APART_H

#include "base/base.h"

/* Enable the calls below. Thread: the program's, before any of the library's is created. */
void mire__apart_open(void);

/* The first call on a thread of the library. Signal handler: yes. */
void mire__apart_begin(void);

/* Is the calling thread one of the library's? Signal handler: yes. */
bool mire__apart_is_ours(void);

/* A thread of the program makes its last system calls for the library: say so for this moment. */
void mire__apart_set_ours(bool ours);

/* Has the calling thread the library's table? Signal handler: yes. */
bool mire__apart_is(void);

/*
 * Run `work` for the calling thread, which sleeps meanwhile: on its stack and with its thread-local storage, as a
 * kernel thread with a descriptor table of the library's. Takes some 40 us.
 *
 *   work  may allocate, take locks, make threads and call dlopen as the calling thread may; mire__tid is the calling
 *         thread's. sigaltstack, sigmask and prctl are not: their effect ends with `work`.
 *
 * All signals wait until `work` returns. If the kernel refuses such a thread, or if no other thread could see the
 * difference, `work` runs on the calling thread itself. Thread: any. Signal handler: yes, if `work` may run there.
 */
void mire__apart_run(void (*work)(void *context), void *context);

#endif
