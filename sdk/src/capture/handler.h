/*
 * handler.h - what runs while the watched thread is interrupted. Signal-safe.
 */
#ifndef MIRE_CAPTURE_HANDLER_H
#define MIRE_CAPTURE_HANDLER_H

#include "capture/sampler.h"

#include <signal.h>

enum mire__request { MIRE_REQUEST_IDLE, MIRE_REQUEST_WANTED, MIRE_REQUEST_TAKING, MIRE_REQUEST_DONE };

/* Whom the handler answers; NULL for nobody. */
void mire__handler_set(struct sampler *sampler);

/* The handler, for SA_SIGINFO. */
void mire__handler_as_answer(int signal, siginfo_t *info, void *ucontext);

/* Copy the stack from the snapshot's stack pointer on, as far as there is room and memory. */
void mire__snapshot_as_copy_stack(struct snapshot *snapshot);

#endif
