/*
 * walk.h - the calling thread's stack as a node of the tables, at the cost of what changed since the last one.
 *
 *     last stack   main  loop  parse  object  string  grow           each with the word that holds its return address,
 *     this one     main  loop  parse  object  number  digits         and all else that led there
 *                  '---- as it was -----'    '- new: stepped over by rule, looked up among the nodes
 *
 * A stack is found from the inside out. What lies further out follows from registers and from words of the stack alone,
 * so where the walk comes to a frame that stands as it stood last time, and none of those words has changed, all that
 * is further out is as it was, and is not walked. The answer is the same as that of a walk to the end, always.
 *
 * Words are read where they are only inside the thread's own stack, which is mapped as long as the thread runs. On any
 * other (sigaltstack, coroutines) they are copied through the kernel, and nothing is remembered.
 *
 * Thread: the one whose state it is. Signal-safe.
 */
#ifndef MIRE_ALLOCHOOK_WALK_H
#define MIRE_ALLOCHOOK_WALK_H

#include "allochook/code.h"
#include "heap/heap.h"

/* Frames of one stack at most, innermost first. Deeper is recursion: such a stack is cut on its outer side. */
#define MIRE_WALK_DEPTH 256

/* Words besides return addresses that a stack may depend on, to be remembered. */
#define MIRE_WALK_WORDS 64

/* Stack pointers that tails are expected by. */
#define MIRE_WALK_DEPTHS 64u

/* Stack pointers that remembered frames are told apart by. */
#define MIRE_WALK_BY_SP 256u

/* Bytes of a foreign stack copied at a time. */
#define MIRE_WALK_WINDOW 512

/* Heads, or tails, in a set of theirs: both are looked at. */
#define MIRE_WALK_WAYS 2u

/* Tails that a thread remembers, and the words that one may depend on. */
#define MIRE_WALK_TAIL_SETS  1024u
#define MIRE_WALK_TAIL_WORDS 28u /* a multiple of four; most stacks are whole within so many */
#define MIRE_WALK_ORDERS     16u /* tails that it is remembered of that they came after one */

/*
 * Sets that a thread begins with: a page with the heads of their tails. It uses twice as many, then four times, at
 * last all, when so many stacks were walked, or when tails of different frames have met in a fourth of the sets; many
 * are for few threads.
 */
#define MIRE_WALK_TAIL_SETS_INIT 4u
#define MIRE_WALK_TAIL_GROWTH    64u
#define MIRE_WALK_TAIL_SETS_MANY 64u
#define MIRE_WALK_MANY_MAX       16u

/*
 * A thread that wanders through its program, as a compiler's, comes to few stacks again before their tails are given
 * up: to remember and to look for them costs it more than it saves. So where there may not be more sets, and during
 * MIRE_WALK_TRIAL walks not two calls in three went without one, all tails are forgotten and none is remembered for
 * MIRE_WALK_REST_FIRST walks: most programs wander while they start. Each trial in turn that ends so makes the rest
 * twice as long, up to MIRE_WALK_REST. Afterwards MIRE_WALK_WARMING walks come before the next trial.
 */
#define MIRE_WALK_TRIAL       512u
#define MIRE_WALK_TRIAL_CALLS 3u /* allocations for each walk */
#define MIRE_WALK_REST_FIRST  1024u
#define MIRE_WALK_REST        131072u
#define MIRE_WALK_WARMING     256u

/* A program with more threads than that has no room for sets beside those that each begins with. */
#define MIRE_WALK_GROWING_MAX 32u

/* Innermost frames that tails are remembered of, and the words that tell the tails of one apart. */
#define MIRE_WALK_HEADS_LOG 9
#define MIRE_WALK_HEADS     (1u << MIRE_WALK_HEADS_LOG) /* sets of two */
#define MIRE_WALK_SPLITS    6u

/* A frame: what holds when control comes back to it. */
struct walk_frame {
    uint64_t pc, sp, fp;
    uint64_t slot; /* address of the word that holds pc; 0 for the innermost: it was given */
};

/* Another word that the way further out depends on. */
struct walk_word {
    uint64_t at, value;
    uint32_t frame; /* it tells of this frame */
};

