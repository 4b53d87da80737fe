/*
 * crash.h - the stack of a thread that crashes, taken while its handler waits.
 *
 *     IDLE --handler--> FILLING --handler--> ASKED --check thread--> TAKING --check thread--> TAKEN
 *      ^                                       '---- handler, after its time limit ----> IDLE    |
 *      '----------- handler, if a displaced handler repaired the fault: FORGOTTEN <--------------'
 *
 * The handler copies the registers and sleeps on the word, so the thread's memory is still. The check thread copies the
 * stack, unwinds it with the modules of the living process, and leaves an open event in the blackbox; the next start
 * seals it with the verdict. A fault inside the check thread, or in a process without one, has no stack.
 */
#ifndef MIRE_CAPTURE_CRASH_H
#define MIRE_CAPTURE_CRASH_H

#include "platform/arch.h"

#include <stddef.h>
#include <stdint.h>

struct check;
struct process_record;

struct crash_request {
    uint32_t tid;
    int signal;
    struct regs regs;
};

/* Copy the calling thread's stack into the blackbox. Waits for about 1 ms, at most 500 ms. Signal handler: yes. */
void mire__crash_as_take(int signal, const void *ucontext);

/* The fault was repaired: there was no crash. Signal handler: yes. */
void mire__crash_as_forget(void);

/*
 * Tell of an exception that nobody catches, before the process aborts because of it. It names the crash, in place of the
 * signal; its stack, if it has one, stands in place of that of abort, which a rethrown exception has cut. The last one counts.
 *
 *   name    copied, cut to 63 bytes
 *   callers addresses behind the calls, innermost first, at most MIRE_CRASH_FRAMES of them are kept; 0 of them: none
 *
 * Thread: any.
 */
#define MIRE_CRASH_FRAMES 96u
void mire__crash_say(const char *name, const uintptr_t *callers, size_t count);

/* "SIGSEGV"; static. */
const char *mire__crash_as_name(int signal);

/* --- the check thread's half. NULL: nothing is asked; otherwise mire__crash_end is due. */

struct crash_said {
    char name[64];
    uint32_t depth;
    uintptr_t callers[MIRE_CRASH_FRAMES];
};

const struct crash_request *mire__crash_begin(void);
const struct crash_said *mire__crash_said(void); /* the exception of a request; NULL: there is none */
void mire__crash_end(void);
bool mire__crash_is_forgotten(void); /* once */
void mire__crash_outlived(void);     /* the next crash may be taken */

void mire__crash_start(struct check *check);
void mire__crash_step(struct check *check, struct process_record *of);
void mire__crash_stop(void);

/* Set by the check thread: how the handler reaches it. wake NULL: it is gone. */
void mire__crash_as_reach(_Atomic uint32_t *wake, uint32_t check_tid);

#endif
