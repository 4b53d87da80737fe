/*
 * handler.h - the code that runs in the sampling signal's handler. Signal-safe.
 */
#ifndef MIRE_CAPTURE_HANDLER_H
#define MIRE_CAPTURE_HANDLER_H

#include "capture/sampler.h"

#include <signal.h>

/* sampler.request: one of these, and the sampled thread. */
enum mire__request { MIRE_REQUEST_IDLE, MIRE_REQUEST_WANTED, MIRE_REQUEST_TAKING, MIRE_REQUEST_DONE };
#define MIRE_REQUEST(what, tid)  ((uint32_t)(what) | (uint32_t)(tid) << 2) /* thread numbers have 22 bits */
#define MIRE_REQUEST_OF(request) ((enum mire__request)((request)&3))

/* The sampler that the handler works for; NULL for none. */
void mire__handler_set(struct sampler *sampler);

/* The handler for signals that are not the library's: libc's own of MIRE_SIGNAL_LIBC; NULL for none. */
void mire__handler_pass_to(void (*handler)(int signal, siginfo_t *info, void *ucontext));

/* The handler, for SA_SIGINFO. */
void mire__handler_as_answer(int signal, siginfo_t *info, void *ucontext);

/* Copy wanted_bytes of the stack from the snapshot's stack pointer on, or fewer where the memory ends. */
void mire__snapshot_as_copy_stack(struct stack_snapshot *snapshot);

/* Copy the frames of the thread's script, after its stack. */
void mire__sampler_as_copy_script(struct sampler *sampler);

/*
 * As mire__snapshot_as_copy_stack, without a system call, for a stack that is known to be mapped from its pointer to
 * stack->end.
 */
void mire__snapshot_as_load_stack(struct stack_snapshot *snapshot, const struct quiet_stack *stack);

#endif