/*
 * Words by fours, with where they lie, in bytes from the innermost frame's sp: they are read in one go, one line of the
 * cache after the other, and compared by twos, which is one instruction less for each than one by one.
 */
typedef uint64_t walk_pair __attribute__((vector_size(16)));

struct walk_four {
    uint32_t at[4];
    walk_pair values[2];
};

/*
 * The inner end of a stack, from a base on: a program that goes to and fro between a few of them finds each without
 * walking. It holds while the base is among the remembered frames, and none of the words has changed. The base lies as
 * far out as the words allow, so that it is seldom touched; where it is the thread's first frame all that the stack
 * follows from is among the words.
 */
struct walk_tail {
    uint64_t pc, sp, fp;             /* of the innermost frame */
    uint32_t node;                   /* of the whole stack */
    uint16_t what;                   /* MIRE_TAIL_* */
    uint16_t line;                   /* where it lies among the tails, by MIRE_TAIL_LINE */
    uint16_t next[MIRE_WALK_ORDERS]; /* where those lie that came after this one, by what came before it */
    struct walk_four words[MIRE_WALK_TAIL_WORDS / 4];
    uint64_t base_pc, base_sp, base_fp;
    uint32_t base_node;
    uint32_t base_at; /* among the remembered frames */
    uint64_t unused[2];
};
#define MIRE_TAIL_BYTES    0x3fffu /* that the fours in use take; in the last one the first word stands again */
#define MIRE_TAIL_BASED    0x4000u /* the base is not the thread's first frame */
#define MIRE_TAIL_NEEDS_FP 0x8000u

/* Tails lie at multiples of so many bytes. */
#define MIRE_TAIL_LINE 64u
_Static_assert(sizeof(struct walk_tail) % (2 * MIRE_TAIL_LINE) == MIRE_TAIL_LINE, "an odd number of lines");
_Static_assert(MIRE_WALK_TAIL_SETS *MIRE_WALK_WAYS * sizeof(struct walk_tail) / MIRE_TAIL_LINE <= UINT16_MAX,
               "where a tail lies is two bytes");
_Static_assert(MIRE_WALK_DEPTH <= 256, "a frame's number is a byte");

/*
 * An innermost frame with several tails: where the words lie in which these were found to differ, from the inner end
 * out. With them it is known in which set a tail is looked for. How far out such a word is one that a stack depends on,
 * and not just any memory, follows from those further in: `leads` says of which values in the one the next counts too;
 * of the last of them it says so of none.
 */
struct walk_head {
    uint64_t pc, sp;
    uint16_t splits[MIRE_WALK_SPLITS]; /* from sp, bytes */
    uint16_t splits_count;
    uint16_t set;                     /* that its tails are in; with splits, from where on they are */
    uint16_t other;                   /* they may be in that set as well whose number differs in these bits */
    uint32_t leads[MIRE_WALK_SPLITS]; /* a bit for 1/32 of all values */
    uint32_t unused;
};
_Static_assert(sizeof(struct walk_head) == 64, "a head is a line of the cache");

/* Bytes that part what a thread uses at once from what it uses at other times: three pages of a state in all. */
#define MIRE_WALK_APART_FRESH 680
#define MIRE_WALK_APART_TAILS 4080

/* A thread's memory of its last stack. Zeroed: of none. Each page that is touched counts: threads may be many. */
struct walk {
    uint32_t tails_mask;                 /* sets in use - 1 */
    uint32_t heads_from;                 /* those in use are the last */
    struct walk_tail *next;              /* that is expected */
    uint16_t *order;                     /* that says so: of the last one found, by the one before it */
    uint32_t last;                       /* where the last one lies, by MIRE_TAIL_LINE */
    uint16_t by_depth[MIRE_WALK_DEPTHS]; /* of a stack pointer, the last tail that was not expected */
    uint64_t low, high;                  /* the thread's own stack; high 0: not known */
    uint64_t end;                        /* of its mapping, 0 for the first thread's */
    uint32_t version;                    /* of the code */
    uint32_t next_way;                   /* that is given up next */
    uint32_t trial;                      /* stacks to be walked until it is looked at whether the tails are worth it */
    uint32_t walks;                      /* that were since it was */
    uint32_t met;                        /* tails put beside another frame's since then */
    uint32_t calls;                      /* allocations that were counted by then, their lower half */
    uint32_t rest;                       /* walks of the last rest; 0: the last trial was passed */
    bool many;                           /* it is one of the threads that may have many sets */
    bool stays;                          /* it keeps to the sets that it began with */
    bool rests;                          /* no tail is remembered, nor looked for */

