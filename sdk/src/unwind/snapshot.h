/*
 * snapshot.h - walk a thread's stack from its registers and a copy of its stack.
 *
 * Each frame is left by call frame information where there is some, otherwise by the frame pointer. Memory outside of the
 * copy (the stack further out, or another stack that a signal interrupted) is read as it is now.
 *
 * Thread: one that is not the walked one. Signal-safe.
 */
#ifndef MIRE_UNWIND_SNAPSHOT_H
#define MIRE_UNWIND_SNAPSHOT_H

#include "platform/arch.h"
#include "unwind/modules.h"

/* A thread at one instant. Borrowed until the walk returns. */
struct stack_copy {
    const struct regs *regs;
    uint64_t address; /* of bytes[0] */
    const uint8_t *bytes;
    size_t size;
};

/* How a frame was found. */
enum unwound_by {
    UNWOUND_PC,     /* the innermost: the pc itself */
    UNWOUND_FP,     /* frame pointer */
    UNWOUND_CFI,    /* call frame information */
    UNWOUND_SIGNAL, /* interrupted by a signal handler further in */
    UNWOUND_LINK    /* link register */
};

struct unwound {
    uint64_t pc;        /* to look up: of the call, or where a signal stopped */
    uint32_t into;      /* bytes from the function's begin to pc, 0 if unknown */
    uint8_t by;         /* enum unwound_by */
    bool has_caller;    /* the walk goes on */
    uint64_t sp;        /* where the frame begins; 0 if unknown */
    uint64_t caller_sp; /* where it ends: after the step out, if there was one */
};

typedef void mire__unwound_fn(void *context, const struct unwound *frame);

/*
 * Walk to the outermost frame, innermost first.
 *   modules  its caches are used
 *   visit    is called for each frame
 * Returns true if the walk came to the outermost frame, false if it was lost before.
 */
bool mire__unwind_copy(const struct stack_copy *copy, struct modules *modules, mire__unwound_fn *visit, void *context);

#endif
