/*
 * grab.h - a thread's registers and a copy of its stack, as the system gives them.
 *
 *     grab.c         Linux: by /proc from a thread that sleeps in the kernel, by a signal from one that runs
 *     grab_apple.c   Apple's systems: the thread is suspended for the copy
 *
 * Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_GRAB_H
#define MIRE_CAPTURE_GRAB_H

#include "capture/sampler.h"

/* As mire__sampler_open and mire__sampler_close. */
enum mire_err mire__grab_open(struct sampler *sampler);
void mire__grab_close(struct sampler *sampler);

/* Into sampler->snapshot; the thread's state into `out`. Returns MIRE_LOSS_NONE, or why there is no stack. */
enum mire__loss mire__grab(struct sample *out, struct sampler *sampler, uint32_t tid);

/* The same of a thread that sleeps, without disturbing its wait. False: it does not sleep, or cannot be read. */
bool mire__grab_asleep(struct sample *out, struct sampler *sampler, uint32_t tid);

#endif
