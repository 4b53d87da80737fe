/*
 * call_number.h - which system call an x86-64 thread has just come out of. Signal-safe.
 */
#ifndef MIRE_PLATFORM_CALL_NUMBER_H
#define MIRE_PLATFORM_CALL_NUMBER_H

#include "base/base.h"

/*
 * The number that eax had when the instruction in front of the program counter, `syscall`, was come to.
 *   ucontext  a signal handler's third argument
 * Returns -1 if that is another instruction, or the code in front of it does not say. Where several ways lead to one
 * `syscall` it may be another one's: use it only if it is a number that can have been.
 */
int mire__call_number(const void *ucontext);

#endif
