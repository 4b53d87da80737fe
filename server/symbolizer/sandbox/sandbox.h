/*
 * sandbox.h - gives up what converting does not need. Inside sandbox/ only.
 */
#ifndef MIRE_SANDBOX_SANDBOX_H
#define MIRE_SANDBOX_SANDBOX_H

#include <stdbool.h>

#define MIRE_SANDBOX_CPU_S 120 /* seconds; SIGXCPU ends the process then */

/*
 * From here on this process and its threads: take at most 6 GiB of memory and 2 minutes of processor time, write no
 * file longer than 4 GiB, leave no core file, gain no privilege, start no process, and have only the system calls for
 * memory, threads, and reading and writing what is open; others fail with EPERM. Under a sanitizer, which needs more,
 * only the core file and privileges are given up. For a process that was started for this.
 */
void sandbox_enter(void);

/* Does this build have all of it on this processor? */
bool sandbox_is_whole(void);

#endif
