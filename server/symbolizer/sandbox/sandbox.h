/*
 * sandbox.h - gives up all rights that a conversion does not need. Internal to sandbox/.
 */
#ifndef MIRE_SANDBOX_SANDBOX_H
#define MIRE_SANDBOX_SANDBOX_H

#include <stdbool.h>

#define MIRE_SANDBOX_CPU_S 120 /* seconds of processor time; SIGXCPU ends the process */

/*
 * Limit this process and its threads: 6 GiB of memory, 2 minutes of processor time, files of 4 GiB, no core file, no
 * new privileges, no new process. Only the system calls for memory, threads, and reading and writing open files remain;
 * others fail with EPERM. Under a sanitizer, which needs more, only the limits on core file and privileges apply. The
 * limits cannot be undone: call it in a process started for a conversion.
 */
void sandbox_enter(void);

/* Returns true if this build has every limit on this processor. */
bool sandbox_is_whole(void);

#endif
