/*
 * step.h - one step of a stack: from a frame to its caller, for one pc.
 *
 * The rules of `.eh_frame` for a pc are compiled into a few numbers on the two registers that nearly all code is
 * described by, stack pointer and frame pointer:
 *
 *     CFA            = base + offset                  or  word at (base + offset), + add
 *     return address = word at CFA + ra_at
 *     frame pointer  = unchanged, or word at CFA + fp_at, or word at base + fp_at
 *     stack pointer  = CFA
 *
 * Two walkers use this header: self.h walks by compiled steps, snapshot.h interprets `.eh_frame` frame by frame and
 * shares what is said below of signal frames and of calls. Compiling reads no stack. Signal-safe.
 */
#ifndef MIRE_UNWIND_STEP_H
#define MIRE_UNWIND_STEP_H

#include "unwind/modules.h"

enum step_kind {
    STEP_NONE = 0, /* nothing is known, or these numbers cannot express it: the walk ends here */
    STEP_END,      /* a thread's first frame */
    STEP_CFA,      /* CFA = base + offset */
    STEP_CFA_AT,   /* CFA = word at (base + offset), + add */
    STEP_SIGNAL    /* the kernel's signal frame holds the registers of the interrupted code */
};

enum step_fp { STEP_FP_SAME = 0, STEP_FP_AT_CFA, STEP_FP_AT_BASE, STEP_FP_LOST };

struct step {
    uint8_t kind;
    uint8_t from_fp; /* base is the frame pointer, otherwise the stack pointer */
    uint8_t fp;      /* enum step_fp */
    uint8_t flags;
    int32_t offset, add;
    int16_t ra_at, fp_at;
};

#define MIRE_STEP_HIDDEN  1u  /* the frame is left out of stacks */
#define MIRE_STEP_GUESSED 2u  /* by frame pointer, in code without call frame information */
#define MIRE_STEP_LINKED  4u  /* the return address is still in the link register: only where a signal stopped */
#define MIRE_STEP_PLAIN   8u  /* STEP_CFA that reads words at CFA alone: mire__step_mark */
#define MIRE_STEP_BY_SP   16u /* plain, and independent of the frame pointer's value */

/*
 * Compile the step for one pc.
 *   pc     of the call, one byte before the return address; or of the interrupted instruction
 *   exact  which of the two: true for an interrupted instruction
 * The result is STEP_NONE where no module is known. Returns where the function begins, 0 if unknown.
 */
uint64_t mire__step_make(struct step *out, struct modules *modules, uint64_t pc, bool exact);

/* Does the step depend on the frame pointer's value? */
static inline bool mire__step_needs_fp(const struct step *step)
{
    return step->from_fp || step->fp == STEP_FP_AT_BASE;
}

/* ---- signal frames and calls, for both walkers ---- */

/* Is the code at `pc` the return from a signal handler? */
bool mire__step_is_sigreturn(struct modules *modules, uint64_t pc);

typedef bool mire__step_read_fn(void *context, uint64_t *out, uint64_t address);

/*
 * The registers of the code that a signal interrupted.
 *   sp    of the signal frame
 *   read  reads one word of the stack
 * Returns false if a word cannot be read.
 */
bool mire__step_signal_regs(struct regs *out, uint64_t sp, mire__step_read_fn *read, void *context);

/*
 * Is there a call right before `address`, in code of a module?
 *   target  the function that is called, 0 if the call does not say
 */
bool mire__step_is_return(uint64_t *target, struct modules *modules, uint64_t address);

/* ---- packed steps ---- */

/*
 * A step in sixteen bits, which is enough for nearly every pc on x86-64: the return address lies right below the CFA,
 * and the CFA is a number of words from the stack pointer.
 *
 *     wwwwwwww wwwwfff1      w words; f the frame pointer: 0 unchanged, otherwise at the CFA less f + 1 words
 *
 * 0 is no packed step.
 */
#define MIRE_STEP_PACKED 1u

static inline uint32_t mire__packed_cfa(uint32_t packed) /* from the stack pointer, bytes */
{
    return (packed & 0xfff0) / 2;
}
static inline bool mire__packed_moves_fp(uint32_t packed)
{
    return (packed & 0xe) != 0;
}
static inline uint32_t mire__packed_fp(uint32_t packed) /* from the return address down, bytes */
{
    return (packed & 0xe) * 4;
}

/* Pack a marked step, 0 if it does not fit; and the way back. */
static inline uint32_t mire__step_pack(const struct step *step)
{
    const uint32_t fp = step->fp == STEP_FP_SAME ? 0 : (uint32_t)(-8 - step->fp_at) / 8;

    if (step->flags != (MIRE_STEP_PLAIN | MIRE_STEP_BY_SP) || step->ra_at != -8 || step->fp_at % 8 != 0 || fp > 7 ||
        (fp == 0 && step->fp != STEP_FP_SAME) || step->offset % 8 != 0 || step->offset < (int32_t)(8 + 8 * fp) ||
        step->offset > 0xfff * 8)
        return 0;
    return (uint32_t)step->offset * 2 | fp << 1 | MIRE_STEP_PACKED;
}
static inline struct step mire__step_unpack(uint32_t packed)
{
    return (struct step){.kind = STEP_CFA,
                         .fp = mire__packed_moves_fp(packed) ? STEP_FP_AT_CFA : STEP_FP_SAME,
                         .flags = MIRE_STEP_PLAIN | MIRE_STEP_BY_SP,
                         .offset = (int32_t)mire__packed_cfa(packed),
                         .ra_at = -8,
                         .fp_at = (int16_t)(-8 - (int32_t)mire__packed_fp(packed))};
}

/*
 * Set the flags PLAIN and BY_SP where they hold. In a plain step fp_at can always be read: where the frame pointer is
 * unchanged it is the place of the return address.
 */
static inline void mire__step_mark(struct step *step)
{
    if (step->kind != STEP_CFA || (step->flags & (MIRE_STEP_GUESSED | MIRE_STEP_LINKED)) ||
        (step->fp != STEP_FP_SAME && step->fp != STEP_FP_AT_CFA))
        return;
    step->flags |= MIRE_STEP_PLAIN;
    if (!mire__step_needs_fp(step))
        step->flags |= MIRE_STEP_BY_SP;
    if (step->fp == STEP_FP_SAME)
        step->fp_at = step->ra_at;
}

#endif
