/*
 * told.h - the stack of a thread as its virtual machine reports it: Java's, where the native stack shows only the machine.
 *
 *     check thread   ask -----------------------> takes the native stack ----------------> answer: names, or nothing
 *     VM's thread     '-> await: tid, begin -> asks its machine -> frame, frame, ... -> give --'
 *
 * A thread of the virtual machine serves one watched thread. It sleeps while nothing is sampled. The check thread waits
 * MIRE_ANSWER_NS at most, and not again before the late answer has come: the machine may have stopped all of its threads.
 *
 *     state    IDLE, GIVEN --ask--> ASKED --await--> TAKING --give--> GIVEN; IDLE, ASKED, GIVEN --close--> CLOSED --open--> IDLE
 */
#ifndef MIRE_SCRIPT_TOLD_H
#define MIRE_SCRIPT_TOLD_H

#include "base/base.h"
#include "base/limits.h"

/* Frames of a stack that are kept, the innermost ones, and bytes for their names and files. */
#define MIRE_TOLD_FRAMES_MAX 256
#define MIRE_TOLD_TEXT_BYTES (48 * 1024)
#define MIRE_TOLD_TURN_BYTES 128

struct told_frame {
    uint32_t name_at, file_at; /* in text: "package.Class.method"; "Class.java", "" if unknown */
    uint32_t line;             /* 0 if unknown */
};

struct told_stack {
    uint64_t taken_ns; /* CLOCK_MONOTONIC */
    bool native;       /* the innermost frame is a native method: the thread is in native code that it called */
    uint32_t count;
    uint32_t used_bytes;
    struct told_frame frames[MIRE_TOLD_FRAMES_MAX]; /* innermost first */
    char turn[MIRE_TOLD_TURN_BYTES];                /* what the loop does, by its own words; "" if unknown */
    char text[MIRE_TOLD_TEXT_BYTES];
};

/* ---- the virtual machine's thread; one at a time ---- */

/* Serve this watched thread from now on. */
void mire__told_open(uint32_t tid);

/* Stop serving: await returns NULL. Thread: any. */
void mire__told_close(void);

/* Sleep until a stack is wanted. Returns the stack, which is empty, to be filled and given; NULL after close. */
struct told_stack *mire__told_await(void);

/* Add the next frame further out. Frames that have no room are left out. */
void mire__told_add(struct told_stack *stack, const char *name, const char *file, uint32_t line);

void mire__told_give(struct told_stack *stack);

/* ---- check thread ---- */

/* Does a thread of the virtual machine serve this thread? Then it may have it stopped, for this answer or a late one. */
bool mire__told_serves(uint32_t tid);

/* Ask for the stack of this thread. False: nobody serves it, or the last answer is still to come. */
bool mire__told_ask(uint32_t tid);

/* The answer, until the next ask; NULL if it does not come in time. After an ask that returned true. */
const struct told_stack *mire__told_answer(void);

#endif
