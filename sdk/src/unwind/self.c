/* self.c - see self.h. Signal-safe. */
#include "unwind/self.h"

#include "platform/arch.h"

#include <string.h>

/* The frame that a walk has come to. */
struct position {
    uint64_t pc, sp, fp;
    uint64_t slot;
    uint64_t link; /* the link register, where a signal stopped the thread */
    bool exact;    /* pc is the interrupted instruction, not a return address */
    bool loose;    /* found by frame pointer where that says nothing of the stack pointer */
};

enum self_outcome { WENT_ON, ENDED, BROKEN };

/* ---- words of the stack ---- */

static bool copy_word(uint64_t *out, struct self_walk *walk, uint64_t at)
{
    if (at < walk->window_at || at - walk->window_at + sizeof(*out) > walk->window_bytes) {
        walk->window_bytes = (uint32_t)mire__peek(walk->window, at, sizeof(walk->window));
        walk->window_at = at;
        if (walk->window_bytes < sizeof(*out))
            return false;
    }
    memcpy(out, walk->window + (at - walk->window_at), sizeof(*out));
    return true;
}

/* A word at `floor` or above. own: of the thread's own stack */
MIRE_UNCHECKED static inline bool load(uint64_t *out, struct self_walk *walk, uint64_t at, uint64_t floor, bool own)
{
    if (at % 8 != 0 || at < floor)
        return false;
    if (!own)
        return copy_word(out, walk, at);
    if (at > walk->high - 8)
        return false;
    *out = mire__self_word(at);
    return true;
}

/* ---- one step of any kind ---- */

struct signal_read {
    struct self_walk *walk;
    uint64_t floor;
    bool own;
};

static bool read_signal_word(void *context, uint64_t *out, uint64_t at)
{
    const struct signal_read *read = context;

    return load(out, read->walk, at, read->floor, read->own);
}

static enum self_outcome step_by_signal(struct position *position, struct self_walk *walk, bool own)
{
    struct signal_read read = {walk, position->sp, own};
    struct regs regs;

    if (!mire__step_signal_regs(&regs, position->sp, read_signal_word, &read))
        return BROKEN;
    *position = (struct position){.pc = regs.pc,
                                  .sp = regs.value[mire__arch.sp],
                                  .fp = regs.value[mire__arch.fp],
                                  .link = mire__arch.link == MIRE_NO_REG ? 0 : regs.value[mire__arch.link],
                                  .exact = true};
    return WENT_ON;
}

MIRE_UNCHECKED static __attribute__((noinline)) enum self_outcome
step_out(struct position *position, struct self_walk *walk, const struct step *step, uint64_t floor, bool own)
{
    uint64_t cfa, ra, fp = position->fp;

    if (step->kind == STEP_END)
        return ENDED;
    if (step->kind == STEP_SIGNAL)
        return step_by_signal(position, walk, own);
    if (step->kind == STEP_NONE || (position->loose && !step->from_fp))
        return BROKEN;
    cfa = (step->from_fp ? position->fp : position->sp) + (uint64_t)(int64_t)step->offset;
    if (step->kind == STEP_CFA_AT) {
        if (!load(&cfa, walk, cfa, floor, own))
            return BROKEN;
        cfa += (uint64_t)(int64_t)step->add;
    }
    if (step->flags & MIRE_STEP_LINKED) {
        if (!position->exact || cfa < position->sp)
            return BROKEN;
        ra = position->link;
    } else if (cfa <= position->sp || !load(&ra, walk, cfa + (uint64_t)(int64_t)step->ra_at, floor, own))
        return BROKEN;
    if (step->fp == STEP_FP_AT_CFA && !load(&fp, walk, cfa + (uint64_t)(int64_t)step->fp_at, floor, own))
        return BROKEN;
    if (step->fp == STEP_FP_AT_BASE && !load(&fp, walk, position->fp + (uint64_t)(int64_t)step->fp_at, floor, own))
        return BROKEN;
    position->slot = step->flags & MIRE_STEP_LINKED ? 0 : cfa + (uint64_t)(int64_t)step->ra_at;
    position->loose = (step->flags & MIRE_STEP_GUESSED) && mire__arch.link != MIRE_NO_REG;
    position->exact = false;
    position->pc = ra;
    position->sp = cfa;
    position->fp = step->fp == STEP_FP_LOST ? 0 : fp;
    return ra == 0 ? ENDED : WENT_ON;
}

/* ---- the last stack: which of its frames stand ---- */

/* 0 if the word still holds the frame's return address. */
MIRE_UNCHECKED MIRE_INLINE uint64_t change_of(const struct self_frame *frame)
{
    return mire__self_word(frame->slot) ^ frame->pc;
}

