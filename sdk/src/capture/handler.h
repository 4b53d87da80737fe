/*
 * handler.h - what runs while a thread is interrupted. Signal-safe.
 */
#ifndef MIRE_CAPTURE_HANDLER_H
#define MIRE_CAPTURE_HANDLER_H

#include "capture/sampler.h"

#include <signal.h>

/* sampler.request: one of these, and of which thread the sample is. */
enum mire__request { MIRE_REQUEST_IDLE, MIRE_REQUEST_WANTED, MIRE_REQUEST_TAKING, MIRE_REQUEST_DONE };
#define MIRE_REQUEST(what, tid)  ((uint32_t)(what) | (uint32_t)(tid) << 2) /* thread numbers have 22 bits */
#define MIRE_REQUEST_OF(request) ((enum mire__request)((request)&3))

/* Whom the handler answers; NULL for nobody. */
void mire__handler_set(struct sampler *sampler);

/* Whom signals go to that are not ours: libc's handler of MIRE_SIGNAL_LIBC; NULL for nobody. */
void mire__handler_pass_to(void (*handler)(int signal, siginfo_t *info, void *ucontext));

/* The handler, for SA_SIGINFO. */
void mire__handler_as_answer(int signal, siginfo_t *info, void *ucontext);

/* Copy the stack from the snapshot's stack pointer on: wanted_bytes of it, as far as there is memory. */
void mire__snapshot_as_copy_stack(struct stack_snapshot *snapshot);

/* Copy the frames of the script that the thread runs; its stack has been copied. */
void mire__sampler_as_copy_script(struct sampler *sampler);

/* The same as mire__snapshot_as_copy_stack without a system call, of a stack that is known to end at `stack->end` and
 * to go on from there to its pointer. */
void mire__snapshot_as_load_stack(struct stack_snapshot *snapshot, const struct quiet_stack *stack);

#endif
