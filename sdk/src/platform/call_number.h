/*
 * call_number.h - the system call from which an x86-64 thread has just returned. Signal-safe.
 */
#ifndef MIRE_PLATFORM_CALL_NUMBER_H
#define MIRE_PLATFORM_CALL_NUMBER_H

#include "base/base.h"

/*
 * The number in eax when the thread reached the instruction before the program counter, `syscall`.
 *   ucontext  a signal handler's third argument
 * Returns -1 if that instruction is not `syscall`, or the code before it does not set the number. If several paths lead
 * to one `syscall`, the number may be of another path: use the result only if the number is plausible.
 */
int mire__call_number(const void *ucontext);

#endif
