/*
 * unwind.h - from a thread's registers and a copy of its stack to the frames of a sample.
 *
 * The copy is walked by unwind/snapshot.h; frames of the script that the thread runs go between the others, and
 * recursion is folded (fold.h). Frames that a virtual machine reported take the place of its own:
 *
 *     native   epoll_wait  pollInner  [jit] [jit] [jit]  art_quick_invoke  libart  AndroidRuntime::start  main
 *     told                            nativePollOnce  next  loop  main
 *     sample   epoll_wait  pollInner  nativePollOnce  next  loop  main             AndroidRuntime::start  main
 * Thread: check thread.
 */
#ifndef MIRE_CAPTURE_UNWIND_H
#define MIRE_CAPTURE_UNWIND_H

#include "platform/arch.h"
#include "ring/ring.h"
#include "script/script.h"
#include "unwind/unwind.h"

/* A thread at one instant. */
struct stack_snapshot {
    struct regs regs;
    bool unfolded;                     /* keep the frames that recursion adds: to compare with other unwinders */
    const struct script_place *script; /* frames of the script that it runs, innermost first */
    uint32_t script_count;
    bool vm;                /* they are a virtual machine's (script/vm_stack.h), and stand in place of its own frames */
    bool vm_native;         /* the innermost of them called the native frames further in */
    size_t wanted_bytes;    /* of stack to copy, at most sizeof(stack) */
    uint64_t stack_address; /* of stack[0] */
    size_t stack_size;
    uint8_t stack[MIRE_STACK_COPY_BYTES];
};

/*
 * Walk to the outermost frame. Fills in sample->depth, pc, into, found, folded and skipped (fold.h), and sets
 * MIRE_SAMPLE_CUT or MIRE_SAMPLE_BROKEN in its flags where they hold.
 *   modules  its caches are used
 * Returns the bytes of stack, from stack_address on, that the frames take up: the copy should have held as many. Frames
 * beyond MIRE_STACK_COPY_BYTES, and those on another stack, do not count.
 */
size_t mire__unwind(struct sample *out, const struct stack_snapshot *snapshot, struct modules *modules);

#endif