    const struct heap_slot *slot; /* the thread's, in which its allocations are counted; NULL: that is not told */

    /* The last stack, outermost frame first. What little is used of each array lies close together. */
    uint32_t count, words_count;
    struct walk_word words[MIRE_WALK_WORDS];
    uint32_t nodes[MIRE_WALK_DEPTH];
    uint8_t needs_fp[MIRE_WALK_DEPTH]; /* the way out of this frame depends on its frame pointer */
    uint8_t by_sp[MIRE_WALK_BY_SP];    /* the frame of a stack pointer, if no other's took its place */
    struct walk_frame frames[MIRE_WALK_DEPTH];

    /* The new frames of this walk, innermost first. Each in a line of the cache. */
    uint8_t apart_fresh[MIRE_WALK_APART_FRESH];
    struct walk_fresh {
        struct walk_frame frame;
        struct rule rule; /* its flags alone, where it is told in brief */
        uint64_t place;   /* as it is told */
        uint32_t node;
        uint32_t brief;
    } fresh[MIRE_WALK_DEPTH];

    uint8_t window[MIRE_WALK_WINDOW];
    uint64_t window_at;
    uint32_t window_bytes;

    /* The last heads are used first, and the first tails. One that `stays` ends behind those that it began with. */
    uint8_t apart_tails[MIRE_WALK_APART_TAILS];
    struct walk_head heads[MIRE_WALK_HEADS][MIRE_WALK_WAYS];
    struct walk_tail tails[MIRE_WALK_TAIL_SETS][MIRE_WALK_WAYS];
};

/* Forget the last stack. */
void mire__walk_as_forget(struct walk *walk, uint32_t version);

/* Words of the stack are read as they lie, whatever the sanitizers think of them. */
#define MIRE_UNCHECKED __attribute__((no_sanitize("address", "thread", "undefined")))

typedef uint64_t __attribute__((may_alias)) walk_raw;

MIRE_UNCHECKED MIRE_INLINE uint64_t mire__walk_word(uint64_t at)
{
    return *(const walk_raw *)(uintptr_t)at;
}

/*
 * Of the remembered frames up to `last`, the innermost for which all that leads out of it is as it was: the return
 * addresses further out, and the words besides.
 */
uint32_t mire__walk_as_standing(const struct walk *walk, uint32_t last);

MIRE_INLINE bool mire__walk_is_frame(const struct walk *walk, uint32_t at, uint64_t pc, uint64_t sp, uint64_t fp)
{
    const struct walk_frame *known = &walk->frames[at];

    return known->sp == sp && known->pc == pc && (!walk->needs_fp[at] || known->fp == fp);
}

/* The upper bits are the best. */
MIRE_INLINE uint32_t mire__walk_hash(uint64_t pc, uint64_t sp)
{
    return ((uint32_t)pc + (uint32_t)sp * 0x85ebca6bu) * 0x9e3779b1u;
}

/*
 * The sets that an innermost frame's head may be in: two, as of tails (mire__walk_other_set).
 *   hash   mire__walk_hash
 *   which  0 or 1
 */
MIRE_INLINE struct walk_head *mire__walk_heads(struct walk *walk, uint32_t hash, uint32_t which)
{
    return walk->heads[hash << which * MIRE_WALK_HEADS_LOG >> (32 - MIRE_WALK_HEADS_LOG) | walk->heads_from];
}

/* Is it this innermost frame's head? */
MIRE_INLINE bool mire__walk_is_head(const struct walk_head *head, uint64_t pc, uint64_t sp)
{
    return head->pc == pc && head->sp == sp;
}

