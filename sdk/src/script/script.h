/*
 * script.h - the frames of a script that an interpreter runs, read from the interpreter's own structures.
 *
 *     C stack      select_epoll <- _PyEval_EvalFrameDefault <- main
 *     script       select, run_once, run_forever              all in that one evaluation
 *     sample       select_epoll, select, run_once, run_forever, _PyEval_EvalFrameDefault, main
 *
 *     look    check thread          find an interpreter with a known layout
 *     aim     check thread          find the interpreter's state of the thread to sample
 *     copy    the sampled thread,   copy its chain of frames, while it stands still: a few words a frame
 *             or the check thread
 *     name    check thread          function, file and line of each frame
 *
 * The thread may be interrupted anywhere, also while it changes the chain. All memory is read as if it could be
 * unmapped, and every value is checked. If a check fails, the whole chain is left out, and the stack has no script
 * frames.
 *
 * Known: CPython 3.11, 3.12 and 3.13 with a global lock, in a module that exports _PyRuntime.
 */
#ifndef MIRE_SCRIPT_SCRIPT_H
#define MIRE_SCRIPT_SCRIPT_H

#include "ring/blackbox.h"
#include "script/layout.h"
#include "unwind/unwind.h"

/* Frames of a chain that are kept: the inner and the outer half. */
#define MIRE_SCRIPT_FRAMES_MAX 256

/* Longest chain; longer ones are left out. Python stops recursion at 1,000 by default. */
#define MIRE_SCRIPT_WALK_MAX 2048

/* No address of a program is as high. */
#define MIRE_SCRIPT_ADDRESS_MAX (1ull << 52)

/* Frames lie side by side, the outer ones below: two pages, and the rest of a frame, are read at a time. */
#define MIRE_SCRIPT_PAGE_BYTES   4096
#define MIRE_SCRIPT_WINDOW_BYTES (2 * MIRE_SCRIPT_PAGE_BYTES + MIRE_SCRIPT_FRAME_BYTES)

struct script_frame {
    uint64_t code; /* the code object */
    uint64_t at;   /* the instruction in it */
    uint64_t mark; /* an address on the C stack that lies in the evaluation's frame; 0 of all but its outermost one */
};

/* The chain of one thread, innermost frame first. */
struct script_chain {
    uint32_t found;                                     /* frames in all; 0 where the chain failed */
    struct script_frame frames[MIRE_SCRIPT_FRAMES_MAX]; /* the outer half is overwritten round and round */

    uint64_t window_at; /* private */
    size_t window_bytes;
    uint8_t window[MIRE_SCRIPT_WINDOW_BYTES];
};

/* A frame of a chain by its number from the innermost on: one of the first half, or of the last that were found. */
static inline struct script_frame *mire__script_frame(struct script_chain *chain, uint32_t number)
{
    const uint32_t half = MIRE_SCRIPT_FRAMES_MAX / 2;

    return &chain->frames[number < half ? number : half + (number - half) % half];
}

/* A frame as it stands in a sample: see MIRE_SCRIPT_PC in ring/ring.h. */
struct script_place {
    uint64_t pc;
    uint64_t mark;
    uint32_t into;
};

struct script_known { /* a frame that was named before */
    uint64_t code, at;
    uint64_t words[MIRE_SCRIPT_CODE_WORDS]; /* of the code object then */
    uint32_t epoch;                         /* of the table of functions */
    uint32_t round;                         /* of mire__script_name: held against the code object then */
    uint32_t into;
    uint64_t pc;
};

#define MIRE_SCRIPT_KNOWN 512

/* Zeroed memory. Thread: check thread; of `tid`, `state` and `layout` also the sampled thread while it is asked. */
struct script {
    const struct script_layout *layout; /* NULL: there is no interpreter that is known */
    uint64_t runtime;                   /* address of _PyRuntime */
    uint64_t code_type;                 /* address of PyCode_Type */
    uint64_t signature;                 /* of the modules that were looked at */
    uint32_t tid;                       /* the thread that is aimed at; 0: none, or it runs no script */
    uint64_t state;                     /* its thread state */
    struct script_chain chain;
    uint32_t round; /* of mire__script_name */
    uint32_t place_count;
    struct script_place places[MIRE_SCRIPT_FRAMES_MAX];
    struct script_known known[MIRE_SCRIPT_KNOWN];
};

/* Find the interpreter, if the list of modules has changed. Thread: check thread. */
void mire__script_look(struct script *script, struct modules *modules);

/* Choose the thread of the next copy. Thread: check thread. */
void mire__script_aim(struct script *script, uint32_t tid);

/* The copied part of the thread's C stack. */
struct script_stack {
    uint64_t address; /* of bytes[0] */
    size_t size;
    const uint8_t *bytes;
};

/* Copy the chain of the chosen thread. Thread: that one, or the check thread while it sleeps. Signal-safe. */
void mire__script_as_copy(struct script *script, struct script_stack stack);

/*
 * Find the names of the chain's frames, and store them in `places`, innermost first. One invalid frame discards all.
 *   box  receives new functions; NULL, or full: no places
 * Returns false if an object of a frame is freed already, such as code that runs once; take another sample then.
 * Thread: check thread.
 */
bool mire__script_name(struct script *script, struct blackbox *box);

#endif