MIRE_UNCHECKED MIRE_INLINE uint64_t change_of_four(const struct self_frame *four)
{
    return change_of(four) | change_of(four + 1) | change_of(four + 2) | change_of(four + 3);
}

MIRE_UNCHECKED uint32_t mire__self_as_standing(const struct self_walk *walk, uint32_t last)
{
    const struct self_frame *frames = walk->frames;
    uint64_t changed = 0;
    uint32_t i = 0;

    /* Nearly always all of them stand, so the loop has no branch on each. The last four frames may be read twice. */
    if (last >= 4) {
        for (; i + 4 < last; i += 4)
            changed |= change_of_four(frames + i);
        changed |= change_of_four(frames + last - 4);
        i = changed ? 0 : last;
    }
    while (i < last && !change_of(frames + i))
        i++;
    for (uint32_t w = 0; w < walk->words_count && walk->words[w].frame < i; w++) {
        if (mire__self_word(walk->words[w].at) != walk->words[w].value)
            return walk->words[w].frame;
    }
    return i;
}

/*
 * The slot of a stack pointer. Stacks are aligned to sixteen bytes. Where two frames share a slot the walk misses the
 * one that lost it and goes on to the next further out: the result is the same.
 */
MIRE_INLINE uint32_t by_sp(uint64_t sp)
{
    return (uint32_t)(sp >> 4) % MIRE_SELF_BY_SP;
}

/* The number of the remembered frame that this is, MIRE_SELF_DEPTH or more if there is none. */
MIRE_INLINE uint32_t find_known(const struct self_walk *walk, uint64_t pc, uint64_t sp, uint64_t fp)
{
    uint32_t at = walk->by_sp[by_sp(sp)];
    const struct self_frame *frame = &walk->frames[at];

    if (((frame->sp ^ sp) | (frame->pc ^ pc)) != 0 || (walk->needs_fp[at] && frame->fp != fp))
        return MIRE_SELF_DEPTH;
    return at;
}

/* ---- walking ---- */

struct progress {
    struct position position;
    uint64_t floor;       /* the sp of the first frame: nothing is read below */
    int32_t known;        /* the remembered frame that was reached; -1: none */
    uint32_t limit;       /* remembered frames that stand, from the outer end; all of them before the first look */
    uint32_t fresh_count; /* new frames inside that frame */
    bool looked;          /* `limit` is known */
    bool keeps;           /* can be remembered */
    bool ends;            /* at an unchanged frame, or at the end of the stack */
};

/* Are a remembered frame and all frames outside it unchanged? A walk compares each word once. */
MIRE_INLINE bool is_standing(const struct self_walk *walk, uint32_t at, uint32_t *limit, bool *looked)
{
    if (!*looked)
        *limit = mire__self_as_standing(walk, at) + 1;
    *looked = true;
    return at < *limit;
}

/* Is `at` one of the aligned words from `base` on that may be read? */
MIRE_INLINE bool is_within(uint64_t at, uint64_t base, uint64_t words)
{
    uint64_t bytes = at - base;

    return (bytes >> 3 | bytes << 61) <= words;
}

/*
 * The fast path: go on as far as plain steps lead, on the thread's own stack and from a return address. It nearly
 * always comes to the end. It stops before a frame that takes another step, or a pc that is not in the cache.
 */