/* The head of an innermost frame; NULL: there is none. */
MIRE_INLINE struct walk_head *mire__walk_head(struct walk *walk, uint64_t pc, uint64_t sp)
{
    const uint32_t hash = mire__walk_hash(pc, sp);
    struct walk_head *head = mire__walk_heads(walk, hash, 0);

    if (__builtin_expect(mire__walk_is_head(head, pc, sp), 1) || mire__walk_is_head(++head, pc, sp))
        return head;
    head = mire__walk_heads(walk, hash, 1);
    return mire__walk_is_head(head, pc, sp) || mire__walk_is_head(++head, pc, sp) ? head : NULL;
}

/* The bit of a head's `leads` that a word's value is told by. */
MIRE_INLINE uint32_t mire__walk_lead(uint32_t word)
{
    return word * 0x9e3779b1u >> 27;
}

/* In which set the tails of an innermost frame are first looked for, as the stack stands. sp: the head's */
MIRE_UNCHECKED MIRE_INLINE uint32_t mire__walk_as_set(const struct walk *walk, const struct walk_head *head,
                                                      uint64_t sp)
{
    uint32_t key = 0, word, i = 0;

    if (head->splits_count > 0) {
        do {
            word = (uint32_t)mire__walk_word(sp + head->splits[i]);
            key = (key ^ word) * 0x9e3779b1u;
        } while (head->leads[i++] >> mire__walk_lead(word) & 1);
    }
    return (head->set + (key >> 16)) & walk->tails_mask;
}

/*
 * The other set that they may be in: three stacks that meet in one set, and come in turn, would give each other up for
 * ever else. Which one that is differs from head to head, so those that meet in one seldom meet in the other.
 */
MIRE_INLINE uint32_t mire__walk_other_set(const struct walk *walk, const struct walk_head *head, uint32_t set)
{
    return (set ^ head->other) & walk->tails_mask;
}

/* Do a tail's words stand? It has one at least. bytes: that the fours in use take */
MIRE_UNCHECKED MIRE_INLINE bool mire__walk_as_words_stand(const struct walk_tail *tail, uint64_t sp, uint64_t bytes)
{
    const struct walk_four *four = tail->words;
    const void *end = (const char *)four + bytes;
    walk_pair changed = {0, 0};

    do {
        walk_pair one = {mire__walk_word(sp + four->at[0]), mire__walk_word(sp + four->at[1])};
        walk_pair other = {mire__walk_word(sp + four->at[2]), mire__walk_word(sp + four->at[3])};

        changed |= (one ^ four->values[0]) | (other ^ four->values[1]);
    } while ((const void *)++four < end);
    return (changed[0] | changed[1]) == 0;
}

/* Does a tail of this innermost frame stand? Its base is not looked at. */
MIRE_UNCHECKED MIRE_INLINE bool mire__walk_as_tail_is(const struct walk_tail *tail, uint64_t pc, uint64_t sp,
                                                      uint64_t fp)
{
    return tail->pc == pc && tail->sp == sp && !(tail->what & MIRE_TAIL_NEEDS_FP && tail->fp != fp) &&
           mire__walk_as_words_stand(tail, sp, tail->what & MIRE_TAIL_BYTES);
}

/* Where the tail lies that a stack pointer was of. */
MIRE_INLINE uint16_t *mire__walk_by_depth(struct walk *walk, uint64_t sp)
{
    return &walk->by_depth[sp / 16 % MIRE_WALK_DEPTHS];
}

/* The tail that lies there. */
MIRE_INLINE struct walk_tail *mire__walk_tail_at(struct walk *walk, uint32_t line)
{
    return (struct walk_tail *)(void *)((char *)walk->tails + line * MIRE_TAIL_LINE);
}

/*
 * The tail that came after the last two before, for most come in the same order again; where it is another innermost
 * frame's, the last one of that depth. What was expected stays so as long as the other does: it is wrong in the same
 * places each time then, which the processor foresees. If it stands, and has no base that is to be looked at; else
 * NULL. In a function that keeps a frame pointer, whose caller's stack it is.
 */
