/*
 * rule.h - one step of a stack: from a frame to its caller, for one place in the code.
 *
 * What `.eh_frame` says of a place is boiled down to a few numbers on the two registers that nearly all code is
 * described by, stack pointer and frame pointer:
 *
 *     CFA            = base + offset                  or  word at (base + offset), + add
 *     return address = word at CFA + ra_at
 *     frame pointer  = as it is, or word at CFA + fp_at, or at base + fp_at
 *     stack pointer  = CFA
 *
 * Pure: the stack itself is not looked at. Signal-safe.
 */
#ifndef MIRE_HEAP_RULE_H
#define MIRE_HEAP_RULE_H

#include "unwind/modules.h"

enum rule_kind {
    RULE_NONE = 0, /* nothing is known, or more than these numbers can say: the way ends here */
    RULE_END,      /* a thread's first frame */
    RULE_CFA,      /* CFA = base + offset */
    RULE_CFA_AT,   /* CFA = word at (base + offset), + add */
    RULE_SIGNAL    /* what was interrupted stands in the kernel's frame */
};

enum rule_fp { RULE_FP_SAME = 0, RULE_FP_AT_CFA, RULE_FP_AT_BASE, RULE_FP_LOST };

struct rule {
    uint8_t kind;
    uint8_t from_fp; /* base is the frame pointer, else the stack pointer */
    uint8_t fp;      /* enum rule_fp */
    uint8_t flags;
    int32_t offset, add;
    int16_t ra_at, fp_at;
};

#define MIRE_RULE_HIDDEN  1u  /* an allocator's own frame: not told */
#define MIRE_RULE_GUESSED 2u  /* by frame pointer, in code that nothing describes */
#define MIRE_RULE_LINKED  4u  /* the return address is still in the link register: only where a signal stopped */
#define MIRE_RULE_PLAIN   8u  /* RULE_CFA, and nothing but words at CFA: mire__rule_mark */
#define MIRE_RULE_BY_SP   16u /* plain, and the frame pointer's value does not matter */

/*
 * The rule for one place.
 *   place  of the call, one byte before the address it returns to; or exactly where a signal stopped the thread
 *   exact  which of the two
 * RULE_NONE where no module is known there. Returns where the function begins, 0 if
 * that is not told.
 */
uint64_t mire__rule_make(struct rule *out, struct modules *modules, uint64_t place, bool exact);

/* Does the frame pointer's value matter to the rule? */
static inline bool mire__rule_needs_fp(const struct rule *rule)
{
    return rule->from_fp || rule->fp == RULE_FP_AT_BASE;
}

/*
 * Say in the flags whether it is of the kind that nearly all are of. Such a one may always be asked for a word at
 * fp_at, which is the return address's where the frame pointer is as it was.
 */
static inline void mire__rule_mark(struct rule *rule)
{
    if (rule->kind != RULE_CFA || (rule->flags & (MIRE_RULE_GUESSED | MIRE_RULE_LINKED)) ||
        (rule->fp != RULE_FP_SAME && rule->fp != RULE_FP_AT_CFA))
        return;
    rule->flags |= MIRE_RULE_PLAIN;
    if (!mire__rule_needs_fp(rule))
        rule->flags |= MIRE_RULE_BY_SP;
    if (rule->fp == RULE_FP_SAME)
        rule->fp_at = rule->ra_at;
}

#endif
