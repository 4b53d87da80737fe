/*
 * self.h - walk the calling thread's own stack, at the cost of what changed since its last walk.
 *
 *     last stack   main  loop  parse  object  string  grow       each with the stack word that holds its return
 * address, this one     main  loop  parse  object  number  digits     and every other word that the way outwards
 * depends on
 *                  '----- unchanged -----'    '- new -'
 *
 * A stack is walked from the inside out. The frames outside of a frame follow from that frame's registers and from
 * words of the stack alone. If a frame and every stack word it depends on are unchanged since the last walk, the outer
 * frames are unchanged too; reuse them. The result always equals that of a walk to the end.
 *
 * Each remembered frame carries a tag: 32 bits of the caller's, as of the stack up to that frame.
 *
 *     mire__self_as_walk   finds the new frames, innermost first, and the remembered frame that they end at
 *     (the caller)         gives the new frames their tags
 *     mire__self_as_keep   remembers them as the last stack
 *
 * Words are read directly inside the thread's own stack alone, which stays mapped as long as the thread runs. Other
 * stacks (sigaltstack, coroutines) are copied through the kernel, and nothing of them is remembered.
 *
 * Thread: the owner of the state. Signal-safe.
 */
#ifndef MIRE_UNWIND_SELF_H
#define MIRE_UNWIND_SELF_H

#include "unwind/step_cache.h"

/* Frames of a stack at most, innermost first. A deeper stack is cut on its outer side. */
#define MIRE_SELF_DEPTH 256

/* Remembered words besides return addresses. */
#define MIRE_SELF_WORDS 64

/* Remembered frames are found by their stack pointer, in a table of so many. */
#define MIRE_SELF_BY_SP 256u

/* Bytes of another stack that are copied at a time. */
#define MIRE_SELF_WINDOW 512

/* A frame: the registers after control has come back to it. */
struct self_frame {
    uint64_t pc, sp, fp;
    uint64_t slot; /* address of the word that holds pc; 0 for the innermost, whose pc is given */
};

/* Another word that the way outwards depends on. */
struct self_word {
    uint64_t at, value;
    uint32_t frame; /* the remembered frame that it determines */
};

/* A new frame of a walk. One line of the cache. */
struct self_fresh {
    struct self_frame frame;
    struct step step; /* of a packed step the flags alone */
    uint64_t pc;      /* to look up: of the call, without the bits of a signed address */
    uint32_t tag;
    uint32_t packed;
};

/* A thread's memory of its last stack. Zeroed but for `fresh`: of none. Arrays are used from their begin: few pages. */
struct self_walk {
    uint64_t low, high;       /* the thread's own stack; high 0: unknown */
    uint64_t end;             /* of its mapping, 0 for the first thread's */
    struct self_fresh *fresh; /* room for the MIRE_SELF_DEPTH new frames of a walk, innermost first; the caller's */
    uint32_t version;         /* of the step cache, as of the last stack */

    /* The last stack, outermost frame first. */
    uint32_t count, words_count;
    struct self_word words[MIRE_SELF_WORDS];
    uint32_t tags[MIRE_SELF_DEPTH];
    uint8_t needs_fp[MIRE_SELF_DEPTH]; /* the way out of this frame depends on its frame pointer */
    uint8_t by_sp[MIRE_SELF_BY_SP];    /* the last frame with a stack pointer of that slot */
    struct self_frame frames[MIRE_SELF_DEPTH];

    uint8_t window[MIRE_SELF_WINDOW];
    uint64_t window_at;
    uint32_t window_bytes;
};

/* A walk's result. */
struct self_found {
    uint32_t fresh_count; /* new frames */
    int32_t known;        /* the remembered frame outside of them, whose outer frames stand too; -1: none */
    uint64_t known_slot;  /* where its return address lies now; of meaning if there are new frames */
    bool keeps;           /* can be remembered */
    bool own;             /* of the thread's own stack */
};

/* Forget the last stack. */
static inline void mire__self_as_forget(struct self_walk *walk, uint32_t version)
{
    walk->count = walk->words_count = 0;
    walk->version = version;
}

/* Walk out from a frame: the registers after a call returns, slot 0. Remembers nothing. */
struct self_found mire__self_as_walk(struct self_walk *walk, struct step_cache *steps, const struct self_frame *from);

/*
 * After a walk of the thread's own stack: remember it, or forget the last stack.
 *   tagged  all new frames have their tags, and each tag is as good as that of a walk to the end
 * Returns true if the whole stack is remembered now.
 */
bool mire__self_as_keep(struct self_walk *walk, const struct self_found *found, bool tagged);

/*
 * The innermost remembered frame up to `last` that stands with all outside of it: their return addresses and other
 * words are unchanged.
 */
uint32_t mire__self_as_standing(const struct self_walk *walk, uint32_t last);

/* Is this the remembered frame of that number? */
static inline bool mire__self_is_frame(const struct self_walk *walk, uint32_t number, uint64_t pc, uint64_t sp,
                                       uint64_t fp)
{
    const struct self_frame *frame = &walk->frames[number];

    return frame->sp == sp && frame->pc == pc && (!walk->needs_fp[number] || frame->fp == fp);
}

/* Stack words are read as they are, which no sanitizer may check. */
#define MIRE_UNCHECKED __attribute__((no_sanitize("address", "thread", "undefined")))

typedef uint64_t __attribute__((may_alias)) self_raw;

MIRE_UNCHECKED MIRE_INLINE uint64_t mire__self_word(uint64_t at)
{
    return *(const self_raw *)(uintptr_t)at;
}

#endif