MIRE_UNCHECKED MIRE_INLINE struct walk_tail *mire__walk_as_expected(struct walk *walk, uint64_t pc, uint64_t sp)
{
    struct walk_tail *tail = walk->next;
    uint64_t bytes;

    if (tail->sp != sp || tail->pc != pc) {
        tail = mire__walk_tail_at(walk, *mire__walk_by_depth(walk, sp));
        if (tail->sp != sp || tail->pc != pc)
            return NULL;
    }
    bytes = tail->what;
    if (__builtin_expect(bytes > MIRE_TAIL_BYTES, 0)) {
        if (bytes & MIRE_TAIL_BASED || tail->fp != *(const uint64_t *)__builtin_frame_address(0))
            return NULL;
        bytes &= MIRE_TAIL_BYTES;
    }
    return __builtin_expect(mire__walk_as_words_stand(tail, sp, bytes), 1) ? tail : NULL;
}

/*
 * This tail is the last one now. What is expected after it, by the one before it, begins to come to the nearest cache.
 * A tail is an odd number of lines, so the last bits of where it lies tell it from its neighbours.
 */
MIRE_INLINE void mire__walk_follow(struct walk *walk, struct walk_tail *tail)
{
    walk->order = &tail->next[walk->last % MIRE_WALK_ORDERS];
    walk->next = mire__walk_tail_at(walk, *walk->order);
    walk->last = tail->line;
    __builtin_prefetch(walk->next);
}

/* And it was not expected. */
MIRE_INLINE void mire__walk_learn(struct walk *walk, struct walk_tail *tail)
{
    *walk->order = *mire__walk_by_depth(walk, tail->sp) = tail->line;
    mire__walk_follow(walk, tail);
}

/* The tail of this innermost frame that stands, but for its base, in a set; NULL: there is none. */
MIRE_UNCHECKED MIRE_INLINE struct walk_tail *mire__walk_as_tail_in(struct walk *walk, uint32_t set, uint64_t pc,
                                                                   uint64_t sp, uint64_t fp)
{
    struct walk_tail *tail = walk->tails[set];

    if (__builtin_expect(mire__walk_as_tail_is(tail, pc, sp, fp), 1))
        return tail;
    return mire__walk_as_tail_is(++tail, pc, sp, fp) ? tail : NULL;
}

/* The same in both that it may be in. */
MIRE_UNCHECKED MIRE_INLINE struct walk_tail *mire__walk_as_tail(struct walk *walk, uint64_t pc, uint64_t sp,
                                                                uint64_t fp)
{
    const struct walk_head *head = mire__walk_head(walk, pc, sp);
    struct walk_tail *tail;
    uint32_t set;

    if (!head)
        return NULL;
    set = mire__walk_as_set(walk, head, sp);
    tail = mire__walk_as_tail_in(walk, set, pc, sp, fp);
    return __builtin_expect(tail != NULL, 1)
               ? tail
               : mire__walk_as_tail_in(walk, mire__walk_other_set(walk, head, set), pc, sp, fp);
}

/* The node of such a tail, if its base stands, too; 0. */
uint32_t mire__walk_as_based(const struct walk *walk, const struct walk_tail *tail);

/* The node of a stack that is remembered; 0. */
MIRE_INLINE uint32_t mire__walk_as_known(struct walk *walk, const struct code *code, const struct walk_frame *frame)
{
    const struct walk_tail *tail = NULL;

    if (__builtin_expect(walk->version == atomic_load_explicit(&code->version, memory_order_acquire), 1))
        tail = mire__walk_as_tail(walk, frame->pc, frame->sp, frame->fp);
    return tail ? mire__walk_as_based(walk, tail) : 0;
}

/* The node of one that is not. */
uint32_t mire__walk_as_node_else(struct walk *walk, struct heap *heap, struct code *code,
                                 const struct walk_frame *frame);

/*
 * The node of the stack from a call on.
 *   frame  what holds when the call returns to its caller; slot 0
 * Returns the node; the root, 0, if nothing can be told. A stack that could not be followed to its end is told as far
 * as it goes.
 */
static inline uint32_t mire__walk_as_node(struct walk *walk, struct heap *heap, struct code *code,
                                          const struct walk_frame *frame)
{
    uint32_t node = mire__walk_as_known(walk, code, frame);

    return node ? node : mire__walk_as_node_else(walk, heap, code, frame);
}

/* The same where it is asked so seldom that tails would not come back: none is looked for, nor remembered. */
uint32_t mire__walk_as_node_seldom(struct walk *walk, struct heap *heap, struct code *code,
                                   const struct walk_frame *frame);

#endif