MIRE_UNCHECKED MIRE_INLINE void go(struct self_walk *walk, const struct step_cache *steps, struct progress *progress)
{
    const uint64_t base = (progress->floor + 7) & ~7ull, room = (walk->high - 8 - base) / 8;
    struct self_fresh *fresh = &walk->fresh[progress->fresh_count];
    uint64_t pc = progress->position.pc, sp = progress->position.sp, fp = progress->position.fp;
    uint64_t slot = progress->position.slot;
    uint32_t limit = progress->limit;
    bool looked = progress->looked;

    for (; fresh < &walk->fresh[MIRE_SELF_DEPTH]; fresh++) {
        uint64_t at = mire__arch_bare(pc) - 1, cfa, ra, saved, word;
        uint32_t known = find_known(walk, pc, sp, fp);
        const struct step *step;
        uint32_t found;

        if (known < limit && is_standing(walk, known, &limit, &looked)) {
            progress->known = (int32_t)known;
            progress->ends = true;
            break;
        }
        found = mire__step_cache_as_find(steps, at);
        if (__builtin_expect(found & MIRE_STEP_PACKED, 1)) {
            fresh->frame = (struct self_frame){pc, sp, fp, slot};
            fresh->step.flags = MIRE_STEP_PLAIN | MIRE_STEP_BY_SP;
            fresh->packed = found;
            fresh->pc = at;
            sp += mire__packed_cfa(found);
            slot = sp - 8;
            if (!is_within(slot, base, room) || (pc = mire__self_word(slot)) == 0) {
                progress->ends = true;
                fresh++;
                break;
            }
            word = mire__self_word(slot - mire__packed_fp(found));
            fp = mire__packed_moves_fp(found) ? word : fp;
            continue;
        }
        step = mire__step_cache_step(steps, found);
        if (!(step->flags & MIRE_STEP_PLAIN))
            break;
        fresh->frame = (struct self_frame){pc, sp, fp, slot};
        fresh->step = *step;
        fresh->packed = 0;
        fresh->pc = at;
        cfa = (step->from_fp ? fp : sp) + (uint64_t)(int64_t)step->offset;
        slot = ra = cfa + (uint64_t)(int64_t)step->ra_at;
        saved = cfa + (uint64_t)(int64_t)step->fp_at;
        if (cfa <= sp || !is_within(ra, base, room) || !is_within(saved, base, room) ||
            (pc = mire__self_word(ra)) == 0) {
            progress->ends = true;
            fresh++;
            break;
        }
        word = mire__self_word(saved);
        fp = step->fp == STEP_FP_SAME ? fp : word;
        sp = cfa;
    }
    progress->position.pc = pc;
    progress->position.sp = sp;
    progress->position.fp = fp;
    progress->position.slot = slot;
    progress->limit = limit;
    progress->looked = looked;
    progress->fresh_count = (uint32_t)(fresh - walk->fresh);
}

/* One step of any kind. */
MIRE_UNCHECKED static __attribute__((noinline)) void step_slow(struct self_walk *walk, struct step_cache *steps,
                                                               struct progress *progress, bool own)
{
    struct position *position = &progress->position;
    struct self_fresh *fresh = &walk->fresh[progress->fresh_count];
    uint64_t at = mire__arch_bare(position->pc) - (position->exact ? 0 : 1);
    const struct step *step = &fresh->step;
    enum self_outcome outcome;
    uint32_t found;

    progress->ends = true;
    if (own && !position->exact && !position->loose) {
        uint32_t known = find_known(walk, position->pc, position->sp, position->fp);

        if (known < progress->limit && is_standing(walk, known, &progress->limit, &progress->looked)) {
            progress->known = (int32_t)known;
            return;
        }
    }
    progress->keeps = progress->keeps && progress->fresh_count < MIRE_SELF_DEPTH;
    if (progress->fresh_count == MIRE_SELF_DEPTH)
        return;
    found = position->exact ? 0 : mire__step_cache_as_find(steps, at);
    if (found & MIRE_STEP_PACKED)
        fresh->step = mire__step_unpack(found);
    else if (found)
        fresh->step = *mire__step_cache_step(steps, found);
    else if (!mire__step_cache_as_learn(steps, &fresh->step, at, position->exact)) {
        progress->keeps = false; /* the step is unknown now, and may be known the next time */
        return;
    }
    fresh->packed = 0;
    fresh->frame = (struct self_frame){position->pc, position->sp, position->fp, position->slot};
    fresh->pc = at + (step->kind == STEP_SIGNAL);
    progress->fresh_count++;
    progress->keeps = progress->keeps && step->kind != STEP_SIGNAL && !position->loose;
    outcome = step_out(position, walk, &fresh->step, progress->floor, own);
    if (outcome == WENT_ON && (fresh->step.flags & MIRE_STEP_GUESSED) &&
        !mire__step_cache_as_is_return(steps, mire__arch_bare(position->pc))) {
        progress->keeps = false;
        outcome = ENDED;
    }
    progress->ends = outcome != WENT_ON;
}

MIRE_UNCHECKED static __attribute__((noinline)) void go_slow(struct self_walk *walk, struct step_cache *steps,
                                                             struct progress *progress, bool own)
{
    do {
        step_slow(walk, steps, progress, own);
        if (!progress->ends && own && !progress->position.exact && !progress->position.loose)
            go(walk, steps, progress);
    } while (!progress->ends);
}

MIRE_UNCHECKED MIRE_INLINE struct progress walk_out(struct self_walk *walk, struct step_cache *steps,
                                                    const struct self_frame *from, bool own)
{
    struct progress progress = {.position = {.pc = from->pc, .sp = from->sp, .fp = from->fp},
                                .floor = from->sp,
                                .known = -1,
                                .limit = own ? walk->count : 0,
                                .keeps = own};

    if (own)
        go(walk, steps, &progress);
    if (!progress.ends) {
        struct progress rest = progress; /* its address is taken, so that `progress` itself may stay in registers */

        go_slow(walk, steps, &rest, own);
        progress = rest;
    }
    return progress;
}

