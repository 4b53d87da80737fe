/*
 * unwind.h - from a thread's registers and a copy of its stack to the addresses of its calls.
 *
 * Each frame is left by call frame information where there is some, else by the frame pointer. Memory outside the copy
 * (the stack further out, or another stack that a signal interrupted) is read as it is now. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_UNWIND_H
#define MIRE_CAPTURE_UNWIND_H

#include "platform/arch.h"
#include "ring/ring.h"
#include "script/script.h"
#include "unwind/modules.h"

/* A thread at one instant. */
struct snapshot {
    struct regs regs;
    bool unfolded;                     /* keep what recursion adds: for comparisons with other unwinders */
    const struct script_place *script; /* frames of the script that it runs, innermost first; go between the others */
    uint32_t script_count;
    size_t wanted_bytes;    /* how much stack to copy, at most sizeof(stack) */
    uint64_t stack_address; /* of stack[0] */
    size_t stack_size;
    uint8_t stack[MIRE_STACK_COPY_BYTES];
};

/*
 * Walk to the outermost frame. Fills in sample->depth, pc, into, found, folded and skipped (fold.h), and sets
 * MIRE_SAMPLE_CUT or MIRE_SAMPLE_BROKEN in its flags where they hold.
 *   modules  its caches are used
 * Returns how many bytes of stack from stack_address on the frames found take up: what the copy should have held. Those
 * beyond MIRE_STACK_COPY_BYTES, and those on another stack, do not count.
 */
size_t mire__unwind(struct sample *out, const struct snapshot *snapshot, struct modules *modules);

#endif
