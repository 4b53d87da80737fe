/*
 * step.h - one step of a stack: from a frame to its caller, for one place in the code.
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
#ifndef MIRE_UNWIND_STEP_H
#define MIRE_UNWIND_STEP_H

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
 * The rule of nearly every place in sixteen bits: of a caller whose return address lies right below the CFA, which is
 * so many words from the stack pointer.
 *
 *     wwwwwwww wwwwfff1      w words, f the frame pointer: 0 as it is, else at the CFA less f + 1 words
 *
 * 0: it takes another rule.
 */
#define MIRE_BRIEF 1u

static inline uint32_t mire__brief_cfa(uint32_t brief) /* from the stack pointer, bytes */
{
    return (brief & 0xfff0) / 2;
}
static inline bool mire__brief_moves_fp(uint32_t brief)
{
    return (brief & 0xe) != 0;
}
static inline uint32_t mire__brief_fp(uint32_t brief) /* from the return address down, bytes */
{
    return (brief & 0xe) * 4;
}

/* A marked rule; and back. */
static inline uint32_t mire__rule_brief(const struct rule *rule)
{
    const uint32_t fp = rule->fp == RULE_FP_SAME ? 0 : (uint32_t)(-8 - rule->fp_at) / 8;

    if (rule->flags != (MIRE_RULE_PLAIN | MIRE_RULE_BY_SP) || rule->ra_at != -8 || rule->fp_at % 8 != 0 || fp > 7 ||
        (fp == 0 && rule->fp != RULE_FP_SAME) || rule->offset % 8 != 0 || rule->offset < (int32_t)(8 + 8 * fp) ||
        rule->offset > 0xfff * 8)
        return 0;
    return (uint32_t)rule->offset * 2 | fp << 1 | MIRE_BRIEF;
}
static inline struct rule mire__rule_of_brief(uint32_t brief)
{
    return (struct rule){.kind = RULE_CFA,
                         .fp = mire__brief_moves_fp(brief) ? RULE_FP_AT_CFA : RULE_FP_SAME,
                         .flags = MIRE_RULE_PLAIN | MIRE_RULE_BY_SP,
                         .offset = (int32_t)mire__brief_cfa(brief),
                         .ra_at = -8,
                         .fp_at = (int16_t)(-8 - (int32_t)mire__brief_fp(brief))};
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
