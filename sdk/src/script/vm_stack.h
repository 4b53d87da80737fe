/*
 * vm_stack.h - the stack of a thread as reported by its virtual machine, such as Java's. The native stack shows only
 * the machine.
 *
 *     check thread   ask -----------------------> takes the native stack ----------------> answer: names, or nothing
 *     VM's thread     '-> await: tid, begin -> asks its machine -> frame, frame, ... -> give --'
 *
 * A thread of the virtual machine serves one watched thread, and sleeps while nothing is sampled. The check thread
 * waits at most MIRE_ANSWER_NS, and not again before the late answer has come, because the machine may have stopped all
 * of its threads.
 *
 *     state    IDLE, GIVEN --ask--> ASKED --await--> TAKING --give--> GIVEN; IDLE, ASKED, GIVEN --close--> CLOSED --open--> IDLE
 */
#ifndef MIRE_SCRIPT_VM_STACK_H
#define MIRE_SCRIPT_VM_STACK_H

#include "base/base.h"
#include "base/limits.h"

/* Largest number of frames of a stack, innermost first, and bytes for names and files. */
#define MIRE_VM_FRAMES_MAX 256
#define MIRE_VM_TEXT_BYTES (48 * 1024)
#define MIRE_VM_TURN_BYTES 128

struct vm_frame {
    uint32_t name_at, file_at; /* in text: "package.Class.method"; "Class.java", "" if unknown */
    uint32_t line;             /* 0 if unknown */
};

struct vm_stack {
    uint64_t taken_ns; /* CLOCK_MONOTONIC */
    bool native;       /* the innermost frame is a native method: the thread is in native code called by Java */
    uint32_t count;
    uint32_t used_bytes;
    struct vm_frame frames[MIRE_VM_FRAMES_MAX]; /* innermost first */
    char turn[MIRE_VM_TURN_BYTES];              /* the loop's own description of the current turn; "" if unknown */
    char text[MIRE_VM_TEXT_BYTES];
};

/* ---- the virtual machine's thread; one at a time ---- */

/* Serve this watched thread from now on. */
void mire__vm_stack_open(uint32_t tid);

/* Stop serving: await returns NULL. Thread: any. */
void mire__vm_stack_close(void);

/* Sleep until a stack is wanted. Returns the stack, which is empty, to be filled and given; NULL after close. */
struct vm_stack *mire__vm_stack_await(void);

/* Add the next frame further out. Frames without room are left out. */
void mire__vm_stack_add(struct vm_stack *stack, const char *name, const char *file, uint32_t line);

void mire__vm_stack_give(struct vm_stack *stack);

/* ---- check thread ---- */

/* Does a thread of the virtual machine serve this thread? The machine may stop a served thread, also for a late
 * answer. */
bool mire__vm_stack_serves(uint32_t tid);

/* Ask for the stack of this thread. False: the thread is not served, or the last answer has not come yet. */
bool mire__vm_stack_ask(uint32_t tid);

/* After an ask that returned true: the answer, valid until the next ask; NULL if the answer does not come in time. */
const struct vm_stack *mire__vm_stack_answer(void);

#endif