struct self_found mire__self_as_walk(struct self_walk *walk, struct step_cache *steps, const struct self_frame *from)
{
    const bool own = from->sp >= walk->low && from->sp < walk->high && walk->high - from->sp >= 8;
    struct progress progress;

    if (!own)
        walk->window_bytes = 0;
    progress = own ? walk_out(walk, steps, from, true) : walk_out(walk, steps, from, false);
    /* With the remembered frames it may be deeper than a walk to the end goes: it is cut where that would be. */
    if (progress.known + 1 + (int32_t)progress.fresh_count > MIRE_SELF_DEPTH) {
        walk->count = walk->words_count = 0;
        progress = walk_out(walk, steps, from, true);
    }
    return (struct self_found){.fresh_count = progress.fresh_count,
                               .known = progress.known,
                               .known_slot = progress.position.slot,
                               .keeps = progress.keeps,
                               .own = own};
}

/* ---- remembering ---- */

/* Forget the words that determine frame `known` and the frames inside it. */
static void drop_words(struct self_walk *walk, int32_t known)
{
    while (walk->words_count > 0 && (int32_t)walk->words[walk->words_count - 1].frame >= known)
        walk->words_count--;
}

/* Beyond the last word only the count grows: then the stack cannot be remembered. */
static void remember_word(struct self_walk *walk, uint32_t frame, uint64_t at, uint64_t value)
{
    uint32_t i = walk->words_count++;

    if (i < MIRE_SELF_WORDS)
        walk->words[i] = (struct self_word){.at = at, .value = value, .frame = frame};
}

/*
 * The words, besides its return address, that lead from the new frame `inner` to the remembered one at `outer`.
 *   needs_fp  does the way out of that one depend on its frame pointer?
 * Returns the same of the new frame.
 */
static bool remember_words(struct self_walk *walk, const struct self_fresh *inner, int32_t outer, bool needs_fp)
{
    const struct step unpacked = mire__step_unpack(inner->packed), *step = inner->packed ? &unpacked : &inner->step;
    const struct self_frame *frame = &inner->frame;

    if (outer >= 0) {
        const struct self_frame *to = &walk->frames[outer];

        if (needs_fp && step->fp == STEP_FP_AT_CFA)
            remember_word(walk, (uint32_t)outer, to->sp + (uint64_t)(int64_t)step->fp_at, to->fp);
        if (needs_fp && step->fp == STEP_FP_AT_BASE)
            remember_word(walk, (uint32_t)outer, frame->fp + (uint64_t)(int64_t)step->fp_at, to->fp);
        if (step->kind == STEP_CFA_AT)
            remember_word(walk, (uint32_t)outer,
                          (step->from_fp ? frame->fp : frame->sp) + (uint64_t)(int64_t)step->offset,
                          to->sp - (uint64_t)(int64_t)step->add);
    }
    return mire__step_needs_fp(step) || (step->fp == STEP_FP_SAME && needs_fp);
}

/* Remember the new frames inside of `known`. */
static bool remember_fresh(struct self_walk *walk, int32_t known, uint32_t fresh_count)
{
    bool needs_fp = known >= 0 && walk->needs_fp[known];
    uint32_t i = (uint32_t)(known + 1);

    drop_words(walk, known);
    for (uint32_t left = fresh_count; left > 0; left--, i++) {
        const struct self_fresh *fresh = &walk->fresh[left - 1];

        if (needs_fp || !(fresh->step.flags & MIRE_STEP_BY_SP))
            needs_fp = remember_words(walk, fresh, (int32_t)i - 1, needs_fp);
        walk->needs_fp[i] = needs_fp;
        walk->frames[i] = fresh->frame;
        walk->by_sp[by_sp(fresh->frame.sp)] = (uint8_t)i;
        walk->tags[i] = fresh->tag;
    }
    walk->count = i;
    return walk->words_count <= MIRE_SELF_WORDS;
}

bool mire__self_as_keep(struct self_walk *walk, const struct self_found *found, bool tagged)
{
    if (found->fresh_count == 0 && found->known < 0)
        return false;
    if (found->fresh_count == 0) { /* the whole stack is the outer part of the last one */
        walk->count = (uint32_t)found->known + 1;
        drop_words(walk, found->known);
        return true;
    }
    if (tagged && found->keeps) {
        if (found->known >= 0)
            walk->frames[found->known].slot = found->known_slot;
        if (remember_fresh(walk, found->known, found->fresh_count))
            return true;
    }
    walk->count = walk->words_count = 0;
    return false;
}
